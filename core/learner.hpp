#pragma once
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "affine.hpp"
#include "confidence.hpp"
#include "proximal.hpp"

namespace yarrow {

/// How classes become columns of weights and a row becomes signed examples.
///   regression       one column; z = sign(y - w.x) * x
///   binary           one column; z = +x for the second class seen, -x for the first
///   one_versus_rest  a binary problem per class, side by side; as many results as classes
///   top1             one column a class; z = x on the true class, -x on its best rival
///   examples         one column; z = x: a row is an example of what is sought, without a label
enum class Strategy { regression, binary, one_versus_rest, top1, examples };

/// The loop that a learner runs.
enum class LoopKind { affine, diagonal, projected, whitened, soft_pull, dual_pull };

/// Everything that fixes how a learner learns; none of it changes afterwards.
struct Recipe {
  LoopKind loop = LoopKind::affine;
  Strategy strategy = Strategy::one_versus_rest;
  Rule rule = nullptr;
  std::vector<double> rule_parameters;
  const double* rule_context = nullptr;  ///< given to the rule in place of its parameters
  std::vector<double> loop_parameters;   ///< of the loop itself: a pull, a decay, a budget
  double initial_variance = 1;           ///< confidence family
  double intercept = 1;                  ///< value of the constant feature; 0: none
  double epsilon = 0;                    ///< regression: errors up to this are no errors
  bool average = false;
  /// The rule leaves a row alone if its margin reaches the target, whatever else it might be told:
  /// then the loop need not find out.
  bool rests_at_target = false;
};

/// One learner: a loop, a rule and a strategy over a state. It knows rows, class numbers in the
/// order of their first appearance, and nothing of names, files or threads.
template <class W>
class Learner {
 public:
  virtual ~Learner() = default;

  State<W> state;

  /// Learn one row; on an exception nothing has changed. `label` is a class number, at most one
  /// above those seen, or for regression any real number. Indices must be below
  /// `state.blocks.features()`.
  virtual void learn(const Row<W>& row, double label, double weight) = 0;

  /// What was predicted for the last row before it was learned: a class number (-1: none was
  /// seen), or a value.
  double last_prediction = -1;

  /// Scores per seen class (regression: one), and per class the variance of the margin.
  virtual void predict(const Row<W>& row, Scores& out) const = 0;

  virtual double weight(std::size_t slot, int column) const = 0;

  /// Asks the memory for what the next row will need.
  void prefetch(const Row<W>& row) const {
    const auto* first = reinterpret_cast<const char*>(state.blocks.first());
    const std::size_t bytes = state.blocks.stride() * sizeof(W);
    for (std::size_t i = 0; i < row.size; ++i)
      for (std::size_t line = 0; line < bytes; line += 64)
        __builtin_prefetch(first + row.index[i] * bytes + line, 1);
  }
  virtual void grow_features(std::size_t features) = 0;
  virtual void reserve_classes(int classes) = 0;  ///< makes room; changes nothing else
  virtual double intercept() const = 0;

  Strategy strategy() const { return recipe_.strategy; }
  const Recipe& recipe() const { return recipe_; }

  /// The class for which a column is the positive one; -1: the column "none of the seen".
  int positive_class(int column) const {
    if (recipe_.strategy == Strategy::binary) return 1;
    if (recipe_.strategy == Strategy::top1) return column;
    return column <= 2 ? std::array{-1, 1, 0}[column] : column - 1;
  }

  /// The column of a class's weights; for up to two classes in one_versus_rest and for binary there
  /// is only the second class's, and the first class's is its mirror image.
  int column_of(int c) const {
    if (recipe_.strategy == Strategy::binary) return 0;
    if (recipe_.strategy == Strategy::top1) return c;
    if (state.classes <= 2) return state.classes - 1;
    return c <= 1 ? 2 - c : c + 1;
  }

 protected:
  Learner(State<W> s, Recipe recipe) : state(std::move(s)), recipe_(std::move(recipe)) {}

  Recipe recipe_;
};

template <class Loop>
class LearnerWith final : public Learner<typename Loop::Weight> {
 public:
  using W = typename Loop::Weight;
  using Base = Learner<W>;
  using Base::recipe_;
  using Base::state;

