#pragma once

/// All loops, each once: its name, and the learner that runs it with numbers of type W. The enum
/// below, what makes a learner (registry.hpp) and the names in Python come from here.
// clang-format off
#define YARROW_LOOPS(loop) \
  loop(affine, RuleLearner<AffineLoop<W>>) \
  loop(diagonal, RuleLearner<ConfidenceLoop<W, Diagonal>>) \
  loop(projected, RuleLearner<ConfidenceLoop<W, Projected>>) \
  loop(whitened, RuleLearner<ConfidenceLoop<W, Whitened>>) \
  loop(full, RuleLearner<FullLoop<W, ByMean>>) \
  loop(full_row_inside, RuleLearner<FullLoop<W, RowInside>>) \
  loop(factored, RuleLearner<FactoredLoop<W>>) \
  loop(soft_threshold, RuleLearner<ProximalLoop<W, SoftThreshold>>) \
  loop(dual_averaging, RuleLearner<ProximalLoop<W, DualAveraging>>) \
  loop(elastic_net, RuleLearner<ProximalLoop<W, ElasticNet>>) \
  loop(cumulative_penalty, RuleLearner<ProximalLoop<W, CumulativePenalty>>) \
  loop(frequency_penalty, RuleLearner<ProximalLoop<W, FrequencyPenalty>>) \
  loop(frequency_cumulative_penalty, RuleLearner<ProximalLoop<W, FrequencyCumulativePenalty>>) \
  loop(frequency_dual_averaging, RuleLearner<ProximalLoop<W, FrequencyDualAveraging>>) \
  loop(adagrad_mirror, RuleLearner<ProximalLoop<W, AdaGradMirror>>) \
  loop(adagrad_dual, RuleLearner<ProximalLoop<W, AdaGradDual>>) \
  loop(ftrl_proximal, RuleLearner<ProximalLoop<W, FTRLProximal>>) \
  loop(truncated_gradient, RuleLearner<ProximalLoop<W, TruncatedGradient>>) \
  loop(randomized_rounding, RuleLearner<ProximalLoop<W, RandomizedRounding>>) \
  loop(herded, RuleLearner<ConfidenceLoop<W, Herded>>) \
  loop(fading_visits, RuleLearner<ConfidenceLoop<W, FadingByVisits<Diagonal>>>) \
  loop(fading_rows, RuleLearner<ConfidenceLoop<W, FadingByRows<Diagonal>>>) \
  loop(projected_fading_visits, RuleLearner<ConfidenceLoop<W, FadingByVisits<Projected>>>) \
  loop(projected_fading_rows, RuleLearner<ConfidenceLoop<W, FadingByRows<Projected>>>) \
  loop(restarting, RuleLearner<ConfidenceLoop<W, Restarting>>) \
  loop(l1_constrained, RuleLearner<L1ConstrainedLoop<W>>) \
  loop(elastic, RuleLearner<ElasticLoop<W>>) \
  loop(p_norm, RuleLearner<MirrorLoop<W, PNormLink>>) \
  loop(exponential, RuleLearner<MirrorLoop<W, ExponentialLink<false>>>) \
  loop(exponential_signed, RuleLearner<MirrorLoop<W, ExponentialLink<true>>>) \
  loop(voted, RuleLearner<VotedLoop<W>>) \
  loop(largest, RuleLearner<LargestLoop<W>>) \
  loop(surest, RuleLearner<SurestLoop<W>>) \
  loop(feature_groups, RuleLearner<GroupedLoop<W, FeatureGroups>>) \
  loop(task_groups, RuleLearner<GroupedLoop<W, TaskGroups>>) \
  loop(yarrow, YarrowLearner<W>) \
  loop(yarrow_regression, YarrowRegressor<W>) \
  loop(joint, RuleLearner<JointLoop<W>>)
// clang-format on

namespace yarrow {

/// The loop that a learner runs.
#define YARROW_NAME(name, ...) name,
enum class LoopKind { YARROW_LOOPS(YARROW_NAME) };
#undef YARROW_NAME

}  // namespace yarrow
