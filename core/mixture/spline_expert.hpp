#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "mixture/forward_pass.hpp"

namespace yarrow {

/// How AROW learns on splines, and how naive Bayes counts their pieces.
template <class W>
class SplineExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const Evaluator<W>& evaluator, const ForwardPass<W>& pass, Outputs outputs, int c,
                double weight) {
    if (!pass.has_spline) return 0;
    const Experts& experts = evaluator.experts;
    const std::size_t n = evaluator.state.blocks.columns();
    step_.resize(n);
    gain_.resize(n);
    double growth = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const W* intercept = evaluator.own.few.spline.intercept_of(k);
      const double sign = outputs.sign(static_cast<int>(k), c);
      const double margin = sign * evaluator.spline_score(pass, k);
      const double v = pass.spline_sums[k].variance * square(pass.pieces.length) +
                       square(experts.intercept) / (1.0 + intercept[Spline<W>::precision]);
      const auto [alpha, kappa] =
          Experts::arow_step<W>(margin, v, weight, evaluator.own.rates.spline_r);
      step_[k] = static_cast<W>(sign * alpha);
      gain_[k] = static_cast<W>(std::min(kappa, most_precision));
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    return growth;
  }

  void move(State<W>& state, const Experts& experts, const ForwardPass<W>& pass, Outputs outputs,
            int c, W times) const {
    for (int k = 0; k < state.blocks.columns(); ++k) {
      W* const column = MixtureState<W>::of(state).few.spline.columns[k].data();
      pass.pieces.learn(column, step_[k], gain_[k], times, outputs.sign(k, c) > 0);
      W& precision = column[Spline<W>::precision];  // the intercept's
      const W x = static_cast<W>(experts.intercept);
      column[Spline<W>::weight] += step_[k] * x / (1 + precision);
      precision = std::min(precision + gain_[k] * x * x, static_cast<W>(most_precision));
    }
  }

 private:
  std::vector<W> step_, gain_;  ///< by column: alpha with the sign of the class, kappa
};

}  // namespace yarrow
