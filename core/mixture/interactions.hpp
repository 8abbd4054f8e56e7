#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mixture/experts.hpp"
#include "simd/dispatch.hpp"
#include "state/saved_arrays.hpp"

namespace yarrow {

/// Weights of products of two values, as long as rows have few of them: what a table's columns, or
/// a row's categories, say together. The constant is one of the values, so that each value stands
/// alone as well. Features are numbered as they come, so that every route finds the same places:
/// products of the first 255 have a place each, those of later ones share the table with all
/// others, by a hash.
template <class W>
struct Interactions {
  static constexpr std::size_t most_values = 48;   ///< of a row; a longer one is passed over
  static constexpr std::size_t most_columns = 64;  ///< beyond these, nothing is kept
  static constexpr std::size_t most_places = 1 << 15;
  static constexpr std::uint32_t most_exact = 255;

  /// Of a column, by place.
  struct Numbers {
    std::vector<W> weights, precisions;  ///< P - 1

    void make_room(std::size_t places) {
      for (std::vector<W>* numbers : {&weights, &precisions})
        if (numbers->size() < places) numbers->resize(places);
    }
  };

  bool is_kept = false;
  std::vector<std::uint32_t> numbered;  ///< by feature: from 1 on as they came, or 0
  std::uint32_t features = 0;           ///< that have a number
  std::vector<Numbers> columns;

  void start() {
    is_kept = true;
    columns.assign(1, {});
    make_room(0);
  }
  void end() {
    is_kept = false;
    numbered = {};
    features = 0;
    for (Numbers& column : columns) column = {};
  }

  std::uint32_t number_of(Index feature) const {
    const auto at = static_cast<std::size_t>(feature);
    return at < numbered.size() ? numbered[at] : 0;
  }
  void add_feature(Index feature) {
    const auto at = static_cast<std::size_t>(feature);
    if (at >= numbered.size()) numbered.resize(std::max(at + 1, 2 * numbered.size()), 0);
    numbered[at] = ++features;
  }
  /// The features have other numbers in the blocks: `keep` lists, ascending, what they were.
  void renumber(const std::vector<Index>& keep) {
    std::vector<std::uint32_t> before;
    before.swap(numbered);
    for (const Index feature : keep) {
      const auto at = static_cast<std::size_t>(feature);
      numbered.push_back(at < before.size() ? before[at] : 0);
    }
  }

  /// Of two features, or of one and the constant, whose number is 0; the constant alone has place
  /// 0.
  static Index place_of(std::uint32_t a, std::uint32_t b) {
    if (a < b) std::swap(a, b);
    if (a <= most_exact) return first_of(a) + static_cast<Index>(b);
    std::uint64_t key = (std::uint64_t{a} << 32 | b) * 0x9E3779B97F4A7C15U;
    key = (key ^ key >> 29) * 0xBF58476D1CE4E5B9U;
    return static_cast<Index>(key >> 49);
  }
  /// With the constant; those with the features before it come behind.
  static Index first_of(std::uint32_t number) {
    return static_cast<Index>(number * (number - 1) / 2 + 1);
  }
  static constexpr std::size_t places_of(std::size_t features) {
    return features <= most_exact ? features * (features + 1) / 2 + 1 : most_places;
  }

  /// There may be room for features that are not there yet; a row's last products are filled up to
  /// eight, so that there is room behind the last place, too.
  void make_room(std::size_t n) {
    for (Numbers& column : columns) column.make_room(places_of(n) + InteractionPlaces<W>::at_once);
  }

  /// More columns than these are too many.
  bool is_crowded() const { return columns.size() > most_columns; }

  void add_column(int from, bool mirrored) {
    columns.push_back(from < 0 ? Numbers{} : Numbers(columns[from]));
    Numbers& added = columns.back();
    added.make_room(columns[0].weights.size());
    if (mirrored)
      for (W& weight : added.weights) weight = 0 - weight;  // 0 stays 0
  }

  std::size_t bytes() const {
    std::size_t numbers = 0;
    for (const Numbers& column : columns) numbers += 2 * column.weights.size();
    return numbers * sizeof(W) + numbered.size() * sizeof(std::uint32_t);
  }
  double largest_weight() const {
    double most = 0;
    for (const Numbers& column : columns)
      for (const W weight : column.weights)
        most = std::max(most, std::abs(static_cast<double>(weight)));
    return most;
  }
};

/// The products of a row's values, and their places.
template <class W>
class InteractionRow {
 public:
  std::vector<Index> new_features;  ///< without a number

