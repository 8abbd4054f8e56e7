#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "mixture/mixture_state.hpp"
#include "mixture/table_columns.hpp"

// What the regressor without settings keeps beside the blocks, and how files keep it.

namespace yarrow {

/// Who the experts of yarrow_regressor.hpp are: the mean of all targets, the last target, two
/// AROWs (the second one forgets), recursive least squares without and with drift while features
/// are few, and splines on what these leave while they are some. The stack adds them up.
struct RegressionExperts {
  enum Expert { mean, last, steady, fading, covariance, drifting, spline, count };
  static constexpr const char* names[] = {"mean",       "last",     "steady", "fading",
                                          "covariance", "drifting", "spline"};
  static constexpr int stack = count, all = count + 1;
  using Scores = std::array<double, count>;
};

/// Half the widths of intervals, in units of the typical error, for some levels of coverage: online
/// conformal prediction (Gibbs & Candès 2021) on a logarithmic scale, where one rate suits targets
/// of any size:  log q += rate*(missed - (1 - level)).
struct IntervalWidths {
  static constexpr std::array<double, 9> levels = {0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99};
  /// Of a Gaussian, beside its mean absolute value.
  std::array<double, 9> logarithms = {-0.1685, 0.0534, 0.2616, 0.4738, 0.5901,
                                      0.7236,  0.8988, 1.0701, 1.1719};
  double tested = 0;
  std::array<double, 9> covered{};  ///< how many of these had the target inside

  /// The next error, in units of the typical one as it was before.
  void take(double error, double rate) {
    ++tested;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const bool missed = error > width_at(i);
      covered[i] += !missed;
      logarithms[i] =
          std::clamp(logarithms[i] + rate * ((missed ? 1.0 : 0.0) - (1 - levels[i])), -60.0, 60.0);
    }
  }

  /// Between levels by a straight line; a wider coverage is never narrower.
  double width(double coverage) const {
    std::size_t i = 0;
    while (i + 2 < levels.size() && levels[i + 1] < coverage) ++i;
    const double part = (coverage - levels[i]) / (levels[i + 1] - levels[i]);
    return width_at(i) + part * (width_at(i + 1) - width_at(i));
  }

 private:
  double width_at(std::size_t level) const {
    return std::exp(*std::max_element(logarithms.begin(), logarithms.begin() + level + 1));
  }
};

template <class W>
struct RegressionState final : ExtensionOf<RegressionState<W>> {
  using Of = RegressionExperts;

  TableColumns table;       ///< whose zeros rows do not bring
  FewFeatures<double> few;  ///< in double: recursive least squares lets variances shrink for ever
  CorrelatedWeights<double> drifting;  ///< those whose variances grow again
  double centre = 0;                   ///< mean of targets
  double last = 0;                     ///< target
  double spread = 0, error = 0;  ///< typical distance of targets from their mean, and of errors
  double near_error = 0;         ///< that of the last rows, by which intervals are measured
  double counted = 0;            ///< rows that the statistics of columns refer to
  Of::Scores weights{};          ///< of the stack
  std::array<Of::Scores, Of::count> variances{};  ///< their covariance
  std::array<double, Of::all> losses{};           ///< of the last rows, the stack's last
  IntervalWidths widths;

  void keep_features(const std::vector<Index>& keep) override {
    table.renumber(keep);
    end_few();
  }
  bool is_fresh(Index feature) const override {
    return few.number_of(feature) == FewFeatures<double>::most;
  }
  void drop_fresh(const std::vector<Index>& keep) override {
    table.renumber(keep);
    few.renumber(keep);
  }
  std::size_t bytes() const override { return table.bytes() + few.bytes() + drifting.bytes(); }

  /// More features have come. What experts of few features were worth goes to those that remain.
  void become(Tier tier) {
    if (tier == few.tier) return;
    few.become(tier);
    drifting.free();
    hand_over(Of::covariance, Of::steady);
    hand_over(Of::drifting, Of::fading);
    if (tier == Tier::high) hand_over(Of::spline, Of::steady);
  }
  void end_few() { become(Tier::high); }

  /// Everything that is no array: in this order files keep it.
  template <class Self, class F>
  static void each_number(Self& self, F f) {
    for (auto* number : {&self.centre, &self.last, &self.spread, &self.error, &self.near_error,
                         &self.counted, &self.widths.tested})
      f(*number);
    for (auto& number : self.weights) f(number);
    for (auto& line : self.variances)
      for (auto& number : line) f(number);
    for (auto& number : self.losses) f(number);
    for (auto& number : self.widths.logarithms) f(number);
    for (auto& number : self.widths.covered) f(number);
  }

  void save(const ArrayWriter& put) const override {
    std::vector<double> numbers;
    each_number(*this, [&](double number) { numbers.push_back(number); });
    put("regression", std::move(numbers));
    table.save(put);
    if (few.tier != Tier::high) save_few(few, put);
    if (few.tier == Tier::low)
      drifting.save(put, "drifting_weights", "drifting_covariance", few.features.size());
  }

  void restore(SavedState& from, std::size_t features, std::size_t columns) override {
    std::size_t n = 0;
    each_number(*this, [&](double) { ++n; });
    const auto numbers = from.values<double>("regression", {n}, {-most_kept, most_kept});
    auto next = numbers.begin();
    each_number(*this, [&](double& number) { number = *next++; });
    check();
    table.restore(from, features);
    restore_few(few, from, features, columns);
    if (!(few.largest_weight() <= most_kept))
      SavedState::refuse("bends", "has a number out of range");
    drifting = {};
    drifting.columns.resize(1);
    if (few.tier != Tier::low) return;
    drifting.restore(from, "drifting_weights", "drifting_covariance", few.features.size());
    if (!(drifting.largest_weight() <= most_kept))
      SavedState::refuse("drifting_weights", "has a number out of range");
  }

  static constexpr double most_target = 1e100;  ///< squares of it are numbers
  static constexpr double most_kept = 1e120;    ///< of what is learned of such targets

 private:
  void hand_over(int from, int to) {
    weights[to] += weights[from];
    weights[from] = 0;
    for (int e = 0; e < Of::count; ++e) variances[e][from] = variances[from][e] = 0;
  }

  void check() const {
    bool fits = counted <= most_counted && widths.tested <= 0x1p53;
    for (const double number : {spread, error, near_error, counted, widths.tested})
      fits = fits && number >= 0;
    for (const double number : losses) fits = fits && number >= 0;
    for (const double number : widths.logarithms) fits = fits && std::abs(number) <= 60;
    for (const double number : widths.covered)
      fits = fits && number >= 0 && number <= widths.tested;
    std::vector<double> covariance;
    for (int e = 0; e < Of::count; ++e) {
      fits = fits && std::abs(weights[e]) < 1e15 && variances[e][e] <= 1;
      covariance.insert(covariance.end(), variances[e].begin(), variances[e].end());
    }
    if (!fits || !is_covariance(covariance, Of::count, 1e-9))
      SavedState::refuse("regression", "has a number out of range");
  }
  static constexpr double most_counted = 1 << 23;
};

}  // namespace yarrow
