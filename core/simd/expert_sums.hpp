#pragma once
#include <cstring>
#include <iterator>
#include <type_traits>
#include <vector>

#include "data/row.hpp"
#include "simd/dispatch.hpp"

// The sums that the experts of yarrow_learner.hpp take over a row: for all of them and all columns
// at a time, each in the order of the row's values, so that one column and many give the same bits.
// Of few features they are in double, so that another order of values does not matter; of more in
// the type that is stored, which is a tenth faster, and where order matters in the sixth digit.

namespace yarrow {

template <class W>
[[gnu::always_inline]] inline void add_lanes(Lanes<W> numbers, W* to) {
  put_lanes<lanes_of<W>>(lanes_at<lanes_of<W>>(to) + numbers, to);
}

/// Products of weights and values, from one place to another, without values of their own.
template <class Sum, class W>
void sum_products(const Row<W>& row, const W* x, const W* first, std::size_t stride,
                  std::size_t begin, std::size_t end, Sum* sums) {
  using Some = Neighbours<Sum, W>;
  Fours::each(row, x, first, stride, [=](const auto& cells, const auto& values, std::size_t) {
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
  Fours::each(row, x, first, stride, [=](const auto& cells, const auto& values, std::size_t i) {
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
