#pragma once
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

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
/// A row is walked twice, once to score it and once to learn it, for all experts and classes at a
/// time: a block holds, for each expert and column, all weights, then all P - 1 and G, so that one
/// loop over neighbouring numbers serves one column and many. Then the statistics of the feature.
///
/// Loop parameters: rates (AROW: r), memories and first weights of the experts; r, drift and
/// variance of the mixture.
template <class W>
class YarrowLearner final : public Learner<W> {
  using Base = Learner<W>;
  using Base::recipe_;
  static constexpr std::size_t arows = 4, gradients = 2, experts = Mixture::experts;
  static constexpr std::size_t statistics = 2 * experts;  ///< the first plane of these
  using One = std::integral_constant<std::size_t, 1>;
  using Numbers = std::vector<double>;

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
    column_statistics().standardize(state, row, walk.row);
    listen<false>(row, walk);
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
    StandardizedRow row;
    Numbers products, variances;  ///< w.x~ and sum of x~^2/P, without length and intercept
    Numbers scores;               ///< of the mixture, a column each
    Numbers step, gain, fade;     ///< AROW: alpha, kappa, memory; AdaGrad: gradient
  };

  static std::vector<Plane> planes() {
    std::vector<Plane> planes(2 * experts + ColumnStatistics::planes, {0, false});
    for (std::size_t e = 0; e < experts; ++e) planes[e].is_signed = true;
    return planes;
  }

  ColumnStatistics column_statistics() const {
    const std::size_t capacity = state.blocks.capacity();
    return {statistics * capacity, capacity};
  }

  static double heard(std::size_t expert) { return expert < arows ? 1 : 0.5; }

  /// What the experts say of a standardised row, and what the mixture makes of it.
  template <bool Measures>
  void listen(const Row<W>& row, Walk& walk) const {
    const std::size_t capacity = state.blocks.capacity();
    capacity == 1 ? sum_up<Measures>(row, walk, One{}) : sum_up<Measures>(row, walk, capacity);
    walk.scores.resize(state.blocks.columns());
    for (int k = 0; k < state.blocks.columns(); ++k)
      walk.scores[k] = state.mixture.score(said(walk, k));
  }

  template <bool Measures, class Capacity>
  void sum_up(const Row<W>& row, Walk& walk, Capacity capacity) const {
    constexpr bool is_one = std::is_same_v<Capacity, One>;
    std::array<double, experts> few{};  // these stay in registers
    std::array<double, arows> few_variances{};
    if constexpr (!is_one) {
      walk.products.assign(experts * capacity, 0);
      if (Measures) walk.variances.assign(arows * capacity, 0);
    }
    double* const products = is_one ? few.data() : walk.products.data();
    double* const variances = is_one ? few_variances.data() : walk.variances.data();
    const W* first = state.blocks.first();
    const std::size_t stride = state.blocks.stride();
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* cells = first + row.index[i] * stride;
      const double x = walk.row.values[i], xx = x * x;
      for (std::size_t j = 0; j < experts * capacity; ++j) products[j] += x * cells[j];
      if constexpr (Measures)
        for (std::size_t j = 0; j < arows * capacity; ++j)
          variances[j] += xx / (1 + static_cast<double>(cells[experts * capacity + j]));
    }
    if constexpr (is_one) {
      walk.products.assign(few.begin(), few.end());
      walk.variances.assign(few_variances.begin(), few_variances.end());
    }
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
    statistics.check(state, row);
    statistics.standardize(state, row, walk_.row);
    listen<true>(row, walk_);
    const int classes = state.classes - is_new;
    const int predicted = predicted_class(classes);
    this->last_prediction = predicted;
    const Mixture next =
        state.mixture.after(example_of(c), mixture_r_ / weight, drift_, first_weights_);
    const double growth = decide(c, weight);
    state.weights.template admit<W>(growth, [&] { return largest_weight(); });
    if (classes > 1 && state.calibration.wants(state.t + 1))
      state.calibration.record(lead(predicted, classes), predicted == c, weight, state.t + 1);
    const std::size_t capacity = state.blocks.capacity();
    capacity == 1 ? move(row, statistics, One{}) : move(row, statistics, capacity);
    state.mixture = next;
    statistics.finish_row(state);
    if (recipe_.strategy == Strategy::one_versus_rest) state.touched.add(row);
    state.calibration.refit_when_due(state.t + 1, 1.0 / std::max(2, state.classes));
    for (Column& column : state.columns) ++column.updates;
    add_to_count(state.updates, 1);
    add_to_count(state.mistakes, predicted != c);
    add_to_count(state.t, 1);
  }

  /// What each expert does in each column; returns how far a weight may move at most.
  double decide(int c, double weight) {
    const std::size_t capacity = state.blocks.capacity();
    const W* intercept = state.blocks.intercept();
    walk_.step.assign(experts * capacity, 0);
    walk_.gain.assign(arows * capacity, 0);
    walk_.fade.assign(arows * capacity, 1);
    double growth = 0;
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const double sign = c == this->columns().positive_class(k) ? 1 : -1;
      for (std::size_t e = 0; e < experts; ++e) {
        const std::size_t at = e * capacity + k;
        const double margin =
            sign * (walk_.products[at] * walk_.row.to_learn + intercept_ * intercept[at]);
        if (e >= arows) {  // a weight beyond this is as good as infinite
          walk_.step[at] = sign * std::min(weight, 1e15) / (1 + std::exp(margin));
          growth = std::max(growth, rates_[e]);
          continue;
        }
        const double v = walk_.variances[at] * square(walk_.row.to_learn) +
                         square(intercept_) / (1.0 + intercept[experts * capacity + at]);
        const Situation situation{.margin = margin,
                                  .target = 1,
                                  .zz = 0,
                                  .ww = 0,
                                  .v = v,
                                  .weight = weight,
                                  .t = state.t + 1,
                                  .updates = 0,
                                  .memory = 0};
        const auto [alpha, kappa] = arow(situation, rates_ + e);
        if (!std::isfinite(alpha + kappa))
          throw Error("this row's update is not finite; scale its weight down");
        if (kappa == 0) continue;  // at rest
        walk_.step[at] = sign * alpha;
        walk_.gain[at] = kappa;
        walk_.fade[at] = memories_[e];
        growth = std::max(growth, alpha * std::sqrt(v));
      }
    }
    return growth;
  }

  template <class Capacity>
  void move(const Row<W>& row, const ColumnStatistics& statistics, Capacity capacity) {
    W* first = state.blocks.first();
    const std::size_t stride = state.blocks.stride();
    for (std::size_t i = 0; i < row.size; ++i) {
      W* cells = first + row.index[i] * stride;
      move_block(cells, walk_.row.values[i] * walk_.row.to_learn, capacity);
      statistics.count(cells + statistics.at, row.value[i]);
    }
    move_block(state.blocks.intercept(), intercept_, capacity);
  }

  /// All experts and columns of one feature.
  template <class Capacity>
  void move_block(W* __restrict weights, double x, Capacity capacity) const {
    W* __restrict precisions = weights + experts * capacity;
    const double* __restrict step = walk_.step.data();
    const double* __restrict gain = walk_.gain.data();
    const double* __restrict fade = walk_.fade.data();
    const double xx = x * x;
    for (std::size_t j = 0; j < arows * capacity; ++j) {
      const double p = precisions[j];
      weights[j] = static_cast<W>(weights[j] + step[j] * x / (1 + p));
      precisions[j] = static_cast<W>(smaller(fade[j] * (p + gain[j] * xx), most_precision));
    }
    for (std::size_t e = arows; e < experts; ++e)
      for (std::size_t j = e * capacity; j < (e + 1) * capacity; ++j) {
        const double g = step[j] * x;
        const double squares = memories_[e] * precisions[j] + g * g;
        weights[j] =
            static_cast<W>(weights[j] + rates_[e] * g / std::sqrt(larger(squares, 1e-280)));
        precisions[j] = static_cast<W>(smaller(squares, most_precision));
      }
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

  static constexpr double most_precision = 1e30;

  const double *rates_, *memories_, *first_weights_;
  double mixture_r_, drift_, intercept_;
  Walk walk_;
};

}  // namespace yarrow
