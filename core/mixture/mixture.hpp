#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "error.hpp"
#include "simd/twos.hpp"

namespace yarrow {

/// What a few experts are worth: AROW with a full covariance over their weights u (Crammer,
/// Kulesza & Dredze 2013, equations 12 and 14). An example z holds the experts' scores for the true
/// class against its rival, cut to [-3, 3], since one that shouts is not more often right. The
/// covariance grows a little with each row, so that experts can rise and fall for ever:
///   u += alpha*S*z,  S -= S z z'S/(z'S z + r),  then S += drift*I,
///   alpha = max(0, 1 - u.z)/(z'S z + r).
/// A sample weight below 1 divides r; a heavy row is not believed more than others, as one
/// row must not decide whom to trust. Experts that begin without variance keep their weight.
struct Mixture {
  static constexpr int experts = 10, places = 10;  ///< a whole number of twos
  using Numbers = std::array<double, places>;

  static constexpr double most = 3;  ///< that an expert may say
  /// Of all that experts are worth, and of a variance; rows that anyone has stay far below.
  static constexpr double most_worth = 1e9, most_variance = 1e15;
  Numbers mean{};
  std::array<Numbers, places> covariance{};

  void start(const Numbers& weights, const Numbers& variances) {
    for (int e = 0; e < experts; ++e) {
      mean[e] = weights[e];
      covariance[e][e] = variances[e];
    }
  }

  /// Of an example, as the step is: what is left to the margin of 1, squared.
  double loss(const Numbers& z) const {
    const double left = std::max(0.0, 1 - score(z));
    return left * left;
  }

  double score(const Numbers& scores) const {
    double sum = 0;
    for (int e = 0; e < experts; ++e) sum += mean[e] * scores[e];
    return sum;
  }

  static double cut(double score) { return score > most ? most : score < -most ? -most : score; }

  /// What one example does to the mixture: nothing, where there is no loss.
  struct Step {
    Numbers h{};                 ///< S z
    double loss = 0, share = 0;  ///< 1 - u.z, and 1/(z'S z + r)
  };

  /// Refused, where the numbers after it would be too large.
  Step step(const Numbers& z, double r) const {
    Numbers h{};
    Two twos[places / 2] = {};
    for (int o = 0; o < experts; ++o)  // it is symmetric: a line is a column
      for (int e = 0; e < places; e += 2) twos[e / 2] += two_at(&covariance[o][e]) * z[o];
    for (int e = 0; e < places; e += 2) put_two_at(twos[e / 2], &h[e]);
    double v = 0;
    for (int e = 0; e < experts; ++e) v += h[e] * z[e];
    const Step step = {h, v > 0 ? std::max(0.0, 1 - score(z)) : 0, 1 / (v + r)};
    if (step.loss > 0) {
      double shrinks = 0, worth = 0;
      for (int e = 0; e < experts; ++e) {
        shrinks += h[e] * h[e] * step.share;
        worth += std::abs(mean[e] + step.loss * step.share * h[e]);
      }
      if (!std::isfinite(shrinks) || !(worth < most_worth))
        throw Error("this row's update is not finite; scale its weight down");
    }
    return step;
  }

  /// `variances` says who took part from the first.
  void take(const Step& step, double drift, const Numbers& variances) {
    if (step.loss > 0) {
      const Numbers h = step.h;
      for (int e = 0; e < experts; ++e) mean[e] += step.loss * step.share * h[e];
      for (int e = 0; e < experts; ++e)
        for (int o = 0; o < places; o += 2) {
          double* both = &covariance[e][o];
          put_two_at(two_at(both) - h[e] * two_at(&h[o]) * step.share, both);
        }
    }
    for (int e = 0; e < experts; ++e)
      covariance[e][e] += variances[e] != 0 && covariance[e][e] < most_variance ? drift : 0;
  }
};

}  // namespace yarrow
