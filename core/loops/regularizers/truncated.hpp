#pragma once
#include "loops/regularizers/soft.hpp"

// Sparsity by truncation every K rows (Langford, Li & Zhang 2009), after the gradient step
// w <- w - eta_t*gradient of each row.

namespace yarrow {

/// Truncated gradient: after rows K, 2K, ... a weight of size at most theta moves towards zero by
/// eta_t*K*gravity, and no further; a larger one is left alone. A weight that is only pulled stays
/// on its side of theta, so that it can pay many truncations at once.
struct TruncatedGradient {
  static constexpr std::array planes = {Plane{0, true}, Plane{0, false}};  // weight, paid
  static constexpr std::size_t growing = 1;
  template <class N>
  using Cells = std::array<N, 2>;
  ClockSum total;
  double theta;

  template <class W>
  TruncatedGradient(const State<W>& state, const std::vector<double>& p)
      : total(as_stored<W>(state.penalty)), theta(p[3]) {}

  TruncatedGradient without_penalty() const {
    TruncatedGradient free = *this;
    free.total = {};
    return free;
  }
  template <class N>
  N weight(const Cells<N>& cells) const {
    const auto [stored, paid] = cells;
    const N pulled = soft_threshold(stored, total.now - paid);
    return magnitude(stored) > everywhere<N>(theta) ? stored : pulled;
  }
  template <class N>
  Cells<N> moved(const Cells<N>& /*cells*/, N weight, N step) const {
    return {weight + step, everywhere<N>(total.paid)};
  }
  double growth(double step, const Scalars&) const { return step; }

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
struct RandomizedRounding {
  static constexpr std::array planes = {Plane{0, true}, Plane{0, false}};  // weight, roundings
  static constexpr std::size_t growing = 1;
  template <class N>
  using Cells = std::array<N, 2>;
  double roundings, theta;

  template <class W>
  RandomizedRounding(const State<W>& state, const std::vector<double>& p)
      : roundings(std::fmod(std::floor(state.t / p[1]), 0x1p24)), theta(p[0]) {}

  RandomizedRounding without_penalty() const {
    RandomizedRounding free = *this;
    free.theta = -1;
    return free;
  }
  template <class N>
  N weight(const Cells<N>& cells) const {
    const auto [stored, seen] = cells;
    const N rounded = magnitude(stored) > everywhere<N>(theta) ? stored : N{};
    return seen == everywhere<N>(roundings) ? stored : rounded;
  }
  template <class N>
  Cells<N> moved(const Cells<N>& /*cells*/, N weight, N step) const {
    return {weight + step, everywhere<N>(roundings)};
  }
  double growth(double step, const Scalars&) const { return step; }

  template <class W>
  static void finish_row(State<W>&, const std::vector<double>&) {}
};

}  // namespace yarrow
