#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mixture/full_covariance.hpp"
#include "mixture/spline.hpp"
#include "simd/reductions.hpp"

namespace yarrow {

/// How many features there are: at most 64, at most 128, or more.
enum class Tier { low, middle, high };

/// A row of few features, by their numbers. Behind it are zeros, as far as a register reaches.
template <class W>
struct FewRow {
  Buffer<Index> numbers;
  Buffer<W> values;
  std::size_t size = 0;
  std::vector<Index> new_features;  ///< features that have no number yet

  operator Row<W>() const { return {numbers.data(), values.data(), size}; }

  /// Of the values and what stands beside their features.
  double dot(const W* cells) const {
    const Row<W> row = *this;
    Two front{}, back{};
    for (std::size_t i = 0; i < size; i += 4) {
      const Places<W> one(row, i), other(row, i + 2);
      front += one.values() * one.cells(cells, 1);
      back += other.values() * other.cells(cells, 1);
    }
    const Two both = front + back;
    return both[0] + both[1];
  }
};

/// What a learner keeps beside the blocks as long as there are few features. These are numbered as
/// rows bring them, however they are stored; what belongs to a feature stands behind what belongs
/// to all features before it, so that nothing moves when a new one comes. Where they are no longer
/// few but some, there are splines, of those whose values differ, and no full covariance.
template <class W>
struct FewFeatures {
  static constexpr std::size_t most_few = 64, most = Spline<W>::most_features;

  Spline<W> spline;
  CorrelatedWeights<W> correlated;
  std::vector<Index> features;  ///< by number
  Tier tier = Tier::low;        ///< of features

  void start() {
    spline.start();
    correlated.start();
  }

  /// The number of a feature, or `most`.
  std::size_t number_of(Index feature) const {
    return static_cast<std::size_t>(table_[place_of(feature)].number);
  }
  static Tier tier_of(std::size_t features) {
    return features <= most_few ? Tier::low : features <= most ? Tier::middle : Tier::high;
  }
  /// There may be room for features that are not there yet.
  void make_room(std::size_t n) {
    if (n > most) return;
    spline.make_room(n);
    if (n <= most_few) correlated.make_room(n);
  }
  void add_feature(Index feature) {
    table_[place_of(feature)] = {feature, static_cast<Index>(features.size())};
    features.push_back(feature);
  }

  /// The features have other numbers in the blocks: `keep` lists, ascending, what they were.
  void renumber(const std::vector<Index>& keep) {
    std::vector<Index> before;
    before.swap(features);
    table_.fill({});
    for (const Index feature : before)
      add_feature(static_cast<Index>(std::ranges::lower_bound(keep, feature) - keep.begin()));
  }

  /// The values of known features; or of new ones as well, which are numbered as they come. Where
  /// deviations are given, features without one are passed over. Returns how many there are then.
  std::size_t find(const Row<W>& row, const W* values, const W* deviations, std::size_t stride,
                   bool with_new, FewRow<W>& out) const {
    std::size_t there = features.size();
    out.new_features.clear();
    out.numbers.resize(row.size + spare_places);
    out.values.resize(row.size + spare_places);
    Index* const numbers = out.numbers.data();
    W* const to = out.values.data();
    std::size_t found = 0, next = 0;  // rows of a table have their features in one order
    if (!deviations && row.size == there &&
        std::equal(features.begin(), features.end(), row.index)) {
      std::iota(numbers, numbers + there, 0);
      std::copy_n(values, there, to);
      found = there;
    }
    for (std::size_t i = found; i < row.size; ++i) {
      const bool is_next = next < features.size() && features[next] == row.index[i];
      std::size_t number = is_next ? next : number_of(row.index[i]);
      if (number == most) {
        out.new_features.push_back(row.index[i]);
        if (!with_new) continue;
        number = there++;
      }
      next = number + 1;
      if (deviations && !(deviations[row.index[i] * stride] > 0)) continue;
      numbers[found] = static_cast<Index>(number);
      to[found++] = values[i];
    }
    std::fill_n(numbers + found, spare_places, 0);
    std::fill_n(to + found, spare_places, 0);
    out.size = found;
    return there;
  }

  /// There are more features than before: frees what is not kept of so many.
  void become(Tier more) {
    if (tier == more) return;
    tier = more;
    correlated.free();
    if (more == Tier::middle) return;
    spline.free();
    features = {};
    table_.fill({});
  }
  void end() { become(Tier::high); }

  void add_column(int from, bool mirrored) {
    spline.add_column(from, mirrored);
    correlated.add_column(from, mirrored);
  }
  void truncate_columns(int n) {
    spline.columns.resize(n);
    correlated.columns.resize(n);
  }
  std::size_t bytes() const { return sizeof *this + spline.bytes() + correlated.bytes(); }
  double largest_weight() const {
    return std::max(spline.largest_weight(), correlated.largest_weight());
  }

 private:
  /// A hash table that is never more than half full.
  struct Entry {
    Index feature = 0;
    Index number = most;  ///< most: none stands here
  };
  static constexpr std::size_t places = 2 * most;
  std::size_t place_of(Index feature) const {
    std::size_t at = (static_cast<std::uint32_t>(feature) * 2654435769U) >> 24;  // 8 bits: a place
    while (table_[at].number != Index{most} && table_[at].feature != feature)
      at = (at + 1) % places;
    return at;
  }
  std::array<Entry, places> table_;
};

}  // namespace yarrow
