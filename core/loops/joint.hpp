#pragma once
#include <span>

#include "loops/covariance_product.hpp"
#include "loops/dense_step.hpp"
#include "state/joint_covariance.hpp"

namespace yarrow {

/// The confidence loop over the weights of all classes as one vector (Crammer, Kulesza & Dredze
/// 2013, section 3.3): mu += Sigma * sum of alpha_k*z_k over the rivals k, with z_k the row on the
/// true class and minus the row on the rival, and the precision grows by kappa*f*f'. Against one
/// rival f is z (figure 3); against many it is the sum of the row on all classes that take part
/// (24, 29).
///
/// A row costs values * classes * features for each class that takes part, to multiply, and, once
/// it moves something, (classes * features)^2 / 16.
template <class W>
class JointLoop : public DenseStepLoop<W> {
  using Base = DenseStepLoop<W>;
  using Base::intercept_, Base::average_, Base::for_values;

 public:
  /// `loop_parameters`: the bytes that the matrix may take, and whether f adds up all classes.
  static void extend(State<W>& state, const std::vector<double>& loop_parameters) {
    JointCovariance::start(state, state.blocks.columns(), state.blocks.planes()[1].initial,
                           loop_parameters.at(0));
  }
  void set(const std::vector<double>& loop_parameters) {
    adds_classes_ = loop_parameters.at(1) != 0;
  }

  /// What an update needs beyond the scores: Sigma times the row on each column listed.
  void measure(const State<W>& state, const Row<W>& row, std::span<const int> listed, Scores& out) {
    out.xx = squared_norm(row) + intercept_ * intercept_;
    const JointCovariance& sigma = JointCovariance::of(state);
    products_.resize(state.blocks.columns());
    for (const int k : listed) {
      multiply(sigma.matrix, values_of(sigma, row, k), own_, products_[k]);
      out.variance[k] = weighed(sigma.matrix, values_of(sigma, row, k), Base::rounding,
                                [&](std::size_t place, double) { return products_[k][place]; });
    }
  }

  /// x_j'Sigma x_k for the row on columns that have been measured.
  double product(const State<W>& state, const Row<W>& row, int j, int k) const {
    const JointCovariance& sigma = JointCovariance::of(state);
    double sum = 0;
    values_of(sigma, row, j)([&](std::size_t place, double x) { sum += x * products_[k][place]; });
    return sum;
  }

  /// One step for all moves of a row: the true class's first, then its rivals'.
  void apply(State<W>& state, const Row<W>&, const Scores&, std::span<const Move> moves) {
    JointCovariance& sigma = JointCovariance::of(state);
    step_.assign(sigma.matrix.slots(), 0);
    grown_.assign(sigma.matrix.slots(), 0);
    for (const Move& m : moves) {
      const std::vector<double>& product = products_[m.column];
      const double sign = adds_classes_ || &m == moves.data() ? 1 : -1;
      for (std::size_t place = 0; place < product.size(); ++place) {
        step_[place] += m.add * product[place];
        grown_[place] += sign * product[place];
      }
    }
    double largest = 0;
    for (const double by : step_) largest = std::max(largest, std::abs(by));
    const auto admit = [&](const Move& m, Bound& weights, Bound& sums) {
      this->admit(state, m, largest, weights, sums);
    };
    admit_all(state, moves.first(1), admit, true);
    const std::size_t capacity = state.blocks.capacity();
    each_weight(state, [&](W* cell, std::size_t place) {
      this->increase(cell[0], step_[place]);
      if (average_) this->increase(cell[2 * capacity], state.t * step_[place]);
    });
    if (!(moves[0].other > 0)) return;
    shrink(sigma.matrix, grown_, moves[0].other, moves[0].v, Base::smallest_variance, variances_,
           [](std::size_t, double) {});
    each_weight(state, [&](W* cell, std::size_t place) {
      cell[capacity] = static_cast<W>(variances_[place]);
    });
  }

  double variance(const State<W>& state, std::size_t slot, int column) const {
    const JointCovariance& sigma = JointCovariance::of(state);
    return sigma.matrix.variance()[sigma.place(column, slot)];
  }

  /// The part of the matrix between two columns, slots x slots.
  void covariance(const State<W>& state, int column, int other, double* out) const {
    const JointCovariance& sigma = JointCovariance::of(state);
    const CovarianceMatrix& matrix = sigma.matrix;
    const std::size_t slots = state.blocks.features() + 1;
    for (std::size_t i = 0; i < slots; ++i)
      for (std::size_t j = 0; j < slots; ++j)
        *out++ = matrix.at(sigma.place(column, i), sigma.place(other, j));
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    Base::score(state, row, out);
    const JointCovariance& sigma = JointCovariance::of(state);
    for (int k = 0; k < state.blocks.columns(); ++k)
      out.variance[k] = weighed(sigma.matrix, values_of(sigma, row, k), Base::rounding);
    Base::use_average(state, row, out);
  }

 private:
  /// The row on one column, by its places in the matrix.
  auto values_of(const JointCovariance& sigma, const Row<W>& row, int column) const {
    return [this, &sigma, &row, column](auto f) {
      for_values(row, [&](std::size_t slot, double x) { f(sigma.place(column, slot), x); });
    };
  }

  template <class F>
  static void each_weight(State<W>& state, F f) {
    const JointCovariance& sigma = JointCovariance::of(state);
    for (int k = 0; k < state.blocks.columns(); ++k)
      for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot)
        f(state.blocks.cell(slot, k), sigma.place(k, slot));
  }

  bool adds_classes_ = false;
  std::vector<std::vector<double>> products_;  ///< Sigma times the row at hand on a column
  std::vector<double> step_, grown_, variances_, own_;
};

}  // namespace yarrow
