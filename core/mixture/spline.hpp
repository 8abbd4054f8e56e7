#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "simd/kernels/layout.hpp"

namespace yarrow {

/// What a learner keeps of few features (few_features.hpp) to follow more than straight lines. The
/// range of a standardised feature, -2 to 2, has 7 knots, and a value belongs to the two beside it,
/// by share; two features together have 49 knots, and two values belong to four. Each knot
/// is a piece with a weight and a confidence of its own, and counts its visits: what stands here.
/// spline_row.hpp walks over them. Three pieces come before all: the intercept's, and two of
/// nobody, which fill up registers.
template <class W>
struct Spline : PieceLayout {
  static constexpr Index knots = 7, most_with_surfaces = 4;

  std::vector<std::vector<W>> columns;  ///< by column of the learner

  static constexpr Index nobody = 1;
  static constexpr Index of_feature(Index number) {
    const Index before = std::min(number, most_with_surfaces);
    return 3 + knots * number + knots * knots * (before * (before - 1) / 2);
  }
  /// Of two features, of which `one` has the smaller number; only the first few have such pieces.
  static Index of_surface(Index one, Index other) {
    return of_feature(other) + knots + knots * knots * one;
  }
  /// The intercept's numbers.
  const W* intercept_of(std::size_t column) const { return columns[column].data(); }

  void start() { columns.assign(1, std::vector<W>(size(0))); }
  void make_room(std::size_t features) {
    for (std::vector<W>& column : columns)
      if (column.size() < size(features)) column.resize(size(features));
  }
  /// Of a column.
  static std::size_t size(std::size_t features) {
    return numbers * static_cast<std::size_t>(of_feature(static_cast<Index>(features)));
  }
  void free() {
    for (std::vector<W>& column : columns) column = {};
  }

  void add_column(int from, bool mirrored) {
    columns.push_back(columns[from < 0 ? 0 : from]);
    std::vector<W>& added = columns.back();
    if (from < 0) std::fill(added.begin(), added.end(), W{0});
    if (!mirrored) return;
    for (std::size_t i = 0; i < added.size(); i += numbers) {
      added[i + weight] = 0 - added[i + weight];  // 0 stays 0, and does not become -0
      added[i + hits] = added[i + visits] - added[i + hits];
    }
  }

  void halve_counts() {
    for (std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers) {
        column[i + hits] /= 2;
        column[i + visits] /= 2;
      }
  }

  std::size_t bytes() const {
    std::size_t cells = 0;
    for (const std::vector<W>& column : columns) cells += column.size();
    return cells * sizeof(W);
  }
  /// A precision or a count that cannot be.
  bool has_negative() const {
    for (const std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers)
        for (const Number number : {precision, hits, visits})
          if (column[i + number] < 0) return true;
    return false;
  }
  double largest_weight() const {
    W most = 0;
    for (const std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers)
        most = std::max(most, std::max(column[i + weight], -column[i + weight]));
    return most;
  }
};

}  // namespace yarrow
