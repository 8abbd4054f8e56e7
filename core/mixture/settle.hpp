#pragma once
#include <utility>
#include <vector>

#include "learner/outputs.hpp"
#include "learner/settled.hpp"
#include "mixture/forward_pass.hpp"

// How the learners without settings settle what they predict by.

namespace yarrow {

/// The features that were seen, in their scale, and the terms over them. `F` is the type of what is
/// kept of few features.
template <class F>
class SettledFeatures {
 public:
  /// `only_varying`: among some features those whose values are all the same do not bend.
  template <class W>
  SettledFeatures(const State<W>& state, ColumnStatistics statistics, const FewFeatures<F>& few,
                  const TableColumns& table, double limit, bool only_varying, std::size_t scores)
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
      numbers.push_back(static_cast<Index>(number));
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
  std::vector<Index> numbers;  ///< among few features

  std::size_t size() const { return numbers.size(); }

  /// `number(item, score, k)` for `each` numbers.
  SettledTerm term(const char* over, bool divided, std::size_t items, std::size_t each,
                   auto number) const {
    SettledTerm term = {over, divided, each, {}, {}};
    for (std::size_t i = 0; i < items; ++i)
      for (std::size_t s = 0; s < scores_; ++s)
        for (std::size_t k = 0; k < each; ++k) term.numbers.push_back(number(i, s, k));
    return term;
  }
  /// The same of each feature.
  SettledTerm values(const char* over, bool divided, auto number) const {
    return term(over, divided, size(), 1,
                [&](std::size_t i, std::size_t s, std::size_t) { return number(i, s); });
  }

  /// Those over knots, and over surfaces: `number(piece, score)`, with the cells of a piece.
  void add_pieces(SettledExpert& to, bool divided, auto number) const {
    constexpr std::size_t knots = Spline<F>::knots;
    const auto add = [&](const char* over, const std::vector<Index>& firsts, std::size_t each) {
      to.terms.push_back(term(over, divided, firsts.size(), each, [&](auto i, auto s, auto k) {
        return number((static_cast<std::size_t>(firsts[i]) + k) * Spline<F>::numbers, s);
      }));
    };
    std::vector<Index> of_one, of_two;
    for (std::size_t two = 0; two < size(); ++two) {
      of_one.push_back(Spline<F>::of_feature(numbers[two]));
      for (std::size_t one = 0; told.paired && one < two; ++one)
        of_two.push_back(Spline<F>::of_surface(numbers[one], numbers[two]));
    }
    add("knots", of_one, knots);
    if (told.paired) add("pairs", of_two, knots * knots);
  }

 private:
  std::size_t scores_;
};

/// YarrowClassifier's experts, for these scores.
template <class W>
Settled settle(const Evaluator<W>& evaluator, const std::vector<ToldScore>& scores) {
  const State<W>& state = evaluator.state;
  const Experts& experts = evaluator.experts;
  const MixtureState<W>& own = evaluator.own;
  const SettledFeatures<W> features(state, evaluator.statistics(), own.few, own.table,
                                    most_deviations, true, scores.size());
  const Tier tier = own.few.tier;
  const std::size_t capacity = state.blocks.capacity();
  Settled told = features.told;

  const auto expert = [&](std::size_t e, auto constant) -> SettledExpert& {
    told.experts.push_back({experts.name_of(e), own.mixture.mean[e], Mixture::most, false, {}});
    for (const ToldScore& score : scores)
      told.experts.back().constant.push_back(score.sign * Experts::gain(e) *
                                             constant(static_cast<std::size_t>(score.column)));
    return told.experts.back();
  };
  const auto slot_of = [&](std::size_t i) { return told.features[i] + std::size_t{1}; };
  /// A number of each feature and column.
  const auto each = [&](std::size_t e, const char* over, bool divided, auto number) {
    return features.values(over, divided, [&](std::size_t i, std::size_t s) {
      return scores[s].sign * Experts::gain(e) *
             number(i, static_cast<std::size_t>(scores[s].column));
    });
  };
  const auto pieces = [&](SettledExpert& to, std::size_t e, bool divided, auto number) {
    features.add_pieces(to, divided, [&](std::size_t at, std::size_t s) {
      const auto column = static_cast<std::size_t>(scores[s].column);
      return scores[s].sign * Experts::gain(e) *
             number(own.few.spline.columns[column].data() + at, column);
    });
  };

  for (std::size_t e = 0; e < Experts::linear; ++e) {
    SettledExpert& linear = expert(e, [&](std::size_t column) {
      return experts.intercept * state.blocks.intercept()[e * capacity + column];
    });
    linear.terms.push_back(each(e, "values", true, [&](std::size_t i, std::size_t column) {
      const bool weighed = e == 0 && tier != Tier::low;
      const double weight =
          *(state.blocks.cell(slot_of(i), static_cast<int>(column)) + e * capacity);
      return weight * (weighed ? std::abs(evaluator.evidence_of(slot_of(i), column)) : 1);
    }));
  }
  if (tier != Tier::high) {
    SettledExpert& spline = expert(Experts::spline, [&](std::size_t column) {
      return experts.intercept * own.few.spline.intercept_of(column)[Spline<W>::weight];
    });
    spline.needs_knots = tier != Tier::low;
    pieces(spline, Experts::spline, true,
           [](const W* piece, std::size_t) -> double { return piece[Spline<W>::weight]; });
  }
  SettledExpert& bayes = expert(Experts::bayes, [&](std::size_t column) {
    return log_odds(own.columns[column].weight, own.weight, experts.smoothing);
  });
  if (tier != Tier::low)
    bayes.terms.push_back(
        each(Experts::bayes, "presence", false, [&](std::size_t i, std::size_t column) {
          return evaluator.evidence_of(slot_of(i), column);
        }));
  if (tier != Tier::high)
    pieces(bayes, Experts::bayes, false, [&](const W* piece, std::size_t column) {
      const double visits = piece[Spline<W>::visits];
      return visits > 0 ? log_odds(piece[Spline<W>::hits], visits, experts.smoothing) +
                              evaluator.class_bias(column)
                        : 0;
    });
  if (tier == Tier::low) {
    const auto weight = [&](std::size_t column, std::size_t at) -> double {
      return own.few.correlated.columns[column][at];
    };
    SettledExpert& full = expert(Experts::covariance, [&](std::size_t column) {
      return experts.intercept * weight(column, 0);
    });
    full.terms.push_back(
        each(Experts::covariance, "values", true, [&](std::size_t i, std::size_t column) {
          return weight(column, static_cast<std::size_t>(features.numbers[i]) + 1);
        }));
  }
  if (own.interactions.is_kept) {
    SettledExpert& interactions = expert(Experts::interactions, [](std::size_t) { return 0.0; });
    std::uint32_t most = 0;
    std::vector<Index> of;
    for (const Index feature : told.features) {
      most = std::max(most, own.interactions.number_of(feature));
      of.push_back(static_cast<Index>(own.interactions.number_of(feature)));
    }
    interactions.terms.push_back(features.term(
        "products", false, own.interactions.places_of(most), 1,
        [&](std::size_t at, std::size_t s, auto) {
          return scores[s].sign * own.interactions.columns[scores[s].column].weights[at];
        }));
    interactions.terms.back().of = std::move(of);
  }
  return told;
}

}  // namespace yarrow
