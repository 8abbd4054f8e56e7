#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "learner/learner.hpp"
#include "mixture/explanation.hpp"
#include "mixture/linear_experts.hpp"
#include "mixture/settle.hpp"

namespace yarrow {

/// The learner without settings: ten experts on standardised rows (experts.hpp), and a mixture
/// above them. Each expert is one-versus-rest, each learns every row by itself;
/// docs/yarrow-learner.md has the idea.
///   forward_pass.hpp       what a row is found to say: to the experts, and to the mixture
///   linear_experts.hpp     how the six learn whose score is a sum of weight times value
///   spline.hpp             splines over few features, and the expert that learns them
///   full_covariance.hpp    a full covariance of few features, and its expert
///   interactions.hpp       products of two values, their expert, and how long it is kept
///   explanation.hpp        what each value of a row adds to a score
///   settle.hpp             what it predicts by, for other programs
template <class W>
class YarrowLearner final : public Learner<W> {
  using Base = Learner<W>;
  using Base::recipe_;

 public:
  using Base::state;

  explicit YarrowLearner(const Recipe& recipe)
      : Base(State<W>(Blocks<W>(planes(), 1)), recipe),
        experts_(recipe, static_cast<W>(recipe.intercept)) {  // rounded like values
    MixtureState<W>& own = MixtureState<W>::start(state);
    own.mixture.start(experts_.first_weights, experts_.first_variances);
    own.rates = experts_.first_rates;
    own.drift_rows = experts_.drift_rows;
    own.table.are_sought = true;
    own.few.start();
    own.interactions.start();
    own.trial.without.start(Experts::without_interactions(experts_.first_weights),
                            variances_without_);
  }

  void learn(const Row<W>& row, double label, double weight) override {
    const int c = static_cast<int>(label);
    const Row<W> whole = own().table.complete(row, pass_.completed);
    if (state.before_change && whole.index != row.index)
      state.before_change({whole.index, whole.size});
    this->learn_as(c, [&](bool is_new) { learn_class(whole, c, weight, is_new); });
  }

  void predict_columns(const Row<W>& row, bool, Scores& out) const override { score(row, out); }

  void score(const Row<W>& row, Scores& out) const override {
    // Behind a pointer, as there is little room for what a thread owns from its start.
    thread_local const auto own_pass = std::make_unique<ForwardPass<W>>();
    ForwardPass<W>& pass = *own_pass;
    evaluator().template evaluate<false>(own().table.complete(row, pass.completed), pass);
    out.resize(state.blocks.columns());
    out.score = pass.scores;
    // The mixture's margin itself is what is calibrated: it has variance one.
    std::fill(out.variance.begin(), out.variance.end(), state.classes > 2 ? 0.5 : 1.0);
  }

  Parts explain(const Row<W>& row, int column) const override {
    CompletedRow<W> completed;
    const Row<W> whole = own().table.complete(row, completed);
    return explain_mixture(evaluator(), whole, static_cast<std::size_t>(column)).of(whole);
  }

  Settled settle(const std::vector<ToldScore>& scores) const override {
    return yarrow::settle(evaluator(), scores);
  }

  std::vector<ExpertTold> experts() const override {
    std::vector<ExpertTold> told;
    for (std::size_t e = 0; e < Experts::all; ++e)
      told.push_back(
          {Experts::name_of(e, own().rates), own().mixture.mean[e], own().mixture.mean[e]});
    return told;
  }

  bool tells_missing() const override { return true; }
  bool predicts_as_it_learns() const override { return true; }
  void last_scores(std::vector<double>& out) const override {
    out = pass_.scores;
    this->outputs().to_classes(out, -1);
  }

  /// Of the standardised feature, by its linear part, as long as no expert is cut.
  double weight(std::size_t slot, int column) const override {
    const std::size_t capacity = state.blocks.capacity();
    const W* cell = state.blocks.data() + slot * state.blocks.stride() + column;
    double sum = 0;
    for (std::size_t e = 0; e < Experts::linear; ++e)
      sum += own().mixture.mean[e] * Experts::gain(e) * static_cast<double>(cell[e * capacity]) *
             (e == 0 ? own_factor(slot, column) : 1);
    if (own().few.tier != Tier::low) return sum;
    const std::size_t number =
        slot == 0 ? 0 : own().few.number_of(static_cast<Index>(slot - 1)) + 1;
    if (number > FewFeatures<W>::most) return sum;
    return sum +
           own().mixture.mean[Experts::covariance] * own().few.correlated.columns[column][number];
  }
  double intercept() const override { return experts_.intercept; }

  bool is_bounded() const override { return state.weight_bound.covers(largest_weight()); }

