#pragma once
#include <cmath>

#include "lanes.hpp"

// Naive Bayes, one-versus-rest: how much more often rows of a class have a feature than the rest.
// With h hits among n visits of a feature, H among N of all features,
//   evidence = sum over the row's features of log((h + a)/(n - h + a)) + log((N - H + c)/(H + c)),
// where a and c smooth the counts. Counting needs no errors to learn from, so that it is ahead of
// all others while rows are few. Features never seen before say nothing. What a feature says also
// tells how much it matters: an AROW whose values are multiplied by its size looks at words that
// tell classes apart, and hardly at others (after Wang & Manning 2012).

namespace yarrow {

/// log(a/b) of positive numbers; in float to six digits: a = m*2^e, b = o*2^f, and the logarithm of
/// m/o is a short series in s = (m - o)/(m + o), which is at most a third, with the coefficients
/// that make its largest error small.
[[gnu::always_inline]] inline Lanes<float> log_ratio(Lanes<float> a, Lanes<float> b) {
  using Bits = LaneBits<float>;
  constexpr int digits = 23, fraction = (1 << digits) - 1;
  const Bits one = (Bits)(Lanes<float>{} + 1), x = (Bits)a, y = (Bits)b;
  const Lanes<float> m = (Lanes<float>)((x & fraction) | one);
  const Lanes<float> o = (Lanes<float>)((y & fraction) | one);
  const Lanes<float> powers = __builtin_convertvector((x >> digits) - (y >> digits), Lanes<float>);
  const Lanes<float> s = (m - o) / (m + o), q = s * s;
  const Lanes<float> series = ((q * 0.1699873F + 0.1981691F) * q + 0.3333678F) * q + 1;
  return powers * 0.6931471805599453F + 2 * s * series;
}
inline Lanes<double> log_ratio(Lanes<double> a, Lanes<double> b) {
  return Lanes<double>{std::log(a[0] / b[0]), std::log(a[1] / b[1])};
}

/// What the hits among some visits say.
template <class W>
[[gnu::always_inline]] inline Lanes<W> log_odds(Lanes<W> hits, Lanes<W> visits, W smoothing) {
  return log_ratio(hits + smoothing, larger(visits - hits, Lanes<W>{}) + smoothing);
}
inline double log_odds(double hits, double visits, double smoothing) {
  return std::log((hits + smoothing) / (visits - hits + smoothing));
}

}  // namespace yarrow
