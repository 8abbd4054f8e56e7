#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/arrays.hpp"
#include "data/classes.hpp"
#include "learner/column_part.hpp"
#include "learner/outputs.hpp"
#include "learner/rivals.hpp"
#include "learner/settled.hpp"
#include "rules/rule.hpp"
#include "state/state.hpp"

namespace yarrow {

enum class LearnerKind;  // registry/learners.hpp has them

/// Everything that fixes how a learner learns; none of it changes afterwards.
struct Recipe {
  LearnerKind kind{};
  Strategy strategy = Strategy::one_versus_rest;
  Rule rule = nullptr;
  std::vector<double> rule_parameters;
  SlackForm slack = nullptr;             ///< the rule's form for many rivals at once, if it has one
  int rivals = 0;                        ///< how many rivals at once; 0: all
  const double* rule_context = nullptr;  ///< given to the rule in place of its parameters
  std::vector<double> loop_parameters;   ///< of the loop itself: a penalty, a decay, a budget
  std::map<std::string, std::vector<double>> constants;  ///< of a mixture: others than its own
  double initial_variance = 1;                           ///< confidence family
  double intercept = 1;                                  ///< value of the constant feature; 0: none
  double epsilon = 0;  ///< regression: errors up to this are no errors
  bool average = false;
  /// The rule leaves a row alone if its margin reaches the target, whatever else it might be told:
  /// then the loop need not find out.
  bool passive_at_target = false;
};

/// Whether a regression diverges: whether more than half of the last rows are predicted further off
/// than three times the root mean square of their targets, where 0 would be off by one. No part of
/// what is learned, and not saved.
struct DivergenceWatch {
  double rows = 0, squares = 0, far = 0;
  bool is_told = false;

  void take(double target, double prediction) {
    const double pace = std::max(0.01, 1 / ++rows);
    squares += pace * (target * target - squares);
    const double error = target - prediction;
    far += pace * ((error * error <= 9 * squares ? 0.0 : 1.0) - far);
  }
  /// True once, when it has become so.
  bool tells() { return far > 0.5 && rows >= 100 && !std::exchange(is_told, true); }
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

  // One-versus-rest whose columns learn each by itself: threads may learn the same rows, each with
  // a learner of some of the columns, in the same memory. What takes all columns, they leave for
  // afterwards.

  /// Whether that is so of its columns, as soon as there are several.
  virtual bool has_lone_columns() const { return false; }
  /// A learner of some columns; while it learns, nobody else may touch these.
  virtual std::unique_ptr<Learner> part(int /*first*/, int /*columns*/) { return nullptr; }
  /// Learns a row of a known class, by a learner that is a part.
  virtual void learn_part(const Row<W>&, int /*c*/, double /*weight*/, ColumnPart&) {}
  /// Takes over what a part has of each column.
  virtual void take_columns(Learner& /*part*/, int /*first*/) {}
  /// Counts a row of class c that parts have learned, its i-th. `moves`: of each, before this row.
  virtual void count_row(int /*c*/, double /*weight*/, std::size_t /*i*/,
                         std::span<const ColumnPart> /*parts*/, std::span<std::size_t> /*moves*/) {}

  /// What was predicted for the last row before it was learned: a class number (-1: none was
  /// seen), or a value.
  double last_prediction = -1;

  DivergenceWatch divergence;  ///< of a regression

  /// Scores per column, and per column the variance of the margin if it is wanted.
  virtual void predict_columns(const Row<W>& row, bool wants_variances, Scores& out) const = 0;

  /// Scores per seen class (regression: one), and per class the variance of the margin.
  void predict(const Row<W>& row, Scores& out) const {
    predict_columns(row, true, out);
    if (outputs().is_real()) return;
    outputs().to_classes(out.score, -1);
    outputs().to_classes(out.variance, 1);
  }

  /// The same, and where the next row's numbers go; variances only where somebody asks for them.
  /// `found` is memory that later calls may use again.
  void predict_to(const Row<W>& row, double*& scores, double*& variances, Scores& found) const {
    const Outputs outputs = this->outputs();
    const auto put = [&](const std::vector<double>& columns, int mirror, double*& to) {
      if (outputs.is_real())
        *to++ = columns[0];
      else
        to = outputs.to_classes(columns, mirror, to);
    };
    predict_columns(row, variances, found);
    put(found.score, -1, scores);
    if (variances) put(found.variance, 1, variances);
  }
  void predict_rows(RowCursor<W>& rows, std::int64_t begin, std::int64_t end, double* scores,
                    double* variances, Scores& found) const {
    const bool is_large = this->is_large();
    for (std::int64_t i = begin; i < end; ++i) {
      const std::span<const Row<W>> read = rows.from(i);
      if (is_large && read.size() > 1) prefetch<false>(read[1]);
      predict_to(read[0], scores, variances, found);
    }
  }

  /// Scores by the weights that learning goes on from: the last ones, even where their average
  /// predicts.
  virtual void score(const Row<W>& row, Scores& out) const = 0;

  /// Whether a value that is missing is no 0: then a row has NaN there.
  virtual bool tells_missing() const { return false; }

