#pragma once
#include <algorithm>
#include <span>
#include <type_traits>

#include "rule.hpp"
#include "rules/gradient.hpp"
#include "state.hpp"

namespace yarrow {

/// Towards zero by `by` (>= 0), and no further. Without a branch: which weights are zero is what
/// nobody can predict.
template <class N>
inline N soft_threshold(N w, N by) {
  return w - smaller(larger(w, -by), by);
}

// How the proximal family pulls weights towards zero. A pull is made once a row from the clock of
// the model; it tells what weight a stored number stands for, and what to store before a step.

/// SG-L1 / FOBOS (Duchi & Singer 2009): after the gradient step of row t,
///   w <- argmin 1/2 |w - w_half|^2 + eta_t*l1*|w|_1,   eta_t = eta0 / t^power.
/// A feature pays all the penalties since its last visit at once: w <- soft(w, total - paid). Both
/// are rounded to W, and what rounding leaves out is charged with the next visit, so that errors do
/// not add up.
struct SoftPull {
  static constexpr bool pays = true;
  double total, penalty, rate, l1;

  template <class W>
  SoftPull(const State<W>& state, const std::vector<double>& p)
      : total(static_cast<W>(state.penalty)),
        penalty(state.penalty),
        rate(learning_rate(p[1], p[2], state.t + 1)),
        l1(p[0]) {}

  template <class N>
  N weight(N stored, N paid) const {
    return soft_threshold(stored, total - paid);
  }
  template <class N>
  N settled(N stored, N paid) const {
    return weight(stored, paid);
  }
  double free_weight(double stored) const { return stored; }  ///< the intercept is not pulled
  double penalty_after() const { return penalty + rate * l1; }
};

/// Regularised dual averaging with L1 (Xiao 2010): stored is the sum g of all negative gradients,
///   w <- argmin -g.w/n + l1*|w|_1 + gamma/(2 sqrt(n)) |w|^2 = soft(g, l1*n) / (gamma*sqrt(n))
/// after n rows; nothing is owed, because the weight is made anew at each visit.
struct DualPull {
  static constexpr bool pays = false;
  double threshold, factor;

  template <class W>
  DualPull(const State<W>& state, const std::vector<double>& p)
      : threshold(p[0] * state.t), factor(state.t == 0 ? 0 : 1 / (p[1] * std::sqrt(state.t))) {}

  template <class N>
  N weight(N stored, N /*paid*/) const {
    return factor * soft_threshold(stored, threshold + 0 * stored);
  }
  template <class N>
  N settled(N stored, N /*paid*/) const {
    return stored;
  }
  double free_weight(double stored) const { return factor * stored; }
  double penalty_after() const { return 0; }
};

/// The proximal loop: a gradient step on the row's features, then the pull, paid lazily.
template <class W, class Pull>
class ProximalLoop {
 public:
  using Weight = W;
  static constexpr bool pays = Pull::pays, calibrated = false, shrinks = false;

  static std::vector<Plane> planes(bool /*average*/, double /*initial_variance*/) {
    std::vector<Plane> planes = {{0, true}};
    if (Pull::pays) planes.push_back({0, false});  // the penalty paid up to the last visit
    return planes;
  }

  void set(const std::vector<double>& loop_parameters, double intercept, bool /*average*/) {
    parameters_ = loop_parameters;
    intercept_ = static_cast<W>(intercept);  // rounded like any other value
  }

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    const std::size_t columns = state.blocks.columns();
    out.resize(columns);
    for_tiles(columns, [&](auto tile, std::size_t at) {
      score_tile<decltype(tile)::value>(state, row, at, state.blocks.stride(), out);
    });
  }

