#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "state.hpp"

// Columns of any size, brought to one scale while they stream by, without a pass beforehand and
// without touching what a row does not have. A feature keeps the number n of its visits and the
// mean a and deviation s of its values there. With p = n/rows, the share of rows that have it,
//   x~ = (x - a*p^2) / sqrt(s^2 + a^2*(1 - p^4)),   at most 2 by size,
// and the row is scaled to length one. Where every row has the feature (p = 1), this is
// (x - mean)/deviation; where few have it (p near 0), x over its typical size, so that a word which
// is there stays 1 and need not be centred. A feature's first value counts as its sign.

namespace yarrow {

/// A row in the scale of its columns, by what was known before it.
struct StandardizedRow {
  std::vector<double> values;  ///< not yet scaled to length one
  double to_predict =
      0;  ///< 1/length, of features seen before: others cannot be told when predicting
  double to_learn = 0;  ///< 1/length
};

/// How the numbers of a feature are found in its block.
struct ColumnStatistics {
  static constexpr double most = 2;         ///< deviations
  static constexpr double round = 1 << 23;  ///< counts that float32 keeps to the last one
  static constexpr int planes = 3;          ///< n, a, s; in the first column alone
  std::size_t at, capacity;                 ///< the first of them, and the distance to the next

  template <class W>
  void standardize(const State<W>& state, const Row<W>& row, StandardizedRow& out) const {
    const W* first = state.blocks.first() + at;
    const std::size_t stride = state.blocks.stride();
    const double share = state.counted > 0 ? 1 / state.counted : 0;
    double known = 0, all = 0;
    out.values.resize(row.size);
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* cells = first + row.index[i] * stride;
      const double x = row.value[i], n = cells[0], a = cells[capacity], s = cells[2 * capacity];
      const double p = n * share, pp = p * p, aa = a * a;
      const double squared = s * s + aa * (1 - pp * pp);
      double z = squared > 1e-12 * aa ? (x - a * pp) / std::sqrt(squared) : 0;
      z = z > most ? most : z < -most ? -most : z == z ? z : 0;
      if (n == 0) z = x > 0 ? 1 : -1;
      out.values[i] = z;
      all += z * z;
      if (n != 0) known += z * z;
    }
    out.to_predict = known > 0 ? 1 / std::sqrt(known) : 0;
    out.to_learn = all > 0 ? 1 / std::sqrt(all) : 0;
  }

  /// Refuses, before anything is written, values whose squares overflow.
  template <class W>
  void check(const State<W>& state, const Row<W>& row) const {
    if constexpr (sizeof(W) == 4) return;  // squared in double
    const W* first = state.blocks.first() + at;
    double sum = 0;
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* cells = first + row.index[i] * state.blocks.stride();
      sum += 4 * (square(row.value[i]) + square(cells[capacity]) + square(cells[2 * capacity]));
    }
    if (!std::isfinite(sum))
      throw Error("this row's values overflow when squared; scale the features down");
  }

  template <class W>
  void count(W* cells, double x) const {
    W &n = cells[0], &a = cells[capacity], &s = cells[2 * capacity];
    const double visits = n + 1.0, before = x - a, mean = a + before / visits;
    const double squared = square(s) + (before * (x - mean) - square(s)) / visits;
    constexpr double largest = std::numeric_limits<W>::max();
    n = static_cast<W>(visits);
    a = static_cast<W>(mean);
    s = static_cast<W>(std::min(std::sqrt(std::max(squared, 0.0)), largest));
  }

  /// Counts a row that has been learned. Once in millions of rows all counts are halved, before
  /// one more would no longer change them.
  template <class W>
  void finish_row(State<W>& state) const {
    if (++state.counted < round) return;
    if (state.before_all_change) state.before_all_change();
    state.counted /= 2;
    W* cell = state.blocks.first() + at;
    for (std::size_t f = 0; f < state.blocks.features(); ++f, cell += state.blocks.stride())
      *cell /= 2;
  }
};

}  // namespace yarrow
