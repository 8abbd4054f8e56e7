#pragma once
#include <algorithm>
#include <span>
#include <unordered_map>

#include "data/groups.hpp"
#include "loops/proximal.hpp"
#include "state/state.hpp"

namespace yarrow {

/// Dual averaging with groups (Yang, Xu, King & Lyu 2010; Yang, Lyu & King 2013): stored is the sum
/// g of all negative gradients; after n rows the weights are
///   argmin -g.w/n + l1*|w|_1 + l21 * sum over groups of price*|w_group| + gamma/(2 sqrt(n)) |w|^2.
/// With c = soft(g, l1*n) a group keeps the share max(0, 1 - l21*n*price / |c_group|) of c, divided
/// by gamma*sqrt(n): it shrinks as a whole, and vanishes as a whole. The intercept is free.
struct GroupLasso {
  double threshold, price, factor;

  GroupLasso(double n, const std::vector<double>& p)
      : threshold(p[0] * n), price(p[1] * n), factor(n == 0 ? 0 : 1 / (p[2] * std::sqrt(n))) {}

  double cut(double stored) const { return soft_threshold(stored, threshold); }
  double share(double norm, double price_factor) const {
    const double to_pay = price * price_factor;
    return norm > to_pay ? factor * (1 - to_pay / norm) : 0;
  }
};

/// Sums that must not depend on the order of features are taken over integers (compare affine.hpp).
template <class Value>
double ordered_anyhow(std::size_t n, Value squares) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, squares(i));
  if (largest < 1e-280) return 0;  // a unit below it would not be a number to divide by
  __extension__ using Wide = __int128;
  const double unit = std::ldexp(largest, -60);
  Wide sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::llround(squares(i) / unit);
  return static_cast<double>(sum) * unit;
}

/// The groups of features, and by column their sums of squares.
struct GroupNorms final : ExtensionByColumn<GroupNorms, std::vector<double>> {
  Groups groups;
  bool is_known = true;  ///< what the sums are

  /// Features that go take their groups along.
  std::unique_ptr<Extension> copy_for_undo() const override {
    auto copy = std::make_unique<GroupNorms>();
    copy->columns = columns;
    return copy;
  }
  void take_back(const Extension& copy) override {
    columns = static_cast<const GroupNorms&>(copy).columns;
  }

  void name_features(const Vocabulary& names) override { groups.grow(names); }
  void truncate_features(std::size_t features) override { groups.truncate(features); }
  void keep_features(const std::vector<Index>&) override {
    groups.truncate(0);
    is_known = false;
  }
  bool is_fresh(Index) const override { return !groups.any(); }

  void save(const ArrayWriter& put) const override {
    if (groups.size() == 0) return;
    std::vector<double> all;  // a column may not have met the newest groups
    for (std::vector<double> of_column : columns) {
      of_column.resize(groups.size());
      all.insert(all.end(), of_column.begin(), of_column.end());
    }
    put("group_squares", std::move(all));
  }
  void restore(SavedState& from, std::size_t, std::size_t k) override {
    const std::size_t n = groups.size();
    columns.assign(k, {});
    is_known = from.has("group_squares");
    if (!is_known) return;
    const auto all = from.values<double>("group_squares", {k * n}, Range::not_negative());
    auto at = all.begin();
    for (std::vector<double>& squares : columns) {
      squares.assign(at, at + static_cast<std::ptrdiff_t>(n));
      at += static_cast<std::ptrdiff_t>(n);
    }
  }
};

/// Groups of features, each column by itself. Without l1 the sum of squares of a group is kept up
/// to date in double, and a row costs its own values; with l1 the threshold moves all members at
/// each row, so that they are summed up anew, and a row costs the sizes of its groups.
template <class W>
class FeatureGroups {
 public:
  FeatureGroups(const State<W>& state, const GroupLasso& lasso, const std::vector<double>&)
      : state_(state), lasso_(lasso), norms_(GroupNorms::of(state)) {}

  double share(Index feature, int column) {
    const Blocks<W>& blocks = state_.blocks;
    const Index group = norms_.groups.of(feature);
    if (group == Groups::alone)
      return lasso_.share(std::abs(lasso_.cut(blocks.first()[feature * blocks.stride() + column])),
                          1);
    if (lasso_.threshold == 0) {
      const std::vector<double>& squares = norms_.columns[column];
      const bool known = static_cast<std::size_t>(group) < squares.size();
      return lasso_.share(known ? std::sqrt(squares[group]) : 0, norms_.groups.price(group));
    }
    auto [found, is_new] = known_.try_emplace(group * blocks.columns() + std::int64_t{column});
    if (is_new) {
      const std::vector<Index>& members = norms_.groups.members(group);
      const W* first = blocks.first() + column;
      const double norm2 = ordered_anyhow(members.size(), [&](std::size_t i) {
        return square(lasso_.cut(first[members[i] * blocks.stride()]));
      });
      found->second = lasso_.share(std::sqrt(norm2), norms_.groups.price(group));
    }
    return found->second;
  }

  static void changed(State<W>& state, Index feature, int column, double before, double after) {
    GroupNorms& norms = GroupNorms::of(state);
    const Index group = norms.groups.of(feature);
    if (group == Groups::alone) return;
    std::vector<double>& squares = norms.columns[column];
    if (squares.size() < norms.groups.size()) squares.resize(norms.groups.size());
    squares[group] = std::max(0.0, squares[group] + (after * after - before * before));
  }

