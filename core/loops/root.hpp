#pragma once
#include <cmath>
#include <vector>

#include "loops/regularizers/arithmetic.hpp"

namespace yarrow {

/// A straight piece of a function, where somebody looks.
struct Piece {
  double value, slope;
};

/// The root of a continuous, rising, piecewise linear function between `low`, where it is negative,
/// and `high`, where it is not. Newton's method finds it exactly as soon as it meets the right
/// piece; where it leaves the bracket or is slow to narrow it, the bracket is halved. `f` gives the
/// value and the slope at a place; a value up to `tolerance` counts as 0.
template <class F>
double rising_root(F f, double low, double high, double tolerance) {
  double x = low, width = high - low;
  for (int round = 1; round < 400; ++round) {
    const Piece at = f(x);
    if (std::abs(at.value) <= tolerance) return x;
    (at.value < 0 ? low : high) = x;
    double next = at.slope > 0 ? x - at.value / at.slope : high;
    const bool is_slow = round % 4 == 0 && high - low > width / 2;
    if (round % 4 == 0) width = high - low;
    if (is_slow || !(next > low && next < high)) next = low + (high - low) / 2;
    if (next == x || next <= low || next >= high) break;
    x = next;
  }
  return high;
}

/// What a row asks of weights that become u = soft(w + tau*z, threshold): z.u + slack*tau >=
/// target.
struct SoftMargin {
  struct Value {
    double z, w;
  };
  double target = 1, slack = 0;
  std::vector<Value> row;

  void add(double z, double w) {
    if (z != 0) row.push_back({z, w});
  }

  /// By how much the margin, slack included, is above the target; and its slope in tau.
  Piece surplus(double tau, double threshold) const {
    Piece sum{slack * tau - target, slack};
    for (const auto& [z, w] : row) {
      const double u = soft_threshold(w + tau * z, threshold);
      sum.value += z * u;
      sum.slope += u != 0 ? z * z : 0;
    }
    return sum;
  }

  /// The tau that gives the row its margin, above `low`, up to a part of what can speak against it.
  double tau(double low, double threshold, double tolerance) const {
    double against = target, most = 0, its_weight = 0;
    for (const auto& [z, w] : row) {
      against += std::abs(z * w);
      if (std::abs(z) > most) most = std::abs(z), its_weight = z > 0 ? w : -w;
    }
    // Enough for the largest value alone, against all that the others can say.
    const double enough = (against / most + threshold - its_weight) / most;
    return rising_root([&](double t) { return surplus(t, threshold); }, low, 2 * enough,
                       tolerance * against);
  }
};

}  // namespace yarrow
