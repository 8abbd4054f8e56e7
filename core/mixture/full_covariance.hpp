#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "mixture/experts.hpp"
#include "simd/dispatch.hpp"
#include "state/saved_arrays.hpp"

namespace yarrow {

/// Weights of few features, which come after that of the intercept, and one covariance between all
/// of them, which the columns share: it knows that two features say the same, or that one takes
/// back what another says.
template <class W>
struct CorrelatedWeights {
  std::size_t size = 0;                 ///< of a column
  std::vector<std::vector<W>> columns;  ///< weights
  std::vector<W> covariance;            ///< in lines of whole fours

  std::size_t line() const { return (size + 3) / 4 * 4; }

  void start() {
    columns.assign(1, {});
    make_room(0);
  }

  /// New features have variance 1, and nothing to do with others.
  void make_room(std::size_t features) {
    if (features + 1 <= size) return;
    const CorrelatedWeights old = *this;
    size = features + 1;
    covariance.assign(size * line(), 0);
    for (std::size_t i = 0; i < size; ++i) covariance[i * line() + i] = 1;
    for (std::size_t i = 0; i < old.size; ++i)
      std::copy_n(old.covariance.begin() + i * old.line(), old.size,
                  covariance.begin() + i * line());
    for (std::vector<W>& column : columns) column.resize(size);
  }

  void free() {
    size = 0;
    covariance = {};
    for (std::vector<W>& column : columns) column = {};
  }

  void add_column(int from, bool mirrored) {
    columns.push_back(from < 0 ? std::vector<W>(size) : columns[from]);
    if (mirrored)
      for (W& weight : columns.back()) weight = 0 - weight;  // 0 stays 0
  }

  /// h = S z, where z is the intercept's value and, behind it, a row times a factor.
  void multiply(W intercept, const Row<W>& row, W factor, std::vector<W>& h) const {
    h.resize(line());
    with_kernels<W>([&](auto kernels) {
      kernels.multiply(covariance.data(), line(), intercept, row, factor, h.data());
    });
  }

  /// S -= share h h'.
  void take_away(const std::vector<W>& h, W share) {
    with_kernels<W>(
        [&](auto kernels) { kernels.take_away(covariance.data(), size, line(), h.data(), share); });
  }

  /// What a file keeps: a line of weights for each column, whose number is told where there may be
  /// many, and the covariance; of the features that are there.
  void save(const ArrayWriter& put, const char* weights_name, const char* covariance_name,
            std::size_t features, auto... saved_columns) const {
    const std::size_t n = features + 1;
    std::vector<W> weights, cells;
    for (const std::vector<W>& column : columns)
      weights.insert(weights.end(), column.begin(), column.begin() + n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto first = covariance.begin() + i * line();
      cells.insert(cells.end(), first, first + n);
    }
    put(weights_name, std::move(weights), saved_columns..., n);
    put(covariance_name, std::move(cells), n, n);
  }
  /// The way back, into as many columns.
  void restore(SavedState& from, const char* weights_name, const char* covariance_name,
               std::size_t features, auto... saved_columns) {
    const std::size_t n = features + 1;
    make_room(features);
    const auto weights = from.values<W>(weights_name, {saved_columns..., n});
    const auto cells = from.values<W>(covariance_name, {n, n});
    // It shrinks from 1 on; float32 adds some errors.
    const auto is_small = [](W cell) { return std::abs(cell) <= W{1.001}; };
    if (!std::all_of(cells.begin(), cells.end(), is_small) ||
        !is_covariance({cells.begin(), cells.end()}, n, 1e-4))
      SavedState::refuse(covariance_name, "is no covariance");
    for (std::size_t k = 0; k < columns.size(); ++k)
      std::copy_n(weights.begin() + k * n, n, columns[k].begin());
    for (std::size_t i = 0; i < n; ++i)
      std::copy_n(cells.begin() + i * n, n, covariance.begin() + i * line());
  }

  std::size_t bytes() const { return (covariance.size() + columns.size() * size) * sizeof(W); }
  double largest_weight() const {
    double most = 0;
    for (const std::vector<W>& column : columns)
      for (const W weight : column) most = std::max(most, std::abs(static_cast<double>(weight)));
    return most;
  }
};

/// How AROW with a full covariance learns few features. The covariance is that of all columns: it
/// shrinks where one of them learns (but not for the column "none of the seen", which others do
/// without), and where there is enough of it left: a row whose variance is small beside r would
/// hardly change it. So it costs most rows nothing, learning never comes to rest, and float32
/// suffices: variances stay far above its last places.
template <class W>
class CovarianceExpert {
 public:
  /// What is to be done in each column; returns how far a weight may move at most.
  double decide(const Evaluator<W>& evaluator, const ForwardPass<W>& pass, Outputs outputs, int c,
                double weight) {
    share_ = 0;
    fill(step_, evaluator.state.blocks.columns(), 0);
    if (!pass.few()) return 0;
    const Experts& experts = evaluator.experts;
    const double r = evaluator.own.rates.covariance_r;
    const CorrelatedWeights<W>& correlated = evaluator.own.few.correlated;
    margins_.resize(step_.size());
    for (std::size_t k = 0; k < step_.size(); ++k)
      margins_[k] = outputs.sign(static_cast<int>(k), c) *
                    evaluator.covariance_score(pass, k, pass.row.to_learn);
    if (std::all_of(margins_.begin(), margins_.end(), [](double m) { return m >= 1; })) return 0;
    const W intercept = static_cast<W>(experts.intercept),
            length = static_cast<W>(pass.row.to_learn);
    correlated.multiply(intercept, pass.values, length, h_);
    const double v = std::max(0.0, pass.values.dot(h_.data() + 1) * length + h_[0] * intercept);
    const bool enough = v > experts.covariance_least * r;
    weight = std::min(weight, heaviest);
    double growth = 0;
    for (std::size_t k = 0; k < step_.size(); ++k) {
      const int column = static_cast<int>(k);
      const auto [alpha, kappa] = Experts::arow_step<W>(margins_[k], v, weight, r);
      step_[k] = static_cast<W>(outputs.sign(column, c) * alpha);
      if (kappa > 0 && enough && !outputs.is_none(column))
        share_ = static_cast<W>(1 / (v + 1 / kappa));
      growth = std::max(growth, alpha * std::sqrt(v));
    }
    return growth;
  }

  void move(State<W>& state) const {
    CorrelatedWeights<W>& correlated = MixtureState<W>::of(state).few.correlated;
    for (std::size_t k = 0; k < step_.size(); ++k)
      if (step_[k] != 0)
        for (std::size_t i = 0; i < correlated.size; ++i)
          correlated.columns[k][i] += step_[k] * h_[i];
    if (share_ > 0) correlated.take_away(h_, share_);
  }

 private:
  static constexpr double heaviest = 1e3;  ///< a row beyond this would leave hardly any variance

  std::vector<W> h_;             ///< S z
  std::vector<double> margins_;  ///< by column
  std::vector<W> step_;          ///< by column: alpha with the sign of the class
  W share_ = 0;                  ///< of h h' that the covariance loses
};

}  // namespace yarrow
