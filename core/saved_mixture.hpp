#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "saved.hpp"
#include "state.hpp"

// What the learner without settings keeps beside the blocks, as arrays of a state and back.

namespace yarrow {

/// What experts are worth, line by line; rows, values and weights of rows that counts refer to.
void save_mixture(const Scalars& state, auto put) {
  const auto mean = state.mixture.mean.begin();
  std::vector<double> mixture(mean, mean + Mixture::experts), hits, weights;
  for (int e = 0; e < Mixture::experts; ++e) {
    const auto line = state.mixture.covariance[e].begin();
    mixture.insert(mixture.end(), line, line + Mixture::experts);
  }
  for (const double number : {state.counted, state.visits, state.weight}) mixture.push_back(number);
  for (const Column& column : state.columns) {
    hits.push_back(column.hits);
    weights.push_back(column.weight);
  }
  put("mixture", std::move(mixture));
  put("mixture_hits", std::move(hits));
  put("mixture_weights", std::move(weights));
}

/// The way back.
inline void restore_mixture(Scalars& to, SavedState& from) {
  const std::size_t columns = to.columns.size();
  constexpr std::size_t experts = Mixture::experts;
  const auto saved = from.values<double>("mixture", {experts * (experts + 1) + 3});
  const auto hits = from.values<double>("mixture_hits", {columns}, Range::not_negative());
  const auto weights = from.values<double>("mixture_weights", {columns}, Range::not_negative());
  for (std::size_t k = 0; k < columns; ++k) {
    to.columns[k].hits = hits[k];
    to.columns[k].weight = weights[k];
  }
  auto number = saved.begin();
  const auto read = [&](Mixture::Numbers& line) {
    std::copy_n(number, experts, line.begin());
    number += experts;
  };
  read(to.mixture.mean);
  for (std::size_t e = 0; e < experts; ++e) read(to.mixture.covariance[e]);
  std::vector<double> covariance;  // a silent expert's variance is 0
  double largest = 0;
  for (std::size_t e = 0; e < experts; ++e) {
    const Mixture::Numbers& line = to.mixture.covariance[e];
    covariance.insert(covariance.end(), line.begin(), line.begin() + experts);
    largest = std::max(largest, line[e]);
  }
  if (!(largest < 1e15) || !is_covariance(covariance, experts, 1e-9 * largest))
    SavedState::refuse("mixture", "has no covariance");
  for (const double weight : to.mixture.mean)
    if (!(std::abs(weight) < 1e15)) SavedState::refuse("mixture", "has a number out of range");
  for (double* count : {&to.counted, &to.visits, &to.weight}) {
    if (*number < 0) SavedState::refuse("mixture", "has a negative count");
    *count = *number++;
  }
}

/// What is kept of few features: bends, and a full covariance up to a number.
template <class W>
void save_few(const FewFeatures<W>& few, auto put) {
  const std::size_t columns = few.bends.columns.size(), features = few.features.size();
  const std::size_t cells = Bends<W>::size(features), size = features + 1;
  std::vector<W> bends, weights, covariance;
  for (const std::vector<W>& column : few.bends.columns)
    bends.insert(bends.end(), column.begin(), column.begin() + cells);
  put("few_features", std::vector<Index>(few.features));
  put("bends", std::move(bends), columns, cells / Bends<W>::numbers,
      std::size_t{Bends<W>::numbers});
  if (few.amount != Amount::few) return;
  for (const std::vector<W>& column : few.full.columns)
    weights.insert(weights.end(), column.begin(), column.begin() + size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto line = few.full.covariance.begin() + i * few.full.line();
    covariance.insert(covariance.end(), line, line + size);
  }
  put("full_weights", std::move(weights), columns, size);
  put("full_covariance", std::move(covariance), size, size);
}

/// The way back.
template <class W>
void restore_few(FewFeatures<W>& few, SavedState& from, std::size_t features, std::size_t columns) {
  few = {};
  few.bends.columns.resize(columns);
  few.full.columns.resize(columns);
  if (!from.has("few_features") && !from.has("bends")) return few.end();
  const auto numbered = from.values<Index>("few_features", {SavedState::any});
  const std::size_t n = numbered.size(), cells = Bends<W>::size(n), piece = Bends<W>::numbers;
  if (n > FewFeatures<W>::most) SavedState::refuse("few_features", "are too many");
  few.become(few.amount_of(n));
  for (const Index feature : numbered) {
    if (feature < 0 || static_cast<std::size_t>(feature) >= features ||
        few.number_of(feature) != FewFeatures<W>::most)
      SavedState::refuse("few_features", "has a number out of range");
    few.add_feature(feature);
  }
  few.make_room(n);
  const auto bends = from.values<W>("bends", {columns, cells / piece, piece});
  for (std::size_t k = 0; k < columns; ++k)
    std::copy_n(bends.begin() + k * cells, cells, few.bends.columns[k].begin());
  if (few.amount != Amount::few) return;
  const std::size_t size = n + 1;
  const auto weights = from.values<W>("full_weights", {columns, size});
  const auto covariance = from.values<W>("full_covariance", {size, size});
  for (std::size_t k = 0; k < columns; ++k)
    std::copy_n(weights.begin() + k * size, size, few.full.columns[k].begin());
  // It shrinks from 1 on; float32 adds some errors.
  const auto is_small = [](W cell) { return std::abs(cell) <= W{1.001}; };
  if (!std::all_of(covariance.begin(), covariance.end(), is_small) ||
      !is_covariance({covariance.begin(), covariance.end()}, size, 1e-4))
    SavedState::refuse("full_covariance", "is no covariance");
  for (std::size_t i = 0; i < size; ++i)
    std::copy_n(covariance.begin() + i * size, size,
                few.full.covariance.begin() + i * few.full.line());
}

}  // namespace yarrow
