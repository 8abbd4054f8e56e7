#pragma once
#include "loops/regularizers/penalties.hpp"

// Frequency-aware truncation (Oiwa, Matsushima & Nakagawa 2011): the penalty of feature j is
// multiplied by h_j, the p-norm of all the steps that losses have made on its weight, so that rare
// features and those of small values are not cut before the others. For p <= 2 h is capped at V,
// which their regret bound needs.

namespace yarrow {

/// h itself is kept, not the sum of powers, which would leave the range of float32 for large p.
class StepNorm {
 public:
  StepNorm(double p, double cap)
      : p_(p), cap_(p <= 2 ? cap : std::numeric_limits<double>::infinity()) {}

  template <class N>
  N capped(N h) const {
    return smaller(h, everywhere<N>(cap_));
  }
  /// (h^p + |step|^p)^(1/p)
  template <class N>
  N after(N h, N step) const {
    if (p_ == 1) return h + magnitude(step);
    if (p_ == 2) return square_root(h * h + step * step);
    if (p_ == 3) return root_of_cubes(h, magnitude(step));
    if (std::isinf(p_)) return larger(h, magnitude(step));
    return by_powers(h, step);
  }

  /// How much a norm may grow at most, infinitely where its square would not be a number.
  double growth(double step, const Scalars& state) const {
    return p_ == 2 && !std::isfinite(square(state.weight_bound.value + step))
               ? std::numeric_limits<double>::infinity()
               : step;
  }

 private:
  /// The third root of 1 + q is found by two of Halley's steps from a guess that is off by at most
  /// 0.0016, each of which triples the number of right digits.
  template <class N>
  static N root_of_cubes(N h, N step) {
    const N most = larger(h, step), ratio = smaller(h, step) / (most + 0x1p-1000);
    const N q = ratio * ratio * ratio, a = 1 + q;
    N root = 1 + q * (0.3251 - 0.0652 * q);
    for (int i = 0; i < 2; ++i) {
      const N cube = root * root * root;
      root = root * (cube + 2 * a) / (2 * cube + a);
    }
    return most * root;
  }
  [[gnu::noinline]] double by_powers(double h, double step) const {
    const double most = std::max(h, std::abs(step)), least = std::min(h, std::abs(step));
    if (least == 0) return most;
    return most * std::pow(1 + std::pow(least / most, p_), 1 / p_);
  }
  Two by_powers(Two h, Two step) const {
    return Two{by_powers(h[0], step[0]), by_powers(h[1], step[1])};
  }

  double p_, cap_;
};

/// What both forms of SGFT keep on their way: the penalties of all rows, and norms.
struct FrequencyClock : SoftThreshold {
  StepNorm norm;
  SumRounding rounded;

  template <class W>
  FrequencyClock(const State<W>& state, const std::vector<double>& p)
      : SoftThreshold(state, p), norm(p[3], p[4]), rounded(state) {}

  double growth(double step, const Scalars& state) const { return norm.growth(step, state); }
};

/// SGFT (5), (6), (9), paid lazily as in (12): after the gradient step of row t,
///   w <- argmin 1/2 |w - w_half|^2 + eta_t*l1*|H_t w|_1.
/// h stays between two visits, so that all their penalties can be paid at once.
struct FrequencyPenalty : FrequencyClock {
  static constexpr std::array planes = {Plane{"weight", 0, true}, Plane{"frequency", 0, false},
                                        Plane{"paid", 0, false}};
  static constexpr std::size_t growing = 2;
  using FrequencyClock::FrequencyClock;

  bool may_keep(const std::array<double, 3>& cells) const { return cells[2] <= total.paid; }
  template <class N>
  N weight(const std::array<N, 3>& cells) const {
    const auto [stored, h, paid] = cells;
    return soft_threshold(stored, (total.now - paid) * norm.capped(h));
  }
  template <class N>
  std::array<N, 3> moved(const std::array<N, 3>& cells, N weight, N step) const {
    return {weight + step, rounded(norm.after(cells[1], step)), everywhere<N>(total.paid)};
  }
};

/// SGFT with the cumulative penalty (13), (14): a weight owes h_t times the penalties of all rows,
/// as if h had always been what it is now, less what it has received.
struct FrequencyCumulativePenalty : FrequencyClock {
  static constexpr std::array planes = {Plane{"weight", 0, true}, Plane{"received", 0, true},
                                        Plane{"frequency", 0, false}};
  static constexpr std::size_t growing = 3;
  using FrequencyClock::FrequencyClock;

  bool may_keep(const std::array<double, 3>& cells) const {
    return is_paid(cells[1], total.now * norm.capped(cells[2]));
  }
  template <class N>
  N payment(const std::array<N, 3>& cells) const {
    const auto [w, q, h] = cells;
    return cumulative_payment(w, q, total.now * norm.capped(h));
  }
  template <class N>
  N weight(const std::array<N, 3>& cells) const {
    return cells[0] - payment(cells);
  }
  template <class N>
  std::array<N, 3> moved(const std::array<N, 3>& cells, N step) const {
    const auto [w, q, h] = cells;
    const N paid = payment(cells);
    return {w - paid + step, rounded(q - paid), rounded(norm.after(h, step))};
  }
};

/// Frequency-aware dual averaging, the outlook of the paper: h is made of what each gradient was
/// worth to the weight when it came, g_s / (gamma*sqrt(s)), so that it is bounded as in SGFT, and
///   w <- argmin -g.w/n + l1*|H_n w|_1 + gamma/(2 sqrt(n)) |w|^2 = soft(g, l1*n*h)/(gamma*sqrt(n)).
struct FrequencyDualAveraging : Regularizer {
  static constexpr std::array planes = {Plane{"gradients", 0, true}, Plane{"frequency", 0, false}};
  static constexpr std::size_t growing = 2;
  double threshold, factor, worth;
  StepNorm norm;
  SumRounding rounded;

  template <class W>
  FrequencyDualAveraging(const State<W>& state, const std::vector<double>& p)
      : threshold(finite(p[0] * state.t)),
        factor(state.t == 0 ? 0 : 1 / (p[1] * std::sqrt(state.t))),
        worth(1 / (p[1] * std::sqrt(state.t + 1))),
        norm(p[2], p[3]),
        rounded(state) {}

  void remove_penalty() { threshold = 0; }
  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const auto [g, h] = cells;
    return factor * soft_threshold(g, threshold * norm.capped(h));
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& cells, N step) const {
    const auto [g, h] = cells;
    return {rounded(g + step), rounded(norm.after(h, worth * step))};
  }
  double growth(double step, const Scalars& state) const {
    return norm.growth(step * std::max(1.0, worth), state);
  }
};

}  // namespace yarrow
