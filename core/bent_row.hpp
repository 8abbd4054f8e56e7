#pragma once
#include <algorithm>
#include <cmath>

#include "bends.hpp"
#include "expert_steps.hpp"
#include "naive_bayes.hpp"
#include "standardized.hpp"

// A row of few features as shares of knots (bends.hpp): AROW on these learns any sum of curves, and
// of surfaces over two features where there are at most four; naive Bayes counts by knots.

namespace yarrow {

template <class W>
struct BentRow {
  Buffer<Index> pieces;
  Buffer<W> shares;
  double to_predict = 0, to_learn = 0;  ///< 1/root of the number of values and pairs

  void bend(const Row<W>& row, const StandardizedRow<W>& standardized, std::size_t features) {
    const bool paired = Bends<W>::are_paired(features);
    const std::size_t n = row.size, pairs = paired ? n * (n - 1) / 2 : 0;
    pieces.resize(2 * n + 4 * pairs);
    shares.resize(2 * n + 4 * pairs);
    for (std::size_t i = 0; i < n; ++i) {
      const auto [knot, share] = knot_below(standardized.values[i]);
      put(2 * i, Bends<W>::of_feature(row.index[i]) + knot, 1 - share);
      put(2 * i + 1, Bends<W>::of_feature(row.index[i]) + knot + 1, share);
    }
    std::size_t at = 2 * n;
    if (paired)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j, at += 4) put_pair(at, row, standardized, i, j);
    for (; at % 4 != 0; ++at) {
      pieces.push_back(Bends<W>::nobody);
      shares.push_back(0);
    }
    to_predict = scale(standardized.known, paired);
    to_learn = scale(static_cast<double>(n), paired);
  }

  /// A column's sums over the row: share*weight, share^2/P, and share times evidence; `lean` is
  /// what a visit says whatever the feature.
  struct Sums {
    double product = 0, variance = 0, evidence = 0;
  };
  Sums sums(const W* column, W smoothing, W lean) const {
    Lanes<W> product{}, variance{}, evidence{};
    for (std::size_t i = 0; i < pieces.size(); i += width) {
      const auto [weight, precision, hits, visits] = Quads<W>::at(pieces_at(column, i));
      const Lanes<W> share = lanes_at<width>(shares.data() + i), none{};
      product += share * weight;
      variance += share * share / (1 + precision);
      const Lanes<W> said = log_odds<W>(hits, visits, smoothing) + lean;
      evidence += share * (visits > 0 ? said : none);
    }
    Sums sums;
    for (std::size_t k = 0; k < width; ++k) {
      sums.product += static_cast<double>(product[k]);
      sums.variance += static_cast<double>(variance[k]);
      sums.evidence += static_cast<double>(evidence[k]);
    }
    return sums;
  }

  /// AROW's step on a column, w += step*x/P and P += gain*x^2; and the visit is counted.
  void learn(W* column, W step, W gain, bool is_hit) const {
    const W length = static_cast<W>(to_learn), hit = is_hit;
    const Lanes<W> limit = Lanes<W>{} + static_cast<W>(most_precision);
    for (std::size_t i = 0; i < pieces.size(); i += width) {
      const auto at = pieces_at(column, i);
      Quads<W> piece = Quads<W>::at(at);
      auto& [weight, precision, hits, visits] = piece;
      const Lanes<W> share = lanes_at<width>(shares.data() + i), x = share * length;
      weight += step * x / (1 + precision);
      precision = smaller(precision + gain * (x * x), limit);
      hits += hit * share;
      visits += share;
      piece.put(at);
    }
  }

 private:
  static constexpr std::size_t width = lanes_of<W>;
  static constexpr std::size_t knots = Bends<W>::knots;

  struct Knot {
    std::size_t number;
    W share;  ///< of the next one
  };
  static Knot knot_below(W value) {
    constexpr W per_deviation = (knots - 1) / (2 * ColumnStatistics::most);
    const W place = (value + W{ColumnStatistics::most}) * per_deviation;
    const auto number = std::min(static_cast<std::size_t>(std::max(place, W{0})), knots - 2);
    return {number, place - static_cast<W>(number)};
  }

  void put(std::size_t at, std::size_t piece, W share) {
    pieces[at] = static_cast<Index>(piece);
    shares[at] = share;
  }

  /// The four knots around two values.
  void put_pair(std::size_t at, const Row<W>& row, const StandardizedRow<W>& standardized,
                std::size_t i, std::size_t j) {
    if (row.index[i] < row.index[j]) std::swap(i, j);
    const auto [knot, share] = knot_below(standardized.values[j]);
    const auto [other, other_share] = knot_below(standardized.values[i]);
    const std::size_t first = Bends<W>::of_pair(row.index[j], row.index[i]) + knots * knot + other;
    put(at, first, (1 - share) * (1 - other_share));
    put(at + 1, first + 1, (1 - share) * other_share);
    put(at + 2, first + knots, share * (1 - other_share));
    put(at + 3, first + knots + 1, share * other_share);
  }

  static double scale(double values, bool paired) {
    const double all = values + (paired ? values * (values - 1) / 2 : 0);
    return all > 0 ? 1 / std::sqrt(all) : 0;
  }

  template <class Numbers>
  std::array<Numbers*, width> pieces_at(Numbers* column, std::size_t i) const {
    return blocks_at<W>(column, Bends<W>::numbers, pieces.data() + i);
  }
};

}  // namespace yarrow
