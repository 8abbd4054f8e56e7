#pragma once
// Two numbers at a time: what a walk along one column of weights is made of. A row's places 0, 4,
// 8... form the first of four lanes of sums, 1, 5, 9... the second, so that additions need not wait
// for each other; their order is fixed by the places alone, and every route to the same row gives
// the same bits. (`lane_sums` does the same for several columns.)
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "data/row.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace yarrow {

/// Two numbers in one register.
typedef double Two __attribute__((vector_size(16)));

#if defined(__SSE2__)  // one instruction each, where compilers take several
inline Two two_of(const float& a, const float& b) {
  return _mm_cvtps_pd(_mm_unpacklo_ps(_mm_load_ss(&a), _mm_load_ss(&b)));
}
inline Two two_at(const float* x) {
  return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x))));
}
inline void put_two(Two x, float& a, float& b) {
  const __m128 both = _mm_cvtpd_ps(x);
  _mm_store_ss(&a, both);
  _mm_store_ss(&b, _mm_shuffle_ps(both, both, 1));
}
inline void put_two_at(Two x, float* to) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_castps_si128(_mm_cvtpd_ps(x)));
}
/// Two neighbours at a and two at b, which are read and written at once.
inline std::array<Two, 2> twos_at(const float* a, const float* b) {
  const auto load = [](const float* x) {
    return _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x)));
  };
  const __m128 all = _mm_unpacklo_ps(load(a), load(b));
  return {_mm_cvtps_pd(all), _mm_cvtps_pd(_mm_movehl_ps(all, all))};
}
inline void put_twos(Two x, Two y, float* a, float* b) {
  const __m128 all = _mm_unpacklo_ps(_mm_cvtpd_ps(x), _mm_cvtpd_ps(y));
  _mm_storel_pi(reinterpret_cast<__m64*>(a), all);
  _mm_storeh_pi(reinterpret_cast<__m64*>(b), all);
}
inline std::array<std::uint32_t, 2> whole_numbers(Two x) {
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_cvttpd_epi32(x)));
  return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
}
#else
inline Two two_of(float a, float b) { return Two{a, b}; }
inline Two two_at(const float* x) { return Two{x[0], x[1]}; }
inline void put_two(Two x, float& a, float& b) {
  a = static_cast<float>(x[0]);
  b = static_cast<float>(x[1]);
}
inline void put_two_at(Two x, float* to) { put_two(x, to[0], to[1]); }
inline std::array<std::uint32_t, 2> whole_numbers(Two x) {
  return {static_cast<std::uint32_t>(x[0]), static_cast<std::uint32_t>(x[1])};
}
#endif
inline Two two_of(double a, double b) { return Two{a, b}; }
inline Two two_at(const double* x) {
  Two both;
  std::memcpy(&both, x, sizeof both);
  return both;
}
inline void put_two_at(Two x, double* to) { std::memcpy(to, &x, sizeof x); }
inline void put_two(Two x, double& a, double& b) {
  a = x[0];
  b = x[1];
}
template <class W>
std::array<Two, 2> twos_at(const W* a, const W* b) {
  return {two_of(a[0], b[0]), two_of(a[1], b[1])};
}
template <class W>
void put_twos(Two x, Two y, W* a, W* b) {
  put_two(x, a[0], b[0]);
  put_two(y, a[1], b[1]);
}
/// A distance that the compiler knows costs nothing to multiply by.
template <std::size_t N>
using Known = std::integral_constant<std::size_t, N>;
using SideBySide = Known<1>;  ///< how far apart the planes of one column may stand

/// Places i and i + 1 of a row.
template <class W>
struct Places {
  const Index* index;
  const W* value;
  std::size_t i;

  Places(const Row<W>& row, std::size_t i) : index(row.index + i), value(row.value + i), i(i) {}
  Places(const Index* index, const W* value, std::size_t i) : index(index), value(value), i(i) {}

  Two values() const { return two_at(value); }
  template <class Cell>
  Two cells(const Cell* first, std::size_t stride) const {
    return two_of(first[index[0] * stride], first[index[1] * stride]);
  }
  template <class Cell>
  void set_cells(Cell* first, std::size_t stride, Two to) const {
    put_two(to, first[index[0] * stride], first[index[1] * stride]);
  }
  // The cells of `Count` planes that stand `capacity` apart.
  template <std::size_t Count, class Cell>
  std::array<Two, Count> planes(const Cell* first, std::size_t stride, auto capacity) const {
    std::array<Two, Count> found;
    std::size_t p = 0;
    if constexpr (std::is_same_v<decltype(capacity), SideBySide>)
      for (; p + 2 <= Count; p += 2) {
        const auto two = twos_at(first + p + index[0] * stride, first + p + index[1] * stride);
        found[p] = two[0];
        found[p + 1] = two[1];
      }
    for (; p < Count; ++p) found[p] = cells(first + p * capacity, stride);
    return found;
  }
  template <std::size_t Count, class Cell>
  void set_planes(Cell* first, std::size_t stride, auto capacity,
                  const std::array<Two, Count>& to) const {
    std::size_t p = 0;
    if constexpr (std::is_same_v<decltype(capacity), SideBySide>)
      for (; p + 2 <= Count; p += 2)
        put_twos(to[p], to[p + 1], first + p + index[0] * stride, first + p + index[1] * stride);
    for (; p < Count; ++p) set_cells(first + p * capacity, stride, to[p]);
  }
  // Numbers that belong to the places of the row themselves.
  Two numbers(const double* list) const { return two_at(list + i); }
  void set_numbers(double* list, Two to) const { put_two_at(to, list + i); }
};

