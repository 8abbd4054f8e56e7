#pragma once
#include <cstdint>
#include <span>

#include "loops/loop.hpp"
#include "loops/proximal.hpp"
#include "loops/root.hpp"

namespace yarrow {

/// The step of an L1-norm-constrained problem over one column of weights,
///   min 1/2 |u - w|^2  such that  z.u >= target  and  |u|_1 <= beta.
/// By the conditions of Karush, Kuhn and Tucker, u = soft(w + tau*z, lambda) with two multipliers
/// tau, lambda >= 0. For a given lambda the margin rises with tau, so tau(lambda) is a root; and
/// the norm that is left falls with lambda, since it is the slope of a concave dual: another root.
///
/// Only the row's own weights move with tau; of all others the norm wants to know their sizes,
/// which are counted in whole units of beta/2^60: a sum of integers does not depend on the order in
/// which routes number features.
class L1Step {
 public:
  void start(double beta, double target) {
    beta_ = beta;
    margin_.target = target;
    unit_ = std::ldexp(beta, -60);
    sizes_.clear();
    margin_.row.clear();
    row_sizes_.clear();
  }

  /// One of the weights that may not be 0, be it of the row or not.
  void add_weight(double w) {
    if (w != 0) sizes_.push_back(in_units(std::abs(w)));
  }
  /// One value of the signed row, and its weight.
  void add_value(double z, double w) {
    margin_.add(z, w);
    if (z != 0) row_sizes_.push_back(w == 0 ? 0 : in_units(std::abs(w)));
  }

  void solve() {
    lambda = 0;
    tau = tau_at(0);
    const double tolerance = 1e-14 * beta_;
    if (excess(0).value >= -tolerance) return;
    double high = beta_;
    while (excess(high).value < -tolerance && high < 1e30 * beta_) high *= 2;
    lambda = rising_root([&](double l) { return excess(l); }, 0, high, tolerance);
    tau = tau_at(lambda);
  }

  double tau = 0, lambda = 0;

 private:
  std::int64_t in_units(double size) const {
    return std::llround(std::min(std::ldexp(1.0, 61), size / unit_));
  }

  /// The smallest tau that gives the row its margin.
  double tau_at(double l) const {
    return margin_.surplus(0, l).value >= 0 ? 0 : margin_.tau(0, l, 1e-15);
  }

  /// beta - |u|_1 for some lambda, and its slope in lambda.
  Piece excess(double l) const {
    const double t = tau_at(l);
    const std::int64_t taken = in_units(l);
    std::int64_t rest = 0, nonzero = 0;
    const auto count = [&](std::int64_t size, int sign) {
      rest += size > taken ? sign * (size - taken) : 0;
      nonzero += size > taken ? sign : 0;
    };
    for (const std::int64_t size : sizes_) count(size, 1);
    double norm = 0, zs = 0, zz = 0;
    for (const std::int64_t size : row_sizes_) count(size, -1);  // they are not where they were
    for (const auto& [z, w] : margin_.row) {
      const double u = soft_threshold(w + t * z, l);
      if (u == 0) continue;
      norm += std::abs(u);
      zs += u > 0 ? z : -z;
      zz += z * z;
      ++nonzero;
    }
    const double by_tau = t > 0 && zz > 0 ? zs * zs / zz : 0;
    return {beta_ - norm - static_cast<double>(rest) * unit_,
            static_cast<double>(nonzero) - by_tau};
  }

  double beta_ = 1, unit_ = 1;
  SoftMargin margin_;
  std::vector<std::int64_t> sizes_, row_sizes_;  ///< of all weights; of the row's own
};

/// The features that may have a weight which is not 0, each once, for loops that must visit them
/// all. It follows from the blocks, and may list some too many.
struct Support final : ExtensionOf<Support> {
  std::vector<Index> features;
  std::vector<bool> listed;  ///< by feature
  bool known = true;

  bool is_copied_for_undo() const override { return false; }  // what was undone is listed too much
  void truncate_features(std::size_t) override { known = false; }
  void keep_features(const std::vector<Index>&) override { known = false; }
  void restore(SavedState&, std::size_t, std::size_t) override { known = false; }

  void add(Index feature) {
    const auto at = static_cast<std::size_t>(feature);
    if (at >= listed.size()) listed.resize(at + at / 2 + 16);
    if (listed[at]) return;
    listed[at] = true;
    features.push_back(feature);
  }

  template <class W>
  void find(const Blocks<W>& blocks) {
    *this = {};
    for (std::size_t f = 0; f < blocks.features(); ++f)
      if (!is_zero(blocks, f)) add(static_cast<Index>(f));
  }

