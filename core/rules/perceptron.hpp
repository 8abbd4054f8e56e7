#pragma once
#include "rules/rule.hpp"

namespace yarrow {

/// Perceptron (Rosenblatt 1958): on a margin of at most `margin` (0: a mistake) add the signed
/// example once. Sample weights scale the step.
inline Affine perceptron(const RuleInput& s, const double* p) {
  const double margin = p[0];
  return {1, s.margin <= margin ? s.weight : 0};
}

/// The voted Perceptron, whose votes count rows by their weights: it remembers by how much all
/// weights together exceed their number, which is 0 as long as nobody gives weights.
inline AffineKeeping voted_perceptron(const RuleInput& s, const double*) {
  return {1, s.margin <= 0 ? s.weight : 0, s.memory + (s.weight - 1)};
}

/// Second-order Perceptron (Cesa-Bianchi, Conconi & Gentile 2005): predicts with
/// (A + x x')^-1 sum(y_i x_i), A = a*I + sum(x_i x_i') over past mistakes; on a mistake the row
/// joins both sums. Its diagonal form (`Whitened`) keeps the sum and divides when it predicts, its
/// full one (`RowInside`) keeps A^-1 sum(y_i x_i).
/// A sample weight counts the row that many times.
inline Confidence second_order_perceptron(const RuleInput& s, const double*) {
  if (s.margin > 0 || s.v <= 0) return {0, 0};
  return {s.weight, s.weight};
}

}  // namespace yarrow
