#pragma once
#include <span>
#include <type_traits>

#include "loops/loop.hpp"
#include "loops/regularizers/adaptive.hpp"
#include "loops/regularizers/dual.hpp"
#include "loops/regularizers/frequency.hpp"
#include "loops/regularizers/penalties.hpp"

// The proximal family: a gradient step on the row's features, then a pull of every weight towards
// zero, which a feature pays when it is next visited. Each method is a regularizer, a struct in
// regularizers/. It is made for each walk from the model's clock (rows learned, sums of penalties),
// so it holds only what features ask for, and says
//   planes               what is kept for a feature in each column, and what it is at first
//   weight(cells)        the weight that these numbers stand for at this moment
//   moved(cells, step)   the numbers to keep when the row's loss moves the weight by `step`, or,
//                        where the rule gives no rate, when `step` is its negative gradient;
//                        or moved(cells, weight, step), if it starts from the weight
//   growth(step, state)  how much larger than before the first `growing` planes may become by that
//   largest_factor()     how much larger than a stored number a weight can be from this row on
//   remove_penalty()     makes it that of the intercept, which is not pulled
//   may_keep(cells)      whether learning can lead to these numbers, which a file says
//   finish_row(state, p) moves the clock on after the row, whether it moved weights or not
// Cells are doubles, or two features' side by side (Two).

namespace yarrow {

/// The proximal loop.
template <class W, class Regularizer>
class ProximalLoop : public LoopBase<W> {
  using LoopBase<W>::intercept_;

 public:
  static std::vector<Plane> planes(const LoopSettings&) {
    return {Regularizer::planes.begin(), Regularizer::planes.end()};
  }

  void set(const std::vector<double>& loop_parameters) { parameters_ = loop_parameters; }

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    if (state.blocks.capacity() == 1) return assess(state, row, out);
    out.resize(state.blocks.columns());
    out.weights.clear();
    const std::size_t capacity = state.blocks.capacity();
    const Regularizer regularizer(state, parameters_), without = free(regularizer);
    this->sum_tiles(
        state, row,
        [&](const W* cell, double x, std::size_t) {
          return x * regularizer.weight(cells_at(cell, capacity));
        },
        [&](const W* cell, std::size_t) {
          return intercept_ * without.weight(cells_at(cell, capacity));
        },
        [&](std::size_t k, double sum) { out.score[k] = sum; });
  }

  /// All that can be asked about one column and nothing beside it, in one walk.
  void assess(const State<W>& state, const Row<W>& row, Scores& out) const {
    out.resize(1);
    if (starts_from_weight) out.weights.resize(row.size + spare_places);
    double* weights = out.weights.data();
    const W* first = state.blocks.first();
    const Regularizer regularizer(state, parameters_);
    const auto [wx, xx] =
        pair_sums<2>(row, [=](auto at, auto* sums) __attribute__((always_inline)) {
          const auto x = at.values();
          const auto weight =
              regularizer.weight(at.template planes<Count::value>(first, Count{}, SideBySide{}));
          if constexpr (starts_from_weight) at.set_numbers(weights, weight);
          sums[0] += x * weight;
          sums[1] += x * x;
        });
    const double bias = free(regularizer).weight(cells_at(state.blocks.intercept(), SideBySide{}));
    out.score[0] = wx + intercept_ * bias;
    out.xx = xx + intercept_ * intercept_;
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores,
             std::span<Move> moves) const {
    const Regularizer regularizer(state, parameters_);
    admit_all(state, moves, [&](const Move& m, Bound& weights, Bound&) {
      weights.admit<W>(
          regularizer.growth(std::abs(m.add) * std::sqrt(scores.xx), state),
          [&] { return largest(state); }, Bound::most_behind<W>(regularizer.largest_factor()));
    });
    const std::size_t capacity = state.blocks.capacity();
    if (capacity != 1)
      return walk(state, row, regularizer, moves, capacity, state.blocks.stride(), Unknown{});
    if constexpr (starts_from_weight)
      if (scores.weights.size() == row.size + spare_places)
        return walk(state, row, regularizer, moves, SideBySide{}, Count{}, scores.weights.data());
    walk(state, row, regularizer, moves, SideBySide{}, Count{}, Unknown{});
  }

  void finish_row(State<W>& state) const { Regularizer::finish_row(state, parameters_); }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    const Blocks<W>& blocks = state.blocks;
    const Regularizer regularizer(state, parameters_);
    return (slot == 0 ? free(regularizer) : regularizer)
        .weight(cells_at(blocks.cell(slot, column), blocks.capacity()));
  }

  bool is_bounded(const State<W>& state) const { return state.weight_bound.covers(largest(state)); }

  /// Refuses penalties and gradients that learning does not lead to.
  void check(const State<W>& state) const {
    const Blocks<W>& blocks = state.blocks;
    const Regularizer regularizer(state, parameters_), without = free(regularizer);
    for (std::size_t slot = 0; slot <= blocks.features(); ++slot)
      for (int k = 0; k < blocks.columns(); ++k)
        if (!(slot == 0 ? without : regularizer)
                 .may_keep(cells_at(blocks.cell(slot, k), blocks.capacity())))
          SavedState::refuse("blocks", "has a number out of range");
  }

 private:
  using Count = Known<Regularizer::planes.size()>;
  using Cells = std::array<double, Count::value>;

  /// Then a walk that assesses a row leaves its weights to the one that moves them, which need not
  /// fetch and settle them once more.
  static constexpr bool starts_from_weight = requires(
      const Regularizer& regularizer, const Cells& cells) { regularizer.moved(cells, 0.0, 0.0); };
  struct Unknown {};  ///< in the place of the weights of a row that was not assessed

  static Regularizer free(Regularizer regularizer) {
    regularizer.remove_penalty();
    return regularizer;
  }

  /// What one block keeps for one column.
  static Cells cells_at(const W* block, std::size_t capacity) {
    Cells cells;
    for (std::size_t plane = 0; plane < Count::value; ++plane)
      cells[plane] = block[plane * capacity];
    return cells;
  }

  void walk(State<W>& state, const Row<W>& row, const Regularizer& regularizer,
            std::span<const Move> moves, auto capacity, auto stride, auto weights) const {
    const Regularizer without = free(regularizer);
    for (const Move& m : moves) {
      W* first = state.blocks.first() + m.column;
      for_twos(row, [=](auto at) {
        const auto cells = at.template planes<Count::value>(first, stride, capacity);
        const auto step = m.add * at.values();
        const auto moved = [&] {
          if constexpr (std::is_same_v<decltype(weights), const double*>)
            return regularizer.moved(cells, at.numbers(weights), step);
          else
            return settled_and_moved(regularizer, cells, step);
        }();
        at.set_planes(first, stride, capacity, moved);
      });
      W* intercept = state.blocks.intercept() + m.column;
      const auto moved =
          settled_and_moved(without, cells_at(intercept, capacity), m.add * intercept_);
      for (std::size_t plane = 0; plane < Count::value; ++plane)
        intercept[plane * capacity] = static_cast<W>(moved[plane]);
    }
  }

  [[gnu::always_inline]] static auto settled_and_moved(const Regularizer& regularizer,
                                                       const auto& cells, auto step) {
    if constexpr (starts_from_weight)
      return regularizer.moved(cells, regularizer.weight(cells), step);
    else
      return regularizer.moved(cells, step);
  }

  double largest(const State<W>& state) const {
    double most = 0;
    for (std::size_t plane = 0; plane < Regularizer::growing; ++plane)
      most = std::max(most, state.largest(plane));
    return most;
  }

  std::vector<double> parameters_;
};

}  // namespace yarrow
