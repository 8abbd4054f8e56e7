#pragma once
#include <cstring>
#include <iterator>
#include <type_traits>
#include <vector>

#include "../row.hpp"
#include "experts.hpp"
#include "lanes.hpp"

// The sums that the experts of yarrow_learner.hpp take over a row: for all of them and all columns
// at a time, each in the order of the row's values, so that one column and many give the same bits.
// Of few features they are in double, so that another order of values does not matter; of more in
// the type that is stored, which is a tenth faster, and where order matters in the sixth digit.

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
[[gnu::always_inline]] inline void add_lanes(Lanes<W> numbers, W* to) {
  put_lanes<lanes_of<W>>(lanes_at<lanes_of<W>>(to) + numbers, to);
}

/// How sums of a type are taken: so many neighbours at a time.
template <class Sum, class W>
struct Neighbours {
  static constexpr bool is_double = !std::is_same_v<Sum, W>;
  static constexpr std::size_t size = is_double ? 2 : lanes_of<W>;
  using Type = std::conditional_t<is_double, Pair, Lanes<W>>;

  [[gnu::always_inline]] static Type first_of(Lanes<W> numbers) {
    if constexpr (is_double)
      return in_double(numbers)[0];
    else
      return numbers;
  }
  template <class Number>
  [[gnu::always_inline]] static Type at(const Number* from) {
    if constexpr (is_double)
      return pair_at(from);
    else
      return lanes_at<size>(from);
  }
  [[gnu::always_inline]] static void put(Type sums, Sum* to) {
    std::memcpy(to, &sums, sizeof sums);
  }
  /// Adds a whole register of numbers.
  [[gnu::always_inline]] static void add(Lanes<W> numbers, Type* to) {
    if constexpr (is_double)
      for (const Pair both : in_double(numbers)) *to++ += both;
    else
      *to += numbers;
  }
};

/// Products of weights and values, and the sums of x^2/P if somebody learns, of one column or two
/// with nothing beside them, all in registers. The first expert may have values of its own, which
/// stand first in each value's line.
template <std::size_t Columns, bool Learns, bool HasOwn, class W>
void sum_few_columns(const Row<W>& row, const W* x, const W* lines, const W* first,
                     std::size_t stride, double* products, double* variances) {
  using Some = Neighbours<std::conditional_t<HasOwn, W, double>, W>;
  constexpr std::size_t width = lanes_of<W>, at_once = Some::size;
  constexpr std::size_t n = Columns * Experts::straight, arows = Columns * Experts::arows;
  typename Some::Type product[(n + at_once - 1) / at_once] = {}, variance[arows / at_once] = {};
#pragma GCC unroll 2
  for (std::size_t i = 0; i < row.size; ++i) {
    const W* const cells = first + row.index[i] * stride;
    const Lanes<W> all = Lanes<W>{} + x[i], own = HasOwn ? lanes_at<width>(lines + i * width) : all;
    const auto others = Some::first_of(all);
    product[0] += Some::first_of(own) * Some::at(cells);
    for (std::size_t j = at_once; j < n; j += at_once)
      product[j / at_once] += others * Some::at(cells + j);
    if constexpr (Learns)
      for (std::size_t j = 0; j < arows; j += width) {
        const Lanes<W> one = j == 0 ? own : all;
        Some::add(one * one / (1 + lanes_at<width>(cells + n + j)), variance + j / at_once);
      }
  }
  for (std::size_t j = 0; j < n; ++j) products[j] = product[j / at_once][j % at_once];
  for (std::size_t j = 0; j < arows; ++j) variances[j] = variance[j / at_once][j % at_once];
}

/// Products of weights and values, from one place to another, without values of their own.
template <class Sum, class W>
void sum_products(const Row<W>& row, const W* x, const W* first, std::size_t stride,
                  std::size_t begin, std::size_t end, Sum* sums) {
  using Some = Neighbours<Sum, W>;
  for_fours(row, x, first, stride, [=](const auto& cells, const auto& values, std::size_t) {
    for (std::size_t j = begin; j < end; j += Some::size) {
      typename Some::Type sum = Some::at(sums + j);
      for (std::size_t k = 0; k < std::size(cells); ++k)
        sum += static_cast<Sum>(values[k]) * Some::at(cells[k] + j);
      Some::put(sum, sums + j);
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
template <class Sum, class W>
void sum_variances(const Row<W>& row, const W* x, const OwnValues<W>& own, const W* first,
                   std::size_t stride, const std::vector<std::size_t>& groups, Sum* sums) {
  using Some = Neighbours<Sum, W>;
  constexpr std::size_t width = lanes_of<W>;
  const std::size_t* const listed = groups.data();
  const std::size_t many = groups.size();
  for_fours(row, x, first, stride, [=](const auto& cells, const auto& values, std::size_t i) {
    Lanes<W> all[std::extent_v<std::remove_reference_t<decltype(values)>>];
    spread(values, [](Lanes<W> x) { return x; }, all);
    for (std::size_t m = 0; m < many; ++m) {
      const std::size_t j = listed[m];
      typename Some::Type group[width / Some::size];
      std::memcpy(group, sums + j, sizeof group);
      for (std::size_t k = 0; k < std::size(cells); ++k) {
        const Lanes<W> x = own.at(i + k, j, all[k]);
        Some::add(x * x / (1 + lanes_at<width>(cells[k] + j)), group);
      }
      std::memcpy(sums + j, group, sizeof group);
    }
  });
}

}  // namespace yarrow
