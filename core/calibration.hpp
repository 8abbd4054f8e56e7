#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace yarrow {

/// Makes the Gaussian margin q = m/sqrt(v) of the confidence family an honest probability:
/// p(right) = Phi(c*q), with c fitted by maximum likelihood to the signed margins that the model
/// showed before it learned each row. They are kept as a histogram; c is fitted again each
/// time the number of rows has grown by half, while learning and never while predicting, so that
/// every route gives the same c.
struct Calibration {
  static constexpr int bins = 129;
  static constexpr double width = 0.25;  ///< of a bin, in units of asinh(8q): fine around 0
  std::array<double, bins> count{};
  double c = 1;
  double next_fit = 32;

  /// Which rows are counted: the first ones, then every eighth, since one number is to be fitted
  /// and measuring the variance of a row costs a walk over it.
  static bool wants(double t) { return t <= 256 || static_cast<std::int64_t>(t) % 8 == 0; }

  void record(double q, double weight, double t) {
    const double place = std::asinh(8 * q) / width + bins / 2 + 0.5;
    if (place != place) return;  // 0/0: neither right nor wrong
    const double rows = t <= 256 ? 1 : 8;  // that this one stands for
    count[static_cast<int>(std::clamp(place, 0.0, bins - 0.5))] += rows * weight;
  }

  void refit_when_due(double t) {
    if (t < next_fit) return;
    next_fit = t + std::floor(t / 2);
    c = fitted();
  }

  double probability(double q) const { return normal_cdf(c * q); }

  static double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

 private:
  /// Newton's steps on the concave likelihood, from the last c; one imagined right and one imagined
  /// wrong row at q = 1 keep c finite when the data are separable, and positive.
  double fitted() const {
    double best = c;
    for (int i = 0; i < 12; ++i) {
      double slope = 0, bend = 0;
      const auto add = [&](double q, double n) {
        const double ratio = mills(best * q);
        slope += n * q * ratio;
        bend -= n * q * q * ratio * (ratio + best * q);
      };
      add(1, 1);
      add(-1, 1);
      for (int b = 0; b < bins; ++b)
        if (count[b] > 0) add(std::sinh((b - bins / 2) * width) / 8, count[b]);
      best = std::clamp(bend < 0 ? best - slope / bend : best, best / 4, best * 4);
    }
    return std::clamp(best, 1e-6, 1e6);
  }

  /// phi(x)/Phi(x), by its asymptote where Phi vanishes
  static double mills(double x) {
    if (x < -30) return -x;
    return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi) / normal_cdf(x);
  }
};

}  // namespace yarrow
