#pragma once
#include <array>
#include <cmath>
#include <cstring>

#include "simd/pairs.hpp"

// As many numbers as a register holds, in the type that is stored: four floats or two doubles. What
// the learner of yarrow_learner.hpp calculates with. Each number is treated alike wherever it
// stands.

namespace yarrow {

template <class W>
struct LanesOf {
  typedef W type __attribute__((vector_size(16)));
};
template <class W>
using Lanes = typename LanesOf<W>::type;
/// Whole numbers of the same size, as comparing lanes gives them: -1 where it is true.
template <class W>
using LaneBits = decltype(Lanes<W>{} < Lanes<W>{});
template <class W>
constexpr std::size_t lanes_of = 16 / sizeof(W);

/// N neighbours, at most as many as a register holds.
template <std::size_t N, class W>
[[gnu::always_inline]] inline Lanes<W> lanes_at(const W* from) {
  Lanes<W> found{};
#if defined(__SSE2__)  // half a register goes straight there, and not by way of memory
  if constexpr (N < lanes_of<W>)
    return (Lanes<W>)_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
#endif
  std::memcpy(&found, from, N * sizeof(W));
  return found;
}

template <std::size_t N, class W>
[[gnu::always_inline]] inline void put_lanes(Lanes<W> numbers, W* to) {
#if defined(__SSE2__)
  if constexpr (N < lanes_of<W>)
    return _mm_storel_epi64(reinterpret_cast<__m128i*>(to), (__m128i)numbers);
#endif
  std::memcpy(to, &numbers, N * sizeof(W));
}

/// A line for each place of three registers: the first one's number, the second one's, then the
/// last one's as far as a line goes.
[[gnu::always_inline]] inline void put_lines(Lanes<float> first, Lanes<float> second,
                                             Lanes<float> rest, float* to) {
#if defined(__SSE2__)
  const __m128 low = _mm_unpacklo_ps(first, second), high = _mm_unpackhi_ps(first, second);
  const __m128 low_rest = _mm_unpacklo_ps(rest, rest), high_rest = _mm_unpackhi_ps(rest, rest);
  _mm_storeu_ps(to, _mm_movelh_ps(low, low_rest));
  _mm_storeu_ps(to + 4, _mm_movehl_ps(low_rest, low));
  _mm_storeu_ps(to + 8, _mm_movelh_ps(high, high_rest));
  _mm_storeu_ps(to + 12, _mm_movehl_ps(high_rest, high));
#else
  for (int k = 0; k < 4; ++k, to += 4) {
    to[0] = first[k];
    to[1] = second[k];
    to[2] = to[3] = rest[k];
  }
#endif
}
inline void put_lines(Lanes<double> first, Lanes<double> second, Lanes<double>, double* to) {
  for (int k = 0; k < 2; ++k, to += 2) {
    to[0] = first[k];
    to[1] = second[k];
  }
}

/// A line of values as far as it goes, then the one value that fills up the register.
template <class W>
[[gnu::always_inline]] inline Lanes<W> with_line(const W* line, Lanes<W>) {
  return lanes_at<lanes_of<W>>(line);
}

/// Two numbers at a and two at b, in one register.
[[gnu::always_inline]] inline Lanes<float> first_halves(Lanes<float> a, Lanes<float> b) {
#if defined(__SSE2__)
  return _mm_movelh_ps(a, b);
#else
  return Lanes<float>{a[0], a[1], b[0], b[1]};
#endif
}
[[gnu::always_inline]] inline Lanes<float> halves_at(const float* a, const float* b) {
#if defined(__SSE2__)
  return _mm_loadh_pi(lanes_at<2>(a), reinterpret_cast<const __m64*>(b));
#else
  return Lanes<float>{a[0], a[1], b[0], b[1]};
#endif
}
[[gnu::always_inline]] inline void put_halves(Lanes<float> numbers, float* a, float* b) {
  put_lanes<2>(numbers, a);
#if defined(__SSE2__)
  _mm_storeh_pi(reinterpret_cast<__m64*>(b), numbers);
#else
  b[0] = numbers[2];
  b[1] = numbers[3];
#endif
}

/// The blocks of N features.
template <std::size_t N, class Cells>
[[gnu::always_inline]] inline std::array<Cells*, N> blocks_at(Cells* first, std::size_t stride,
                                                              const Index* features) {
  std::array<Cells*, N> blocks;
  for (std::size_t k = 0; k < N; ++k) blocks[k] = first + features[k] * stride;
  return blocks;
}

/// Four neighbours in each of some blocks: all first ones, all second ones and so on.
template <class W>
struct Quads {
  Lanes<W> first, second, third, fourth;