  /// Whether learning a row begins with what `predict` would say of it; not so where an average or
  /// votes predict. Then `last_prediction` and `last_scores` spare a prediction of its own.
  virtual bool predicts_as_it_learns() const = 0;
  /// The scores of the last row, a class each, before it was learned. It brought no new class.
  virtual void last_scores(std::vector<double>& out) const = 0;

  /// Why `predict` gives a row its score in a column: by weight times value, unless the learner
  /// knows better.
  virtual Parts explain(const Row<W>& row, int column) const {
    return parts_of(row, intercept(), [&](std::size_t slot, double x) {
      return x == 0 ? 0 : x * weight(slot, column);
    });
  }

  /// Half the width of the interval around a prediction that holds the target so often.
  virtual double radius(double /*coverage*/) const {
    throw Error("this learner predicts no intervals");
  }
  /// Coverages, half the widths of their intervals, and how often these held the target so far.
  virtual std::vector<IntervalTold> intervals() const { return {}; }

  /// Of a mixture: what it predicts these scores by; and its experts, what each is worth to those
  /// above it, and how much of a prediction it makes.
  virtual Settled settle(const std::vector<ToldScore>& /*scores*/) const {
    throw Error("this learner is no mixture of experts");
  }
  virtual std::vector<ExpertTold> experts() const { return {}; }

  virtual double weight(std::size_t slot, int column) const = 0;
  virtual std::vector<W> weights() const {  ///< all of them, slot by slot
    const std::size_t slots = state.blocks.features() + 1, columns = state.blocks.columns();
    std::vector<W> all(slots * columns);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<W>(weight(i / columns, static_cast<int>(i % columns)));
    return all;
  }

  /// Of a weight, in the confidence family; as of now, where time changes it.
  virtual double variance(std::size_t /*slot*/, int /*column*/) const {
    throw Error("this learner keeps no variances");
  }
  /// The covariance of the weights of two columns as a matrix over all slots, written to `out`; in
  /// families without one it is refused. Only where it is joint are there two different ones.
  virtual bool is_joint() const { return false; }
  virtual void covariance(int /*column*/, int /*other*/, double* /*out*/) const {
    throw Error("this learner keeps no covariance between weights");
  }

  /// Asks the memory for what the next row will need. Always inline: compilers drop a call of a
  /// function that only does this, since it changes nothing.
  template <bool ToWrite>
  [[gnu::always_inline]] void prefetch(const Row<W>& row) const {
    const auto* first = reinterpret_cast<const char*>(state.blocks.first());
    const std::size_t bytes = state.blocks.stride() * sizeof(W);
    for (std::size_t i = 0; i < row.size; ++i)
      __builtin_prefetch(first + row.index[i] * bytes, ToWrite);
    if (bytes <= 64) return;
    for (std::size_t i = 0; i < row.size; ++i)
      for (std::size_t line = 64; line < bytes; line += 64)
        __builtin_prefetch(first + row.index[i] * bytes + line, ToWrite);
  }
  /// The same for a part, whose columns are a piece of each plane.
  [[gnu::always_inline]] void prefetch_part(const Row<W>& row) const {
    const Blocks<W>& blocks = state.blocks;
    for (std::size_t plane = 0; plane < blocks.planes().size(); ++plane) {
      const W* const first = blocks.first() + plane * blocks.capacity();
      for (std::size_t i = 0; i < row.size; ++i) {
        const W* const cells = first + row.index[i] * blocks.stride();
        for (int k = 0; k < blocks.columns(); k += 64 / sizeof(W)) __builtin_prefetch(cells + k);
        __builtin_prefetch(cells + blocks.columns() - 1);
      }
    }
  }
  /// Whether the weights exceed a core's own cache, so that asking for them beforehand pays.
  bool is_large() const { return state.blocks.bytes() > std::size_t{2} << 20; }
  virtual double intercept() const = 0;
  virtual void after_forgetting() {}  ///< what a loop sums over all features, with some taken out
  /// Whether no number is larger than the bounds say, on which every check of an overflow relies.
  virtual bool is_bounded() const = 0;
  virtual void rebuild() {}      ///< what a loop keeps beside the blocks, after these were replaced
  virtual void check() const {}  ///< refuses what a file says and learning does not lead to

  /// What classes cost that are taken for others; without a table each wrong class costs 1.
  void use_costs(const CostTable* costs) { costs_ = costs; }

  /// Makes room; changes nothing else.
  void reserve_classes(int classes) { yarrow::reserve_classes(state, recipe_.strategy, classes); }

  Strategy strategy() const { return recipe_.strategy; }
  const Recipe& recipe() const { return recipe_; }

  Outputs outputs() const { return {recipe_.strategy, state.classes}; }
  int column_of(int c) const { return outputs().of_class(c); }

 protected:
  Learner(State<W> s, Recipe recipe) : state(std::move(s)), recipe_(std::move(recipe)) {}

  /// Learns a row of class c, by `learn(is_new)`; if that fails, a new class goes again.
  template <class Learn>
  void learn_as(int c, Learn learn) {
    const bool is_new = c == state.classes;
    if (!is_new) return learn(false);
    all_or_nothing(
        [&] {
          add_class(state, recipe_.strategy);
          learn(true);
        },
        [&] { remove_class(state, recipe_.strategy); });
  }

  Recipe recipe_;
  const CostTable* costs_ = nullptr;
};

}  // namespace yarrow
