#pragma once
#include <limits>
#include <span>

#include "loops/loop.hpp"

namespace yarrow {

// How the mirror family makes weights of the dual numbers theta. All weights of a column depend on
// all of its theta, but only through one sum of terms, `total`, which is kept up to date as theta
// moves; so a row costs only its own features. Stored are numbers in units of a `reference`, which
// keeps powers and exponentials in range. `newcomers` counts features of a row that enter with it.

/// x^p for x >= 0, quickly where p is a whole number.
class Power {
 public:
  explicit Power(double p = 1) : p_(p), whole_(p == std::floor(p) ? static_cast<unsigned>(p) : 0) {}

  double operator()(double x) const {
    if (whole_ == 0) return std::pow(x, p_);
    double result = 1;
    for (unsigned left = whole_; left != 0; left >>= 1, x *= x)
      if (left & 1) result *= x;
    return result;
  }

 private:
  double p_;
  unsigned whole_;  ///< 0: it is not
};

/// p-norm link (Grove, Littlestone & Schuurmans 2001; Gentile 2003), for p >= 2 and 1/p + 1/q = 1:
///   w = gradient of 1/2 |theta|_p^2,  w_i = sign(theta_i) |theta_i|^(p-1) / |theta|_p^(p-2),
/// for which |w|_q = |theta|_p. The divergence is that of 1/2 |w|_q^2. theta = reference * stored,
/// total = sum |stored|^p. A radius > 0 keeps |w|_q at most there: too long a theta is scaled down.
class PNormLink {
 public:
  static constexpr bool features_enter = false;

  void set(const std::vector<double>& parameters) {
    p_ = parameters.at(0);
    power_ = Power(p_);
    weight_power_ = Power(p_ - 1);
    radius_ = parameters.at(1);
    largest_ = std::pow(10, 100 / p_);
  }

  /// Of numbers stored with this reference and total.
  struct Weights {
    const Power& power;
    double factor;
    double operator()(double stored) const {
      return std::copysign(factor * power(std::abs(stored)), stored);
    }
  };
  Weights weights(double reference, double total, std::size_t /*newcomers*/) const {
    if (total <= 0) return {weight_power_, 0};
    return {weight_power_, reference * std::pow(total, 2 / p_ - 1)};
  }

  double term(double stored, double /*reference*/) const { return power_(std::abs(stored)); }
  static double size(double stored) { return std::abs(stored); }
  static double stored(double theta, double reference) { return theta / reference; }

  bool is_beyond(double size, double /*reference*/) const { return size > largest_; }
  bool is_lost(double size, double /*reference*/) const {
    return size > 0 && (size > largest_ || size * largest_ < 1);
  }
  /// What stored numbers are multiplied by when `size` is the largest, and the reference then: one
  /// so small that nothing can be divided by it is left alone, as the weights are as good as 0.
  static double unit_for(double size, double& reference) {
    if (!can_be(reference * size)) return 1;
    reference *= size;
    return 1 / size;
  }
  /// Whether learning may lead to this reference: the norm, which is near it, is no larger than a
  /// weight may be.
  static bool can_be(double reference) { return reference > 1e-250 && reference < 1e150; }

  double norm(double reference, double total) const { return reference * std::pow(total, 1 / p_); }

  /// The reference that brings weights back into the ball.
  double projected(double reference, double total) const {
    const double length = norm(reference, total);
    return radius_ > 0 && length > radius_ ? reference * (radius_ / length) : reference;
  }

  /// |x|_p, of the largest value and all of them.
  template <class W>
  double row_norm(const Row<W>& row, double intercept, double most) const {
    if (most == 0) return 0;
    double sum = power_(std::abs(intercept) / most);
    for (std::size_t i = 0; i < row.size; ++i) sum += power_(std::abs(row.value[i]) / most);
    return most * std::pow(sum, 1 / p_);
  }

  /// Refuses a step that could make a weight infinite. By the triangle inequality the norm, which
  /// no weight exceeds, grows by no more than that of the step.
  template <class W>
  void admit(const State<W>& state, const Scores&, const Move& m, Bound&) const {
    Bound{norm(state.columns[m.column].scale, state.columns[m.column].ww)}.admit<W>(
        std::abs(m.add) * std::sqrt(m.v),
        [&] { return norm(state.columns[m.column].scale, state.columns[m.column].ww); });
  }

 private:
  double p_ = 2, radius_ = 0, largest_ = 1;
  Power power_, weight_power_;
};

/// Exponentiated gradient (Kivinen & Warmuth 1997), for weights whose sizes sum up to U:
///   EG   w_i = U exp(theta_i) / Z,                      Z = sum exp(theta_i)
///   EG±  w_i = U (exp(theta_i) - exp(-theta_i)) / Z,    Z = sum exp(theta_i) + exp(-theta_i)
/// over the features that have entered, each with theta = 0 in the first row that has it and moves
/// the weights. So as long as features keep coming it is the textbook's form over those known; and
/// it is the textbook's form outright if the first row has them all. The reference is a logarithm:
/// theta is stored as it is, and total = Z / exp(reference).
template <bool Signed>
class ExponentialLink {
 public:
  static constexpr bool features_enter = true;

