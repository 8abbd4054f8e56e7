#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <utility>

namespace yarrow {

/// Makes the Gaussian margin q = m/sqrt(v) of the predicted class an honest probability:
///   p(right) = chance + (1 - lapse - chance) * (2 Phi(c*q) - 1),   chance = 1/classes,
/// from mere chance at q = 0 to 1 - lapse, since even a sure prediction meets wrong labels. c and
/// lapse are fitted by maximum likelihood to the margins that the model showed before it learned
/// each row, kept as a histogram in which older rows fade. Fitted is each time the number of rows
/// has grown by half, while learning and never while predicting, so that every route agrees.
struct Calibration {
  static constexpr int bins = 64;
  static constexpr double width = 0.25;  ///< of a bin, in units of asinh(8q): fine around 0
  std::array<double, bins> right{}, wrong{};
  double c = 1, lapse = 0;
  double next_fit = 32;

  /// Which rows are counted: the first ones, then every fourth and later every sixteenth, since two
  /// numbers are to be fitted and counting a row takes a while.
  static bool wants(double t) {
    return (static_cast<std::int64_t>(t) & (rows_for_one(t) - 1)) == 0;
  }

  void record(double q, bool is_right, double weight, double t) {
    const double place = std::asinh(8 * q) / width;
    if (!(place >= 0)) return;  // 0/0: no prediction was made
    const double rows = weight * static_cast<double>(rows_for_one(t));
    (is_right ? right : wrong)[static_cast<int>(std::min(place, bins - 0.5))] += rows;
  }

  void refit_when_due(double t, double chance) {
    if (t < next_fit) return;
    next_fit = t + std::floor(t / 2);
    fit(chance);
    for (double& n : right) n /= 2;
    for (double& n : wrong) n /= 2;
  }

 private:
  static std::int64_t rows_for_one(double t) { return t <= 1024 ? 1 : t <= 16384 ? 4 : 16; }

  /// A wide search over log c, since the likelihood may have two peaks (margins that tell much and
  /// no lapse, or margins that tell nothing and many lapses), then a fine one by golden section;
  /// the best lapse for each c is found on the way.
  void fit(double chance) {
    constexpr double golden = 0.6180339887498949, coarse = 1.5;
    const double center = -typical_log_margin();
    double best = center, at_best = likelihood(center, chance);
    for (int i = -8; i <= 8; ++i) {
      const double value = likelihood(center + coarse * i, chance);
      if (value > at_best) std::tie(best, at_best) = std::pair(center + coarse * i, value);
    }
    double low = best - coarse, high = best + coarse;
    double left = high - golden * (high - low), middle = low + golden * (high - low);
    double at_left = likelihood(left, chance), at_middle = likelihood(middle, chance);
    for (int i = 0; i < 9; ++i) {
      if (at_left > at_middle) {
        high = middle;
        middle = left;
        at_middle = at_left;
        left = high - golden * (high - low);
        at_left = likelihood(left, chance);
      } else {
        low = left;
        left = middle;
        at_left = at_middle;
        middle = low + golden * (high - low);
        at_middle = likelihood(middle, chance);
      }
    }
    likelihood(0.5 * (low + high), chance);
    c = std::clamp(std::exp(0.5 * (low + high)), 1e-30, 1e30);
  }

  double typical_log_margin() const {
    double rows = 1, sum = 0;
    for (int b = 0; b < bins; ++b) {
      rows += right[b] + wrong[b];
      sum += (right[b] + wrong[b]) * std::log(std::sinh((b + 0.5) * width) / 8);
    }
    return sum / rows;
  }

  /// The log-likelihood of exp(log_c) with its best lapse, which is kept. One imagined right and
  /// one imagined wrong row at q = 1 keep both away from their limits.
  double likelihood(double log_c, double chance) {
    static const std::array<double, bins> centres = [] {
      std::array<double, bins> q;
      for (int b = 0; b < bins; ++b) q[b] = std::sinh((b + 0.5) * width) / 8;
      return q;
    }();
    const double c_over_root2 = std::exp(log_c) / std::numbers::sqrt2;
    const int imagined = static_cast<int>(std::asinh(8.0) / width);
    struct Bin {
      double right, wrong, gain;  // gain = 2 Phi(c*q) - 1
    };
    std::array<Bin, bins> filled;
    int size = 0;
    for (int b = 0; b < bins; ++b) {
      const double n = right[b] + (b == imagined), m = wrong[b] + (b == imagined);
      if (n + m > 0) filled[size++] = {n, m, std::erf(c_over_root2 * centres[b])};
    }
    const double most = (1 - chance) * (1 - 1e-9);
    double height = 0.8 * most, value = 0;  // height = 1 - lapse - chance
    constexpr int last = 5;
    for (int i = 0; i <= last; ++i) {
      double slope = 0, bend = 0;
      for (int b = 0; b < size; ++b) {
        const auto [n, m, g] = filled[b];
        const double p = chance + height * g;
        slope += g * (n / p - m / (1 - p));
        bend -= g * g * (n / (p * p) + m / ((1 - p) * (1 - p)));
        if (i == last) value += n * std::log(p) + m * std::log1p(-p);
      }
      if (bend < 0) height = std::clamp(height - slope / bend, 0.05 * most, most);
    }
    lapse = 1 - chance - height;
    return value;
  }
};

}  // namespace yarrow
