#pragma once
#include <span>
#include <type_traits>

#include "rules/rule.hpp"
#include "simd/dispatch.hpp"
#include "state/state.hpp"

namespace yarrow {

/// What a loop is told of its learner.
struct LoopSettings {
  bool average;
  double initial_variance;
  const std::vector<double>& parameters;
};

/// Calls admit(move, weights, sums) for all moves, which says how far numbers may grow and refuses
/// what would overflow; the state takes over these bounds only if all are admitted. `all_change`:
/// the moves reach features that the row does not have.
template <class W, class AnyMove, class Admit>
void admit_all(State<W>& state, std::span<AnyMove> moves, Admit admit, bool all_change = false) {
  Bound weights = state.weight_bound, sums = state.sum_bound;
  for (AnyMove& m : moves) admit(m, weights, sums);
  if (all_change && state.before_all_change) state.before_all_change();
  state.weight_bound = weights;
  state.sum_bound = sums;
}

/// What a loop does unless it knows better: its first plane holds the weights themselves, scores
/// are their sums, and the first number that a rule answers with says how far they move.
template <class W>
class LoopBase {
 public:
  using Weight = W;
  static constexpr bool calibrated = false;  ///< keeps variances
  static constexpr bool shrinks = false;     ///< a step may shrink columns that the row is not for
  /// What a column learns depends on no other column, so that threads may share them.
  static constexpr bool has_lone_columns = false;

  static std::vector<Plane> planes(const LoopSettings&) { return {{"weight", 0, true}}; }

  void start(double intercept, bool average) {
    intercept_ = static_cast<W>(intercept);  // rounded like any other value
    average_ = average;
  }
  double intercept() const { return intercept_; }

  void set(const std::vector<double>& /*loop_parameters*/) {}
  static void extend(State<W>&, const std::vector<double>& /*loop_parameters*/) {}
  static bool predicts_otherwise() { return false; }  ///< than by the scores that it learns from

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    sum_columns(state, row, out, [](std::size_t) { return 1.0; });
  }

  /// What an update needs beyond the scores, for the columns listed.
  void measure(const State<W>&, const Row<W>& row, std::span<const int>, Scores& out) const {
    out.xx = squared_norm(row) + intercept_ * intercept_;
  }

  static Move move(int column, double sign, double part, const double* step, double v) {
    return {column, part * sign * step[0], step[1], v};
  }
  static bool is_still(const double* step) { return step[0] == 0; }

  void finish_row(State<W>&) const {}
  void after_forgetting(State<W>&) const {}
  void rebuild(State<W>&) const {}
  void check(const State<W>&) const {}

  /// The weight of a slot (0: intercept) as predictions use it.
  double weight(const State<W>& state, std::size_t slot, int column) const {
    return *state.blocks.cell(slot, column);
  }

  bool is_bounded(const State<W>& state) const {
    return state.weight_bound.covers(state.largest(0));
  }

 protected:
  /// A sum a column: of `term(cell, x, column)` over the row's places, and of the intercept's cell
  /// as `constant(cell, column)` counts it. `put(column, sum)` takes it.
  template <class Term, class Constant, class Put>
  static void sum_tiles(const State<W>& state, const Row<W>& row, Term term, Constant constant,
                        Put put) {
    const std::size_t stride = state.blocks.stride();
    for_tiles(state.blocks.columns(), [&](auto tile, std::size_t at) {
      constexpr int width = decltype(tile)::value;
      const W* first = state.blocks.first() + at;
      const auto sums = lane_sums<width>(row.size, [&](std::size_t i, double* lane) {
        const double x = row.value[i];
        const W* cells = first + row.index[i] * stride;
        for (int k = 0; k < width; ++k) lane[k] += term(cells + k, x, at + k);
      });
      const W* intercept = state.blocks.intercept() + at;
      for (int k = 0; k < width; ++k) put(at + k, sums[k] + constant(intercept + k, at + k));
    });
  }

