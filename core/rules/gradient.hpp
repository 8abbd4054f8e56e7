#pragma once
#include <algorithm>
#include <cmath>

#include "rules/ball.hpp"
#include "rules/rule.hpp"

// Online (sub)gradient descent (Zinkevich 2003): w <- w - eta_n * loss'(margin) * z, with
// eta_n = eta0 / n^power, where n counts rows or, if asked, mistakes (margins of at most 0), this
// row included; then the nearest point of the ball |w| <= radius. Losses are functions of u = z.w
// and the margin asked for; `*_slope` is minus the derivative in u, so that a step is slope * z. In
// a regression z = sign(y - w.x)*x and the target is sign*y - epsilon, so that the hinge losses are
// the epsilon-insensitive ones. Sample weights scale the step.
// The proximal family takes the same slopes, with or without the rate.

namespace yarrow {

/// Keeps a diverging run finite, so that it can be seen to diverge. Peers clip here, too.
inline double clipped(double slope) { return std::clamp(slope, -1e12, 1e12); }

inline double hinge_slope(double u, double target) { return u < target ? 1 : 0; }

/// 1/2 max(0, target - u)^2
inline double squared_hinge_slope(double u, double target) {
  return u < target ? clipped(target - u) : 0;
}

/// log(1 + exp(-u))
inline double logistic_slope(double u, double) { return 1 / (1 + std::exp(u)); }

/// exp(-u)
inline double exponential_slope(double u, double) { return clipped(std::exp(-u)); }

/// 1/2 (target - u)^2
inline double squared_slope(double u, double target) { return clipped(target - u); }

/// eta0 / n^power
inline double learning_rate(double eta0, double power, double n) {
  if (power == 0) return eta0;
  return power == 0.5 ? eta0 / std::sqrt(n) : eta0 * std::pow(n, -power);
}

using Slope = double (*)(double margin, double target);

template <Slope slope>
AffineKeeping ogd(const RuleInput& s, const double* p) {
  const double eta0 = p[0], power = p[1], counts_mistakes = p[2], radius = p[3];
  const double mistakes = s.memory + (counts_mistakes && s.margin <= 0);
  const double n = counts_mistakes ? std::max(1.0, mistakes) : s.t;
  Affine step{1, s.weight * learning_rate(eta0, power, n) * slope(s.margin, s.target)};
  if (std::isfinite(radius)) step = into_ball(s, step, radius);
  return {step.a, step.b, mistakes};
}

/// One step along the negative gradient, scaled by the rate: the step of SG-L1/FOBOS.
template <Slope slope>
Gradient descent(const RuleInput& s, const double* p) {
  const double eta0 = p[0], power = p[1];
  return {s.weight * learning_rate(eta0, power, s.t) * slope(s.margin, s.target)};
}

/// The negative gradient itself: what dual averaging sums up.
template <Slope slope>
Gradient dual_descent(const RuleInput& s, const double*) {
  return {s.weight * slope(s.margin, s.target)};
}

}  // namespace yarrow
