#pragma once
#include "../rule.hpp"

namespace yarrow {

/// Perceptron (Rosenblatt 1958): on a margin of at most `margin` (0: a mistake) add the signed
/// example once. Sample weights scale the step.
inline Affine perceptron(const Situation& s, const double* p) {
  const double margin = p[0];
  return {1, s.margin <= margin ? s.weight : 0};
}

}  // namespace yarrow
