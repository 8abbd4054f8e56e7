#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../pairs.hpp"

namespace yarrow {

/// Weights of few features, which come after that of the intercept, and one covariance between all
/// of them, which the columns share: it knows that two features say the same, or that one takes
/// back what another says.
struct FullWeights {
  std::size_t size = 0;                      ///< of a column
  std::vector<std::vector<double>> columns;  ///< weights
  std::vector<double> covariance;            ///< lines of even length

  std::size_t line() const { return (size + 1) / 2 * 2; }

  void start() {
    columns.assign(1, {});
    make_room(0);
  }

  /// New features have variance 1, and nothing to do with others.
  void make_room(std::size_t features) {
    if (features + 1 <= size) return;
    const FullWeights old = *this;
    size = features + 1;
    covariance.assign(size * line(), 0);
    for (std::size_t i = 0; i < size; ++i) covariance[i * line() + i] = 1;
    for (std::size_t i = 0; i < old.size; ++i)
      std::copy_n(old.covariance.begin() + i * old.line(), old.size,
                  covariance.begin() + i * line());
    for (std::vector<double>& column : columns) column.resize(size);
  }

  void free() {
    size = 0;
    covariance = {};
    for (std::vector<double>& column : columns) column = {};
  }

  void add_column(int from, bool mirrored) {
    columns.push_back(columns[from < 0 ? 0 : from]);
    for (double& weight : columns.back()) weight *= from < 0 ? 0 : mirrored ? -1 : 1;
  }

  /// h = S z, of the places where z is not 0.
  template <class Places>
  void multiply(const Places& places, std::vector<double>& h) const {
    h.assign(line(), 0);
    for (const auto& [place, z] : places) {
      const double* const from = covariance.data() + place * line();
      for (std::size_t j = 0; j < line(); j += 2)
        put_pair_at(pair_at(&h[j]) + pair_at(from + j) * z, &h[j]);
    }
  }

  /// S -= share h h'.
  void take_away(const std::vector<double>& h, double share) {
    for (std::size_t i = 0; i < size; ++i) {
      if (h[i] == 0) continue;
      double* const to = covariance.data() + i * line();
      const double part = h[i] * share;
      for (std::size_t j = 0; j < line(); j += 2)
        put_pair_at(pair_at(to + j) - pair_at(&h[j]) * part, to + j);
    }
  }

  double largest_weight() const {
    double most = 0;
    for (const std::vector<double>& column : columns)
      for (const double weight : column) most = std::max(most, std::abs(weight));
    return most;
  }
};

}  // namespace yarrow
