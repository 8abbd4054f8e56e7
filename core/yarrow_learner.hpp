#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "expert_steps.hpp"
#include "expert_sums.hpp"
#include "learner.hpp"
#include "mixture.hpp"
#include "rules/arow.hpp"
#include "standardized.hpp"

namespace yarrow {

/// The learner without settings: six experts on standardised rows, and a mixture above them.
///   4 x AROW whose precision fades at each update of a feature, P <- 1 + (P - 1)*memory;
///   2 x logistic regression by AdaGrad, G <- memory*G + g^2, w -= rate*g/sqrt(G), whose sum of
///       squared gradients fades alike; half its score is heard, as a margin of 2 is a sure one.
/// Each is one-versus-rest, each learns every row by itself; docs/yarrow-learner.md has the idea.
///
/// Rows are walked for all experts and classes at a time: a block holds, for each expert and
/// column, all weights, then all P - 1 and G, so that one loop over neighbouring numbers serves one
/// column and many. Then the statistics of the feature, once for all columns.
///
/// Loop parameters: rates (AROW: r), memories and first weights of the experts; r, drift and
/// variance of the mixture.
template <class W>
class YarrowLearner final : public Learner<W> {
  using Base = Learner<W>;
  using Base::recipe_;
  static constexpr std::size_t arows = 4, experts = Mixture::experts;
  static constexpr std::size_t statistics = 2 * experts;  ///< the first plane of these
  using Numbers = std::vector<double>;

  static constexpr std::size_t width = lanes_of<W>;

 public:
  using Base::state;

  explicit YarrowLearner(const Recipe& recipe) : Base(State<W>(Blocks<W>(planes(), 1)), recipe) {
    if (recipe.loop_parameters.size() != 3 * experts + 3)
      throw Error("a mixture of experts needs three numbers for each, and three of its own");
    rates_ = recipe_.loop_parameters.data();
    memories_ = rates_ + experts;
    first_weights_ = memories_ + experts;
    mixture_r_ = first_weights_[experts];
    drift_ = first_weights_[experts + 1];
    intercept_ = static_cast<W>(recipe.intercept);  // rounded like any other value
    state.mixture.start(first_weights_, first_weights_[experts + 2]);
  }

  void learn(const Row<W>& row, double label, double weight) override {
    const int c = static_cast<int>(label);
    const bool is_new = c == state.classes;
    try {
      if (is_new) add_class(state, recipe_.strategy);
      learn_class(row, c, weight, is_new);
    } catch (...) {
      if (is_new) remove_class(state, recipe_.strategy);
      throw;
    }
  }

  void predict(const Row<W>& row, Scores& out) const override {
    score(row, out);
    if (state.classes == 0) return out.resize(0);
    this->columns().to_classes(out.score, -1);
    this->columns().to_classes(out.variance, 1);
  }

  void score(const Row<W>& row, Scores& out) const override {
    thread_local Walk walk;
    listen(row, walk);
    out.resize(state.blocks.columns());
    out.score = walk.scores;
    // The mixture's margin itself is what is calibrated: it has variance one.
    std::fill(out.variance.begin(), out.variance.end(), state.classes > 2 ? 0.5 : 1.0);
  }

  bool predicts_as_it_learns() const override { return true; }
  void last_scores(std::vector<double>& out) const override {
    out = walk_.scores;
    this->columns().to_classes(out, -1);
  }

  /// Of the standardised feature, as long as no expert shouts.
  double weight(std::size_t slot, int column) const override {
    const std::size_t capacity = state.blocks.capacity();
    const W* cell = state.blocks.data() + slot * state.blocks.stride() + column;
    double sum = 0;
    for (std::size_t e = 0; e < experts; ++e)
      sum += state.mixture.mean[e] * heard(e) * static_cast<double>(cell[e * capacity]);
    return sum;
  }
  std::vector<W> weights() const override {
    const std::size_t slots = state.blocks.features() + 1, columns = state.blocks.columns();
    std::vector<W> all(slots * columns);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<W>(weight(i / columns, static_cast<int>(i % columns)));
    return all;
  }
  double variance(std::size_t, int) const override {
    throw Error("this learner keeps no variances");
  }
  void covariance(int, double*) const override {
    throw Error("this learner keeps no covariance between weights");
  }

