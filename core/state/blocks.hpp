#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "data/row.hpp"

namespace yarrow {

/// Memory for `n` numbers: on huge pages when large, because rows touch it at random.
template <class W>
std::shared_ptr<W[]> allocate(std::size_t n) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const std::size_t align = n * sizeof(W) >= huge ? huge : 64;
  const std::size_t bytes = std::max(align, (n * sizeof(W) + align - 1) / align * align);
  void* memory = std::aligned_alloc(align, bytes);
  if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE  // Linux alone has it
  if (align == huge) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return std::shared_ptr<W[]>(static_cast<W*>(memory), std::free);
}

/// The same address, of whose parts the compiler no longer knows. Else it would add them up anew
/// for every feature that a walk visits.
template <class T>
T* as_one_number(T* address) {
  asm("" : "+r"(address));
  return address;
}

/// What one plane of the blocks is called, and means when columns are copied, mirrored or born.
struct Plane {
  const char* name;        ///< several may have one
  double initial;          ///< the value of a feature never seen
  bool is_signed;          ///< changes its sign in the mirror column (weights do, variances do not)
  bool is_shared = false;  ///< one number for all columns; such planes are the last ones
  bool is_part = false;    ///< of the first shared one: the mirror column has the rest
  bool is_free = false;    ///< may be below 0, though its sign stays in the mirror column

  /// The smallest number that learning can lead to: variances stay above 0, counts and times at it.
  double least() const {
    if (is_signed || is_free) return -std::numeric_limits<double>::max();
    return initial > 0 ? std::numeric_limits<double>::denorm_min() : 0;
  }
};

/// The learned numbers: one contiguous block per feature, `planes` x `columns` numbers each (for
/// AROW with three classes: mu mu mu s s s), so that one visit of a feature touches one place.
/// Slot 0 is the intercept's block; feature i stands in slot i + 1. Columns have spare capacity.
/// Numbers that all columns share stand once, behind the others.
template <class W>
class Blocks {
 public:
  Blocks(std::vector<Plane> planes, int columns) : planes_(std::move(planes)), columns_(columns) {
    set_capacity(columns);
    reserve(0);
    fill(0, 1);
  }
  Blocks(const Blocks& other) { *this = other; }
  Blocks(Blocks&&) noexcept = default;
  Blocks& operator=(Blocks&&) noexcept = default;
  Blocks& operator=(const Blocks& other) {
    planes_ = other.planes_;
    columns_ = other.columns_;
    set_capacity(other.capacity_);
    features_ = reserved_ = other.features_;
    memory_ = allocate<W>((features_ + 1) * stride());
    std::memcpy(memory_.get(), other.memory_.get(), (features_ + 1) * stride() * sizeof(W));
    return *this;
  }

  /// Some of the columns as blocks of their own, in the same memory; what is shared is not theirs.
  Blocks window(int first, int columns) {
    Blocks some(planes_, 0);
    some.columns_ = columns;
    some.capacity_ = capacity_;
    some.stride_ = stride_;
    some.features_ = some.reserved_ = features_;
    some.memory_ = {memory_, memory_.get() + first};
    return some;
  }

  int columns() const { return columns_; }
  int capacity() const { return capacity_; }  ///< distance from one plane to the next
  const std::vector<Plane>& planes() const { return planes_; }
  std::size_t features() const { return features_; }
  std::size_t stride() const { return stride_; }  ///< distance from one block to the next
  std::size_t bytes() const { return (features_ + 1) * stride() * sizeof(W); }

  W* data() { return memory_.get(); }
  const W* data() const { return memory_.get(); }
  W* intercept() { return memory_.get(); }
  const W* intercept() const { return memory_.get(); }
  W* cell(std::size_t slot, int column) { return memory_.get() + slot * stride() + column; }
  const W* cell(std::size_t slot, int column) const {
    return memory_.get() + slot * stride() + column;
  }
  W* first() { return as_one_number(memory_.get() + stride()); }  ///< the block of feature 0
  const W* first() const { return as_one_number<const W>(memory_.get() + stride()); }

  void grow_features(std::size_t features) {
    if (features <= features_) return;
    if (features > reserved_) reserve(std::max(features, reserved_ + reserved_ / 2 + 16));
    const std::size_t before = features_;
    features_ = features;
    fill(before + 1, features + 1);
  }

  void truncate_features(std::size_t features) { features_ = std::min(features, features_); }

  /// Keep the listed features only, renumbered in that order (`keep` ascends).
  void keep_features(const std::vector<Index>& keep) {
    for (std::size_t to = 0; to < keep.size(); ++to)
      std::memmove(first() + to * stride(), first() + keep[to] * stride(), stride() * sizeof(W));
    features_ = keep.size();
  }

