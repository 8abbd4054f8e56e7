#pragma once
#include <algorithm>

#include "rules/rule.hpp"

// MIRA (Crammer & Singer 2003), the ultraconservative original: the next weights are the shortest
// that a bounded step leads to,
//   min over tau of 1/2 sum_r |w_r + tau_r x|^2,   tau_r <= [r is the true class],   sum(tau) = 0.
// With steps a_r = -tau_r of the rivals this is the problem of rivals.hpp with target 0 and limit
// 1: PA-I asks for a margin of 1 and prices the slack, MIRA asks for none. For two classes in one
// column, tau is -z.w/|x|^2 within [0, 1].
// From weights of zero it would never move, and the paper starts elsewhere. Here a tie, on which
// the problem has nothing to say, is met by the step of the paper's family of ultraconservative
// updates: tau = 1 for the true class, shared equally by the rivals level with it.
// `margin` > 0, which the paper does not have, is the target in place of 0; then a tie is a loss.
// A sample weight multiplies the bound. Rows of zeros are left alone.

namespace yarrow {

/// The step that meets a tie.
inline double mira_level_step(double weight, double target) { return target == 0 ? weight : 0; }

inline Affine mira(const RuleInput& s, const double* p) {
  const double target = p[0], loss = target - s.margin;
  if (loss < 0 || s.zz <= 0) return {1, 0};
  return {1, loss == 0 ? mira_level_step(s.weight, target) : std::min(s.weight, loss / s.zz)};
}

inline Slack mira_slack(double weight, const double* p) {
  return {.target = p[0], .limit = weight, .level_step = mira_level_step(weight, p[0])};
}

}  // namespace yarrow