  void grow_features(std::size_t features) override { state.grow_features(features); }
  double intercept() const override { return intercept_; }
  void after_forgetting() override {}
  void rebuild() override {}

 private:
  /// What is found out about one row; by expert and column, as in the blocks.
  struct Walk {
    StandardizedRow<W> row;
    Numbers products, variances;  ///< w.x~ and sum of x~^2/P, without length and intercept
    Numbers scores;               ///< of the mixture, a column each
    Numbers margins;
    std::vector<W> step, gain,
        fade;  ///< AROW: alpha, kappa, memory; AdaGrad: gradient, rate, memory
    std::vector<std::size_t> moving;  ///< groups of neighbours among the AROWs that learn
  };

  static std::vector<Plane> planes() {
    std::vector<Plane> planes(experts, {0, true});
    planes.resize(statistics, {0, false});
    planes.resize(statistics + ColumnStatistics::planes, {0, false, true});
    return planes;
  }

  /// What assign does, without a call for a handful of numbers.
  template <class Number>
  static void fill(std::vector<Number>& numbers, std::size_t n, int value) {
    if (numbers.size() != n) numbers.resize(n);
    for (Number& number : numbers) number = static_cast<Number>(value);
  }

  ColumnStatistics column_statistics() const { return {statistics * state.blocks.capacity()}; }

  static double heard(std::size_t expert) { return expert < arows ? 1 : 0.5; }

  /// What the experts say of a row, standardised, and what the mixture makes of it.
  void listen(const Row<W>& row, Walk& walk) const {
    const std::size_t capacity = state.blocks.capacity(), stride = state.blocks.stride();
    const W* first = state.blocks.first();
    fill(walk.products, experts * capacity, 0);
    if (capacity == 1) {  // nothing beside the column, so that its sums fit into the same walk
      const auto products =
          column_statistics().standardize(state, row, walk.row, ProductSums<experts, W>{});
      std::memcpy(walk.products.data(), products.sums, sizeof products.sums);
    } else {
      column_statistics().standardize(state, row, walk.row, [](auto, auto) {});
      sum_products(row, walk.row.values.data(), first, stride, experts * capacity,
                   walk.products.data());
    }
    walk.scores.resize(state.blocks.columns());
    for (int k = 0; k < state.blocks.columns(); ++k)
      walk.scores[k] = state.mixture.score(said(walk, k));
  }

  /// The experts' scores of one column.
  Mixture::Numbers said(const Walk& walk, int column) const {
    const std::size_t capacity = state.blocks.capacity();
    const W* intercept = state.blocks.intercept();
    Mixture::Numbers scores;
    for (std::size_t e = 0; e < experts; ++e) {
      const std::size_t at = e * capacity + column;
      const double score = walk.products[at] * walk.row.to_predict + intercept_ * intercept[at];
      scores[e] = Mixture::cut(heard(e) * score);
    }
    return scores;
  }

  void learn_class(const Row<W>& row, int c, double weight, bool is_new) {
    const ColumnStatistics statistics = column_statistics();
    listen(row, walk_);
    const int classes = state.classes - is_new;
    const int predicted = predicted_class(classes);
    this->last_prediction = predicted;
    const Mixture::Step mixture_step = state.mixture.step(example_of(c), mixture_r_ / weight);
    const double growth = decide(row, c, weight);
    state.weights.template admit<W>(growth, [&] { return largest_weight(); });
    if (classes > 1 && state.calibration.wants(state.t + 1))
      state.calibration.record(lead(predicted, classes), predicted == c, weight, state.t + 1);
    move(row);
    statistics.count(state, row);
    state.mixture.take(mixture_step, drift_, first_weights_);
    statistics.finish_row(state);
    if (recipe_.strategy == Strategy::one_versus_rest) state.touched.add(row);
    state.calibration.refit_when_due(state.t + 1, 1.0 / std::max(2, state.classes));
    for (Column& column : state.columns) ++column.updates;
    add_to_count(state.updates, 1);
    add_to_count(state.mistakes, predicted != c);
    add_to_count(state.t, 1);
  }

