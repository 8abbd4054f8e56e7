#pragma once
#include <algorithm>
#include <span>
#include <type_traits>

#include "loops/loop.hpp"

namespace yarrow {

/// The affine loop: w <- a*w + b*z.
///
/// Stored is v with w = scale*v, so that `a` costs one multiplication whatever the number of
/// features; |w|^2 follows by w_new^2 = a^2 ww + 2ab m + b^2 zz. With averaging, a second plane u
/// makes the sum of all past weights scale_sum*v - u, so that a row costs only its own features.
template <class W>
class AffineLoop : public ScaledLoop<W> {
  using Base = ScaledLoop<W>;
  using Base::intercept_, Base::average_, Base::increase;

 public:
  static constexpr bool has_lone_columns = true;

  static std::vector<Plane> planes(const LoopSettings& settings) {
    std::vector<Plane> planes = Base::planes(settings);
    if (settings.average) planes.push_back({"average", 0, true});
    return planes;
  }

  /// All that can be asked about one column and nothing beside it, in one walk.
  void assess(const State<W>& state, const Row<W>& row, Scores& out) const {
    out.resize(1);
    average_ ? assess_column<2>(state, row, out) : assess_column<1>(state, row, out);
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores,
             std::span<Move> moves) const {
    admit_all(state, moves, [&](const Move& m, Bound& weights, Bound& sums) {
      admit(state, scores, m, weights, sums);
    });
    for (Move& m : moves) settle(state, scores, m);
    if (state.blocks.capacity() != 1) return walk(state, row, moves, state.blocks.stride());
    average_ ? walk(state, row, moves, Known<2>{}) : walk(state, row, moves, Known<1>{});
  }

  void finish_row(State<W>& state) const {
    if (average_)
      for (int k = 0; k < state.blocks.columns(); ++k)
        state.columns[k].scale_sum += state.columns[k].scale;
  }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    if (!average_) return Base::weight(state, slot, column);
    if (state.t == 0) return 0;
    const W* cell = state.blocks.cell(slot, column);
    return (state.columns[column].scale_sum * cell[0] - cell[state.blocks.capacity()]) / state.t;
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    if (average_)
      score_by_weight(*this, state, row, out);
    else
      Base::score(state, row, out);
  }

  bool is_bounded(const State<W>& state) const {
    return state.weight_bound.covers(state.largest(0)) &&
           (!average_ || state.sum_bound.covers(state.largest(1)));
  }

  /// Refuses a scale, and a sum of scales, that learning does not lead to.
  void check(const State<W>& state) const {
    for (const Column& column : state.columns) {
      if (is_extreme(column.scale)) SavedState::refuse("scale", "has a number out of range");
      if (average_ && !(std::abs(column.scale_sum) <= largest_scale * state.t))
        SavedState::refuse("scale_sum", "has a number out of range");
    }
  }

  /// |w|^2 of what is left.
  void after_forgetting(State<W>& state) const {
    const Blocks<W>& blocks = state.blocks;
    for (int k = 0; k < blocks.columns(); ++k) {
      double sum = 0;
      for (std::size_t slot = 0; slot <= blocks.features(); ++slot)
        sum += square(*blocks.cell(slot, k));
      state.columns[k].ww = square(state.columns[k].scale) * sum;
    }
  }

 private:
  /// One column: `Stride` is the number of planes.
  template <std::size_t Stride>
  void assess_column(const State<W>& state, const Row<W>& row, Scores& out) const {
    const W* first = state.blocks.first();
    const auto [wx, xx] = pair_sums<2>(row, [first](auto at, auto* sums) {
      const auto x = at.values();
      sums[0] += x * at.cells(first, Stride);
      sums[1] += x * x;
    });
    out.score[0] = state.columns[0].scale * (wx + intercept_ * state.blocks.intercept()[0]);
    out.xx = xx + intercept_ * intercept_;
  }

  void walk(State<W>& state, const Row<W>& row, std::span<const Move> moves, auto stride) const {
    Blocks<W>& blocks = state.blocks;
    const auto add = [](auto at, W* first, auto stride, double amount) {
      at.set_cells(first, stride, at.cells(first, stride) + amount * at.values());
    };
    for (const Move& m : moves) {
      if (m.add == 0) continue;
      W* first = blocks.first() + m.column;
      W* intercept = blocks.intercept() + m.column;
      if (average_) {  // both planes in one walk: a walk's end is what a processor guesses worst
        const std::size_t capacity = blocks.capacity();
        const double sums = m.add * state.columns[m.column].scale_sum;
        for_twos(row, [=](auto at) {
          add(at, first + capacity, stride, sums);
          add(at, first, stride, m.add);
        });
        increase(intercept[capacity], sums * intercept_);
      } else {
        for_twos(row, [=](auto at) { add(at, first, stride, m.add); });
      }
      increase(*intercept, m.add * intercept_);
    }
  }

