#pragma once
#include <cmath>

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

}  // namespace yarrow
