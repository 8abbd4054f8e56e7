#pragma once
#include <algorithm>
#include <cmath>

#include "rules/rule.hpp"

// Confidence-weighted learning: min KL(N(mu, Sigma) || N(mu_t, Sigma_t)) such that
//   variance form (Dredze, Crammer & Pereira 2008):   z.mu >= phi * z'Sigma z
//   deviation form (Crammer, Dredze & Pereira 2008):  z.mu >= phi * sqrt(z'Sigma z)
// and the soft forms (Wang, Zhao & Hoi 2012), which price the violation
// xi = max(0, phi*sqrt(v) - margin) of the deviation form by C*xi (SCW-I) or C*xi^2 (SCW-II).
// phi is the normal quantile of the confidence asked for. The quadratic roots are written without
// differences of nearly equal numbers, since v becomes tiny. A sample weight multiplies C; the hard
// forms have no price, so there a weight has no effect. Rows of zeros are left alone.

namespace yarrow {

inline Confidence cw_variance(const RuleInput& s, const double* p) {
  const double phi = p[0], m = s.margin, v = s.v;
  if (m >= phi * v || v <= 0) return {0, 0};
  const double b = 1 + 2 * phi * m;
  const double root = std::sqrt(b * b + 8 * phi * (phi * v - m));
  const double alpha = b > 0 ? 2 * (phi * v - m) / (v * (root + b)) : (root - b) / (4 * phi * v);
  return {alpha, 2 * alpha * phi};
}

/// The growth of precision that belongs to a step alpha in the deviation form:
/// kappa = alpha*phi / sqrt(v') with v' the variance of the margin after the update.
inline double deviation_kappa(double alpha, double phi, double v) {
  const double av = alpha * v * phi;
  const double deviation = 2 * v / (av + std::sqrt(av * av + 4 * v));  // no difference to cancel
  return alpha * phi / deviation;
}

/// The step that meets the constraint of the deviation form with equality.
inline double deviation_alpha(double m, double phi, double v) {
  const double phi2 = phi * phi, psi = 1 + phi2 / 2, zeta = 1 + phi2;
  const double root = std::sqrt(m * m * phi2 * phi2 / 4 + v * phi2 * zeta);
  if (m <= 0) return (root - m * psi) / (v * zeta);
  const double deviation = phi * std::sqrt(v);
  return (deviation - m) * (deviation + m) / (v * (root + m * psi));
}

inline Confidence cw_deviation(const RuleInput& s, const double* p) {
  const double phi = p[0];
  if (s.v <= 0 || s.margin >= phi * std::sqrt(s.v)) return {0, 0};
  const double alpha = deviation_alpha(s.margin, phi, s.v);
  return {alpha, deviation_kappa(alpha, phi, s.v)};
}

inline Confidence scw1(const RuleInput& s, const double* p) {
  const double phi = p[0], C = p[1] * s.weight;
  if (s.v <= 0 || s.margin >= phi * std::sqrt(s.v)) return {0, 0};
  const double alpha = std::min(C, deviation_alpha(s.margin, phi, s.v));
  return {alpha, deviation_kappa(alpha, phi, s.v)};
}

inline Confidence scw2(const RuleInput& s, const double* p) {
  const double phi = p[0], C = p[1] * s.weight, m = s.margin, v = s.v;
  if (v <= 0 || m >= phi * std::sqrt(v)) return {0, 0};
  const double n = v + 1 / (2 * C), phi2 = phi * phi;
  const double gamma = phi * std::sqrt(phi2 * m * m * v * v + 4 * n * v * (n + v * phi2));
  const double linear = m * (2 * n + phi2 * v), deviation = phi * std::sqrt(v);
  const double alpha = m <= 0 ? (gamma - linear) / (2 * n * (n + v * phi2))
                              : 2 * (deviation - m) * (deviation + m) / (gamma + linear);
  return {alpha, deviation_kappa(alpha, phi, v)};
}

}  // namespace yarrow
