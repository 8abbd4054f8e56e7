#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "data/row.hpp"

namespace yarrow {

// Each index of a row leaves a mark in a table, which has a place for each index, or at most
// `Most`: then two may share one. Marks are numbers of rows, so that the table is cleared once they
// run out.
template <class Mark, std::size_t Most>
class Marks {
 public:
  static constexpr std::size_t most = Most;

  // Whether two indices meet at a place.
  bool meet(const Index* index, std::size_t size, std::size_t columns) {
    if (size == 0) return false;
    const std::size_t places = std::bit_ceil(std::clamp<std::size_t>(columns, 1, Most));
    if (table_.size() < places || mark_ == std::numeric_limits<Mark>::max()) {
      table_.assign(std::max(places, table_.size()), 0);
      mark_ = 0;
    }
    const Mark mark = ++mark_;
    Mark* const table = table_.data();
    const auto mask = static_cast<Index>(table_.size() - 1);
    unsigned found = 0;
    const auto visit = [&](std::size_t i, bool counts) {
      Mark& place = table[columns > Most ? index[i] & mask : index[i]];
      found |= counts & (place == mark);
      place = mark;
    };
    std::size_t i = 0;
    for (; i + 4 < size; i += 4)
#pragma GCC unroll 4
      for (std::size_t k = i; k < i + 4; ++k) visit(k, true);
#pragma GCC unroll 4  // the last ones without a branch, which would be guessed wrong
    for (std::size_t k = i; k < i + 4; ++k) visit(std::min(k, size - 1), k < size);
    return found != 0;
  }

 private:
  std::vector<Mark> table_;
  Mark mark_ = 0;
};

// Copies what is not zero; returns how much that is. The copy may take the place of the original.
template <class Key, class W>
std::size_t drop_zeros(const Key* key, const W* value, std::size_t n, Key* to_key, W* to_value,
                       bool drops_nan = false) {
  std::size_t kept = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const W x = value[j];
    to_key[kept] = key[j];
    to_value[kept] = x;
    kept += x != 0 && !(drops_nan && x != x);
  }
  return kept;
}

// Makes a row canonical when one feature stands in it twice: the values are summed, in W and in
// their order, at the first place; what sums to zero disappears. Costs one probe of a small hash
// table per feature; the table is kept between rows and never cleared, as its entries carry the
// number of the row they belong to.
class DuplicateMerger {
 public:
  // Whether an index may stand twice in a row. Asked of rows that do not ascend. In short rows few
  // indices share one of the marks that a first cache holds.
  bool may_repeat(const Index* index, std::size_t size, std::size_t columns) {
    return columns <= small_marks_.most || size <= 100 ? small_marks_.meet(index, size, columns)
                                                       : large_marks_.meet(index, size, columns);
  }

  // Returns the new size of the row.
  template <class W>
  std::size_t merge(Index* key, W* value, std::size_t size) {
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
    return zeros ? drop_zeros(key, value, kept, key, value) : kept;
  }

 private:
  struct Slot {
    std::uint32_t row = 0;
    std::uint32_t place = 0;
  };

  void start_row(std::size_t size) {
    if (table_.size() < 2 * size || row_ == UINT32_MAX) {
      table_.assign(std::bit_ceil(std::max<std::size_t>(2 * size, 256)), Slot{});
      shift_ = 64 - std::countr_zero(table_.size());
      row_ = 0;
    }
    ++row_;
  }

  // The slot of `key` in this row, or the free one that it shall have.
  Slot& find(const Index* keys, Index key) {
    std::size_t at = (static_cast<std::uint32_t>(key) * 0x9e3779b97f4a7c15) >> shift_;
    while (table_[at].row == row_ && keys[table_[at].place] != key)
      at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }

  Marks<std::uint8_t, 1 << 16> small_marks_;  // which a first cache holds
  Marks<std::uint16_t, 1 << 20> large_marks_;
  std::vector<Slot> table_;
  int shift_ = 0;
  std::uint32_t row_ = 0;
};

}  // namespace yarrow
