#pragma once
#include <array>
#include <numeric>
#include <span>
#include <type_traits>

#include "loops/loop.hpp"

namespace yarrow {

// How the confidence family keeps the covariance: what a feature adds to the margin, what a step
// (alpha, kappa) does to its mean and variance, and how far a step can carry any mean at most.
// `v` is z'Sigma z. Covariances that change between the visits of a feature are in forgetting.hpp.

/// What is stored counts as it is, until a step changes it.
struct Lasting {
  static constexpr bool ages = false;  ///< keeps a plane with the time of the last visit
  void set(const std::vector<double>& /*loop_parameters*/) {}
  template <class W>
  static double now(const State<W>& /*state*/, int /*column*/) {
    return 0;
  }
  template <class W>
  static void finish_move(State<W>& /*state*/, const Row<W>& /*row*/, int /*column*/) {}
  template <class W>
  static void finish_row(State<W>& /*state*/) {}
  template <class W>
  static void check(const State<W>& /*state*/) {}
};

/// Diagonal of the precision: 1/s grows by kappa*x^2, written so that s can never become 0.
struct Diagonal : Lasting {
  static constexpr bool has_mean = true;
  static auto margin(auto mean, auto /*s*/, auto x) { return x * mean; }
  static auto step(auto s, auto x, double alpha) { return alpha * s * x; }
  static double reach(double alpha, double /*xx*/, double v, double largest) {
    return std::abs(alpha) * std::sqrt(largest * v);  // s*x = sqrt(s) * sqrt(s*x^2)
  }
  static auto variance(auto s, auto x, double kappa, double /*v*/) {
    return s / (1 + kappa * s * x * x);
  }
};

/// Diagonal of the covariance: s - beta*s^2*x^2 with beta = kappa/(1 + kappa*v), written with sums
/// of positive terms only, because the difference would round to 0. The quotient is one for the
/// whole row, since a division takes longer than all the rest.
struct Projected : Diagonal {
  static auto variance(auto s, auto x, double kappa, double v) {
    const double share = 1 / (1 + kappa * v);
    using N = decltype(s);
    const N others = larger(everywhere<N>(0), v - s * x * x);
    return s * smaller(everywhere<N>(1), share + kappa * share * others);
  }
};

/// Diagonal of the precision under a linear map w -> A*w of the weights, where A is diagonal as
/// well: a = 1/(1 + kappa*s*x^2), and s becomes a*s*a (the exact diagonal form of NHERD).
struct Herded : Diagonal {
  static auto variance(auto s, auto x, double kappa, double /*v*/) {
    const auto shrink = 1 + kappa * s * x * x;
    return s / (shrink * shrink);
  }
};

/// Keeps sum(y*x) in place of the mean and whitens when it predicts, with the row itself inside:
/// the second-order Perceptron, whose diagonal form is no common multiple of Sigma*x.
struct Whitened : Diagonal {
  static constexpr bool has_mean = false;
  static auto margin(auto sum, auto s, auto x) { return x * sum * s / (1 + s * x * x); }
  static auto step(auto /*s*/, auto x, double alpha) { return alpha * x; }
  static double reach(double alpha, double xx, double /*v*/, double /*largest*/) {
    return std::abs(alpha) * std::sqrt(xx);
  }
};

/// The confidence loop: mu += alpha*Sigma*z, precision grows by kappa*z*z'. Mean and variance of a
/// feature stand side by side; behind them, if the covariance ages, the time of the last visit, or
/// what else a loop that stands on this one keeps.
template <class W, class Covariance, std::size_t Planes = 2 + Covariance::ages>
class ConfidenceLoop : public GaussianLoop<W, Planes> {
  using Base = GaussianLoop<W, Planes>;
  using Base::intercept_, Base::average_, Base::increase;

 public:
  static constexpr bool has_lone_columns = true;

