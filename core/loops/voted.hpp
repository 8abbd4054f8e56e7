#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "loops/loop.hpp"

namespace yarrow {

/// The rows that made one column of weights what it is, oldest first: vector i + 1 is vector i plus
/// step i times row i. Each vector votes as often as rows came while it was the current one, by
/// their weights.
template <class W>
struct Votes {
  std::vector<double> born;  ///< the weights of rows before the one that made the next vector
  std::vector<double> step;  ///< signed
  std::vector<std::uint64_t> end = {0};  ///< where each row ends, after a 0
  std::vector<Index> index;
  std::vector<W> value;
  double first_born = 0;  ///< the same for the one that made the oldest vector

  std::size_t size() const { return born.size(); }
  Row<W> row(std::size_t i) const {
    return {index.data() + end[i], value.data() + end[i], std::size_t(end[i + 1] - end[i])};
  }
  std::size_t bytes() const {
    return size() * (2 * sizeof(double) + sizeof(end[0])) +
           index.size() * (sizeof(Index) + sizeof(W));
  }

  void add(const Row<W>& row, double signed_step, double t) {
    born.push_back(t);
    step.push_back(signed_step);
    index.insert(index.end(), row.index, row.index + row.size);
    value.insert(value.end(), row.value, row.value + row.size);
    end.push_back(index.size());
  }

  /// Forgets the oldest vector; its row belongs to the next, which is now the oldest.
  void drop_oldest() {
    const std::uint64_t cut = end[1];
    first_born = born[0];
    born.erase(born.begin());
    step.erase(step.begin());
    end.erase(end.begin());
    for (std::uint64_t& e : end) e -= cut;
    index.erase(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(cut));
    value.erase(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(cut));
  }

  void mirror() {
    for (double& s : step) s = -s;
  }

  /// Keeps the listed features only, renumbered in that (ascending) order.
  void keep_features(const std::vector<Index>& keep) {
    std::size_t to = 0, from = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      for (; from < end[i + 1]; ++from) {
        const auto place = std::lower_bound(keep.begin(), keep.end(), index[from]);
        if (place == keep.end() || *place != index[from]) continue;
        index[to] = static_cast<Index>(place - keep.begin());
        value[to++] = value[from];
      }
      end[i + 1] = to;
    }
    index.resize(to);
    value.resize(to);
  }

  /// Refuses what cannot have been saved.
  void check(std::size_t features) const {
    bool fits = step.size() == size() && end.size() == size() + 1 && end.front() == 0 &&
                end.back() == index.size() && index.size() == value.size() &&
                std::is_sorted(end.begin(), end.end()) &&
                std::is_sorted(born.begin(), born.end()) && (born.empty() || born[0] >= first_born);
    for (const Index i : index) fits &= i >= 0 && static_cast<std::size_t>(i) < features;
    if (!fits) throw Error("the state's votes do not fit together");
  }
};

/// The rows of all columns.
template <class W>
struct VotesOfColumns final : ExtensionByColumn<VotesOfColumns<W>, Votes<W>> {
  using ExtensionByColumn<VotesOfColumns<W>, Votes<W>>::columns;

  bool is_copied_for_undo() const override { return false; }  // before_all_change is told

  /// Whether there has been a mistake.
  bool any() const {
    return std::ranges::any_of(
        columns, [](const Votes<W>& votes) { return votes.size() > 0 || votes.first_born > 0; });
  }
  void keep_features(const std::vector<Index>& keep) override {
    for (Votes<W>& votes : columns) votes.keep_features(keep);
  }
  bool is_fresh(Index) const override { return !any(); }  // rows are not searched
  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const Votes<W>& votes : columns) sum += votes.bytes();
    return sum;
  }

  /// Each list of all columns, one behind the other.
  void save(const ArrayWriter& put) const override {
    if (!any()) return;
    std::vector<double> first_born;
    std::vector<std::uint64_t> sizes;
    for (const Votes<W>& votes : columns) {
      first_born.push_back(votes.first_born);
      sizes.push_back(votes.size());
    }
    put("votes_sizes", std::move(sizes));
    put("votes_first_born", std::move(first_born));
    for_lists([&](const char* name, auto list) {
      std::remove_cvref_t<decltype(columns[0].*list)> all;
      for (const Votes<W>& votes : columns)
        all.insert(all.end(), (votes.*list).begin(), (votes.*list).end());
      put(name, std::move(all));
    });
  }
  void restore(SavedState& from, std::size_t features, std::size_t n) override {
    columns.assign(n, {});
    if (!from.has("votes_sizes")) return;
    const auto sizes = from.values<std::uint64_t>("votes_sizes", {n});
    const auto first_born = from.values<double>("votes_first_born", {n}, Range::not_negative());
    Votes<W> all;
    for_lists([&](const char* name, auto list) {
      using Number = typename std::remove_cvref_t<decltype(all.*list)>::value_type;
      all.*list = from.values<Number>(name, {SavedState::any});
    });
    const bool fits = all.step.size() == all.size() && all.end.size() == all.size() + n &&
                      all.value.size() == all.index.size();
    if (!fits) SavedState::refuse("votes_sizes", "does not add up");
    std::size_t at = 0, cell = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const auto size = static_cast<std::size_t>(sizes[k]);
      if (size > all.size() - at) SavedState::refuse("votes_sizes", "has a number out of range");
      const std::uint64_t cells = all.end[at + k + size];
      if (cells > all.index.size() - cell)
        SavedState::refuse("votes_end", "has a number out of range");
      const auto part = [](const auto& list, std::size_t first, std::size_t count) {
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
        return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
      };
      columns[k] = {part(all.born, at, size),        part(all.step, at, size),
                    part(all.end, at + k, size + 1), part(all.index, cell, cells),
                    part(all.value, cell, cells),    first_born[k]};
      columns[k].check(features);
      at += size;
      cell += cells;
    }
    if (at != all.size() || cell != all.index.size())
      SavedState::refuse("votes_sizes", "does not add up");
  }

 private:
  /// As files name them.
  template <class F>
  static void for_lists(F f) {
    f("votes_born", &Votes<W>::born);
    f("votes_step", &Votes<W>::step);
    f("votes_end", &Votes<W>::end);
    f("votes_index", &Votes<W>::index);
    f("votes_value", &Votes<W>::value);
  }
};

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
  static std::vector<Plane> planes(const LoopSettings&) {
    return {{"weight", 0, true}, {"oldest", 0, true}};
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
    const auto admit = [&](const Move& m, Bound& weights, Bound&) {
      weights.admit<W>(std::abs(m.add) * std::sqrt(scores.xx), [&] { return state.largest(0); });
    };
    admit_all(state, moves, admit, true);
    for (const Move& m : moves) {
      Votes<W>& votes = VotesOfColumns<W>::of(state).columns[m.column];
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
      out.score[k] = share_of_votes(state, row, x, k);
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
