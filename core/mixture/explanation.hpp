#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "mixture/forward_pass.hpp"

namespace yarrow {

/// What each value of a row adds to the mixture's score of a column. Of an expert whose score is
/// cut (mixture.hpp) all values' parts shrink alike. Values of features never seen add nothing.
template <class W>
Parts explain_mixture(const Evaluator<W>& evaluator, const Row<W>& row, std::size_t column) {
  const Experts& experts = evaluator.experts;
  const Blocks<W>& blocks = evaluator.state.blocks;
  const FewFeatures<W>& few = evaluator.own.few;
  const std::size_t capacity = blocks.capacity();
  ForwardPass<W> pass;
  evaluator.template evaluate<false>(row, pass);
  std::vector<Mixture::Numbers> parts(row.size + 1);  // by expert; the constant's come last
  Mixture::Numbers& constant = parts.back();

  for (std::size_t e = 0; e < Experts::linear; ++e)
    constant[e] = experts.intercept * blocks.intercept()[e * capacity + column];
  constant[Experts::bayes] = pass.prior[column];
  for (std::size_t i = 0; i < row.size; ++i) {
    const double x = pass.row.values[i] * pass.row.to_predict;
    const W* const cells = blocks.first() + row.index[i] * blocks.stride() + column;
    for (std::size_t e = 0; e < Experts::linear; ++e) parts[i][e] = x * cells[e * capacity];
    if (pass.few()) continue;
    const double evidence = evaluator.evidence_of(row.index[i] + std::size_t{1}, column);
    parts[i][0] *= std::abs(evidence);
    parts[i][Experts::bayes] = evidence;
  }
  if (pass.has_spline) {
    const W* const pieces = few.spline.columns[column].data();
    constant[Experts::spline] =
        experts.intercept * few.spline.intercept_of(column)[Spline<W>::weight];
    const auto of_spline = pass.pieces.parts(pieces, experts.smoothing, pass.class_bias[column]);
    std::size_t i = 0;
    for (std::size_t j = 0; j < of_spline.size(); ++j) {
      const auto number = static_cast<std::size_t>(pass.values.numbers[j]);
      while (row.index[i] != few.features[number]) ++i;  // they stand in the row's order
      parts[i][Experts::spline] = of_spline[j].product * pass.pieces.length;
      parts[i][Experts::bayes] += of_spline[j].evidence;
      if (pass.few())
        parts[i][Experts::covariance] = pass.values.values[j] * pass.row.to_predict *
                                        few.correlated.columns[column][number + 1];
    }
  }
  if (pass.few())
    constant[Experts::covariance] = experts.intercept * few.correlated.columns[column][0];

  if (pass.has_interactions) {
    const auto of_interactions =
        pass.interactions.parts(evaluator.own.interactions.columns[column], row.size);
    for (std::size_t i = 0; i < parts.size(); ++i)
      parts[i][Experts::interactions] = of_interactions[i];
  }

  std::vector<double> sums(parts.size(), 0);
  for (std::size_t e = 0; e < Experts::all; ++e) {
    double score = 0;
    for (const Mixture::Numbers& part : parts) score += Experts::gain(e) * part[e];
    const double gain = Experts::gain(e) * Mixture::most / std::max(Mixture::most, std::abs(score));
    for (std::size_t i = 0; i < parts.size(); ++i)
      sums[i] += evaluator.own.mixture.mean[e] * gain * parts[i][e];
  }
  Parts all;
  all.constant = sums.back();
  sums.pop_back();
  all.values = std::move(sums);
  return all;
}

}  // namespace yarrow
