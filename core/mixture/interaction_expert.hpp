#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "mixture/forward_pass.hpp"

namespace yarrow {

/// How AROW learns products of two values, and for how long: a second mixture learns what the other
/// experts are worth without it. If products have not saved a hundredth of the loss since the last
/// time that this was asked (it is asked after 4,096 rows, and each time that there are twice as
/// many), they are given up, and the second mixture takes the place of the first.
template <class W>
class InteractionExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const Evaluator<W>& evaluator, const ForwardPass<W>& pass, Outputs outputs, int c,
                double weight) {
    if (!pass.has_interactions) return 0;
    const Interactions<W>& interactions = evaluator.own.interactions;
    steps_.clear();
    double growth = 0;
    for (std::size_t k = 0; k < interactions.columns.size(); ++k) {
      const double sign = outputs.sign(static_cast<int>(k), c);
      const double margin = sign * pass.interaction_sums[k];
      if (margin >= 1) continue;
      shares_.resize((steps_.size() + 1) * pass.interactions.size());
      const double v =
          pass.interactions.variance(interactions.columns[k], shares_of(steps_.size(), pass));
      const auto [alpha, kappa] =
          Experts::arow_step<W>(margin, v, weight, evaluator.own.rates.interactions_r);
      steps_.push_back(
          {k, static_cast<W>(sign * alpha), static_cast<W>(std::min(kappa, most_precision))});
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    // Products that share a place move its weight together.
    return growth * std::sqrt(static_cast<double>(pass.interactions.size()));
  }

  void move(State<W>& state, const ForwardPass<W>& pass) {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      pass.interactions.learn(MixtureState<W>::of(state).interactions.columns[steps_[i].column],
                              shares_of(i, pass), steps_[i].alpha, steps_[i].kappa);
  }

  /// What the row says of the experts without this one.
  void weigh(const MixtureState<W>& own, Mixture::Numbers example, double r, double weight) {
    const double heard = std::min(weight, 1.0);
    loss_ = heard * own.mixture.loss(example);
    example = Experts::without_interactions(example);
    loss_without_ = heard * own.trial.without.loss(example);
    step_without_ = own.trial.without.step(example, r / heard);
  }
  void finish_row(MixtureState<W>& own, double drift, const Mixture::Numbers& variances,
                  double rows) const {
    InteractionTrial& trial = own.trial;
    trial.without.take(step_without_, drift, variances);
    trial.loss += loss_;
    trial.loss_without += loss_without_;
    const bool is_due = rows >= trial.next;
    if (own.interactions.is_crowded() || (is_due && !(trial.loss < most_loss * trial.loss_without)))
      return own.give_up_interactions();
    if (!is_due) return;
    trial.loss = trial.loss_without = 0;
    trial.next = std::min(2 * trial.next, InteractionTrial::rows().most);
  }

 private:
  static constexpr double most_loss = 0.99;  ///< of the loss without products

  struct Step {
    std::size_t column;
    W alpha, kappa;  ///< alpha with the sign of the class
  };

  W* shares_of(std::size_t step, const ForwardPass<W>& pass) {
    return shares_.data() + step * pass.interactions.size();
  }

  Mixture::Step step_without_;
  double loss_ = 0, loss_without_ = 0;
  std::vector<Step> steps_;  ///< of columns that move
  Buffer<W> shares_;         ///< of each of these, products over P
};

}  // namespace yarrow
