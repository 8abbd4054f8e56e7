#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "mixture/forward_pass.hpp"

namespace yarrow {

/// How the six experts learn whose score is a sum of weight times value: each of them and each
/// column by itself, at first on paper and then, when nothing can fail any more, in the blocks.
template <class W>
class LinearExperts {
 public:
  /// What each expert does in each column; returns how far a weight may move at most.
  double decide(const Evaluator<W>& evaluator, const Row<W>& row, ForwardPass<W>& pass,
                Outputs outputs, int c, double weight) {
    const State<W>& state = evaluator.state;
    const Experts& experts = evaluator.experts;
    const LearningRates& rates = evaluator.own.rates;
    const std::size_t capacity = state.blocks.capacity(), n = Experts::linear * capacity;
    const W* intercept = state.blocks.intercept();
    find_margins(evaluator, pass, outputs, c);
    if (capacity > 2)  // else they are known already
      evaluator.sum_moving(row, moving_, pass);
    fill(step_, n, 0);
    fill(gain_, n, 0);
    fill(fade_, n, 1);
    double growth = 0;
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const double sign = outputs.sign(k, c);
      for (std::size_t e = 0; e < Experts::linear; ++e) {
        const std::size_t at = e * capacity + k;
        const auto set = [&](double step, double gain) {
          step_[at] = static_cast<W>(step);
          gain_[at] = static_cast<W>(gain);
          fade_[at] = static_cast<W>(rates.memories[e]);
        };
        if (e >= Experts::arows) {
          const double heaviest = std::min(weight, Experts::infinite_weight);
          set(sign * heaviest / (1 + std::exp(margins_[at])), rates.rates[e]);
          growth = std::max(growth, rates.rates[e]);
          continue;
        }
        if (margins_[at] >= 1) continue;  // at rest, which is soon said of most columns
        const double v = pass.variances[at] * square(pass.row.to_learn) +
                         square(experts.intercept) / (1.0 + intercept[n + at]);
        const auto [alpha, kappa] = Experts::arow_step<W>(margins_[at], v, weight, rates.rates[e]);
        if (kappa == 0) continue;  // at rest
        set(sign * alpha, std::min(kappa, most_precision));
        growth = std::max(growth, alpha * std::sqrt(v));
      }
    }
    return growth;
  }

  void move(State<W>& state, const Experts& experts, const Row<W>& row,
            const ForwardPass<W>& pass) const {
    switch (state.blocks.capacity()) {
      case 1:
        return move_few<1>(state, experts, row, pass);
      case 2:
        return move_few<2>(state, experts, row, pass);
      default:
        move_many(state, experts, row, pass);
    }
  }

 private:
  static constexpr std::size_t width = lanes_of<W>;

  ExpertSteps<W> steps() const { return {step_.data(), gain_.data(), fade_.data()}; }

  /// The experts' margins, and which groups of AROWs are below the margin that they ask for.
  void find_margins(const Evaluator<W>& evaluator, const ForwardPass<W>& pass, Outputs outputs,
                    int c) {
    const std::size_t capacity = evaluator.state.blocks.capacity();
    fill(margins_, Experts::linear * capacity, 1);
    for (int k = 0; k < evaluator.state.blocks.columns(); ++k) {
      const double sign = outputs.sign(k, c);
      for (std::size_t at = k; at < margins_.size(); at += capacity)
        margins_[at] = sign * evaluator.linear_score(pass, at, pass.row.to_learn);
    }
    moving_.clear();
    for (std::size_t at = 0; at < Experts::arows * capacity; at += width)
      if (std::any_of(margins_.begin() + at, margins_.begin() + at + width,
                      [](double margin) { return margin < 1; }))
        moving_.push_back(at);
  }

  /// One column or two with nothing beside them.
  template <std::size_t Columns>
  void move_few(State<W>& state, const Experts& experts, const Row<W>& row,
                const ForwardPass<W>& pass) const {
    const Index place = 0;
    const W constant = static_cast<W>(experts.intercept);
    with_kernels_of<Columns, W>([&](auto kernels) {
      const auto move = [&]<bool HasOwn>() {
        kernels.template move_columns<Columns, HasOwn>(
            row, pass.row.values.data(), static_cast<W>(pass.row.to_learn), pass.row.weighed.data(),
            state.blocks.first(), state.blocks.stride(), steps(), !moving_.empty());
      };
      pass.few() ? move.template operator()<false>() : move.template operator()<true>();
      kernels.template move_columns<Columns, false>({&place, &constant, 1}, &constant, 1, nullptr,
                                                    state.blocks.intercept(), 0, steps(),
                                                    !moving_.empty());
    });
  }

  void move_many(State<W>& state, const Experts& experts, const Row<W>& row,
                 const ForwardPass<W>& pass) const {
    const ManyColumns move{steps(), moving_, static_cast<std::size_t>(state.blocks.capacity())};
    move_blocks(state, row, pass.row, Evaluator<W>{state, experts}.own_values(pass), move);
    W* const cells[] = {state.blocks.intercept()};
    const Lanes<W> x[] = {Lanes<W>{} + static_cast<W>(experts.intercept)};
    move(cells, x, [](std::size_t, std::size_t, Lanes<W> all) { return all; });
  }

  struct ManyColumns {
    ExpertSteps<W> steps;
    const std::vector<std::size_t>& moving;
    std::size_t capacity;

    [[gnu::always_inline]] void operator()(const auto& cells, const auto& x, auto own) const {
      const std::size_t n = Experts::linear * capacity;
      for (const std::size_t j : moving) {
        const ExpertStep<W> step = ExpertStep<W>::template at<width>(steps, j);
        for (std::size_t k = 0; k < std::size(x); ++k)
          step.arow(cells[k] + j, cells[k] + n + j, own(k, j, x[k]));
      }
      std::size_t j = Experts::arows * capacity;
      for (; j + width <= n; j += width) {
        const ExpertStep<W> step = ExpertStep<W>::template at<width>(steps, j);
        for (std::size_t k = 0; k < std::size(x); ++k)
          step.template adagrad<width>(cells[k] + j, cells[k] + n + j, x[k]);
      }
      if (j == n) return;
      const ExpertStep<W> step = ExpertStep<W>::template at<2>(steps, j);
      for (std::size_t k = 0; k < std::size(x); ++k)
        step.template adagrad<2>(cells[k] + j, cells[k] + n + j, x[k]);
    }
  };

  /// Calls f with the cells of some values at a time, with these, as long as a row is, and with the
  /// way to those that experts own.
  template <class F>
  [[gnu::always_inline]] static void move_blocks(State<W>& state, const Row<W>& row,
                                                 const StandardizedRow<W>& values,
                                                 OwnValues<W> own_values, F f) {
    const W to_learn = static_cast<W>(values.to_learn);
    Fours::each(row, values.values.data(), state.blocks.first(), state.blocks.stride(),
                [=](const auto& cells, const auto& some, std::size_t i) {
                  Lanes<W> x[std::extent_v<std::remove_reference_t<decltype(some)>>];
                  spread(some, [=](Lanes<W> all) { return all * to_learn; }, x);
                  f(cells, x,
                    [=](std::size_t k, std::size_t j, Lanes<W> all) __attribute__((always_inline)) {
                      return j < own_values.owners ? own_values.at(i + k, j, all) * to_learn : all;
                    });
                });
  }

  std::vector<double> margins_;
  std::vector<W> step_, gain_,
      fade_;  ///< AROW: alpha, kappa, memory; AdaGrad: gradient, rate, memory
  std::vector<std::size_t> moving_;  ///< groups of neighbours among the AROWs that learn
};

}  // namespace yarrow
