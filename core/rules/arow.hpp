#pragma once
#include <algorithm>

#include "rules/rule.hpp"

// AROW (Crammer, Kulesza & Dredze 2013): minimises, for a Gaussian over weights,
//   KL(N(mu, Sigma) || N(mu_t, Sigma_t)) + loss(z.mu)/(2r) + z'Sigma z/(2r),
// first over mu, then, if mu moved, over Sigma (equations 4 to 8). Sigma^-1 grows by z z'/r (14).
//   squared hinge  alpha = loss / (v + r)           (12)
//   hinge          alpha = min(1/(2r), loss / v)    (23)
//   squared        alpha = (target - margin) / (v + r), on either side of the target: recursive
//                  least squares, whose mean is the ridge solution of all rows so far, with weight
//                  r
// Over many rivals (28), Sigma is updated as in (24), by the sum of f(x, y) over the classes that
// take part: all, or with k rivals these and the true one.
// A sample weight divides r. Rows of zeros are left alone.

namespace yarrow {

inline Confidence arow(const RuleInput& s, const double* p) {
  const double r = p[0] / s.weight;
  const double loss = s.target - s.margin;
  if (loss <= 0 || s.v <= 0) return {0, 0};
  return {loss / (s.v + r), 1 / r};
}

inline Slack arow_slack(double weight, const double* p) {
  const double r = p[0] / weight;
  return {.curvature = r, .kappa = 1 / r};
}

inline Confidence arow_hinge(const RuleInput& s, const double* p) {
  const double r = p[0] / s.weight;
  const double loss = s.target - s.margin;
  if (loss <= 0 || s.v <= 0) return {0, 0};
  return {std::min(1 / (2 * r), loss / s.v), 1 / r};
}

inline Confidence arow_squared(const RuleInput& s, const double* p) {
  const double r = p[0] / s.weight;
  if (s.v <= 0) return {0, 0};
  return {(s.target - s.margin) / (s.v + r), 1 / r};
}

}  // namespace yarrow
