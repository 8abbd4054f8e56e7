#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "mixture/constants.hpp"
#include "mixture/few_features.hpp"
#include "mixture/interactions.hpp"
#include "mixture/mixture.hpp"
#include "mixture/table_columns.hpp"
#include "state/state.hpp"

// What the learner without settings keeps beside the blocks, and how files keep it.

namespace yarrow {

/// What is kept of few features: splines, and a full covariance up to a number.
template <class W>
void save_few(const FewFeatures<W>& few, const ArrayWriter& put) {
  const std::size_t columns = few.spline.columns.size(), features = few.features.size();
  const std::size_t cells = Spline<W>::size(features);
  std::vector<W> pieces;
  for (const std::vector<W>& column : few.spline.columns)
    pieces.insert(pieces.end(), column.begin(), column.begin() + cells);
  put("few_features", std::vector<Index>(few.features));
  put("bends", std::move(pieces), columns, cells / Spline<W>::numbers,
      std::size_t{Spline<W>::numbers});
  if (few.tier == Tier::low)
    few.correlated.save(put, "full_weights", "full_covariance", features, columns);
}

/// The way back.
template <class W>
void restore_few(FewFeatures<W>& few, SavedState& from, std::size_t features, std::size_t columns) {
  few = {};
  few.spline.columns.resize(columns);
  few.correlated.columns.resize(columns);
  if (!from.has("few_features") && !from.has("bends")) return few.end();
  const auto numbered = from.values<Index>("few_features", {SavedState::any});
  const std::size_t n = numbered.size(), cells = Spline<W>::size(n), piece = Spline<W>::numbers;
  if (n > FewFeatures<W>::most) SavedState::refuse("few_features", "are too many");
  few.become(few.tier_of(n));
  for (const Index feature : numbered) {
    if (feature < 0 || static_cast<std::size_t>(feature) >= features ||
        few.number_of(feature) != FewFeatures<W>::most)
      SavedState::refuse("few_features", "has a number out of range");
    few.add_feature(feature);
  }
  few.make_room(n);
  const auto pieces = from.values<W>("bends", {columns, cells / piece, piece});
  for (std::size_t k = 0; k < columns; ++k)
    std::copy_n(pieces.begin() + k * cells, cells, few.spline.columns[k].begin());
  if (few.tier == Tier::low)
    few.correlated.restore(from, "full_weights", "full_covariance", n, columns);
}

/// What so many experts are worth, line by line.
inline void append(const Mixture& mixture, std::size_t experts, std::vector<double>& numbers) {
  const auto add = [&](const Mixture::Numbers& line) {
    numbers.insert(numbers.end(), line.begin(), line.begin() + experts);
  };
  add(mixture.mean);
  for (std::size_t e = 0; e < experts; ++e) add(mixture.covariance[e]);
}

/// The way back, from numbers of an array of this name; `number` stands behind them then.
inline Mixture read_mixture(const char* name, std::size_t experts, const double*& number) {
  Mixture mixture;
  const auto read = [&](Mixture::Numbers& line) {
    std::copy_n(number, experts, line.begin());
    number += experts;
  };
  read(mixture.mean);
  for (std::size_t e = 0; e < experts; ++e) read(mixture.covariance[e]);
  std::vector<double> covariance;  // a silent expert's variance is 0
  double largest = 0;
  for (std::size_t e = 0; e < experts; ++e) {
    const Mixture::Numbers& line = mixture.covariance[e];
    covariance.insert(covariance.end(), line.begin(), line.begin() + experts);
    largest = std::max(largest, line[e]);
  }
  if (!(largest <= 2 * Mixture::most_variance) ||
      !is_covariance(covariance, experts, 1e-9 * largest))
    SavedState::refuse(name, "has no covariance");
  double worth = 0;
  for (const double mean : mixture.mean) worth += std::abs(mean);
  if (!(worth < Mixture::most_worth)) SavedState::refuse(name, "has a number out of range");
  return mixture;
}

/// How large steps are, one list after the other.
inline void save_rates(const LearningRates& rates, const ArrayWriter& put) {
  std::vector<double> numbers = numbers_of(rates);
  if (numbers != numbers_of(LearningRates::unnamed())) put("mixture_rates", std::move(numbers));
}

/// The way back.
inline LearningRates restore_rates(SavedState& from) {
  LearningRates rates = LearningRates::unnamed();
  if (!from.has("mixture_rates")) return rates;
  std::size_t read = 0;
  const auto saved =
      from.values<double>("mixture_rates", {numbers_of(rates).size()}, Range{0, 1e6});
  for (const auto& [_, numbers] : rates.named())
    for (double& number : numbers) {
      number = saved[read++];
      // A memory is a share; all others divide, or are divided by.
      if (numbers.data() == rates.memories.data() ? number > 1 : number < 1e-6)
        SavedState::refuse("mixture_rates", "has a number out of range");
    }
  return rates;
}

/// The weights of products of two values, and whether these are worth it. A state without them is
/// one that has given them up, as are all from before there were any.
template <class W>
void save_interactions(const Interactions<W>& interactions, const InteractionTrial& trial,
                       const ArrayWriter& put) {
  const std::size_t places = interactions.places_of(interactions.features),
                    columns = interactions.columns.size();
  std::vector<Index> features(interactions.features);  // by number, as few_features are
  for (std::size_t at = 0; at < interactions.numbered.size(); ++at)
    if (interactions.numbered[at] > 0)
      features[interactions.numbered[at] - 1] = static_cast<Index>(at);
  std::vector<W> weights, precisions;
  for (const typename Interactions<W>::Numbers& column : interactions.columns) {
    weights.insert(weights.end(), column.weights.begin(), column.weights.begin() + places);
    precisions.insert(precisions.end(), column.precisions.begin(),
                      column.precisions.begin() + places);
  }
  std::vector<double> numbers;
  append(trial.without, Mixture::experts - 1, numbers);
  for (const double number : {trial.loss, trial.loss_without, trial.next})
    numbers.push_back(number);
  put("pair_features", std::move(features));
  put("pair_weights", std::move(weights), columns, places);
  put("pair_precisions", std::move(precisions), columns, places);
  put("pair_trial", std::move(numbers));
}

/// The way back.
template <class W>
void restore_interactions(Interactions<W>& interactions, InteractionTrial& trial, SavedState& from,
                          std::size_t features, std::size_t columns) {
  constexpr std::size_t experts = Mixture::experts - 1;
  interactions = {};
  trial = {};
  interactions.columns.resize(columns);
  if (!from.has("pair_weights")) return;
  interactions.is_kept = true;
  if (interactions.is_crowded()) SavedState::refuse("pair_weights", "has too many columns");
  const auto saved = from.values<double>("pair_trial", {experts * (experts + 1) + 3});
  const double* number = saved.data();
  trial.without = read_mixture("pair_trial", experts, number);
  for (double* to : {&trial.loss, &trial.loss_without, &trial.next}) *to = *number++;
  if (trial.loss < 0 || trial.loss_without < 0 || !InteractionTrial::rows().has(trial.next))
    SavedState::refuse("pair_trial", "has a number out of range");
  for (const Index feature : from.values<Index>("pair_features", {SavedState::any})) {
    if (feature < 0 || static_cast<std::size_t>(feature) >= features ||
        interactions.number_of(feature) != 0)
      SavedState::refuse("pair_features", "has a number out of range");
    interactions.add_feature(feature);
  }
  interactions.make_room(interactions.features);
  const std::size_t places = interactions.places_of(interactions.features);
  const auto weights = from.values<W>("pair_weights", {columns, places});
  const auto precisions = from.values<W>("pair_precisions", {columns, places},
                                         Range{0, static_cast<W>(most_precision)});
  for (std::size_t k = 0; k < columns; ++k) {
    std::copy_n(weights.begin() + k * places, places, interactions.columns[k].weights.begin());
    std::copy_n(precisions.begin() + k * places, places,
                interactions.columns[k].precisions.begin());
  }
}

template <class W>
struct MixtureState final : ExtensionOf<MixtureState<W>> {
  /// Of a column, for naive Bayes.
  struct Counts {
    double hits = 0;    ///< values in rows of its class
    double weight = 0;  ///< of rows of its class
  };

