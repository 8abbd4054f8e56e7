#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "mixture/bent_row.hpp"
#include "mixture/experts.hpp"
#include "mixture/naive_bayes.hpp"
#include "mixture/standardized.hpp"
#include "simd/expert_sums.hpp"

namespace yarrow {

/// What assign does, without a call for a handful of numbers.
template <class Number>
void fill(std::vector<Number>& numbers, std::size_t n, int value) {
  if (numbers.size() != n) numbers.resize(n);
  for (Number& number : numbers) number = static_cast<Number>(value);
}

/// What is found out about one row before it is learned. Products and variances go by straight
/// expert and column, as in the blocks; the others by column.
template <class W>
struct Walk {
  using Numbers = std::vector<double>;
  StandardizedRow<W> row;
  Amount amount = Amount::many;  ///< of features
  bool bent = false;             ///< somebody says something of bends
  Numbers products, variances;   ///< w.x~, sum of x~^2/P, without length and intercept
  std::vector<W> lean, prior;    ///< what a visit and a row say of a column, whatever the features
  std::vector<W> evidence;  ///< of naive Bayes, at first in as many lines as a register has lanes
  FewRow<W> values;         ///< of few features: standardised, without length
  BentRow<W> pieces;
  std::vector<BentSums> bent_sums;
  Numbers full_products;               ///< w.x~ of the expert with a full covariance
  std::vector<Mixture::Numbers> said;  ///< by the experts
  Numbers scores;                      ///< of the mixture
  std::vector<W> sums, own_products;   ///< of many features; of the first expert

  bool few() const { return amount == Amount::few; }  ///< features
};

/// Walks a row over a state, for all experts and columns at a time.
template <class W>
struct Walker {
  const State<W>& state;
  const Experts& experts;
  const MixtureState<W>& own = MixtureState<W>::of(state);

  /// What the experts say of a row, standardised, and what the mixture makes of it.
  template <bool Learns>
  void listen(const Row<W>& row, Walk<W>& walk) const {
    walk.amount = own.few.amount;
    go_straight<Learns>(row, walk);
    sum_of_few(row, false, walk);
    const std::size_t columns = state.blocks.columns();
    walk.scores.resize(columns);
    walk.said.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      ask_experts(walk, k, walk.said[k]);
      walk.scores[k] = own.mixture.score(walk.said[k]);
    }
  }

  /// All sums over a row, but those of few features.
  template <bool Learns>
  void go_straight(const Row<W>& row, Walk<W>& walk) const {
    find_leans(walk);
    if (!walk.few()) {
      walk.row.weighed.resize((row.size + spare_places) * line());
      fill(walk.evidence, width * line(), 0);
    }
    switch (state.blocks.capacity()) {
      case 1:
        return sum_few<1, Learns>(row, walk);
      case 2:
        return sum_few<2, Learns>(row, walk);
      default:
        sum_many(row, walk);
    }
  }

