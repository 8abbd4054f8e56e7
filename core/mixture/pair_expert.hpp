#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "mixture/forward_pass.hpp"

namespace yarrow {

/// How AROW learns products of two values.
template <class W>
class PairExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const State<W>& state, const Experts& experts, const ForwardPass<W>& pass,
                Outputs outputs, int c, double weight) {
    if (!pass.has_pairs) return 0;
    fill(step_, state.blocks.columns(), 0);
    fill(gain_, state.blocks.columns(), 0);
    double growth = 0;
    for (std::size_t k = 0; k < step_.size(); ++k) {
      const double sign = outputs.sign(static_cast<int>(k), c);
      const double margin = sign * pass.pair_products[k];
      if (margin >= 1) continue;
      const double v = pass.pairs.variance(MixtureState<W>::of(state).pairs.columns[k].data());
      const auto [alpha, kappa] = Experts::arow_step<W>(margin, v, weight, experts.pairs_r);
      step_[k] = static_cast<W>(sign * alpha);
      gain_[k] = static_cast<W>(std::min(kappa, most_precision));
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    return growth;
  }

  void move(State<W>& state, const ForwardPass<W>& pass) const {
    for (std::size_t k = 0; k < step_.size(); ++k)
      if (step_[k] != 0)
        pass.pairs.learn(MixtureState<W>::of(state).pairs.columns[k].data(), step_[k], gain_[k]);
  }

 private:
  std::vector<W> step_, gain_;  ///< by column: alpha with the sign of the class, kappa
};

}  // namespace yarrow