  /// What each expert does in each column; returns how far a weight may move at most.
  double decide(const Row<W>& row, int c, double weight) {
    const std::size_t capacity = state.blocks.capacity();
    const W* intercept = state.blocks.intercept();
    find_margins(c);
    fill(walk_.variances, arows * capacity, 0);
    sum_variances<arows>(row, walk_.row.values.data(), state.blocks.first() + experts * capacity,
                         state.blocks.stride(), arows * capacity, walk_.moving,
                         walk_.variances.data());
    fill(walk_.step, experts * capacity, 0);
    fill(walk_.gain, experts * capacity, 0);
    fill(walk_.fade, experts * capacity, 1);
    double growth = 0;
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const double sign = this->columns().sign(k, c);
      for (std::size_t e = 0; e < experts; ++e) {
        const std::size_t at = e * capacity + k;
        const double margin = walk_.margins[at];
        if (e >= arows) {  // a weight beyond this is as good as infinite
          set_step(at, sign * std::min(weight, 1e15) / (1 + std::exp(margin)), rates_[e], e);
          growth = std::max(growth, rates_[e]);
          continue;
        }
        const double v = walk_.variances[at] * square(walk_.row.to_learn) +
                         square(intercept_) / (1.0 + intercept[experts * capacity + at]);
        const auto [alpha, kappa] =
            arow({margin, 1, 0, 0, v, weight, state.t + 1, 0, 0}, rates_ + e);
        if (!(alpha + kappa < std::numeric_limits<double>::infinity()) ||
            !(alpha < std::numeric_limits<W>::max()))
          throw Error("this row's update is not finite; scale its weight down");
        if (kappa == 0) continue;  // at rest
        set_step(at, sign * alpha, std::min(kappa, most_precision), e);
        growth = std::max(growth, alpha * std::sqrt(v));
      }
    }
    return growth;
  }

  void set_step(std::size_t at, double step, double gain, std::size_t expert) {
    walk_.step[at] = static_cast<W>(step);
    walk_.gain[at] = static_cast<W>(gain);
    walk_.fade[at] = static_cast<W>(memories_[expert]);
  }

