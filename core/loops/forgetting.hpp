#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "loops/confidence.hpp"

// Covariances that do not only narrow: what was learned long ago counts less, so that a model can
// follow a concept that drifts. Means stay; only the confidence in them fades or is taken back.
// The prior is a variance s0, precision P0 = 1/s0, which no variance ever exceeds.

namespace yarrow {

// A precision fades to the share `left` of what it had gained over the prior,
//   P <- P0 + (P - P0)*left,   that is   s <- s / (left + (1 - left)*s/s0),
// and left = 1 gives s back to the bit.

// A full covariance does not fade like that: (g*P + (1 - g)*P0)^-1 moves every eigenvalue of P by
// another factor, which is no update of low rank, so each row would cost features^3. What costs
// features^2, P <- g*P, has no prior: directions that no row touches grow without end.

/// Fades at each update of a feature, by the factor g. Parameters: g, s0.
/// Narrowing by 1/s += kappa*x^2 and fading share one division; with the diagonal of the covariance
/// fading follows.
template <class Kept>
struct FadingByVisits : Kept {
  double memory = 1, prior = 1;

  void set(const std::vector<double>& loop_parameters) {
    memory = loop_parameters[0];
    prior = loop_parameters[1];
  }
  auto variance(auto s, auto x, double kappa, double v) const {
    if constexpr (std::is_same_v<Kept, Diagonal>) {
      return s / (memory * (1 + kappa * s * x * x) + (1 - memory) * (s / prior));
    } else {
      const auto narrow = Kept::variance(s, x, kappa, v);
      return narrow / (memory + (1 - memory) * (narrow / prior));
    }
  }
};

/// Times of visits that any number type can keep: whole numbers up to 2^23, which float32 holds
/// exactly. Before the clock starts again from 0 all features are settled, once in 2^23 ticks, so
/// that a time is never mistaken for one of an earlier round, and no time is ever rounded.
struct Clock {
  static constexpr double round = 1 << 23;
  static double at(double ticks) { return std::fmod(ticks, round); }
  static bool starts_again(double ticks) { return ticks > 0 && at(ticks) == 0; }
};

/// What time has done to the variances of a column is written down, and the clock set to 0.
template <class W, class Covariance>
void settle_column(State<W>& state, const Covariance& covariance, int column, double now) {
  if (state.before_all_change) state.before_all_change();
  Blocks<W>& blocks = state.blocks;
  for (std::size_t slot = 0; slot <= blocks.features(); ++slot) {
    W* cell = blocks.cell(slot, column);
    W &s = cell[blocks.capacity()], &time = cell[2 * blocks.capacity()];
    s = static_cast<W>(covariance.settled(double{s}, double{time}, now));
    time = 0;
  }
}

/// Fades by the factor g with every row learned, whether or not it has the feature; paid at the
/// feature's next visit: g^(rows since the last). Parameters: g, s0.
/// Powers come from small tables, since a call of pow a feature would cost more than all the rest.
template <class Kept>
struct FadingByRows : Kept {
  static constexpr bool ages = true;

  void set(const std::vector<double>& loop_parameters) {
    const double memory = loop_parameters[0];
    prior_precision_ = 1 / loop_parameters[1];
    near_.assign(few, 1);
    far_.assign(many, 1);
    for (std::size_t i = 1; i < near_.size(); ++i) near_[i] = near_[i - 1] * memory;
    for (std::size_t i = 1; i < far_.size(); ++i) far_[i] = far_[i - 1] * near_.back() * memory;
  }
  template <class W>
  static double now(const State<W>& state, int /*column*/) {
    return Clock::at(state.t);
  }
  auto settled(auto s, auto time, double now) const {
    const auto left = kept(now - time);
    return s / (left + (1 - left) * (s * prior_precision_));
  }

  /// The times of last visits are whole numbers and past.
  template <class W>
  static void check(const State<W>& state) {
    const Blocks<W>& blocks = state.blocks;
    const Range past = Range::count(Clock::at(state.t));
    for (std::size_t slot = 0; slot <= blocks.features(); ++slot)
      for (int k = 0; k < blocks.columns(); ++k)
        if (!past.has(blocks.cell(slot, k)[2 * blocks.capacity()]))
          SavedState::refuse("blocks", "has the time of a visit that has not been");
  }

  template <class W>
  void finish_row(State<W>& state) const {
    if (!Clock::starts_again(state.t + 1)) return;
    for (int k = 0; k < state.blocks.columns(); ++k) settle_column(state, *this, k, Clock::round);
  }

 private:
  static constexpr std::uint32_t few = 1 << 11, many = 1 << 13;  // few * many > Clock::round

  /// Whatever a damaged file says about times, nothing beyond the tables is read.
  double power(std::uint32_t rows) const { return near_[rows % few] * far_[rows / few % many]; }
  double kept(double rows) const { return power(static_cast<std::uint32_t>(rows)); }
  Two kept(Two rows) const {
    const auto [one, other] = whole_numbers(rows);
    return Two{power(one), power(other)};
  }

  double prior_precision_ = 1;
  std::vector<double> near_, far_;  ///< g^n, and g^(few*n)
};

/// ARCOR (Vaits & Crammer 2011): when an update leaves the covariance with an eigenvalue below a
/// floor, it is set back to the prior, and the floor of the next segment is lower:
///   floor_i = floor * i^-power,  i = 1, 2...
/// The eigenvalues of a diagonal are its variances, and only those of the row have changed. Setting
/// back is lazy: a feature whose last visit was in an earlier segment has the prior's variance.
/// Parameters: floor, power, s0. The paper's projection on a ball, which its proof needs and which
/// would change all weights, is left out.
struct Restarting : Diagonal {
  static constexpr bool ages = true;
  double floor = 0, power = 0, prior = 1;

  void set(const std::vector<double>& loop_parameters) {
    floor = loop_parameters[0];
    power = loop_parameters[1];
    prior = loop_parameters[2];
  }
  template <class W>
  static double now(const State<W>& state, int column) {
    return Clock::at(state.columns[column].restarts);
  }
  auto settled(auto s, auto time, double now) const {
    return time == now + 0 * time ? s : prior + 0 * s;
  }

  template <class W>
  void finish_move(State<W>& state, const Row<W>& row, int column) const {
    double& restarts = state.columns[column].restarts;
    const double least = floor * std::pow(restarts + 1, -power);
    if (smallest_variance(state.blocks, row, column) >= least) return;
    if (Clock::starts_again(++restarts)) settle_column(state, *this, column, Clock::round);
  }

 private:
  /// Of the row's features, which have just been visited, and the intercept.
  template <class W>
  static double smallest_variance(const Blocks<W>& blocks, const Row<W>& row, int column) {
    const W* variances = blocks.first() + blocks.capacity() + column;
    const std::size_t stride = blocks.stride();
    double smallest = blocks.intercept()[blocks.capacity() + column], other = smallest;
    std::size_t i = 0;
    for (; i + 2 <= row.size; i += 2) {  // two at a time, so that they do not wait for each other
      smallest = smaller(smallest, double{variances[row.index[i] * stride]});
      other = smaller(other, double{variances[row.index[i + 1] * stride]});
    }
    if (i < row.size) smallest = smaller(smallest, double{variances[row.index[i] * stride]});
    return smaller(smallest, other);
  }
};

}  // namespace yarrow
