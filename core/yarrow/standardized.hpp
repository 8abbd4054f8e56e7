#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "../state.hpp"
#include "lanes.hpp"

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

/// What all columns of a feature share: its statistics.
struct ColumnStatistics {
  static constexpr double most = 2;         ///< deviations
  static constexpr double round = 1 << 23;  ///< counts that float32 keeps to the last one
  static constexpr int planes = 3;          ///< n, a, s
  std::size_t at;  ///< where they stand in a block; the last column's hits stand before them

  /// Calls `also(place, blocks, values, hits, n, known)` with as many as a register holds while
  /// these are at hand, and returns it; places that fill up the row have the value 0, and are not
  /// known.
  template <class W, class Also>
  Also standardize(const State<W>& state, const Row<W> row, StandardizedRow<W>& out,
                   Also also) const {
    out.values.resize(row.size + spare_places);
    out.known = out.to_predict = out.to_learn = 0;
    if (row.size == 0) return also;
    constexpr std::size_t width = lanes_of<W>;
    const W* const first = state.blocks.first();
    const std::size_t stride = state.blocks.stride();
    const W rows = state.blocks.intercept()[at], share = rows > 0 ? 1 / rows : 0;
    LaneBits<W> known{};
    const std::size_t place = at - 1;
    W* const to = out.values.data();
    const auto four = [&](const Index* f, const W* v, std::size_t i)
                          __attribute__((always_inline)) {
                            for (std::size_t k = 0; k < 4; k += width) {
                              const auto blocks = blocks_at<W>(first, stride, f + k);
                              const Lanes<W> x = lanes_at<width>(v + k);
                              const auto [hits, n, a, s] = Quads<W>::at(blocks, place);
                              const Lanes<W> z = standardized<W>(x, n, a, s, rows, share);
                              const LaneBits<W> is_known = (n > 0) & (x != 0);
                              put_lanes<width>(z, to + i + k);
                              also(i + k, blocks, z, hits, n, is_known);
                              known -= is_known;
                            }
                          };
    std::size_t i = 0;
    for (; i + 4 < row.size; i += 4) four(row.index + i, row.value + i, i);
    const Ending<W> ending(row, i);
    four(ending.index + ending.skipped, ending.value + ending.skipped, i);
    double seen = 0;
    for (std::size_t k = 0; k < width; ++k) seen += static_cast<double>(known[k]);
    out.known = seen;
    out.to_predict = seen > 0 ? 1 / std::sqrt(seen) : 0;
    out.to_learn = 1 / std::sqrt(static_cast<double>(row.size));
    return also;
  }

  /// Takes the values of a row, which weighs something, into the statistics, and so many hits into
  /// the last column. The intercept's n is that of all rows, summed up as that of a feature is:
  /// whatever rows weigh, and however sums are rounded, p is 1 for one that is always there.
  template <class W>
  void count(State<W>& state, const Row<W> row, W weight, W more_hits) const {
    constexpr std::size_t width = lanes_of<W>;
    state.blocks.intercept()[at] += weight;
    W* const first = state.blocks.first() + at - 1;
    const std::size_t stride = state.blocks.stride();
    const auto some = [=](const Index* features, const W* values) __attribute__((always_inline)) {
      const auto blocks = blocks_at<W>(first, stride, features);
      Quads<W> numbers = Quads<W>::at(blocks);
      numbers.first += more_hits;
      count_values<W>(lanes_at<width>(values), weight, numbers);
      numbers.put(blocks);
    };
    std::size_t i = 0;
    for (; i + width <= row.size; i += width) some(row.index + i, row.value + i);
    if (i == row.size) return;
    // The last place fills up the register: the same numbers are written more than once.
    Index features[width];
    W values[width];
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t place = std::min(i + k, row.size - 1);
      features[k] = row.index[place];
      values[k] = row.value[place];
    }
    some(features, values);
  }

  /// Counts a row that has been learned. Once in millions of rows all counts are halved, before
  /// one more would no longer change them; true: this is to be done now.
  template <class W>
  bool finish_row(State<W>& state) const {
    if (++state.counted < round) return false;
    if (state.before_all_change) state.before_all_change();
    state.counted /= 2;
    return true;
  }

 private:
  // Both calculate in powers of two that fit the numbers: squares of any size are then right.

  /// x~ of some features that `rows` rows could have had; `share` is one of these.
  template <class W>
  [[gnu::always_inline]] static Lanes<W> standardized(Lanes<W> x, Lanes<W> n, Lanes<W> a,
                                                      Lanes<W> s, W rows, W share) {
    const Lanes<W> none{}, limit = none + W{most};
    const Lanes<W> scale = Scale<W>(larger(leading_power(a), leading_power(s))).inverse;
    const Lanes<W> mean = a * scale, deviation = s * scale, aa = mean * mean;
    // By way of 1 - p, which is as good as exact: where nearly all rows have a feature, 1 - p^2
    // itself would keep few digits.
    const Lanes<W> p = n * share, rest = (rows - n) * share * (1 + p);
    const Lanes<W> squared = deviation * deviation + aa * (rest * (1 + p * p));
    Lanes<W> z = ((x * scale - mean) + mean * rest) / square_root(squared);
    z = larger(smaller(z, limit), -limit);
    z = squared > W{1e-12} * aa ? z : none;  // where n is 0, too
    z += n > none ? none : sign_of(x);
    return x != none ? z : none;
  }

  /// n, a and s, which stand behind the hits, with one more value each.
  template <class W>
  [[gnu::always_inline]] static void count_values(Lanes<W> x, W weight, Quads<W>& numbers) {
    auto& [hits, n, a, s] = numbers;
    const Scale<W> scale(larger(larger(leading_power(a), leading_power(s)), leading_power(x)));
    const Lanes<W> mean = a * scale.inverse, deviation = s * scale.inverse,
                   before = x * scale.inverse - mean, variance = deviation * deviation;
    const Lanes<W> visits = n + weight, part = weight / visits;
    const Lanes<W> after = variance + (before * before * (1 - part) - variance) * part;
    const Lanes<W> largest = Lanes<W>{} + std::numeric_limits<W>::max();
    n = visits;
    a = (mean + before * part) * scale.power;
    s = smaller(square_root(after) * scale.power, largest);
  }
};

}  // namespace yarrow