  explicit LearnerWith(const Recipe& recipe)
      : Base(State<W>(Blocks<W>(Loop::planes(recipe.average, recipe.initial_variance),
                                recipe.strategy == Strategy::top1 ? 0 : 1)),
             recipe) {
    loop_.set(recipe.loop_parameters, recipe.intercept, recipe.average);
  }

  void grow_features(std::size_t features) override { state.grow_features(features); }
  double intercept() const override { return loop_.intercept(); }
  double weight(std::size_t slot, int column) const override {
    return loop_.weight(state, slot, column);
  }

  void learn(const Row<W>& row, double label, double weight) override {
    kept_.clear();
    if (recipe_.strategy == Strategy::regression) return learn_value(row, label, weight);
    if (recipe_.strategy == Strategy::binary) return learn_binary(row, label, weight);
    if (recipe_.strategy == Strategy::examples) return learn_example(row, weight);
    moves_.clear();
    top_margin_ = -1;
    const int c = static_cast<int>(label);
    const bool is_new = c == state.classes;
    if (is_new) add_class();
    try {
      learn_class(row, c, weight, is_new);
    } catch (...) {
      if (is_new) remove_class();
      throw;
    }
  }

  void predict(const Row<W>& row, Scores& out) const override {
    loop_.predict(state, row, out);
    if (recipe_.strategy == Strategy::regression) return;
    if (recipe_.strategy == Strategy::examples) return note_distance(row, out);
    if (state.classes == 0) return out.resize(0);
    to_classes(out.score, -1);
    to_classes(out.variance, 1);
  }

  void reserve_classes(int classes) override {
    if (recipe_.strategy == Strategy::top1) state.reserve_columns(classes);
    if (recipe_.strategy == Strategy::one_versus_rest && classes > 2)
      state.reserve_columns(classes + 1);
  }

 private:
  void learn_value(const Row<W>& row, double value, double weight) {
    loop_.assess(state, row, scores_);
    const double score = this->last_prediction = scores_.score[0];
    const double sign = value >= score ? 1 : -1;
    finish(move_column(row, sign, sign * value - recipe_.epsilon, weight), false);
  }

  void learn_example(const Row<W>& row, double weight) {
    loop_.assess(state, row, scores_);
    this->last_prediction = scores_.score[0];
    finish(move_column(row, 1, 1, weight), false);
  }

  /// Beside x.w, |x - w|^2, in the place where other strategies have a variance.
  void note_distance(const Row<W>& row, Scores& out) const {
    loop_.measure(state, row, {}, out);
    out.variance[0] = std::max(0.0, state.ww[0] - 2 * out.score[0] + out.xx);
  }

  void learn_binary(const Row<W>& row, double label, double weight) {
    loop_.assess(state, row, scores_);
    const double score = scores_.score[0];
    const int predicted = state.classes <= 1 ? state.classes - 1 : score > 0;
    const bool wrong = predicted != label;
    this->last_prediction = predicted;
    const bool moved = move_column(row, label == 1 ? 1 : -1, 1, weight);
    state.classes = std::max(state.classes, static_cast<int>(label) + 1);
    if constexpr (Loop::calibrated)
      if (state.classes == 2 && state.calibration.wants(state.t + 1))
        state.calibration.record(std::abs(score) / std::sqrt(scores_.variance[0]), !wrong, weight,
                                 state.t + 1);
    finish(moved, wrong);
  }

  /// One column and nothing beside it, which needs no lists. True if it moved.
  bool move_column(const Row<W>& row, double sign, double target, double weight) {
    Move move;
    if (rests(sign * scores_.score[0], target)) return false;
    const bool moves = ask(0, sign, weight, target, move);
    if (moves) {
      loop_.apply(state, row, scores_, {&move, 1});
      ++state.column_updates[0];
    }
    keep_memories();
    return moves;
  }

  void learn_class(const Row<W>& row, int c, double weight, bool is_new) {
    loop_.score(state, row, scores_);
    const int predicted = predicted_class(state.classes - is_new);
    this->last_prediction = predicted;
    const bool moved = recipe_.strategy == Strategy::top1 ? ask_top1(row, c, weight)
                                                          : ask_each_column(row, c, weight);
    if (!moves_.empty()) loop_.apply(state, row, scores_, moves_);  // nothing has changed so far
    for (const Move& m : moves_) ++state.column_updates[m.column];
    keep_memories();
    if constexpr (Loop::calibrated)
      if (top_margin_ >= 0)
        state.calibration.record(top_margin_, predicted == c, weight, state.t + 1);
    if (recipe_.strategy == Strategy::one_versus_rest) state.touched.add(row);
    finish(moved, predicted != c);
  }