  Mixture mixture;               ///< of experts: what each is worth
  TableColumns table;            ///< whose zeros rows do not bring
  FewFeatures<W> few;            ///< what is kept as long as there are few features
  Interactions<W> interactions;  ///< and as long as rows have few values
  InteractionTrial trial;        ///< of these
  std::vector<Counts> columns = std::vector<Counts>(1);
  LearningRates rates = LearningRates::unnamed();
  /// From which row on the mixture drifts less: in states from before there was such a row, never.
  double drift_rows = std::numeric_limits<double>::infinity();
  double counted = 0;  ///< standardised columns: rows that their counts refer to
  double visits = 0;   ///< naive Bayes: values in all rows
  double weight = 0;   ///< naive Bayes: of all rows

  void give_up_interactions() {
    interactions.end();
    mixture = trial.without;
    trial = {};
  }

  void add_column(int from, bool mirrored) override {
    columns.push_back(from < 0 ? Counts{} : Counts(columns[from]));
    if (mirrored) {
      columns.back().hits = visits - columns.back().hits;
      columns.back().weight = weight - columns.back().weight;
    }
    few.add_column(from, mirrored);
    interactions.add_column(from, mirrored);
  }
  void truncate_columns(int n) override {
    columns.resize(n);
    few.truncate_columns(n);
    interactions.columns.resize(n);
  }
  void keep_features(const std::vector<Index>& keep) override {
    table.renumber(keep);
    few.end();  // its features have other numbers now
    if (interactions.is_kept) give_up_interactions();
  }
  bool is_fresh(Index feature) const override {
    return few.number_of(feature) == FewFeatures<W>::most && interactions.number_of(feature) == 0;
  }
  void drop_fresh(const std::vector<Index>& keep) override {
    table.renumber(keep);
    few.renumber(keep);
    interactions.renumber(keep);
  }
  std::size_t bytes() const override { return table.bytes() + few.bytes() + interactions.bytes(); }