  std::size_t size() const { return values_.size(); }

  /// Of features that are numbered; or of new ones as well, which are numbered as they come.
  /// Returns whether there are any products.
  bool place(const Interactions<W>& interactions, const Row<W>& row, const W* x, bool with_new) {
    new_features.clear();
    if (row.size > Interactions<W>::most_values || interactions.is_crowded()) return false;
    find_numbers(interactions, row, x, with_new);
    products_ = n_ * (n_ - 1) / 2 + 1;
    const W length = static_cast<W>(1 / std::sqrt(static_cast<double>(products_)));
    const std::size_t size = (products_ + at_once - 1) / at_once * at_once;
    places_.resize(size);
    values_.resize(size);
    places_[0] = 0;
    values_[0] = length;
    are_neighbours_ = true;
    std::uint32_t largest = 0;
    for (std::size_t i = 1, at = 1; i < n_; at += i++) {
      const std::uint32_t number = numbers_[i];
      const W of_one = x_[i] * length;
      are_neighbours_ = are_neighbours_ && number == i;
      if (number > largest &&
          number <= Interactions<W>::most_exact) {  // as rows of tables have them
        largest = number;
        const Index first = Interactions<W>::first_of(number);
        for (std::size_t j = 0; j < i; ++j)
          places_[at + j] = first + static_cast<Index>(numbers_[j]);
      } else {
        largest = std::max(largest, number);
        for (std::size_t j = 0; j < i; ++j)
          places_[at + j] = Interactions<W>::place_of(number, numbers_[j]);
      }
      for (std::size_t j = 0; j < i; ++j) values_[at + j] = of_one * x_[j];
    }
    std::fill(places_.begin() + products_, places_.end(), 0);
    std::fill(values_.begin() + products_, values_.end(), W{0});
    return true;
  }

  double product(const typename Interactions<W>::Numbers& column) const {
    return with_kernels<W>(
        [&](auto kernels) { return kernels.sum_interactions(all(), column.weights.data()); });
  }
  /// Each product over P goes to `shares`, which has room for `size()`.
  double variance(const typename Interactions<W>::Numbers& column, W* shares) const {
    return with_kernels<W>([&](auto kernels) {
      return kernels.sum_variances_of_interactions(all(), column.precisions.data(), shares);
    });
  }
  /// AROW's step on a column, by the shares of its variance.
  void learn(typename Interactions<W>::Numbers& column, const W* shares, W step, W gain) const {
    with_kernels<W>([&](auto kernels) {
      kernels.learn_interactions(all(), shares, step, gain, column.weights.data(),
                                 column.precisions.data());
    });
  }

  /// What each value adds to the product, the constant last; two share alike what they add
  /// together.
  std::vector<double> parts(const typename Interactions<W>::Numbers& column,
                            std::size_t row_size) const {
    std::vector<double> parts(row_size + 1, 0.0);
    const auto add = [&](std::size_t at, std::size_t i, double share) {
      parts[positions_[i]] += share * values_[at] * column.weights[places_[at]];
    };
    add(0, 0, 1);
    std::size_t at = 1;
    for (std::size_t i = 1; i < n_; ++i) {
      add(at++, i, 1);  // with the constant
      for (std::size_t j = 1; j < i; ++j, ++at)
        for (const std::size_t one : {i, j}) add(at, one, 0.5);
    }
    return parts;
  }

 private:
  static constexpr std::size_t at_once = InteractionPlaces<W>::at_once;

  void find_numbers(const Interactions<W>& interactions, const Row<W>& row, const W* x,
                    bool with_new) {
    numbers_.resize(row.size + 1);
    positions_.resize(row.size + 1);
    x_.resize(row.size + 1);
    numbers_[0] = 0;
    positions_[0] = row.size;
    x_[0] = 1;
    n_ = 1;
    std::uint32_t next = interactions.features;
    for (std::size_t i = 0; i < row.size; ++i) {
      std::uint32_t number = interactions.number_of(row.index[i]);
      if (number == 0) {
        new_features.push_back(row.index[i]);
        if (!with_new) continue;
        number = ++next;
      }
      numbers_[n_] = number;
      positions_[n_] = i;
      x_[n_++] = x[i];
    }
  }

