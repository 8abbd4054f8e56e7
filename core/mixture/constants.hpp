#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "error.hpp"
#include "mixture/mixture.hpp"
#include "simd/kernels/layout.hpp"

// The numbers of the learners without settings. They were chosen once, over many streams, and stand
// here alone; whoever looks what another one would do gives it by its name.

namespace yarrow {

struct Constant {
  Constant(const char* name, std::span<double> all) : name(name), numbers(all) {}
  Constant(const char* name, double& one) : name(name), numbers(&one, 1) {}

  const char* name;
  std::span<double> numbers;
};

/// A number, or a list of them, by the name that it has in the code.
#define CALLED(number) Constant(#number, number)

/// A learner's constants, with those that are given in place of their own.
template <class Constants>
Constants constants_with(const std::map<std::string, std::vector<double>>& given) {
  Constants constants;
  const std::vector<Constant> named = constants.named();
  for (const auto& [name, numbers] : given) {
    const auto found = std::ranges::find(named, name, &Constant::name);
    if (found == named.end() || found->numbers.size() != numbers.size())
      throw Error("a mixture of experts has no constant '" + name + "' of " +
                  std::to_string(numbers.size()) + " numbers");
    std::ranges::copy(numbers, found->numbers.begin());
  }
  return constants;
}

/// How large the steps are of the experts of yarrow_learner.hpp that learn by errors, and of the
/// mixture above them. A model goes on with those it began with, whatever is chosen later.
struct LearningRates {
  /// Of linear experts: r of AROW, or the rate of AdaGrad; how much of its confidence a visit
  /// leaves
  std::array<double, ExpertLayout::linear> rates{0.3, 0.03, 3, 0.5, 1, 0.5},
      memories{1, 1, 0.9, 0.3, 0.99, 1};
  double spline_r = 0.05, covariance_r = 0.3, interactions_r = 0.3, mixture_r = 1.5;

  /// Those of files that do not name theirs.
  static LearningRates unnamed() {
    return {{0.3, 0.03, 1, 1, 1, 0.5}, {1, 1, 0.9, 0.7, 0.99, 1}, 0.1, 0.1, 0.3, 1};
  }

  std::vector<Constant> named() {
    return {CALLED(rates),        CALLED(memories),       CALLED(spline_r),
            CALLED(covariance_r), CALLED(interactions_r), CALLED(mixture_r)};
  }
};

/// All of some constants, one list after the other.
template <class Constants>
std::vector<double> numbers_of(Constants constants) {
  std::vector<double> all;
  for (const Constant& one : constants.named())
    all.insert(all.end(), one.numbers.begin(), one.numbers.end());
  return all;
}

/// Of yarrow_learner.hpp. A list has a number for each expert, in the order of experts.hpp; what
/// learns by itself from few rows counts most at first, what forgets half as much as the others.
struct ClassifierConstants : ExpertLayout {
  LearningRates first_rates;
  /// What the mixture gives to the experts at first.
  Mixture::Numbers first_weights{1. / 6, 1. / 6, 1. / 12, 1. / 12, 1. / 12,
                                 1. / 6, 0.5,    0.5,     1,       0.5};
  Mixture::Numbers first_variances{0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3};
  double drift = 1e-4;             ///< what a row adds to the mixture's variances
  double drift_rows = 300;         ///< from which row on less, as 1/row,
  double drift_least = 0.1;        ///< and which part of it at least
  double covariance_least = 0.03;  ///< which part of r a variance has to be to shrink a covariance
  double smoothing = 0.3, smoothing_of_all = 10;  ///< of the counts of one feature, and of all

  std::vector<Constant> named() {
    std::vector<Constant> all = first_rates.named();
    all.insert(all.end(), {CALLED(first_weights), CALLED(first_variances), CALLED(drift),
                           CALLED(drift_rows), CALLED(drift_least), CALLED(covariance_least),
                           CALLED(smoothing), CALLED(smoothing_of_all)});
    return all;
  }
};

/// Of yarrow_regressor.hpp.
struct RegressorConstants {
  double r = 0.1, fading_r = 1, memory = 0.95;  ///< of the AROWs
  double covariance_r = 0.03, drift = 1e-3;     ///< of least squares
  double spline_r = 0.1;
  double stack_r = 10;  ///< in squared typical errors
  double first_variance = 0.1, stack_drift = 1e-4;
  double most_errors = 10, pace = 0.05;  ///< how many typical errors one may be; how these follow
  double fade = 0.99, rate = 0.5;        ///< of the aggregation: its memory and its rate
  double most_deviations = 4;            ///< of a standardised value
  double interval_rate = 0.03;           ///< the least

  std::vector<Constant> named() {
    return {
        CALLED(r),           CALLED(fading_r),        CALLED(memory),       CALLED(covariance_r),
        CALLED(drift),       CALLED(spline_r),        CALLED(stack_r),      CALLED(first_variance),
        CALLED(stack_drift), CALLED(most_errors),     CALLED(pace),         CALLED(fade),
        CALLED(rate),        CALLED(most_deviations), CALLED(interval_rate)};
  }
};

#undef CALLED

}  // namespace yarrow
