#pragma once
#include <utility>
#include <vector>

#include "learner/outputs.hpp"
#include "learner/settled.hpp"
#include "mixture/forward_pass.hpp"

// How the learners without settings settle what they predict by.

namespace yarrow {

/// The features that were seen, in their scale, and the experts over them, one after the other. `F`
/// is the type of what is kept of few features. Numbers are told by column; they are written for
/// the scores that are asked for.
template <class F>
class Settling {
 public:
  /// `only_varying`: among some features those whose values are all the same do not bend.
  template <class W>
  Settling(const State<W>& state, ColumnStatistics statistics, const FewFeatures<F>& few,
           const TableColumns& table, double limit, bool only_varying,
           const std::vector<ToldScore>& scores)
      : scores_(scores) {
    const Blocks<W>& blocks = state.blocks;
    const double rows = blocks.intercept()[statistics.at];
    const bool listed = few.tier != Tier::high;
    const std::size_t n = listed ? few.features.size() : blocks.features();
    std::vector<Index> place_of(blocks.features(), -1);
    for (std::size_t number = 0; number < n; ++number) {
      const Index feature = listed ? few.features[number] : static_cast<Index>(number);
      const W* const column = blocks.first() + feature * blocks.stride() + statistics.at;
      if (!(column[0] > 0)) continue;
      const ColumnScale scale(column, rows);
      place_of[feature] = static_cast<Index>(told.features.size());
      numbers.push_back(number);
      told.features.push_back(feature);
      told.shift.push_back(scale.shift());
      told.unit.push_back(scale.unit());
      told.bends.push_back(listed && (few.tier == Tier::low || !only_varying || column[2] > 0));
    }
    told.limit = limit;
    told.paired = few.tier == Tier::low && n <= std::size_t{Spline<F>::most_with_surfaces};
    for (const Index feature : table.features())
      if (place_of[feature] >= 0) told.zeros.push_back(place_of[feature]);
  }

  Settled told;
  std::vector<std::size_t> numbers;  ///< of the features, among few of them

  std::size_t slot(std::size_t i) const { return told.features[i] + std::size_t{1}; }

  /// The next expert, whose numbers all get a factor; its constant is `constant(column)`.
  void add_expert(std::string name, double weight, double cut, double factor, auto constant) {
    factor_ = factor;
    told.experts.push_back({std::move(name), weight, cut, false, {}});
    add_numbers(told.experts.back().constant, 1, 1,
                [&](std::size_t, std::size_t column, std::size_t) { return constant(column); });
  }

  /// A term of the last expert: `number(item, column, k)` for k up to `each`; and one over the
  /// features: `number(feature's place, column)`.
  void add_term(const char* over, bool divided, std::size_t items, std::size_t each, auto number) {
    told.experts.back().terms.push_back({over, divided, each, {}, {}});
    add_numbers(told.experts.back().terms.back().numbers, items, each, number);
  }
  void add_values(const char* over, bool divided, auto number) {
    add_term(over, divided, numbers.size(), 1,
             [&](std::size_t i, std::size_t column, std::size_t) { return number(i, column); });
  }

  /// Those over knots, and over surfaces: `number(cells before the piece's, column)`.
  void add_pieces(bool divided, auto number) {
    constexpr std::size_t knots = Spline<F>::knots;
    std::vector<Index> of_one, of_two;
    for (std::size_t two = 0; two < numbers.size(); ++two) {
      of_one.push_back(Spline<F>::of_feature(static_cast<Index>(numbers[two])));
      for (std::size_t one = 0; told.paired && one < two; ++one)
        of_two.push_back(Spline<F>::of_surface(static_cast<Index>(numbers[one]),
                                               static_cast<Index>(numbers[two])));
    }
    const auto add = [&](const char* over, const std::vector<Index>& firsts, std::size_t each) {
      add_term(over, divided, firsts.size(), each, [&](std::size_t i, std::size_t column, auto k) {
        return number((static_cast<std::size_t>(firsts[i]) + k) * Spline<F>::numbers, column);
      });
    };
    add("knots", of_one, knots);
    if (told.paired) add("pairs", of_two, knots * knots);
  }

