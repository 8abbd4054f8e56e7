#pragma once
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "learner/learner.hpp"
#include "mixture/constants.hpp"
#include "rules/arow.hpp"

namespace yarrow {

/// What experts look at.
template <class W>
struct ForwardPass;
template <class W>
struct Evaluator;
template <class W>
struct MixtureState;

/// Who the experts of yarrow_learner.hpp are, in the order of their scores:
///   4 x AROW whose precision fades at each update of a feature, P <- 1 + (P - 1)*memory; the
///       first of them sees values times what they say to naive Bayes, unless features are few;
///   2 x logistic regression by AdaGrad, G <- memory*G + g^2, w -= rate*g/sqrt(G), whose sum of
///       squared gradients fades alike; half its score counts, as a margin of 2 is a sure one;
///   AROW on splines, for few features or some (few_features.hpp), else silent;
///   naive Bayes (naive_bayes.hpp): few features by the pieces of splines, many by themselves,
///       some by both;
///   AROW with a full covariance, which all classes share, for few features, else silent;
///   AROW on products of two values (interactions.hpp), for rows of few values and as long as it
///   pays.
struct Experts : ClassifierConstants {
  /// The linear experts are the first six, whose score is a sum of weight times value.
  static constexpr std::size_t spline = linear, bayes = 7, covariance = 8, interactions = 9;
  static constexpr std::size_t all = Mixture::experts;

  /// Planes of a block: for each linear expert and each column all weights, then all P - 1 and G,
  /// so that one loop over neighbouring numbers serves one column and many; then each column's
  /// hits. Then the statistics of the feature, once for all columns; its visits among them.
  static constexpr std::size_t precisions = linear, hits = 2 * linear, statistics = hits + 1;

  double intercept;

  Experts(const Recipe& recipe, double constant)
      : ClassifierConstants(constants_with<ClassifierConstants>(recipe.constants)),
        intercept(constant) {}

  /// The same where products of two values are not kept.
  static Mixture::Numbers without_interactions(Mixture::Numbers numbers) {
    numbers[interactions] = 0;
    return numbers;
  }

  /// What a row adds to the variances of the mixture: less and less from some row on, though never
  /// nothing.
  double drift_at(double row, double rows) const {
    return drift * std::max(drift_least, std::min(1.0, rows / row));
  }

  static std::string name_of(std::size_t expert, const LearningRates& of) {
    if (expert >= linear) {
      constexpr const char* others[] = {"AROW on splines", "naive Bayes", "AROW, full covariance",
                                        "AROW on products"};
      return others[expert - linear];
    }
    char name[64];
    std::snprintf(name, sizeof name,
                  expert < arows ? "AROW, r %g, memory %g" : "AdaGrad, rate %g, memory %g",
                  of.rates[expert], of.memories[expert]);
    return name;
  }

  /// How much of a score the mixture takes.
  static double gain(std::size_t expert) {
    return expert == bayes ? 0.1 : expert < arows || expert >= spline ? 1 : 0.5;
  }

  static constexpr double infinite_weight = 1e15;  ///< one beyond this is as good as infinite
  /// Of an expert's weight for a feature: times what the mixture may give it, W can hold it.
  template <class W>
  static constexpr double most_weight = Bound::most<W> / (1e4 * Mixture::most_worth);

  /// AROW's step; refused, where it is not a finite one.
  template <class W>
  static Confidence arow_step(double margin, double v, double weight, double r) {
    const Confidence step = arow({margin, 1, 0, 0, v, weight, 0, 0, 0}, &r);
    if (!(step.alpha + step.kappa < std::numeric_limits<double>::infinity()) ||
        !(step.alpha < std::numeric_limits<W>::max()))
      throw Error("this row's update is not finite; scale its weight down");
    return step;
  }
};

}  // namespace yarrow
