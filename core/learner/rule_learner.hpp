#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "learner/learner.hpp"

namespace yarrow {

/// A learner that asks its rule about each row, by its strategy, and lets its loop walk the row.
///
/// There are two ways to walk. One column is assessed in a single walk, two places at a time
/// (twos.hpp), since what a short row costs is mispredicted ends of loops more than arithmetic.
/// Many columns are scored in tiles whose sums stay in registers, and z'Sigma z is measured only
/// for the columns whose rule has to be asked: one that never moves at its target says so
/// (Passive::at_target). Both add in the same order, so both give the same bits.
template <class Loop>
class RuleLearner final : public Learner<typename Loop::Weight> {
 public:
  using W = typename Loop::Weight;
  using Base = Learner<W>;
  using Base::recipe_;
  using Base::state;

  /// Whether the loop keeps a covariance between weights of different columns.
  static constexpr bool correlates_columns =
      requires(const Loop& loop, const State<W>& state, const Row<W>& row) {
        loop.product(state, row, 0, 0);
      };

  explicit RuleLearner(const Recipe& recipe)
      : Base(State<W>(Blocks<W>(
                 Loop::planes({recipe.average, recipe.initial_variance, recipe.loop_parameters}),
                 Outputs{recipe.strategy, 0}.is_one_a_class() ? 0 : 1)),
             recipe) {
    if (recipe.strategy == Strategy::many && !recipe.slack)
      throw Error("this rule meets one rival at a time");
    loop_.start(recipe.intercept, recipe.average);
    loop_.set(recipe.loop_parameters);
    Loop::extend(state, recipe.loop_parameters);
  }

  double intercept() const override { return loop_.intercept(); }
  void after_forgetting() override { loop_.after_forgetting(state); }
  void rebuild() override { loop_.rebuild(state); }
  void check() const override { loop_.check(state); }
  bool is_bounded() const override { return loop_.is_bounded(state); }
  Parts explain(const Row<W>& row, int column) const override {
    if (is_no_sum()) return lost_without_each(row, column);
    if constexpr (requires { loop_.explain(state, row, column); })
      return loop_.explain(state, row, column);
    else
      return Base::explain(row, column);
  }
  double weight(std::size_t slot, int column) const override {
    return loop_.weight(state, slot, column);
  }
  double variance(std::size_t slot, int column) const override {
    if constexpr (Loop::calibrated)
      return loop_.variance(state, slot, column);
    else
      return Base::variance(slot, column);
  }
  bool is_joint() const override { return correlates_columns; }
  void covariance(int column, int other, double* out) const override {
    if constexpr (correlates_columns)
      loop_.covariance(state, column, other, out);
    else if constexpr (requires { loop_.covariance(state, column, out); })
      loop_.covariance(state, column, out);
    else
      Base::covariance(column, other, out);
  }
  std::vector<W> weights() const override {
    if constexpr (requires { loop_.all_weights(state); })
      return loop_.all_weights(state);
    else
      return Base::weights();
  }

  void learn(const Row<W>& row, double label, double weight) override {
    kept_.clear();
    switch (recipe_.strategy) {
      case Strategy::regression:
        return learn_value(row, label, weight);
      case Strategy::binary:
        return learn_binary(row, label, weight);
      case Strategy::joint:
      case Strategy::examples:
      case Strategy::pairs:
        return learn_example(row, label, weight);
      default:
        return learn_class(row, static_cast<int>(label), weight);
    }
  }

  bool has_lone_columns() const override {
    return Loop::has_lone_columns && recipe_.strategy == Strategy::one_versus_rest &&
           !recipe_.rule_context;
  }

  std::unique_ptr<Base> part(int first, int columns) override {
    auto some = std::make_unique<RuleLearner>(recipe_);
    some->is_part_ = true;
    some->first_column_ = first;
    some->state.blocks = state.blocks.window(first, columns);
    static_cast<Scalars&>(some->state) = state;
    some->state.columns.assign(state.columns.begin() + first,
                               state.columns.begin() + first + columns);
    if (first == 0) some->state.touched = std::move(state.touched);
    if constexpr (Loop::shrinks)
      some->state.before_all_change = [&learned = *some] { learned.refuse_dependent_bounds(); };
    return some;
  }

