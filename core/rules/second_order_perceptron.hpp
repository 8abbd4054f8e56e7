#pragma once
#include "rules/rule.hpp"

namespace yarrow {

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
