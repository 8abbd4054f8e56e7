#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "learner/learner.hpp"
#include "mixture/constants.hpp"
#include "mixture/regression_state.hpp"
#include "mixture/settle.hpp"

namespace yarrow {

/// What a row is found to say to the experts of the regressor.
template <class W>
struct RegressionPass {
  CompletedRow<W> completed;
  Buffer<double> values;     ///< standardised, not yet divided
  double length = 0;         ///< 1/root of the number of features known
  FewRow<double> few, bent;  ///< few features; the same within the range of knots
  SplineRow<double> pieces;
  RegressionExperts::Scores scores{};        ///< of the experts, beside the mean of targets
  RegressionExperts::Scores coefficients{};  ///< by which they make the prediction
  double stacked = 0, prediction = 0;
};

/// The regressor without settings: experts on standardised rows, whose predictions are added up by
/// a stack that learns what each is worth, and an aggregation that falls back on a single one
/// where this does better; docs/yarrow-regressor.md has the idea and the equations. All is
/// equivariant: targets times a number give predictions times this number. Errors beyond ten
/// typical ones count as ten, for all that learns here.
template <class W>
class YarrowRegressor final : public Learner<W> {
  using Base = Learner<W>;
  using Of = RegressionExperts;
  using Own = RegressionState<W>;
  /// Planes of a block: weights of two AROWs, P - 1 of both; then the feature's statistics.
  static constexpr std::size_t statistics_at = 4;

 public:
  using Base::state;

  explicit YarrowRegressor(const Recipe& recipe)
      : Base(State<W>(Blocks<W>(planes(), 1)), recipe),
        numbers_(constants_with<RegressorConstants>(recipe.constants)) {
    intercept_ = static_cast<W>(recipe.intercept);  // rounded like any other value
    Own& own = Own::start(state);
    own.table.are_sought = true;
    own.few.start();
    own.drifting.start();
    own.weights[Of::covariance] = 1;
    for (int e = 0; e < Of::count; ++e) own.variances[e][e] = numbers_.first_variance;
  }

  void learn(const Row<W>& given, double target, double weight) override {
    if (!(std::abs(target) <= Own::most_target))
      throw Error("this row's target is too large; scale the targets down");
    const Row<W> row = own().table.complete(given, pass_.completed);
    if (state.before_change && row.index != given.index) state.before_change({row.index, row.size});
    evaluate(row, pass_);
    this->last_prediction = pass_.prediction;
    if (state.t == 0) own().centre = own().last = target;
    const double y = target - own().centre;
    const double clip = state.t < 2 ? std::numeric_limits<double>::infinity() : this->clip();
    const auto error_of = [&](double score) { return std::clamp(y - score, -clip, clip); };
    const bool learns = state.t > 0;  // the first row says where targets are, and no more
    if (learns) decide(row, error_of, weight);
    // From here on nothing fails.
    const double part = std::min(weight, 1.0), missed = std::abs(target - pass_.prediction);
    if (learns) {
      if (state.t > 1) follow(error_of, missed, part);
      measure(missed, std::abs(y), part);
      stack(error_of, weight);
      move_linear(row);
      move_few(row, error_of, weight);
    } else {
      number_features(row);
    }
    const W times = static_cast<W>(std::min(weight, most_weight));
    if (times > 0) statistics().count(state, row, times, W{0});
    own().centre += part * std::clamp(y, -clip, clip) / (state.t + 1);
    own().last = target;
    if (++own().counted >= ColumnStatistics::round) halve_counts();
    ++state.columns[0].updates;
    add_to_count(state.updates, 1);
    add_to_count(state.t, 1);
    if (own().table.are_due(state.t)) own().table.seek(state, row, statistics_at);
  }

  void predict_columns(const Row<W>& row, bool, Scores& out) const override { score(row, out); }

  void score(const Row<W>& row, Scores& out) const override {
    // Behind a pointer, as the memory of threads has little room for what a library brings.
    thread_local const auto kept = std::make_unique<RegressionPass<W>>();
    RegressionPass<W>& pass = *kept;
    evaluate(own().table.complete(row, pass.completed), pass);
    out.resize(1);
    out.score[0] = pass.prediction;
    out.variance[0] = square(own().near_error);
  }

