#pragma once
#include "data/processor.hpp"
#include "simd/lanes_128.hpp"

// What lanes_128.hpp has, for registers of 32 bytes, which most x86-64 processors have but not all:
// so it is compiled for those that do, and who calls it asks first. Eight floats; doubles stay in
// the registers that all have. dispatch.hpp says what is written in these words.

#if defined(YARROW_MAY_HAVE_WIDE_LANES)
#include <immintrin.h>

namespace yarrow {

template <class W>
constexpr bool may_have_wide_lanes = sizeof(W) == 4;

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace wide {

template <class W>
struct LanesOf {
  typedef W type __attribute__((vector_size(32)));
};
template <class W>
using Lanes = typename LanesOf<W>::type;
template <class W>
using LaneBits = decltype(Lanes<W>{} < Lanes<W>{});
template <class W>
constexpr std::size_t lanes_of = 32 / sizeof(W);

/// A whole register, or half of one.
template <std::size_t N, class W>
[[gnu::always_inline]] inline Lanes<W> lanes_at(const W* from) {
  if constexpr (N < lanes_of<W>)
    return _mm256_zextps128_ps256(_mm_loadu_ps(from));
  else
    return _mm256_loadu_ps(from);
}

template <std::size_t N, class W>
[[gnu::always_inline]] inline void put_lanes(Lanes<W> numbers, W* to) {
  if constexpr (N < lanes_of<W>)
    _mm_storeu_ps(to, _mm256_castps256_ps128(numbers));
  else
    _mm256_storeu_ps(to, numbers);
}

inline Lanes<float> first_halves(Lanes<float> a, Lanes<float> b) {
  return _mm256_permute2f128_ps(a, b, 0x20);
}
inline Lanes<float> halves_at(const float* a, const float* b) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(a)), _mm_loadu_ps(b), 1);
}
inline void put_halves(Lanes<float> numbers, float* a, float* b) {
  _mm_storeu_ps(a, _mm256_castps256_ps128(numbers));
  _mm_storeu_ps(b, _mm256_extractf128_ps(numbers, 1));
}

template <class W>
[[gnu::always_inline]] inline Lanes<W> with_line(const W* line, Lanes<W> rest) {
  return _mm256_blend_ps(rest, _mm256_castps128_ps256(_mm_loadu_ps(line)), 0x0f);
}

template <class W, std::size_t N, class F>
[[gnu::always_inline]] inline void spread(const W (&values)[N], F f, Lanes<W> (&out)[N]) {
  for (std::size_t k = 0; k < N; ++k) out[k] = f(Lanes<W>{} + values[k]);
}

/// The halves of a register, as registers of 16 bytes.
inline yarrow::Lanes<float> lower_half(Lanes<float> numbers) {
  return _mm256_castps256_ps128(numbers);
}
inline yarrow::Lanes<float> upper_half(Lanes<float> numbers) {
  return _mm256_extractf128_ps(numbers, 1);
}
inline yarrow::LaneBits<float> lower_half(LaneBits<float> bits) {
  return (yarrow::LaneBits<float>)_mm256_castsi256_si128((__m256i)bits);
}
inline yarrow::LaneBits<float> upper_half(LaneBits<float> bits) {
  return (yarrow::LaneBits<float>)_mm256_extracti128_si256((__m256i)bits, 1);
}
template <class Numbers, class Sums>
[[gnu::always_inline]] inline void add_in_order(Numbers numbers, Sums& to) {
  to += lower_half(numbers);
  to += upper_half(numbers);
}

[[gnu::always_inline]] inline void put_lines(Lanes<float> first, Lanes<float> second,
                                             Lanes<float> rest, float* to) {
  yarrow::put_lines(lower_half(first), lower_half(second), lower_half(rest), to);
  yarrow::put_lines(upper_half(first), upper_half(second), upper_half(rest), to + 16);
}

inline Lanes<float> square_root(Lanes<float> x) { return _mm256_sqrt_ps(x); }
inline Lanes<float> larger(Lanes<float> a, Lanes<float> b) { return _mm256_max_ps(a, b); }
inline Lanes<float> smaller(Lanes<float> a, Lanes<float> b) { return _mm256_min_ps(a, b); }

/// A block's four numbers go to the same places of half a register as in lanes_128.hpp, those of
/// the block four further on to the other half.
template <class W>
struct Quads {
  Lanes<W> first, second, third, fourth;

  template <class Cells>
  [[gnu::always_inline]] static Quads at(const std::array<Cells*, 8>& blocks,
                                         std::size_t place = 0) {
    const auto both = [&](std::size_t k) {
      const __m128 one = _mm_loadu_ps(blocks[k] + place),
                   other = _mm_loadu_ps(blocks[k + 4] + place);
      return _mm256_insertf128_ps(_mm256_castps128_ps256(one), other, 1);
    };
    const __m256 a = both(0), b = both(1), c = both(2), d = both(3);
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256 ab_rest = _mm256_unpackhi_ps(a, b), cd_rest = _mm256_unpackhi_ps(c, d);
    return {low_halves(ab, cd), high_halves(ab, cd), low_halves(ab_rest, cd_rest),
            high_halves(ab_rest, cd_rest)};
  }
  [[gnu::always_inline]] void put(const std::array<W*, 8>& blocks, std::size_t place = 0) const {
    const auto put_both = [&](std::size_t k, __m256 numbers) {
      _mm_storeu_ps(blocks[k] + place, lower_half(numbers));
      _mm_storeu_ps(blocks[k + 4] + place, upper_half(numbers));
    };
    const __m256 ab = _mm256_unpacklo_ps(first, second), cd = _mm256_unpackhi_ps(first, second);
    const __m256 ab_rest = _mm256_unpacklo_ps(third, fourth),
                 cd_rest = _mm256_unpackhi_ps(third, fourth);
    put_both(0, low_halves(ab, ab_rest));
    put_both(1, high_halves(ab, ab_rest));
    put_both(2, low_halves(cd, cd_rest));
    put_both(3, high_halves(cd, cd_rest));
  }

 private:
  /// Of each half of two registers the lower two numbers, or the upper two.
  static __m256 low_halves(__m256 a, __m256 b) { return _mm256_shuffle_ps(a, b, 0x44); }
  static __m256 high_halves(__m256 a, __m256 b) { return _mm256_shuffle_ps(a, b, 0xee); }
};

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
  [[gnu::always_inline]] void put(W factor, const W* others, W part, W* to) const {
    _mm_storeu_ps(to, _mm256_cvtpd_ps(sums) * factor + _mm_loadu_ps(others) * part);
  }
};

}  // namespace wide
#pragma GCC pop_options
}  // namespace yarrow
#else
namespace yarrow {

template <class W>
constexpr bool may_have_wide_lanes = false;
namespace wide = yarrow;  // which nobody calls

}  // namespace yarrow
#endif