  /// Counts the row, which has been learned.
  void finish(bool moved, bool wrong) {
    loop_.finish_row(state);
    if constexpr (Loop::calibrated)
      state.calibration.refit_when_due(state.t + 1, 1.0 / std::max(2, state.classes));
    state.updates += moved;
    state.mistakes += wrong;
    ++state.t;
  }

  bool rests(double margin, double target) const {
    return recipe_.rests_at_target && margin >= target;
  }

  /// One-versus-rest: each column is a problem of its own.
  bool ask_each_column(const Row<W>& row, int c, double weight) {
    const int columns = state.blocks.columns();
    const bool calibrates = Loop::calibrated && state.calibration.wants(state.t + 1);
    listed_.clear();
    for (int k = 0; k < columns; ++k)
      if (calibrates || !rests(sign_of(k, c) * scores_.score[k], 1)) listed_.push_back(k);
    if (listed_.empty()) return false;
    loop_.measure(state, row, listed_, scores_);
    if (calibrates) note_top_margin();
    bool moved = false;
    Move move;
    for (const int k : listed_) {
      if (!ask(k, sign_of(k, c), weight, 1, move)) continue;
      moves_.push_back(move);
      moved |= !is_none(k);
    }
    return moved;
  }

  double sign_of(int column, int c) const { return 2.0 * (c == this->positive_class(column)) - 1; }

  /// The column "none of the seen", which always comes first; with one class seen it is all there
  /// is, and stands for the second class.
  bool is_none(int column) const {
    return recipe_.strategy == Strategy::one_versus_rest && column == 0 && state.classes > 1;
  }

  /// By how many deviations the predicted class is ahead. All variances have been measured.
  void note_top_margin() {
    if (state.classes < 2) return;
    if (state.classes == 2 && recipe_.strategy != Strategy::top1) {
      const int k = this->column_of(1);
      top_margin_ = std::abs(scores_.score[k]) / std::sqrt(scores_.variance[k]);
      return;
    }
    const int best = best_class(-1, state.classes), second = best_class(best, state.classes);
    const double v =
        scores_.variance[this->column_of(best)] + scores_.variance[this->column_of(second)];
    top_margin_ = (score_of(best) - score_of(second)) / std::sqrt(v);
  }

  /// Asks the rule about one column; false if it is to stay as it is.
  bool ask(int k, double sign, double weight, double target, Move& move) {
    const Situation situation{sign * scores_.score[k], target, scores_.xx,  state.ww[k],
                              scores_.variance[k],     weight, state.t + 1, state.column_updates[k],
                              state.column_memory[k]};
    double step[3];
    consult(situation, step);
    if (step[2] != situation.memory) kept_.push_back({k, step[2]});
    if (Loop::is_still(step)) return false;
    move = Loop::move(k, sign, 1, step, scores_.variance[k]);
    return true;
  }

  /// Many classes at once: the true one against its best rival.
  bool ask_top1(const Row<W>& row, int c, double weight) {
    const int rival = best_class(c, state.classes);
    if (rival < 0) return false;
    const double margin = scores_.score[c] - scores_.score[rival];
    const bool calibrates = Loop::calibrated && state.calibration.wants(state.t + 1);
    if (!calibrates && rests(margin, 1)) return false;
    listed_ = {c, rival};
    if (calibrates) {
      listed_.resize(state.classes);
      std::iota(listed_.begin(), listed_.end(), 0);
    }
    loop_.measure(state, row, listed_, scores_);
    if (calibrates) note_top_margin();
    const double v = scores_.variance[c] + scores_.variance[rival];
    double ww = 0;
    for (double w : state.ww) ww += w;
    const Situation situation{margin,
                              1,
                              2 * scores_.xx,
                              ww,
                              v,
                              weight,
                              state.t + 1,
                              state.updates,
                              state.column_memory[0]};
    double step[3];
    consult(situation, step);
    if (step[2] != situation.memory) kept_.push_back({0, step[2]});
    if (Loop::is_still(step)) return false;
    moves_.push_back(Loop::move(c, 1, 1, step, v));
    moves_.push_back(Loop::move(rival, -1, 1, step, v));
    if (Loop::shrinks && step[0] != 1)
      for (int k = 0; k < state.classes; ++k)
        if (k != c && k != rival) moves_.push_back(Loop::move(k, 1, 0, step, v));
    return true;
  }

