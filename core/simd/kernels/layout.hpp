#pragma once
#include <array>

#include "simd/lanes.hpp"

// What the kernels of dispatch.hpp are told, and what they return: how the numbers of the mixture's
// experts stand in memory, which is all that they know of it.

namespace yarrow {

/// Where confidence, and the sum of squared gradients, end.
constexpr double most_precision = 1e30;
constexpr double most_deviations = 2;  ///< of a standardised value (standardized.hpp)

/// The linear experts of a block, whose score is a sum of weight times value, stand side by side:
/// for each and each column all weights, then all P - 1 and G. The first of them are AROWs.
struct ExpertLayout {
  static constexpr std::size_t arows = 4, linear = 6;
};

/// The numbers of a piece: weight, P - 1, hits (visits by rows of the column's class), visits.
struct PieceLayout {
  enum Number { weight, precision, hits, visits, numbers };
};

/// The statistics of all features.
template <class W>
struct FeatureStatistics {
  const W* first;  ///< the first feature's; before them stand the hits of the last column
  std::size_t stride;
  W rows, share;  ///< rows that could have had a feature; one of these
};

/// How values are weighed for the first expert of so many columns: a line for each value, as long
/// as one of the smaller registers.
template <class W, std::size_t Columns>
struct Weighing {
  static constexpr std::size_t line = lanes_of<W>;
  W* lines;
  W smoothing;
  std::array<W, Columns> class_bias;

  Weighing from(std::size_t place) const {
    return {lines ? lines + place * line : nullptr, smoothing, class_bias};
  }
};

/// What the features of a row say, in sums of every fourth.
template <class W, std::size_t Columns>
struct FeatureEvidence {
  LaneBits<W> known = {};  ///< -1 for each
  std::array<Lanes<W>, Columns> evidence = {};
};

/// The steps of all linear experts and columns.
template <class W>
struct ExpertSteps {
  const W *step, *gain, *fade;
};

/// A row on splines (spline.hpp).
template <class W>
struct SplinePlaces {
  static constexpr std::size_t at_once = 8;  ///< that many are below, then as many above

  const Index* pieces;     ///< those below the values; the neighbours above stand behind them
  const W *below, *above;  ///< their shares
  std::size_t size;        ///< of all these: whole eights
};

/// A column's sums over a row: share*weight, share^2/P, and share times evidence.
struct SplineSums {
  double product = 0, variance = 0, evidence = 0;
};

/// AROW's step on a column, w += step*x/P and P += gain*x^2, where x is a share times the scale;
/// and how often the visit counts.
template <class W>
struct SplineStep {
  W scale, step, gain, visits, hits;
};

/// The products of a row's values, two by two (interactions.hpp).
template <class W>
struct InteractionPlaces {
  static constexpr std::size_t at_once = 8;

  const Index* places;  ///< of their weights
  const W* values;
  std::size_t size;     ///< whole eights, filled up with products of 0
  bool are_neighbours;  ///< places are 0, 1, 2 and so on
};

}  // namespace yarrow
