#pragma once
#include <cmath>

#include "rules/ball.hpp"
#include "rules/rule.hpp"

namespace yarrow {

/// ALMA_2 (Gentile 2001), the approximate large margin algorithm for the Euclidean norm. With
/// z' = z/|z| and k - 1 the updates so far: if z'.w <= (1 - alpha)*B/sqrt(k), the row is added with
/// the rate C/sqrt(k), and w is brought back into the unit ball. The ball is that of all weights,
/// the intercept's included. Sample weights scale the rate. A row of zeros has no direction and is
/// left alone.
inline Affine alma(const RuleInput& s, const double* p) {
  const double alpha = p[0], B = p[1], C = p[2];
  if (s.zz <= 0) return {1, 0};
  const double length = std::sqrt(s.zz), root = std::sqrt(s.updates + 1);
  if (s.margin > (1 - alpha) * B / root * length) return {1, 0};
  return into_ball(s, {1, s.weight * C / (root * length)}, 1);
}

}  // namespace yarrow
