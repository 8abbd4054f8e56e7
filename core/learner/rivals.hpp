#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "rules/rule.hpp"

// One row, its true class and many rivals at once. All many-constraint updates of the project solve
// one problem: the smallest change, measured by the covariance (or plainly), such that
//   score(true) - score(r) >= target*cost(r) - xi   for every rival r,
// with one slack xi >= 0 for the whole row (Crammer et al. 2006, section 8; Crammer, Kulesza &
// Dredze 2013, equation 28). With loss_r = target*cost(r) - (score(true) - score(r)), its dual is
//   min over steps a_r >= 0 of  1/2 a'(c*11' + diag(d))a - loss'a,   sum(a) <= limit,
// where d_r = x'Sigma_r x, and c is that of the true class plus the slack's curvature. Rank one
// plus diagonal: stationarity says a_r = max(0, loss_r - level)/d_r with one number `level` for
// all, so that a sort by loss and one pass give the exact answer, where Hildreth's method would
// iterate. Compared with SLSQP and with Hildreth's method in tests/linear_model/test_rivals.py.

namespace yarrow {

struct Rival {
  int column;
  double loss;
  double spread = 0;  ///< x'Sigma x of its column, |x|^2 without a covariance
  double step = 0;    ///< the answer
};

/// By loss, the largest first; ties go to the class seen first.
inline bool is_ahead(const Rival& a, const Rival& b) {
  return a.loss != b.loss ? a.loss > b.loss : a.column < b.column;
}

/// The rivals of a class with the largest losses, sorted: at most `most`, or all if that is 0.
template <class Cost>
void gather_rivals(std::vector<Rival>& rivals, const std::vector<double>& score, int truth,
                   int most, Cost asked) {
  rivals.clear();
  for (int k = 0; k < static_cast<int>(score.size()); ++k)
    if (k != truth) rivals.push_back({k, asked(k) - (score[truth] - score[k])});
  if (most > 0 && rivals.size() > static_cast<std::size_t>(most)) {
    std::nth_element(rivals.begin(), rivals.begin() + most, rivals.end(), is_ahead);
    rivals.resize(most);
  }
  std::sort(rivals.begin(), rivals.end(), is_ahead);
}

/// Fills in the steps of rivals sorted by `is_ahead`, and returns their sum: the true class's step.
/// All spreads must be > 0.
inline double solve_rivals(std::span<Rival> rivals, double true_spread, const Slack& slack) {
  if (rivals.empty() || rivals[0].loss < 0) return 0;
  if (rivals[0].loss == 0) {
    const auto behind =
        std::find_if(rivals.begin(), rivals.end(), [](auto& r) { return r.loss < 0; });
    for (auto r = rivals.begin(); r != behind; ++r)
      r->step = slack.level_step / static_cast<double>(behind - rivals.begin());
    return slack.level_step;
  }
  const double c = true_spread + slack.curvature, largest = rivals[0].loss;
  // How far the level is below the largest loss, told by the sums of 1/d and gap/d over the first
  // rivals, gap = largest - loss; these are the active ones if the next one's gap is no smaller.
  // All terms are positive, so that nothing cancels.
  const auto take_steps = [&](auto depth_of) {
    double b = 0, g = 0, depth = std::numeric_limits<double>::infinity(), sum = 0;
    for (const Rival& r : rivals) {
      const double gap = largest - r.loss;
      if (!(gap < depth)) break;
      b += 1 / r.spread;
      g += gap / r.spread;
      depth = depth_of(b, g);
    }
    for (Rival& r : rivals) sum += r.step = std::max(0.0, depth - (largest - r.loss)) / r.spread;
    return sum;
  };
  const double sum =
      take_steps([=](double b, double g) { return (largest + c * g) / (1 + c * b); });
  if (sum <= slack.limit) return sum;
  return take_steps([&](double b, double g) { return (slack.limit + g) / b; });
}

/// The same where the signed rows z_j of the rivals have any products z_j'Sigma z_k, in `gram`, and
/// the slack is squared: the dual of (28) of Crammer, Kulesza & Dredze (2013),
///   max over steps >= 0 of  sum of loss_j*step_j - steps'gram*steps/2 - curvature*(sum of
///   steps)^2/2
/// by Hildreth's method, which they name: one step at a time, in turns, each to its own maximum. It
/// ends where a turn changes nothing that counts, which a curvature above 0 makes sure of.
inline double solve_by_turns(std::span<Rival> rivals, std::span<const double> gram,
                             const Slack& slack) {
  constexpr int most_turns = 10000;
  const std::size_t n = rivals.size();
  double sum = 0;
  for (Rival& r : rivals) r.step = 0;
  for (int turn = 0; turn < most_turns; ++turn) {
    double change = 0;
    for (std::size_t j = 0; j < n; ++j) {
      double left = rivals[j].loss - slack.curvature * sum;
      for (std::size_t k = 0; k < n; ++k) left -= gram[j * n + k] * rivals[k].step;
      const double curvature = std::max(0.0, gram[j * n + j]) + slack.curvature;
      const double step = std::max(0.0, rivals[j].step + left / curvature);
      change = std::max(change, std::abs(step - rivals[j].step));
      sum += step - rivals[j].step;
      rivals[j].step = step;
    }
    if (change <= 1e-13 * sum) break;
  }
  sum = 0;
  for (const Rival& r : rivals) sum += r.step;
  return sum;
}

/// A variance that was `separate` without what columns share, and is at least what rounding leaves.
inline double left_of(double separate, double v) { return std::max(v, 1e-15 * separate); }

/// The steps where columns are correlated: `product(j, k)` is x'Sigma x between two of them. `v`,
/// the sum of what they have by themselves, becomes f'Sigma f, f the row on all that take part.
inline double solve_correlated(std::span<Rival> rivals, int truth, auto product, const Slack& slack,
                               double& v, std::vector<double>& gram) {
  const std::size_t n = rivals.size();
  const double own = product(truth, truth);
  double shared = 0;
  gram.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    const int column = rivals[i].column;
    shared += 2 * product(truth, column);
    for (std::size_t j = 0; j < n; ++j) {
      const int other = rivals[j].column;
      const double between = product(column, other);
      if (i != j) shared += between;
      gram[i * n + j] = own - product(truth, column) - product(truth, other) + between;
    }
  }
  v = left_of(v, v + shared);
  return solve_by_turns(rivals, gram, slack);
}

}  // namespace yarrow
