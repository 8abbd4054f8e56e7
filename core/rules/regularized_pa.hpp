#pragma once
#include <algorithm>
#include <cmath>

#include "rules/rule.hpp"

// Passive-Aggressive learners that forget (Shen & Dietterich): old rows lose weight with every
// update, so that w follows a drifting stream.
//   objective-regularised      min 1/2 |w - w_t|^2 + alpha/2 |w|^2  s.t.  z.w >= target   (3.1)
//     w <- (w + tau*z)/(1 + alpha),  tau = ((1 + alpha)*target - m)/|z|^2          (Lemma 3.1)
//   with slack priced C*xi^2                                                              (5.27)
//     the same with tau = ((1 + alpha)*target - m)/(|z|^2 + (1 + alpha)/(2C))      (Lemma 5.1)
//   L2-norm-constrained        min 1/2 |w - w_t|^2  s.t.  z.w >= target, |w| <= beta      (3.8)
//     w <- (w + tau*z)/Z,  tau = (Z*target - m)/|z|^2,
//     Z = max(1, sqrt((|w|^2|z|^2 - m^2)/(beta^2|z|^2 - target^2)))                (Lemma 3.2)
// Taken literally, (3.1) and (5.27) would shrink w on every row; the algorithms leave rows alone
// whose margin is reached. Theorems 3.1 and 5.1 are about updates on mistakes only. Rows of zeros
// are left alone, and so are rows too short for the ball (beta*|z| <= target), whose problem (3.8)
// has no solution. A sample weight multiplies C; the hard constraints have no price, so there a
// weight has no effect.

namespace yarrow {

/// Which rows the objective-regularised forms learn.
enum class Updates { below_target, on_mistakes };

template <Updates updates>
bool is_active(const RuleInput& s) {
  const bool low = updates == Updates::on_mistakes ? s.margin <= 0 : s.margin < s.target;
  return low && s.zz > 0;
}

template <Updates updates>
Affine regularized_pa(const RuleInput& s, const double* p) {
  if (!is_active<updates>(s)) return {1, 0};
  const double keep = 1 / (1 + p[0]);
  return {keep, (s.target - keep * s.margin) / s.zz};
}

template <Updates updates>
Affine soft_regularized_pa(const RuleInput& s, const double* p) {
  if (!is_active<updates>(s)) return {1, 0};
  const double keep = 1 / (1 + p[0]), C = p[1] * s.weight;
  return {keep, (s.target - keep * s.margin) / (s.zz + 1 / (2 * C * keep))};
}

/// The elastic net adds l1*|w|_1 to the objective; `ElasticLoop` finds its step.
template <Updates updates>
MarginConstraint elastic_pa(const RuleInput& s, const double*) {
  return {is_active<updates>(s) ? s.target : 0, 0};
}

template <Updates updates>
MarginConstraint soft_elastic_pa(const RuleInput& s, const double* p) {
  return {is_active<updates>(s) ? s.target : 0, 1 / (2 * p[0] * s.weight)};
}

inline Affine norm_constrained_pa(const RuleInput& s, const double* p) {
  const double beta = p[0], m = s.margin;
  const double room = beta * beta * s.zz - s.target * s.target;
  if (m >= s.target || room <= 0) return {1, 0};
  const double Z = std::max(1.0, std::sqrt(std::max(0.0, s.ww * s.zz - m * m) / room));
  return {1 / Z, (s.target - m / Z) / s.zz};
}

/// L1-norm-constrained Passive-Aggressive (Shen & Dietterich, section 3.2):
///   min 1/2 |w - w_t|^2  such that  z.w >= target  and  |w|_1 <= beta.
/// The rule says which rows ask for a step and to which margin; the step itself needs all weights,
/// so `L1ConstrainedLoop` finds it. The loop tells in `v` the square of the largest |z_i|: if
/// beta * max|z_i| < target, then no weights satisfy both constraints, and the row is left alone.
/// There is no price, so a sample weight has no effect.
inline Gradient l1_constrained(const RuleInput& s, const double* p) {
  const double beta = p[0];
  const bool is_feasible = beta * std::sqrt(s.v) >= s.target;
  return {s.margin < s.target && is_feasible ? s.target : 0};
}

}  // namespace yarrow