  /// The sums of those who learn few features; a row that is learned brings its new ones along.
  void sum_of_few(const Row<W>& row, bool with_new, Walk<W>& walk) const {
    const std::size_t columns = state.blocks.columns();
    walk.values.strangers.clear();
    walk.bent = walk.amount != Amount::many && bend(row, with_new, walk);
    if (!walk.bent) return;
    walk.bent_sums.resize(columns);
    walk.full_products.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      walk.bent_sums[k] = walk.pieces.sums(own.few.bends.columns[k].data(),
                                           static_cast<W>(experts.smoothing), walk.lean[k]);
      if (walk.few()) walk.full_products[k] = walk.values.dot(own.few.full.columns[k].data() + 1);
    }
  }

  /// The variances of many columns, in groups of neighbours that move.
  void sum_moving(const Row<W>& row, const std::vector<std::size_t>& moving, Walk<W>& walk) const {
    const W* const precisions = state.blocks.first() + Experts::precisions * capacity();
    const auto sum = [&](auto* sums) {
      sum_variances(row, walk.row.values.data(), own_values(walk), precisions,
                    state.blocks.stride(), moving, sums);
    };
    if (walk.few()) return sum(walk.variances.data());
    fill(walk.sums, walk.variances.size(), 0);
    sum(walk.sums.data());
    std::copy(walk.sums.begin(), walk.sums.end(), walk.variances.begin());
  }

  /// The values that the first AROW sees, and the others do not.
  OwnValues<W> own_values(const Walk<W>& walk) const {
    return {walk.row.weighed.data(), line(), walk.few() ? 0 : capacity()};
  }

  /// What a feature says of a column to naive Bayes: nothing, if it was never seen.
  double evidence_of(std::size_t slot, std::size_t column) const {
    const W* const cells = state.blocks.data() + slot * state.blocks.stride();
    const double visits = cells[Experts::statistics * capacity()];
    if (visits == 0) return 0;
    return log_odds(cells[Experts::hits * capacity() + column], visits, experts.smoothing) -
           log_odds(own.columns[column].hits, own.visits, experts.smoothing_of_all);
  }

  ColumnStatistics statistics() const { return {Experts::statistics * capacity()}; }

 private:
  using Counts = typename MixtureState<W>::Counts;
  static constexpr std::size_t width = lanes_of<W>;

  /// Finds the values of few features, and their knots. Returns whether somebody can say something.
  bool bend(const Row<W>& row, bool with_new, Walk<W>& walk) const {
    const W* const deviations = walk.few() ? nullptr : statistics().deviations(state);
    const std::size_t features = own.few.find(row, walk.row.values.data(), deviations,
                                              state.blocks.stride(), with_new, walk.values);
    walk.pieces.bend(walk.values, walk.few() && features <= Bends<W>::most_paired);
    return walk.few() || walk.values.size > 0;
  }

  std::size_t capacity() const { return state.blocks.capacity(); }
  /// Numbers from one value's line to the next: those of the columns, in whole registers.
  std::size_t line() const { return in_registers(capacity()); }
  static std::size_t in_registers(std::size_t n) { return (n + width - 1) / width * width; }

  /// What a visit and a row say of each column, whatever the features.
  void find_leans(Walk<W>& walk) const {
    find_odds(&Counts::hits, own.visits, experts.smoothing_of_all, walk.lean);
    find_odds(&Counts::weight, own.weight, experts.smoothing, walk.prior);
    for (W& lean : walk.lean) lean = -lean;
  }

  /// Whether rows of a class are counted rather than others, by column.
  void find_odds(double Counts::* count, double all, double smoothing, std::vector<W>& odds) const {
    if (odds.size() != line()) odds.resize(line());
    for (std::size_t k = 0; k < odds.size(); k += width) {
      Lanes<W> hits, rest;
      for (std::size_t l = 0; l < width; ++l) {
        const double n = k + l < own.columns.size() ? own.columns[k + l].*count : 0;
        hits[l] = static_cast<W>(n + smoothing);
        rest[l] = static_cast<W>(std::max(0.0, all - n) + smoothing);
      }
      put_lanes<width>(log_ratio(hits, rest), odds.data() + k);
    }
  }

  /// What features say of one column or two with nothing beside them, and the columns' own values.
  template <std::size_t Columns>
  void weigh_few(const Row<W>& row, Walk<W>& walk) const {
    Weighing<W, Columns> weighing = {
        walk.row.weighed.data(), static_cast<W>(experts.smoothing), {}};
    std::copy_n(walk.lean.begin(), Columns, weighing.lean.begin());
    const auto found = statistics().standardize(state, row, weighing, walk.row);
    for (std::size_t c = 0; c < Columns; ++c)
      for (std::size_t k = 0; k < width; ++k) walk.evidence[k * line() + c] = found.evidence[c][k];
  }

  void standardize(const Row<W>& row, Walk<W>& walk) const {
    statistics().standardize(state, row, Weighing<W, 0>{}, walk.row);
  }

  template <std::size_t Columns, bool Learns>
  void sum_few(const Row<W>& row, Walk<W>& walk) const {
    walk.products.resize(Experts::straight * Columns);
    walk.variances.resize(Experts::arows * Columns);
    const auto sum = [&]<bool HasOwn>(auto walks) {
      walks.template sum_columns<Columns, Learns, HasOwn>(
          row, walk.row.values.data(), walk.row.weighed.data(), state.blocks.first(),
          state.blocks.stride(), walk.products.data(), walk.variances.data());
    };
    if (walk.few()) {
      standardize(row, walk);
      sum.template operator()<false>(Walks<W>{});
    } else {
      weigh_few<Columns>(row, walk);
      with_walks_of<Columns, W>([&](auto walks) { sum.template operator()<true>(walks); });
    }
  }

  void sum_many(const Row<W>& row, Walk<W>& walk) const {
    standardize(row, walk);
    const std::size_t n = Experts::straight * capacity();
    fill(walk.products, n, 0);
    fill(walk.variances, Experts::arows * capacity(), 0);
    const auto sum = [&](std::size_t begin, auto* sums) {
      sum_products(row, walk.row.values.data(), state.blocks.first(), state.blocks.stride(), begin,
                   n, sums);
    };
    if (walk.few()) return sum(0, walk.products.data());
    fill(walk.sums, in_registers(n), 0);
    sum(capacity() / width * width, walk.sums.data());
    std::copy_n(walk.sums.begin(), n, walk.products.begin());
    weigh_many(row, walk);
  }

  /// What features say of many columns, and the products of the first expert's weights and values,
  /// which are weighed by that: a line of values for each feature, at whose end the value itself
  /// stands. Whole registers of columns are read: there are numbers behind the last column's.
  void weigh_many(const Row<W>& row, Walk<W>& walk) const {
    const std::size_t hits = Experts::hits * capacity(), visits = Experts::statistics * capacity();
    const std::size_t columns = state.blocks.columns(), line = this->line();
    const W* const lean = walk.lean.data();
    const W smoothing = static_cast<W>(experts.smoothing);
    fill(walk.own_products, line, 0);
    W* const products = walk.own_products.data();
    W* weighed = walk.row.weighed.data();
    for (std::size_t i = 0; i < row.size; ++i, weighed += line) {
      const W* const cells = state.blocks.first() + row.index[i] * state.blocks.stride();
      const W x = walk.row.values[i];
      if (cells[visits] > 0) {
        const Lanes<W> n = Lanes<W>{} + cells[visits];
        W* const evidence = walk.evidence.data() + i % width * line;
        for (std::size_t j = 0; j < columns; j += width) {
          const Lanes<W> said = log_odds<W>(lanes_at<width>(cells + hits + j), n, smoothing) +
                                lanes_at<width>(lean + j);
          const Lanes<W> own = larger(said, -said) * x;
          add_lanes<W>(said, evidence + j);
          add_lanes<W>(own * lanes_at<width>(cells + j), products + j);
          put_lanes<width>(own, weighed + j);
        }
      } else {
        std::fill_n(weighed, columns, W{0});
      }
      std::fill(weighed + columns, weighed + line, x);
    }
    std::copy_n(products, capacity(), walk.products.begin());
  }

  /// The experts' scores of one column.
  void ask_experts(const Walk<W>& walk, std::size_t column, Mixture::Numbers& scores) const {
    const W* intercept = state.blocks.intercept();
    scores[Experts::bent] = scores[Experts::full] = 0;
    for (std::size_t e = 0; e < Experts::straight; ++e) {
      const std::size_t at = e * capacity() + column;
      scores[e] = walk.products[at] * walk.row.to_predict + experts.intercept * intercept[at];
    }
    scores[Experts::bayes] = evidence(walk, column);
    if (walk.bent)
      scores[Experts::bent] =
          walk.bent_sums[column].product * walk.pieces.length +
          experts.intercept * own.few.bends.intercept_of(column)[Bends<W>::weight];
    if (walk.few())
      scores[Experts::full] = walk.full_products[column] * walk.row.to_predict +
                              experts.intercept * own.few.full.columns[column][0];
    for (std::size_t e = 0; e < Experts::all; ++e)
      scores[e] = Mixture::cut(Experts::heard(e) * scores[e]);
  }

  /// What naive Bayes says of a column: its features, and how many rows had it.
  double evidence(const Walk<W>& walk, std::size_t column) const {
    double sum = walk.prior[column];
    if (walk.bent) sum += walk.bent_sums[column].evidence;
    if (walk.few()) return sum;
    for (std::size_t l = 0; l < width; ++l) sum += walk.evidence[l * line() + column];
    return sum;
  }
};

}  // namespace yarrow
