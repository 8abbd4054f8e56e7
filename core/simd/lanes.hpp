#pragma once
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/numbers.hpp"
#include "simd/twos.hpp"

// As many numbers as a register holds, in the type that is stored: what the learner of
// yarrow_learner.hpp calculates with. Each number is treated alike wherever it stands. In 16 bytes,
// which all processors have, these are four floats or two doubles. Registers of 32 bytes, which
// most x86-64 processors have but not all, hold eight floats: what is compiled for them is in
// `wide`, and who calls it asks first (dispatch.hpp); doubles stay in those that all have.

namespace yarrow {

/// Half a register of neighbours; and half at a, half at b.
#if defined(__SSE2__)
inline __m128 half_at(const float* from) {
  return _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}
inline __m128 halves_at(const float* a, const float* b) {
  return _mm_loadh_pi(half_at(a), reinterpret_cast<const __m64*>(b));
}
#else
typedef float FourFloats __attribute__((vector_size(16)));
inline FourFloats half_at(const float* from) { return FourFloats{from[0], from[1]}; }
inline FourFloats halves_at(const float* a, const float* b) {
  return FourFloats{a[0], a[1], b[0], b[1]};
}
#endif

constexpr std::size_t register_bytes = 16;
#include "simd/lanes.inc"

/// A line of 16 bytes for each place of three registers: the first one's number, the second one's,
/// then the last one's as far as the line goes.
template <class W>
[[gnu::always_inline]] inline void put_lines(Lanes<W> first, Lanes<W> second, Lanes<W> rest,
                                             W* to) {
  if constexpr (lanes_of<W> == 4)
    Quads<W>{first, second, rest, rest}.put({to, to + 4, to + 8, to + 12});
  else
    for (int k = 0; k < 2; ++k, to += 2) {
      to[0] = first[k];
      to[1] = second[k];
    }
}

/// Them in double.
[[gnu::always_inline]] inline std::array<Two, 1> in_double(Lanes<double> numbers) {
  return {numbers};
}
[[gnu::always_inline]] inline std::array<Two, 2> in_double(Lanes<float> numbers) {
#if defined(__SSE2__)
  return {_mm_cvtps_pd(numbers), _mm_cvtps_pd(_mm_movehl_ps(numbers, numbers))};
#else
  return {Two{numbers[0], numbers[1]}, Two{numbers[2], numbers[3]}};
#endif
}

/// Sums in double of the numbers in registers: four, whose order is that of the lanes.
template <class W>
struct LaneSums {
  Two twos[2] = {};

  [[gnu::always_inline]] void operator+=(Lanes<W> numbers) {
    Two* to = twos;
    for (const Two both : in_double(numbers)) *to++ += both;
  }
  [[gnu::always_inline]] double total() const {
    const Two both = twos[0] + twos[1];
    return both[0] + both[1];
  }
};

/// Four neighbouring sums in double, of numbers times a factor.
template <class W>
struct FourSums {
  static constexpr std::size_t most = 6;  ///< of these at a time stay in registers
  Two twos[2] = {};

  [[gnu::always_inline]] void add(const W* numbers, double factor) {
    Two* to = twos;
    for (std::size_t k = 0; k < 4; k += lanes_of<W>)
      for (const Two both : in_double(lanes_at<lanes_of<W>>(numbers + k))) *to++ += both * factor;
  }
  /// The sum of four lanes, in the order of `pair_sums`.
  [[gnu::always_inline]] static void put_total(const FourSums& a, const FourSums& b,
                                               const FourSums& c, const FourSums& d, double* to) {
    for (int k = 0; k < 2; ++k)
      put_two_at((a.twos[k] + c.twos[k]) + (b.twos[k] + d.twos[k]), to + 2 * k);
  }
  /// to = sums*factor + others*part
  [[gnu::always_inline]] void put(W factor, const W* others, W part, W* to) const {
    for (std::size_t k = 0; k < 4; ++k)
      to[k] = static_cast<W>(twos[k / 2][k % 2]) * factor + others[k] * part;
  }
};

inline Lanes<float> square_root(Lanes<float> x) {
#if defined(__SSE2__)
  return _mm_sqrt_ps(x);
#else
  for (int k = 0; k < 4; ++k) x[k] = std::sqrt(x[k]);
  return x;
#endif
}

#if defined(__SSE2__)
inline Lanes<float> larger(Lanes<float> a, Lanes<float> b) { return _mm_max_ps(a, b); }
inline Lanes<float> smaller(Lanes<float> a, Lanes<float> b) { return _mm_min_ps(a, b); }
#endif

/// Adds to sums of every fourth number, or of every second.
template <class Numbers>
[[gnu::always_inline]] inline void add_in_order(Numbers numbers, Numbers& to) {
  to += numbers;
}

#if defined(YARROW_MAY_HAVE_WIDE_LANES)
template <class W>
constexpr bool may_have_wide_lanes = sizeof(W) == 4;
}  // namespace yarrow

