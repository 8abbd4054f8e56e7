#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../row.hpp"

namespace yarrow {

/// What a learner keeps of few features to follow more than straight lines. The range of a
/// standardised feature, -2 to 2, has 7 knots, and a value belongs to the two beside it, by share;
/// two features together have 49 knots, and a pair of values belongs to four. Each knot is a piece
/// with a weight and a confidence of its own, and counts its visits: what stands here. bent_row.hpp
/// walks over them.
///
/// Features are numbered as rows bring them, however they are stored. Pieces of a feature stand
/// behind those of all features before it, so that none moves when a new feature comes. Two pieces
/// come before all: the intercept's, and one of nobody, which fills up registers.
template <class W>
struct Bends {
  static constexpr std::size_t knots = 7;
  static constexpr std::size_t most_features = 64, most_paired = 4;
  /// The numbers of a piece: weight, P - 1, hits (visits by rows of the column's class), visits.
  enum Number { weight, precision, hits, visits, numbers };

  /// By column of the learner; without any, nobody asked for bends. There may be room for pieces
  /// of features that are not there yet, all 0.
  std::vector<std::vector<W>> columns;
  std::vector<Index> features;  ///< by number
  bool ended = false;           ///< there were too many

  static constexpr std::size_t nobody = 1;
  static std::size_t of_feature(std::size_t number) {
    const std::size_t paired = std::min(number, most_paired);
    return 2 + knots * number + knots * knots * (paired * (paired - 1) / 2);
  }
  /// Of two features, of which `one` has the smaller number; only the first few have such pieces.
  static std::size_t of_pair(std::size_t one, std::size_t other) {
    return of_feature(other) + knots + knots * knots * one;
  }

  /// The intercept's numbers.
  const W* intercept_of(std::size_t column) const { return columns[column].data(); }

  bool in_use() const { return !columns.empty(); }
  void start() { columns.assign(1, std::vector<W>(numbers * of_feature(0))); }

  /// The number of a feature, or most_features.
  std::size_t number_of(Index feature) const {
    const auto at = static_cast<std::size_t>(feature);
    return at < number_by_feature_.size() ? number_by_feature_[at] : most_features;
  }
  void make_room(std::size_t n) {
    for (std::vector<W>& column : columns)
      if (column.size() < numbers * of_feature(n)) column.resize(numbers * of_feature(n));
  }
  void add_feature(Index feature) {
    const auto at = static_cast<std::size_t>(feature);
    if (at >= number_by_feature_.size()) number_by_feature_.resize(at + 1, most_features);
    number_by_feature_[at] = static_cast<std::uint8_t>(features.size());
    features.push_back(feature);
  }

  /// Frees everything, for good.
  void end() {
    if (ended) return;
    for (std::vector<W>& column : columns) column = {};
    features = {};
    number_by_feature_ = {};
    ended = true;
  }

  void add_column(int from, bool mirrored) {
    if (!in_use()) return;
    columns.push_back(columns[from < 0 ? 0 : from]);
    std::vector<W>& added = columns.back();
    if (from < 0) std::fill(added.begin(), added.end(), W{0});
    if (!mirrored) return;
    for (std::size_t i = 0; i < added.size(); i += numbers) {
      added[i + weight] = -added[i + weight];
      added[i + hits] = added[i + visits] - added[i + hits];
    }
  }
  void truncate_columns(int n) {
    if (in_use()) columns.resize(n);
  }

  void halve_counts() {
    for (std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers) {
        column[i + hits] /= 2;
        column[i + visits] /= 2;
      }
  }

  double largest_weight() const {
    W most = 0;
    for (const std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers)
        most = std::max(most, std::max(column[i + weight], -column[i + weight]));
    return most;
  }

 private:
  std::vector<std::uint8_t> number_by_feature_;  ///< as far as there are some
};

}  // namespace yarrow
