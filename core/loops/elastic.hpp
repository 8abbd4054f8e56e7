#pragma once
#include <span>

#include "loops/loop.hpp"
#include "loops/proximal.hpp"
#include "loops/root.hpp"

namespace yarrow {

/// The step of an elastic-net-regularised Passive-Aggressive over one column of weights,
///   min 1/2 |u - w|^2 + alpha/2 |u|^2 + l1*|u|_1 + C*xi^2  such that  z.u >= target - xi.
/// By the conditions of Karush, Kuhn and Tucker, u = soft(w + tau*z, l1)/(1 + alpha) with the
/// multiplier tau >= 0 and xi = tau/(2C). What the margin lacks rises with tau in straight pieces,
/// so tau is the root of the row's own features. Pulling can itself give the margin: then tau is 0.
struct ElasticStep {
  SoftMargin margin;
  double l1 = 0;

  /// `slack` is 1/(2C); 0: no row may miss its margin.
  void start(double alpha, double new_l1, double target, double slack) {
    l1 = new_l1;
    // All in units of 1 + alpha, by which z.u is smaller than z.soft(w + tau*z).
    margin.target = target * (1 + alpha);
    margin.slack = slack * (1 + alpha);
    margin.row.clear();
  }

  double tau() const {
    const double lacking = margin.row.empty() ? 0 : -margin.surplus(0, l1).value;
    if (lacking <= 0) return 0;
    double steepest = margin.slack;  // no slope is larger
    for (const auto& [z, w] : margin.row) steepest += z * z;
    return margin.tau(lacking / steepest, l1, 1e-14);
  }
};

/// The loop of the elastic-net-regularised Passive-Aggressive. Only rows that ask for a step pull
/// the column's weights, all of them, and a feature pays at its next visit: n steps later it is
///   |w| k^n - l1*(k + ... + k^n), cut at 0,  k = 1/(1 + alpha).
/// Stored is v = D*w, with D = (1 + alpha)^steps (`scale`): then each step pulls v by l1*D, and
/// what many of them pull is l1 times a sum of scales (`scale_sum`). Beside v stands the part of
/// that sum which the feature has paid. Before D grows too large, the column is divided by a power
/// of two, which rounds nothing. The intercept is one more feature.
template <class W>
class ElasticLoop : public LoopBase<W> {
  using LoopBase<W>::intercept_;

 public:
  static std::vector<Plane> planes(const LoopSettings&) {
    return {{"weight", 0, true}, {"paid", 0, false}};
  }

  void set(const std::vector<double>& loop_parameters) {
    alpha_ = loop_parameters.at(0);
    l1_ = loop_parameters.at(1);
  }

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    const std::size_t columns = state.blocks.columns(), capacity = state.blocks.capacity();
    out.resize(columns);
    std::vector<ClockSum> due(columns);
    for (std::size_t k = 0; k < columns; ++k) due[k] = owed(state, static_cast<int>(k));
    const auto add = [&](const W* cell, double x, std::size_t k) {
      return x * settled(cell, capacity, due[k]);
    };
    this->sum_tiles(
        state, row, add, [&](const W* cell, std::size_t k) { return add(cell, intercept_, k); },
        [&](std::size_t k, double sum) { out.score[k] = sum / state.columns[k].scale; });
  }

  /// A step is the margin asked for, and 1/(2C).
  void apply(State<W>& state, const Row<W>& row, const Scores& scores, std::span<Move> moves) {
    admit_all(state, moves, [&](Move& m, Bound& weights, Bound&) {
      const double tau = solve(state, row, m);
      m.add = std::copysign(tau, m.add) * state.columns[m.column].scale;
      weights.admit<W>(std::abs(m.add) * std::sqrt(scores.xx), [&] { return state.largest(0); });
    });
    for (const Move& m : moves) {
      walk(state, row, m);
      grow_scale(state, m.column);
    }
  }

  /// Refuses a scale, and a sum of scales, that learning does not lead to.
  void check(const State<W>& state) const {
    for (const Column& column : state.columns) {
      if (!(column.scale >= 1 && column.scale < most_scale))
        SavedState::refuse("scale", "has a number out of range");
      if (!(column.scale_sum >= 0 && column.scale_sum <= 2 * most_scale * state.t))
        SavedState::refuse("scale_sum", "has a number out of range");
    }
  }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    return settled(state.blocks.cell(slot, column), state.blocks.capacity(), owed(state, column)) /
           state.columns[column].scale;
  }

 private:
  /// All that has been asked of this column's weights. A fresh column has weights of 0 only.
  ClockSum owed(const State<W>& state, int column) const {
    return as_stored<W>(state.columns[column].updates > 0 ? l1_ * state.columns[column].scale_sum
                                                          : 0);
  }
  static double settled(const W* cell, std::size_t capacity, const ClockSum& owed) {
    return soft_threshold(double{cell[0]}, owed.now - cell[capacity]);
  }

  double solve(const State<W>& state, const Row<W>& row, const Move& m) {
    const std::size_t stride = state.blocks.stride(), capacity = state.blocks.capacity();
    const W* first = state.blocks.first() + m.column;
    const ClockSum due = owed(state, m.column);
    const double scale = state.columns[m.column].scale, sign = m.add > 0 ? 1 : -1;
    step_.start(alpha_, l1_, std::abs(m.add), m.other);
    step_.margin.add(sign * intercept_,
                     settled(state.blocks.intercept() + m.column, capacity, due) / scale);
    for (std::size_t i = 0; i < row.size; ++i)
      step_.margin.add(sign * row.value[i],
                       settled(first + row.index[i] * stride, capacity, due) / scale);
    return step_.tau();
  }

  /// The row's own weights move before they are pulled with all others; both are done here.
  void walk(State<W>& state, const Row<W>& row, const Move& m) const {
    const std::size_t stride = state.blocks.stride(), capacity = state.blocks.capacity();
    const ClockSum before = owed(state, m.column);
    double& sum = state.columns[m.column].scale_sum;
    sum = (state.columns[m.column].updates > 0 ? sum : 0) + state.columns[m.column].scale;
    const ClockSum after = as_stored<W>(l1_ * sum);
    const double pull = finite(l1_ * state.columns[m.column].scale);
    const auto step = [&](W* cell, double x) {
      cell[0] = static_cast<W>(soft_threshold(settled(cell, capacity, before) + m.add * x, pull));
      cell[capacity] = static_cast<W>(after.paid);
    };
    W* first = state.blocks.first() + m.column;
    step(state.blocks.intercept() + m.column, intercept_);
    for (std::size_t i = 0; i < row.size; ++i) step(first + row.index[i] * stride, row.value[i]);
  }

  void grow_scale(State<W>& state, int column) const {
    double& scale = state.columns[column].scale;
    scale *= std::min(1 + alpha_, 0x1p600);
    if (scale < most_scale) return;
    if (state.before_all_change) state.before_all_change();
    const double factor = std::ldexp(1.0, -std::ilogb(scale));
    const std::size_t stride = state.blocks.stride(), capacity = state.blocks.capacity();
    W* cell = state.blocks.data() + column;
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot, cell += stride)
      for (const std::size_t plane : {std::size_t{0}, capacity})
        cell[plane] = static_cast<W>(cell[plane] * factor);
    scale *= factor;
    state.columns[column].scale_sum *= factor;
  }

  static constexpr double most_scale = 0x1p60;

  double alpha_ = 0, l1_ = 0;
  ElasticStep step_;
};

}  // namespace yarrow
