#pragma once
#include <span>

#include "loops/covariance_product.hpp"
#include "loops/dense_step.hpp"

namespace yarrow {

// What a full covariance predicts with, and what a rule's answer (alpha, kappa) means for a column.

/// The mean itself.
struct ByMean {
  static constexpr bool needs_variance = false;
  static double margin(double margin, double /*v*/) { return margin; }
  static void prepare(Move&, double /*score*/, double /*v*/) {}
};

/// The second-order Perceptron, which counts the row in when it predicts. With A the precision and
/// b = A*mu the sum of signed rows, x'(A + x x')^-1 b = x.mu/(1 + v), v = x'A^-1 x. A step adds
/// alpha*x to b and kappa*x*x' to A, each column's own, which moves mu along Sigma*x.
struct RowInside {
  static constexpr bool needs_variance = true;
  static double margin(double margin, double v) { return margin / (1 + v); }
  static void prepare(Move& m, double score, double v) {
    const double margin = score * (1 + v);
    if (m.other > 0) m.add = (m.add / m.other - margin) / (1 / m.other + v);
    m.v = v;
  }
};

/// The confidence loop with a full covariance a column: mu += alpha*Sigma*z, and
/// Sigma -= beta*(Sigma z)(Sigma z)' with beta = kappa/(1 + kappa*v), which is a precision that
/// grows by kappa*z*z'. With many classes at once (`top1`) v is that of the whole signed example,
/// and of the joint covariance the blocks on the diagonal, one a class, are kept; joint.hpp keeps
/// all of it.
///
/// A row costs (values in the row)^2 to score and, if it moves a column, features^2 for each:
/// unlike in all other loops, what a row changes is not confined to its own features. Sums run over
/// the row's own values in their order, so that numbering features differently gives the same bits.
template <class W, class Prediction>
class FullLoop : public DenseStepLoop<W> {
  using Base = DenseStepLoop<W>;
  using Base::intercept_, Base::for_values;

 public:
  /// `loop_parameters`: the bytes that all matrices together may take.
  static void extend(State<W>& state, const std::vector<double>& loop_parameters) {
    Covariances::start(state, state.blocks.columns(), state.blocks.planes()[1].initial,
                       loop_parameters.at(0));
  }

  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    Base::score(state, row, out);
    if constexpr (Prediction::needs_variance)
      for (int k = 0; k < state.blocks.columns(); ++k)
        out.score[k] = Prediction::margin(out.score[k], variance_of(state, row, k));
  }

  /// What an update needs beyond the scores, for the columns listed. Long rows multiply with the
  /// whole matrix at once; short ones only with their own features until a column moves.
  void measure(const State<W>& state, const Row<W>& row, std::span<const int> listed, Scores& out) {
    out.xx = squared_norm(row) + intercept_ * intercept_;
    products_.resize(state.blocks.columns());
    for (const int k : listed) {
      std::vector<double>& product = products_[k];
      product.clear();
      if (2 * row.size < state.blocks.features()) {
        out.variance[k] = variance_of(state, row, k);
      } else {
        multiply(state, row, k);
        out.variance[k] = weighed(Covariances::of(state)[k], values_of(row), Base::rounding,
                                  [&](std::size_t slot, double) { return product[slot]; });
      }
    }
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores, std::span<Move> moves) {
    for (Move& m : moves) {
      Prediction::prepare(m, scores.score[m.column], scores.variance[m.column]);
      if (products_[m.column].empty()) multiply(state, row, m.column);
    }
    Base::move_along(state, moves, products_, [&](const Move& m) { narrow(state, m); });
  }

  double variance(const State<W>& state, std::size_t slot, int column) const {
    return Covariances::of(state)[column].variance()[slot];
  }

  void covariance(const State<W>& state, int column, double* out) const {
    Covariances::of(state)[column].copy_to(out);
  }

  /// The row counts in what it is explained by.
  Parts explain(const State<W>& state, const Row<W>& row, int column) const
    requires(Prediction::needs_variance)
  {
    const double v = variance_of(state, row, column);
    return parts_of(row, intercept_, [&](std::size_t slot, double x) {
      return Prediction::margin(x * Base::weight(state, slot, column), v);
    });
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    Base::score(state, row, out);
    for (int k = 0; k < state.blocks.columns(); ++k) {
      out.variance[k] = variance_of(state, row, k);
      out.score[k] = Prediction::margin(out.score[k], out.variance[k]);
    }
    Base::use_average(state, row, out);
  }

 private:
  auto values_of(const Row<W>& row) const {
    return [this, &row](auto f) { for_values(row, f); };
  }

  double variance_of(const State<W>& state, const Row<W>& row, int k) const {
    return weighed(Covariances::of(state)[k], values_of(row), Base::rounding);
  }

  void multiply(const State<W>& state, const Row<W>& row, int k) {
    yarrow::multiply(Covariances::of(state)[k], values_of(row), own_, products_[k]);
  }

  void narrow(State<W>& state, const Move& m) {
    W* first = state.blocks.data() + state.blocks.capacity() + m.column;
    shrink(Covariances::of(state)[m.column], products_[m.column], m.other, m.v,
           Base::smallest_variance, variances_, [&](std::size_t slot, double variance) {
             first[slot * state.blocks.stride()] = static_cast<W>(variance);
           });
  }

  std::vector<std::vector<double>> products_;  ///< Sigma*x of the row at hand, a column; or empty
  std::vector<double> variances_, own_;
};

}  // namespace yarrow
