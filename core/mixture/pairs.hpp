#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/kernels/layout.hpp"

namespace yarrow {

/// Weights of products of two values, as long as rows have few of them: what a table's columns, or
/// a row's categories, say together. The constant is one of the values, so that each value stands
/// alone as well. Features are numbered as they come, so that every route finds the same places:
/// pairs of the first 64 have a place each, all others share a bounded table, by a hash.
template <class W>
struct Pairs {
  static constexpr std::size_t most_values = 48;   ///< of a row; a longer one is passed over
  static constexpr std::size_t most_columns = 64;  ///< beyond these, nothing is kept
  static constexpr std::uint32_t most_exact = 64;
  static constexpr std::size_t places = 1 << 15;
  static constexpr std::uint32_t most_features = (std::uint32_t{1} << 31) - 1;
  enum Number { weight, precision, numbers };  ///< of a place: weight, P - 1

  bool is_kept = false;
  std::vector<std::uint32_t> numbered;  ///< by feature: from 1 on as they came, or 0
  std::uint32_t features = 0;           ///< that have a number
  std::vector<std::vector<W>> columns;

  void start() {
    is_kept = true;
    columns.assign(1, {});
    make_room(0);
  }
  void end() {
    is_kept = false;
    numbered = {};
    features = 0;
    for (std::vector<W>& column : columns) column = {};
  }

  std::uint32_t number_of(Index feature) const {
    const auto at = static_cast<std::size_t>(feature);
    return at < numbered.size() ? numbered[at] : 0;
  }
  void add_feature(Index feature) {
    const auto at = static_cast<std::size_t>(feature);
    if (at >= numbered.size()) numbered.resize(std::max(at + 1, 2 * numbered.size()), 0);
    if (features < most_features) numbered[at] = ++features;
  }
  /// The features have other numbers in the blocks: `keep` lists, ascending, what they were.
  void renumber(const std::vector<Index>& keep) {
    std::vector<std::uint32_t> before;
    before.swap(numbered);
    for (const Index feature : keep) {
      const auto at = static_cast<std::size_t>(feature);
      numbered.push_back(at < before.size() ? before[at] : 0);
    }
  }

  /// Of two features, or of one and the constant, whose number is 0.
  static Index place_of(std::uint32_t a, std::uint32_t b) {
    if (a < b) std::swap(a, b);
    if (a <= most_exact) return static_cast<Index>(a * (a + 1) / 2 + b);
    std::uint64_t key = (std::uint64_t{a} << 32 | b) * 0x9E3779B97F4A7C15U;
    key = (key ^ key >> 29) * 0xBF58476D1CE4E5B9U;
    constexpr std::uint64_t first = size_of(most_exact);
    return static_cast<Index>(first + ((key >> 32) * (places - first) >> 32));
  }
  static constexpr std::size_t size_of(std::size_t features) {
    return features <= most_exact ? (features + 1) * (features + 2) / 2 : places;
  }

  /// There may be room for features that are not there yet.
  void make_room(std::size_t n) {
    for (std::vector<W>& column : columns)
      if (column.size() < numbers * size_of(n)) column.resize(numbers * size_of(n));
  }

  /// More columns than these are too many.
  bool is_crowded() const { return columns.size() > most_columns; }

  void add_column(int from, bool mirrored) {
    columns.push_back(from < 0 ? std::vector<W>(columns[0].size()) : columns[from]);
    if (!mirrored) return;
    std::vector<W>& added = columns.back();
    for (std::size_t i = weight; i < added.size(); i += numbers) added[i] = 0 - added[i];
  }

