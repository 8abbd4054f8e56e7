#pragma once
#include <cmath>

#include "rules/ball.hpp"
#include "rules/gradient.hpp"
#include "rules/rule.hpp"

// Stochastic gradient descent on  l2/2 |w|^2 + loss(z.w),  one row at a time:
//   w <- (1 - eta_t*l2)*w + eta_t*slope*z.
// The intercept is one more feature and so inside |w|. Sample weights scale the loss, and not the
// pull towards zero.
//   Pegasos  (Shalev-Shwartz et al. 2011)  hinge; eta_t = 1/(l2*t); then, if asked, the nearest
//            point of the ball |w| <= 1/sqrt(l2), where the optimum lies
//   ASGD     (Bottou 2010; Polyak & Juditsky 1992; Xu 2011)  eta_t = eta0*(1 +
//   l2*eta0*(t-1))^-0.75,
//            to be averaged
//   NORMA    (Kivinen, Smola & Williamson 2004), linear  loss max(0, rho - z.w); eta_t =
//   eta0/t^power NORMA-nu the same with -nu*rho added to the loss and rho moved down the gradient
//   as well, from 0:
//            rho <- rho - eta_t*([z.w <= rho] - nu), so that about a share nu of rows stays below
//            rho

namespace yarrow {

inline Affine pegasos(const RuleInput& s, const double* p) {
  const double l2 = p[0], project = p[1];
  const double eta = 1 / (l2 * s.t);
  const Affine step{1 - 1 / s.t, s.weight * eta * hinge_slope(s.margin, s.target)};
  return project ? into_ball(s, step, 1 / std::sqrt(l2)) : step;
}

template <Slope slope>
Affine asgd(const RuleInput& s, const double* p) {
  const double eta0 = p[0], l2 = p[1];
  const double eta = eta0 * std::pow(1 + l2 * eta0 * (s.t - 1), -0.75);
  return {1 - eta * l2, s.weight * eta * slope(s.margin, s.target)};
}

inline Affine norma(const RuleInput& s, const double* p) {
  const double eta = learning_rate(p[0], p[1], s.t), l2 = p[2], rho = p[3];
  return {1 - eta * l2, s.margin <= rho ? s.weight * eta : 0};
}

inline AffineKeeping norma_nu(const RuleInput& s, const double* p) {
  const double eta = learning_rate(p[0], p[1], s.t), l2 = p[2], nu = p[3];
  const double rho = s.memory;
  const bool below = s.margin <= rho;
  return {1 - eta * l2, below ? s.weight * eta : 0, rho - s.weight * eta * (below - nu)};
}

}  // namespace yarrow