  /// Whether the scale is so small or large that the stored numbers lose their meaning.
  static bool is_extreme(double scale) {
    return std::abs(scale) < 1 / largest_scale || std::abs(scale) > largest_scale;
  }
  static constexpr double largest_scale = 1 / double{std::numeric_limits<float>::epsilon()};

  /// Whether a move takes the scale across a power of 2^-8. Sums of past weights are differences of
  /// numbers that grow as the scale shrinks, so they are settled before too many digits cancel.
  bool settles_sums(double scale, double a) const {
    return average_ && a != 1 && std::ilogb(scale) / 8 != std::ilogb(scale * a) / 8;
  }

  /// Refuses a move that would overflow, before anything is written.
  void admit(const State<W>& state, const Scores& scores, const Move& m, Bound& weights,
             Bound& sums) const {
    const double scale = state.columns[m.column].scale * m.other;
    const bool folds = is_extreme(scale);
    if (folds) weights.value *= std::max(1.0, std::abs(scale));
    const double growth = std::abs(folds ? m.add : m.add / scale) * std::sqrt(scores.xx);
    weights.admit<W>(
        growth, [&] { return state.largest(0) * (folds ? std::max(1.0, std::abs(scale)) : 1); });
    if (!average_) return;
    const bool settles = folds || settles_sums(state.columns[m.column].scale, m.other);
    sums.admit<W>(
        (growth + settles * weights.value) * std::max(1.0, state.columns[m.column].scale_sum),
        [&] { return state.largest(1); });
  }

  /// Does all that a move asks for but the walk, and turns `add` into stored units.
  void settle(State<W>& state, const Scores& scores, Move& m) const {
    const int k = m.column;
    const double a = m.other, b = m.add;
    const bool settles = settles_sums(state.columns[k].scale, a);
    state.columns[k].ww *= a * a;
    state.columns[k].scale *= a;
    if (is_extreme(state.columns[k].scale))
      fold_scale(state, k);
    else if (settles)
      settle_sums(state, k);
    state.columns[k].ww =
        std::max(0.0, state.columns[k].ww + 2 * a * b * scores.score[k] + b * b * scores.xx);
    m.add = state.columns[k].scale == 1 ? b : b / state.columns[k].scale;
  }

  /// Multiplies the scale into the stored numbers of one column, once the sums hold its past.
  void fold_scale(State<W>& state, int k) const {
    if (state.before_all_change) state.before_all_change();
    if (average_) settle_sums(state, k);
    const std::size_t stride = state.blocks.stride();
    const double largest =
        stride == 1 ? fold_column(state, k, Known<1>{}) : fold_column(state, k, stride);
    state.columns[k].ww = sum_of_squares(state.blocks, k, largest);
    state.columns[k].scale_sum = 0;
    state.columns[k].scale = 1;
  }

  /// Moves the past of one column, scale_sum*v, into its sums.
  void settle_sums(State<W>& state, int k) const {
    if (state.before_all_change) state.before_all_change();
    Blocks<W>& blocks = state.blocks;
    W* block = blocks.data();
    for (std::size_t slot = 0; slot <= blocks.features(); ++slot, block += blocks.stride())
      increase(block[blocks.capacity() + k], -state.columns[k].scale_sum * block[k]);
    state.columns[k].scale_sum = 0;
  }

  /// The largest size of a number that results.
  double fold_column(State<W>& state, int k, auto stride) const {
    Blocks<W>& blocks = state.blocks;
    const double scale = state.columns[k].scale;
    const std::size_t slots = blocks.features() + 1;
    W* cells = blocks.data() + k;
    W largest[4] = {};  // of every fourth cell each, side by side
    for (std::size_t slot = 0; slot < slots; ++slot) {
      W& cell = cells[slot * stride];
      cell = static_cast<W>(scale * cell);
      largest[slot % 4] = larger(largest[slot % 4], std::abs(cell));
    }
    return *std::max_element(largest, largest + 4);
  }

  /// Summed as integers, because features are numbered differently by different routes, and the
  /// sum must not depend on their order.
  static double sum_of_squares(const Blocks<W>& blocks, int k, double largest) {
    if (square(largest) < 1e-200) return 0;
    __extension__ using Wide = __int128;
    const double unit = std::ldexp(square(largest), -60), units = 1 / unit;
    Wide sum = 0;
    const W* cell = blocks.data() + k;
    for (std::size_t slot = 0; slot <= blocks.features(); ++slot, cell += blocks.stride())
      sum += static_cast<std::int64_t>(square(*cell) * units + 0.5);
    return static_cast<double>(sum) * unit;
  }
};

}  // namespace yarrow
