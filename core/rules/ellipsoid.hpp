#pragma once
#include <cmath>

#include "rules/rule.hpp"

namespace yarrow {

/// IELLIP (Yang, Jin & Ye 2009): the good classifiers lie in an ellipsoid of shape Sigma around w.
/// After a mistake w moves to the nearest point, in that shape, where the margin is 1,
///   argmin (u - w)'Sigma^-1(u - w)  such that  z.u >= 1   =>   alpha = (1 - m)/v,
/// and the ellipsoid narrows along z by the share c_k = c*b^k after k updates:
///   Sigma <- Sigma - c_k*Sigma*z*z'*Sigma/v                =>   kappa = c_k/((1 - c_k) v).
/// The paper then divides Sigma by 1 - c_k. A common factor of Sigma changes no step, neither here
/// nor in the future, and without it no variance ever grows. Rows of zeros are left alone; a sample
/// weight has no effect, since the constraint has no price.
inline Confidence iellip(const RuleInput& s, const double* p) {
  const double share = p[0] * std::pow(p[1], s.updates);
  if (s.margin > 0 || s.v <= 0) return {0, 0};
  return {(s.target - s.margin) / s.v, share / ((1 - share) * s.v)};
}

}  // namespace yarrow
