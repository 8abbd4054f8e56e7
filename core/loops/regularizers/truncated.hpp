#pragma once
#include "loops/regularizers/soft.hpp"

// Sparsity by truncation every K rows (Langford, Li & Zhang 2009), after the gradient step
// w <- w - eta_t*gradient of each row.

namespace yarrow {

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
  static constexpr std::array planes = {Plane{0, true}, Plane{0, false}};  // weight, roundings
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
