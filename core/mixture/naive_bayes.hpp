#pragma once
#include <algorithm>
#include <cmath>

#include "simd/dispatch.hpp"

// Naive Bayes, one-versus-rest: how much more often rows of a class have a feature than the rest.
// With h hits among n visits of a feature, H among N of all features,
//   evidence = sum over the row's features of log((h + a)/(n - h + a)) + log((N - H + c)/(H + c)),
// where a and c smooth the counts. Counting needs no errors to learn from, so that it is ahead of
// all others while rows are few. Features never seen before say nothing. What a feature says also
// tells how much it matters: an AROW whose values are multiplied by its size looks at words that
// tell classes apart, and hardly at others (after Wang & Manning 2012).

namespace yarrow {

/// What the hits among some visits say.
inline double log_odds(double hits, double visits, double smoothing) {
  return std::log((hits + smoothing) / (std::max(0.0, visits - hits) + smoothing));
}

}  // namespace yarrow
