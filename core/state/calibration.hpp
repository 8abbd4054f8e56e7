#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <tuple>
#include <utility>

namespace yarrow {

/// erf(x) of x >= 0 to 4e-16, in less than half the time of the library's and without its branches:
/// by Taylor's series around the nearest sixteenth.
inline double fast_erf(double x) {
  constexpr int places = 6 * 16, terms = 10;
  using Series = std::array<double, terms>;
  static const std::array<Series, places + 1> around = [] {
    std::array<Series, places + 1> all;
    for (int k = 0; k <= places; ++k) {
      const double at = k / 16.0;
      all[k][0] = std::erf(at);
      // The derivative's coefficients: (n + 1)*a[n + 1] = -2*at*a[n] - 2*a[n - 1].
      double before = 0, a = 2 * std::numbers::inv_sqrtpi * std::exp(-at * at);
      for (int n = 0; n + 1 < terms; ++n) {
        all[k][n + 1] = a / (n + 1);
        before = std::exchange(a, (-2 * at * a - 2 * before) / (n + 1));
      }
    }
    return all;
  }();
  if (std::isnan(x)) return x;
  x = std::min(x, 6.0);
  const int k = static_cast<int>(x * 16 + 0.5);
  const double h = x - k / 16.0;
  const Series& series = around[k];
  double sum = series[terms - 1];
  for (int n = terms - 2; n >= 0; --n) sum = sum * h + series[n];
  return sum;
}

/// Makes the Gaussian margin q = m/sqrt(v) of the predicted class an honest probability:
///   p(right) = chance + (1 - lapse - chance) * (2 Phi(c*q) - 1),   chance = 1/classes,
/// from mere chance at q = 0 to 1 - lapse, since even a sure prediction meets wrong labels. c and
/// lapse are fitted to the margins that the model showed before it learned each row, kept as a
/// histogram in which older rows fade: to where their likelihood is greatest times a weak prior.
/// Fitted is each time the number of rows has grown by half, while learning and never while
/// predicting, so that every route agrees.
struct Calibration {
  static constexpr int near_bins = 64, bins = 96;
  /// Of a bin, in units of asinh(8q): fine around 0, coarse where only learners come that grow as
  /// sure as they can, as CW does.
  static constexpr double width = 0.25, far_width = 1.5;
  /// Of a count, whatever rows weigh: sums over the bins stay finite.
  static constexpr double most_rows = 1e280;
  /// Of c: where the search of `fit` can end.
  static constexpr double least_c = 1e-60, most_c = 1e30;
  std::array<double, bins> right{}, wrong{};
  double c = 1, lapse = 0;
  double next_fit = 32;

  /// Which rows are counted: the first ones, then every fourth and later every sixteenth, since two
  /// numbers are to be fitted and counting a row takes a while.
  static bool wants(double t) {
    return (static_cast<std::int64_t>(t) & (rows_for_one(t) - 1)) == 0;
  }

  void record(double q, bool is_right, double weight, double t) {
    double place = std::asinh(8 * q) / width;
    if (!(place >= 0)) return;  // 0/0: no prediction was made
    if (place > near_bins) place = near_bins + (place - near_bins) * (width / far_width);
    const double rows = weight * static_cast<double>(rows_for_one(t));
    double& counted = (is_right ? right : wrong)[static_cast<int>(std::min(place, bins - 0.5))];
    counted = std::min(counted + rows, most_rows);
  }

  /// How many bins a file needs: the far ones only where a margin was there.
  std::size_t bins_in_use() const {
    for (int b = near_bins; b < bins; ++b)
      if (right[b] + wrong[b] != 0) return bins;
    return near_bins;
  }

  void refit_when_due(double t, double chance) {
    if (t < next_fit) return;
    next_fit = t + std::floor(t / 2);
    fit(chance, static_cast<double>(rows_for_one(t)));
    for (double& n : right) n /= 2;
    for (double& n : wrong) n /= 2;
  }

  /// The probabilities of two classes by their scores and these scores' variances; those of
  /// mirrored ones are one margin and its mirror image.
  static void of_two(double c, double lapse, bool mirrored, const double* score,
                     const double* variance, double* likely) {
    const double margin = mirrored ? score[1] : score[1] - score[0];
    const double deviation = std::sqrt(mirrored ? variance[1] : variance[1] + variance[0]);
    const double q = deviation == 0 ? 0 : std::abs(margin) / deviation;
    const double sure = 0.5 + (0.5 - lapse) * fast_erf(c / std::numbers::sqrt2 * q);
    // A little above chance, so that a tie does not change the predicted class.
    const double best = std::max(sure, 0.5 * (1 + 1e-9));
    const bool second = margin > 0;
    likely[second] = best;
    likely[!second] = 1 - best;
  }

 private:
  static std::int64_t rows_for_one(double t) { return t <= 1024 ? 1 : t <= 16384 ? 4 : 16; }

  struct Bin {
    double right, wrong, gain;  // gain = 2 Phi(c*q) - 1
  };
  struct Peak {
    double value, height;  // height = 1 - lapse - chance
  };

