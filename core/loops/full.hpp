#pragma once
#include <span>

#include "loops/dense_step.hpp"
#include "state/covariance.hpp"

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
/// and of the joint covariance the blocks on the diagonal, one a class, are kept.
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
        multiply(state, row, k, product);
        out.variance[k] =
            weighed(state, row, k, [&](std::size_t slot, double) { return product[slot]; });
      }
    }
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores, std::span<Move> moves) {
    for (Move& m : moves) {
      Prediction::prepare(m, scores.score[m.column], scores.variance[m.column]);
      if (products_[m.column].empty()) multiply(state, row, m.column, products_[m.column]);
    }
    Base::move_along(state, moves, products_, [&](const Move& m) { shrink(state, m); });
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
  /// What each step that waits in the queue takes from Sigma*x: h'x.
  void queued_parts(const CovarianceMatrix& sigma, const Row<W>& row, double* parts) const {
    for (std::size_t q = 0; q < sigma.queued(); ++q) {
      const double* h = sigma.queue(q);
      double sum = 0;
      for_values(row, [&](std::size_t slot, double x) { sum += x * h[slot]; });
      parts[q] = sum;
    }
  }

  /// x'Sigma x. Where rounding has eaten it up, what rounding can tell: never 0 but for a row of
  /// zeros, and never negative.
  template <class Product>
  double weighed(const State<W>& state, const Row<W>& row, int k, Product product) const {
    const double* variance = Covariances::of(state)[k].variance();
    double v = 0, separate = 0;
    for_values(row, [&](std::size_t slot, double x) {
      v += x * product(slot, x);
      separate += x * x * variance[slot];
    });
    return std::max(v, Base::rounding * separate);
  }

  double variance_of(const State<W>& state, const Row<W>& row, int k) const {
    const CovarianceMatrix& sigma = Covariances::of(state)[k];
    double parts[CovarianceMatrix::queue_length];
    queued_parts(sigma, row, parts);
    return weighed(state, row, k, [&](std::size_t slot, double x) {
      const double* cells = sigma.row(slot);
      double sum = 0;
      for_values(row, [&](std::size_t other, double value) { sum += value * cells[other]; });
      return without_queue(sigma, slot, x, sum, parts);
    });
  }

  /// Takes what waits in the queue from one of the row's own products. The diagonal has it already.
  static double without_queue(const CovarianceMatrix& sigma, std::size_t slot, double x, double sum,
                              const double* parts) {
    for (std::size_t q = 0; q < sigma.queued(); ++q) {
      const double h = sigma.queue(q)[slot];
      sum -= (parts[q] - x * h) * h;
    }
    return sum;
  }

  /// Sigma*x, the row's own cells by the same additions as in `variance_of`.
  void multiply(const State<W>& state, const Row<W>& row, int k, std::vector<double>& out) {
    const CovarianceMatrix& sigma = Covariances::of(state)[k];
    out.assign(sigma.slots(), 0);
    FourVectors four(out.data(), out.size());
    for_values(row, [&](std::size_t slot, double x) { four.add(sigma.row(slot), x); });
    four.finish();
    double parts[CovarianceMatrix::queue_length];
    queued_parts(sigma, row, parts);
    own_.clear();
    for_values(row, [&](std::size_t slot, double x) {
      own_.push_back(without_queue(sigma, slot, x, out[slot], parts));
    });
    for (std::size_t q = 0; q < sigma.queued(); ++q) four.add(sigma.queue(q), -parts[q]);
    four.finish();
    std::size_t place = 0;
    for_values(row, [&](std::size_t slot, double) { out[slot] = own_[place++]; });
  }

  /// Sigma -= h h', h = sqrt(beta)*Sigma*z. Rounding may have made h so long that a variance would
  /// turn negative; then it is cut to what the variances can bear.
  void shrink(State<W>& state, const Move& m) {
    CovarianceMatrix& sigma = Covariances::of(state)[m.column];
    const double* variance = sigma.variance();
    std::vector<double>& h = products_[m.column];
    double beta = 1 / (1 / m.other + m.v);
    for (std::size_t slot = 0; slot < h.size(); ++slot) {
      const double squared = h[slot] * h[slot];
      if (beta * squared > variance[slot]) beta = variance[slot] / squared;
    }
    const double root = std::sqrt(beta), taken = beta * m.v, left = 1 / (1 + m.other * m.v);
    variances_.resize(h.size());
    W* cell = state.blocks.data() + state.blocks.capacity() + m.column;
    for (std::size_t slot = 0; slot < h.size(); ++slot, cell += state.blocks.stride()) {
      const double s = variance[slot];
      variances_[slot] = s;
      h[slot] *= root;
      if (h[slot] == 0) continue;
      const double squared = h[slot] * h[slot];
      // Where hardly anything is left, the difference is written as a sum of positive terms.
      const double rest =
          squared < s / 2 ? s - squared : s * left + std::max(0.0, s * taken - squared);
      variances_[slot] = std::max(Base::smallest_variance, std::min(rest, s));
      *cell = static_cast<W>(variances_[slot]);
    }
    sigma.shrink(h.data(), variances_.data());
  }

  std::vector<std::vector<double>> products_;  ///< Sigma*x of the row at hand, a column; or empty
  std::vector<double> variances_, own_;
};

}  // namespace yarrow
