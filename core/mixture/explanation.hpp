#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "mixture/walk.hpp"

namespace yarrow {

/// What each value of a row adds to the mixture's score of a column. Of an expert whose score is
/// cut (mixture.hpp) all values' parts shrink alike. Values of features never seen add nothing.
template <class W>
Parts explain_mixture(const Walker<W>& walker, const Row<W>& row, std::size_t column) {
  const Experts& experts = walker.experts;
  const Blocks<W>& blocks = walker.state.blocks;
  const FewFeatures<W>& few = walker.own.few;
  const std::size_t capacity = blocks.capacity();
  Walk<W> walk;
  walker.template listen<false>(row, walk);
  std::vector<Mixture::Numbers> parts(row.size + 1);  // by expert; the constant's come last
  Mixture::Numbers& constant = parts.back();

  for (std::size_t e = 0; e < Experts::straight; ++e)
    constant[e] = experts.intercept * blocks.intercept()[e * capacity + column];
  constant[Experts::bayes] = walk.prior[column];
  for (std::size_t i = 0; i < row.size; ++i) {
    const double x = walk.row.values[i] * walk.row.to_predict;
    const W* const cells = blocks.first() + row.index[i] * blocks.stride() + column;
    for (std::size_t e = 0; e < Experts::straight; ++e) parts[i][e] = x * cells[e * capacity];
    if (walk.few()) continue;
    const double evidence = walker.evidence_of(row.index[i] + std::size_t{1}, column);
    parts[i][0] *= std::abs(evidence);
    parts[i][Experts::bayes] = evidence;
  }
  if (walk.bent) {
    const W* const pieces = few.bends.columns[column].data();
    constant[Experts::bent] = experts.intercept * few.bends.intercept_of(column)[Bends<W>::weight];
    const auto bent = walk.pieces.parts(pieces, experts.smoothing, walk.lean[column]);
    std::size_t i = 0;
    for (std::size_t j = 0; j < bent.size(); ++j) {
      const auto number = static_cast<std::size_t>(walk.values.numbers[j]);
      while (row.index[i] != few.features[number]) ++i;  // they stand in the row's order
      parts[i][Experts::bent] = bent[j].product * walk.pieces.length;
      parts[i][Experts::bayes] += bent[j].evidence;
      if (walk.few())
        parts[i][Experts::full] =
            walk.values.values[j] * walk.row.to_predict * few.full.columns[column][number + 1];
    }
  }
  if (walk.few()) constant[Experts::full] = experts.intercept * few.full.columns[column][0];

  std::vector<double> amounts(parts.size(), 0);
  for (std::size_t e = 0; e < Experts::all; ++e) {
    double score = 0;
    for (const Mixture::Numbers& part : parts) score += Experts::heard(e) * part[e];
    const double heard =
        Experts::heard(e) * Mixture::most / std::max(Mixture::most, std::abs(score));
    for (std::size_t i = 0; i < parts.size(); ++i)
      amounts[i] += walker.own.mixture.mean[e] * heard * parts[i][e];
  }
  Parts all;
  all.constant = amounts.back();
  amounts.pop_back();
  all.values = std::move(amounts);
  return all;
}

}  // namespace yarrow
