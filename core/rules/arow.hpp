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
//
// (3) has two prices, lambda1 of the loss and lambda2 of z'Sigma z, which the paper takes for equal
// from there on. Where they differ, r = 1/(2 lambda1) stands in alpha, and Sigma^-1 grows by
// z z'/r_covariance, r_covariance = 1/(2 lambda2): mu is minimised before Sigma, so neither
// enters the other's step.

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

/// One of the above, with a price of its own for the covariance, the last parameter.
template <Confidence (*rule)(const RuleInput&, const double*)>
Confidence arow_two_prices(const RuleInput& s, const double* p) {
  Confidence step = rule(s, p);
  if (step.kappa > 0) step.kappa = s.weight / p[1];
  return step;
}

inline Slack arow_two_prices_slack(double weight, const double* p) {
  return {.curvature = p[0] / weight, .kappa = weight / p[1]};
}

}  // namespace yarrow
