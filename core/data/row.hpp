#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace yarrow {

// Features are numbered 0..n-1.
using Index = std::int32_t;

// A borrowed sparse row in canonical form: no zero values, no index twice, all values finite and
// rounded to W, order as given. Whatever rows come as, they end in this form. Sums over it are
// taken in double and in a fixed order, without fused multiply-adds, and what is kept is rounded to
// W (float32, or float64 on request): that is why every route gives the same bits.
template <class W>
struct Row {
  const Index* index;
  const W* value;
  std::size_t size;
  bool is_dense =
      false;  // the indices are 0, 1, 2...: neighbours in the row are neighbours in memory
};

// A vector whose resize() leaves numbers uninitialised, so that a parser may ask for the most it
// could need and pay only for what it writes.
template <class T>
struct UninitializedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using Buffer = std::vector<T, UninitializedAllocator<T>>;

/// What assign does, without a call for a handful of numbers.
template <class Number>
void fill(std::vector<Number>& numbers, std::size_t n, int value) {
  if (numbers.size() != n) numbers.resize(n);
  for (Number& number : numbers) number = static_cast<Number>(value);
}

}  // namespace yarrow
