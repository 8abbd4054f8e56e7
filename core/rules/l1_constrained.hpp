#pragma once
#include <cmath>

#include "rules/rule.hpp"

namespace yarrow {

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
