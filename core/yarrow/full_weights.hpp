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
    columns.push_back(from < 0 ? std::vector<double>(size) : columns[from]);
    if (mirrored)
      for (double& weight : columns.back()) weight = 0 - weight;  // 0 stays 0
  }

  /// A place of z, and what stands there; others are 0.
  struct Place {
    std::size_t at;
    double z;
  };

  /// h = S z, four places at a time: h is loaded and stored once for these.
  void multiply(const std::vector<Place>& places, std::vector<double>& h) const {
    h.assign(line(), 0);
    const std::size_t n = line();
    double* const to = h.data();
    const auto from = [&](std::size_t i) { return covariance.data() + places[i].at * n; };
    std::size_t i = 0;
    for (; i + 4 <= places.size(); i += 4) {
      const double *a = from(i), *b = from(i + 1), *c = from(i + 2), *d = from(i + 3);
      const double x = places[i].z, y = places[i + 1].z, z = places[i + 2].z, w = places[i + 3].z;
      for (std::size_t j = 0; j < n; j += 2)
        put_pair_at(pair_at(to + j) + pair_at(a + j) * x + pair_at(b + j) * y + pair_at(c + j) * z +
                        pair_at(d + j) * w,
                    to + j);
    }
    for (; i < places.size(); ++i)
      for (std::size_t j = 0; j < n; j += 2)
        put_pair_at(pair_at(to + j) + pair_at(from(i) + j) * places[i].z, to + j);
  }

  /// S -= share h h'.
  void take_away(const std::vector<double>& h, double share) {
    const std::size_t n = line();
    const double* const from = h.data();
    for (std::size_t i = 0; i < size; ++i) {
      if (from[i] == 0) continue;
      double* const to = covariance.data() + i * n;
      const double part = from[i] * share;
      for (std::size_t j = 0; j < n; j += 2)
        put_pair_at(pair_at(to + j) - pair_at(from + j) * part, to + j);
    }
  }

  std::size_t bytes() const { return (covariance.size() + columns.size() * size) * sizeof(double); }
  double largest_weight() const {
    double most = 0;
    for (const std::vector<double>& column : columns)
      for (const double weight : column) most = std::max(most, std::abs(weight));
    return most;
  }
};

}  // namespace yarrow
