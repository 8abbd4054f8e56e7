#pragma once
// What the regularizers calculate with. N is a double or two of them (Two).
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "simd/twos.hpp"
#include "state/state.hpp"

namespace yarrow {

template <class N>
inline N magnitude(N x) {
  return larger(x, -x);
}

/// Towards zero by `by` (>= 0), and no further. Without a branch: which weights are zero is what
/// nobody can predict.
template <class N>
inline N soft_threshold(N w, N by) {
  return w - smaller(larger(w, -by), by);
}

/// A penalty so large that nothing is left, but not so large that nothing times it is undefined.
inline double finite(double penalty) {
  return std::min(penalty, std::numeric_limits<double>::max());
}

/// What a regularizer does unless it says otherwise (proximal.hpp).
struct Regularizer {
  static constexpr std::size_t growing = 1;
  static double growth(double step, const Scalars&) { return step; }
  static double largest_factor() { return 1; }
  template <class W>
  static void finish_row(State<W>&, const std::vector<double>&) {}
  template <class Cells>
  static bool may_keep(const Cells&) {
    return true;
  }
};

/// A sum of the model's clock as features store it. What rounding leaves out of one visit is
/// charged with the next, because both ends of each span of time are rounded alike. Beyond the
/// range of W the difference to what can be paid stays larger than any weight.
struct ClockSum {
  double now = 0;   ///< what everybody owes
  double paid = 0;  ///< what a feature keeps that has paid it
};

template <class W>
inline ClockSum as_stored(double sum) {
  constexpr double most = std::numeric_limits<W>::max() / 2;
  if (sum >= most) return {2 * most, most};
  return {static_cast<W>(sum), static_cast<W>(sum)};
}

/// How long sums are rounded to the weight type: in float32, additions that are 2^24 times smaller
/// than the sum would all be lost. So the number is moved by a part of its last place before it is
/// rounded, by another part in every row and evenly over all parts (multiples of the golden ratio):
/// over many rows, sums lose nothing. The part depends on the row's number alone, so that all
/// routes give the same bits; in float64 it is 0.
struct SumRounding {
  double part = 0, steps = 0;

  template <class W>
  explicit SumRounding(const State<W>& state) {
    if constexpr (std::is_same_v<W, float>) {
      const double turns = (state.t + 1) * 0.6180339887498949;
      part = (turns - std::floor(turns) - 0.5) * 0x1p-23;
      steps = 0x1.8p29;  // adding this many leading powers leaves 24 bits
    }
  }

  /// Exactly what is stored: steps of the sum's own last place, even where the part leads across a
  /// power of two, below which the type has finer ones. Else sums would be caught there.
  template <class N>
  N operator()(N sum) const {
    const N power = leading_power(sum), many = steps * power;
    return (sum + part * power + many) - many;
  }
};

/// Multiplies all that features keep in the first planes by `factor`, in every column.
template <class W>
void scale_features(State<W>& state, std::size_t planes, double factor) {
  if (state.before_all_change) state.before_all_change();
  W* cells = state.blocks.first();
  const std::size_t numbers = planes * state.blocks.capacity();
  for (std::size_t f = 0; f < state.blocks.features(); ++f, cells += state.blocks.stride())
    for (std::size_t i = 0; i < numbers; ++i) cells[i] = static_cast<W>(cells[i] * factor);
}

}  // namespace yarrow
