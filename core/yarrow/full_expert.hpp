#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "walk.hpp"

namespace yarrow {

/// How AROW with a full covariance learns few features. The covariance is that of all columns: it
/// shrinks where one of them learns (but not for the column "none of the seen", which others do
/// without).
template <class W>
class FullExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const State<W>& state, const Experts& experts, const Walk<W>& walk, Columns columns,
                int c, double weight) {
    share_ = 0;
    step_.assign(state.blocks.columns(), 0);
    if (!walk.few) return 0;
    const FullWeights& full = state.few.full;
    margins_.resize(step_.size());
    for (std::size_t k = 0; k < step_.size(); ++k)
      margins_[k] =
          columns.sign(static_cast<int>(k), c) *
          (walk.full_products[k] * walk.row.to_learn + experts.intercept * full.columns[k][0]);
    if (std::all_of(margins_.begin(), margins_.end(), [](double m) { return m >= 1; })) return 0;
    places_.assign(1, {0, experts.intercept});
    for (const auto& [number, value] : walk.values)
      places_.push_back({1 + number, static_cast<double>(value) * walk.row.to_learn});
    full.multiply(places_, h_);
    weight = std::min(weight, heaviest);
    double v = 0, growth = 0;
    for (const auto& [place, z] : places_) v += h_[place] * z;
    for (std::size_t k = 0; k < step_.size(); ++k) {
      const int column = static_cast<int>(k);
      const auto [alpha, kappa] = Experts::arow_step<W>(margins_[k], v, weight, experts.full_r);
      step_[k] = columns.sign(column, c) * alpha;
      if (kappa > 0 && !columns.is_none(column)) share_ = 1 / (v + 1 / kappa);
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    return growth;
  }

  void move(State<W>& state) const {
    FullWeights& full = state.few.full;
    for (std::size_t k = 0; k < step_.size(); ++k)
      if (step_[k] != 0)
        for (std::size_t i = 0; i < full.size; ++i) full.columns[k][i] += step_[k] * h_[i];
    if (share_ > 0) full.take_away(h_, share_);
  }

 private:
  static constexpr double heaviest = 1e6;   ///< beyond this, v is lost in rounding beside r
  std::vector<FullWeights::Place> places_;  ///< the row, the intercept first
  std::vector<double> h_;                   ///< S z
  std::vector<double> margins_, step_;      ///< by column
  double share_ = 0;                        ///< of h h' that the covariance loses
};

}  // namespace yarrow
