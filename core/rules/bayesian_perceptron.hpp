#pragma once
#include <cmath>
#include <numbers>

#include "rules/rule.hpp"
#include "simd/twos.hpp"

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

/// phi(x)/Phi(-x) - x for 0 <= x <= 8, by a ratio of polynomials in x that meets it at 16 places.
/// All terms are positive, so that none cancel; relative errors stay below 2e-14.
inline double above_asymptote(double x) {
  constexpr Two terms[] = {
      {0.79788456080286529, 1},
      {0.73851398384154343, 1.3810195930664246},
      {0.36098720682019081, 0.94476776575636123},
      {0.11182494863161015, 0.40572634310353989},
      {0.023270746376929635, 0.11821161627150038},
      {0.0032199650961409572, 0.023817903089190476},
      {0.00027401846512773093, 0.0032422717421855029},
      {1.1132853521314641e-05, 0.00027401725344423943},
      {0, 1.1132870631502562e-05},
  };
  const double xx = x * x;  // even and odd powers apart do not wait for each other
  Two even = terms[8], odd = terms[7];
  for (int k = 6; k >= 0; k -= 2) even = even * xx + terms[k];
  for (int k = 5; k >= 1; k -= 2) odd = odd * xx + terms[k];
  const Two sums = even + odd * x;
  return sums[0] / sums[1];
}

/// h and h + u, each without a difference of nearly equal numbers.
struct ProbitSlope {
  double h, h_plus_u;
};

inline ProbitSlope probit_slope(double u) {
  const double x = std::abs(u), far = 8;
  if (u > 0) {  // Phi(u) = 1 - phi(u)/(phi(u)/Phi(-u)), which far from 0 is 1 to the last digit
    const double density = std::exp(-0.5 * u * u) / std::sqrt(2 * std::numbers::pi);
    const double h = x < far ? density / (1 - density / (x + above_asymptote(x))) : density;
    return {h, h + u};
  }
  if (x < far) {
    const double above = above_asymptote(x);
    return {x + above, above};
  }
  // Mills' ratio as a continued fraction: h = x + 1/(x + 2/(x + 3/(x + ...))).
  double tail = x;
  for (int i = 20; i >= 2; --i) tail = x + i / tail;
  return {x + 1 / tail, 1 / tail};
}

inline Confidence bayesian_perceptron(const RuleInput& s, const double* p) {
  const double noise2 = p[0] * p[0] / s.weight, v = s.v;
  if (v <= 0) return {0, 0};
  const double tau = std::sqrt(noise2 + v), u = s.margin / tau;
  const auto [h, h_plus_u] = probit_slope(u);
  const double bend = h * h_plus_u;  // beta*tau^2
  // 1 - beta*v = (noise2 + v*(1 - bend))/tau^2, and 1 - bend >= 0.
  return {h / tau, bend / (noise2 + v * (1 - bend))};
}

}  // namespace yarrow