  template <class W>
  void drop_zeros(const Blocks<W>& blocks) {
    std::erase_if(features, [&](Index f) {
      if (!is_zero(blocks, f)) return false;
      listed[f] = false;
      return true;
    });
  }

 private:
  template <class W>
  static bool is_zero(const Blocks<W>& blocks, std::size_t feature) {
    const W* cells = blocks.first() + feature * blocks.stride();
    return std::all_of(cells, cells + blocks.columns(), [](W w) { return w == 0; });
  }
};

/// The loop of the L1-norm-constrained Passive-Aggressive: a plain weight a feature. An update
/// costs the row's features and those whose weight is not 0, which `Support` lists.
template <class W>
class L1ConstrainedLoop : public LoopBase<W> {
  using LoopBase<W>::intercept_;

 public:
  void set(const std::vector<double>& loop_parameters) { beta_ = loop_parameters.at(0); }

  /// By the constraint itself.
  bool is_bounded(const State<W>& state) const { return state.largest(0) <= 2 * beta_; }

  /// Refuses weights that learning does not lead to: their norm is at most beta, and some rounding.
  void check(const State<W>& state) const {
    for (int k = 0; k < state.blocks.columns(); ++k) {
      double norm = 0;
      for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot)
        norm += std::abs(static_cast<double>(*state.blocks.cell(slot, k)));
      if (!(norm <= 1.01 * beta_)) SavedState::refuse("blocks", "has weights of too large a norm");
    }
  }

  /// What an update needs beyond the scores: |x|^2, and as the variance the largest |x_i|^2.
  void measure(const State<W>&, const Row<W>& row, std::span<const int> listed, Scores& out) const {
    out.xx = squared_norm(row) + intercept_ * intercept_;
    for (const int k : listed) out.variance[k] = square(this->largest_value(row));
  }

  static void extend(State<W>& state, const std::vector<double>&) { Support::start(state); }

  /// A step is the margin asked for.
  void apply(State<W>& state, const Row<W>& row, const Scores&, std::span<Move> moves) {
    if (!Support::of(state).known) Support::of(state).find(state.blocks);
    bool all_shrink = false;
    for (Move& m : moves) {  // all steps are found before the first is made
      solve(state, row, m);
      m.add = std::copysign(step_.tau, m.add);
      m.other = step_.lambda;
      all_shrink |= m.other > 0;
    }
    if (all_shrink && state.before_all_change) state.before_all_change();
    for (const Move& m : moves) walk(state, row, m);
    Support& support = Support::of(state);
    for (std::size_t i = 0; i < row.size; ++i) support.add(row.index[i]);
    if (all_shrink) support.drop_zeros(state.blocks);
  }

 private:
  void solve(const State<W>& state, const Row<W>& row, const Move& m) {
    const std::size_t stride = state.blocks.stride();
    const W* first = state.blocks.first() + m.column;
    const double intercept = state.blocks.intercept()[m.column], sign = m.add > 0 ? 1 : -1;
    step_.start(beta_, std::abs(m.add));
    step_.add_weight(intercept);
    for (const Index f : Support::of(state).features) step_.add_weight(first[f * stride]);
    step_.add_value(sign * intercept_, intercept);
    for (std::size_t i = 0; i < row.size; ++i)
      step_.add_value(sign * row.value[i], first[row.index[i] * stride]);
    step_.solve();
    // Weights end within beta, but a step without lambda may be as large as beta allows.
    constexpr double limit = static_cast<double>(std::numeric_limits<W>::max()) / 16;
    if (!(step_.tau * m.v < limit * std::sqrt(m.v)) || !std::isfinite(step_.lambda))
      Bound::refuse();
  }

  void walk(State<W>& state, const Row<W>& row, const Move& m) {
    const std::size_t stride = state.blocks.stride();
    W* first = state.blocks.first() + m.column;
    W& intercept = state.blocks.intercept()[m.column];
    // Pulling is put off for the row's own weights: soft(w + tau*z) is not soft(soft(w) + tau*z).
    moved_.clear();
    moved_.push_back(soft_threshold(intercept + m.add * intercept_, m.other));
    for (std::size_t i = 0; i < row.size; ++i)
      moved_.push_back(
          soft_threshold(first[row.index[i] * stride] + m.add * row.value[i], m.other));
    if (m.other > 0)
      for (const Index f : Support::of(state).features) {
        W& cell = first[f * stride];
        cell = static_cast<W>(soft_threshold(double{cell}, m.other));
      }
    intercept = static_cast<W>(moved_[0]);
    for (std::size_t i = 0; i < row.size; ++i)
      first[row.index[i] * stride] = static_cast<W>(moved_[i + 1]);
  }

  double beta_ = 1;
  L1Step step_;
  std::vector<double> moved_;
};

}  // namespace yarrow