  /// Whether a feature is as if no row had had it.
  bool is_fresh(std::size_t feature) const {
    const W* cells = first() + feature * stride();
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      const auto initial = static_cast<W>(planes_[p].initial);
      const bool is_own = p < own_;
      if (!std::all_of(cells, cells + (is_own ? columns_ : 1), [=](W w) { return w == initial; }))
        return false;
      cells += is_own ? capacity_ : 1;
    }
    return true;
  }

  /// Gives back the room behind the last feature.
  void shrink() { reserve(features_); }

  /// Makes room for more columns without moving the blocks for each. A plane is whole registers,
  /// except beside shared numbers: there all planes are walked as one.
  void reserve_columns(int columns) {
    if (columns <= capacity_) return;
    const Blocks old = std::move(*this);
    planes_ = old.planes_;
    columns_ = old.columns_;
    set_capacity(columns <= 2 || shared() ? columns : (columns + 3) / 4 * 4);
    features_ = reserved_ = old.features_;
    memory_ = allocate<W>((features_ + 1) * stride());
    fill(0, features_ + 1);
    for (std::size_t slot = 0; slot <= features_; ++slot) {
      const W* from = old.data() + slot * old.stride();
      W* to = data() + slot * stride();
      for (std::size_t p = 0; p < own_; ++p)
        std::copy_n(from + p * old.capacity_, columns_, to + p * capacity_);
      std::copy_n(from + own_ * old.capacity_, shared(), to + own_ * capacity_);
    }
  }

  /// One more column, a fresh one; columns behind the last hold initial values.
  void add_column() {
    if (columns_ == capacity_) reserve_columns(columns_ < 2 ? columns_ + 1 : 2 * columns_);
    ++columns_;
  }

  /// Copies a column to another, turning the sign if `mirrored`, in one slot.
  void copy_column(std::size_t slot, int from, int to, bool mirrored) {
    W* cells = data() + slot * stride();
    const W* const whole = cells + own_ * capacity_;
    for (std::size_t p = 0; p < own_; ++p, cells += capacity_) {
      // 0 stays 0 in the mirror, and does not become -0: all slots agree, touched or not.
      cells[to] = mirrored && planes_[p].is_signed ? 0 - cells[from] : cells[from];
      if (mirrored && planes_[p].is_part) cells[to] = *whole - cells[from];
    }
  }

  /// Forgets the columns from `columns` on.
  void truncate_columns(int columns) {
    for (std::size_t slot = 0; slot <= features_; ++slot)
      for (std::size_t p = 0; p < own_; ++p) {
        W* cells = data() + slot * stride() + p * capacity_;
        std::fill(cells + columns, cells + columns_, static_cast<W>(planes_[p].initial));
      }
    columns_ = columns;
  }

  /// Per slot its planes, without the spare columns: what a model file keeps. What columns share
  /// is repeated for each.
  std::vector<W> compact() const {
    std::vector<W> cells;
    cells.reserve((features_ + 1) * planes_.size() * columns_);
    for (std::size_t slot = 0; slot <= features_; ++slot) {
      const W* plane = data() + slot * stride();
      for (std::size_t p = 0; p < own_; ++p, plane += capacity_)
        cells.insert(cells.end(), plane, plane + columns_);
      for (std::size_t p = 0; p < shared(); ++p) cells.insert(cells.end(), columns_, plane[p]);
    }
    return cells;
  }

  /// The way back.
  void restore(const W* cells, std::size_t features, int columns) {
    columns_ = columns;
    set_capacity(columns);
    features_ = reserved_ = features;
    memory_ = allocate<W>((features + 1) * stride());
    for (std::size_t slot = 0; slot <= features; ++slot) {
      W* to = std::copy_n(cells, own_ * columns, data() + slot * stride());
      for (std::size_t p = own_; p < planes_.size(); ++p) *to++ = cells[p * columns];
      std::fill(to, data() + (slot + 1) * stride(), W{0});
      cells += planes_.size() * columns;
    }
  }

 private:
  void set_capacity(int capacity) {
    capacity_ = capacity;
    own_ = 0;
    for (const Plane& plane : planes_) own_ += !plane.is_shared;
    stride_ = own_ * capacity + shared();
    constexpr std::size_t line = 64 / sizeof(W);  // of the cache: large blocks are whole ones
    if (shared() > 0) stride_ = (stride_ + line - 1) / line * line;
  }

  std::size_t shared() const { return planes_.size() - own_; }

  void reserve(std::size_t features) {
    auto memory = allocate<W>((features + 1) * stride());
    if (memory_) std::memcpy(memory.get(), memory_.get(), (features_ + 1) * stride() * sizeof(W));
    memory_ = std::move(memory);
    reserved_ = features;
  }

  void fill(std::size_t from_slot, std::size_t to_slot) {
    W* const begin = data() + from_slot * stride();
    const std::size_t n = (to_slot - from_slot) * stride();
    if (n == 0) return;
    for (std::size_t p = 0; p < own_; ++p)
      std::fill_n(begin + p * capacity_, capacity_, static_cast<W>(planes_[p].initial));
    for (std::size_t p = 0; p < shared(); ++p)
      begin[own_ * capacity_ + p] = static_cast<W>(planes_[own_ + p].initial);
    std::fill(begin + own_ * capacity_ + shared(), begin + stride(), W{0});
    for (std::size_t done = stride(); done < n; done *= 2)  // what is filled is copied on
      std::memcpy(begin + done, begin, std::min(done, n - done) * sizeof(W));
  }

  std::vector<Plane> planes_;
  int columns_ = 0, capacity_ = 0;
  std::size_t own_ = 0, stride_ = 0, features_ = 0, reserved_ = 0;
  std::shared_ptr<W[]> memory_;
};

}  // namespace yarrow
