#pragma once
#include <cstring>
#include <iterator>
#include <type_traits>
#include <vector>

#include "../row.hpp"
#include "experts.hpp"
#include "lanes.hpp"

// The sums that the experts of yarrow_learner.hpp take over a row: for all of them and all columns
// at a time, each in the order of the row's values, so that one column and many give the same bits;
// in double, so that another order of values hardly matters.

namespace yarrow {

/// Calls f with the cells of the row's values, with these, and with the place of the first: four at
/// a time, in arrays, and the last ones one by one. What belongs to an expert and not to a value is
/// then loaded once for four.
template <class W, class Cells, class F>
[[gnu::always_inline]] inline void for_fours(const Row<W>& row, const W* values, Cells* first,
                                             std::size_t stride, F f) {
  const Index* at = row.index;
  std::size_t i = 0;
  for (; i + 4 <= row.size; i += 4) {
    Cells* const cells[] = {first + at[i] * stride, first + at[i + 1] * stride,
                            first + at[i + 2] * stride, first + at[i + 3] * stride};
    const W x[] = {values[i], values[i + 1], values[i + 2], values[i + 3]};
    f(cells, x, i);
  }
  for (; i < row.size; ++i) {
    Cells* const cells[] = {first + at[i] * stride};
    const W x[] = {values[i]};
    f(cells, x, i);
  }
}

template <class W>
[[gnu::always_inline]] inline void add_lanes(Lanes<W> numbers, double* to) {
  for (const Pair both : in_double(numbers)) {
    put_pair_at(pair_at(to) + both, to);
    to += 2;
  }
}
template <class W>
[[gnu::always_inline]] inline void add_products(Lanes<W> a, Lanes<W> b, double* to) {
  const auto one = in_double(a), other = in_double(b);
  for (std::size_t k = 0; k < one.size(); ++k)
    put_pair_at(pair_at(to + 2 * k) + one[k] * other[k], to + 2 * k);
}

/// Products of weights and values, and the sums of x^2/P if somebody learns, of one column or two
/// with nothing beside them, all in registers. The first expert may have values of its own, which
/// stand first in each value's line.
template <std::size_t Columns, bool Learns, bool HasOwn, class W>
void sum_few_columns(const Row<W>& row, const W* x, const W* lines, const W* first,
                     std::size_t stride, double* products, double* variances) {
  constexpr std::size_t width = lanes_of<W>;
  constexpr std::size_t n = Columns * Experts::straight, arows = Columns * Experts::arows;
  Pair product[n / 2] = {}, variance[arows / 2] = {};
#pragma GCC unroll 2
  for (std::size_t i = 0; i < row.size; ++i) {
    const W* const cells = first + row.index[i] * stride;
    const Lanes<W> all = Lanes<W>{} + x[i], own = HasOwn ? lanes_at<width>(lines + i * width) : all;
    const Pair others = in_double(all)[0];
    product[0] += in_double(own)[0] * pair_at(cells);
    for (std::size_t j = 2; j < n; j += 2) product[j / 2] += others * pair_at(cells + j);
    if constexpr (Learns) {
      Pair* to = variance;
      for (std::size_t j = 0; j < arows; j += width) {
        const Lanes<W> one = j == 0 ? own : all;
        for (const Pair both : in_double(one * one / (1 + lanes_at<width>(cells + n + j))))
          *to++ += both;
      }
    }
  }
  std::memcpy(products, product, sizeof product);
  std::memcpy(variances, variance, sizeof variance);
}

/// Products of weights and values, from an even place `begin` to another, `end`, without values of
/// their own.
template <class W>
void sum_products(const Row<W>& row, const W* x, const W* first, std::size_t stride,
                  std::size_t begin, std::size_t end, double* sums) {
  for_fours(row, x, first, stride, [=](const auto& cells, const auto& values, std::size_t) {
    for (std::size_t j = begin; j < end; j += 2) {
      Pair sum = pair_at(sums + j);
      for (std::size_t k = 0; k < std::size(cells); ++k)
        sum += static_cast<double>(values[k]) * pair_at(cells[k] + j);
      put_pair_at(sum, sums + j);
    }
  });
}

/// A row's values as the experts see them: the first `owners` of their numbers have values of their
/// own, which stand in lines.
template <class W>
struct OwnValues {
  const W* lines;
  std::size_t line, owners;

  /// Those of some neighbours from j on, `all` being the value that others see everywhere.
  [[gnu::always_inline]] Lanes<W> at(std::size_t place, std::size_t j, Lanes<W> all) const {
    return j < owners ? lanes_at<lanes_of<W>>(lines + place * line + j) : all;
  }
};

/// Sums of x^2/P, where cells are P - 1, for the listed groups of neighbours.
template <class W>
void sum_variances(const Row<W>& row, const W* x, const OwnValues<W>& own, const W* first,
                   std::size_t stride, const std::vector<std::size_t>& groups, double* sums) {
  constexpr std::size_t width = lanes_of<W>;
  const std::size_t* const listed = groups.data();
  const std::size_t many = groups.size();
  for_fours(row, x, first, stride, [=](const auto& cells, const auto& values, std::size_t i) {
    Lanes<W> all[std::extent_v<std::remove_reference_t<decltype(values)>>];
    spread(values, [](Lanes<W> x) { return x; }, all);
    for (std::size_t m = 0; m < many; ++m) {
      const std::size_t j = listed[m];
      Pair group[width / 2];
      std::memcpy(group, sums + j, sizeof group);
      for (std::size_t k = 0; k < std::size(cells); ++k) {
        const Lanes<W> x = own.at(i + k, j, all[k]);
        Pair* to = group;
        for (const Pair both : in_double(x * x / (1 + lanes_at<width>(cells[k] + j))))
          *to++ += both;
      }
      std::memcpy(sums + j, group, sizeof group);
    }
  });
}

}  // namespace yarrow