  std::size_t bytes() const {
    std::size_t cells = 0;
    for (const std::vector<W>& column : columns) cells += column.size();
    return cells * sizeof(W) + numbered.size() * sizeof(std::uint32_t);
  }
  bool has_negative() const {
    for (const std::vector<W>& column : columns)
      for (std::size_t i = precision; i < column.size(); i += numbers)
        if (column[i] < 0) return true;
    return false;
  }
  double largest_weight() const {
    double most = 0;
    for (const std::vector<W>& column : columns)
      for (std::size_t i = weight; i < column.size(); i += numbers)
        most = std::max(most, std::abs(static_cast<double>(column[i])));
    return most;
  }
};

/// The products of a row's values, and their places.
template <class W>
struct PairRow {
  std::vector<Index> new_features;  ///< without a number
  std::vector<Index> cells;         ///< where the numbers of their places begin
  std::vector<W> values;            ///< products times the length

  /// Of features that are numbered; or of new ones as well, which are numbered as they come.
  /// Returns whether there are any products.
  bool place(const Pairs<W>& pairs, const Row<W>& row, const W* x, bool with_new) {
    new_features.clear();
    cells.clear();
    values.clear();
    if (row.size > Pairs<W>::most_values || pairs.is_crowded()) return false;
    numbers_.assign(1, 0);
    positions_.assign(1, row.size);
    x_.assign(1, 1);
    std::uint32_t next = pairs.features;
    for (std::size_t i = 0; i < row.size; ++i) {
      std::uint32_t number = pairs.number_of(row.index[i]);
      if (number == 0) {
        new_features.push_back(row.index[i]);
        if (!with_new) continue;
        number = ++next;
      }
      numbers_.push_back(number);
      x_.push_back(x[i]);
      positions_.push_back(i);
    }
    const std::size_t n = numbers_.size();
    const W length = static_cast<W>(1 / std::sqrt(static_cast<double>(n * (n - 1) / 2 + 1)));
    cells.push_back(0);
    values.push_back(length);
    for (std::size_t i = 1; i < n; ++i) {
      const W of_one = x_[i] * length;
      for (std::size_t j = 0; j < i; ++j) {
        cells.push_back(Pairs<W>::numbers * Pairs<W>::place_of(numbers_[i], numbers_[j]));
        values.push_back(of_one * x_[j]);
      }
    }
    return true;
  }

  double product(const W* column) const {
    double sum = 0;
    for (std::size_t i = 0; i < cells.size(); ++i)
      sum += static_cast<double>(values[i]) * column[cells[i] + Pairs<W>::weight];
    return sum;
  }
  double variance(const W* column) const {
    double sum = 0;
    for (std::size_t i = 0; i < cells.size(); ++i)
      sum +=
          static_cast<double>(values[i]) * values[i] / (1 + column[cells[i] + Pairs<W>::precision]);
    return sum;
  }
  /// What each value adds to the product, the constant last; two share alike what they add
  /// together.
  std::vector<double> parts(const W* column, std::size_t row_size) const {
    std::vector<double> parts(row_size + 1, 0.0);
    const auto add = [&](std::size_t at, std::size_t i, double share) {
      parts[positions_[i]] += share * values[at] * column[cells[at] + Pairs<W>::weight];
    };
    add(0, 0, 1);
    std::size_t at = 1;
    for (std::size_t i = 1; i < positions_.size(); ++i) {
      add(at++, i, 1);  // with the constant
      for (std::size_t j = 1; j < i; ++j, ++at)
        for (const std::size_t one : {i, j}) add(at, one, 0.5);
    }
    return parts;
  }

  /// AROW's step on a column.
  void learn(W* column, W step, W gain) const {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      W* const cell = column + cells[i];
      const W x = values[i];
      cell[Pairs<W>::weight] += step * x / (1 + cell[Pairs<W>::precision]);
      cell[Pairs<W>::precision] =
          std::min(cell[Pairs<W>::precision] + gain * x * x, static_cast<W>(most_precision));
    }
  }

 private:
  std::vector<std::uint32_t> numbers_;  ///< the constant's comes first
  std::vector<std::size_t> positions_;  ///< in the row; the constant stands behind it
  std::vector<W> x_;
};

}  // namespace yarrow
