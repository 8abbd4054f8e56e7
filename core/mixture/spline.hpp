#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "mixture/experts.hpp"
#include "mixture/naive_bayes.hpp"
#include "simd/dispatch.hpp"

// Few features as shares of knots: AROW on these learns any sum of curves, and of surfaces over two
// features where there are at most four; naive Bayes counts by knots.

namespace yarrow {

/// What a learner keeps of few features (few_features.hpp) to follow more than straight lines. The
/// range of a standardised feature, -2 to 2, has 7 knots, and a value belongs to the two beside it,
/// by share; two features together have 49 knots, and two values belong to four. Each knot
/// is a piece with a weight and a confidence of its own, and counts its visits: what stands here.
/// Three pieces come before all: the intercept's, and two of nobody, which fill up registers.
template <class W>
struct Spline : PieceLayout {
  static constexpr Index knots = 7, most_with_surfaces = 4;
  static constexpr std::size_t most_features = 128;

  std::vector<std::vector<W>> columns;  ///< by column of the learner

  static constexpr Index nobody = 1;
  static constexpr Index of_feature(Index number) {
    const Index before = std::min(number, most_with_surfaces);
    return 3 + knots * number + knots * knots * (before * (before - 1) / 2);
  }
  /// Of two features, of which `one` has the smaller number; only the first few have such pieces.
  static Index of_surface(Index one, Index other) {
    return of_feature(other) + knots + knots * knots * one;
  }
  /// The intercept's numbers.
  const W* intercept_of(std::size_t column) const { return columns[column].data(); }

  void start() { columns.assign(1, std::vector<W>(size(0))); }
  void make_room(std::size_t features) {
    for (std::vector<W>& column : columns)
      if (column.size() < size(features)) column.resize(size(features));
  }
  /// Of a column.
  static std::size_t size(std::size_t features) {
    return numbers * static_cast<std::size_t>(of_feature(static_cast<Index>(features)));
  }
  void free() {
    for (std::vector<W>& column : columns) column = {};
  }

  void add_column(int from, bool mirrored) {
    columns.push_back(columns[from < 0 ? 0 : from]);
    std::vector<W>& added = columns.back();
    if (from < 0) std::fill(added.begin(), added.end(), W{0});
    if (!mirrored) return;
    for (std::size_t i = 0; i < added.size(); i += numbers) {
      added[i + weight] = 0 - added[i + weight];  // 0 stays 0, and does not become -0
      added[i + hits] = added[i + visits] - added[i + hits];
    }
  }

  void halve_counts() {
    for (std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers) {
        column[i + hits] /= 2;
        column[i + visits] /= 2;
      }
  }

  std::size_t bytes() const {
    std::size_t cells = 0;
    for (const std::vector<W>& column : columns) cells += column.size();
    return cells * sizeof(W);
  }
  /// A precision or a count that cannot be.
  bool has_negative() const {
    for (const std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers)
        for (const Number number : {precision, hits, visits})
          if (column[i + number] < 0) return true;
    return false;
  }
  double largest_weight() const {
    W most = 0;
    for (const std::vector<W>& column : columns)
      for (std::size_t i = 0; i < column.size(); i += numbers)
        most = std::max(most, std::max(column[i + weight], -column[i + weight]));
    return most;
  }
};

/// A row of few features as shares of knots.
template <class W>
struct SplineRow {
  double length =
      0;  ///< 1/root of the number of values and surfaces: what shares are multiplied by

  void place(const Row<W>& row, bool with_surfaces) {
    const std::size_t n = row.size;
    const bool has_surfaces = n > 0 && with_surfaces;
    const std::size_t surfaces = has_surfaces ? n * (n - 1) / 2 : 0;
    values_ = n;
    filled_ = n + 2 * surfaces;
    size_ = (filled_ + at_once - 1) / at_once * at_once;
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
    for (std::size_t i = 0; has_surfaces && i < n; ++i)
      for (std::size_t j = 0; j < i; ++j, at += 2) {
        const std::size_t earlier = row.index[i] < row.index[j] ? i : j;
        put_surface(at, row, earlier, i + j - earlier);
      }
    for (; at < size_; ++at) put(at, Spline<W>::nobody, 0, 0);
    const auto all = static_cast<double>(n + surfaces);
    length = n > 0 ? 1 / std::sqrt(all) : 0;
  }

  SplineSums sums(const W* column, W smoothing, W class_bias) const {
    return with_kernels<W>(
        [&](auto kernels) { return kernels.sum_spline(places(), column, smoothing, class_bias); });
  }

  /// What each value adds to these sums; two share alike what their surface adds.
  std::vector<SplineSums> parts(const W* column, double smoothing, double class_bias) const {
    std::vector<SplineSums> parts(values_);
    const auto add = [&](std::size_t at, double part, SplineSums& to) {
      const W* piece = column + Spline<W>::numbers * static_cast<std::size_t>(pieces_[at]);
      for (const double share : {part * below_[at], part * above_[at]}) {
        to.product += share * piece[Spline<W>::weight];
        if (const double visits = piece[Spline<W>::visits]; visits > 0)
          to.evidence += share * (log_odds(piece[Spline<W>::hits], visits, smoothing) + class_bias);
        piece += Spline<W>::numbers;
      }
    };
    for (std::size_t i = 0; i < values_; ++i) add(i, 1, parts[i]);
    std::size_t at = values_;
    for (std::size_t i = 0; at < filled_; ++i)
      for (std::size_t j = 0; j < i; ++j)
        for (const std::size_t end = at + 2; at < end; ++at)
          for (const std::size_t one : {i, j}) add(at, 0.5, parts[one]);
    return parts;
  }

