#pragma once
#include "loops/regularizers/arithmetic.hpp"

// Steps of each feature's own size, smaller the more its gradients have moved it. All keep
// s = sqrt(sum of squared gradients), this row's included before its step is made.

namespace yarrow {

template <class N>
inline N root_of_squares(N s, N gradient) {
  return square_root(s * s + gradient * gradient);
}

/// The growth of numbers whose squares are taken: infinite where those would not be numbers.
inline double squared_growth(double growth, const Scalars& state) {
  return std::isfinite(square(state.weight_bound.value + growth))
             ? growth
             : std::numeric_limits<double>::infinity();
}

/// Whether the sum of n gradients, or of as many and what FTRL adds to them, fits the root of their
/// squares. Each adds at most 1 to the ratio of both; both are rounded.
inline bool is_sum_of(double n, double sum, double s) { return std::abs(sum) <= 1.01 * n * s; }

/// AdaGrad by composite mirror descent (Duchi, Hazan & Singer 2011), diagonal: with the gradient g
/// of row t and H_t = delta + s_t,
///   w <- argmin eta*g.w + eta*l1*|w|_1 + 1/2 (w - w_t)'H_t(w - w_t)
///      = soft(w_t - eta*g/H_t, eta*l1/H_t).
/// H stays between two visits of a feature, so that it can pay for all the rows since then at once:
/// it keeps the number of rows it has paid for, which is rounded in float32 above 2^24, and what
/// that leaves out is paid at the next visit.
struct AdaGradMirror : Regularizer {
  static constexpr std::array planes = {Plane{"weight", 0, true}, Plane{"root", 0, false},
                                        Plane{"paid", 0, false}};
  static constexpr std::size_t growing = 2;
  double rows, eta, penalty, delta;
  SumRounding rounded;

  template <class W>
  AdaGradMirror(const State<W>& state, const std::vector<double>& p)
      : rows(static_cast<W>(state.t)),
        eta(p[1]),
        penalty(finite(p[0] * p[1])),
        delta(p[2]),
        rounded(state) {}

  void remove_penalty() { penalty = 0; }
  bool may_keep(const std::array<double, 3>& cells) const { return cells[2] <= rows; }
  template <class N>
  N weight(const std::array<N, 3>& cells) const {
    const auto [stored, s, paid] = cells;
    return soft_threshold(stored, (rows - paid) * penalty / (delta + s));
  }
  template <class N>
  std::array<N, 3> moved(const std::array<N, 3>& cells, N weight, N step) const {
    const N s = rounded(root_of_squares(cells[1], step));
    return {rounded(weight + eta * step / (delta + s)), s, everywhere<N>(rows)};
  }
  double growth(double step, const Scalars& state) const {
    return squared_growth(std::max(eta, step), state);  // |step| <= s, but for rounding
  }
};

/// AdaGrad by primal-dual averaging: stored is the sum g of all negative gradients, and
///   w <- argmin -eta*g.w/n + eta*l1*|w|_1 + w'H_n w/(2n) = eta*soft(g, l1*n) / (delta + s).
struct AdaGradDual : Regularizer {
  static constexpr std::array planes = {Plane{"gradients", 0, true}, Plane{"root", 0, false}};
  static constexpr std::size_t growing = 2;
  double rows, threshold, eta, delta;
  SumRounding rounded;

  template <class W>
  AdaGradDual(const State<W>& state, const std::vector<double>& p)
      : rows(state.t), threshold(p[0] * state.t), eta(p[1]), delta(p[2]), rounded(state) {}

  void remove_penalty() { threshold = 0; }
  bool may_keep(const std::array<double, 2>& cells) const {
    return is_sum_of(rows, cells[0], cells[1]);
  }
  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const auto [g, s] = cells;
    return eta * soft_threshold(g, everywhere<N>(threshold)) / (delta + s);
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& cells, N step) const {
    const auto [g, s] = cells;
    return {rounded(g + step), rounded(root_of_squares(s, step))};
  }
  double growth(double step, const Scalars& state) const { return squared_growth(step, state); }
};

/// FTRL-Proximal (McMahan et al. 2013): stored is d = -z, and with the gradients g_1..g_n,
///   w <- argmin sum_s g_s.w + 1/2 sum_s sigma_s (w - w_s)^2 + l1*|w|_1 + l2/2*|w|^2
///      = soft(d, l1) / ((beta + s)/alpha + l2),
///   sigma_n = (s_n - s_{n-1})/alpha (and beta/alpha at first, around 0),  d += -g_n + sigma_n*w_n.
struct FTRLProximal : Regularizer {
  static constexpr std::array planes = {Plane{"gradients", 0, true}, Plane{"root", 0, false}};
  static constexpr std::size_t growing = 2;
  double rows, alpha, beta, l1, l2, per_alpha = finite(1 / alpha);
  SumRounding rounded;

  template <class W>
  FTRLProximal(const State<W>& state, const std::vector<double>& p)
      : rows(state.t), alpha(p[1]), beta(p[2]), l1(p[0]), l2(p[3]), rounded(state) {}

  void remove_penalty() { l1 = l2 = 0; }
  bool may_keep(const std::array<double, 2>& cells) const {
    return is_sum_of(rows, cells[0], cells[1]);
  }
  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const auto [d, s] = cells;
    return alpha * soft_threshold(d, everywhere<N>(l1)) / (beta + s + alpha * l2);
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& cells, N weight, N step) const {
    const auto [d, before] = cells;
    const N s = rounded(root_of_squares(before, step));
    return {rounded(d + step + (s - before) * per_alpha * weight), s};
  }
  /// No row moves a weight by more than alpha, and s - before <= |step|.
  double growth(double step, const Scalars& state) const {
    return squared_growth(step * (state.t + 2), state);
  }
};

}  // namespace yarrow
