#pragma once
#include <limits>

#include "lanes.hpp"

// What the experts of yarrow_learner.hpp do to their numbers: several neighbours at a time, each
// treated alike wherever it stands, so that one column and many give the same bits.

namespace yarrow {

/// Where confidence, and the sum of squared gradients, end.
constexpr double most_precision = 1e30;

/// One step of some neighbours. `precisions` are P - 1.
template <class W>
struct ExpertStep {
  static constexpr std::size_t width = lanes_of<W>;
  Lanes<W> step, gain, fade;  ///< AROW: alpha, kappa, memory; AdaGrad: gradient, rate, memory

  [[gnu::always_inline]] void arow(W* weights, W* precisions, Lanes<W> x) const {
    const Lanes<W> p = lanes_at<width>(precisions);
    put_lanes<width>(lanes_at<width>(weights) + step * x / (1 + p), weights);
    put_lanes<width>(smaller(fade * (p + gain * (x * x)), limit()), precisions);
  }
  template <std::size_t N>
  [[gnu::always_inline]] void adagrad(W* weights, W* squares, Lanes<W> x) const {
    const auto [w, s] = after_adagrad(lanes_at<N>(weights), lanes_at<N>(squares), x);
    put_lanes<N>(w, weights);
    put_lanes<N>(s, squares);
  }
  /// The first two neighbours, for two values: half a register each. The squares stand `squares`
  /// behind the weights.
  [[gnu::always_inline]] void adagrad_twice(W* one, W* other, std::size_t squares, Lanes<W> x_one,
                                            Lanes<W> x_other) const {
    const ExpertStep twice = {first_halves(step, step), first_halves(gain, gain),
                              first_halves(fade, fade)};
    const auto [w, s] =
        twice.after_adagrad(halves_at(one, other), halves_at(one + squares, other + squares),
                            first_halves(x_one, x_other));
    put_halves(w, one, other);
    put_halves(s, one + squares, other + squares);
  }

 private:
  struct WeightsAndSquares {
    Lanes<W> weights, squares;
  };
  [[gnu::always_inline]] WeightsAndSquares after_adagrad(Lanes<W> weights, Lanes<W> squares,
                                                         Lanes<W> x) const {
    const Lanes<W> g = step * x, sum = fade * squares + g * g;
    const Lanes<W> least = Lanes<W>{} + std::numeric_limits<W>::min();
    return {weights + gain * g / square_root(larger(sum, least)), smaller(sum, limit())};
  }
  static Lanes<W> limit() { return Lanes<W>{} + static_cast<W>(most_precision); }
};

/// The steps of all experts and columns.
template <class W>
struct ExpertSteps {
  const W *step, *gain, *fade;
  template <std::size_t N>
  [[gnu::always_inline]] ExpertStep<W> at(std::size_t j) const {
    return {lanes_at<N>(step + j), lanes_at<N>(gain + j), lanes_at<N>(fade + j)};
  }
};

}  // namespace yarrow
