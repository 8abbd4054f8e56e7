#pragma once
#include "state/covariance.hpp"

namespace yarrow {

// Products of a covariance, of which some steps still wait in the queue, with a sparse vector x. It
// is told by `values(f)`, which calls f(slot, x) for its values, always in the same order: that of
// the row, so that numbering slots differently gives the same bits.

/// What each step that waits takes from Sigma*x: h'x.
inline void queued_parts(const CovarianceMatrix& sigma, auto values, double* parts) {
  for (std::size_t q = 0; q < sigma.queued(); ++q) {
    const double* h = sigma.queue(q);
    double sum = 0;
    values([&](std::size_t slot, double x) { sum += x * h[slot]; });
    parts[q] = sum;
  }
}

/// Takes what waits in the queue from the product at one of x's own slots. The diagonal has it
/// already.
inline double without_queue(const CovarianceMatrix& sigma, std::size_t slot, double x, double sum,
                            const double* parts) {
  for (std::size_t q = 0; q < sigma.queued(); ++q) {
    const double h = sigma.queue(q)[slot];
    sum -= (parts[q] - x * h) * h;
  }
  return sum;
}

/// x'Sigma x, from `product(slot, x)`. Where rounding has eaten it up, what rounding can tell:
/// never 0 but for x = 0, and never negative.
inline double weighed(const CovarianceMatrix& sigma, auto values, double rounding, auto product) {
  const double* variance = sigma.variance();
  double v = 0, separate = 0;
  values([&](std::size_t slot, double x) {
    v += x * product(slot, x);
    separate += x * x * variance[slot];
  });
  return std::max(v, rounding * separate);
}

/// The same from the cells of x's own slots alone.
inline double weighed(const CovarianceMatrix& sigma, auto values, double rounding) {
  double parts[CovarianceMatrix::queue_length];
  queued_parts(sigma, values, parts);
  return weighed(sigma, values, rounding, [&](std::size_t slot, double x) {
    const double* cells = sigma.row(slot);
    double sum = 0;
    values([&](std::size_t other, double value) { sum += value * cells[other]; });
    return without_queue(sigma, slot, x, sum, parts);
  });
}

/// Sigma*x, at x's own slots by the same additions as in `weighed`. `own` is room to work in.
inline void multiply(const CovarianceMatrix& sigma, auto values, std::vector<double>& own,
                     std::vector<double>& out) {
  out.assign(sigma.slots(), 0);
  FourVectors four(out.data(), out.size());
  values([&](std::size_t slot, double x) { four.add(sigma.row(slot), x); });
  four.finish();
  double parts[CovarianceMatrix::queue_length];
  queued_parts(sigma, values, parts);
  own.resize(std::max(own.size(), out.size()));  // no slot has two values
  std::size_t n = 0;
  values([&](std::size_t slot, double x) {
    own[n++] = without_queue(sigma, slot, x, out[slot], parts);
  });
  for (std::size_t q = 0; q < sigma.queued(); ++q) four.add(sigma.queue(q), -parts[q]);
  four.finish();
  std::size_t place = 0;
  values([&](std::size_t slot, double) { out[slot] = own[place++]; });
}

/// Sigma -= beta*h h' with h = Sigma*z, v = z'h and beta = kappa/(1 + kappa*v); h becomes what was
/// taken, and `put(slot, variance)` is told the variances that change. Rounding may have made h so
/// long that a variance would turn negative; then it is cut to what the variances can bear.
inline void shrink(CovarianceMatrix& sigma, std::vector<double>& h, double kappa, double v,
                   double smallest, std::vector<double>& variances, auto put) {
  const double* variance = sigma.variance();
  double beta = 1 / (1 / kappa + v);
  for (std::size_t slot = 0; slot < h.size(); ++slot) {
    const double squared = h[slot] * h[slot];
    if (beta * squared > variance[slot]) beta = variance[slot] / squared;
  }
  const double root = std::sqrt(beta), taken = beta * v, left = 1 / (1 + kappa * v);
  variances.resize(h.size());
  for (std::size_t slot = 0; slot < h.size(); ++slot) {
    const double s = variance[slot];
    variances[slot] = s;
    h[slot] *= root;
    if (h[slot] == 0) continue;
    const double squared = h[slot] * h[slot];
    // Where hardly anything is left, the difference is written as a sum of positive terms.
    const double rest =
        squared < s / 2 ? s - squared : s * left + std::max(0.0, s * taken - squared);
    variances[slot] = std::max(smallest, std::min(rest, s));
    put(slot, variances[slot]);
  }
  sigma.shrink(h.data(), variances.data());
}

}  // namespace yarrow
