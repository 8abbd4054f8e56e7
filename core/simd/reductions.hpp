#pragma once
// Sums over a row, whose order is fixed by the places alone: every route to the same row gives the
// same bits.
#include <algorithm>
#include <array>
#include <type_traits>

#include "simd/twos.hpp"

namespace yarrow {

inline double square(double x) { return x * x; }

/// N sums over the places of a row: `term(places, sums)` adds to each. The last places are filled
/// up with zeros; so a term of value 0 must be 0, and what it sets may lie up to `spare_places`
/// behind the end of the row.
template <int N, class W, class Term>
[[gnu::always_inline]] inline std::array<double, N> pair_sums(const Row<W> row, Term term) {
  if (row.size == 0) return {};
  Two front[N] = {}, back[N] = {};
  std::size_t i = 0;
  if (row.is_dense)
    for (; i + 4 < row.size; i += 4) {
      term(DensePlaces<W>(row, i), front);
      term(DensePlaces<W>(row, i + 2), back);
    }
  else
    for (; i + 4 < row.size; i += 4) {
      term(Places<W>(row, i), front);
      term(Places<W>(row, i + 2), back);
    }
  const Ending<W> ending(row, i);
  term(ending.places(0, i), front);
  term(ending.places(2, i + 2), back);
  std::array<double, N> sums;
  for (int j = 0; j < N; ++j) {
    const Two both = front[j] + back[j];
    sums[j] = both[0] + both[1];
  }
  return sums;
}
constexpr std::size_t spare_places = 3;

/// N sums over n places at once, in the four lanes of `pair_sums` and with the same bits. Two lanes
/// at a time if there are many sums, so that all of them stay in registers.
template <int N, class Term>
inline std::array<double, N> lane_sums(std::size_t n, Term term) {
  constexpr std::size_t at_once = N > 4 ? 2 : 4;
  double lanes[4][N] = {};
  for (std::size_t lane = 0; lane < 4; lane += at_once) {
    double sums[at_once][N] = {};
    std::size_t i = lane;
    for (; i + at_once <= n; i += 4)
      for (std::size_t k = 0; k < at_once; ++k) term(i + k, sums[k]);
    for (std::size_t k = 0; i + k < n; ++k) term(i + k, sums[k]);
    for (std::size_t k = 0; k < at_once; ++k) std::copy_n(sums[k], N, lanes[lane + k]);
  }
  std::array<double, N> sums;
  for (int j = 0; j < N; ++j) sums[j] = (lanes[0][j] + lanes[2][j]) + (lanes[1][j] + lanes[3][j]);
  return sums;
}

/// Such sums of two columns that are neighbours in the blocks of the row's features, in a register.
template <class W>
inline std::array<double, 2> two_column_products(const Row<W> row, const W* first,
                                                 std::size_t stride) {
  Two lanes[4] = {};
  const auto add = [&](std::size_t i, double value, Two& sum) {
    sum += everywhere<Two>(value) * two_at(first + row.index[i] * stride);
  };
  std::size_t i = 0;
  for (; i + 4 <= row.size; i += 4)
    for (std::size_t k = 0; k < 4; k += 2) {
      const Two both = two_at(row.value + i + k);
      add(i + k, both[0], lanes[k]);
      add(i + k + 1, both[1], lanes[k + 1]);
    }
  for (std::size_t k = 0; i + k < row.size; ++k) add(i + k, row.value[i + k], lanes[k]);
  const Two both = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  return {both[0], both[1]};
}

template <class W>
inline double squared_norm(const Row<W>& row) {
  const auto [xx] = pair_sums<1>(row, [](auto at, auto* sum) {
    const auto x = at.values();
    *sum += x * x;
  });
  return xx;
}

/// Visits columns 0..n-1 in tiles whose width the compiler knows, so that their sums stay in
/// registers: f(tile, first column), where `decltype(tile)::value` is the width.
template <class F>
inline void for_tiles(std::size_t n, F f) {
  std::size_t at = 0;
  for (; at + 8 <= n; at += 8) f(std::integral_constant<int, 8>{}, at);
  for (; at + 4 <= n; at += 4) f(std::integral_constant<int, 4>{}, at);
  for (; at + 2 <= n; at += 2) f(std::integral_constant<int, 2>{}, at);
  for (; at < n; ++at) f(std::integral_constant<int, 1>{}, at);
}

}  // namespace yarrow
