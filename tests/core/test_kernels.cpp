// What is compiled twice gives the same bits in wide registers and in others.
#include "simd/dispatch.hpp"

#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "simd/reductions.hpp"

using namespace yarrow;

namespace {

#if defined(YARROW_MAY_HAVE_WIDE_LANES)
std::mt19937 generator(0);

std::vector<float> some_numbers(std::size_t n, float least) {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(n);
  for (float& x : numbers) x = std::max(least, normal(generator));
  return numbers;
}

/// As many features as there are, in a mixed order.
std::vector<Index> some_features(std::size_t n) {
  std::vector<Index> features(n);
  std::iota(features.begin(), features.end(), 0);
  std::shuffle(features.begin(), features.end(), generator);
  return features;
}

void covariances_agree(std::size_t size) {
  const std::size_t line = (size + 3) / 4 * 4;
  std::vector<float> lines = some_numbers(size * line, -9), other = lines, wide_h(line), h(line);
  const std::vector<float> values = some_numbers(size - 1, -9);
  const std::vector<Index> features = some_features(size - 1);
  const Row<float> row{features.data(), values.data(), values.size()};
  wide::Kernels<float>::multiply(lines.data(), line, 0.5F, row, 0.3F, wide_h.data());
  Kernels<float>::multiply(lines.data(), line, 0.5F, row, 0.3F, h.data());
  CHECK(wide_h == h);
  wide::Kernels<float>::take_away(lines.data(), size, line, h.data(), 0.7F);
  Kernels<float>::take_away(other.data(), size, line, h.data(), 0.7F);
  CHECK(lines == other);
}

void two_columns_agree(std::size_t size) {
  const std::vector<float> values = some_numbers(size, -9), cells = some_numbers(2 * size, -9);
  std::vector<Index> features(size);
  std::iota(features.begin(), features.end(), 0);
  const Row<float> row{features.data(), values.data(), size, true};
  const auto expected = two_column_products(row, cells.data(), 2);
  CHECK(wide::Kernels<float>::sum_two_columns(values.data(), cells.data(), size) == expected);
  CHECK(Kernels<float>::sum_two_columns(values.data(), cells.data(), size) == expected);
  for (std::size_t c = 0; c < 2; ++c) {
    const auto [one] = pair_sums<1>(
        row, [&](auto at, auto* sum) { *sum += at.values() * at.cells(cells.data() + c, 2); });
    CHECK(one == expected[c]);
  }
}

/// Every column sums up alike, however many stand beside it.
void many_columns_agree(std::size_t size, std::size_t fours) {
  const std::size_t stride = 4 * fours + 3;
  const std::vector<float> values = some_numbers(size, -9);
  const std::vector<float> cells = some_numbers(2 * size * stride + stride, -9);
  const std::vector<Index> features = some_features(size);
  const Row<float> row{features.data(), values.data(), size};
  std::vector<double> wide_to(4 * fours), to(4 * fours);
  wide::Kernels<float>::sum_fours(row, cells.data(), stride, fours, wide_to.data());
  Kernels<float>::sum_fours(row, cells.data(), stride, fours, to.data());
  const std::vector<double> in_double(cells.begin(), cells.end());
  const std::vector<double> doubles(values.begin(), values.end());
  std::vector<double> of_doubles(4 * fours);
  Kernels<double>::sum_fours({features.data(), doubles.data(), size}, in_double.data(), stride,
                             fours, of_doubles.data());
  CHECK(wide_to == to && of_doubles == to);
  for (std::size_t c = 0; c < 4 * fours; ++c) {
    const auto [one] = pair_sums<1>(
        row, [&](auto at, auto* sum) { *sum += at.values() * at.cells(cells.data() + c, stride); });
    CHECK(one == to[c]);
  }
}

void splines_agree(std::size_t size) {
  const std::size_t padded = (size + 7) / 8 * 8, pieces = 2 * padded + 1;
  std::vector<float> column = some_numbers(pieces * PieceLayout::numbers, 0), other = column;
  std::vector<Index> places = some_features(padded);
  for (Index& place : places) place = 2 * place;
  const std::vector<float> below = some_numbers(padded, 0), above = some_numbers(padded, 0);
  const SplinePlaces<float> row = {places.data(), below.data(), above.data(), padded};
  const SplineSums a = wide::Kernels<float>::sum_spline(row, column.data(), 0.3F, 0.1F);
  const SplineSums b = Kernels<float>::sum_spline(row, column.data(), 0.3F, 0.1F);
  CHECK(a.product == b.product && a.variance == b.variance && a.evidence == b.evidence);
  CHECK(a.variance > 0);
  const SplineStep<float> step = {0.5F, -0.3F, 0.2F, 1, 1};
  wide::Kernels<float>::learn_spline(row, column.data(), step);
  Kernels<float>::learn_spline(row, other.data(), step);
  CHECK(column == other);
}

/// Blocks with numbers before the statistics, as those of a learner have.
template <std::size_t Columns>
void statistics_agree(std::size_t size) {
  constexpr std::size_t stride = 8, at = 4;
  std::vector<float> blocks = some_numbers((size + 1) * stride, 0), other = blocks;
  const std::vector<Index> features = some_features(size);
  const std::vector<float> values = some_numbers(size, -9);
  const Row<float> row{features.data(), values.data(), size};
  const FeatureStatistics<float> all = {blocks.data() + at, stride, 5, 0.2F};
  std::vector<float> wide_to(size), to(size), wide_lines(4 * size), lines(4 * size);
  Weighing<float, Columns> weighing = {wide_lines.data(), 0.3F, {}};
  for (float& class_bias : weighing.class_bias) class_bias = 0.1F;
  FeatureEvidence<float, Columns> wide_found, found;
  std::size_t i =
      wide::Kernels<float>::standardize(all, row, 0, weighing, wide_to.data(), wide_found);
  CHECK(i == size / 8 * 8);
  Kernels<float>::standardize(all, row, i, weighing, wide_to.data(), wide_found);
  weighing.lines = lines.data();
  Kernels<float>::standardize(all, row, 0, weighing, to.data(), found);
  CHECK(wide_to == to);
  CHECK(wide_lines == lines);
  for (int k = 0; k < 4; ++k) {
    CHECK(wide_found.known[k] == found.known[k]);
    for (std::size_t c = 0; c < Columns; ++c)
      CHECK(wide_found.evidence[c][k] == found.evidence[c][k]);
  }
  i = wide::Kernels<float>::count(blocks.data() + at, stride, row, 0, 1, 1);
  Kernels<float>::count(blocks.data() + at, stride, row, i, 1, 1);
  Kernels<float>::count(other.data() + at, stride, row, 0, 1, 1);
  CHECK(blocks == other);
}

/// Two columns: 12 weights, 12 confidences, 2 hits and 3 statistics a block.
template <bool HasOwn>
void columns_agree(std::size_t size) {
  constexpr std::size_t stride = 32, n = 2 * ExpertLayout::linear, arows = 2 * ExpertLayout::arows;
  std::vector<float> blocks = some_numbers(size * stride, 0), other = blocks;
  const std::vector<Index> features = some_features(size);
  const std::vector<float> values = some_numbers(size, -9), lines = some_numbers(4 * size, -9);
  const Row<float> row{features.data(), values.data(), size};
  std::vector<double> wide_products(n), products(n), wide_variances(arows), variances(arows);
  wide::Kernels<float>::sum_columns<2, true, true>(row, values.data(), lines.data(), blocks.data(),
                                                   stride, wide_products.data(),
                                                   wide_variances.data());
  Kernels<float>::sum_columns<2, true, true>(row, values.data(), lines.data(), blocks.data(),
                                             stride, products.data(), variances.data());
  CHECK(wide_products == products);
  CHECK(wide_variances == variances);
  const std::vector<float> step = some_numbers(n, -9), gain = some_numbers(n, 0), fade(n, 0.9F);
  const ExpertSteps<float> steps = {step.data(), gain.data(), fade.data()};
  for (const bool arows_move : {false, true}) {
    wide::Kernels<float>::move_columns<2, HasOwn>(row, values.data(), 0.3F, lines.data(),
                                                  blocks.data(), stride, steps, arows_move);
    Kernels<float>::move_columns<2, HasOwn>(row, values.data(), 0.3F, lines.data(), other.data(),
                                            stride, steps, arows_move);
    CHECK(blocks == other);
  }
}
#endif

}  // namespace

int main() {
#if defined(YARROW_MAY_HAVE_WIDE_LANES)
  if (has_wide_lanes())
    for (std::size_t size = 1; size <= 65; ++size) {
      covariances_agree(size);
      two_columns_agree(size);
      for (std::size_t fours = 1; fours <= 8; ++fours) many_columns_agree(size, fours);
      splines_agree(size);
      statistics_agree<0>(size);
      statistics_agree<1>(size);
      statistics_agree<2>(size);
      columns_agree<false>(size);
      columns_agree<true>(size);
    }
#endif
  return check::failures();
}
