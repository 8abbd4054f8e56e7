#pragma once
#include <memory>

#include "learner/rule_learner.hpp"
#include "loops/affine.hpp"
#include "loops/confidence.hpp"
#include "loops/elastic.hpp"
#include "loops/factored.hpp"
#include "loops/forgetting.hpp"
#include "loops/full.hpp"
#include "loops/grouped.hpp"
#include "loops/l1_constrained.hpp"
#include "loops/mirror.hpp"
#include "loops/proximal.hpp"
#include "loops/selection.hpp"
#include "loops/voted.hpp"
#include "mixture/yarrow_learner.hpp"

namespace yarrow {

/// The learner that runs the recipe's loop: one line for each `LoopKind`.
template <class W>
std::unique_ptr<Learner<W>> make_learner(const Recipe& recipe) {
  switch (recipe.loop) {
    case LoopKind::affine:
      return std::make_unique<LearnerWith<AffineLoop<W>>>(recipe);
    case LoopKind::diagonal:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Diagonal>>>(recipe);
    case LoopKind::projected:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Projected>>>(recipe);
    case LoopKind::whitened:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Whitened>>>(recipe);
    case LoopKind::full:
      return std::make_unique<LearnerWith<FullLoop<W, ByMean>>>(recipe);
    case LoopKind::full_row_inside:
      return std::make_unique<LearnerWith<FullLoop<W, RowInside>>>(recipe);
    case LoopKind::factored:
      return std::make_unique<LearnerWith<FactoredLoop<W>>>(recipe);
    case LoopKind::soft_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, SoftPull>>>(recipe);
    case LoopKind::dual_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, DualPull>>>(recipe);
    case LoopKind::elastic_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, ElasticPull>>>(recipe);
    case LoopKind::cumulative_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, CumulativePull>>>(recipe);
    case LoopKind::frequency_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, FrequencyPull>>>(recipe);
    case LoopKind::frequency_cumulative_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, FrequencyCumulativePull>>>(recipe);
    case LoopKind::frequency_dual_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, FrequencyDualPull>>>(recipe);
    case LoopKind::adagrad_mirror_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, AdaGradMirrorPull>>>(recipe);
    case LoopKind::adagrad_dual_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, AdaGradDualPull>>>(recipe);
    case LoopKind::ftrl_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, FTRLPull>>>(recipe);
    case LoopKind::truncated_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, TruncatedPull>>>(recipe);
    case LoopKind::rounding_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, RoundingPull>>>(recipe);
    case LoopKind::herded:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Herded>>>(recipe);
    case LoopKind::fading_visits:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, FadingByVisits<Diagonal>>>>(recipe);
    case LoopKind::fading_rows:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, FadingByRows<Diagonal>>>>(recipe);
    case LoopKind::projected_fading_visits:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, FadingByVisits<Projected>>>>(recipe);
    case LoopKind::projected_fading_rows:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, FadingByRows<Projected>>>>(recipe);
    case LoopKind::restarting:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Restarting>>>(recipe);
    case LoopKind::l1_constrained:
      return std::make_unique<LearnerWith<L1ConstrainedLoop<W>>>(recipe);
    case LoopKind::elastic:
      return std::make_unique<LearnerWith<ElasticLoop<W>>>(recipe);
    case LoopKind::p_norm:
      return std::make_unique<LearnerWith<MirrorLoop<W, PNormLink>>>(recipe);
    case LoopKind::exponential:
      return std::make_unique<LearnerWith<MirrorLoop<W, ExponentialLink<false>>>>(recipe);
    case LoopKind::exponential_signed:
      return std::make_unique<LearnerWith<MirrorLoop<W, ExponentialLink<true>>>>(recipe);
    case LoopKind::voted:
      return std::make_unique<LearnerWith<VotedLoop<W>>>(recipe);
    case LoopKind::largest:
      return std::make_unique<LearnerWith<LargestLoop<W>>>(recipe);
    case LoopKind::surest:
      return std::make_unique<LearnerWith<SurestLoop<W>>>(recipe);
    case LoopKind::feature_groups:
      return std::make_unique<LearnerWith<GroupedLoop<W, FeatureGroups>>>(recipe);
    case LoopKind::task_groups:
      return std::make_unique<LearnerWith<GroupedLoop<W, TaskGroups>>>(recipe);
    case LoopKind::yarrow:
      return std::make_unique<YarrowLearner<W>>(recipe);
  }
  throw Error("unknown loop");
}

}  // namespace yarrow