  /// A wide search over log c, since there may be two peaks (margins that tell much and no lapse,
  /// or margins that tell nothing and many lapses), then a fine one by golden section; the best
  /// lapse for each c is found on the way. `one` is what a counted row stands for.
  void fit(double chance, double one) {
    const auto is_empty = [](double n) { return n == 0; };
    if (std::ranges::all_of(right, is_empty) && std::ranges::all_of(wrong, is_empty)) return;
    constexpr double golden = 0.6180339887498949, coarse = 1.5;
    const double centre = std::log(halfway) - typical_log_margin();
    double height = 0.9 * (1 - chance);  // the search for the next one begins at the last
    const auto value = [&](double log_c) {
      const Peak peak = peak_at(log_c, chance, one, height);
      height = peak.height;
      // Few rows may be fitted as well by one probability for all: the prior prefers margins that
      // tell something, a typical one being halfway from chance to sure. Near its centre it falls
      // like a normal density, far away only like an exponential one.
      const double away = log_c - centre;
      return peak.value - one * (std::sqrt(1 + 2 * away * away) - 1);
    };
    double best = centre, at_best = value(centre);
    const int steps = bins_in_use() == bins ? 40 : 8;  // on either side: as far as bins reach
    for (int i = -steps; i <= steps; ++i) {
      if (i == 0) continue;
      const double at = value(centre + coarse * i);
      if (at > at_best) std::tie(best, at_best) = std::pair(centre + coarse * i, at);
    }
    double low = best - coarse, high = best + coarse;
    double left = high - golden * (high - low), middle = low + golden * (high - low);
    double at_left = value(left), at_middle = value(middle);
    for (int i = 0; i < 12; ++i) {
      if (at_left > at_middle) {
        high = middle;
        middle = left;
        at_middle = at_left;
        left = high - golden * (high - low);
        at_left = value(left);
      } else {
        low = left;
        left = middle;
        at_left = at_middle;
        middle = low + golden * (high - low);
        at_middle = value(middle);
      }
    }
    const double log_c = 0.5 * (low + high);
    lapse = 1 - chance - peak_at(log_c, chance, one, height).height;
    c = std::exp(log_c);
  }

  static constexpr double halfway = 0.6744897501960817;  ///< 2 Phi(halfway) - 1 = 1/2

  /// The middle of each bin.
  static const std::array<double, bins>& margins() {
    static const std::array<double, bins> q = [] {
      std::array<double, bins> middles;
      for (int b = 0; b < bins; ++b)
        middles[b] = std::sinh(std::min(b + 0.5, double{near_bins}) * width +
                               std::max(b + 0.5 - near_bins, 0.0) * far_width) /
                     8;
      return middles;
    }();
    return q;
  }

  double typical_log_margin() const {
    double rows = 1, sum = 0;
    for (int b = 0; b < bins; ++b) {
      if (right[b] + wrong[b] == 0) continue;
      rows += right[b] + wrong[b];
      sum += (right[b] + wrong[b]) * std::log(margins()[b]);
    }
    return sum / rows;
  }

  /// The log-likelihood of exp(log_c) with its best height, looked for from `start` on. A tenth of
  /// an imagined row that is wrong however sure keeps the lapse above 0.
  Peak peak_at(double log_c, double chance, double one, double start) const {
    const double c_over_root2 = std::exp(log_c) / std::numbers::sqrt2;
    std::array<Bin, bins + 1> filled;
    int size = 0;
    filled[size++] = {0, 0.1 * one, 1};
    for (int b = 0; b < bins; ++b) {
      if (right[b] + wrong[b] == 0) continue;
      // The last bin has all margins beyond it, too.
      const double gain = b + 1 < bins ? std::erf(c_over_root2 * margins()[b]) : 1;
      filled[size++] = {right[b], wrong[b], gain};
    }
    const double height = best_height({filled.data(), filled.data() + size}, chance, start);
    double value = 0;
    for (int b = 0; b < size; ++b) {
      const double p = chance + height * filled[b].gain;
      value += filled[b].right * std::log(p) + filled[b].wrong * std::log1p(-p);
    }
    return {value, height};
  }

  /// The log-likelihood is concave in the height, so the place where its slope is 0 stays between
  /// `low` and `high`: a Newton step that leaves them becomes a bisection.
  static double best_height(std::span<const Bin> filled, double chance, double start) {
    const double most = (1 - chance) * (1 - 1e-9);
    double low = 0.05 * most, high = most, height = start;
    for (int i = 0; i < 100; ++i) {
      double slope = 0, bend = 0;
      for (const auto [n, m, g] : filled) {
        const double right = g / (chance + height * g), wrong = g / (1 - chance - height * g);
        slope += n * right - m * wrong;
        bend -= n * right * right + m * wrong * wrong;
      }
      (slope > 0 ? low : high) = height;
      const double step = height - slope / bend;
      const double next = low < step && step < high ? step : 0.5 * (low + high);
      const bool is_there = std::abs(next - height) <= 1e-6 * (1 - chance - next);
      height = next;
      if (is_there) break;
    }
    return height;
  }
};

}  // namespace yarrow
