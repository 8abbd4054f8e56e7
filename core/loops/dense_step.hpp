#pragma once
#include "rules/rule.hpp"
#include "state/state.hpp"

namespace yarrow {

/// What the loops with correlated weights share: one mean a feature and column, moved along
/// Sigma*z, which reaches features that the row does not have. Planes: mean, variance, and with
/// averaging u, which makes the sum of all past means t*mu - u.
template <class W>
class DenseStepLoop {
 public:
  using Weight = W;
  static constexpr bool calibrated = true, shrinks = false;

  static std::vector<Plane> planes(bool average, double initial_variance) {
    std::vector<Plane> planes = {{0, true}, {initial_variance, false}};
    if (average) planes.push_back({0, true});
    return planes;
  }

  void set(const std::vector<double>& /*loop_parameters*/, double intercept, bool average) {
    intercept_ = static_cast<W>(intercept);  // rounded like any other value
    average_ = average;
  }

  bool is_bounded(const State<W>& state) const {
    return state.weight_bound.covers(state.largest(0)) &&
           (!average_ || state.sum_bound.covers(state.largest(2)));
  }

  static Move move(int column, double sign, double part, const double* step, double v) {
    return {column, part * sign * step[0], step[1], v};
  }
  static bool is_still(const double* step) { return step[0] == 0 && step[1] == 0; }

  void finish_row(State<W>&) const {}

  double weight(const State<W>& state, std::size_t slot, int column) const {
    const W* cell = state.blocks.data() + slot * state.blocks.stride() + column;
    if (!average_) return cell[0];
    return state.t == 0 ? 0 : cell[0] - cell[2 * state.blocks.capacity()] / state.t;
  }

  double intercept() const { return intercept_; }

 protected:
  /// The part of x'Sigma x that rounding errors in Sigma can make up.
  static constexpr double rounding = 1e-15;
  static constexpr double smallest_variance = sizeof(W) == 4 ? 1e-30 : 1e-100;

  double mean_margin(const State<W>& state, const Row<W>& row, int k) const {
    const W* first = state.blocks.first() + k;
    const std::size_t stride = state.blocks.stride();
    const auto [margin] = pair_sums<1>(
        row, [=](auto at, auto* sum) { *sum += at.values() * at.cells(first, stride); });
    return margin + intercept_ * static_cast<double>(state.blocks.intercept()[k]);
  }

  /// The row's values in their order, the intercept's last: f(slot, value).
  template <class F>
  void for_values(const Row<W>& row, F f) const {
    for (std::size_t i = 0; i < row.size; ++i)
      f(row.index[i] + std::size_t{1}, static_cast<double>(row.value[i]));
    if (intercept_ != 0) f(std::size_t{0}, intercept_);
  }

  /// Refuses a move along `product` that would overflow, before anything is written.
  void admit(const State<W>& state, const Move& m, const std::vector<double>& product,
             Bound& weights, Bound& sums) const {
    if (m.other < 0) throw Error("the rule's kappa is negative, so a variance would grow");
    double largest = 0;
    for (const double p : product) largest = std::max(largest, std::abs(p));
    const double growth = std::abs(m.add) * largest;
    weights.admit<W>(growth, [&] { return state.largest(0); });
    if (average_) sums.admit<W>(growth * std::max(1.0, state.t), [&] { return state.largest(2); });
  }

  void move_means(State<W>& state, const Move& m, const std::vector<double>& product) const {
    const std::size_t stride = state.blocks.stride(), capacity = state.blocks.capacity();
    W* cell = state.blocks.data() + m.column;
    for (std::size_t slot = 0; slot < product.size(); ++slot, cell += stride) {
      const double step = m.add * product[slot];
      cell[0] = static_cast<W>(cell[0] + step);
      if (average_) cell[2 * capacity] = static_cast<W>(cell[2 * capacity] + state.t * step);
    }
  }

  /// Averaged weights predict, if there are any.
  void use_average(const State<W>& state, const Row<W>& row, Scores& out) const {
    if (!average_) return;
    Scores averaged;
    score_by_weight(*this, state, row, averaged);
    out.score = averaged.score;
  }

  double intercept_ = 1;
  bool average_ = false;
};

}  // namespace yarrow