  /// AROW's step on a column; and the visit is counted, as many times as the row weighs.
  void learn(W* column, W step, W gain, W times, bool is_hit) const {
    const W hits = is_hit ? times : 0;
    if (step == 0 && gain == 0) return count(column, times, hits);
    const SplineStep<W> all = {static_cast<W>(length), step, gain, times, hits};
    with_kernels<W>([&](auto kernels) { kernels.learn_spline(places(), column, all); });
  }

 private:
  /// All that a column at rest does.
  void count(W* column, W visits, W hits) const {
    const Lanes<W> counts = {hits, visits};  // beside each other in a piece
    for (std::size_t i = 0; i < filled_; ++i) {
      W* to = column + Spline<W>::numbers * static_cast<std::size_t>(pieces_[i]) + Spline<W>::hits;
      for (const W share : {below_[i], above_[i]}) {
        put_lanes<2>(lanes_at<2>(to) + counts * share, to);
        to += Spline<W>::numbers;
      }
    }
  }

  static constexpr std::size_t width = lanes_of<W>, at_once = SplinePlaces<W>::at_once;
  static constexpr Index knots = Spline<W>::knots;

  /// The first pieces of features.
  static constexpr auto firsts = [] {
    std::array<Index, Spline<W>::most_features> firsts{};
    for (Index number = 0; number < Index{Spline<W>::most_features}; ++number)
      firsts[number] = Spline<W>::of_feature(number);
    return firsts;
  }();

  /// Of some values the knots below, and the shares of those above.
  struct Places {
    LaneBits<W> knots;
    Lanes<W> above;

    [[gnu::always_inline]] explicit Places(Lanes<W> values) {
      constexpr W per_deviation = (Spline<W>::knots - 1) / (2 * most_deviations);
      const Lanes<W> places = (values + W{most_deviations}) * per_deviation;
      const Lanes<W> last = Lanes<W>{} + (Spline<W>::knots - 2);
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
  void put_surface(std::size_t at, const Row<W>& row, std::size_t one, std::size_t other) {
    const Places places(Lanes<W>{row.value[one], row.value[other]});
    const W above = places.above[0], other_above = places.above[1];
    const Index first = Spline<W>::of_surface(row.index[one], row.index[other]) +
                        knots * static_cast<Index>(places.knots[0]) +
                        static_cast<Index>(places.knots[1]);
    put(at, first, (1 - above) * (1 - other_above), (1 - above) * other_above);
    put(at + 1, first + knots, above * (1 - other_above), above * other_above);
  }

  SplinePlaces<W> places() const { return {pieces_.data(), below_.data(), above_.data(), size_}; }

  Buffer<Index> pieces_;  ///< as SplinePlaces has them
  Buffer<W> below_, above_;
  std::size_t values_ = 0;             ///< these come first, then their surfaces
  std::size_t filled_ = 0, size_ = 0;  ///< what the row fills, and all with what fills up the rest
};

/// How AROW learns on splines, and how naive Bayes counts their pieces.
template <class W>
class SplineExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const Evaluator<W>& evaluator, const ForwardPass<W>& pass, Outputs outputs, int c,
                double weight) {
    if (!pass.has_spline) return 0;
    const Experts& experts = evaluator.experts;
    const std::size_t n = evaluator.state.blocks.columns();
    step_.resize(n);
    gain_.resize(n);
    double growth = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const W* intercept = evaluator.own.few.spline.intercept_of(k);
      const double sign = outputs.sign(static_cast<int>(k), c);
      const double margin = sign * evaluator.spline_score(pass, k);
      const double v = pass.spline_sums[k].variance * square(pass.pieces.length) +
                       square(experts.intercept) / (1.0 + intercept[Spline<W>::precision]);
      const auto [alpha, kappa] =
          Experts::arow_step<W>(margin, v, weight, evaluator.own.rates.spline_r);
      step_[k] = static_cast<W>(sign * alpha);
      gain_[k] = static_cast<W>(std::min(kappa, most_precision));
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    return growth;
  }

  void move(State<W>& state, const Experts& experts, const ForwardPass<W>& pass, Outputs outputs,
            int c, W times) const {
    for (int k = 0; k < state.blocks.columns(); ++k) {
      W* const column = MixtureState<W>::of(state).few.spline.columns[k].data();
      pass.pieces.learn(column, step_[k], gain_[k], times, outputs.sign(k, c) > 0);
      W& precision = column[Spline<W>::precision];  // the intercept's
      const W x = static_cast<W>(experts.intercept);
      column[Spline<W>::weight] += step_[k] * x / (1 + precision);
      precision = std::min(precision + gain_[k] * x * x, static_cast<W>(most_precision));
    }
  }

 private:
  std::vector<W> step_, gain_;  ///< by column: alpha with the sign of the class, kappa
};

}  // namespace yarrow