/// Two neighbours of a dense row, whose cells are neighbours as well if they stand 1 apart.
template <class W>
struct DensePlaces : Places<W> {
  using Places<W>::i, Places<W>::Places;

  template <class Cell>
  Two cells(const Cell* first, std::size_t stride) const {
    return stride == 1 ? two_at(first + i) : Places<W>::cells(first, stride);
  }
  template <class Cell>
  void set_cells(Cell* first, std::size_t stride, Two to) const {
    stride == 1 ? put_two_at(to, first + i) : Places<W>::set_cells(first, stride, to);
  }
};

// How many places a row has is what a processor guesses wrong, so no branch asks for it where a
// walk ends. The last places stay in registers: a load from two stores would wait for both.

/// Two places that were copied, the second perhaps no neighbour of the first.
template <class W>
struct CopiedPlaces : Places<W> {
  std::size_t second;

  CopiedPlaces(const Index* index, const W* value, std::size_t i, std::size_t second)
      : Places<W>(index, value, i), second(second) {}

  Two values() const { return two_of(this->value[0], this->value[1]); }
  Two numbers(const double* list) const { return two_of(list[this->i], list[second]); }
};

/// Calls f with all places of a row, by twos. Where their number is odd, the last two are the same
/// place: f may only set what it makes of what was there. (A row is handed over by its value here,
/// so that a compiler need not read it again after each number that f writes.)
template <class W, class F>
[[gnu::always_inline]] inline void for_twos(const Row<W> row, F f) {
  if (row.size == 0) return;
  std::size_t i = 0;
  if (row.is_dense)
    for (; i + 2 < row.size; i += 2) f(DensePlaces<W>(row, i));
  else
    for (; i + 2 < row.size; i += 2) f(Places<W>(row, i));
  const std::size_t last = row.size - 1;
  const Index index[] = {row.index[i], row.index[last]};
  const W value[] = {row.value[i], row.value[last]};
  f(CopiedPlaces<W>(index, value, i, last));
}

/// The last one to four places of a row, filled up to four with the value 0 at a feature that is
/// there.
template <class W>
class Ending {
 public:
  [[gnu::always_inline]] Ending(const Row<W>& row, std::size_t begin) {
    using Bits = std::conditional_t<sizeof(W) == 4, std::uint32_t, std::uint64_t>;
    index_[0] = row.index[begin];
    value_[0] = row.value[begin];
    for (std::size_t k = 1; k < 4; ++k) {
      const std::size_t kept = -std::size_t{begin + k < row.size}, at = begin + (k & kept);
      index_[k] = row.index[at];
      value_[k] = std::bit_cast<W>(std::bit_cast<Bits>(row.value[at]) & static_cast<Bits>(kept));
    }
  }
  [[gnu::always_inline]] CopiedPlaces<W> places(std::size_t k, std::size_t i) const {
    return {index_ + k, value_ + k, i, i + 1};
  }
  Row<W> row() const { return {index_, value_, 4}; }

 private:
  Index index_[4];
  W value_[4];
};

/// The same number at all places.
template <class N>
inline N everywhere(double x) {
  return N{} + x;
}

/// The larger of two numbers, or of two registers place by place.
template <class N>
inline N larger(N a, N b) {
  return a > b ? a : b;
}
template <class N>
inline N smaller(N a, N b) {
  return a < b ? a : b;
}
#if defined(__SSE2__)  // the same in one instruction, where compilers take four
inline Two larger(Two a, Two b) { return _mm_max_pd(a, b); }
inline Two smaller(Two a, Two b) { return _mm_min_pd(a, b); }
#endif

inline double square_root(double x) { return std::sqrt(x); }
#if defined(__SSE2__)
inline Two square_root(Two x) { return _mm_sqrt_pd(x); }
#else
inline Two square_root(Two x) { return Two{std::sqrt(x[0]), std::sqrt(x[1])}; }
#endif

/// The largest power of two that is not above |x|, or 0 for x = 0.
inline double leading_power(double x) {
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(x) & 0x7ff0000000000000);
}
inline Two leading_power(Two x) {
  typedef std::int64_t Bits __attribute__((vector_size(16)));
  return (Two)((Bits)x & 0x7ff0000000000000);
}

/// One, with the sign of a number.
inline double sign_of(double x) { return std::copysign(1.0, x); }
inline Two sign_of(Two x) {
  typedef std::int64_t Bits __attribute__((vector_size(16)));
  return (Two)(((Bits)x & std::numeric_limits<std::int64_t>::min()) | (Bits)everywhere<Two>(1));
}

}  // namespace yarrow
