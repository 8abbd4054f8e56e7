#pragma once
#include "rules/rule.hpp"

namespace yarrow {

/// NAROW (Orabona & Crammer 2010): online mirror descent with the potential 1/2 w'A w, w = A^-1 sum
/// of y_i*x_i over the updates so far. Row t joins A with the weight 1/r_t that minimises the
/// mistake bound: 1/r_t = max(0, b - 1/v), which cuts z'Sigma z to 1/b where it is above and else
/// leaves A as it is (then the step is the Perceptron's, in the metric learned so far).
/// It updates while the margin with the row inside A, m*r/(r + v), is below 1:
///   w <- (A + z*z'/r)^-1 (A*w + z)   =>   alpha = (r - m)/(r + v), kappa = 1/r.
/// A sample weight counts the row that many times in the sum. Rows of zeros are left alone.
inline Confidence narow(const RuleInput& s, const double* p) {
  const double b = p[0], m = s.margin, v = s.v;
  if (v <= 0) return {0, 0};
  const double kappa = b * v > 1 ? b - 1 / v : 0, growth = 1 + kappa * v;  // growth = 1 + v/r
  if (m >= s.target * growth) return {0, 0};
  return {(s.weight - kappa * m) / growth, kappa};
}

}  // namespace yarrow
