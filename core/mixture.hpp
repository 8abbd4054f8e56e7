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
/// A sample weight divides r. Experts that begin with the weight 0 stay out.
struct Mixture {
  static constexpr int experts = 6;
  using Numbers = std::array<double, experts>;

  static constexpr double most = 3;  ///< that an expert may say
  Numbers mean{};
  std::array<Numbers, experts> covariance{};
  bool in_use = false;

  void start(const double* weights, double variance) {
    in_use = true;
    for (int e = 0; e < experts; ++e) {
      mean[e] = weights[e];
      covariance[e][e] = weights[e] != 0 ? variance : 0;
    }
  }

  double score(const Numbers& said) const {
    double sum = 0;
    for (int e = 0; e < experts; ++e) sum += mean[e] * said[e];
    return sum;
  }

  static double cut(double score) { return score > most ? most : score < -most ? -most : score; }

  /// The mixture after one example. `is_in`: which experts take part.
  Mixture after(const Numbers& z, double r, double drift, const double* is_in) const {
    Mixture next = *this;
    const double loss = 1 - score(z);
    Numbers h{};  // S z
    double v = 0;
    for (int e = 0; e < experts; ++e) {
      for (int o = 0; o < experts; ++o) h[e] += covariance[e][o] * z[o];
      v += h[e] * z[e];
    }
    if (loss > 0 && v > 0)
      for (int e = 0; e < experts; ++e) {
        next.mean[e] += loss / (v + r) * h[e];
        for (int o = 0; o < experts; ++o) next.covariance[e][o] -= h[e] * h[o] / (v + r);
      }
    for (int e = 0; e < experts; ++e) {
      if (is_in[e] != 0) next.covariance[e][e] += drift;
      if (!std::isfinite(next.mean[e] + next.covariance[e][e]))
        throw Error("this row's update is not finite; scale its weight down");
    }
    return next;
  }
};

}  // namespace yarrow
