#pragma once
#include "rules/rule.hpp"

// Online feature selection (Wang, Zhao, Hoi & Jin 2014): a gradient step on
//   lam/2 |w|^2 + max(0, margin - z.w),
// which the loop then projects and cuts (loops/selection.hpp).
//   whole rows       w <- (1 - lam*eta)*w + eta*z, the last term if z.w <= margin   (Algorithm 2)
//   partial inputs   w <- w + eta*z if z.w <= margin                               (Algorithm 4)
// A sample weight multiplies eta in the last term.

namespace yarrow {

inline Affine ofs_partial(const RuleInput& s, const double* p) {
  const double eta = p[0], margin = p[1];
  return {1, s.margin <= margin ? eta * s.weight : 0};
}

inline Affine ofs(const RuleInput& s, const double* p) {
  const double eta = p[0], lam = p[2];
  return {1 - lam * eta, ofs_partial(s, p).b};
}

}  // namespace yarrow