  void learn_part(const Row<W>& row, int c, double weight, ColumnPart& told) override {
    kept_.clear();
    moves_.clear();
    loop_.score(state, row, scores_);
    best_ = {};
    const Outputs outputs = this->outputs();
    for (int k = 0; k < state.blocks.columns(); ++k)
      if (!outputs.is_none(first_column_ + k))
        best_.offer({outputs.positive_class(first_column_ + k), scores_.score[k]});
    const bool moved = ask_each_column(row, c, weight, first_column_);
    for (Contender* const each : {&best_.first, &best_.second})
      if (each->of_class >= 0)
        each->variance = scores_.variance[outputs.of_class(each->of_class) - first_column_];
    told.rows.push_back({best_, moved, moves_.size()});
    for (Move& m : moves_) {
      state.weight_bound = state.sum_bound = {};  // which then say how far this move reaches
      apply(row, {&m, 1});
      told.growths.push_back({state.weight_bound.value, state.sum_bound.value});
    }
    keep_memories();
    if (first_column_ == 0) state.touched.add(row);
    loop_.finish_row(state);
    state.t += 1;
  }

  void take_columns(Base& part, int first) override {
    std::copy(part.state.columns.begin(), part.state.columns.end(), state.columns.begin() + first);
    if (first == 0) state.touched = std::move(part.state.touched);
  }

  void count_row(int c, double weight, std::size_t i, std::span<const ColumnPart> parts,
                 std::span<std::size_t> moves) override {
    BestTwo best;
    bool moved = false;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const ColumnPart::OfRow& row = parts[p].rows[i];
      best.offer(row.best.first);
      best.offer(row.best.second);
      moved |= row.moved;
      for (std::size_t end = moves[p] + row.moves; moves[p] < end; ++moves[p]) {
        const auto refuse = [] -> double { Bound::refuse(); };
        const auto [of_weights, of_sums] = parts[p].growths[moves[p]];
        state.weight_bound.template admit<W>(of_weights, refuse);
        state.sum_bound.template admit<W>(of_sums, refuse);
      }
    }
    this->last_prediction = best.first.of_class;
    if (calibrates())
      state.calibration.record(lead_of(best), best.first.of_class == c, weight, state.t + 1);
    count(moved, best.first.of_class != c);
  }

  void predict_columns(const Row<W>& row, bool wants_variances, Scores& out) const override {
    if (!wants_variances && predicts_as_it_learns()) return loop_.score(state, row, out);
    predict_columns(row, out);
    if (recipe_.strategy == Strategy::examples) note_distance(row, out);
  }

  void score(const Row<W>& row, Scores& out) const override { loop_.score(state, row, out); }

  bool predicts_as_it_learns() const override {
    return !loop_.predicts_otherwise() && !recipe_.average;
  }

  void last_scores(std::vector<double>& out) const override {
    out = scores_.score;
    if (!this->outputs().is_real()) this->outputs().to_classes(out, -1);
  }

 private:
  /// Whether scores are votes or distances.
  bool is_no_sum() const {
    return requires { Loop::votes; } || recipe_.strategy == Strategy::examples;
  }