  /// Refuses a state whose counts cannot be, or whose weights learning keeps out of.
  void check() const override {
    if (!(largest_weight() <= 2 * Experts::most_weight<W>))  // rounding carries them a bit beyond
      throw Error("the state has weights out of range");
    const std::size_t capacity = state.blocks.capacity();
    const auto is_part = [](double part, double all) { return part >= 0 && part <= 1.01 * all; };
    bool fits = own().visits >= 0 && own().weight >= 0 && !own().few.spline.has_negative();
    for (const auto& column : own().columns)
      fits = fits && is_part(column.hits, own().visits) && is_part(column.weight, own().weight);
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot) {
      const W* const cells = state.blocks.data() + slot * state.blocks.stride();
      const W* const statistics =
          cells + Experts::statistics * capacity;  // visits, mean, deviation
      const W visits = statistics[0];
      fits = fits && visits >= 0 && statistics[2] >= 0;
      for (std::size_t i = Experts::precisions * capacity; i < Experts::hits * capacity; ++i)
        fits = fits && cells[i] >= 0;
      for (std::size_t i = Experts::hits * capacity; i < Experts::statistics * capacity; ++i)
        fits = fits && is_part(cells[i], visits);
      if (slot == 0 || own().few.tier == Tier::high) continue;
      // Halved again and again, the smallest number of visits becomes 0.
      const std::size_t number = own().few.number_of(static_cast<Index>(slot - 1));
      fits = fits && (visits == 0 || number < FewFeatures<W>::most);
    }
    if (!fits) throw Error("the state's counts do not belong together");
  }

 private:
  static std::vector<Plane> planes() {
    std::vector<Plane> planes(Experts::linear, {"weight", 0, true});
    planes.resize(Experts::hits, {"precision", 0, false});
    planes.push_back({.name = "hits", .initial = 0, .is_signed = false, .is_part = true});
    ColumnStatistics::add_planes(planes);
    return planes;
  }

  Evaluator<W> evaluator() const { return {state, experts_}; }
  MixtureState<W>& own() { return MixtureState<W>::of(state); }
  const MixtureState<W>& own() const { return MixtureState<W>::of(state); }

  /// By what the first AROW sees values of a feature multiplied.
  double own_factor(std::size_t slot, int column) const {
    if (slot == 0 || own().few.tier == Tier::low) return 1;
    return std::abs(evaluator().evidence_of(slot, column));
  }

  void learn_class(const Row<W>& row, int c, double weight, bool is_new) {
    evaluator().template evaluate<true>(row, pass_);
    const int classes = state.classes - is_new;
    const int predicted = this->outputs().predicted(pass_.scores, classes);
    this->last_prediction = predicted;
    const Mixture::Numbers example = example_of(c);
    const Mixture::Step mixture_step =
        own().mixture.step(example, own().rates.mixture_r / std::min(weight, 1.0));
    if (own().interactions.is_kept)
      interactions_.weigh(own(), example, own().rates.mixture_r, weight);
    if (!pass_.values.new_features.empty()) meet_features(row);
    if (own().interactions.is_kept && !pass_.interactions.new_features.empty()) {
      own().interactions.make_room(own().interactions.features +
                                   pass_.interactions.new_features.size());
      evaluator().sum_of_interactions(row, true, pass_);
    }
    const Outputs outputs = this->outputs();
    const double growth = std::max({linear_.decide(evaluator(), row, pass_, outputs, c, weight),
                                    spline_.decide(evaluator(), pass_, outputs, c, weight),
                                    covariance_.decide(evaluator(), pass_, outputs, c, weight),
                                    interactions_.decide(evaluator(), pass_, outputs, c, weight)});
    state.weight_bound.template admit<W>(
        growth, [&] { return largest_weight(); }, Experts::most_weight<W>);
    if (classes > 1 && state.calibration.wants(state.t + 1))
      state.calibration.record(lead(predicted, classes), predicted == c, weight, state.t + 1);
    linear_.move(state, experts_, row, pass_);
    if (const W times = static_cast<W>(std::min(weight, Experts::infinite_weight)); times > 0) {
      move_few(outputs, c, times);
      count(row, c, times);
    }
    const double drift = experts_.drift_at(state.t + 1, own().drift_rows);
    own().mixture.take(mixture_step, drift,
                       own().interactions.is_kept ? experts_.first_variances : variances_without_);
    if (own().interactions.is_kept)
      interactions_.finish_row(own(), drift, variances_without_, state.t + 1);
    if (evaluator().statistics().finish_row(state)) halve_counts();
    if (recipe_.strategy == Strategy::one_versus_rest) state.touched.add(row);
    state.calibration.refit_when_due(state.t + 1, 1.0 / std::max(2, state.classes));
    for (Column& column : state.columns) ++column.updates;
    add_to_count(state.updates, 1);
    add_to_count(state.mistakes, predicted != c);
    add_to_count(state.t, 1);
    if (own().table.are_due(state.t)) own().table.seek(state, row, evaluator().statistics().at);
  }