  void set(const std::vector<double>& loop_parameters) { covariance_.set(loop_parameters); }

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    if (Covariance::has_mean) return Base::score(state, row, out);
    out.resize(state.blocks.columns());
    const std::size_t capacity = state.blocks.capacity();
    const auto margin = [=](const W* cell, double x) {
      return Covariance::margin(*cell, cell[capacity], x);
    };
    Base::sum_tiles(
        state, row, [=](const W* cell, double x, std::size_t) { return margin(cell, x); },
        [=, this](const W* cell, std::size_t) { return margin(cell, intercept_); },
        [&](std::size_t k, double sum) { out.score[k] = sum; });
  }

  /// All that can be asked about one column and nothing beside it, in one walk.
  void assess(const State<W>& state, const Row<W>& row, Scores& out) const {
    assess_column<3>(state, row, out);
  }

  /// What an update needs beyond the scores, for the columns listed.
  void measure(const State<W>& state, const Row<W>& row, std::span<const int> listed,
               Scores& out) const {
    out.xx = squared_norm(row) + intercept_ * intercept_;
    const W* first = state.blocks.first();
    const W* intercept = state.blocks.intercept();
    const std::size_t stride = state.blocks.stride(), capacity = state.blocks.capacity();
    for_tiles(listed.size(), [&](auto tile, std::size_t at) {
      constexpr int width = decltype(tile)::value;
      const int* columns = listed.data() + at;
      std::array<double, width> now;
      for (int k = 0; k < width; ++k) now[k] = covariance_.now(state, columns[k]);
      const auto add = [&](const W* cells, double x, double* sums) {
        const double x2 = x * x;
        for (int k = 0; k < width; ++k)
          sums[k] += x2 * variance_at(cells + columns[k], capacity, now[k]);
      };
      auto sums = lane_sums<width>(row.size, [&](std::size_t i, double* lane) {
        add(first + row.index[i] * stride, row.value[i], lane);
      });
      add(intercept, intercept_, sums.data());
      for (int k = 0; k < width; ++k) out.variance[columns[k]] = sums[k];
    });
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores,
             std::span<Move> moves) const {
    admit_all(state, moves, [&](const Move& m, Bound& weights, Bound& sums) {
      Base::admit(state, m, reach(state, scores, m), weights, sums);
    });
    const Blocks<W>& blocks = state.blocks;
    if (blocks.capacity() != 1)
      return walk(state, row, moves, blocks.stride(), std::size_t(blocks.capacity()));
    average_ ? walk(state, row, moves, Known<planes_ + 1>{}, SideBySide{})
             : walk(state, row, moves, Known<planes_>{}, SideBySide{});
  }