  Parts lost_without_each(const Row<W>& row, int column) const {
    Scores found;
    const auto score = [&](const Row<W>& some) {
      predict_columns(some, found);
      if (recipe_.strategy != Strategy::examples) return found.score[column];
      note_distance(some, found);
      return std::sqrt(found.variance[0]);
    };
    Parts parts;
    parts.add_up = false;
    for (std::size_t left_out = 0; left_out < row.size; ++left_out) {
      std::vector<Index> index(row.index, row.index + row.size);
      std::vector<W> value(row.value, row.value + row.size);
      index.erase(index.begin() + static_cast<std::ptrdiff_t>(left_out));
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(left_out));
      parts.values.push_back(score(row) - score({index.data(), value.data(), index.size()}));
    }
    return parts;
  }

  /// By the weights that learning goes on from, unless the loop predicts with others.
  void predict_columns(const Row<W>& row, Scores& out) const {
    if constexpr (requires { loop_.predict(state, row, out); })
      loop_.predict(state, row, out);
    else
      loop_.score(state, row, out);
  }

  /// Scores and measures a row of one column: in a single walk where the loop has one for that.
  void assess(const Row<W>& row) {
    if constexpr (requires { loop_.assess(state, row, scores_); }) {
      loop_.assess(state, row, scores_);
    } else {
      constexpr int only[] = {0};
      loop_.score(state, row, scores_);
      loop_.measure(state, row, only, scores_);
    }
  }

  void learn_value(const Row<W>& row, double value, double weight) {
    assess(row);
    const double score = this->last_prediction = scores_.score[0];
    const double sign = value >= score ? 1 : -1;
    finish(move_column(row, sign, sign * value - recipe_.epsilon, weight), false);
    this->divergence.take(value, score);
  }

  /// The row is the signed example itself. A joint one has a margin to reach, `target`; of others
  /// the rule knows what to ask.
  void learn_example(const Row<W>& row, double target, double weight) {
    assess(row);
    const double margin = this->last_prediction = scores_.score[0];
    if (recipe_.strategy != Strategy::joint) return finish(move_column(row, 1, 1, weight), false);
    const bool has_rival = row.size > 0;
    finish(has_rival && move_column(row, 1, target, weight), has_rival && margin <= 0);
  }

  /// Beside x.w, |x - w|^2, in the place where other strategies have a variance.
  void note_distance(const Row<W>& row, Scores& out) const {
    out.xx = squared_norm(row) + square(loop_.intercept());
    out.variance[0] = std::max(0.0, state.columns[0].ww - 2 * out.score[0] + out.xx);
  }

  void learn_binary(const Row<W>& row, double label, double weight) {
    assess(row);
    const double score = scores_.score[0];
    const double predicted = state.classes > 1 ? score > 0 : state.classes - 1;
    const bool wrong = predicted != label;
    this->last_prediction = predicted;
    const bool moved = move_column(row, 2 * label - 1, 1, weight);
    if (state.classes < 2) state.classes = std::max(state.classes, static_cast<int>(label) + 1);
    if constexpr (Loop::calibrated)
      if (state.classes == 2 && state.calibration.wants(state.t + 1))
        state.calibration.record(std::abs(score) / std::sqrt(scores_.variance[0]), !wrong, weight,
                                 state.t + 1);
    finish(moved, wrong);
  }

  /// One column and nothing beside it, which needs no lists. True if it moved.
  bool move_column(const Row<W>& row, double sign, double target, double weight) {
    Move move;
    if (is_passive(sign * scores_.score[0], target)) return false;
    const bool moves = ask(0, sign, weight, target, move);
    if (moves) {
      loop_.apply(state, row, scores_, {&move, 1});
      ++state.columns[0].updates;
    }
    keep_memories();
    return moves;
  }

  [[gnu::noinline]] void learn_class(const Row<W>& row, int c, double weight) {
    moves_.clear();
    top_margin_ = -1;
    this->learn_as(c, [&](bool is_new) { learn_known_class(row, c, weight, is_new); });
  }

  void learn_known_class(const Row<W>& row, int c, double weight, bool is_new) {
    loop_.score(state, row, scores_);
    const int predicted = this->outputs().predicted(scores_.score, state.classes - is_new);
    this->last_prediction = predicted;
    const bool moved = ask_strategy(row, c, weight);
    if (!moves_.empty()) apply(row, moves_);  // nothing has changed so far
    keep_memories();
    if constexpr (Loop::calibrated)
      if (top_margin_ >= 0)
        state.calibration.record(top_margin_, predicted == c, weight, state.t + 1);
    if (recipe_.strategy == Strategy::one_versus_rest) state.touched.add(row);
    finish(moved, predicted != c);
  }

  [[gnu::noinline]] void apply(const Row<W>& row, std::span<Move> moves) {
    loop_.apply(state, row, scores_, moves);
    for (const Move& m : moves) ++state.columns[m.column].updates;
  }

  /// Counts the row, which has been learned.
  void finish(bool moved, bool wrong) {
    loop_.finish_row(state);
    count(moved, wrong);
  }

  void count(bool moved, bool wrong) {
    if constexpr (Loop::calibrated)
      state.calibration.refit_when_due(state.t + 1, 1.0 / std::max(2, state.classes));
    add_to_count(state.updates, moved);
    add_to_count(state.mistakes, wrong);
    add_to_count(state.t, 1);
  }

  bool is_passive(double margin, double target) const {
    return recipe_.passive_at_target && margin >= target;
  }

  /// Collects in `moves_` what the strategy asks for; true if a class's weights are to change.
  bool ask_strategy(const Row<W>& row, int c, double weight) {
    if (recipe_.strategy == Strategy::one_versus_rest)
      return ask_each_column(row, c, weight, Known<0>{});
    if (recipe_.strategy == Strategy::many) return ask_rivals(row, c, weight);
    return ask_rival(row, c, weight);
  }

  /// One-versus-rest: each column is a problem of its own. `first`: which of all columns is the
  /// first one here.
  [[gnu::always_inline]] bool ask_each_column(const Row<W>& row, int c, double weight, auto first) {
    const Outputs outputs = this->outputs();
    const bool counts = calibrates();
    listed_.clear();
    for (int k = 0; k < state.blocks.columns(); ++k)
      if (!is_passive(outputs.sign(first + k, c) * scores_.score[k], 1)) listed_.push_back(k);
    if (!counts && listed_.empty()) return false;
    measure_listed(row, counts);
    bool moved = false;
    Move move;
    for (const int k : listed_) {
      if (!ask(k, outputs.sign(first + k, c), weight, 1, move)) continue;
      moves_.push_back(move);
      moved |= !outputs.is_none(first + k);
    }
    return moved;
  }

  /// Asks the rule about one column; false if it is to stay as it is.
  bool ask(int k, double sign, double weight, double target, Move& move) {
    const RuleInput input{sign * scores_.score[k], target, scores_.xx,  state.columns[k].ww,
                          scores_.variance[k],     weight, state.t + 1, state.columns[k].updates,
                          state.columns[k].memory};
    double step[3];
    if (!consult(k, input, step)) return false;
    move = Loop::move(k, sign, 1, step, scores_.variance[k]);
    return true;
  }

  double cost(int truth, int other) const {
    return this->costs_ ? this->costs_->at(truth, other) : 1;
  }

  /// Measures the columns in `listed_`. If the row counts for the calibration, also by how many
  /// deviations the predicted class is ahead.
  void measure_listed(const Row<W>& row, bool calibrates) {
    std::vector<int> leading;
    if (calibrates) leading = leading_columns();
    for (const int k : leading)
      if (std::find(listed_.begin(), listed_.end(), k) == listed_.end()) listed_.push_back(k);
    loop_.measure(state, row, listed_, scores_);
    if (leading.empty()) return;
    double lead = std::abs(scores_.score[leading[0]]), v = scores_.variance[leading[0]];
    if (leading.size() == 2) {
      lead = scores_.score[leading[0]] - scores_.score[leading[1]];
      v += scores_.variance[leading[1]];
    }
    top_margin_ = lead / std::sqrt(v);
  }

  /// Those whose scores decide the prediction, or, of a part, may decide it.
  std::vector<int> leading_columns() const {
    const Outputs outputs = this->outputs();
    if (!is_part_) return outputs.leading(scores_.score);
    std::vector<int> columns;
    for (const Contender& each : {best_.first, best_.second})
      if (each.of_class >= 0) columns.push_back(outputs.of_class(each.of_class) - first_column_);
    return columns;
  }

  /// By how many deviations the better of two classes is ahead.
  static double lead_of(const BestTwo& best) {
    return (best.first.score - best.second.score) /
           std::sqrt(best.first.variance + best.second.variance);
  }

  /// A part knows how far its moves reach, and no bound that they add to. Where a whole column
  /// changes, it may depend on the bound how far.
  void refuse_dependent_bounds() const {
    for (const Column& column : state.columns)
      if (recipe_.average || std::abs(column.scale) > 1) Bound::refuse();
  }

  bool calibrates() const { return Loop::calibrated && state.calibration.wants(state.t + 1); }

  /// The true class against one rival, which the rule meets like an example of two classes.
  bool ask_rival(const Row<W>& row, int c, double weight) {
    const bool priced = recipe_.strategy == Strategy::max_loss;
    const int rival = best_of(c, state.classes,
                              [&](int k) { return scores_.score[k] + (priced ? cost(c, k) : 0); });
    if (rival < 0) return false;
    const double margin = scores_.score[c] - scores_.score[rival], target = cost(c, rival);
    const bool counts = calibrates();
    if (!counts && is_passive(margin, target)) return false;
    listed_ = {c, rival};
    measure_listed(row, counts);
    double v = scores_.variance[c] + scores_.variance[rival];
    if constexpr (correlates_columns) v = left_of(v, v - 2 * loop_.product(state, row, c, rival));
    double ww = 0;
    for (const Column& column : state.columns) ww += column.ww;
    const RuleInput input{margin,      target,        2 * scores_.xx,         ww, v, weight,
                          state.t + 1, state.updates, state.columns[0].memory};
    double step[3];
    if (!consult(0, input, step)) return false;
    moves_.push_back(Loop::move(c, 1, 1, step, v));
    moves_.push_back(Loop::move(rival, -1, 1, step, v));
    if (Loop::shrinks && step[0] != 1)
      for (int k = 0; k < state.classes; ++k)
        if (k != c && k != rival) moves_.push_back(Loop::move(k, 1, 0, step, v));
    return true;
  }

  /// The true class against many rivals, or all, at once.
  bool ask_rivals(const Row<W>& row, int c, double weight) {
    const Slack slack = recipe_.slack(weight, recipe_.rule_parameters.data());
    gather_rivals(rivals_, scores_.score, c, recipe_.rivals,
                  [&](int k) { return slack.target * cost(c, k); });
    if (rivals_.empty()) return false;
    const bool counts = calibrates();
    if (!counts && rivals_[0].loss < 0) return false;
    listed_ = {c};
    for (const Rival& r : rivals_) listed_.push_back(r.column);
    measure_listed(row, counts);
    double v = spread(c), losses = 0;
    bool is_empty = !(v > 0);
    for (Rival& r : rivals_) {
      v += r.spread = spread(r.column);
      losses += r.loss;
      is_empty |= !(r.spread > 0);
    }
    if (!std::isfinite(v + losses)) throw Error(too_large);
    if (is_empty) return false;  // a row of zeros
    double total;
    if constexpr (correlates_columns)
      total = solve_correlated(
          rivals_, c, [&](int j, int k) { return loop_.product(state, row, j, k); }, slack, v,
          gram_);
    else
      total = solve_rivals(rivals_, spread(c), slack);
    if (!std::isfinite(total)) throw Error(not_finite);
    if (total == 0) return false;
    // Parts of a unit step. The precision of every class that took part grows, moved or not.
    const double unit[2] = {1, Loop::calibrated ? slack.kappa : 1};
    moves_.push_back(Loop::move(c, 1, total, unit, v));
    for (const Rival& r : rivals_)
      if (Loop::calibrated || r.step != 0)
        moves_.push_back(Loop::move(r.column, -1, r.step, unit, v));
    return true;
  }

  /// x'Sigma x on one column; the plain |x|^2 where there are no variances.
  double spread(int column) const {
    return Loop::calibrated ? scores_.variance[column] : scores_.xx;
  }

  /// What the rule answers of a column; false: all is to stay as it is.
  bool consult(int column, const RuleInput& input, double* step) {
    if (!std::isfinite(input.margin + input.zz + input.v)) throw Error(too_large);
    const double* parameters =
        recipe_.rule_context ? recipe_.rule_context : recipe_.rule_parameters.data();
    step[0] = step[1] = std::numeric_limits<double>::quiet_NaN();  // what a silent rule has said
    step[2] = input.memory;
    recipe_.rule(&input, parameters, step);
    if (!std::isfinite(step[0]) || !std::isfinite(step[1]) || !std::isfinite(step[2]))
      throw Error(not_finite);
    if (step[2] != input.memory) kept_.push_back({column, step[2]});
    return !Loop::is_still(step);
  }

  /// Stores what the rule wants to find at the next row, once this one is sure to be learned.
  void keep_memories() {
    for (const auto& [column, memory] : kept_) state.columns[column].memory = memory;
  }

  static constexpr auto too_large =
      "this row's values overflow when squared; scale the features down";
  static constexpr auto not_finite =
      "this row's update is not finite; scale the features or the step down";

  Loop loop_;
  Scores scores_;
  std::vector<int> listed_;  ///< columns to ask the rule about
  std::vector<Rival> rivals_;
  std::vector<double> gram_;  ///< products of the rivals' signed rows
  std::vector<Move> moves_;
  std::vector<std::pair<int, double>> kept_;  ///< columns and the rule's new memory of them
  bool is_part_ = false;
  int first_column_ = 0;    ///< of a part, among all
  BestTwo best_;            ///< of a part's classes
  double top_margin_ = -1;  ///< of this row, for the calibration; -1: not noted
};

}  // namespace yarrow
