#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "mixture/few_features.hpp"
#include "mixture/mixture.hpp"
#include "mixture/pairs.hpp"
#include "state/state.hpp"

// What the learner without settings keeps beside the blocks, and how files keep it.

namespace yarrow {

/// What is kept of few features: splines, and a full covariance up to a number.
template <class W>
void save_few(const FewFeatures<W>& few, const ArrayWriter& put) {
  const std::size_t columns = few.spline.columns.size(), features = few.features.size();
  const std::size_t cells = Spline<W>::size(features), size = features + 1;
  std::vector<W> pieces, weights, covariance;
  for (const std::vector<W>& column : few.spline.columns)
    pieces.insert(pieces.end(), column.begin(), column.begin() + cells);
  put("few_features", std::vector<Index>(few.features));
  put("bends", std::move(pieces), columns, cells / Spline<W>::numbers,
      std::size_t{Spline<W>::numbers});
  if (few.tier != Tier::low) return;
  for (const std::vector<W>& column : few.correlated.columns)
    weights.insert(weights.end(), column.begin(), column.begin() + size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto line = few.correlated.covariance.begin() + i * few.correlated.line();
    covariance.insert(covariance.end(), line, line + size);
  }
  put("full_weights", std::move(weights), columns, size);
  put("full_covariance", std::move(covariance), size, size);
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
  if (few.tier != Tier::low) return;
  const std::size_t size = n + 1;
  const auto weights = from.values<W>("full_weights", {columns, size});
  const auto covariance = from.values<W>("full_covariance", {size, size});
  for (std::size_t k = 0; k < columns; ++k)
    std::copy_n(weights.begin() + k * size, size, few.correlated.columns[k].begin());
  // It shrinks from 1 on; float32 adds some errors.
  const auto is_small = [](W cell) { return std::abs(cell) <= W{1.001}; };
  if (!std::all_of(covariance.begin(), covariance.end(), is_small) ||
      !is_covariance({covariance.begin(), covariance.end()}, size, 1e-4))
    SavedState::refuse("full_covariance", "is no covariance");
  for (std::size_t i = 0; i < size; ++i)
    std::copy_n(covariance.begin() + i * size, size,
                few.correlated.covariance.begin() + i * few.correlated.line());
}

template <class W>
struct MixtureState final : ExtensionOf<MixtureState<W>> {
  /// Of a column, for naive Bayes.
  struct Counts {
    double hits = 0;    ///< values in rows of its class
    double weight = 0;  ///< of rows of its class
  };

  Mixture mixture;     ///< of experts: what each is worth
  FewFeatures<W> few;  ///< what is kept as long as there are few features
  Pairs<W> pairs;      ///< and as long as rows have few values
  std::vector<Counts> columns = std::vector<Counts>(1);
  double counted = 0;  ///< standardised columns: rows that their counts refer to
  double visits = 0;   ///< naive Bayes: values in all rows
  double weight = 0;   ///< naive Bayes: of all rows

  void add_column(int from, bool mirrored) override {
    columns.push_back(from < 0 ? Counts{} : Counts(columns[from]));
    if (mirrored) {
      columns.back().hits = visits - columns.back().hits;
      columns.back().weight = weight - columns.back().weight;
    }
    few.add_column(from, mirrored);
    pairs.add_column(from, mirrored);
  }
  void truncate_columns(int n) override {
    columns.resize(n);
    few.truncate_columns(n);
    pairs.columns.resize(n);
  }
  void keep_features(const std::vector<Index>& keep) override {
    few.end();  // its features have other numbers now
    pairs.renumber(keep);
  }
  bool is_fresh(Index feature) const override {
    return few.number_of(feature) == FewFeatures<W>::most && pairs.number_of(feature) == 0;
  }
  void drop_fresh(const std::vector<Index>& keep) override {
    few.renumber(keep);
    pairs.renumber(keep);
  }
  std::size_t bytes() const override { return few.bytes() + pairs.bytes(); }

  /// What experts are worth, line by line; rows, values and weights of rows that counts refer to.
  void save(const ArrayWriter& put) const override {
    const auto mean = mixture.mean.begin();
    std::vector<double> numbers(mean, mean + Mixture::experts), hits, weights;
    for (int e = 0; e < Mixture::experts; ++e) {
      const auto line = mixture.covariance[e].begin();
      numbers.insert(numbers.end(), line, line + Mixture::experts);
    }
    for (const double number : {counted, visits, weight}) numbers.push_back(number);
    for (const Counts& column : columns) {
      hits.push_back(column.hits);
      weights.push_back(column.weight);
    }
    put("mixture", std::move(numbers));
    put("mixture_hits", std::move(hits));
    put("mixture_weights", std::move(weights));
    if (few.tier != Tier::high) save_few(few, put);
  }
  void restore(SavedState& from, std::size_t features, std::size_t columns) override {
    constexpr std::size_t experts = Mixture::experts;
    const auto saved = from.values<double>("mixture", {experts * (experts + 1) + 3});
    const auto hits = from.values<double>("mixture_hits", {columns}, Range::not_negative());
    const auto weights = from.values<double>("mixture_weights", {columns}, Range::not_negative());
    this->columns.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      this->columns[k].hits = hits[k];
      this->columns[k].weight = weights[k];
    }
    auto number = saved.begin();
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
    if (!(largest < 1e15) || !is_covariance(covariance, experts, 1e-9 * largest))
      SavedState::refuse("mixture", "has no covariance");
    for (const double number_of : mixture.mean)
      if (!(std::abs(number_of) < 1e15)) SavedState::refuse("mixture", "has a number out of range");
    for (double* count : {&counted, &visits, &weight}) {
      if (*number < 0) SavedState::refuse("mixture", "has a negative count");
      *count = *number++;
    }
    restore_few(few, from, features, columns);
  }
};

}  // namespace yarrow