  void finish_row(State<W>& state) const { covariance_.finish_row(state); }
  void check(const State<W>& state) const { covariance_.check(state); }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    if (Covariance::has_mean) return Base::weight(state, slot, column);
    const W* cell = state.blocks.cell(slot, column);
    return cell[0] * static_cast<double>(cell[state.blocks.capacity()]);
  }

  /// Weights as the row makes them anew.
  Parts explain(const State<W>& state, const Row<W>& row, int column) const
    requires(!Covariance::has_mean)
  {
    return parts_of(row, intercept_, [&](std::size_t slot, double x) {
      const W* cell = state.blocks.cell(slot, column);
      return Covariance::margin(double{cell[0]}, double{cell[state.blocks.capacity()]}, x);
    });
  }

  double variance(const State<W>& state, std::size_t slot, int column) const {
    const W* cell = state.blocks.cell(slot, column);
    return variance_at(cell, state.blocks.capacity(), covariance_.now(state, column));
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    if (state.blocks.capacity() == 1) {
      assess_column<2>(state, row, out);
    } else {
      std::vector<int> all(state.blocks.columns());
      std::iota(all.begin(), all.end(), 0);
      score(state, row, out);
      measure(state, row, all, out);
    }
    Base::use_average(state, row, out);
  }

 protected:
  /// One column: its score and variance, and as a third sum the row's squared norm.
  template <int Sums>
  void assess_column(const State<W>& state, const Row<W>& row, Scores& out) const {
    out.resize(1);
    average_ ? assess_column<Sums, planes_ + 1>(state, row, out)
             : assess_column<Sums, planes_>(state, row, out);
  }

  template <int Sums, std::size_t Stride>
  void assess_column(const State<W>& state, const Row<W>& row, Scores& out) const {
    const W* first = state.blocks.first();
    const double now = covariance_.now(state, 0);
    const auto found = pair_sums<Sums>(row, [=, this](auto at, auto* sums) {
      const auto cells = at.template planes<planes_>(first, Stride, SideBySide{});
      const auto x = at.values(), s = variances(cells, now);
      sums[0] += Covariance::margin(cells[0], s, x);
      sums[1] += x * x * s;
      if constexpr (Sums == 3) sums[2] += x * x;
    });
    const W* intercept = state.blocks.intercept();
    const double mean = intercept[0], s = variance_at(intercept, 1, now);
    out.score[0] = found[0] + Covariance::margin(mean, s, intercept_);
    out.variance[0] = found[1] + intercept_ * intercept_ * s;
    if constexpr (Sums == 3) out.xx = found[2] + intercept_ * intercept_;
  }

  /// The variances among what some places keep, as they count now.
  auto variances(const auto& cells, double now) const {
    if constexpr (Covariance::ages)
      return covariance_.settled(cells[1], cells[2], now);
    else
      return cells[1];
  }

  /// The variance of one feature, as it counts now.
  double variance_at(const W* cell, std::size_t capacity, double now) const {
    if constexpr (Covariance::ages)
      return covariance_.settled(double{cell[capacity]}, double{cell[2 * capacity]}, now);
    else
      return cell[capacity];
  }

  void walk(State<W>& state, const Row<W>& row, std::span<const Move> moves, auto stride,
            auto capacity) const {
    for (const Move& m : moves) {
      const double alpha = m.add, kappa = m.other, v = m.v, t = state.t;
      const double now = covariance_.now(state, m.column);
      W* first = state.blocks.first() + m.column;
      W* intercept = state.blocks.intercept() + m.column;
      const double s = variance_at(intercept, capacity, now);
      if (average_) {
        const std::size_t sums = planes_ * capacity;
        for_twos(row, [=, this](auto at) {
          const auto s = variances(at.template planes<planes_>(first, stride, capacity), now);
          const auto step = Covariance::step(s, at.values(), alpha);
          at.set_cells(first + sums, stride, at.cells(first + sums, stride) + t * step);
        });
        increase(intercept[sums], t * Covariance::step(s, intercept_, alpha));
      }
      for_twos(row, [=, this](auto at) {
        auto cells = at.template planes<planes_>(first, stride, capacity);
        const auto x = at.values(), s = variances(cells, now);
        cells[0] += Covariance::step(s, x, alpha);
        cells[1] = narrowed(s, x, kappa, v);
        if constexpr (Covariance::ages) cells[2] = now + 0 * x;
        at.set_planes(first, stride, capacity, cells);
      });
      increase(intercept[0], Covariance::step(s, intercept_, alpha));
      intercept[capacity] = static_cast<W>(narrowed(s, intercept_, kappa, v));
      if constexpr (Covariance::ages) intercept[2 * capacity] = static_cast<W>(now);
      covariance_.finish_move(state, row, m.column);
    }
  }

  auto narrowed(auto s, auto x, double kappa, double v) const {
    return larger(covariance_.variance(s, x, kappa, v),
                  everywhere<decltype(s)>(Base::smallest_variance));
  }

  /// How far a move can carry any mean.
  static double reach(const State<W>& state, const Scores& scores, const Move& m) {
    return Covariance::reach(m.add, scores.xx, m.v, state.blocks.planes()[1].initial);
  }

  static constexpr std::size_t planes_ = Planes;  ///< without the averaging one

  [[no_unique_address]] Covariance covariance_;
};

}  // namespace yarrow