  template <class Cells>
  [[gnu::always_inline]] static Quads at(const std::array<Cells*, lanes_of<W>>& blocks,
                                         std::size_t place = 0) {
    Quads found;
    for (std::size_t k = 0; k < lanes_of<W>; ++k) {
      found.first[k] = blocks[k][place];
      found.second[k] = blocks[k][place + 1];
      found.third[k] = blocks[k][place + 2];
      found.fourth[k] = blocks[k][place + 3];
    }
    return found;
  }
  [[gnu::always_inline]] void put(const std::array<W*, lanes_of<W>>& blocks,
                                  std::size_t place = 0) const {
    for (std::size_t k = 0; k < lanes_of<W>; ++k) {
      blocks[k][place] = first[k];
      blocks[k][place + 1] = second[k];
      blocks[k][place + 2] = third[k];
      blocks[k][place + 3] = fourth[k];
    }
  }
};
#if defined(__SSE2__)  // one load and one store a block
template <>
template <class Cells>
[[gnu::always_inline]] inline Quads<float> Quads<float>::at(const std::array<Cells*, 4>& blocks,
                                                            std::size_t place) {
  const __m128 a = _mm_loadu_ps(blocks[0] + place), b = _mm_loadu_ps(blocks[1] + place),
               c = _mm_loadu_ps(blocks[2] + place), d = _mm_loadu_ps(blocks[3] + place);
  const __m128 ab = _mm_unpacklo_ps(a, b), cd = _mm_unpacklo_ps(c, d);
  const __m128 ab_rest = _mm_unpackhi_ps(a, b), cd_rest = _mm_unpackhi_ps(c, d);
  return {_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab), _mm_movelh_ps(ab_rest, cd_rest),
          _mm_movehl_ps(cd_rest, ab_rest)};
}
template <>
[[gnu::always_inline]] inline void Quads<float>::put(const std::array<float*, 4>& blocks,
                                                     std::size_t place) const {
  const __m128 ab = _mm_unpacklo_ps(first, second), cd = _mm_unpackhi_ps(first, second);
  const __m128 ab_rest = _mm_unpacklo_ps(third, fourth), cd_rest = _mm_unpackhi_ps(third, fourth);
  _mm_storeu_ps(blocks[0] + place, _mm_movelh_ps(ab, ab_rest));
  _mm_storeu_ps(blocks[1] + place, _mm_movehl_ps(ab_rest, ab));
  _mm_storeu_ps(blocks[2] + place, _mm_movelh_ps(cd, cd_rest));
  _mm_storeu_ps(blocks[3] + place, _mm_movehl_ps(cd_rest, cd));
}
#endif

/// What f makes of each of some values, at all places of a register.
template <class W, std::size_t N, class F>
[[gnu::always_inline]] inline void spread(const W (&values)[N], F f, Lanes<W> (&out)[N]) {
#if defined(__SSE2__)
  if constexpr (sizeof(W) == 4 && N == 4) {
    const __m128 all = f(lanes_at<4>(values));
    out[0] = _mm_shuffle_ps(all, all, 0x00);
    out[1] = _mm_shuffle_ps(all, all, 0x55);
    out[2] = _mm_shuffle_ps(all, all, 0xaa);
    out[3] = _mm_shuffle_ps(all, all, 0xff);
    return;
  }
#endif
  for (std::size_t k = 0; k < N; ++k) out[k] = f(Lanes<W>{} + values[k]);
}

/// Them in double.
[[gnu::always_inline]] inline std::array<Pair, 1> in_double(Lanes<double> numbers) {
  return {numbers};
}
[[gnu::always_inline]] inline std::array<Pair, 2> in_double(Lanes<float> numbers) {
#if defined(__SSE2__)
  return {_mm_cvtps_pd(numbers), _mm_cvtps_pd(_mm_movehl_ps(numbers, numbers))};
#else
  return {Pair{numbers[0], numbers[1]}, Pair{numbers[2], numbers[3]}};
#endif
}

/// Sums in double of the numbers in registers: four, whose order is that of the lanes.
template <class W>
struct LaneSums {
  Pair pairs[2] = {};

  [[gnu::always_inline]] void operator+=(Lanes<W> numbers) {
    Pair* to = pairs;
    for (const Pair both : in_double(numbers)) *to++ += both;
  }
  [[gnu::always_inline]] double total() const {
    const Pair both = pairs[0] + pairs[1];
    return both[0] + both[1];
  }
};

/// Four neighbouring sums in double, of numbers times a factor.
template <class W>
struct FourSums {
  static constexpr std::size_t most = 6;  ///< of these at a time stay in registers
  Pair pairs[2] = {};

  [[gnu::always_inline]] void add(const W* numbers, double factor) {
    Pair* to = pairs;
    for (std::size_t k = 0; k < 4; k += lanes_of<W>)
      for (const Pair both : in_double(lanes_at<lanes_of<W>>(numbers + k))) *to++ += both * factor;
  }
  /// to = sums*factor + others*part
  [[gnu::always_inline]] void put(W factor, const W* others, W part, W* to) const {
    for (std::size_t k = 0; k < 4; ++k)
      to[k] = static_cast<W>(pairs[k / 2][k % 2]) * factor + others[k] * part;
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

}  // namespace yarrow
