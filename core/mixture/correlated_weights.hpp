#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "simd/dispatch.hpp"

namespace yarrow {

/// Weights of few features, which come after that of the intercept, and one covariance between all
/// of them, which the columns share: it knows that two features say the same, or that one takes
/// back what another says.
template <class W>
struct CorrelatedWeights {
  std::size_t size = 0;                 ///< of a column
  std::vector<std::vector<W>> columns;  ///< weights
  std::vector<W> covariance;            ///< in lines of whole fours

  std::size_t line() const { return (size + 3) / 4 * 4; }

  void start() {
    columns.assign(1, {});
    make_room(0);
  }

  /// New features have variance 1, and nothing to do with others.
  void make_room(std::size_t features) {
    if (features + 1 <= size) return;
    const CorrelatedWeights old = *this;
    size = features + 1;
    covariance.assign(size * line(), 0);
    for (std::size_t i = 0; i < size; ++i) covariance[i * line() + i] = 1;
    for (std::size_t i = 0; i < old.size; ++i)
      std::copy_n(old.covariance.begin() + i * old.line(), old.size,
                  covariance.begin() + i * line());
    for (std::vector<W>& column : columns) column.resize(size);
  }

  void free() {
    size = 0;
    covariance = {};
    for (std::vector<W>& column : columns) column = {};
  }

  void add_column(int from, bool mirrored) {
    columns.push_back(from < 0 ? std::vector<W>(size) : columns[from]);
    if (mirrored)
      for (W& weight : columns.back()) weight = 0 - weight;  // 0 stays 0
  }

  /// h = S z, where z is the intercept's value and, behind it, a row times a factor.
  void multiply(W intercept, const Row<W>& row, W factor, std::vector<W>& h) const {
    h.resize(line());
    with_kernels<W>([&](auto kernels) {
      kernels.multiply(covariance.data(), line(), intercept, row, factor, h.data());
    });
  }

  /// S -= share h h'.
  void take_away(const std::vector<W>& h, W share) {
    with_kernels<W>(
        [&](auto kernels) { kernels.take_away(covariance.data(), size, line(), h.data(), share); });
  }

  std::size_t bytes() const { return (covariance.size() + columns.size() * size) * sizeof(W); }
  double largest_weight() const {
    double most = 0;
    for (const std::vector<W>& column : columns)
      for (const W weight : column) most = std::max(most, std::abs(static_cast<double>(weight)));
    return most;
  }
};

}  // namespace yarrow
