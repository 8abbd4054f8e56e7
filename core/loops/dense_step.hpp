#pragma once
#include "loops/loop.hpp"

namespace yarrow {

/// What the loops with correlated weights share: means move along Sigma*z, which reaches features
/// that the row does not have.
template <class W>
class DenseStepLoop : public GaussianLoop<W> {
 protected:
  using GaussianLoop<W>::intercept_, GaussianLoop<W>::average_;

  /// The part of x'Sigma x that rounding errors in Sigma can make up.
  static constexpr double rounding = 1e-15;

  /// The row's values in their order, the intercept's last: f(slot, value).
  template <class F>
  void for_values(const Row<W>& row, F f) const {
    for (std::size_t i = 0; i < row.size; ++i)
      f(row.index[i] + std::size_t{1}, static_cast<double>(row.value[i]));
    if (intercept_ != 0) f(std::size_t{0}, intercept_);
  }

  /// Makes moves, if all of them are admitted, each along its column's product Sigma*x; then
  /// `narrow(move)` changes the covariance, where a move asks for it.
  template <class Narrow>
  void move_along(State<W>& state, std::span<const Move> moves,
                  const std::vector<std::vector<double>>& products, Narrow narrow) const {
    const auto admit = [&](const Move& m, Bound& weights, Bound& sums) {
      double largest = 0;
      for (const double p : products[m.column]) largest = std::max(largest, std::abs(p));
      this->admit(state, m, std::abs(m.add) * largest, weights, sums);
    };
    admit_all(state, moves, admit, true);
    for (const Move& m : moves) {
      move_means(state, m, products[m.column]);
      if (m.other > 0) narrow(m);
    }
  }

 private:
  void move_means(State<W>& state, const Move& m, const std::vector<double>& product) const {
    const std::size_t stride = state.blocks.stride(), capacity = state.blocks.capacity();
    W* cell = state.blocks.data() + m.column;
    for (std::size_t slot = 0; slot < product.size(); ++slot, cell += stride) {
      const double step = m.add * product[slot];
      this->increase(cell[0], step);
      if (average_) this->increase(cell[2 * capacity], state.t * step);
    }
  }
};

}  // namespace yarrow