  void set(const std::vector<double>& parameters) { U_ = parameters.at(0); }

  struct Weights {
    double reference, factor;
    double operator()(double theta) const {
      if (Signed && theta == 0) return 0;
      const double minus = Signed ? std::exp(-theta - reference) : 0;
      return factor * (std::exp(theta - reference) - minus);
    }
  };
  Weights weights(double reference, double total, std::size_t newcomers) const {
    if (newcomers > 0) {
      const double common = std::max(reference, 0.0);  // where neither sum can overflow
      total =
          total * std::exp(reference - common) + static_cast<double>(newcomers) * term(0, common);
      reference = common;
    }
    return {reference, total > 0 ? U_ / total : 0};
  }

  static double term(double theta, double reference) {
    return std::exp(theta - reference) + (Signed ? std::exp(-theta - reference) : 0);
  }
  static double size(double theta) { return Signed ? std::abs(theta) : theta; }
  static double stored(double theta, double /*reference*/) { return theta; }

  static bool is_beyond(double size, double reference) { return size > reference + 200; }
  static bool is_lost(double size, double reference) { return std::abs(size - reference) > 1; }
  static double unit_for(double size, double& reference) {
    reference = size;
    return 1;
  }
  static bool can_be(double reference) { return std::isfinite(reference); }
  static double projected(double reference, double /*total*/) { return reference; }

  template <class W>
  double row_norm(const Row<W>&, double /*intercept*/, double most) const {
    return most;
  }

  /// Weights never exceed U; theta might.
  template <class W>
  void admit(const State<W>& state, const Scores& scores, const Move& m, Bound& stored) const {
    stored.admit<W>(std::abs(m.add) * std::sqrt(scores.xx), [&] { return state.largest(0); });
  }

 private:
  double U_ = 1;
};

/// The mirror loop: theta += b*z, and the weights are what the link makes of theta. Per column,
/// `scale` of a column is the link's reference, `ww` the total of its terms and `scale_sum`
/// the largest total since it was last counted from scratch. Links that let features enter mark
/// those that have in a second plane.
template <class W, class Link>
class MirrorLoop : public LoopBase<W> {
  using LoopBase<W>::intercept_;

 public:
  static std::vector<Plane> planes(const LoopSettings&) {
    if (Link::features_enter) return {{"weight", 0, true}, {"entered", 0, false}};
    return {{"weight", 0, true}};
  }

  void set(const std::vector<double>& loop_parameters) { link_.set(loop_parameters); }

  /// Scores for learning: the row's features have entered.
  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    score_columns<true>(state, row, out);
  }

  static bool predicts_otherwise() { return Link::features_enter; }  // but for a prediction

  /// What an update needs beyond the scores: |x|^2, and as the variance the square of the norm that
  /// is dual to that of the weights.
  void measure(const State<W>&, const Row<W>& row, std::span<const int> listed, Scores& out) const {
    out.xx = squared_norm(row) + intercept_ * intercept_;
    const double norm = link_.row_norm(row, intercept_, this->largest_value(row));
    for (const int k : listed) out.variance[k] = norm * norm;
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores,
             std::span<Move> moves) const {
    Bound stored = state.weight_bound;  // kept only if every move is admitted
    for (const Move& m : moves) link_.admit(state, scores, m, stored);
    state.weight_bound = stored;
    for (const Move& m : moves) step(state, row, m.column, m.add);
  }

  /// Where features do not enter, the norm is the bound.
  bool is_bounded(const State<W>& state) const {
    return !Link::features_enter || state.weight_bound.covers(state.largest(0));
  }

  double weight(const State<W>& state, std::size_t slot, int column) const {
    const W* cell = state.blocks.cell(slot, column);
    if (!has_entered(state, cell)) return 0;
    return link_.weights(state.columns[column].scale, state.columns[column].ww, 0)(*cell);
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    score_columns<false>(state, row, out);
  }

