#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "error.hpp"

namespace yarrow {

/// What a few experts are worth: AROW with a full covariance over their weights u (Crammer,
/// Kulesza & Dredze 2013, equations 12 and 14). An example z holds the experts' scores for the true
/// class against its rival, cut to [-3, 3], since one that shouts is not more often right. The
/// covariance grows a little with each row, so that experts can rise and fall for ever:
///   u += alpha*S*z,  S -= S z z'S/(z'S z + r),  then S += drift*I,
///   alpha = max(0, 1 - u.z)/(z'S z + r).
/// A sample weight divides r. Experts that begin without variance keep their weight.
struct Mixture {
  static constexpr int experts = 8;
  using Numbers = std::array<double, experts>;

  static constexpr double most = 3;  ///< that an expert may say
  Numbers mean{};
  std::array<Numbers, experts> covariance{};
  bool in_use = false;

  void start(const double* weights, const double* variances) {
    in_use = true;
    for (int e = 0; e < experts; ++e) {
      mean[e] = weights[e];
      covariance[e][e] = variances[e];
    }
  }

  double score(const Numbers& said) const {
    double sum = 0;
    for (int e = 0; e < experts; ++e) sum += mean[e] * said[e];
    return sum;
  }

  static double cut(double score) { return score > most ? most : score < -most ? -most : score; }

  /// What one example does to the mixture: nothing, where there is no loss.
  struct Step {
    Numbers h{};                 ///< S z
    double loss = 0, share = 0;  ///< 1 - u.z, and 1/(z'S z + r)
  };

  /// Refused, where the numbers after it would not be finite.
  Step step(const Numbers& z, double r) const {
    Step step;
    double v = 0;
    for (int e = 0; e < experts; ++e) {
      for (int o = 0; o < experts; ++o) step.h[e] += covariance[e][o] * z[o];
      v += step.h[e] * z[e];
    }
    step.share = 1 / (v + r);
    step.loss = v > 0 ? std::max(0.0, 1 - score(z)) : 0;
    for (int e = 0; e < experts; ++e)
      if (step.loss > 0 && !std::isfinite(mean_after(step, e) + covariance_after(step, e, e)))
        throw Error("this row's update is not finite; scale its weight down");
    return step;
  }

  void take(const Step& step, double drift, const double* first_variances) {
    for (int e = 0; e < experts; ++e) {
      if (step.loss > 0) {
        mean[e] = mean_after(step, e);
        for (int o = 0; o < experts; ++o) covariance[e][o] = covariance_after(step, e, o);
      }
      if (first_variances[e] != 0) covariance[e][e] += drift;
    }
  }

 private:
  double mean_after(const Step& step, int e) const {
    return mean[e] + step.loss * step.share * step.h[e];
  }
  double covariance_after(const Step& step, int e, int o) const {
    return covariance[e][o] - step.h[e] * step.h[o] * step.share;
  }
};

}  // namespace yarrow
