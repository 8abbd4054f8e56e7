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
// (3) has two prices, lambda1 of the loss and lambda2 of z'Sigma z, which the paper then sets
// equal. Mean and covariance are found apart (5, 6), so where they differ r is 1/(2*lambda1), and
// Sigma^-1 grows by 2*lambda2*z*z', that is by z z'/confidence_r.

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

/// Any form of AROW whose covariance has a price of its own: p[1] is confidence_r.
template <Confidence (*Form)(const RuleInput&, const double*)>
Confidence arow_two_prices(const RuleInput& s, const double* p) {
  const Confidence step = Form(s, p);
  return {step.alpha, step.kappa == 0 ? 0 : s.weight / p[1]};
}

inline Slack arow_two_prices_slack(double weight, const double* p) {
  Slack slack = arow_slack(weight, p);
  slack.kappa = weight / p[1];
  return slack;
}

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
