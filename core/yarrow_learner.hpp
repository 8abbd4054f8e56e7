#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bent_row.hpp"
#include "expert_steps.hpp"
#include "expert_sums.hpp"
#include "learner.hpp"
#include "mixture.hpp"
#include "naive_bayes.hpp"
#include "rules/arow.hpp"
#include "standardized.hpp"

namespace yarrow {

/// The learner without settings: eight experts on standardised rows, and a mixture above them.
///   4 x AROW whose precision fades at each update of a feature, P <- 1 + (P - 1)*memory; the
///       first of them sees values times what they say to naive Bayes, unless features are few;
///   2 x logistic regression by AdaGrad, G <- memory*G + g^2, w -= rate*g/sqrt(G), whose sum of
///       squared gradients fades alike; half its score is heard, as a margin of 2 is a sure one;
///   AROW on bent rows, for few features (bends.hpp), else silent;
///   naive Bayes (naive_bayes.hpp), of the pieces of bent rows or of the features.
/// Each is one-versus-rest, each learns every row by itself; docs/yarrow-learner.md has the idea.
///
/// Rows are walked for all experts and classes at a time: a block holds, for each of the first six
/// and each column, all weights, then all P - 1 and G, so that one loop over neighbouring numbers
/// serves one column and many; then each column's hits. Then the statistics of the feature, once
/// for all columns; its visits among them.
///
/// Loop parameters: rates (AROW: r) and memories of the first six; first weights and variances of
/// all; r and drift of the mixture; r on bent rows; how counts of a feature are smoothed, and those
/// of all.
template <class W>
class YarrowLearner final : public Learner<W> {
  using Base = Learner<W>;
  using Base::recipe_;
  static constexpr std::size_t arows = 4, experts = 6;
  static constexpr std::size_t bent = experts, bayes = experts + 1, all = Mixture::experts;
  static constexpr std::size_t hits = 2 * experts, statistics = hits + 1;  ///< planes
  using Numbers = std::vector<double>;

  static constexpr std::size_t width = lanes_of<W>;
  static constexpr double infinite_weight = 1e15;  ///< one beyond this is as good as infinite

 public:
  using Base::state;

