#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "mixture/forward_pass.hpp"

namespace yarrow {

/// How AROW with a full covariance learns few features. The covariance is that of all columns: it
/// shrinks where one of them learns (but not for the column "none of the seen", which others do
/// without), and where there is enough of it left: a row whose variance is small beside r would
/// hardly change it. So it costs most rows nothing, learning never comes to rest, and float32
/// suffices: variances stay far above its last places.
template <class W>
class CovarianceExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const Evaluator<W>& evaluator, const ForwardPass<W>& pass, Outputs outputs, int c,
                double weight) {
    share_ = 0;
    fill(step_, evaluator.state.blocks.columns(), 0);
    if (!pass.few()) return 0;
    const Experts& experts = evaluator.experts;
    const double r = evaluator.own.rates.covariance_r;
    const CorrelatedWeights<W>& correlated = evaluator.own.few.correlated;
    margins_.resize(step_.size());
    for (std::size_t k = 0; k < step_.size(); ++k)
      margins_[k] = outputs.sign(static_cast<int>(k), c) *
                    evaluator.covariance_score(pass, k, pass.row.to_learn);
    if (std::all_of(margins_.begin(), margins_.end(), [](double m) { return m >= 1; })) return 0;
    const W intercept = static_cast<W>(experts.intercept),
            length = static_cast<W>(pass.row.to_learn);
    correlated.multiply(intercept, pass.values, length, h_);
    const double v = std::max(0.0, pass.values.dot(h_.data() + 1) * length + h_[0] * intercept);
    const bool enough = v > experts.covariance_least * r;
    weight = std::min(weight, heaviest);
    double growth = 0;
    for (std::size_t k = 0; k < step_.size(); ++k) {
      const int column = static_cast<int>(k);
      const auto [alpha, kappa] = Experts::arow_step<W>(margins_[k], v, weight, r);
      step_[k] = static_cast<W>(outputs.sign(column, c) * alpha);
      if (kappa > 0 && enough && !outputs.is_none(column))
        share_ = static_cast<W>(1 / (v + 1 / kappa));
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    return growth;
  }

  void move(State<W>& state) const {
    CorrelatedWeights<W>& correlated = MixtureState<W>::of(state).few.correlated;
    for (std::size_t k = 0; k < step_.size(); ++k)
      if (step_[k] != 0)
        for (std::size_t i = 0; i < correlated.size; ++i)
          correlated.columns[k][i] += step_[k] * h_[i];
    if (share_ > 0) correlated.take_away(h_, share_);
  }

 private:
  static constexpr double heaviest = 1e3;  ///< a row beyond this would leave hardly any variance

  std::vector<W> h_;             ///< S z
  std::vector<double> margins_;  ///< by column
  std::vector<W> step_;          ///< by column: alpha with the sign of the class
  W share_ = 0;                  ///< of h h' that the covariance loses
};

}  // namespace yarrow
