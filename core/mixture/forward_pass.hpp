#pragma once
#include <algorithm>
#include <vector>

#include "mixture/experts.hpp"
#include "mixture/naive_bayes.hpp"
#include "mixture/spline.hpp"
#include "mixture/standardized.hpp"
#include "simd/expert_sums.hpp"

namespace yarrow {

/// What is found out about one row before it is learned. Products and variances go by linear
/// expert and column, as in the blocks; the others by column.
template <class W>
struct ForwardPass {
  using Numbers = std::vector<double>;
  CompletedRow<W> completed;
  StandardizedRow<W> row;
  Tier tier = Tier::high;       ///< of features
  bool has_spline = false;      ///< the splines say something
  Numbers products, variances;  ///< w.x~, sum of x~^2/P, without length and intercept
  std::vector<W> class_bias,
      prior;                ///< what a visit and a row say of a column, whatever the features
  std::vector<W> evidence;  ///< of naive Bayes, at first in as many lines as a register has lanes
  FewRow<W> values;         ///< of few features: standardised, without length
  SplineRow<W> pieces;
  std::vector<SplineSums> spline_sums;
  InteractionRow<W> interactions;
  bool has_interactions = false;
  Numbers interaction_sums;                     ///< of AROW on products of two values
  Numbers covariance_products;                  ///< w.x~ of the expert with a full covariance
  std::vector<Mixture::Numbers> expert_scores;  ///< by the experts
  Numbers scores;                               ///< of the mixture
  std::vector<W> sums, own_products;            ///< of many features; of the first expert

  bool few() const { return tier == Tier::low; }  ///< features
};

/// Takes a row over a state, for all experts and columns at a time.
template <class W>
struct Evaluator {
  const State<W>& state;
  const Experts& experts;
  const MixtureState<W>& own = MixtureState<W>::of(state);

  /// What the experts say of a row, standardised, and what the mixture makes of it.
  template <bool Learns>
  void evaluate(const Row<W>& row, ForwardPass<W>& pass) const {
    pass.tier = own.few.tier;
    linear_part<Learns>(row, pass);
    sum_of_few(row, false, pass);
    sum_of_interactions(row, false, pass);
    const std::size_t columns = state.blocks.columns();
    pass.scores.resize(columns);
    pass.expert_scores.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      ask_experts(pass, k, pass.expert_scores[k]);
      pass.scores[k] = own.mixture.score(pass.expert_scores[k]);
    }
  }

  /// All sums over a row, but those of few features.
  template <bool Learns>
  void linear_part(const Row<W>& row, ForwardPass<W>& pass) const {
    find_class_biases(pass);
    if (!pass.few()) {
      pass.row.weighed.resize((row.size + spare_places) * line());
      fill(pass.evidence, width * line(), 0);
    }
    switch (state.blocks.capacity()) {
      case 1:
        return sum_few<1, Learns>(row, pass);
      case 2:
        return sum_few<2, Learns>(row, pass);
      default:
        sum_many(row, pass);
    }
  }