  Parts explain(const Row<W>& given, int) const override {
    RegressionPass<W> pass;
    const Row<W> row = own().table.complete(given, pass.completed);
    evaluate(row, pass);
    const auto [steady, fading, covariance, drifting, bent] = shares(pass.coefficients);
    const W* const constants = state.blocks.intercept();
    Parts parts;
    parts.constant = own().centre + pass.coefficients[Of::last] * (own().last - own().centre) +
                     intercept_ * (steady * constants[0] + fading * constants[1]);
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* const cells = state.blocks.first() + row.index[i] * state.blocks.stride();
      parts.values.push_back(pass.values[i] * pass.length *
                             (steady * cells[0] + fading * cells[1]));
    }
    if (own().few.tier == Tier::high) return std::move(parts).of(row);
    const bool full = own().few.tier == Tier::low;
    const double* const column = own().few.spline.columns[0].data();
    parts.constant += bent * intercept_ * column[Spline<double>::weight];
    if (full)
      parts.constant += intercept_ * (covariance * own().few.correlated.columns[0][0] +
                                      drifting * own().drifting.columns[0][0]);
    const auto of_spline = pass.pieces.parts(column, 1, 0);
    std::size_t i = 0;
    for (std::size_t j = 0; j < pass.few.size; ++j) {
      const auto number = static_cast<std::size_t>(pass.few.numbers[j]);
      while (row.index[i] != own().few.features[number]) ++i;  // they stand in the row's order
      parts.values[i] += bent * of_spline[j].product * pass.pieces.length;
      if (full)
        parts.values[i] += pass.few.values[j] * pass.length *
                           (covariance * own().few.correlated.columns[0][number + 1] +
                            drifting * own().drifting.columns[0][number + 1]);
    }
    return std::move(parts).of(row);
  }

  /// One expert, whose sum is that of all: nothing is cut.
  Settled settle(const std::vector<ToldScore>& scores) const override {
    const FewFeatures<double>& few = own().few;
    const double* const pieces = few.spline.columns[0].data();
    const Of::Scores by = coefficients();
    const bool bends = few.tier != Tier::high;
    const double bent = bends ? shares(by).spline : 0;
    Settling<double> to(state, statistics(), few, own().table, numbers_.most_deviations, false,
                        scores);
    to.add_expert("prediction", 1, 0, 1, [&](std::size_t) {
      const double of_spline = bends ? bent * pieces[Spline<double>::weight] : 0;
      return own().centre + by[Of::last] * (own().last - own().centre) +
             intercept_ * (weight(0, 0) + of_spline);
    });
    to.add_values("values", true,
                  [&](std::size_t i, std::size_t) { return weight(to.slot(i), 0); });
    if (bends)
      to.add_pieces(true, [&](std::size_t at, std::size_t) {
        return bent * pieces[at + Spline<double>::weight];
      });
    return std::move(to.told);
  }

  std::vector<ExpertTold> experts() const override {
    const Of::Scores by = coefficients();
    std::vector<ExpertTold> told;
    for (int e = 0; e < Of::count; ++e) told.push_back({Of::names[e], own().weights[e], by[e]});
    return told;
  }

  std::vector<IntervalTold> intervals() const override {
    const IntervalWidths& widths = own().widths;
    std::vector<IntervalTold> told;
    for (std::size_t i = 0; i < widths.levels.size(); ++i)
      told.push_back(
          {widths.levels[i], radius(widths.levels[i]), widths.covered[i] / widths.tested});
    return told;
  }

  bool tells_missing() const override { return true; }
  bool predicts_as_it_learns() const override { return true; }
  void last_scores(std::vector<double>& out) const override { out = {pass_.prediction}; }

  double radius(double coverage) const override {
    if (state.t < 2) return std::numeric_limits<double>::infinity();
    return own().near_error * own().widths.width(coverage);
  }

  /// Of the standardised feature, by its linear part.
  double weight(std::size_t slot, int) const override {
    const auto [steady, fading, covariance, drifting, bent] = shares(coefficients());
    const W* const cells = state.blocks.data() + slot * state.blocks.stride();
    double sum = steady * cells[0] + fading * cells[1];
    if (own().few.tier != Tier::low) return sum;
    const std::size_t number =
        slot == 0 ? 0 : own().few.number_of(static_cast<Index>(slot - 1)) + 1;
    if (number > own().few.features.size()) return sum;
    return sum + covariance * own().few.correlated.columns[0][number] +
           drifting * own().drifting.columns[0][number];
  }
  double intercept() const override { return intercept_; }