  InteractionPlaces<W> all() const {
    return {places_.data(), values_.data(), values_.size(), are_neighbours_};
  }

  /// The values that are numbered; the constant comes first, and stands behind the row.
  Buffer<std::uint32_t> numbers_;
  Buffer<std::size_t> positions_;
  Buffer<W> x_;
  std::size_t n_ = 0, products_ = 0;
  Buffer<Index> places_;
  Buffer<W> values_;  ///< products times the length
  bool are_neighbours_ = false;
};

/// Whether products of two values are worth keeping.
struct InteractionTrial {
  Mixture without;                    ///< of the other experts
  double loss = 0, loss_without = 0;  ///< since the last time that was asked
  double next = 4096;                 ///< row, when it is asked

  static Range rows() { return {1, 0x1p53, true}; }
};

/// How AROW learns products of two values, and for how long: a second mixture learns what the other
/// experts are worth without it. If products have not saved a hundredth of the loss since the last
/// time that this was asked (it is asked after 4,096 rows, and each time that there are twice as
/// many), they are given up, and the second mixture takes the place of the first.
template <class W>
class InteractionExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const Evaluator<W>& evaluator, const ForwardPass<W>& pass, Outputs outputs, int c,
                double weight) {
    if (!pass.has_interactions) return 0;
    const Interactions<W>& interactions = evaluator.own.interactions;
    steps_.clear();
    double growth = 0;
    for (std::size_t k = 0; k < interactions.columns.size(); ++k) {
      const double sign = outputs.sign(static_cast<int>(k), c);
      const double margin = sign * pass.interaction_sums[k];
      if (margin >= 1) continue;
      shares_.resize((steps_.size() + 1) * pass.interactions.size());
      const double v =
          pass.interactions.variance(interactions.columns[k], shares_of(steps_.size(), pass));
      const auto [alpha, kappa] =
          Experts::arow_step<W>(margin, v, weight, evaluator.own.rates.interactions_r);
      steps_.push_back(
          {k, static_cast<W>(sign * alpha), static_cast<W>(std::min(kappa, most_precision))});
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    // Products that share a place move its weight together.
    return growth * std::sqrt(static_cast<double>(pass.interactions.size()));
  }

  void move(State<W>& state, const ForwardPass<W>& pass) {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      pass.interactions.learn(MixtureState<W>::of(state).interactions.columns[steps_[i].column],
                              shares_of(i, pass), steps_[i].alpha, steps_[i].kappa);
  }

  /// What the row says of the experts without this one.
  void weigh(const MixtureState<W>& own, Mixture::Numbers example, double r, double weight) {
    const double heard = std::min(weight, 1.0);
    loss_ = heard * own.mixture.loss(example);
    example = Experts::without_interactions(example);
    loss_without_ = heard * own.trial.without.loss(example);
    step_without_ = own.trial.without.step(example, r / heard);
  }
  void finish_row(MixtureState<W>& own, double drift, const Mixture::Numbers& variances,
                  double rows) const {
    InteractionTrial& trial = own.trial;
    trial.without.take(step_without_, drift, variances);
    trial.loss += loss_;
    trial.loss_without += loss_without_;
    const bool is_due = rows >= trial.next;
    if (own.interactions.is_crowded() || (is_due && !(trial.loss < most_loss * trial.loss_without)))
      return own.give_up_interactions();
    if (!is_due) return;
    trial.loss = trial.loss_without = 0;
    trial.next = std::min(2 * trial.next, InteractionTrial::rows().most);
  }

 private:
  static constexpr double most_loss = 0.99;  ///< of the loss without products

  struct Step {
    std::size_t column;
    W alpha, kappa;  ///< alpha with the sign of the class
  };

  W* shares_of(std::size_t step, const ForwardPass<W>& pass) {
    return shares_.data() + step * pass.interactions.size();
  }

  Mixture::Step step_without_;
  double loss_ = 0, loss_without_ = 0;
  std::vector<Step> steps_;  ///< of columns that move
  Buffer<W> shares_;         ///< of each of these, products over P
};

}  // namespace yarrow
