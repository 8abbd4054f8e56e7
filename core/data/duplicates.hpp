#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/row.hpp"

namespace yarrow {

// Makes a row canonical when one feature stands in it twice: the values are summed, in W and in
// their order, at the first place; what sums to zero disappears. Costs one probe of a small hash
// table per feature; the table is kept between rows and never cleared, as its entries carry the
// number of the row they belong to.
class DuplicateMerger {
 public:
  // Whether an index may stand twice: each leaves a mark in a table as long as the range of
  // indices, or as `most_marks`, where two may share a place. Marks carry the row's number, too.
  bool may_repeat(const Index* index, std::size_t size, std::size_t columns) {
    if (marks_.size() < std::min(columns, most_marks) || mark_ == UINT16_MAX) {
      marks_.assign(std::bit_ceil(std::clamp<std::size_t>(columns, 1, most_marks)), 0);
      mark_ = 0;
    }
    const std::uint16_t mark = ++mark_;
    std::uint16_t* const marks = marks_.data();
    const std::size_t mask = marks_.size() - 1;
    bool found = false;
    for (std::size_t i = 0; i < size; ++i) {
      std::uint16_t& place = marks[static_cast<std::size_t>(index[i]) & mask];
      found |= place == mark;
      place = mark;
    }
    return found;
  }

  // Returns the new size of the row.
  template <class Key, class W>
  std::size_t merge(Key* key, W* value, std::size_t size) {
    start_row(size);
    std::size_t kept = 0;
    bool zeros = false;
    for (std::size_t i = 0; i < size; ++i) {
      Slot& slot = find(key, key[i]);
      if (slot.row == row_) {
        value[slot.place] += value[i];
        zeros |= value[slot.place] == 0;
      } else {
        slot = {row_, static_cast<std::uint32_t>(kept)};
        key[kept] = key[i];
        value[kept++] = value[i];
      }
    }
    return zeros ? drop_zeros(key, value, kept) : kept;
  }

 private:
  struct Slot {
    std::uint32_t row = 0;
    std::uint32_t place = 0;
  };

  static std::uint64_t hash(Index key) {
    return static_cast<std::uint32_t>(key) * 0x9e3779b97f4a7c15;
  }
  static std::uint64_t hash(const FeatureName& key) { return key.hash; }
  static bool same(Index a, Index b) { return a == b; }
  static bool same(const FeatureName& a, const FeatureName& b) {
    return a.hash == b.hash && a.text == b.text;
  }

  void start_row(std::size_t size) {
    if (table_.size() < 2 * size || row_ == UINT32_MAX) {
      table_.assign(std::bit_ceil(std::max<std::size_t>(2 * size, 256)), Slot{});
      shift_ = 64 - std::countr_zero(table_.size());
      row_ = 0;
    }
    ++row_;
  }

  // The slot of `key` in this row, or the free one that it shall have.
  template <class Key>
  Slot& find(const Key* keys, const Key& key) {
    std::size_t at = hash(key) >> shift_;
    while (table_[at].row == row_ && !same(keys[table_[at].place], key))
      at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }

  template <class Key, class W>
  static std::size_t drop_zeros(Key* key, W* value, std::size_t size) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (value[i] == 0) continue;
      key[kept] = key[i];
      value[kept++] = value[i];
    }
    return kept;
  }

  static constexpr std::size_t most_marks = std::size_t{1} << 20;

  std::vector<std::uint16_t> marks_;
  std::uint16_t mark_ = 0;
  std::vector<Slot> table_;
  int shift_ = 0;
  std::uint32_t row_ = 0;
};

}  // namespace yarrow
