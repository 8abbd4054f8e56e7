#pragma once
#include <cstring>
#include <iterator>
#include <type_traits>
#include <vector>

#include "lanes.hpp"
#include "row.hpp"

// The sums that the experts of yarrow_learner.hpp take over a row: for all of them and all columns
// at a time, in double, each in the order of the row's values, so that one column and many give the
// same bits.

namespace yarrow {

/// Calls f with the cells of the row's values, and with these: four at a time, in arrays, and the
/// last ones one by one. What belongs to an expert and not to a value is then loaded once for four.
template <class W, class Cells, class F>
[[gnu::always_inline]] inline void for_fours(const Row<W>& row, const W* values, Cells* first,
                                             std::size_t stride, F f) {
  const Index* at = row.index;
  std::size_t i = 0;
  for (; i + 4 <= row.size; i += 4) {
    Cells* const cells[] = {first + at[i] * stride, first + at[i + 1] * stride,
                            first + at[i + 2] * stride, first + at[i + 3] * stride};
    const W x[] = {values[i], values[i + 1], values[i + 2], values[i + 3]};
    f(cells, x);
  }
  for (; i < row.size; ++i) {
    Cells* const cells[] = {first + at[i] * stride};
    const W x[] = {values[i]};
    f(cells, x);
  }
}

/// Sums of cells times values, N of them, which is even: those of one column, where they stay in
/// registers while another walk brings the blocks and values.
template <std::size_t N, class W>
struct ProductSums {
  Pair sums[N / 2] = {};

  [[gnu::always_inline]] void operator()(const auto& blocks, Lanes<W> values) {
    const auto pairs = in_double(values);
    for (std::size_t k = 0; k < lanes_of<W>; ++k)
      for (std::size_t j = 0; j < N; j += 2)
        sums[j / 2] += pairs[k / 2][k % 2] * pair_at(blocks[k] + j);
  }
};

/// The same for any number `n` of them.
template <class W>
void sum_products(const Row<W>& row, const W* x, const W* first, std::size_t stride, std::size_t n,
                  double* sums) {
  for_fours(row, x, first, stride, [=](const auto& cells, const auto& values) {
    for (std::size_t j = 0; j < n; j += 2) {
      Pair sum = pair_at(sums + j);
      for (std::size_t k = 0; k < std::size(cells); ++k)
        sum += static_cast<double>(values[k]) * pair_at(cells[k] + j);
      put_pair_at(sum, sums + j);
    }
  });
}

/// Sums of x^2/P, where cells are P - 1, for the listed groups of neighbours among `n`.
template <std::size_t One, class W>
void sum_variances(const Row<W>& row, const W* x, const W* first, std::size_t stride, std::size_t n,
                   const std::vector<std::size_t>& groups, double* sums) {
  constexpr std::size_t width = lanes_of<W>;
  if (groups.empty()) return;
  const auto add = [](Lanes<W> numbers, Pair* to) __attribute__((always_inline)) {
    for (const Pair both : in_double(numbers)) *to++ += both;
  };
  if (n == One) {
    Pair all[One / 2] = {};
    for_fours(row, x, first, stride, [&](const auto& cells, const auto& values) {
      Lanes<W> squares[std::extent_v<std::remove_reference_t<decltype(values)>>];
      spread(values, [](Lanes<W> x) { return x * x; }, squares);
      for (std::size_t k = 0; k < std::size(cells); ++k)
        for (std::size_t j = 0; j < One; j += width)
          add(squares[k] / (1 + lanes_at<width>(cells[k] + j)), all + j / 2);
    });
    return static_cast<void>(std::memcpy(sums, all, sizeof all));
  }
  const std::size_t* const listed = groups.data();
  const std::size_t many = groups.size();
  for_fours(row, x, first, stride, [=](const auto& cells, const auto& values) {
    Lanes<W> squares[std::extent_v<std::remove_reference_t<decltype(values)>>];
    spread(values, [](Lanes<W> x) { return x * x; }, squares);
    for (std::size_t m = 0; m < many; ++m) {
      const std::size_t j = listed[m];
      Pair group[width / 2];
      std::memcpy(group, sums + j, sizeof group);
      for (std::size_t k = 0; k < std::size(cells); ++k)
        add(squares[k] / (1 + lanes_at<width>(cells[k] + j)), group);
      std::memcpy(sums + j, group, sizeof group);
    }
  });
}

}  // namespace yarrow
