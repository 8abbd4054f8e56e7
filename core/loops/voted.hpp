#pragma once
#include "loops/loop.hpp"
#include "loops/votes.hpp"

namespace yarrow {

/// The loop of the voted Perceptron (Freund & Schapire 1999): learns with the current vector alone,
/// and predicts by the votes of all vectors that there have been,
///   sum of c_i * sign(w_i.x), divided by the sum of all c_i,
/// where w_1 = 0 and c_i counts the rows that w_i saw as the current vector, by their weights: the
/// one that made it (for w_1: one in advance) and those that it got right. sign(0) = 0: such a
/// vector abstains.
///
/// Vectors are not kept; w_(i+1).x = w_i.x + step_i * x_i.x for the row x_i that was got wrong. At
/// most `max_vectors` vote (0: all); of more the oldest are forgotten. Plane 0 is the current
/// vector, plane 1 the oldest one that votes.
template <class W>
class VotedLoop : public LoopBase<W> {
  using LoopBase<W>::intercept_;

 public:
  static std::vector<Plane> planes(bool /*average*/, double /*initial_variance*/) {
    return {{0, true}, {0, true}};
  }

  void set(const std::vector<double>& loop_parameters) {
    max_vectors_ = static_cast<std::size_t>(loop_parameters.at(0));
  }

  static void extend(State<W>& state, const std::vector<double>&) {
    VotesOfColumns<W>::start(state);
  }

  static constexpr bool votes = true;                // scores are no sums over features
  static bool predicts_otherwise() { return true; }  // by votes, and not by the current vector

  static Move move(int column, double sign, double part, const double* step, double v) {
    return {column, part * sign * step[1], 0, v};
  }
  static bool is_still(const double* step) { return step[1] == 0; }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores,
             std::span<Move> moves) const {
    Bound weights = state.weight_bound;  // kept only if every move is admitted
    for (const Move& m : moves)
      weights.admit<W>(std::abs(m.add) * std::sqrt(scores.xx), [&] { return state.largest(0); });
    if (state.before_all_change) state.before_all_change();
    state.weight_bound = weights;
    std::vector<Votes<W>>& all = VotesOfColumns<W>::of(state).columns;
    all.resize(state.blocks.columns());
    for (const Move& m : moves) {
      Votes<W>& votes = all[m.column];
      add(state, row, m.column, 0, m.add);
      votes.add(row, m.add, now(state, m.column));
      if (max_vectors_ == 0 || votes.size() < max_vectors_) continue;
      add(state, votes.row(0), m.column, 1, votes.step[0]);
      votes.drop_oldest();
    }
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    out.resize(state.blocks.columns());
    thread_local std::vector<double> x;  // the row by feature; all 0 between calls
    x.resize(std::max(x.size(), state.blocks.features()));
    for (std::size_t i = 0; i < row.size; ++i) x[row.index[i]] = row.value[i];
    for (int k = 0; k < state.blocks.columns(); ++k)
      out.score[k] =
          VotesOfColumns<W>::of(state).columns.empty() ? 0 : share_of_votes(state, row, x, k);
    for (std::size_t i = 0; i < row.size; ++i) x[row.index[i]] = 0;
  }

  /// No vector is from the future, and each of them, the oldest in plane 1, has finite weights.
  void check(const State<W>& state) const {
    const Blocks<W>& blocks = state.blocks;
    const std::vector<Votes<W>>& columns = VotesOfColumns<W>::of(state).columns;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const Votes<W>& votes = columns[k];
      const double now = this->now(state, static_cast<int>(k));
      if (!(now > votes.first_born && (votes.born.empty() || now >= votes.born.back()) &&
            now < 1e300))
        SavedState::refuse("votes_born", "does not fit the number of rows");
      std::vector<double> weights;
      for (std::size_t slot = 0; slot <= blocks.features(); ++slot)
        weights.push_back(blocks.cell(slot, static_cast<int>(k))[blocks.capacity()]);
      const auto add = [&](std::size_t slot, double amount) {
        weights[slot] += amount;
        if (!(std::abs(weights[slot]) < std::numeric_limits<W>::max() / 8))
          SavedState::refuse("votes_step", "makes weights that are not finite");
      };
      for (std::size_t i = 0; i < votes.size(); ++i) {
        const Row<W> row = votes.row(i);
        for (std::size_t j = 0; j < row.size; ++j)
          add(row.index[j] + std::size_t{1}, votes.step[i] * row.value[j]);
        add(0, votes.step[i] * intercept_);
      }
    }
  }

 private:
  void add(State<W>& state, const Row<W>& row, int column, int plane, double amount) const {
    const int at = plane * state.blocks.capacity() + column;
    const auto increase = [&](W& cell, double x) { cell = static_cast<W>(cell + amount * x); };
    for (std::size_t i = 0; i < row.size; ++i)
      increase(state.blocks.first()[row.index[i] * state.blocks.stride() + at], row.value[i]);
    increase(state.blocks.intercept()[at], intercept_);
  }

  double share_of_votes(const State<W>& state, const Row<W>& row, const std::vector<double>& x,
                        int k) const {
    const Votes<W>& votes = VotesOfColumns<W>::of(state).columns[k];
    const int oldest = state.blocks.capacity() + k;
    double score = intercept_ * state.blocks.intercept()[oldest];
    for (std::size_t i = 0; i < row.size; ++i)
      score +=
          row.value[i] *
          static_cast<double>(state.blocks.first()[row.index[i] * state.blocks.stride() + oldest]);
    double sum = 0, born = votes.first_born;
    for (std::size_t v = 0; v < votes.size(); ++v) {
      sum += (votes.born[v] - born) * sign(score);
      born = votes.born[v];
      const Row<W> wrong = votes.row(v);
      double product = intercept_ * intercept_;
      for (std::size_t i = 0; i < wrong.size; ++i) product += wrong.value[i] * x[wrong.index[i]];
      score += votes.step[v] * product;
    }
    sum += (now(state, k) - born) * sign(score);
    return sum / (now(state, k) - votes.first_born);
  }

  /// The weights of all rows learned, and one in advance.
  static double now(const State<W>& state, int column) {
    return state.t + 1 + state.columns[column].memory;
  }

  static double sign(double x) { return (x > 0) - (x < 0); }

  std::size_t max_vectors_ = 0;
};

}  // namespace yarrow
