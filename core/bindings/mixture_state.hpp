#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "../state.hpp"
#include "saved.hpp"

// What the learner without settings keeps beside the blocks, as arrays of a state and back.

namespace yarrow {

/// What experts are worth, line by line; rows, values and weights of rows that counts refer to.
template <class Framework>
void add_mixture(const Scalars& state, nb::dict& out) {
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
  const std::size_t n = mixture.size(), columns = hits.size();
  out["mixture"] = to_array<Framework>(std::move(mixture), {n});
  out["mixture_hits"] = to_array<Framework>(std::move(hits), {columns});
  out["mixture_weights"] = to_array<Framework>(std::move(weights), {columns});
}

/// The way back.
inline void restore_mixture(Scalars& to, const nb::dict& state) {
  const auto saved =
      values<double>(state, "mixture", Mixture::experts * (Mixture::experts + 1) + 3);
  const auto hits = values<double>(state, "mixture_hits", to.columns.size());
  const auto weights = values<double>(state, "mixture_weights", to.columns.size());
  for (std::size_t k = 0; k < hits.size(); ++k) {
    to.columns[k].hits = hits[k];
    to.columns[k].weight = weights[k];
  }
  auto from = saved.begin();
  const auto read = [&](Mixture::Numbers& line) {
    std::copy_n(from, Mixture::experts, line.begin());
    from += Mixture::experts;
  };
  read(to.mixture.mean);
  for (int e = 0; e < Mixture::experts; ++e) read(to.mixture.covariance[e]);
  to.counted = *from++;
  to.visits = *from++;
  to.weight = *from;
}

/// What is kept of few features: bends, and a full covariance up to a number.
template <class Framework, class W>
void add_few(const FewFeatures<W>& few, nb::dict& out) {
  const std::size_t columns = few.bends.columns.size(), features = few.features.size();
  const std::size_t cells = Bends<W>::size(features), size = features + 1;
  std::vector<W> bends, weights, covariance;
  for (const std::vector<W>& column : few.bends.columns)
    bends.insert(bends.end(), column.begin(), column.begin() + cells);
  out["few_features"] = to_array<Framework>(std::vector<Index>(few.features), {features});
  out["bends"] = to_array<Framework>(std::move(bends),
                                     {columns, cells / Bends<W>::numbers, Bends<W>::numbers});
  if (few.amount != Amount::few) return;
  for (const std::vector<W>& column : few.full.columns)
    weights.insert(weights.end(), column.begin(), column.begin() + size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto line = few.full.covariance.begin() + i * few.full.line();
    covariance.insert(covariance.end(), line, line + size);
  }
  out["full_weights"] = to_array<Framework>(std::move(weights), {columns, size});
  out["full_covariance"] = to_array<Framework>(std::move(covariance), {size, size});
}

/// The way back.
template <class W>
void restore_few(FewFeatures<W>& few, const nb::dict& from, std::size_t features,
                 std::size_t columns) {
  few = {};
  few.bends.columns.resize(columns);
  few.full.columns.resize(columns);
  if (!from.contains("few_features") && !from.contains("bends")) return few.end();
  const auto numbered = values<Index>(from, "few_features", SIZE_MAX);
  const std::size_t n = numbered.size(), cells = Bends<W>::size(n), piece = Bends<W>::numbers;
  if (n > FewFeatures<W>::most) throw Error("the state's few features are too many");
  few.become(few.amount_of(n));
  for (const Index feature : numbered) {
    if (feature < 0 || static_cast<std::size_t>(feature) >= features ||
        few.number_of(feature) != FewFeatures<W>::most)
      throw Error("the state's 'few_features' are out of range");
    few.add_feature(feature);
  }
  few.make_room(n);
  const auto bends = values<W, 3>(from, "bends", {columns, cells / piece, piece});
  for (std::size_t k = 0; k < columns; ++k)
    std::copy_n(bends.begin() + k * cells, cells, few.bends.columns[k].begin());
  if (few.amount != Amount::few) return;
  const std::size_t size = n + 1;
  const auto weights = values<W, 2>(from, "full_weights", {columns, size});
  const auto covariance = values<W, 2>(from, "full_covariance", {size, size});
  for (std::size_t k = 0; k < columns; ++k)
    std::copy_n(weights.begin() + k * size, size, few.full.columns[k].begin());
  for (std::size_t i = 0; i < size; ++i)
    std::copy_n(covariance.begin() + i * size, size,
                few.full.covariance.begin() + i * few.full.line());
}

}  // namespace yarrow