  /// Sums of what stands in the first plane, each multiplied by the scale of its column.
  template <class Scale>
  void sum_columns(const State<W>& state, const Row<W>& row, Scores& out, Scale scale) const {
    const std::size_t columns = state.blocks.columns(), stride = state.blocks.stride();
    out.resize(columns);
    if (columns == 1) {
      const W* const first = state.blocks.first();
      const double wx = stride == 1   ? sum_column(first, row, Known<1>{})
                        : stride == 2 ? sum_column(first, row, Known<2>{})
                                      : sum_column(first, row, stride);
      out.score[0] = scale(0) * (wx + intercept_ * state.blocks.intercept()[0]);
      return;
    }
    const W* const first = state.blocks.first();
    const W* const intercept = state.blocks.intercept();
    const auto put = [&](std::size_t k, double sum) {
      out.score[k] = scale(k) * (sum + intercept_ * intercept[k]);
    };
    // Whole fours, with what is kept free behind the last column, then two columns, then one.
    const std::size_t free = state.blocks.capacity() % 4 == 0 ? 3 : 0, fours = (columns + free) / 4;
    out.sums.resize(4 * fours);
    if (fours > 0)
      with_kernels<W>(
          [&](auto kernels) { kernels.sum_fours(row, first, stride, fours, out.sums.data()); });
    std::size_t k = 0;
    for (; k < std::min(4 * fours, columns); ++k) put(k, out.sums[k]);
    if (k + 2 <= columns) {
      const auto sums = [&] {
        if (stride == 2 && row.is_dense)
          return with_kernels<W>(
              [&](auto kernels) { return kernels.sum_two_columns(row.value, first, row.size); });
        return two_column_products(row, first + k, stride);
      }();
      put(k, sums[0]);
      put(k + 1, sums[1]);
      k += 2;
    }
    if (k < columns) put(k, sum_column(first + k, row, stride));
  }

  /// One column alone, two places at a time.
  static double sum_column(const W* first, const Row<W>& row, auto stride) {
    return pair_sums<1>(
        row, [=](auto at, auto* sum) { *sum += at.values() * at.cells(first, stride); })[0];
  }

  /// The largest size of a value, intercept included.
  double largest_value(const Row<W>& row) const {
    double most = std::abs(intercept_);
    for (std::size_t i = 0; i < row.size; ++i)
      most = std::max(most, std::abs(static_cast<double>(row.value[i])));
    return most;
  }

  static void increase(W& cell, double by) { cell = static_cast<W>(cell + by); }

  double intercept_ = 1;
  bool average_ = false;
};

/// The same for weights behind one scale a column, and rules that answer with w <- a*w + b*z.
template <class W>
class ScaledLoop : public LoopBase<W> {
 public:
  static constexpr bool shrinks = true;

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    this->sum_columns(state, row, out, [&](std::size_t k) { return state.columns[k].scale; });
  }
  static Move move(int column, double sign, double part, const double* step, double v) {
    return {column, part * sign * step[1], step[0], v};
  }
  static bool is_still(const double* step) { return step[0] == 1 && step[1] == 0; }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    return state.columns[column].scale * *state.blocks.cell(slot, column);
  }
};

/// The same for the confidence family: a mean and a variance a feature and column, perhaps more
/// planes, and with averaging a last one, u, which makes the sum of all past means t*mu - u.
template <class W, std::size_t Planes = 2>
class GaussianLoop : public LoopBase<W> {
 public:
  static constexpr bool calibrated = true;

  static std::vector<Plane> planes(const LoopSettings& settings) {
    std::vector<Plane> planes = {{"mean", 0, true}, {"variance", settings.initial_variance, false}};
    planes.resize(Planes, {"kept", 0, false});
    if (settings.average) planes.push_back({"average", 0, true});
    return planes;
  }

  static bool is_still(const double* step) { return step[0] == 0 && step[1] == 0; }

  bool is_bounded(const State<W>& state) const {
    return state.weight_bound.covers(state.largest(0)) &&
           (!average_ || state.sum_bound.covers(state.largest(Planes)));
  }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    const W* cell = state.blocks.cell(slot, column);
    if (!average_) return cell[0];
    return state.t == 0 ? 0 : cell[0] - cell[Planes * state.blocks.capacity()] / state.t;
  }

 protected:
  using LoopBase<W>::average_;

  /// Where confidence ends. Rules without slack double the digits of precision with each
  /// contradiction; below this a variance would soon be 0, and the weight frozen for good.
  static constexpr double smallest_variance = sizeof(W) == 4 ? 1e-30 : 1e-100;

  /// Refuses a move that would overflow, before anything is written.
  void admit(const State<W>& state, const Move& m, double growth, Bound& weights,
             Bound& sums) const {
    if (m.other < 0) throw Error("the rule's kappa is negative, so a variance would grow");
    weights.admit<W>(growth, [&] { return state.largest(0); });
    if (average_)
      sums.admit<W>(growth * std::max(1.0, state.t), [&] { return state.largest(Planes); });
  }

  /// Averaged weights predict, if there are any.
  void use_average(const State<W>& state, const Row<W>& row, Scores& out) const {
    if (!average_) return;
    Scores averaged;
    score_by_weight(*this, state, row, averaged);
    out.score = averaged.score;
  }
};

}  // namespace yarrow
