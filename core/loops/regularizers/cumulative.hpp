#pragma once
#include "loops/regularizers/soft.hpp"

namespace yarrow {

/// What a weight has to pay when it has received the signed penalties q (negative: it was pulled
/// down) and `due` (>= |q|) is asked of everybody: it moves towards zero by due + q if it is
/// positive, by due - q if it is negative, and no further than zero.
template <class N>
inline N cumulative_payment(N w, N q, N due) {
  const N by = due + (w < N{} ? -q : q);
  return smaller(larger(w, -by), by);
}

/// Cumulative penalty (Tsuruoka, Tsujii & Ananiadou 2009): as SG-L1, but a weight that was stopped
/// at zero still owes what it could not pay, so that no single step makes it leave zero. With u the
/// sum of eta_t*l1 over all rows and q what the weight has received of it,
///   w <- max(0, w - (u + q)) if w >= 0, else min(0, w + (u - q));   q <- q + change of w.
/// Paying after each row or once for many rows comes to the same weight.
struct CumulativePenalty : SoftThreshold {
  static constexpr std::array planes = {Plane{0, true}, Plane{0, true}};  // weight, q
  static constexpr std::size_t growing = 2;
  SumRounding rounded;

  template <class W>
  CumulativePenalty(const State<W>& state, const std::vector<double>& p)
      : SoftThreshold(state, p), rounded(state) {}

  template <class N>
  N weight(const std::array<N, 2>& cells) const {
    const auto [w, q] = cells;
    return w - cumulative_payment(w, q, everywhere<N>(total.now));
  }
  template <class N>
  std::array<N, 2> moved(const std::array<N, 2>& cells, N step) const {
    const auto [w, q] = cells;
    const N payment = cumulative_payment(w, q, everywhere<N>(total.now));
    return {w - payment + step, rounded(q - payment)};
  }
};

}  // namespace yarrow
