#pragma once
#include <cmath>
#include <numbers>

#include "../rule.hpp"

// The Bayesian Perceptron (Solla & Winther 1998; Opper 1998; Minka 2001 as assumed-density
// filtering): a label is right with probability Phi(z.w/noise). After each row the posterior is
// replaced by the Gaussian with the same mean and covariance. With tau^2 = noise^2 + v, u = m/tau
// and h = phi(u)/Phi(u), the slope of log Phi at u:
//   mu    += Sigma*z * h/tau                            =>  alpha = h/tau
//   Sigma -= Sigma*z*z'*Sigma * h*(h + u)/tau^2         =>  kappa = beta/(1 - beta*v)
// log Phi is concave, so 0 < h*(h + u) < 1 and a variance only falls. The diagonal of that Sigma is
// the projected form; it has the posterior's exact variances if Sigma was diagonal before.
// A sample weight divides noise^2. Rows of zeros are left alone.

namespace yarrow {

/// h and h + u, each without a difference of nearly equal numbers.
struct ProbitSlope {
  double h, h_plus_u;
};

inline ProbitSlope probit_slope(double u) {
  if (u > -5) {
    const double density = std::exp(-0.5 * u * u) / std::sqrt(2 * std::numbers::pi);
    const double h = density / (0.5 * std::erfc(-u / std::numbers::sqrt2));
    return {h, h + u};
  }
  // Mills' ratio as a continued fraction: h = x + 1/(x + 2/(x + 3/(x + ...))), x = -u.
  const double x = -u;
  double tail = x;
  for (int i = 60; i >= 2; --i) tail = x + i / tail;
  return {x + 1 / tail, 1 / tail};
}

inline Confidence bayesian_perceptron(const Situation& s, const double* p) {
  const double noise2 = p[0] * p[0] / s.weight, v = s.v;
  if (v <= 0) return {0, 0};
  const double tau = std::sqrt(noise2 + v), u = s.margin / tau;
  const auto [h, h_plus_u] = probit_slope(u);
  const double bend = h * h_plus_u;  // beta*tau^2
  // 1 - beta*v = (noise2 + v*(1 - bend))/tau^2, and 1 - bend >= 0.
  return {h / tau, bend / (noise2 + v * (1 - bend))};
}

}  // namespace yarrow
