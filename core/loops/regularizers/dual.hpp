#pragma once
#include "loops/regularizers/arithmetic.hpp"

namespace yarrow {

/// Regularised dual averaging (Xiao 2010): stored is the sum g of all negative gradients, and after
/// n rows, with Psi(w) = l1*|w|_1 + l2/2*|w|^2,
///   w <- argmin -g.w/n + Psi(w) + gamma/sqrt(n) * (1/2 |w|^2 + rho*|w|_1)
///      = soft(g, l1*n + gamma*rho*sqrt(n)) / (l2*n + gamma*sqrt(n)).
/// rho > 0 is the enhanced form. l2 > 0 makes Psi strongly convex; then gamma may be 0, and the
/// regret is O(log n / n). Nothing is owed, because the weight is made anew at each visit.
struct DualAveraging : Regularizer {
  static constexpr std::array planes = {Plane{"gradients", 0, true}};
  double threshold, factor, first_factor;

  template <class W>
  DualAveraging(const State<W>& state, const std::vector<double>& p) {
    const double l1 = p[0], gamma = p[1], rho = p[2], l2 = p[3], n = state.t, root = std::sqrt(n);
    threshold = l1 * n + gamma * rho * root;
    factor = n == 0 ? 0 : 1 / (l2 * n + gamma * root);
    first_factor = 1 / (l2 + gamma);
  }

  double largest_factor() const { return factor == 0 ? first_factor : factor; }

  void remove_penalty() { threshold = 0; }

  template <class N>
  N weight(const std::array<N, 1>& cells) const {
    return factor * soft_threshold(cells[0], everywhere<N>(threshold));
  }
  template <class N>
  std::array<N, 1> moved(const std::array<N, 1>& cells, N step) const {
    return {cells[0] + step};
  }
};

}  // namespace yarrow