  static void start(State<W>& state) { GroupNorms::start(state); }

  static void rebuild(State<W>& state) {
    GroupNorms& norms = GroupNorms::of(state);
    if (std::exchange(norms.is_known, true)) return;
    const Blocks<W>& blocks = state.blocks;
    for (int k = 0; k < blocks.columns(); ++k) {
      norms.columns[k].assign(norms.groups.size(), 0);
      for (std::size_t f = 0; f < blocks.features(); ++f)
        changed(state, static_cast<Index>(f), k, 0, blocks.first()[f * blocks.stride() + k]);
    }
  }

 private:
  const State<W>& state_;
  const GroupLasso& lasso_;
  const GroupNorms& norms_;
  std::unordered_map<std::int64_t, double> known_;  ///< shares of groups met before
};

/// Classes as tasks that share their features: a feature's weights for all classes are one group.
/// The column "none of the seen", which one-versus-rest keeps first, is no task, but shrinks with
/// the others. Two classes in one-versus-rest are one task.
template <class W>
class TaskGroups {
 public:
  TaskGroups(const State<W>& state, const GroupLasso& lasso, const std::vector<double>& p)
      : state_(state),
        lasso_(lasso),
        first_task_(p[3] != 0 || state.blocks.columns() == 1 ? 0 : 1) {}

  double share(Index feature, int /*column*/) {
    if (feature == last_feature_) return last_share_;
    const Blocks<W>& blocks = state_.blocks;
    const W* cells = blocks.first() + feature * blocks.stride();
    double norm2 = 0;
    for (int k = first_task_; k < blocks.columns(); ++k) norm2 += square(lasso_.cut(cells[k]));
    last_feature_ = feature;
    return last_share_ = lasso_.share(std::sqrt(norm2), 1);
  }

  static void changed(State<W>&, Index, int, double, double) {}
  static void start(State<W>&) {}
  static void rebuild(State<W>&) {}

 private:
  const State<W>& state_;
  const GroupLasso& lasso_;
  int first_task_;
  Index last_feature_ = -1;
  double last_share_ = 0;
};

/// The loop: gradients are summed up, and weights made of the sums where they are needed.
template <class W, template <class> class Grouping>
class GroupedLoop : public LoopBase<W> {
  using LoopBase<W>::intercept_;

 public:
  void set(const std::vector<double>& loop_parameters) { parameters_ = loop_parameters; }
  static void extend(State<W>& state, const std::vector<double>&) { Grouping<W>::start(state); }

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    const Blocks<W>& blocks = state.blocks;
    const GroupLasso lasso(state.t, parameters_);
    Grouping<W> groups(state, lasso, parameters_);
    out.resize(blocks.columns());
    std::fill(out.score.begin(), out.score.end(), 0);
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* cells = blocks.first() + row.index[i] * blocks.stride();
      for (int k = 0; k < blocks.columns(); ++k)
        out.score[k] += row.value[i] * groups.share(row.index[i], k) * lasso.cut(cells[k]);
    }
    for (int k = 0; k < blocks.columns(); ++k)
      out.score[k] += intercept_ * lasso.factor * blocks.intercept()[k];
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores,
             std::span<Move> moves) const {
    const double n = std::max(1.0, state.t),
                 limit = Bound::most_behind<W>(GroupLasso(n, parameters_).factor);
    admit_all(state, moves, [&](const Move& m, Bound& weights, Bound&) {
      weights.admit<W>(
          std::abs(m.add) * std::sqrt(scores.xx), [&] { return state.largest(0); }, limit);
      constexpr double squares_are_finite = 1e145;
      if (weights.value > squares_are_finite) Bound::refuse();
    });
    for (const Move& m : moves) {
      W* first = state.blocks.first() + m.column;
      for (std::size_t i = 0; i < row.size; ++i) {
        W& cell = first[row.index[i] * state.blocks.stride()];
        const double before = cell;
        cell = static_cast<W>(before + m.add * row.value[i]);
        Grouping<W>::changed(state, row.index[i], m.column, before, cell);
      }
      W& intercept = state.blocks.intercept()[m.column];
      intercept = static_cast<W>(intercept + m.add * intercept_);
    }
  }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    const GroupLasso lasso(state.t, parameters_);
    Grouping<W> groups(state, lasso, parameters_);
    return weight_in(state, lasso, groups, slot, column);
  }

  /// All weights, slot by slot: group norms are taken once.
  std::vector<W> all_weights(const State<W>& state) const {
    const GroupLasso lasso(state.t, parameters_);
    Grouping<W> groups(state, lasso, parameters_);
    std::vector<W> all;
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot)
      for (int k = 0; k < state.blocks.columns(); ++k)
        all.push_back(static_cast<W>(weight_in(state, lasso, groups, slot, k)));
    return all;
  }

  void rebuild(State<W>& state) const { Grouping<W>::rebuild(state); }

 private:
  static double weight_in(const State<W>& state, const GroupLasso& lasso, Grouping<W>& groups,
                          std::size_t slot, int column) {
    const double stored = *state.blocks.cell(slot, column);
    if (slot == 0) return lasso.factor * stored;
    return groups.share(static_cast<Index>(slot - 1), column) * lasso.cut(stored);
  }

  std::vector<double> parameters_;  // l1, l21, gamma, and for tasks whether all columns are tasks
};

}  // namespace yarrow
