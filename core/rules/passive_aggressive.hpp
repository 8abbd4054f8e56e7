#pragma once
#include <algorithm>
#include <cmath>

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

// MIRA (Crammer & Singer 2003), the ultraconservative original: the next weights are the shortest
// that a bounded step leads to,
//   min over tau of 1/2 sum_r |w_r + tau_r x|^2,   tau_r <= [r is the true class],   sum(tau) = 0.
// With steps a_r = -tau_r of the rivals this is the problem of rivals.hpp with target 0 and limit
// 1: PA-I asks for a margin of 1 and prices the slack, MIRA asks for none. For two classes in one
// column, tau is -z.w/|x|^2 within [0, 1].
// From weights of zero it would never move, and the paper starts elsewhere. Here a tie, on which
// the problem has nothing to say, is met by the step of the paper's family of ultraconservative
// updates: tau = 1 for the true class, shared equally by the rivals level with it.
// `margin` > 0, which the paper does not have, is the target in place of 0; then a tie is a loss.
// A sample weight multiplies the bound. Rows of zeros are left alone.

/// The step that meets a tie.
inline double mira_level_step(double weight, double target) { return target == 0 ? weight : 0; }

inline Affine mira(const RuleInput& s, const double* p) {
  const double target = p[0], loss = target - s.margin;
  if (loss < 0 || s.zz <= 0) return {1, 0};
  return {1, loss == 0 ? mira_level_step(s.weight, target) : std::min(s.weight, loss / s.zz)};
}

inline Slack mira_slack(double weight, const double* p) {
  return {.target = p[0], .limit = weight, .level_step = mira_level_step(weight, p[0])};
}

// Passive-Aggressive for one class (Crammer et al. 2006, section 6, "uniclass"): w is the centre of
// a ball that should hold every row x = z, with the loss max(0, |w - x| - radius);
//   min 1/2 |w - w_t|^2  such that  the loss is 0   w <- w + tau*(x - w)/|x - w|,  tau = loss
//   with slack priced C*xi (I) or C*xi^2 (II)       tau = min(C, loss), loss/(1 + 1/(2C)).
// The radius may be learned up to a bound B: a further coordinate, 0 in all rows, starts at B in w;
// then |w - x| <= B in all coordinates is |w - x| <= sqrt(B^2 - last^2) in those of the rows. The
// memory holds the square of that learned radius. A sample weight multiplies C.

/// What bounds tau: `pull(loss, C)`.
inline double hard_pull(double loss, double) { return loss; }
inline double linear_pull(double loss, double C) { return std::min(C, loss); }
inline double quadratic_pull(double loss, double C) { return loss / (1 + 1 / (2 * C)); }

template <double (*pull)(double, double)>
AffineKeeping one_class_pa(const RuleInput& s, const double* p) {
  const double radius = p[0], learns_radius = p[1], C = p[2] * s.weight;
  const double last = learns_radius ? radius * radius - s.memory : 0;  // squared
  const double distance = std::sqrt(std::max(0.0, s.ww - 2 * s.margin + s.zz + last));
  if (distance <= radius) return {1, 0, s.memory};
  const double share = pull(distance - radius, C) / distance;
  const double kept = (1 - share) * (1 - share) * last;
  return {1 - share, share, learns_radius ? radius * radius - kept : 0};
}

}  // namespace yarrow
