#pragma once
#include <memory>

#include "learner/learner.hpp"

// All learners, each once: a name, and the loop that a RuleLearner runs with numbers of type W, or
// the mixture that learns by itself. The kinds below, who makes a learner of one (a unit of this
// folder for each of the lists) and the names in Python come from here.
// clang-format off
#define YARROW_WEIGHTS(loop) \
  loop(affine, AffineLoop<W>) \
  loop(elastic, ElasticLoop<W>) \
  loop(l1_constrained, L1ConstrainedLoop<W>) \
  loop(p_norm, MirrorLoop<W, PNormLink>) \
  loop(exponential, MirrorLoop<W, ExponentialLink<false>>) \
  loop(exponential_signed, MirrorLoop<W, ExponentialLink<true>>) \
  loop(voted, VotedLoop<W>) \
  loop(soft_threshold, ProximalLoop<W, SoftThreshold>) \
  loop(dual_averaging, ProximalLoop<W, DualAveraging>) \
  loop(elastic_net, ProximalLoop<W, ElasticNet>) \
  loop(cumulative_penalty, ProximalLoop<W, CumulativePenalty>) \
  loop(frequency_penalty, ProximalLoop<W, FrequencyPenalty>) \
  loop(frequency_cumulative_penalty, ProximalLoop<W, FrequencyCumulativePenalty>) \
  loop(frequency_dual_averaging, ProximalLoop<W, FrequencyDualAveraging>) \
  loop(adagrad_mirror, ProximalLoop<W, AdaGradMirror>) \
  loop(adagrad_dual, ProximalLoop<W, AdaGradDual>) \
  loop(ftrl_proximal, ProximalLoop<W, FTRLProximal>) \
  loop(truncated_gradient, ProximalLoop<W, TruncatedGradient>) \
  loop(randomized_rounding, ProximalLoop<W, RandomizedRounding>) \
  loop(feature_groups, GroupedLoop<W, FeatureGroups>) \
  loop(task_groups, GroupedLoop<W, TaskGroups>) \
  loop(largest, LargestLoop<W>)
#define YARROW_VARIANCES(loop) \
  loop(diagonal, ConfidenceLoop<W, Diagonal>) \
  loop(projected, ConfidenceLoop<W, Projected>) \
  loop(whitened, ConfidenceLoop<W, Whitened>) \
  loop(herded, ConfidenceLoop<W, Herded>) \
  loop(fading_visits, ConfidenceLoop<W, FadingByVisits<Diagonal>>) \
  loop(fading_rows, ConfidenceLoop<W, FadingByRows<Diagonal>>) \
  loop(projected_fading_visits, ConfidenceLoop<W, FadingByVisits<Projected>>) \
  loop(projected_fading_rows, ConfidenceLoop<W, FadingByRows<Projected>>) \
  loop(restarting, ConfidenceLoop<W, Restarting>) \
  loop(surest, SurestLoop<W>) \
  loop(full, FullLoop<W, ByMean>) \
  loop(full_row_inside, FullLoop<W, RowInside>) \
  loop(factored, FactoredLoop<W>) \
  loop(joint, JointLoop<W>)
#define YARROW_MIXTURES(mixture) \
  mixture(yarrow, YarrowLearner<W>) \
  mixture(yarrow_regression, YarrowRegressor<W>)

#define YARROW_LEARNERS(learner) \
  YARROW_WEIGHTS(learner) \
  YARROW_VARIANCES(learner) \
  YARROW_MIXTURES(learner)
// clang-format on

namespace yarrow {

#define YARROW_NAME(name, ...) name,
enum class LearnerKind { YARROW_LEARNERS(YARROW_NAME) };
#undef YARROW_NAME

#define YARROW_DECLARE(name, ...) \
  template <class W>              \
  std::unique_ptr<Learner<W>> make_##name(const Recipe& recipe);
YARROW_LEARNERS(YARROW_DECLARE)
#undef YARROW_DECLARE

/// The learner of the recipe's kind.
template <class W>
std::unique_ptr<Learner<W>> make_learner(const Recipe& recipe) {
#define YARROW_MAKE(name, ...) \
  if (recipe.kind == LearnerKind::name) return make_##name<W>(recipe);
  YARROW_LEARNERS(YARROW_MAKE)
#undef YARROW_MAKE
  throw Error("unknown learner");
}

}  // namespace yarrow

/// Compiles a learner, or the learner that runs a loop.
#define YARROW_COMPILE(name, ...)                                             \
  template <class W>                                                          \
  std::unique_ptr<Learner<W>> make_##name(const Recipe& recipe) {             \
    return std::make_unique<__VA_ARGS__>(recipe);                             \
  }                                                                           \
  template std::unique_ptr<Learner<float>> make_##name(const Recipe& recipe); \
  template std::unique_ptr<Learner<double>> make_##name(const Recipe& recipe);
#define YARROW_COMPILE_LOOP(name, ...) YARROW_COMPILE(name, RuleLearner<__VA_ARGS__>)
