#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "expert_steps.hpp"
#include "walk.hpp"

namespace yarrow {

/// How the six experts learn whose score is a sum of weight times value: each of them and each
/// column by itself, at first on paper and then, when nothing can fail any more, in the blocks.
template <class W>
class StraightExperts {
 public:
  /// What each expert does in each column; returns how far a weight may move at most.
  double decide(const State<W>& state, const Experts& experts, const Row<W>& row, Walk<W>& walk,
                Columns columns, int c, double weight) {
    const std::size_t capacity = state.blocks.capacity(), n = Experts::straight * capacity;
    const W* intercept = state.blocks.intercept();
    find_margins(state, experts, walk, columns, c);
    if (capacity > 2)  // else they are known already
      Walker<W>{state, experts}.sum_moving(row, moving_, walk);
    fill(step_, n, 0);
    fill(gain_, n, 0);
    fill(fade_, n, 1);
    double growth = 0;
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const double sign = columns.sign(k, c);
      for (std::size_t e = 0; e < Experts::straight; ++e) {
        const std::size_t at = e * capacity + k;
        const auto set = [&](double step, double gain) {
          step_[at] = static_cast<W>(step);
          gain_[at] = static_cast<W>(gain);
          fade_[at] = static_cast<W>(experts.memories[e]);
        };
        if (e >= Experts::arows) {
          const double heaviest = std::min(weight, Experts::infinite_weight);
          set(sign * heaviest / (1 + std::exp(margins_[at])), experts.rates[e]);
          growth = std::max(growth, experts.rates[e]);
          continue;
        }
        if (margins_[at] >= 1) continue;  // at rest, which is soon said of most columns
        const double v = walk.variances[at] * square(walk.row.to_learn) +
                         square(experts.intercept) / (1.0 + intercept[n + at]);
        const auto [alpha, kappa] =
            Experts::arow_step<W>(margins_[at], v, weight, experts.rates[e]);
        if (kappa == 0) continue;  // at rest
        set(sign * alpha, std::min(kappa, most_precision));
        growth = std::max(growth, alpha * std::sqrt(v));
      }
    }
    return growth;
  }

  void move(State<W>& state, const Experts& experts, const Row<W>& row, const Walk<W>& walk) const {
    const OwnValues<W> own = Walker<W>{state, experts}.own_values(walk);
    const auto move_by = [&](auto f) __attribute__((always_inline)) {
      move_blocks(state, row, walk.row, own, f);
      W* const cells[] = {state.blocks.intercept()};
      const Lanes<W> x[] = {Lanes<W>{} + static_cast<W>(experts.intercept)};
      f(cells, x, [](std::size_t, std::size_t, Lanes<W> all) { return all; });
    };
    switch (state.blocks.capacity()) {
      case 1:
        return moving_.empty() ? move_by(FewColumns<1, false>(steps()))
                               : move_by(FewColumns<1, true>(steps()));
      case 2:
        return moving_.empty() ? move_by(FewColumns<2, false>(steps()))
                               : move_by(FewColumns<2, true>(steps()));
      default:
        move_by(ManyColumns{steps(), moving_, static_cast<std::size_t>(state.blocks.capacity())});
    }
  }

 private:
  static constexpr std::size_t width = lanes_of<W>;

  ExpertSteps<W> steps() const { return {step_.data(), gain_.data(), fade_.data()}; }

  /// The experts' margins, and which groups of AROWs are below the margin that they ask for.
  void find_margins(const State<W>& state, const Experts& experts, const Walk<W>& walk,
                    Columns columns, int c) {
    const std::size_t capacity = state.blocks.capacity();
    const W* intercept = state.blocks.intercept();
    fill(margins_, Experts::straight * capacity, 1);
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const double sign = columns.sign(k, c);
      for (std::size_t at = k; at < margins_.size(); at += capacity)
        margins_[at] =
            sign * (walk.products[at] * walk.row.to_learn + experts.intercept * intercept[at]);
    }
    moving_.clear();
    for (std::size_t at = 0; at < Experts::arows * capacity; at += width)
      if (std::any_of(margins_.begin() + at, margins_.begin() + at + width,
                      [](double margin) { return margin < 1; }))
        moving_.push_back(at);
  }

  /// One column or two and nothing beside them: all steps stay in registers. `Arows`: whether these
  /// move.
  template <std::size_t Columns, bool Arows>
  struct FewColumns {
    static constexpr std::size_t n = Columns * Experts::straight, arows = Columns * Experts::arows;
    static constexpr std::size_t adagrads = n - arows;
    static constexpr bool is_half = adagrads < width;  ///< a register
    ExpertStep<W> arow_steps[arows / width], adagrad_steps[is_half ? 1 : adagrads / width];

    explicit FewColumns(const ExpertSteps<W>& steps) {
      for (std::size_t j = 0; j < arows; j += width)
        arow_steps[j / width] = steps.template at<width>(j);
      for (std::size_t j = 0; j < adagrads; j += width)
        adagrad_steps[j / width] = steps.template at<is_half ? 2 : width>(arows + j);
    }

    [[gnu::always_inline]] void operator()(const auto& cells, const auto& x, auto own) const {
      if constexpr (Arows)
        for (std::size_t k = 0; k < std::size(x); ++k)
          for (std::size_t j = 0; j < arows; j += width)
            arow_steps[j / width].arow(cells[k] + j, cells[k] + n + j,
                                       j == 0 ? own(k, 0, x[k]) : x[k]);
      if constexpr (is_half && std::extent_v<std::remove_reference_t<decltype(x)>> == 4) {
        adagrad_steps[0].adagrad_twice(cells[0] + arows, cells[1] + arows, n, x[0], x[1]);
        adagrad_steps[0].adagrad_twice(cells[2] + arows, cells[3] + arows, n, x[2], x[3]);
      } else {
        for (std::size_t k = 0; k < std::size(x); ++k)
          for (std::size_t j = 0; j < adagrads; j += width)
            adagrad_steps[j / width].template adagrad<is_half ? 2 : width>(
                cells[k] + arows + j, cells[k] + n + arows + j, x[k]);
      }
    }
  };

  struct ManyColumns {
    ExpertSteps<W> steps;
    const std::vector<std::size_t>& moving;
    std::size_t capacity;

    [[gnu::always_inline]] void operator()(const auto& cells, const auto& x, auto own) const {
      const std::size_t n = Experts::straight * capacity;
      for (const std::size_t j : moving) {
        const ExpertStep<W> step = steps.template at<width>(j);
        for (std::size_t k = 0; k < std::size(x); ++k)
          step.arow(cells[k] + j, cells[k] + n + j, own(k, j, x[k]));
      }
      std::size_t j = Experts::arows * capacity;
      for (; j + width <= n; j += width) {
        const ExpertStep<W> step = steps.template at<width>(j);
        for (std::size_t k = 0; k < std::size(x); ++k)
          step.template adagrad<width>(cells[k] + j, cells[k] + n + j, x[k]);
      }
      if (j == n) return;
      const ExpertStep<W> step = steps.template at<2>(j);
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
    for_fours(row, values.values.data(), state.blocks.first(), state.blocks.stride(),
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
