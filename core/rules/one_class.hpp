#pragma once
#include <algorithm>
#include <cmath>

#include "rules/rule.hpp"

// Passive-Aggressive for one class (Crammer et al. 2006, section 6, "uniclass"): w is the centre of
// a ball that should hold every row x = z, with the loss max(0, |w - x| - radius);
//   min 1/2 |w - w_t|^2  such that  the loss is 0   w <- w + tau*(x - w)/|x - w|,  tau = loss
//   with slack priced C*xi (I) or C*xi^2 (II)       tau = min(C, loss), loss/(1 + 1/(2C)).
// The radius may be learned up to a bound B: a further coordinate, 0 in all rows, starts at B in w;
// then |w - x| <= B in all coordinates is |w - x| <= sqrt(B^2 - last^2) in those of the rows. The
// memory holds the square of that learned radius. A sample weight multiplies C.

namespace yarrow {

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
