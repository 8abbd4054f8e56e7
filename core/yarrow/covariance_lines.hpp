#pragma once
#include <cstddef>

#include "lanes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// The two walks over a full covariance, line by line: most of the arithmetic of a wide table's row.
// Processors with registers of 32 bytes do them in half the steps. So both are compiled for these
// and for all others; numbers are the same to the last bit, since a product of two floats is exact
// in double, whether it is rounded before it is added or not. A line has a multiple of 4 numbers.

namespace yarrow {

/// `some` fours of h = S z, where z is the intercept's value and, behind it, a row times a factor:
/// their sums stay in registers while the lines go by. In double, so that another order of the
/// row's values does not matter.
template <std::size_t Fours, class W>
[[gnu::always_inline]] inline void multiply_some(std::size_t some, const W* lines, std::size_t line,
                                                 W intercept, const Row<W>& row, W factor, W* h) {
  if constexpr (Fours > 1)
    if (some < Fours) return multiply_some<Fours - 1>(some, lines, line, intercept, row, factor, h);
  constexpr std::size_t width = lanes_of<W>;
  Pair sums[2 * Fours] = {};
  for (std::size_t i = 0; i < row.size; ++i) {
    const W* const from = lines + static_cast<std::size_t>(1 + row.index[i]) * line;
    const double x = row.value[i];
    Pair* to = sums;
    for (std::size_t k = 0; k < 4 * Fours; k += width)
      for (const Pair both : in_double(lanes_at<width>(from + k))) *to++ += both * x;
  }
  for (std::size_t k = 0; k < 4 * Fours; ++k)
    h[k] = static_cast<W>(sums[k / 2][k % 2]) * factor + lines[k] * intercept;
}

/// How many of the fours that are left are done at once: turns of about equal length.
inline std::size_t fours_of_turn(std::size_t left, std::size_t most) {
  return left / ((left + most - 1) / most);
}

/// S -= share h h', in so many lines.
template <class W>
[[gnu::always_inline]] inline void take_away_lines(W* __restrict lines, std::size_t n,
                                                   std::size_t line, const W* __restrict h,
                                                   W share) {
  for (std::size_t i = 0; i < n; ++i, lines += line) {
    if (h[i] == 0) continue;
    const W part = h[i] * share;
    for (std::size_t j = 0; j < line; ++j) lines[j] -= h[j] * part;
  }
}

#if defined(__x86_64__)
template <std::size_t Fours>
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void multiply_some_wide(
    std::size_t some, const float* lines, std::size_t line, float intercept, const Row<float>& row,
    float factor, float* h) {
  if constexpr (Fours > 1)
    if (some < Fours)
      return multiply_some_wide<Fours - 1>(some, lines, line, intercept, row, factor, h);
  __m256d sums[Fours] = {};
  for (std::size_t i = 0; i < row.size; ++i) {
    const float* const from = lines + static_cast<std::size_t>(1 + row.index[i]) * line;
    const __m256d x = _mm256_set1_pd(row.value[i]);
    for (std::size_t k = 0; k < Fours; ++k)
      sums[k] = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(from + 4 * k)), x, sums[k]);
  }
  for (std::size_t k = 0; k < Fours; ++k)
    _mm_storeu_ps(h + 4 * k,
                  _mm256_cvtpd_ps(sums[k]) * factor + _mm_loadu_ps(lines + 4 * k) * intercept);
}

[[gnu::target("avx2,fma")]] inline void multiply_wide(const float* lines, std::size_t line,
                                                      float intercept, const Row<float>& row,
                                                      float factor, float* h) {
  for (std::size_t j = 0, some; j < line; j += 4 * some) {
    some = fours_of_turn((line - j) / 4, 12);
    multiply_some_wide<12>(some, lines + j, line, intercept, row, factor, h + j);
  }
}

[[gnu::target("avx2,fma")]] inline void take_away_wide(float* lines, std::size_t n,
                                                       std::size_t line, const float* h,
                                                       float share) {
  take_away_lines(lines, n, line, h, share);
}

inline bool has_wide_registers() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#endif

template <class W>
void multiply(const W* lines, std::size_t line, W intercept, const Row<W>& row, W factor, W* h) {
#if defined(__x86_64__)
  if constexpr (sizeof(W) == 4)
    if (has_wide_registers()) return multiply_wide(lines, line, intercept, row, factor, h);
#endif
  for (std::size_t j = 0, some; j < line; j += 4 * some) {
    some = fours_of_turn((line - j) / 4, 6);
    multiply_some<6>(some, lines + j, line, intercept, row, factor, h + j);
  }
}

template <class W>
void take_away(W* lines, std::size_t n, std::size_t line, const W* h, W share) {
#if defined(__x86_64__)
  if constexpr (sizeof(W) == 4)
    if (has_wide_registers()) return take_away_wide(lines, n, line, h, share);
#endif
  take_away_lines(lines, n, line, h, share);
}

}  // namespace yarrow