  /// Refuses a reference that learning does not lead to, and a total that is not that of the terms.
  void check(const State<W>& state) const {
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const double reference = state.columns[k].scale, total = state.columns[k].ww,
                   peak = state.columns[k].scale_sum;
      if (!Link::can_be(reference) || link_.is_beyond(largest_size(state, k), reference))
        SavedState::refuse("scale", "has a number out of range");
      double sum = 0;
      for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot) {
        const W* const cell = state.blocks.cell(slot, k);
        if (has_entered(state, cell)) sum += link_.term(*cell, reference);
      }
      // What has rounded off is small beside the largest total, which is not that large beside this
      // one; it is t before the first step.
      if (!(total <= peak && peak <= std::max(std::ldexp(total, 16), state.t) &&
            std::abs(sum - total) <= 1e-5 * peak))
        SavedState::refuse("ww", "does not fit the blocks");
    }
  }

  /// Counts the totals from scratch, for example when features were forgotten.
  void after_forgetting(State<W>& state) const {
    for (int k = 0; k < state.blocks.columns(); ++k) after_forgetting(state, k);
  }

 private:
  /// Calls f(cell, x) for the row's features in one column, the intercept last.
  template <class Blocks, class F>
  void for_cells(Blocks& blocks, const Row<W>& row, int k, F f) const {
    for (std::size_t i = 0; i < row.size; ++i)
      f(blocks.first() + row.index[i] * blocks.stride() + k, static_cast<double>(row.value[i]));
    if (intercept_ != 0) f(blocks.intercept() + k, intercept_);
  }

  static bool has_entered(const State<W>& state, const W* cell) {
    return !Link::features_enter || cell[state.blocks.capacity()] != 0;
  }

  template <bool Learning>
  void score_columns(const State<W>& state, const Row<W>& row, Scores& out) const {
    out.resize(state.blocks.columns());
    for (int k = 0; k < state.blocks.columns(); ++k) {
      std::size_t newcomers = 0;
      if constexpr (Learning && Link::features_enter)
        for_cells(state.blocks, row, k,
                  [&](const W* cell, double) { newcomers += !has_entered(state, cell); });
      const auto weight_of = link_.weights(state.columns[k].scale, state.columns[k].ww, newcomers);
      double sum = 0;
      for_cells(state.blocks, row, k, [&](const W* cell, double x) {
        if (Learning || has_entered(state, cell)) sum += x * weight_of(*cell);
      });
      out.score[k] = sum;
    }
  }

  void step(State<W>& state, const Row<W>& row, int k, double amount) const {
    if (row.size == 0 && intercept_ == 0) return;
    double &reference = state.columns[k].scale, &total = state.columns[k].ww,
           &peak = state.columns[k].scale_sum;
    double add = link_.stored(amount, reference), size = -std::numeric_limits<double>::infinity();
    for_cells(state.blocks, row, k,
              [&](W* cell, double x) { size = std::max(size, link_.size(*cell + add * x)); });
    if (link_.is_beyond(size, reference)) {
      refer_to(state, k, size);
      count(state, k);
      add = link_.stored(amount, reference);
    }
    double change = 0;
    for_cells(state.blocks, row, k, [&](W* cell, double x) {
      if (has_entered(state, cell)) change -= link_.term(*cell, reference);
      *cell = static_cast<W>(*cell + add * x);
      if constexpr (Link::features_enter) cell[state.blocks.capacity()] = 1;
      change += link_.term(*cell, reference);
    });
    total += change;
    peak = std::max(peak, total);
    // What has rounded off the largest total must not show in a small one.
    if (!(total > std::ldexp(peak, -16) && total > 1e-100)) after_forgetting(state, k);
    reference = link_.projected(reference, total);
  }

  void after_forgetting(State<W>& state, int k) const {
    const double size = largest_size(state, k);
    if (std::isfinite(size) && link_.is_lost(size, state.columns[k].scale))
      refer_to(state, k, size);
    count(state, k);
  }

  double largest_size(const State<W>& state, int k) const {
    double size = -std::numeric_limits<double>::infinity();
    const W* cell = state.blocks.data() + k;
    for (std::size_t slot = 0; slot <= state.blocks.features();
         ++slot, cell += state.blocks.stride())
      if (has_entered(state, cell)) size = std::max(size, link_.size(*cell));
    return size;
  }

  /// Chooses the reference at which the term of a number of this size is 1 or near.
  void refer_to(State<W>& state, int k, double size) const {
    const double unit = link_.unit_for(size, state.columns[k].scale);
    if (unit == 1) return;
    if (state.before_all_change) state.before_all_change();
    W* cell = state.blocks.data() + k;
    for (std::size_t slot = 0; slot <= state.blocks.features();
         ++slot, cell += state.blocks.stride())
      *cell = static_cast<W>(*cell * unit);
  }

  /// The total, summed as integers, because features are numbered differently by different routes,
  /// and the sum must not depend on their order.
  void count(State<W>& state, int k) const {
    __extension__ using Wide = __int128;
    const double size = largest_size(state, k);
    const double unit = std::ldexp(link_.term(size, state.columns[k].scale), -60);
    Wide sum = 0;
    const W* cell = state.blocks.data() + k;
    if (std::isfinite(size) && unit > 0)
      for (std::size_t slot = 0; slot <= state.blocks.features();
           ++slot, cell += state.blocks.stride())
        if (has_entered(state, cell))
          sum += std::llround(link_.term(*cell, state.columns[k].scale) / unit);
    state.columns[k].ww = state.columns[k].scale_sum =
        sum == 0 ? 0 : static_cast<double>(sum) * unit;
  }

  Link link_;
};

}  // namespace yarrow