  /// With its new features the row is one of few, or no longer.
  void meet_features(const Row<W>& row) {
    const std::size_t features = own().few.features.size() + pass_.values.new_features.size();
    const bool were_few = pass_.few();
    pass_.tier = FewFeatures<W>::tier_of(features);
    if (were_few && !pass_.few()) evaluator().template linear_part<true>(row, pass_);
    own().few.make_room(features);
    evaluator().sum_of_few(row, true, pass_);
  }

  /// What is done for few features, as far as they still are.
  void move_few(Outputs outputs, int c, W times) {
    own().few.become(pass_.tier);
    for (const Index feature : pass_.values.new_features) own().few.add_feature(feature);
    if (pass_.has_spline) spline_.move(state, experts_, pass_, outputs, c, times);
    if (pass_.few()) covariance_.move(state);
    if (own().interactions.is_kept)
      for (const Index feature : pass_.interactions.new_features)
        own().interactions.add_feature(feature);
    if (pass_.has_interactions) interactions_.move(state, pass_);
  }

  bool is_hit(int column, int c) const { return this->outputs().sign(column, c) > 0; }

  /// Takes the row into the statistics of its features, and into the counts of naive Bayes: as many
  /// times as it weighs.
  void count(const Row<W>& row, int c, W times) {
    const std::size_t capacity = state.blocks.capacity(), stride = state.blocks.stride();
    const int last = state.blocks.columns() - 1;
    const bool is_last_beside = last + 1 == static_cast<int>(capacity);  // the statistics
    evaluator().statistics().count(state, row, times,
                                   is_last_beside && is_hit(last, c) ? times : 0);
    const double weight = times, values = weight * static_cast<double>(row.size);
    for (int k = 0; k <= last; ++k) {
      if (!is_hit(k, c)) continue;
      W* const cells = state.blocks.first() + Experts::hits * capacity + k;
      if (k < last || !is_last_beside)
        for (std::size_t i = 0; i < row.size; ++i) cells[row.index[i] * stride] += times;
      own().columns[k].hits += values;
      own().columns[k].weight += weight;
    }
    own().visits += values;
    own().weight += weight;
  }

  void halve_counts() {
    const std::size_t capacity = state.blocks.capacity(), stride = state.blocks.stride();
    W* cells = state.blocks.data() + Experts::hits * capacity;
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot, cells += stride)
      for (std::size_t k = 0; k <= capacity; ++k) cells[k] /= 2;  // hits, and visits behind them
    for (auto& column : own().columns) {
      column.hits /= 2;
      column.weight /= 2;
    }
    own().visits /= 2;
    own().weight /= 2;
    own().few.spline.halve_counts();
  }

  /// The true class against its best rival, as the mixture meets it. Up to two classes share a
  /// column, which speaks for the second.
  Mixture::Numbers example_of(int c) const {
    Mixture::Numbers z = pass_.expert_scores[this->column_of(state.classes > 2 ? c : 1)];
    if (state.classes <= 2) {
      if (c != 1)
        for (double& s : z) s = -s;
      return z;
    }
    const Mixture::Numbers& rival =
        pass_.expert_scores[this->column_of(best_class(c, state.classes))];
    for (std::size_t e = 0; e < Experts::all; ++e) z[e] = (z[e] - rival[e]) / 2;
    return z;
  }

  double score_of(int c) const { return pass_.scores[this->column_of(c)]; }
  int best_class(int except, int classes) const {
    return this->outputs().best_class(pass_.scores, except, classes);
  }

  /// By how much the predicted class was ahead.
  double lead(int predicted, int classes) const {
    if (state.classes <= 2) return std::abs(score_of(1));
    return score_of(predicted) - score_of(best_class(predicted, classes));
  }

  double largest_weight() const {
    double most = std::max(own().few.largest_weight(), own().interactions.largest_weight());
    for (std::size_t e = 0; e < Experts::linear; ++e) most = std::max(most, state.largest(e));
    return most;
  }

  const Experts experts_;
  const Mixture::Numbers variances_without_ =
      Experts::without_interactions(experts_.first_variances);
  ForwardPass<W> pass_;
  LinearExperts<W> linear_;
  SplineExpert<W> spline_;
  CovarianceExpert<W> covariance_;
  InteractionExpert<W> interactions_;
};

}  // namespace yarrow
