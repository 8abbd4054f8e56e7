#pragma once
#include <cmath>

#include "rules/gradient.hpp"
#include "rules/rule.hpp"

// Mirror descent: the dual numbers theta, of which a link makes the weights (`loops/mirror.hpp`),
// move by b*z. The steps are those of gradient descent; what differs is the geometry of the link,
// in which
//   w <- argmin D(w, w_t) - b*z.w
// for the link's Bregman divergence D. The loop tells in `v` the square of |z| in the norm that is
// dual to that of the weights.

namespace yarrow {

/// max(0, -u): the loss of the Perceptron, with a step also where the margin is 0.
inline double perceptron_slope(double u, double) { return u <= 0 ? 1 : 0; }

/// Exponentiated gradient (Kivinen & Warmuth 1997): D is the relative entropy of the shares w/U,
/// and the loss a function of them, so its slope has the factor U. A sample weight scales the step.
template <Slope slope>
Gradient exponentiated(const RuleInput& s, const double* p) {
  const double eta = p[0], U = p[1];
  return {s.weight * eta * U * slope(s.margin, s.target)};
}

/// ALMA_p (Gentile 2001, figure 1): over weights of q-norm at most 1 and rows scaled to p-norm 1,
/// the k-th update is made where the margin is at most (1 - alpha)*B*sqrt((p - 1)/k), and has the
/// size C/sqrt((p - 1)*k). The loop brings the weights back into the ball. A sample weight scales
/// the step. Rows of zeros are left alone.
inline Gradient alma_p(const RuleInput& s, const double* parameters) {
  const double alpha = parameters[0], B = parameters[1], C = parameters[2], p = parameters[3];
  const double norm = std::sqrt(s.v), k = s.updates + 1;
  if (norm <= 0 || s.margin > (1 - alpha) * B * std::sqrt((p - 1) / k) * norm) return {0};
  return {s.weight * C / std::sqrt((p - 1) * k) / norm};
}

}  // namespace yarrow
