#pragma once
#include "loops/regularizers/arithmetic.hpp"

namespace yarrow {

/// Regularised dual averaging (Xiao 2010): stored is the sum g of all negative gradients, and after
/// n rows, with Psi(w) = l1*|w|_1 + l2/2*|w|^2,
///   w <- argmin -g.w/n + Psi(w) + gamma/sqrt(n) * (1/2 |w|^2 + rho*|w|_1)
///      = soft(g, l1*n + gamma*rho*sqrt(n)) / (l2*n + gamma*sqrt(n)).
/// rho > 0 is the enhanced form. l2 > 0 makes Psi strongly convex; then gamma may be 0, and the
/// regret is O(log n / n). Nothing is owed, because the weight is made anew at each visit.
struct DualAveraging {
  static constexpr std::array planes = {Plane{0, true}};  // g
  static constexpr std::size_t growing = 1;
  template <class N>
  using Cells = std::array<N, 1>;
  double threshold, factor;

  template <class W>
  DualAveraging(const State<W>& state, const std::vector<double>& p) {
    const double l1 = p[0], gamma = p[1], rho = p[2], l2 = p[3], n = state.t, root = std::sqrt(n);
    threshold = l1 * n + gamma * rho * root;
    factor = n == 0 ? 0 : 1 / (l2 * n + gamma * root);
  }

  DualAveraging without_penalty() const { return {0, factor}; }

  template <class N>
  N weight(const Cells<N>& cells) const {
    return factor * soft_threshold(cells[0], everywhere<N>(threshold));
  }
  template <class N>
  Cells<N> moved(const Cells<N>& cells, N step) const {
    return {cells[0] + step};
  }
  double growth(double step, const Scalars&) const { return step; }

  template <class W>
  static void finish_row(State<W>&, const std::vector<double>&) {}

 private:
  DualAveraging(double t, double f) : threshold(t), factor(f) {}
};

}  // namespace yarrow
