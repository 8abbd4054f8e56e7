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
  double length = 0;  ///< 1/root of the number of values and pairs: what shares are multiplied by

  /// Of a learner with so many features.
  void bend(const Row<W>& row, std::size_t features) {
    const std::size_t n = row.size;
    const bool paired = n > 0 && features <= Bends<W>::most_paired;
    const std::size_t pairs = paired ? n * (n - 1) / 2 : 0;
    size_ = (n + 2 * pairs + 3) / 4 * 4;
    pieces_.resize(size_);
    below_.resize(size_);
    above_.resize(size_);
    for (std::size_t i = 0; i < n; i += width) {
      const Places places(lanes_at<width>(row.value + i));
      for (std::size_t k = 0; k < width; ++k)
        pieces_[i + k] = firsts[row.index[i + k]] + static_cast<Index>(places.knots[k]);
      put_lanes<width>(1 - places.above, below_.data() + i);
      put_lanes<width>(places.above, above_.data() + i);
    }
    std::size_t at = n;
    for (std::size_t i = 0; paired && i < n; ++i)
      for (std::size_t j = 0; j < i; ++j, at += 2) {
        const std::size_t earlier = row.index[i] < row.index[j] ? i : j;
        put_pair(at, row, earlier, i + j - earlier);
      }
    for (; at < size_; ++at) put(at, Bends<W>::nobody, 0, 0);
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
    for_neighbours(column, [&](const auto& at, std::size_t place, Lanes<W> share) {
      const auto [weight, precision, hits, visits] = Quads<W>::at(at, place);
      const Lanes<W> none{}, said = log_odds<W>(hits, visits, smoothing) + lean;
      add(share * weight, product);
      add(share * share / (1 + precision), variance);
      add(share * (visits > 0 ? said : none), evidence);
    });
    return {product[0] + product[1], variance[0] + variance[1], evidence[0] + evidence[1]};
  }

  /// AROW's step on a column, w += step*x/P and P += gain*x^2; and the visit is counted, as many
  /// times as the row weighs.
  void learn(W* column, W step, W gain, W times, bool is_hit) const {
    const W scale = static_cast<W>(length), times_hit = is_hit ? times : 0;
    const Lanes<W> limit = Lanes<W>{} + static_cast<W>(most_precision);
    for_neighbours(column, [=](const auto& at, std::size_t place, Lanes<W> share) {
      Quads<W> piece = Quads<W>::at(at, place);
      auto& [weight, precision, hits, visits] = piece;
      const Lanes<W> x = share * scale;
      weight += step * x / (1 + precision);
      precision = smaller(precision + gain * (x * x), limit);
      hits += times_hit * share;
      visits += times * share;
      piece.put(at, place);
    });
  }

 private:
  static constexpr std::size_t width = lanes_of<W>;
  static constexpr Index knots = Bends<W>::knots;

  /// The first pieces of features.
  static constexpr auto firsts = [] {
    std::array<Index, FewFeatures<W>::most> firsts{};
    for (Index number = 0; number < Index{FewFeatures<W>::most}; ++number)
      firsts[number] = Bends<W>::of_feature(number);
    return firsts;
  }();

  /// Of some values the knots below, and the shares of those above.
  struct Places {
    LaneBits<W> knots;
    Lanes<W> above;

    [[gnu::always_inline]] explicit Places(Lanes<W> values) {
      constexpr W per_deviation = (Bends<W>::knots - 1) / (2 * ColumnStatistics::most);
      const Lanes<W> places = (values + W{ColumnStatistics::most}) * per_deviation;
      const Lanes<W> last = Lanes<W>{} + (Bends<W>::knots - 2);
      knots = __builtin_convertvector(smaller(places, last), LaneBits<W>);
      above = places - __builtin_convertvector(knots, Lanes<W>);
    }
  };

  void put(std::size_t at, Index piece, W below, W above) {
    pieces_[at] = piece;
    below_[at] = below;
    above_[at] = above;
  }

  /// The four knots around two values, of which `one` is that of the earlier feature.
  void put_pair(std::size_t at, const Row<W>& row, std::size_t one, std::size_t other) {
    const Places places(Lanes<W>{row.value[one], row.value[other]});
    const W above = places.above[0], other_above = places.above[1];
    const Index first = Bends<W>::of_pair(row.index[one], row.index[other]) +
                        knots * static_cast<Index>(places.knots[0]) +
                        static_cast<Index>(places.knots[1]);
    put(at, first, (1 - above) * (1 - other_above), (1 - above) * other_above);
    put(at + 1, first + knots, above * (1 - other_above), above * other_above);
  }

  /// Calls f with pieces of a column, as many as a register has lanes, and their shares: those
  /// below some values, then their neighbours above.
  template <class Numbers, class F>
  [[gnu::always_inline]] void for_neighbours(Numbers* column, F f) const {
    for (std::size_t i = 0; i < size_; i += width) {
      const auto at = blocks_at<W>(column, Bends<W>::numbers, pieces_.data() + i);
      f(at, 0, lanes_at<width>(below_.data() + i));
      f(at, Bends<W>::numbers, lanes_at<width>(above_.data() + i));
    }
  }

  Buffer<Index> pieces_;     ///< those below the values; the neighbours above stand behind them
  Buffer<W> below_, above_;  ///< shares
  std::size_t size_ = 0;     ///< of all these: fours
};

}  // namespace yarrow
