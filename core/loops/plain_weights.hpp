#pragma once
#include <span>

#include "rules/rule.hpp"
#include "state/state.hpp"

namespace yarrow {

/// What loops share whose first plane holds the weights themselves.
template <class W>
class PlainWeights {
 public:
  using Weight = W;
  static constexpr bool pays = false, calibrated = false, shrinks = false;

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    const std::size_t columns = state.blocks.columns(), stride = state.blocks.stride();
    out.resize(columns);
    for_tiles(columns, [&](auto tile, std::size_t at) {
      constexpr int width = decltype(tile)::value;
      const W* first = state.blocks.first() + at;
      const auto wx = lane_sums<width>(row.size, [&](std::size_t i, double* sums) {
        const double x = row.value[i];
        const W* cells = first + row.index[i] * stride;
        for (int k = 0; k < width; ++k) sums[k] += x * static_cast<double>(cells[k]);
      });
      for (int k = 0; k < width; ++k)
        out.score[at + k] = wx[k] + intercept_ * state.blocks.intercept()[at + k];
    });
  }

  void finish_row(State<W>&) const {}

  double weight(const State<W>& state, std::size_t slot, int column) const {
    return state.blocks.data()[slot * state.blocks.stride() + column];
  }

  double intercept() const { return intercept_; }

 protected:
  double intercept_ = 1;
};

}  // namespace yarrow
