#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace yarrow {

/// The triangular root L of a symmetric matrix L L' whose eigenvalues are all at least 1: row after
/// row of its lower triangle.
struct TriangularRoot {
  std::vector<double> cells;
  std::size_t size = 0;

  const double* row(std::size_t i) const { return cells.data() + i * (i + 1) / 2; }

  /// One more row and column of L L': `cross` with the others, `own` on the diagonal.
  void append(std::vector<double> cross, double own) {
    forward(cross);
    for (const double part : cross) own -= part * part;
    cells.insert(cells.end(), cross.begin(), cross.end());
    cells.push_back(std::sqrt(std::max(own, 1.0)));
    ++size;
  }

  /// y <- L^-1 y
  void forward(std::vector<double>& y) const {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < i; ++j) y[i] -= row(i)[j] * y[j];
      y[i] /= row(i)[i];
    }
  }

  /// y <- L'^-1 y
  void backward(std::vector<double>& y) const {
    for (std::size_t i = size; i-- > 0;) {
      y[i] /= row(i)[i];
      for (std::size_t j = 0; j < i; ++j) y[j] -= row(i)[j] * y[i];
    }
  }

  /// L L'
  std::vector<double> square() const {
    std::vector<double> matrix(size * size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        matrix[i * size + j] = matrix[j * size + i] =
            std::inner_product(row(j), row(j) + j + 1, row(i), 0.0);
    return matrix;
  }
};

/// Eigenvalues, largest first, and the vectors that belong to them, one behind the other.
struct EigenSystem {
  std::vector<double> values, vectors;
};

/// Of a small symmetric matrix, n x n, by Jacobi's rotations.
inline EigenSystem eigen_system(std::vector<double> a, std::size_t n) {
  std::vector<double> v(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) v[i * n + i] = 1;
  const auto rotate = [n](double* x, double* y, std::size_t step, double c, double s) {
    for (std::size_t i = 0; i < n; ++i, x += step, y += step) {
      const double before = *x;
      *x = c * before - s * *y;
      *y = s * before + c * *y;
    }
  };
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, on = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) (i == j ? on : off) += a[i * n + j] * a[i * n + j];
    if (off <= 1e-30 * on) break;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double apq = a[p * n + q];
        if (apq == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        rotate(&a[p * n], &a[q * n], 1, c, s);
        rotate(&a[p], &a[q], n, c, s);
        rotate(&v[p * n], &v[q * n], 1, c, s);
        a[p * n + q] = a[q * n + p] = 0;
      }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i * n + i] > a[j * n + j]; });
  EigenSystem found;
  for (const std::size_t i : order) {
    found.values.push_back(a[i * n + i]);
    found.vectors.insert(found.vectors.end(), v.begin() + i * n, v.begin() + (i + 1) * n);
  }
  return found;
}

}  // namespace yarrow
