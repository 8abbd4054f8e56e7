#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "pulls/arithmetic.hpp"
#include "state.hpp"

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
struct StandardizedRow {
  std::vector<double> values;  ///< not yet divided
  double to_predict = 0;       ///< 1/root of the number of features seen before: when predicting,
                               ///< nobody can tell how many others there are
  double to_learn = 0;         ///< 1/root of the number of all
};

/// What all columns of a feature share: its statistics.
struct ColumnStatistics {
  static constexpr double most = 2;         ///< deviations
  static constexpr double round = 1 << 23;  ///< counts that float32 keeps to the last one
  static constexpr int planes = 4;  ///< n, a, s; one more makes one column's block a cache line
  std::size_t at;                   ///< where they stand in a block

  /// Calls `also(places, values)` with the places of the row and their values while these are at
  /// hand, and returns it; places that fill up the row have the value 0.
  template <class W, class Also>
  Also standardize(const State<W>& state, const Row<W>& row, StandardizedRow& out,
                   Also also) const {
    const W* first = state.blocks.first() + at;
    const std::size_t stride = state.blocks.stride();
    const double share = state.counted > 0 ? 1 / state.counted : 0;
    out.values.resize(row.size + spare_places);
    double* values = out.values.data();
    const auto term = [=, &also](auto place, Pair* sums) __attribute__((always_inline)) {
      const Pair x = place.values(), none{}, limit = everywhere<Pair>(most);
      const auto [n, a, s] = place.triples(first, stride);
      const Pair p = n * share, pp = p * p, aa = a * a;
      const Pair squared = s * s + aa * (1 - pp * pp);
      Pair z = (x - a * pp) / square_root(larger(squared, everywhere<Pair>(1e-300)));
      z = larger(smaller(z, limit), -limit);
      z = squared > 1e-12 * aa ? z : none;  // where n is 0, too
      z += n > none ? none : sign_of(x);
      z = x != none ? z : none;
      place.set_numbers(values, z);
      also(place, z);
      sums[0] += (n > none) & (x != none) ? everywhere<Pair>(1) : none;
    };
    const auto [known] = pair_sums<1>(row, term);
    out.to_predict = known > 0 ? 1 / std::sqrt(known) : 0;
    out.to_learn = row.size > 0 ? 1 / std::sqrt(static_cast<double>(row.size)) : 0;
    return also;
  }

  /// Refuses, before anything is written, values whose squares overflow.
  template <class W>
  void check(const State<W>& state, const Row<W>& row) const {
    if constexpr (sizeof(W) == 4) return;  // squared in double
    const W* first = state.blocks.first() + at;
    double sum = 0;
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* cells = first + row.index[i] * state.blocks.stride();
      sum += 4 * (square(row.value[i]) + square(cells[1]) + square(cells[2]));
    }
    if (!std::isfinite(sum))
      throw Error("this row's values overflow when squared; scale the features down");
  }

  /// Takes the values of a row into the statistics.
  template <class W>
  void count(State<W>& state, const Row<W>& row) const {
    W* first = state.blocks.first() + at;
    const std::size_t stride = state.blocks.stride();
    constexpr double largest = std::numeric_limits<W>::max();
    for_pairs(row, [=](auto place) {
      const auto x = place.values();
      const auto [n, a, s] = place.triples(first, stride);
      const auto visits = n + 1;
      const auto part = 1 / visits, before = x - a, mean = a + before * part;
      const auto squared = s * s + (before * (x - mean) - s * s) * part;
      using N = std::remove_const_t<decltype(x)>;
      const auto deviation = square_root(larger(squared, N{}));
      place.set_triples(first, stride, {visits, mean, smaller(deviation, everywhere<N>(largest))});
    });
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
