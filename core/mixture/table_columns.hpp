#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "state/saved_arrays.hpp"
#include "state/state.hpp"

// Zeros that no row brings. Rows come without zeros, so that dense and sparse ones are the same,
// and to a learner of lines a value of 0 and one that is not there are the same, too. Not so to one
// who brings columns to scale. So a feature that nearly all rows had is the column of a table, and
// a row without it has the value 0 there, which is what sparse formats mean, unless it says that
// the value is missing. A feature that fewer rows have, such as a word, is just not there.

namespace yarrow {

/// A row with the zeros of its table's columns behind its own values.
template <class W>
struct CompletedRow {
  /// What a value of 0 is called: the smallest number, as 0 itself is what fills up registers.
  static constexpr W zero = std::numeric_limits<W>::min();

  Buffer<Index> index;
  Buffer<W> value;
  std::vector<bool> there;  ///< by column
};

/// The features that are columns, in the order in which a row had them.
class TableColumns {
 public:
  static constexpr double share = 0.99;  ///< of rows have a feature that is a column

  bool are_sought = false;  ///< not in states from before there were any

  /// Whether columns are to be sought: from some rows on, and each time that there are twice as
  /// many.
  bool are_due(double rows) const {
    const auto n = static_cast<std::uint64_t>(rows);
    return are_sought && n >= first && (n & (n - 1)) == 0;
  }

  /// Seeks them among the features of a completed row, by the counts of rows that had a feature.
  template <class W>
  void seek(const State<W>& state, const Row<W>& row, std::size_t counts) {
    const double rows = state.blocks.intercept()[counts];
    const W* const count = state.blocks.first() + counts;
    const auto is_column = [&](Index f) {
      return count[f * state.blocks.stride()] >= share * rows;
    };
    std::vector<Index> found;
    for (const Index f : features_)
      if (is_column(f)) found.push_back(f);
    for (std::size_t i = 0; i < row.size; ++i)
      if (place_of(row.index[i]) == none && is_column(row.index[i])) found.push_back(row.index[i]);
    set(std::move(found));
  }

  /// The row with its zeros, and without the values that are NaN: they are missing.
  template <class W>
  Row<W> complete(const Row<W>& row, CompletedRow<W>& out) const {
    bool is_whole = true;
    for (std::size_t i = 0; i < row.size; ++i) is_whole &= row.value[i] == row.value[i];
    const std::size_t n = features_.size();
    if (is_whole && row.size >= n && std::equal(features_.begin(), features_.end(), row.index))
      return row;
    out.there.assign(n, false);
    std::size_t absent = n, next = 0, size = 0;
    for (std::size_t i = 0; i < row.size; ++i) {
      const bool is_next = next < n && features_[next] == row.index[i];
      const std::size_t place = is_next ? next : place_of(row.index[i]);
      if (place == none || out.there[place]) continue;
      out.there[place] = true;
      next = place + 1;
      --absent;
    }
    if (is_whole && absent == 0) return row;
    out.index.resize(row.size + absent + spare_places);
    out.value.resize(row.size + absent + spare_places);
    const auto add = [&](Index feature, W value) {
      out.index[size] = feature;
      out.value[size++] = value;
    };
    for (std::size_t i = 0; i < row.size; ++i)
      if (!std::isnan(row.value[i])) add(row.index[i], row.value[i]);
    for (std::size_t k = 0; k < n; ++k)
      if (!out.there[k]) add(features_[k], CompletedRow<W>::zero);
    return {out.index.data(), out.value.data(), size};
  }

  /// The features have other numbers: `keep` lists, ascending, what they were.
  void renumber(const std::vector<Index>& keep) {
    std::vector<Index> found;
    for (const Index f : features_) {
      const auto at = std::ranges::lower_bound(keep, f);
      if (at != keep.end() && *at == f) found.push_back(static_cast<Index>(at - keep.begin()));
    }
    set(std::move(found));
  }

  const std::vector<Index>& features() const { return features_; }
  std::size_t bytes() const { return features_.size() * (sizeof(Index) + sizeof by_number_[0]); }

  void save(const ArrayWriter& put) const {
    if (are_sought) put("table_columns", std::vector<Index>(features_));
  }
  void restore(SavedState& from, std::size_t features) {
    *this = {};
    are_sought = from.has("table_columns");
    if (!are_sought) return;
    std::vector<Index> found = from.values<Index>("table_columns", {SavedState::any});
    for (const Index f : found)
      if (f < 0 || static_cast<std::size_t>(f) >= features)
        SavedState::refuse("table_columns", "has a number out of range");
    set(std::move(found));
    for (std::size_t i = 1; i < by_number_.size(); ++i)
      if (by_number_[i].first == by_number_[i - 1].first)
        SavedState::refuse("table_columns", "has a number twice");
  }

 private:
  static constexpr std::uint64_t first = 32;
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  void set(std::vector<Index> features) {
    features_ = std::move(features);
    by_number_.clear();
    for (std::size_t k = 0; k < features_.size(); ++k) by_number_.push_back({features_[k], k});
    std::ranges::sort(by_number_);
  }
  std::size_t place_of(Index feature) const {
    const auto at = std::ranges::lower_bound(by_number_, std::pair(feature, std::size_t{0}));
    return at != by_number_.end() && at->first == feature ? at->second : none;
  }

  std::vector<Index> features_;
  std::vector<std::pair<Index, std::size_t>> by_number_;
};

}  // namespace yarrow