#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace yarrow::wide {

inline __m256 half_at(const float* from) { return _mm256_zextps128_ps256(_mm_loadu_ps(from)); }
inline __m256 halves_at(const float* a, const float* b) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(a)), _mm_loadu_ps(b), 1);
}

constexpr std::size_t register_bytes = 32;
#include "simd/lanes.inc"

/// The halves of a register, as registers of 16 bytes.
template <class V>
[[gnu::always_inline]] inline auto lower_half(V numbers) {
  return chosen<4, [](std::size_t i) { return i; }>(numbers, numbers);
}
template <class V>
[[gnu::always_inline]] inline auto upper_half(V numbers) {
  return chosen<4, [](std::size_t i) { return i + 4; }>(numbers, numbers);
}
template <class Numbers, class Sums>
[[gnu::always_inline]] inline void add_in_order(Numbers numbers, Sums& to) {
  to += lower_half(numbers);
  to += upper_half(numbers);
}

template <class W>
[[gnu::always_inline]] inline void put_lines(Lanes<W> first, Lanes<W> second, Lanes<W> rest,
                                             W* to) {
  yarrow::put_lines<W>(lower_half(first), lower_half(second), lower_half(rest), to);
  yarrow::put_lines<W>(upper_half(first), upper_half(second), upper_half(rest), to + 16);
}

inline Lanes<float> square_root(Lanes<float> x) { return _mm256_sqrt_ps(x); }
inline Lanes<float> larger(Lanes<float> a, Lanes<float> b) { return _mm256_max_ps(a, b); }
inline Lanes<float> smaller(Lanes<float> a, Lanes<float> b) { return _mm256_min_ps(a, b); }

template <class W>
struct LaneSums {
  __m256d fours{};

  [[gnu::always_inline]] void operator+=(Lanes<W> numbers) {
    fours += _mm256_cvtps_pd(lower_half(numbers));
    fours += _mm256_cvtps_pd(upper_half(numbers));
  }
  [[gnu::always_inline]] double total() const {
    return (fours[0] + fours[2]) + (fours[1] + fours[3]);
  }
};

/// A product of two floats is exact in double: rounded before it is added or not, sums are the
/// same.
template <class W>
struct FourSums {
  static constexpr std::size_t most = 12;
  __m256d sums{};

  [[gnu::always_inline]] void add(const W* numbers, double factor) {
    const __m256d cells = _mm256_cvtps_pd(_mm_loadu_ps(numbers));
    sums = _mm256_fmadd_pd(cells, _mm256_set1_pd(factor), sums);
  }
  [[gnu::always_inline]] static void put_total(const FourSums& a, const FourSums& b,
                                               const FourSums& c, const FourSums& d, double* to) {
    _mm256_storeu_pd(to, (a.sums + c.sums) + (b.sums + d.sums));
  }
  [[gnu::always_inline]] void put(W factor, const W* others, W part, W* to) const {
    _mm_storeu_ps(to, _mm256_cvtpd_ps(sums) * factor + _mm_loadu_ps(others) * part);
  }
};

}  // namespace yarrow::wide
#pragma GCC pop_options
#else
template <class W>
constexpr bool may_have_wide_lanes = false;
namespace wide = yarrow;  // which nobody calls

}  // namespace yarrow
#endif
