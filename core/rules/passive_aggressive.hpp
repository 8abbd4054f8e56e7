#pragma once
#include <algorithm>

#include "rules/rule.hpp"

// Passive-Aggressive (Crammer et al. 2006): min 1/2 |w - w_t|^2 with the margin z.w >= target,
//   PA    as a hard constraint                      b = loss / |z|^2
//   PA-I  with slack xi >= 0 priced C*xi            b = min(C, loss / |z|^2)
//   PA-II with slack priced C*xi^2                  b = loss / (|z|^2 + 1/(2C))
// where loss = max(0, target - z.w). Regression asks for |y - w.x| <= epsilon and is the same
// problem with z = sign(y - w.x)*x. Over many rivals the slack is one for the whole row
// (rivals.hpp). A row of zeros cannot be repaired and is left alone. A sample weight multiplies the
// price C; PA has no price, so there a weight has no effect.

namespace yarrow {

inline Affine pa(const RuleInput& s, const double*) {
  const double loss = s.target - s.margin;
  return {1, loss > 0 && s.zz > 0 ? loss / s.zz : 0};
}

inline Affine pa1(const RuleInput& s, const double* p) {
  const double C = p[0];
  return {1, std::min(C * s.weight, pa(s, p).b)};
}

inline Affine pa2(const RuleInput& s, const double* p) {
  const double C = p[0];
  const double loss = s.target - s.margin;
  return {1, loss > 0 && s.zz > 0 ? loss / (s.zz + 1 / (2 * C * s.weight)) : 0};
}

inline Slack pa_slack(double /*weight*/, const double*) { return {}; }

inline Slack pa1_slack(double weight, const double* p) { return {.limit = p[0] * weight}; }

inline Slack pa2_slack(double weight, const double* p) {
  return {.curvature = 1 / (2 * p[0] * weight)};
}

}  // namespace yarrow