  explicit YarrowLearner(const Recipe& recipe) : Base(State<W>(Blocks<W>(planes(), 1)), recipe) {
    if (recipe.loop_parameters.size() != 2 * experts + 2 * all + 5)
      throw Error("a mixture of experts has another number of parameters");
    rates_ = recipe_.loop_parameters.data();
    memories_ = rates_ + experts;
    const double* first_weights = memories_ + experts;
    first_variances_ = first_weights + all;
    own_ = first_variances_ + all;
    intercept_ = static_cast<W>(recipe.intercept);  // rounded like any other value
    state.mixture.start(first_weights, first_variances_);
    state.bends.start();
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

  /// Of the standardised feature, as far as it goes straight, and as long as no expert shouts.
  double weight(std::size_t slot, int column) const override {
    const std::size_t capacity = state.blocks.capacity();
    const W* cell = state.blocks.data() + slot * state.blocks.stride() + column;
    double sum = 0;
    for (std::size_t e = 0; e < experts; ++e)
      sum += state.mixture.mean[e] * heard(e) * static_cast<double>(cell[e * capacity]) *
             (e == 0 ? own_factor(slot, column) : 1);
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
  /// By what the first AROW sees values of a feature multiplied.
  double own_factor(std::size_t slot, int column) const {
    if (slot == 0 || !state.bends.ended) return 1;
    const W* cells = state.blocks.data() + slot * state.blocks.stride();
    const double visits = cells[statistics * state.blocks.capacity()];
    if (visits == 0) return 0;
    return std::abs(
        log_odds(cells[hits * state.blocks.capacity() + column], visits, smoothing()) -
        log_odds(state.columns[column].hits, state.visits, smoothing_of_all()));
  }

  /// What is found out about one row; by expert and column, as in the blocks.
  struct Walk {
    StandardizedRow<W> row;
    Numbers products, variances;         ///< w.x~, sum of x~^2/P, without length and intercept
    std::vector<Mixture::Numbers> said;  ///< by the experts, of a column each
    Numbers scores;                      ///< of the mixture
    Numbers margins;
    std::vector<W> step, gain,
        fade;  ///< AROW: alpha, kappa, memory; AdaGrad: gradient, rate, memory
    std::vector<std::size_t> moving;  ///< groups of neighbours among the AROWs that learn
    bool few = false;  ///< features: there are bends
    BentRow<W> bent;
    std::vector<typename BentRow<W>::Sums> bent_sums;  ///< by column, as are these
    Numbers evidence;
    std::vector<W> lean, bent_step, bent_gain;
  };

  static std::vector<Plane> planes() {
    std::vector<Plane> planes(experts, {0, true});
    planes.resize(hits, {0, false});
    planes.push_back({0, false, false, true});
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

  static double heard(std::size_t expert) {
    return expert < arows ? 1 : expert < experts ? 0.5 : expert == bent ? 1 : 0.1;
  }

  double mixture_r() const { return own_[0]; }
  double drift() const { return own_[1]; }
  const double* bent_r() const { return own_ + 2; }
  double smoothing() const { return own_[3]; }
  double smoothing_of_all() const { return own_[4]; }

  /// What the experts say of a row, standardised, and what the mixture makes of it.
  template <bool Learns>
  void listen(const Row<W>& row, Walk& walk) const {
    walk.few = !state.bends.ended;
    walk_row<Learns>(row, walk);
    if (walk.few) bend(row, false, walk);
    weigh_evidence(walk);
    walk.scores.resize(state.blocks.columns());
    walk.said.resize(state.blocks.columns());
    for (int k = 0; k < state.blocks.columns(); ++k) {
      walk.said[k] = said(walk, k);
      walk.scores[k] = state.mixture.score(walk.said[k]);
    }
  }

  /// All sums over a row, but those of bends.
  template <bool Learns>
  void walk_row(const Row<W>& row, Walk& walk) const {
    const std::size_t capacity = state.blocks.capacity(), stride = state.blocks.stride();
    const std::size_t line = this->line();
    fill(walk.products, experts * capacity, 0);
    fill(walk.variances, arows * capacity, 0);
    fill(walk.evidence, width * line, 0);
    find_leans(walk);
    walk.row.weighed.resize((row.size + spare_places) * line);
    const W* first = state.blocks.first();
    if (capacity == 1) {  // nothing beside the column
      walk.few ? weigh_column<false>(row, walk) : weigh_column<true>(row, walk);
      sum_column<experts, arows, Learns>(row, walk.row.weighed.data(), first, stride,
                                         walk.products.data(), walk.variances.data());
    } else {
      column_statistics().standardize(state, row, walk.row, [](auto...) {});
      const W* values = walk.row.values.data();
      sum_products(row, values, first, stride, experts * capacity, walk.products.data());
      weigh_columns(row, walk);
      if (!walk.few)
        sum_own_products(row, walk.row.weighed.data(), line, first, stride, capacity,
                         walk.products.data());
    }
  }

  /// The sums of bends; a row that is learned brings its new features along.
  void bend(const Row<W>& row, bool with_new, Walk& walk) const {
    walk.bent.bend(row, walk.row.values.data(), state.bends, with_new);
    walk.bent_sums.resize(state.blocks.columns());
    for (int k = 0; k < state.blocks.columns(); ++k)
      walk.bent_sums[k] = walk.bent.sums(state.bends.columns[k].data(),
                                         static_cast<W>(smoothing()), walk.lean[k]);
  }

  /// Numbers from one value's line to the next: those of the columns, in whole registers.
  std::size_t line() const { return (state.blocks.capacity() + width - 1) / width * width; }
  OwnValues<W> own_values(const Walk& walk) const {
    return {walk.row.weighed.data(), line(), static_cast<std::size_t>(state.blocks.capacity())};
  }

  /// What a visit says of each column, whatever the feature.
  void find_leans(Walk& walk) const {
    fill(walk.lean, line(), 0);
    for (int k = 0; k < state.blocks.columns(); ++k)
      walk.lean[k] = static_cast<W>(
          -log_odds(state.columns[k].hits, state.visits, smoothing_of_all()));
  }

  /// What the features say of one column with nothing beside it, and its own values.
  template <bool Weighed>
  struct OneColumn {
    W* weighed;
    W smoothing, lean;
    Pair evidence[width / 2] = {};

    [[gnu::always_inline]] void operator()(std::size_t place, const auto&, Lanes<W> values,
                                           Lanes<W> hits, Lanes<W> visits, LaneBits<W> known) {
      Lanes<W> own = values;
      if constexpr (Weighed) {
        const Lanes<W> none{}, all = log_odds<W>(hits, visits, smoothing) + lean;
        const Lanes<W> said = known ? all : none;
        own *= larger(said, -said);
        Pair* to = evidence;
        for (const Pair both : in_double(said)) *to++ += both;
      }
      put_lines(own, values, weighed + place * width);
    }
  };
  template <bool Weighed>
  void weigh_column(const Row<W>& row, Walk& walk) const {
    const auto found = column_statistics().standardize(
        state, row, walk.row,
        OneColumn<Weighed>{walk.row.weighed.data(), static_cast<W>(smoothing()), walk.lean[0]});
    for (std::size_t k = 0; k < width; ++k)
      walk.evidence[k * line()] = found.evidence[k / 2][k % 2];
  }

  /// The same for many columns.
  void weigh_columns(const Row<W>& row, Walk& walk) const {
    const std::size_t capacity = state.blocks.capacity(), line = this->line();
    const W* values = walk.row.values.data();
    W* weighed = walk.row.weighed.data();
    if (!walk.few)
      return weigh_by_evidence(row, values, state.blocks.first(), state.blocks.stride(),
                               hits * capacity, statistics * capacity, state.blocks.columns(),
                               static_cast<W>(smoothing()), walk.lean.data(), walk.evidence.data(),
                               weighed, line);
    for (std::size_t i = 0; i < row.size; ++i) std::fill_n(weighed + i * line, line, values[i]);
  }

  /// What naive Bayes says of each column.
  void weigh_evidence(Walk& walk) const {
    for (int k = 0; k < state.blocks.columns(); ++k) {
      for (std::size_t l = 1; l < width; ++l) walk.evidence[k] += walk.evidence[l * line() + k];
      if (walk.few) walk.evidence[k] = walk.bent_sums[k].evidence;
      walk.evidence[k] += log_odds(state.columns[k].weight, state.weight, smoothing());
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
    scores[bent] = walk.few ? Mixture::cut(walk.bent_sums[column].product * walk.bent.length +
                                           intercept_ * bent_intercept(column)[Bends<W>::weight])
                            : 0;
    scores[bayes] = Mixture::cut(heard(bayes) * walk.evidence[column]);
    return scores;
  }

  const W* bent_intercept(int column) const {
    return state.bends.columns[column].data() + Bends<W>::numbers * Bends<W>::intercept;
  }

  void learn_class(const Row<W>& row, int c, double weight, bool is_new) {
    listen<true>(row, walk_);
    const int classes = state.classes - is_new;
    const int predicted = predicted_class(classes);
    this->last_prediction = predicted;
    const Mixture::Step mixture_step = state.mixture.step(example_of(c), mixture_r() / std::min(weight, 1.0));
    if (walk_.few && walk_.row.known < static_cast<double>(row.size)) meet_features(row);
    const double growth = std::max(decide(row, c, weight), decide_bends(c, weight));
    state.weights.template admit<W>(growth, [&] { return largest_weight(); });
    if (classes > 1 && state.calibration.wants(state.t + 1))
      state.calibration.record(lead(predicted, classes), predicted == c, weight, state.t + 1);
    move(row);
    move_bends(row, c, std::min(weight, infinite_weight));
    count(row, c, std::min(weight, infinite_weight));
    state.mixture.take(mixture_step, drift(), first_variances_);
    if (column_statistics().finish_row(state)) halve_counts();
    if (recipe_.strategy == Strategy::one_versus_rest) state.touched.add(row);
    state.calibration.refit_when_due(state.t + 1, 1.0 / std::max(2, state.classes));
    for (Column& column : state.columns) ++column.updates;
    add_to_count(state.updates, 1);
    add_to_count(state.mistakes, predicted != c);
    add_to_count(state.t, 1);
  }

  /// New features are bent with the others, or are too many, and the row is taken straight.
  void meet_features(const Row<W>& row) {
    const std::size_t known = static_cast<std::size_t>(walk_.row.known);
    const std::size_t features = state.bends.features.size() + row.size - known;
    walk_.few = features <= Bends<W>::most_features;
    if (!walk_.few) return walk_row<true>(row, walk_);
    state.bends.make_room(features);
    bend(row, true, walk_);
  }

  /// What each expert does in each column; returns how far a weight may move at most.
  double decide(const Row<W>& row, int c, double weight) {
    const std::size_t capacity = state.blocks.capacity();
    const W* intercept = state.blocks.intercept();
    find_margins(c);
    if (capacity > 1)
      sum_variances(row, walk_.row.values.data(), own_values(walk_),
                    state.blocks.first() + experts * capacity, state.blocks.stride(), walk_.moving,
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
        if (e >= arows) {
          const double size = std::min(weight, infinite_weight) / (1 + std::exp(margin));
          set_step(at, sign * size, rates_[e], e);
          growth = std::max(growth, rates_[e]);
          continue;
        }
        const double v = walk_.variances[at] * square(walk_.row.to_learn) +
                         square(intercept_) / (1.0 + intercept[experts * capacity + at]);
        const auto [alpha, kappa] = finite_step(margin, v, weight, rates_ + e);
        if (kappa == 0) continue;  // at rest
        set_step(at, sign * alpha, std::min(kappa, most_precision), e);
        growth = std::max(growth, alpha * std::sqrt(v));
      }
    }
    return growth;
  }

  /// The same for AROW on bent rows.
  double decide_bends(int c, double weight) {
    if (!walk_.few) return 0;
    const std::size_t columns = state.blocks.columns();
    fill(walk_.bent_step, columns, 0);
    fill(walk_.bent_gain, columns, 0);
    double growth = 0;
    for (std::size_t k = 0; k < columns; ++k) {
      const W* intercept = bent_intercept(static_cast<int>(k));
      const double sign = this->columns().sign(static_cast<int>(k), c);
      const double margin = sign * (walk_.bent_sums[k].product * walk_.bent.length +
                                    intercept_ * intercept[Bends<W>::weight]);
      const double v = walk_.bent_sums[k].variance * square(walk_.bent.length) +
                       square(intercept_) / (1.0 + intercept[Bends<W>::precision]);
      const auto [alpha, kappa] = finite_step(margin, v, weight, bent_r());
      walk_.bent_step[k] = static_cast<W>(sign * alpha);
      walk_.bent_gain[k] = static_cast<W>(std::min(kappa, most_precision));
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    return growth;
  }

  /// AROW's step; refused, where it is not a finite one.
  Confidence finite_step(double margin, double v, double weight, const double* r) const {
    const Confidence step = arow({margin, 1, 0, 0, v, weight, state.t + 1, 0, 0}, r);
    if (!(step.alpha + step.kappa < std::numeric_limits<double>::infinity()) ||
        !(step.alpha < std::numeric_limits<W>::max()))
      throw Error("this row's update is not finite; scale its weight down");
    return step;
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
    move_blocks(row, own_values(walk_), [=](const auto& cells, const auto& x, auto own) {
      for (std::size_t m = 0; m < many; ++m) {
        const std::size_t j = moving[m];
        const ExpertStep<W> step = steps.template at<width>(j);
        for (std::size_t k = 0; k < std::size(x); ++k)
          step.arow(cells[k] + j, cells[k] + n + j, own(k, j, x[k]));
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

  void move_bends(const Row<W>& row, int c, double weight) {
    if (weight == 0) return;
    if (!walk_.few) return state.bends.end();
    if (walk_.row.known < static_cast<double>(row.size))
      for (std::size_t i = 0; i < row.size; ++i)
        if (state.bends.number_of(row.index[i]) == Bends<W>::most_features)
          state.bends.add_feature(row.index[i]);
    for (int k = 0; k < state.blocks.columns(); ++k) {
      W* const column = state.bends.columns[k].data();
      const W step = walk_.bent_step[k], gain = walk_.bent_gain[k];
      walk_.bent.learn(column, step, gain, static_cast<W>(weight), is_hit(k, c));
      W& precision = column[Bends<W>::precision];  // the intercept's
      const W x = static_cast<W>(intercept_);
      column[Bends<W>::weight] += step * x / (1 + precision);
      precision = std::min(precision + gain * x * x, static_cast<W>(most_precision));
    }
  }

  bool is_hit(int column, int c) const { return this->columns().sign(column, c) > 0; }

  /// Takes the row into the statistics of its features, and into the counts of naive Bayes: as many
  /// times as it weighs.
  void count(const Row<W>& row, int c, double weight) {
    if (weight == 0) return;
    const std::size_t capacity = state.blocks.capacity(), stride = state.blocks.stride();
    const bool is_alone = capacity == 1;
    const W times = static_cast<W>(weight), times_hit = is_alone && is_hit(0, c) ? times : 0;
    column_statistics().count(state, row, times, times_hit);
    const double values = weight * static_cast<double>(row.size);
    for (int k = 0; k < state.blocks.columns(); ++k) {
      if (!is_hit(k, c)) continue;
      W* const cells = state.blocks.first() + hits * capacity + k;
      if (!is_alone)
        for (std::size_t i = 0; i < row.size; ++i) cells[row.index[i] * stride] += times;
      state.columns[k].hits += values;
      state.columns[k].weight += weight;
    }
    state.visits += values;
    state.weight += weight;
  }

  void halve_counts() {
    const std::size_t capacity = state.blocks.capacity(), stride = state.blocks.stride();
    W* cells = state.blocks.data() + hits * capacity;
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot, cells += stride)
      for (std::size_t k = 0; k <= capacity; ++k) cells[k] /= 2;  // hits, and visits behind them
    for (Column& column : state.columns) {
      column.hits /= 2;
      column.weight /= 2;
    }
    state.visits /= 2;
    state.weight /= 2;
    state.bends.halve_counts();
  }

  /// One column and nothing beside it: all steps stay in registers. `Arows`: whether these move.
  template <bool Arows>
  void move_column(const Row<W>& row) {
    constexpr std::size_t last = arows - width;  // the second half of the AROWs, or all of them
    const ExpertStep<W> first = steps().template at<width>(0),
                        second = steps().template at<width>(last);
    const ExpertStep<W> third = steps().template at<2>(arows);
    const OwnValues<W> own_values = {walk_.row.weighed.data(), width, 1};
    move_blocks(row, own_values, [=](const auto& cells, const auto& x, auto own) {
      if constexpr (Arows)
        for (std::size_t k = 0; k < std::size(x); ++k) {
          first.arow(cells[k], cells[k] + experts, own(k, 0, x[k]));
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

  /// Calls f with the cells of some values at a time, with these, as long as a row is, and with the
  /// way to those that experts own.
  template <class F>
  [[gnu::always_inline]] void move_blocks(const Row<W>& row, OwnValues<W> own_values, F f) {
    const W to_learn = static_cast<W>(walk_.row.to_learn);
    for_fours(row, walk_.row.values.data(), state.blocks.first(), state.blocks.stride(),
              [=](const auto& cells, const auto& values, std::size_t i) {
                Lanes<W> x[std::extent_v<std::remove_reference_t<decltype(values)>>];
                spread(values, [=](Lanes<W> all) { return all * to_learn; }, x);
                f(cells, x, [=](std::size_t k, std::size_t j, Lanes<W> all)
                                __attribute__((always_inline)) {
                                  return j < own_values.owners
                                             ? own_values.at(i + k, j, all) * to_learn
                                             : all;
                                });
              });
    W* const cells[] = {state.blocks.intercept()};
    const Lanes<W> x[] = {Lanes<W>{} + static_cast<W>(intercept_)};
    f(cells, x, [](std::size_t, std::size_t, Lanes<W> all) { return all; });
  }

  /// The true class against its best rival, as the mixture meets it. Up to two classes share a
  /// column, which speaks for the second.
  Mixture::Numbers example_of(int c) const {
    Mixture::Numbers z = walk_.said[this->column_of(state.classes > 2 ? c : 1)];
    if (state.classes <= 2) {
      if (c != 1)
        for (double& s : z) s = -s;
      return z;
    }
    const Mixture::Numbers& rival = walk_.said[this->column_of(best_class(c, state.classes))];
    for (std::size_t e = 0; e < all; ++e) z[e] = (z[e] - rival[e]) / 2;
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
    double most = state.bends.largest_weight();
    for (std::size_t e = 0; e < experts; ++e) most = std::max(most, state.largest(e));
    return most;
  }

  const double *rates_, *memories_, *first_variances_, *own_;
  double intercept_;
  Walk walk_;
};

}  // namespace yarrow
