#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "expert_steps.hpp"
#include "few_features.hpp"
#include "naive_bayes.hpp"
#include "standardized.hpp"

// A row of few features as shares of knots (bends.hpp): AROW on these learns any sum of curves, and
// of surfaces over two features where there are at most four; naive Bayes counts by knots.

namespace yarrow {

template <class W>
struct BentRow {
  Buffer<Index> pieces;
  Buffer<W> shares;
  double length = 0;  ///< 1/root of the number of values and pairs: what shares are multiplied by

  /// Of a learner with so many features.
  void bend(const std::vector<FewValue<W>>& values, std::size_t features) {
    places_.clear();
    for (const auto& [number, value] : values) places_.push_back(place_of(number, value));
    const bool paired = features <= Bends<W>::most_paired;
    const std::size_t n = places_.size(), pairs = paired && n > 0 ? n * (n - 1) / 2 : 0;
    pieces.resize((2 * n + 4 * pairs + 3) / 4 * 4);
    shares.resize(pieces.size());
    std::size_t at = 0;
    for (const Place& place : places_) {
      put(at++, place.first, 1 - place.share);
      put(at++, place.first + 1, place.share);
    }
    for (std::size_t i = 0; pairs > 0 && i < n; ++i)
      for (std::size_t j = 0; j < i; ++j, at += 4)
        put_pair(at, places_[places_[i].number < places_[j].number ? i : j],
                 places_[places_[i].number < places_[j].number ? j : i]);
    while (at < pieces.size()) put(at++, Bends<W>::nobody, 0);
    const auto all = static_cast<double>(n + pairs);
    length = n > 0 ? 1 / std::sqrt(all) : 0;
  }

  /// A column's sums over the row: share*weight, share^2/P, and share times evidence; `lean` is
  /// what a visit says whatever the feature.
  struct Sums {
    double product = 0, variance = 0, evidence = 0;
  };
  Sums sums(const W* column, W smoothing, W lean) const {
    Pair product{}, variance{}, evidence{};
    const auto add = [](Lanes<W> numbers, Pair& to) {
      for (const Pair both : in_double(numbers)) to += both;
    };
    for (std::size_t i = 0; i < pieces.size(); i += width) {
      const auto [weight, precision, hits, visits] = Quads<W>::at(pieces_at(column, i));
      const Lanes<W> share = lanes_at<width>(shares.data() + i), none{};
      add(share * weight, product);
      add(share * share / (1 + precision), variance);
      const Lanes<W> said = log_odds<W>(hits, visits, smoothing) + lean;
      add(share * (visits > 0 ? said : none), evidence);
    }
    return {product[0] + product[1], variance[0] + variance[1], evidence[0] + evidence[1]};
  }

  /// AROW's step on a column, w += step*x/P and P += gain*x^2; and the visit is counted, as many
  /// times as the row weighs.
  void learn(W* column, W step, W gain, W times, bool is_hit) const {
    const W scale = static_cast<W>(length), times_hit = is_hit ? times : 0;
    const Lanes<W> limit = Lanes<W>{} + static_cast<W>(most_precision);
    for (std::size_t i = 0; i < pieces.size(); i += width) {
      const auto at = pieces_at(column, i);
      Quads<W> piece = Quads<W>::at(at);
      auto& [weight, precision, hits, visits] = piece;
      const Lanes<W> share = lanes_at<width>(shares.data() + i), x = share * scale;
      weight += step * x / (1 + precision);
      precision = smaller(precision + gain * (x * x), limit);
      hits += times_hit * share;
      visits += times * share;
      piece.put(at);
    }
  }

 private:
  static constexpr std::size_t width = lanes_of<W>;
  static constexpr std::size_t knots = Bends<W>::knots;

  /// Where a value stands.
  struct Place {
    std::size_t number, knot, first;  ///< of its feature; below the value; its piece
    W share;                          ///< of the knot above
  };
  static Place place_of(std::size_t number, W value) {
    constexpr W per_deviation = (knots - 1) / (2 * ColumnStatistics::most);
    const W place = (value + W{ColumnStatistics::most}) * per_deviation;
    const auto knot = std::min(static_cast<std::size_t>(std::max(place, W{0})), knots - 2);
    return {number, knot, Bends<W>::of_feature(number) + knot, place - static_cast<W>(knot)};
  }

  void put(std::size_t at, std::size_t piece, W share) {
    pieces[at] = static_cast<Index>(piece);
    shares[at] = share;
  }

  /// The four knots around two values, `one` being that of the earlier feature.
  void put_pair(std::size_t at, const Place& one, const Place& other) {
    const std::size_t first =
        Bends<W>::of_pair(one.number, other.number) + knots * one.knot + other.knot;
    put(at, first, (1 - one.share) * (1 - other.share));
    put(at + 1, first + 1, (1 - one.share) * other.share);
    put(at + 2, first + knots, one.share * (1 - other.share));
    put(at + 3, first + knots + 1, one.share * other.share);
  }

  template <class Numbers>
  std::array<Numbers*, width> pieces_at(Numbers* column, std::size_t i) const {
    return blocks_at<W>(column, Bends<W>::numbers, pieces.data() + i);
  }

  std::vector<Place> places_;
};

}  // namespace yarrow
