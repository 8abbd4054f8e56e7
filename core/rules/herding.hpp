#pragma once
#include "rules/rule.hpp"

// NHERD, Gaussian herding (Crammer & Lee 2010): a herd of weight vectors w ~ N(mu, Sigma) is moved
// by the linear map w -> A*(w - mu) + b that minimises
//   1/2 (b - mu)'Sigma^-1(b - mu) + C/2 max(0, 1 - z.b)^2                    over b,
//   1/2 tr((A - I)'Sigma^-1(A - I) Sigma) + C/2 z'A Sigma A'z                over A.
// So alpha = loss/(v + 1/C), and A = (I + C*Sigma*z*z')^-1, by which the precision grows by
// (2C + C^2 v) z*z'. Three diagonal forms: drop keeps the diagonal of the covariance A*Sigma*A',
// project that of its inverse, exact asks for a diagonal A, a_i = 1/(1 + C*s_i*z_i^2) (`Herded`).
// A sample weight multiplies C. Rows of zeros are left alone.

namespace yarrow {

inline Confidence nherd(const RuleInput& s, const double* p) {
  const double C = p[0] * s.weight;
  const double loss = s.target - s.margin;
  if (loss <= 0 || s.v <= 0) return {0, 0};
  return {loss / (s.v + 1 / C), C * (2 + C * s.v)};
}

/// For the exact diagonal form, whose covariance takes C itself.
inline Confidence nherd_exact(const RuleInput& s, const double* p) {
  const double C = p[0] * s.weight;
  return {nherd(s, p).alpha, s.target > s.margin && s.v > 0 ? C : 0};
}

}  // namespace yarrow