  void consult(const Situation& situation, double* step) const {
    if (!std::isfinite(situation.margin + situation.zz + situation.v))
      throw Error("this row's values overflow when squared; scale the features down");
    const double* parameters =
        recipe_.rule_context ? recipe_.rule_context : recipe_.rule_parameters.data();
    step[0] = step[1] = std::numeric_limits<double>::quiet_NaN();  // what a silent rule has said
    step[2] = situation.memory;
    recipe_.rule(&situation, parameters, step);
    if (!std::isfinite(step[0]) || !std::isfinite(step[1]) || !std::isfinite(step[2]))
      throw Error("this row's update is not finite; scale the features or the step down");
  }

  /// Stores what the rule wants to find at the next row, once this one is sure to be learned.
  void keep_memories() {
    for (const auto& [column, memory] : kept_) state.column_memory[column] = memory;
  }

  double score_of(int c) const { return scores_.score[this->column_of(c)]; }

  /// Of the first `classes` the one with the highest score, but not `except`; -1 if there is none.
  /// Ties go to the class seen first.
  int best_class(int except, int classes) const {
    int best = -1;
    for (int k = 0; k < classes; ++k)
      if (k != except && (best < 0 || score_of(k) > score_of(best))) best = k;
    return best;
  }

  /// The class that the scores speak for, of the first `classes`.
  int predicted_class(int classes) const {
    if (classes <= 1) return classes - 1;
    if (recipe_.strategy == Strategy::top1 || state.classes > 2) return best_class(-1, classes);
    return score_of(1) > 0 ? 1 : 0;
  }

  /// From columns to classes.
  void to_classes(std::vector<double>& values, int mirror) const {
    if (recipe_.strategy == Strategy::top1) return;
    if (state.classes == 1) {
      values = {mirror * values[0]};
    } else if (state.classes == 2) {
      const double second = values[this->column_of(1)];
      values = {mirror * second, second};
    } else {
      std::vector<double> ordered(state.classes);
      for (int c = 0; c < state.classes; ++c) ordered[c] = values[this->column_of(c)];
      values = std::move(ordered);
    }
  }

  /// Gives a new class its column. In one_versus_rest it copies the column "none of the seen",
  /// which has taken every row as negative, so that growing classes equals knowing them
  /// beforehand; the first class gets its own column, mirrored from the second's, with the third.
  void add_class() {
    const int known = state.classes++;
    if (recipe_.strategy == Strategy::top1) state.add_column(-1, false);
    if (recipe_.strategy != Strategy::one_versus_rest || known == 0) return;
    if (known == 2) state.add_column(this->column_of(1), true);
    state.add_column(0, false);
  }

  /// Takes back the newest class, whose column nothing has moved yet.
  void remove_class() {
    const int left = --state.classes;
    if (recipe_.strategy == Strategy::top1) state.truncate_columns(left);
    if (recipe_.strategy == Strategy::one_versus_rest)
      state.truncate_columns(left <= 2 ? std::max(left, 1) : left + 1);
  }

  Loop loop_;
  Scores scores_;
  std::vector<int> listed_;  ///< columns to ask the rule about
  std::vector<Move> moves_;
  std::vector<std::pair<int, double>> kept_;  ///< columns and the rule's new memory of them
  double top_margin_ = -1;                    ///< of this row, for the calibration; -1: not noted
};

template <class W>
std::unique_ptr<Learner<W>> make_learner(const Recipe& recipe) {
  switch (recipe.loop) {
    case LoopKind::affine:
      return std::make_unique<LearnerWith<AffineLoop<W>>>(recipe);
    case LoopKind::diagonal:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Diagonal>>>(recipe);
    case LoopKind::projected:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Projected>>>(recipe);
    case LoopKind::whitened:
      return std::make_unique<LearnerWith<ConfidenceLoop<W, Whitened>>>(recipe);
    case LoopKind::soft_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, SoftPull>>>(recipe);
    case LoopKind::dual_pull:
      return std::make_unique<LearnerWith<ProximalLoop<W, DualPull>>>(recipe);
  }
  throw Error("unknown loop");
}

}  // namespace yarrow