  /// The sums of those who learn few features; a row that is learned brings its new ones along.
  void sum_of_few(const Row<W>& row, bool with_new, ForwardPass<W>& pass) const {
    const std::size_t columns = state.blocks.columns();
    pass.values.new_features.clear();
    pass.has_spline = pass.tier != Tier::high && place_on_splines(row, with_new, pass);
    if (!pass.has_spline) return;
    pass.spline_sums.resize(columns);
    pass.covariance_products.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      pass.spline_sums[k] = pass.pieces.sums(own.few.spline.columns[k].data(),
                                             static_cast<W>(experts.smoothing), pass.class_bias[k]);
      if (pass.few())
        pass.covariance_products[k] = pass.values.dot(own.few.correlated.columns[k].data() + 1);
    }
  }

  /// The same of those who learn products of two values.
  void sum_of_interactions(const Row<W>& row, bool with_new, ForwardPass<W>& pass) const {
    pass.has_interactions =
        own.interactions.is_kept &&
        pass.interactions.place(own.interactions, row, pass.row.values.data(), with_new);
    if (!pass.has_interactions) return;
    const std::size_t columns = state.blocks.columns();
    pass.interaction_sums.resize(columns);
    for (std::size_t k = 0; k < columns; ++k)
      pass.interaction_sums[k] = pass.interactions.product(own.interactions.columns[k]);
  }

  /// The variances of many columns, in groups of neighbours that move.
  void sum_moving(const Row<W>& row, const std::vector<std::size_t>& moving,
                  ForwardPass<W>& pass) const {
    const W* const precisions = state.blocks.first() + Experts::precisions * capacity();
    const auto sum = [&](auto* sums) {
      sum_variances(row, pass.row.values.data(), own_values(pass), precisions,
                    state.blocks.stride(), moving, sums);
    };
    if (pass.few()) return sum(pass.variances.data());
    fill(pass.sums, pass.variances.size(), 0);
    sum(pass.sums.data());
    std::copy(pass.sums.begin(), pass.sums.end(), pass.variances.begin());
  }

  /// The values that the first AROW sees, and the others do not.
  OwnValues<W> own_values(const ForwardPass<W>& pass) const {
    return {pass.row.weighed.data(), line(), pass.few() ? 0 : capacity()};
  }

  /// What experts say with such a length of the row, before it is cut: a linear one of a column,
  /// whose numbers stand in a place; the others.
  double linear_score(const ForwardPass<W>& pass, std::size_t at, double length) const {
    return pass.products[at] * length + experts.intercept * state.blocks.intercept()[at];
  }
  double spline_score(const ForwardPass<W>& pass, std::size_t column) const {
    return pass.spline_sums[column].product * pass.pieces.length +
           experts.intercept * own.few.spline.intercept_of(column)[Spline<W>::weight];
  }
  double covariance_score(const ForwardPass<W>& pass, std::size_t column, double length) const {
    return pass.covariance_products[column] * length +
           experts.intercept * own.few.correlated.columns[column][0];
  }

  /// What a feature says of a column to naive Bayes: nothing, if it was never seen.
  double evidence_of(std::size_t slot, std::size_t column) const {
    const W* const cells = state.blocks.data() + slot * state.blocks.stride();
    const double visits = cells[Experts::statistics * capacity()];
    if (visits == 0) return 0;
    return log_odds(cells[Experts::hits * capacity() + column], visits, experts.smoothing) +
           class_bias(column);
  }
  /// What a visit says of a column whatever the feature.
  double class_bias(std::size_t column) const {
    return -log_odds(own.columns[column].hits, own.visits, experts.smoothing_of_all);
  }

  ColumnStatistics statistics() const { return {Experts::statistics * capacity()}; }

 private:
  using Counts = typename MixtureState<W>::Counts;
  static constexpr std::size_t width = lanes_of<W>;

  /// Finds the values of few features, and their knots. Returns whether somebody can say something.
  bool place_on_splines(const Row<W>& row, bool with_new, ForwardPass<W>& pass) const {
    const W* const deviations = pass.few() ? nullptr : statistics().deviations(state);
    const std::size_t features = own.few.find(row, pass.row.values.data(), deviations,
                                              state.blocks.stride(), with_new, pass.values);
    pass.pieces.place(pass.values, pass.few() && features <= Spline<W>::most_with_surfaces);
    return pass.few() || pass.values.size > 0;
  }

  std::size_t capacity() const { return state.blocks.capacity(); }
  /// Numbers from one value's line to the next: those of the columns, in whole registers.
  std::size_t line() const { return in_registers(capacity()); }
  static std::size_t in_registers(std::size_t n) { return (n + width - 1) / width * width; }

  /// What a visit and a row say of each column, whatever the features.
  void find_class_biases(ForwardPass<W>& pass) const {
    find_odds(&Counts::hits, own.visits, experts.smoothing_of_all, pass.class_bias);
    find_odds(&Counts::weight, own.weight, experts.smoothing, pass.prior);
    for (W& class_bias : pass.class_bias) class_bias = -class_bias;
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
  void weigh_few(const Row<W>& row, ForwardPass<W>& pass) const {
    Weighing<W, Columns> weighing = {
        pass.row.weighed.data(), static_cast<W>(experts.smoothing), {}};
    std::copy_n(pass.class_bias.begin(), Columns, weighing.class_bias.begin());
    const auto found = statistics().standardize(state, row, weighing, pass.row);
    for (std::size_t c = 0; c < Columns; ++c)
      for (std::size_t k = 0; k < width; ++k) pass.evidence[k * line() + c] = found.evidence[c][k];
  }

  void standardize(const Row<W>& row, ForwardPass<W>& pass) const {
    statistics().standardize(state, row, Weighing<W, 0>{}, pass.row);
  }

  template <std::size_t Columns, bool Learns>
  void sum_few(const Row<W>& row, ForwardPass<W>& pass) const {
    pass.products.resize(Experts::linear * Columns);
    pass.variances.resize(Experts::arows * Columns);
    const auto sum = [&]<bool HasOwn>(auto kernels) {
      kernels.template sum_columns<Columns, Learns, HasOwn>(
          row, pass.row.values.data(), pass.row.weighed.data(), state.blocks.first(),
          state.blocks.stride(), pass.products.data(), pass.variances.data());
    };
    if (pass.few()) {
      standardize(row, pass);
      sum.template operator()<false>(Kernels<W>{});
    } else {
      weigh_few<Columns>(row, pass);
      with_kernels_of<Columns, W>([&](auto kernels) { sum.template operator()<true>(kernels); });
    }
  }

  void sum_many(const Row<W>& row, ForwardPass<W>& pass) const {
    standardize(row, pass);
    const std::size_t n = Experts::linear * capacity();
    fill(pass.products, n, 0);
    fill(pass.variances, Experts::arows * capacity(), 0);
    const auto sum = [&](std::size_t begin, auto* sums) {
      sum_products(row, pass.row.values.data(), state.blocks.first(), state.blocks.stride(), begin,
                   n, sums);
    };
    if (pass.few()) return sum(0, pass.products.data());
    fill(pass.sums, in_registers(n), 0);
    sum(capacity() / width * width, pass.sums.data());
    std::copy_n(pass.sums.begin(), n, pass.products.begin());
    weigh_many(row, pass);
  }

  /// What features say of many columns, and the products of the first expert's weights and values,
  /// which are weighed by that: a line of values for each feature, at whose end the value itself
  /// stands. Whole registers of columns are read: there are numbers behind the last column's.
  void weigh_many(const Row<W>& row, ForwardPass<W>& pass) const {
    const std::size_t hits = Experts::hits * capacity(), visits = Experts::statistics * capacity();
    const std::size_t columns = state.blocks.columns(), line = this->line();
    const W* const class_bias = pass.class_bias.data();
    const W smoothing = static_cast<W>(experts.smoothing);
    fill(pass.own_products, line, 0);
    W* const products = pass.own_products.data();
    W* weighed = pass.row.weighed.data();
    for (std::size_t i = 0; i < row.size; ++i, weighed += line) {
      const W* const cells = state.blocks.first() + row.index[i] * state.blocks.stride();
      const W x = pass.row.values[i];
      if (cells[visits] > 0) {
        const Lanes<W> n = Lanes<W>{} + cells[visits];
        W* const evidence = pass.evidence.data() + i % width * line;
        for (std::size_t j = 0; j < columns; j += width) {
          const Lanes<W> odds = log_odds<W>(lanes_at<width>(cells + hits + j), n, smoothing) +
                                lanes_at<width>(class_bias + j);
          const Lanes<W> own = larger(odds, -odds) * x;
          add_lanes<W>(odds, evidence + j);
          add_lanes<W>(own * lanes_at<width>(cells + j), products + j);
          put_lanes<width>(own, weighed + j);
        }
      } else {
        std::fill_n(weighed, columns, W{0});
      }
      std::fill(weighed + columns, weighed + line, x);
    }
    std::copy_n(products, capacity(), pass.products.begin());
  }

  /// The experts' scores of one column.
  void ask_experts(const ForwardPass<W>& pass, std::size_t column, Mixture::Numbers& scores) const {
    scores[Experts::spline] = scores[Experts::covariance] = scores[Experts::interactions] = 0;
    for (std::size_t e = 0; e < Experts::linear; ++e)
      scores[e] = linear_score(pass, e * capacity() + column, pass.row.to_predict);
    scores[Experts::bayes] = evidence(pass, column);
    if (pass.has_spline) scores[Experts::spline] = spline_score(pass, column);
    if (pass.few())
      scores[Experts::covariance] = covariance_score(pass, column, pass.row.to_predict);
    if (pass.has_interactions) scores[Experts::interactions] = pass.interaction_sums[column];
    for (std::size_t e = 0; e < Experts::all; ++e)
      scores[e] = Mixture::cut(Experts::gain(e) * scores[e]);
  }

  /// What naive Bayes says of a column: its features, and how many rows had it.
  double evidence(const ForwardPass<W>& pass, std::size_t column) const {
    double sum = pass.prior[column];
    if (pass.has_spline) sum += pass.spline_sums[column].evidence;
    if (pass.few()) return sum;
    for (std::size_t l = 0; l < width; ++l) sum += pass.evidence[l * line() + column];
    return sum;
  }
};

}  // namespace yarrow
