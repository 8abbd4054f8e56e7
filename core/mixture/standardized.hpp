#pragma once
#include <algorithm>
#include <cmath>

#include "mixture/mixture_state.hpp"
#include "simd/dispatch.hpp"

// Columns of any size, brought to one scale while they stream by, without a pass beforehand and
// without touching what a row does not have. A feature keeps the number n of its visits and the
// mean a and deviation s of its values there. With p = n/rows, the share of rows that have it,
//   x~ = (x - a*p^2) / sqrt(s^2 + a^2*(1 - p^4)),   at most 2 by size,
// and all are divided by the root of their number, so that rows are about as long as one. Where
// every row has the feature (p = 1), this is (x - mean)/deviation; where few have it (p near 0), x
// over its typical size, so that a word which is there stays 1 and need not be centred. A feature's
// first value counts as its sign.

namespace yarrow {

/// A row in the scale of its columns, by what was known before it.
template <class W>
struct StandardizedRow {
  Buffer<W> values;       ///< not yet divided
  Buffer<W> weighed;      ///< the same times what they say of a class (naive_bayes.hpp), by lines
  double known = 0;       ///< how many of its features were seen before
  double to_predict = 0;  ///< 1/root of that: when predicting, nobody can tell how many others
                          ///< there are
  double to_learn = 0;    ///< 1/root of the number of all
};

/// The scale of one column in double, by its n, a and s. It calculates in a size that fits the
/// numbers, so that squares of any size are right, and by way of 1 - p. So do the kernels
/// (statistics.inc), many columns at a time in the type that is stored, in powers of two and with
/// products in place of divisions: the same to the last digits but not to the bit, and what either
/// has learned goes on by its own.
struct ColumnScale {
  double largest;                          ///< of a and s; the others are in its size
  double mean = 0, rest = 0, squared = 0;  ///< rest: 1 - p^2; squared: of the unit
  bool is_known = false;

  template <class W>
  ColumnScale(const W* column, double rows)
      : largest(
            std::max(std::abs(static_cast<double>(column[1])), static_cast<double>(column[2]))) {
    is_known = column[0] > 0 && largest > 0;
    if (!is_known) return;
    const double p = std::min(1.0, column[0] / rows), deviation = column[2] / largest;
    mean = column[1] / largest;
    rest = (1 - p) * (1 + p);
    squared = square(deviation) + square(mean) * rest * (1 + p * p);
  }

  bool varies() const { return squared > 1e-12 * square(mean); }
  double shift() const { return largest * (mean - mean * rest); }
  double unit() const { return varies() ? largest * std::sqrt(squared) : 0; }
  /// A value in this scale, at most so large; a feature's first one counts as its sign.
  double of(double value, double most) const {
    if (!is_known) return value > 0 ? 1 : -1;
    if (!varies()) return 0;
    return std::clamp((value / largest - mean + mean * rest) / std::sqrt(squared), -most, most);
  }
};

/// What all columns of a feature share: its statistics.
struct ColumnStatistics {
  static constexpr double round = 1 << 23;  ///< counts that float32 keeps to the last one
  std::size_t at;  ///< where they stand in a block; the last column's hits stand before them

  /// n, a and s.
  static void add_planes(std::vector<Plane>& planes) {
    for (const char* name : {"visits", "mean", "deviation"})
      planes.push_back(
          {.name = name, .initial = 0, .is_signed = false, .is_shared = true, .is_free = true});
  }

  /// That of the first feature; others' follow, a block each.
  template <class W>
  const W* deviations(const State<W>& state) const {
    return state.blocks.first() + at + 2;
  }

  /// Brings a row to scale; what its features say of so many columns is weighed while they are at
  /// hand.
  template <class W, std::size_t Columns>
  FeatureEvidence<W, Columns> standardize(const State<W>& state, const Row<W> row,
                                          const Weighing<W, Columns>& weighing,
                                          StandardizedRow<W>& out) const {
    out.values.resize(row.size + spare_places);
    out.known = out.to_predict = out.to_learn = 0;
    if (row.size == 0) return {};
    const W rows = state.blocks.intercept()[at];
    const FeatureStatistics<W> all = {state.blocks.first() + at, state.blocks.stride(), rows,
                                      rows > 0 ? 1 / rows : 0};
    W* const to = out.values.data();
    FeatureEvidence<W, Columns> found;
    std::size_t i = with_kernels<W>(
        [&](auto kernels) { return kernels.standardize(all, row, 0, weighing, to, found); });
    i = Kernels<W>::standardize(all, row, i, weighing, to, found);
    if (i < row.size) {
      const Ending<W> ending(row, i);
      Kernels<W>::standardize(all, ending.row(), 0, weighing.from(i), to + i, found);
    }
    double seen = 0;
    for (std::size_t k = 0; k < lanes_of<W>; ++k) seen -= static_cast<double>(found.known[k]);
    out.known = seen;
    out.to_predict = seen > 0 ? 1 / std::sqrt(seen) : 0;
    out.to_learn = 1 / std::sqrt(static_cast<double>(row.size));
    return found;
  }

  /// Takes the values of a row, which weighs something, into the statistics, and so many hits into
  /// the last column. The intercept's n is that of all rows, summed up as that of a feature is:
  /// whatever rows weigh, and however sums are rounded, p is 1 for one that is always there.
  template <class W>
  void count(State<W>& state, const Row<W> row, W weight, W more_hits) const {
    state.blocks.intercept()[at] += weight;
    W* const first = state.blocks.first() + at;
    const std::size_t stride = state.blocks.stride();
    std::size_t i = with_kernels<W>(
        [&](auto kernels) { return kernels.count(first, stride, row, 0, weight, more_hits); });
    i = Kernels<W>::count(first, stride, row, i, weight, more_hits);
    if (i == row.size) return;
    // The last place fills up the register: the same numbers are written more than once.
    constexpr std::size_t width = lanes_of<W>;
    Index features[width];
    W values[width];
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t place = std::min(i + k, row.size - 1);
      features[k] = row.index[place];
      values[k] = row.value[place];
    }
    Kernels<W>::count(first, stride, {features, values, width}, 0, weight, more_hits);
  }

  /// Counts a row that has been learned. Once in millions of rows all counts are halved, before
  /// one more would no longer change them; true: this is to be done now.
  template <class W>
  bool finish_row(State<W>& state) const {
    if (++MixtureState<W>::of(state).counted < round) return false;
    if (state.before_all_change) state.before_all_change();
    MixtureState<W>::of(state).counted /= 2;
    return true;
  }
};

}  // namespace yarrow
