#pragma once
#include "rules/rule.hpp"

// The relaxed online maximum margin algorithm (Li & Long 2002): all rows so far are summed up by
// the half-space of weights that w itself bounds, and the next weights are
//   argmin |u|  such that  u.w >= |w|^2  and  z.u >= target,
// on a mistake (ROMMA), or whenever z.w < target (aggressive ROMMA). If both constraints bind,
//   u = c*w + d*z,  c = (|z|^2|w|^2 - target*m)/D,  d = |w|^2 (target - m)/D,  D = |z|^2|w|^2 -
//   m^2,
// and if the second alone suffices, u = target*z/|z|^2.
//
// Where the paper is silent: rows of zeros, and rows that point away from w (within a thousandth of
// a radian), for which no u exists or only a boundless one, are left alone. On rows that contradict
// each other |w| grows without limit; beyond 1e20, where the target has long lost any influence, w
// is scaled down, which changes no prediction. Constraints have no price, so a sample weight has no
// effect.

namespace yarrow {

inline Affine relaxed_maximum_margin(const RuleInput& s) {
  const double m = s.margin, target = s.target, product = s.zz * s.ww;
  if (product <= 0 || target * m >= product) return {0, target / s.zz};
  const double D = product - m * m;
  if (D <= 1e-6 * product) return m > 0 ? Affine{0, target / s.zz} : Affine{1, 0};
  const double loss = target - m;
  const double unit = s.ww * (1 + loss * loss / D) > 1e40 ? 1e-10 : 1;  // of the new |w|^2
  return {unit * (product - target * m) / D, unit * s.ww * loss / D};
}

inline Affine romma(const RuleInput& s, const double*) {
  return s.margin <= 0 && s.zz > 0 ? relaxed_maximum_margin(s) : Affine{1, 0};
}

inline Affine aggressive_romma(const RuleInput& s, const double*) {
  return s.margin < s.target && s.zz > 0 ? relaxed_maximum_margin(s) : Affine{1, 0};
}

}  // namespace yarrow
