#pragma once
#include <algorithm>
#include <cmath>

#include "rules/rule.hpp"

namespace yarrow {

/// The step w <- a*w + b*z, and then the nearest point of the ball |w| <= radius. The new norm is
/// put together from what lies along z and what lies across it, so that no square overflows. A step
/// whose norm cannot be represented is answered by infinity, which the loop refuses.
inline Affine into_ball(const RuleInput& s, Affine step, double radius) {
  const double length = std::sqrt(s.zz), along = s.zz > 0 ? s.margin / length : 0;
  const double across = std::sqrt(std::max(0.0, s.ww - along * along));
  const double norm = std::hypot(step.a * across, step.a * along + step.b * length);
  if (norm <= radius) return step;
  if (!std::isfinite(norm)) return {step.a, norm};
  const double shrink = radius / norm;
  return {shrink * step.a, shrink * step.b};
}

}  // namespace yarrow