  /// What experts are worth, line by line; rows, values and weights of rows that counts refer to.
  void save(const ArrayWriter& put) const override {
    std::vector<double> numbers, hits, weights;
    append(mixture, Mixture::experts - !interactions.is_kept, numbers);
    for (const double number : {counted, visits, weight}) numbers.push_back(number);
    for (const Counts& column : columns) {
      hits.push_back(column.hits);
      weights.push_back(column.weight);
    }
    put("mixture", std::move(numbers));
    save_rates(rates, put);
    if (std::isfinite(drift_rows)) put("mixture_drift_rows", std::vector<double>{drift_rows});
    put("mixture_hits", std::move(hits));
    put("mixture_weights", std::move(weights));
    table.save(put);
    if (few.tier != Tier::high) save_few(few, put);
    if (interactions.is_kept) save_interactions(interactions, trial, put);
  }
  void restore(SavedState& from, std::size_t features, std::size_t columns) override {
    restore_interactions(interactions, trial, from, features, columns);
    const std::size_t experts = Mixture::experts - !interactions.is_kept;
    const auto saved = from.values<double>("mixture", {experts * (experts + 1) + 3});
    rates = restore_rates(from);
    drift_rows = std::numeric_limits<double>::infinity();
    if (from.has("mixture_drift_rows"))
      drift_rows = from.values<double>("mixture_drift_rows", {1}, Range::positive())[0];
    const auto hits = from.values<double>("mixture_hits", {columns}, Range::not_negative());
    const auto weights = from.values<double>("mixture_weights", {columns}, Range::not_negative());
    this->columns.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      this->columns[k].hits = hits[k];
      this->columns[k].weight = weights[k];
    }
    const double* number = saved.data();
    mixture = read_mixture("mixture", experts, number);
    for (double* count : {&counted, &visits, &weight}) {
      if (*number < 0) SavedState::refuse("mixture", "has a negative count");
      *count = *number++;
    }
    table.restore(from, features);
    restore_few(few, from, features, columns);
  }
};

}  // namespace yarrow