  /// All that can be asked about one column and nothing beside it, in one walk.
  void assess(const State<W>& state, const Row<W>& row, Scores& out) const {
    out.resize(1);
    const W* first = state.blocks.first();
    const Pull pull(state, parameters_);
    const auto [wx, xx] = pair_sums<2>(row, [=](auto at, auto* sums) {
      const auto x = at.values(), stored = at.cells(first, 1 + Pull::pays);
      sums[0] += x * pull.weight(stored, paid_at(at, first, 1 + Pull::pays, One{}));
      sums[1] += x * x;
    });
    const double intercept = state.blocks.intercept()[0];
    out.score[0] = wx + intercept_ * pull.free_weight(intercept);
    out.xx = xx + intercept_ * intercept_;
  }

  /// What an update needs beyond the scores, for the columns listed.
  void measure(const State<W>&, const Row<W>& row, std::span<const int>, Scores& out) const {
    out.xx = squared_norm(row) + intercept_ * intercept_;
  }

  static Move move(int column, double sign, double part, const double* step, double v) {
    return {column, part * sign * step[0], 0, v};
  }
  static bool is_still(const double* step) { return step[0] == 0; }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores,
             std::span<Move> moves) const {
    Bound weights = state.weights;  // kept only if every move is admitted
    for (const Move& m : moves)
      weights.admit<W>(std::abs(m.add) * std::sqrt(scores.xx), [&] { return state.largest(0); });
    state.weights = weights;
    const std::size_t capacity = state.blocks.capacity();
    if (capacity == 1)  // distances that the compiler knows cost nothing to multiply by
      walk(state, row, moves, One{}, std::integral_constant<std::size_t, 1 + Pull::pays>{});
    else
      walk(state, row, moves, capacity, state.blocks.stride());
  }

  void finish_row(State<W>& state) const {
    if constexpr (Pull::pays) state.penalty = Pull(state, parameters_).penalty_after();
  }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    const W* cell = state.blocks.data() + slot * state.blocks.stride() + column;
    const Pull pull(state, parameters_);
    if (slot == 0) return pull.free_weight(*cell);
    return pull.weight(double{*cell}, Pull::pays ? double{cell[state.blocks.capacity()]} : 0);
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    score(state, row, out);
  }

  double intercept() const { return intercept_; }

 private:
  template <int Width>
  void score_tile(const State<W>& state, const Row<W>& row, std::size_t at, auto stride,
                  Scores& out) const {
    const W* first = state.blocks.first() + at;
    const W* intercept = state.blocks.intercept() + at;
    const std::size_t capacity = state.blocks.capacity();
    const Pull pull(state, parameters_);
    const auto wx = lane_sums<Width>(row.size, [&](std::size_t i, double* sums) {
      const double x = row.value[i];
      const W* cells = first + row.index[i] * stride;
      for (int k = 0; k < Width; ++k)
        sums[k] += x * pull.weight(double{cells[k]}, Pull::pays ? double{cells[capacity + k]} : 0);
    });
    for (int k = 0; k < Width; ++k)
      out.score[at + k] = wx[k] + intercept_ * pull.free_weight(intercept[k]);
  }

  /// What has been paid at these places; 0 where nothing is ever owed.
  static auto paid_at(auto at, const W* cells, auto stride, auto capacity) {
    if constexpr (Pull::pays)
      return at.cells(cells + capacity, stride);
    else
      return 0 * at.values();
  }

  void walk(State<W>& state, const Row<W>& row, std::span<const Move> moves, auto capacity,
            auto stride) const {
    const Pull pull(state, parameters_);
    for (const Move& m : moves) {
      W* cells = state.blocks.first() + m.column;
      for_pairs(row, [=](auto at) {
        const auto paid = paid_at(at, cells, stride, capacity);
        const auto before = pull.settled(at.cells(cells, stride), paid);
        at.set_cells(cells, stride, before + m.add * at.values());
        if constexpr (Pull::pays) at.set_cells(cells + capacity, stride, pull.total + 0 * before);
      });
      W& intercept = state.blocks.intercept()[m.column];
      intercept = static_cast<W>(intercept + m.add * intercept_);
    }
  }

  using One = std::integral_constant<std::size_t, 1>;

  std::vector<double> parameters_;
  double intercept_ = 1;
};

}  // namespace yarrow