  bool is_bounded() const override { return state.weight_bound.covers(largest_weight()); }

  /// Refuses a state whose counts cannot be.
  void check() const override {
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot) {
      const W* const cells = state.blocks.data() + slot * state.blocks.stride();
      bool fits = cells[2] >= 0 && cells[3] >= 0 && cells[4] >= 0 && cells[6] >= 0;
      if (slot > 0 && own().few.tier != Tier::high)
        fits = fits && (cells[4] == 0 || own().few.number_of(static_cast<Index>(slot - 1)) <
                                             FewFeatures<double>::most);
      if (!fits) throw Error("the state's counts do not belong together");
    }
    if (own().few.spline.has_negative()) throw Error("the state's counts do not belong together");
  }

 private:
  static constexpr double most_weight = 1e15;  ///< one beyond this is as good as infinite

  static std::vector<Plane> planes() {
    std::vector<Plane> planes(2, {"weight", 0, true});
    planes.resize(statistics_at, {"precision", 0, false});
    ColumnStatistics::add_planes(planes);
    return planes;
  }

  Own& own() { return Own::of(state); }
  const Own& own() const { return Own::of(state); }
  static ColumnStatistics statistics() { return {statistics_at}; }

  /// The part of each expert that is a sum over features: splines stand on one of the others.
  struct Shares {
    double steady, fading, covariance, drifting, spline;
  };
  Shares shares(const Of::Scores& by) const {
    Shares shares = {by[Of::steady], by[Of::fading], by[Of::covariance], by[Of::drifting],
                     by[Of::spline]};
    (own().few.tier == Tier::low ? shares.covariance : shares.steady) += by[Of::spline];
    return shares;
  }

  bool is_silent(int expert) const {
    const Tier tier = own().few.tier;
    if (expert == Of::spline) return tier == Tier::high;
    return (expert == Of::covariance || expert == Of::drifting) && tier != Tier::low;
  }

  /// What an error can be at most, in the sense of Huber.
  double clip() const {
    const double typical = typical_error();
    return typical > 0 ? numbers_.most_errors * typical : std::numeric_limits<double>::infinity();
  }
  /// Where all is predicted, a part of what there is to predict.
  double typical_error() const { return std::max(own().error, 0.01 * own().spread); }

  void evaluate(const Row<W>& row, RegressionPass<W>& pass) const {
    const std::size_t stride = state.blocks.stride();
    const double rows = state.blocks.intercept()[statistics_at];
    pass.values.resize(row.size + spare_places);
    double known = 0, steady = 0, fading = 0;
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* const cells = state.blocks.first() + row.index[i] * stride;
      const double x = pass.values[i] =
          ColumnScale(cells + statistics_at, rows).of(row.value[i], numbers_.most_deviations);
      known += cells[statistics_at] > 0;
      steady += x * static_cast<double>(cells[0]);
      fading += x * static_cast<double>(cells[1]);
    }
    pass.length = known > 0 ? 1 / std::sqrt(known) : 0;
    const W* const constants = state.blocks.intercept();
    pass.scores = {};
    pass.scores[Of::last] = own().last - own().centre;
    pass.scores[Of::steady] = steady * pass.length + intercept_ * constants[0];
    pass.scores[Of::fading] = fading * pass.length + intercept_ * constants[1];
    if (own().few.tier != Tier::high) {
      place(row, false, pass);
      evaluate_few(pass);
    }
    pass.coefficients = coefficients();
    pass.stacked = pass.prediction = 0;
    for (int e = 0; e < Of::count; ++e) {
      pass.stacked += own().weights[e] * pass.scores[e];
      pass.prediction += pass.coefficients[e] * pass.scores[e];
    }
    pass.prediction += own().centre;
  }

  /// The values of few features, by their numbers, and their knots.
  void place(const Row<W>& row, bool with_new, RegressionPass<W>& pass) const {
    const Row<double> values = {row.index, pass.values.data(), row.size};
    const std::size_t features =
        own().few.find(values, pass.values.data(), nullptr, 0, with_new, pass.few);
    pass.bent = pass.few;
    for (double& x : pass.bent.values) x = std::clamp(x, -most_deviations, most_deviations);
    pass.pieces.place(pass.bent, features <= Spline<double>::most_with_surfaces);
  }

  void evaluate_few(RegressionPass<W>& pass) const {
    const FewFeatures<double>& few = own().few;
    const double* const column = few.spline.columns[0].data();
    double base = pass.scores[Of::steady];
    if (few.tier == Tier::low) {
      const auto score = [&](const std::vector<double>& weights) {
        return pass.few.dot(weights.data() + 1) * pass.length + intercept_ * weights[0];
      };
      base = pass.scores[Of::covariance] = score(few.correlated.columns[0]);
      pass.scores[Of::drifting] = score(own().drifting.columns[0]);
    }
    pass.scores[Of::spline] = base + pass.pieces.sums(column, 1, 0).product * pass.pieces.length +
                              intercept_ * column[Spline<double>::weight];
  }

  /// Exponential weights over the experts and the stack, by the losses of the last rows.
  Of::Scores coefficients() const {
    double least = own().losses[Of::stack], sum = 0;
    for (int e = 0; e < Of::count; ++e)
      if (!is_silent(e)) least = std::min(least, own().losses[e]);
    std::array<double, Of::all> shares{};
    for (int e = 0; e < Of::all; ++e) {
      if (e != Of::stack && is_silent(e)) continue;
      shares[e] = std::exp(-numbers_.rate * (own().losses[e] - least));
      sum += shares[e];
    }
    Of::Scores found;
    for (int e = 0; e < Of::count; ++e)
      found[e] = (shares[e] + shares[Of::stack] * own().weights[e]) / sum;
    return found;
  }

  /// The steps of the AROWs, whose numbers can overflow.
  void decide(const Row<W>& row, auto error_of, double weight) {
    const std::size_t stride = state.blocks.stride();
    const double length = 1 / std::sqrt(std::max<double>(1, static_cast<double>(row.size)));
    const W* const constants = state.blocks.intercept();
    double v[2];
    for (int e = 0; e < 2; ++e) v[e] = square(intercept_) / (1.0 + constants[2 + e]);
    for (std::size_t i = 0; i < row.size; ++i) {
      const W* const cells = state.blocks.first() + row.index[i] * stride;
      for (int e = 0; e < 2; ++e) v[e] += square(pass_.values[i] * length) / (1.0 + cells[2 + e]);
    }
    const double r[2] = {numbers_.r / weight, numbers_.fading_r / weight};
    double growth = 0;
    for (int e = 0; e < 2; ++e) {
      steps_[e] = error_of(pass_.scores[Of::steady + e]) / (v[e] + r[e]);
      gains_[e] = std::min(1 / r[e], most_precision);
      growth = std::max(growth, std::abs(steps_[e]) * std::sqrt(v[e]));
    }
    state.weight_bound.template admit<W>(growth, [&] { return largest_weight(); });
    to_learn_ = length;
  }

  void move_linear(const Row<W>& row) {
    const double memories[2] = {1, numbers_.memory};
    const auto move = [&](W* cells, double x) {
      if (x == 0) return;
      for (int e = 0; e < 2; ++e) {
        const double precision = cells[2 + e];
        cells[e] = static_cast<W>(cells[e] + steps_[e] * x / (1 + precision));
        cells[2 + e] =
            static_cast<W>(std::min((precision + gains_[e] * x * x) * memories[e], most_precision));
      }
    };
    for (std::size_t i = 0; i < row.size; ++i)
      move(state.blocks.first() + row.index[i] * state.blocks.stride(),
           pass_.values[i] * to_learn_);
    move(state.blocks.intercept(), intercept_);
  }

  /// Losses of the experts, and how wide intervals should have been.
  void follow(auto error_of, double missed, double part) {
    const double typical = typical_error(), near = own().near_error;
    if (near > 0 || missed > 0)
      own().widths.take(near > 0 ? missed / near : std::numeric_limits<double>::infinity(),
                        part * std::max(numbers_.interval_rate, 1 / std::sqrt(state.t)));
    if (!(typical > 0)) return;
    for (int e = 0; e < Of::all; ++e) {
      const double score = e == Of::stack ? pass_.stacked : pass_.scores[e];
      own().losses[e] = own().losses[e] * numbers_.fade + part * square(error_of(score) / typical);
    }
  }

  /// Typical sizes follow, and one row makes none of them much larger.
  void measure(double missed, double distance, double part) {
    const auto follow = [&](double& size, double value, double pace) {
      if (size > 0) value = std::min(value, numbers_.most_errors * size);
      size += part * std::max(pace, 1 / (state.t + 1)) * (value - size);
    };
    if (state.t == 1) {
      own().error = own().near_error = missed;
      own().spread = distance;
      return;
    }
    follow(own().error, missed, numbers_.pace);
    follow(own().near_error, missed, numbers_.interval_rate);
    follow(own().spread, distance, numbers_.interval_rate);
  }

  /// The stack: recursive least squares over the experts' scores, whose weights may drift.
  void stack(auto error_of, double weight) {
    const Of::Scores& z = pass_.scores;
    Of::Scores h{};
    double v = 0;
    for (int e = 0; e < Of::count; ++e) {
      for (int o = 0; o < Of::count; ++o) h[e] += own().variances[e][o] * z[o];
      v += h[e] * z[e];
    }
    const double r = numbers_.stack_r * square(typical_error()) / std::min(weight, 1.0);
    if (!(v > 0) || !(v + r > 0)) return;
    const double step = error_of(pass_.stacked) / (v + r);
    for (int e = 0; e < Of::count; ++e) {
      own().weights[e] += step * h[e];
      for (int o = 0; o < Of::count; ++o) own().variances[e][o] -= h[e] * h[o] / (v + r);
    }
    for (int e = 0; e < Of::count; ++e)
      own().variances[e][e] = std::max(
          0.0, std::min(own().variances[e][e] + numbers_.stack_drift, numbers_.first_variance));
  }

  /// With its new features the row is one of few, or no longer.
  void number_features(const Row<W>& row) {
    if (own().few.tier == Tier::high) return;
    place(row, false, pass_);
    const std::vector<Index> added = pass_.few.new_features;
    if (added.empty()) return;
    const std::size_t features = own().few.features.size() + added.size();
    own().become(FewFeatures<double>::tier_of(features));
    if (own().few.tier == Tier::high) return;
    own().few.make_room(features);
    if (own().few.tier == Tier::low) own().drifting.make_room(features);
    for (const Index feature : added) own().few.add_feature(feature);
    place(row, false, pass_);
  }

  void move_few(const Row<W>& row, auto error_of, double weight) {
    number_features(row);
    if (own().few.tier == Tier::high) return;
    if (own().few.tier == Tier::low) {
      least_squares(own().few.correlated, error_of(pass_.scores[Of::covariance]), weight);
      least_squares(own().drifting, error_of(pass_.scores[Of::drifting]), weight);
      CorrelatedWeights<double>& drifting = own().drifting;
      for (std::size_t i = 0; i < drifting.size; ++i) {
        double& variance = drifting.covariance[i * (drifting.line() + 1)];
        variance = std::min(variance + numbers_.drift, 1.0);
      }
    }
    const double r = numbers_.spline_r / weight;
    double* const column = own().few.spline.columns[0].data();
    double& precision = column[Spline<double>::precision];  // the intercept's
    const double v = pass_.pieces.sums(column, 1, 0).variance * square(pass_.pieces.length) +
                     square(intercept_) / (1 + precision);
    const double step = error_of(pass_.scores[Of::spline]) / (v + r),
                 gain = std::min(1 / r, most_precision);
    pass_.pieces.learn(column, step, gain, 0, false);
    column[Spline<double>::weight] += step * intercept_ / (1 + precision);
    precision = std::min(precision + gain * square(intercept_), most_precision);
  }

  void least_squares(CorrelatedWeights<double>& of, double error, double weight) {
    of.multiply(intercept_, pass_.few, to_learn_, h_);
    const double v = std::max(0.0, pass_.few.dot(h_.data() + 1) * to_learn_ + h_[0] * intercept_);
    const double share = 1 / (v + numbers_.covariance_r / std::min(weight, 1e3));
    for (std::size_t i = 0; i < of.size; ++i) of.columns[0][i] += error * share * h_[i];
    of.take_away(h_, share);
  }

  void halve_counts() {
    if (state.before_all_change) state.before_all_change();
    own().counted /= 2;
    W* cells = state.blocks.data() + statistics_at;
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot) {
      *cells /= 2;
      cells += state.blocks.stride();
    }
  }

  double largest_weight() const { return std::max(state.largest(0), state.largest(1)); }

  const RegressorConstants numbers_;
  double intercept_ = 0.5;
  RegressionPass<W> pass_;
  double steps_[2] = {}, gains_[2] = {}, to_learn_ = 0;  ///< of the AROWs
  std::vector<double> h_;                                ///< S z
};

}  // namespace yarrow
