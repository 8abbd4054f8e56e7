#pragma once

/// All loops, each once: its name, and the learner that runs it with numbers of type W. The enum
/// below, what makes a learner (registry.hpp) and the names in Python come from here.
// clang-format off
#define YARROW_LOOPS(loop) \
  loop(affine, LearnerWith<AffineLoop<W>>) \
  loop(diagonal, LearnerWith<ConfidenceLoop<W, Diagonal>>) \
  loop(projected, LearnerWith<ConfidenceLoop<W, Projected>>) \
  loop(whitened, LearnerWith<ConfidenceLoop<W, Whitened>>) \
  loop(full, LearnerWith<FullLoop<W, ByMean>>) \
  loop(full_row_inside, LearnerWith<FullLoop<W, RowInside>>) \
  loop(factored, LearnerWith<FactoredLoop<W>>) \
  loop(soft_pull, LearnerWith<ProximalLoop<W, SoftPull>>) \
  loop(dual_pull, LearnerWith<ProximalLoop<W, DualPull>>) \
  loop(elastic_pull, LearnerWith<ProximalLoop<W, ElasticPull>>) \
  loop(cumulative_pull, LearnerWith<ProximalLoop<W, CumulativePull>>) \
  loop(frequency_pull, LearnerWith<ProximalLoop<W, FrequencyPull>>) \
  loop(frequency_cumulative_pull, LearnerWith<ProximalLoop<W, FrequencyCumulativePull>>) \
  loop(frequency_dual_pull, LearnerWith<ProximalLoop<W, FrequencyDualPull>>) \
  loop(adagrad_mirror_pull, LearnerWith<ProximalLoop<W, AdaGradMirrorPull>>) \
  loop(adagrad_dual_pull, LearnerWith<ProximalLoop<W, AdaGradDualPull>>) \
  loop(ftrl_pull, LearnerWith<ProximalLoop<W, FTRLPull>>) \
  loop(truncated_pull, LearnerWith<ProximalLoop<W, TruncatedPull>>) \
  loop(rounding_pull, LearnerWith<ProximalLoop<W, RoundingPull>>) \
  loop(herded, LearnerWith<ConfidenceLoop<W, Herded>>) \
  loop(fading_visits, LearnerWith<ConfidenceLoop<W, FadingByVisits<Diagonal>>>) \
  loop(fading_rows, LearnerWith<ConfidenceLoop<W, FadingByRows<Diagonal>>>) \
  loop(projected_fading_visits, LearnerWith<ConfidenceLoop<W, FadingByVisits<Projected>>>) \
  loop(projected_fading_rows, LearnerWith<ConfidenceLoop<W, FadingByRows<Projected>>>) \
  loop(restarting, LearnerWith<ConfidenceLoop<W, Restarting>>) \
  loop(l1_constrained, LearnerWith<L1ConstrainedLoop<W>>) \
  loop(elastic, LearnerWith<ElasticLoop<W>>) \
  loop(p_norm, LearnerWith<MirrorLoop<W, PNormLink>>) \
  loop(exponential, LearnerWith<MirrorLoop<W, ExponentialLink<false>>>) \
  loop(exponential_signed, LearnerWith<MirrorLoop<W, ExponentialLink<true>>>) \
  loop(voted, LearnerWith<VotedLoop<W>>) \
  loop(largest, LearnerWith<LargestLoop<W>>) \
  loop(surest, LearnerWith<SurestLoop<W>>) \
  loop(feature_groups, LearnerWith<GroupedLoop<W, FeatureGroups>>) \
  loop(task_groups, LearnerWith<GroupedLoop<W, TaskGroups>>) \
  loop(yarrow, YarrowLearner<W>)
// clang-format on

namespace yarrow {

/// The loop that a learner runs.
#define YARROW_NAME(name, ...) name,
enum class LoopKind { YARROW_LOOPS(YARROW_NAME) };
#undef YARROW_NAME

}  // namespace yarrow