 private:
  void add_numbers(std::vector<double>& to, std::size_t items, std::size_t each, auto number) {
    for (std::size_t i = 0; i < items; ++i)
      for (const auto [column, sign] : scores_)
        for (std::size_t k = 0; k < each; ++k)
          to.push_back(sign * factor_ * number(i, static_cast<std::size_t>(column), k));
  }

  const std::vector<ToldScore>& scores_;
  double factor_ = 1;
};

/// YarrowClassifier's experts.
template <class W>
Settled settle(const Evaluator<W>& evaluator, const std::vector<ToldScore>& scores) {
  const State<W>& state = evaluator.state;
  const Experts& experts = evaluator.experts;
  const MixtureState<W>& own = evaluator.own;
  const Tier tier = own.few.tier;
  const std::size_t capacity = state.blocks.capacity();
  Settling<W> to(state, evaluator.statistics(), own.few, own.table, most_deviations, true, scores);
  const auto add_expert = [&](std::size_t e, auto constant) {
    to.add_expert(Experts::name_of(e, own.rates), own.mixture.mean[e], Mixture::most,
                  Experts::gain(e), constant);
  };

  for (std::size_t e = 0; e < Experts::linear; ++e) {
    add_expert(e, [&](std::size_t column) {
      return experts.intercept * state.blocks.intercept()[e * capacity + column];
    });
    to.add_values("values", true, [&](std::size_t i, std::size_t column) {
      const double weight = *state.blocks.cell(to.slot(i), static_cast<int>(e * capacity + column));
      const bool is_weighed = e == 0 && tier != Tier::low;
      return weight * (is_weighed ? std::abs(evaluator.evidence_of(to.slot(i), column)) : 1);
    });
  }
  if (tier != Tier::high) {
    add_expert(Experts::spline, [&](std::size_t column) {
      return experts.intercept * own.few.spline.intercept_of(column)[Spline<W>::weight];
    });
    to.told.experts.back().needs_knots = tier != Tier::low;
    to.add_pieces(true, [&](std::size_t at, std::size_t column) -> double {
      return own.few.spline.columns[column][at + Spline<W>::weight];
    });
  }
  add_expert(Experts::bayes, [&](std::size_t column) {
    return log_odds(own.columns[column].weight, own.weight, experts.smoothing);
  });
  if (tier != Tier::low)
    to.add_values("presence", false, [&](std::size_t i, std::size_t column) {
      return evaluator.evidence_of(to.slot(i), column);
    });
  if (tier != Tier::high)
    to.add_pieces(false, [&](std::size_t at, std::size_t column) {
      const W* const piece = own.few.spline.columns[column].data() + at;
      const double visits = piece[Spline<W>::visits];
      if (visits == 0) return 0.0;
      return log_odds(piece[Spline<W>::hits], visits, experts.smoothing) +
             evaluator.class_bias(column);
    });
  if (tier == Tier::low) {
    const std::vector<std::vector<W>>& weights = own.few.correlated.columns;
    add_expert(Experts::covariance,
               [&](std::size_t column) { return experts.intercept * weights[column][0]; });
    to.add_values("values", true, [&](std::size_t i, std::size_t column) -> double {
      return weights[column][to.numbers[i] + 1];
    });
  }
  if (own.interactions.is_kept) {
    add_expert(Experts::interactions, [](std::size_t) { return 0.0; });
    std::vector<Index> of;
    for (const Index feature : to.told.features)
      of.push_back(static_cast<Index>(own.interactions.number_of(feature)));
    const Index most = of.empty() ? 0 : *std::ranges::max_element(of);
    to.add_term("products", false, own.interactions.places_of(most), 1,
                [&](std::size_t at, std::size_t column, std::size_t) -> double {
                  return own.interactions.columns[column].weights[at];
                });
    to.told.experts.back().terms.back().of = std::move(of);
  }
  return std::move(to.told);
}

}  // namespace yarrow
