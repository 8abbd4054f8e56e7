#pragma once
#include "loops/regularizers/arithmetic.hpp"
#include "rules/gradient.hpp"

namespace yarrow {

/// SG-L1 / FOBOS (Duchi & Singer 2009): after the gradient step of row t,
///   w <- argmin 1/2 |w - w_half|^2 + eta_t*l1*|w|_1,   eta_t = eta0 / t^power.
/// A feature pays all the penalties since its last visit at once: w <- soft(w, total - paid).
struct SoftThreshold : Regularizer {
  static constexpr std::array planes = {Plane{"weight", 0, true}, Plane{"paid", 0, false}};
  ClockSum total;

  template <class W>
  SoftThreshold(const State<W>& state, const std::vector<double>& /*p*/)
      : total(as_stored<W>(state.penalty)) {}

  void remove_penalty() { total = {}; }
  bool may_keep(const std::array<double, 2>& cells) const { return cells[1] <= total.paid; }
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

/// What a weight has to pay when it has received the signed penalties q (negative: it was pulled
/// down) and `due` (>= |q|) is asked of everybody: it moves towards zero by due + q if it is
/// positive, by due - q if it is negative, and no further than zero.
template <class N>
inline N cumulative_payment(N w, N q, N due) {
  const N by = due + (w < N{} ? -q : q);
  return smaller(larger(w, -by), by);
}

/// Whether a weight can have received q where `due` was asked of everybody; q is rounded.
inline bool is_paid(double q, double due) { return std::abs(q) <= (1 + 0x1p-16) * due; }

/// Cumulative penalty (Tsuruoka, Tsujii & Ananiadou 2009): as SG-L1, but a weight that was stopped
/// at zero still owes what it could not pay, so that no single step makes it leave zero. With u the
/// sum of eta_t*l1 over all rows and q what the weight has received of it,
///   w <- max(0, w - (u + q)) if w >= 0, else min(0, w + (u - q));   q <- q + change of w.
/// Paying after each row or once for many rows comes to the same weight.
struct CumulativePenalty : SoftThreshold {
  static constexpr std::array planes = {Plane{"weight", 0, true}, Plane{"received", 0, true}};
  static constexpr std::size_t growing = 2;
  SumRounding rounded;

  template <class W>
  CumulativePenalty(const State<W>& state, const std::vector<double>& p)
      : SoftThreshold(state, p), rounded(state) {}

  bool may_keep(const std::array<double, 2>& cells) const { return is_paid(cells[1], total.now); }

  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const auto [w, q] = cells;
    return w - cumulative_payment(w, q, everywhere<N>(total.now));
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& cells, N step) const {
    const auto [w, q] = cells;
    const N payment = cumulative_payment(w, q, everywhere<N>(total.now));
    return {w - payment + step, rounded(q - payment)};
  }
};

// Sparsity by truncation every K rows (Langford, Li & Zhang 2009), after the gradient step
// w <- w - eta_t*gradient of each row.

/// Truncated gradient: after rows K, 2K, ... a weight of size at most theta moves towards zero by
/// eta_t*K*gravity, and no further; a larger one is left alone. A weight that is only pulled stays
/// on its side of theta, so that it can pay many truncations at once.
struct TruncatedGradient : SoftThreshold {
  double theta;

  template <class W>
  TruncatedGradient(const State<W>& state, const std::vector<double>& p)
      : SoftThreshold(state, p), theta(p[3]) {}

  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const N pulled = SoftThreshold::weight(cells);
    return magnitude(cells[0]) > everywhere<N>(theta) ? cells[0] : pulled;
  }

  template <class W>
  static void finish_row(State<W>& state, const std::vector<double>& p) {
    const double gravity = p[0], every = p[4];
    if (std::fmod(state.t + 1, every) == 0)
      state.penalty += learning_rate(p[1], p[2], state.t + 1) * every * gravity;
  }
};

/// Coefficient rounding: after rows K, 2K, ... weights of size at most theta become zero. A feature
/// keeps the number of the last such row before its last visit, modulo 2^24, to be exact in
/// float32: if it is not the model's, the weight has been rounded since then.
struct RandomizedRounding : Regularizer {
  static constexpr std::array planes = {Plane{"weight", 0, true}, Plane{"roundings", 0, false}};
  double roundings, theta;

  template <class W>
  RandomizedRounding(const State<W>& state, const std::vector<double>& p)
      : roundings(std::fmod(std::floor(state.t / p[1]), 0x1p24)), theta(p[0]) {}

  void remove_penalty() { theta = -1; }
  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const auto [stored, seen] = cells;
    const N rounded = magnitude(stored) > everywhere<N>(theta) ? stored : N{};
    return seen == everywhere<N>(roundings) ? stored : rounded;
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& /*cells*/, N weight, N step) const {
    return {weight + step, everywhere<N>(roundings)};
  }
};

}  // namespace yarrow