  /// The experts' margins, and which groups of AROWs are below the margin that they ask for.
  void find_margins(int c) {
    const std::size_t capacity = state.blocks.capacity();
    const W* intercept = state.blocks.intercept();
    fill(walk_.margins, experts * capacity, 1);
    walk_.moving.clear();
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const double sign = this->columns().sign(k, c);
      for (std::size_t at = k; at < experts * capacity; at += capacity)
        walk_.margins[at] =
            sign * (walk_.products[at] * walk_.row.to_learn + intercept_ * intercept[at]);
    }
    for (auto at = walk_.margins.begin(); at != walk_.margins.begin() + arows * capacity;
         at += width)
      if (std::any_of(at, at + width, [](double margin) { return margin < 1; }))
        walk_.moving.push_back(at - walk_.margins.begin());
  }

  ExpertSteps<W> steps() const { return {walk_.step.data(), walk_.gain.data(), walk_.fade.data()}; }

  void move(const Row<W>& row) {
    const std::size_t capacity = state.blocks.capacity(), n = experts * capacity;
    if (capacity == 1)
      return walk_.moving.empty() ? move_column<false>(row) : move_column<true>(row);
    const std::size_t* const moving = walk_.moving.data();
    const std::size_t many = walk_.moving.size();
    const ExpertSteps<W> steps = this->steps();
    move_blocks(row, [=](const auto& cells, const auto& x) {
      for (std::size_t m = 0; m < many; ++m) {
        const std::size_t j = moving[m];
        const ExpertStep<W> step = steps.template at<width>(j);
        for (std::size_t k = 0; k < std::size(x); ++k)
          step.arow(cells[k] + j, cells[k] + n + j, x[k]);
      }
      std::size_t j = arows * capacity;
      for (; j + width <= n; j += width) {
        const ExpertStep<W> step = steps.template at<width>(j);
        for (std::size_t k = 0; k < std::size(x); ++k)
          step.template adagrad<width>(cells[k] + j, cells[k] + n + j, x[k]);
      }
      if (j == n) return;
      const ExpertStep<W> step = steps.template at<2>(j);
      for (std::size_t k = 0; k < std::size(x); ++k)
        step.template adagrad<2>(cells[k] + j, cells[k] + n + j, x[k]);
    });
  }

  /// One column and nothing beside it: all steps stay in registers. `Arows`: whether these move.
  template <bool Arows>
  void move_column(const Row<W>& row) {
    constexpr std::size_t last = arows - width;  // the second half of the AROWs, or all of them
    const ExpertStep<W> first = steps().template at<width>(0),
                        second = steps().template at<width>(last);
    const ExpertStep<W> third = steps().template at<2>(arows);
    move_blocks(row, [=](const auto& cells, const auto& x) {
      if constexpr (Arows)
        for (std::size_t k = 0; k < std::size(x); ++k) {
          first.arow(cells[k], cells[k] + experts, x[k]);
          if constexpr (last > 0) second.arow(cells[k] + last, cells[k] + experts + last, x[k]);
        }
      if constexpr (width == 4 && std::extent_v<std::remove_reference_t<decltype(x)>> == 4) {
        third.adagrad_twice(cells[0] + arows, cells[1] + arows, experts, x[0], x[1]);
        third.adagrad_twice(cells[2] + arows, cells[3] + arows, experts, x[2], x[3]);
      } else {
        for (std::size_t k = 0; k < std::size(x); ++k)
          third.template adagrad<2>(cells[k] + arows, cells[k] + experts + arows, x[k]);
      }
    });
  }

  /// Calls f with the cells of some values at a time and with these, as long as a row is.
  template <class F>
  [[gnu::always_inline]] void move_blocks(const Row<W>& row, F f) {
    const W to_learn = static_cast<W>(walk_.row.to_learn);
    for_fours(row, walk_.row.values.data(), state.blocks.first(), state.blocks.stride(),
              [=](const auto& cells, const auto& values) {
                Lanes<W> x[std::extent_v<std::remove_reference_t<decltype(values)>>];
                spread(values, [=](Lanes<W> all) { return all * to_learn; }, x);
                f(cells, x);
              });
    W* const cells[] = {state.blocks.intercept()};
    const Lanes<W> x[] = {Lanes<W>{} + static_cast<W>(intercept_)};
    f(cells, x);
  }

  /// The true class against its best rival, as the mixture meets it. Up to two classes share a
  /// column, which speaks for the second.
  Mixture::Numbers example_of(int c) const {
    Mixture::Numbers z = said(walk_, this->column_of(state.classes > 2 ? c : 1));
    if (state.classes <= 2) {
      if (c != 1)
        for (double& s : z) s = -s;
      return z;
    }
    const Mixture::Numbers rival = said(walk_, this->column_of(best_class(c, state.classes)));
    for (std::size_t e = 0; e < experts; ++e) z[e] = (z[e] - rival[e]) / 2;
    return z;
  }

  double score_of(int c) const { return walk_.scores[this->column_of(c)]; }

  int best_class(int except, int classes) const {
    int best = -1;
    for (int c = 0; c < classes; ++c)
      if (c != except && (best < 0 || score_of(c) > score_of(best))) best = c;
    return best;
  }

  int predicted_class(int classes) const {
    if (classes <= 1) return classes - 1;
    if (state.classes > 2) return best_class(-1, classes);
    return score_of(1) > 0 ? 1 : 0;
  }

  /// By how much the predicted class was ahead.
  double lead(int predicted, int classes) const {
    if (state.classes <= 2) return std::abs(score_of(1));
    return score_of(predicted) - score_of(best_class(predicted, classes));
  }

  double largest_weight() const {
    double most = 0;
    for (std::size_t e = 0; e < experts; ++e) most = std::max(most, state.largest(e));
    return most;
  }

  const double *rates_, *memories_, *first_weights_;
  double mixture_r_, drift_, intercept_;
  Walk walk_;
};

}  // namespace yarrow
