#pragma once
#include "loops/regularizers/arithmetic.hpp"
#include "rules/gradient.hpp"

namespace yarrow {

/// SG-L1 / FOBOS (Duchi & Singer 2009): after the gradient step of row t,
///   w <- argmin 1/2 |w - w_half|^2 + eta_t*l1*|w|_1,   eta_t = eta0 / t^power.
/// A feature pays all the penalties since its last visit at once: w <- soft(w, total - paid).
struct SoftThreshold : Regularizer {
  static constexpr std::array planes = {Plane{0, true}, Plane{0, false}};  // weight, paid
  ClockSum total;

  template <class W>
  SoftThreshold(const State<W>& state, const std::vector<double>& /*p*/)
      : total(as_stored<W>(state.penalty)) {}

  void remove_penalty() { total = {}; }
  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const auto [stored, paid] = cells;
    return soft_threshold(stored, total.now - paid);
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& /*cells*/, N weight, N step) const {
    return {weight + step, everywhere<N>(total.paid)};
  }

  template <class W>
  static void finish_row(State<W>& state, const std::vector<double>& p) {
    state.penalty += learning_rate(p[1], p[2], state.t + 1) * p[0];
  }
};

/// FOBOS with the elastic net: after the gradient step of row t,
///   w <- argmin 1/2 |w - w_half|^2 + eta_t*(l1*|w|_1 + l2/2*|w|^2) = soft(w_half, eta_t*l1) / d_t,
/// d_t = 1 + eta_t*l2. Stored is v = D*w, where D (`shrink`) is the product of all d so far: then
/// v <- soft(v, eta_t*l1*D), and sums of penalties do as in SoftThreshold. Before D grows too
/// large, all features are divided by a power of two, which rounds nothing.
struct ElasticNet : SoftThreshold {
  double shrink;

  template <class W>
  ElasticNet(const State<W>& state, const std::vector<double>& p)
      : SoftThreshold(state, p), shrink(state.shrink) {}

  void remove_penalty() {
    total = {};
    shrink = 1;
  }
  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    return SoftThreshold::weight(cells) / shrink;
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& cells, N step) const {
    return {SoftThreshold::weight(cells) + shrink * step, everywhere<N>(total.paid)};
  }
  static double growth(double step, const Scalars& state) { return step * state.shrink; }

  template <class W>
  static void finish_row(State<W>& state, const std::vector<double>& p) {
    constexpr double most = 0x1p60;
    const double rate = learning_rate(p[1], p[2], state.t + 1), l1 = p[0], l2 = p[3];
    state.penalty += rate * l1 * state.shrink;
    state.shrink *= std::min(1 + rate * l2, 0x1p600);
    if (state.shrink < most) return;
    const double factor = std::ldexp(1.0, -std::ilogb(state.shrink));
    scale_features(state, planes.size(), factor);
    state.penalty *= factor;
    state.shrink *= factor;
  }
};

}  // namespace yarrow
