#pragma once
#include <cstddef>

#include "../row.hpp"

// The two walks over a full covariance, line by line: most of the arithmetic of a table's row.
// Processors with registers of 32 bytes do them in half the steps. So both are compiled for these
// and for all others, and the one that fits is chosen when the program is loaded; numbers are the
// same to the last bit.

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define YARROW_ALSO_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define YARROW_ALSO_WIDE
#endif

namespace yarrow {

/// Numbers of 32 bytes: two registers, or one.
template <class W>
struct WideOf {
  typedef W type __attribute__((vector_size(32), aligned(alignof(W)), may_alias));
};
template <class W>
using Wide = typename WideOf<W>::type;
template <class W>
constexpr std::size_t wide = 32 / sizeof(W);

/// N x 32 bytes of h: they stay in registers while the lines go by.
template <std::size_t N, class W>
[[gnu::always_inline]] inline void multiply_some(const W* lines, std::size_t line, W intercept,
                                                 const Row<W>& row, W factor, W* h) {
  const auto line_of = [=](std::size_t place) {
    return reinterpret_cast<const Wide<W>*>(lines + place * line);
  };
  Wide<W> sums[N] = {};
  for (std::size_t i = 0; i < row.size; ++i) {
    const Wide<W>* const from = line_of(1 + row.index[i]);
    for (std::size_t k = 0; k < N; ++k) sums[k] += from[k] * row.value[i];
  }
  for (std::size_t k = 0; k < N; ++k)
    reinterpret_cast<Wide<W>*>(h)[k] = sums[k] * factor + line_of(0)[k] * intercept;
}

/// h = S z, where z is the intercept's value and, behind it, a row times a factor. A line has a
/// multiple of 32 bytes.
template <class W>
YARROW_ALSO_WIDE void multiply(const W* lines, std::size_t line, W intercept, const Row<W>& row,
                               W factor, W* h) {
  constexpr std::size_t w = wide<W>;
  std::size_t j = 0;
  for (; j + 6 * w <= line; j += 6 * w)
    multiply_some<6>(lines + j, line, intercept, row, factor, h + j);
  for (; j + 3 * w <= line; j += 3 * w)
    multiply_some<3>(lines + j, line, intercept, row, factor, h + j);
  for (; j < line; j += w) multiply_some<1>(lines + j, line, intercept, row, factor, h + j);
}

/// S -= share h h', in so many lines.
template <class W>
YARROW_ALSO_WIDE void take_away(W* __restrict lines, std::size_t n, std::size_t line,
                                const W* __restrict h, W share) {
  for (std::size_t i = 0; i < n; ++i, lines += line) {
    if (h[i] == 0) continue;
    const W part = h[i] * share;
    for (std::size_t j = 0; j < line; ++j) lines[j] -= h[j] * part;
  }
}

}  // namespace yarrow
