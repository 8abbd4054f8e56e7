#pragma once
#include <numeric>
#include <span>

#include "loops/dense_step.hpp"
#include "state/small_matrix.hpp"

namespace yarrow {

/// L of each column.
struct FactorRoots final : ExtensionByColumn<FactorRoots, TriangularRoot> {
  bool is_copied_for_undo() const override { return false; }  // before_all_change is told

  void save(const ArrayWriter& put) const override {
    std::vector<double> roots, factors;
    for (const TriangularRoot& root : columns) {
      factors.push_back(static_cast<double>(root.size));
      roots.insert(roots.end(), root.cells.begin(), root.cells.end());
    }
    put("factors", std::move(factors));
    put("factor_roots", std::move(roots));
  }
  void restore(SavedState& from, std::size_t, std::size_t n) override {
    const auto factors = from.values<double>("factors", {n}, Range::count(0x1p20));
    const auto cells = from.values<double>("factor_roots", {SavedState::any});
    auto at = cells.begin();
    columns.clear();
    for (const double factor : factors) {
      TriangularRoot root{{}, static_cast<std::size_t>(factor)};
      const std::size_t size = root.size * (root.size + 1) / 2;
      if (size > static_cast<std::size_t>(cells.end() - at))
        SavedState::refuse("factor_roots", "has the wrong shape");
      root.cells.assign(at, at + static_cast<std::ptrdiff_t>(size));
      at += static_cast<std::ptrdiff_t>(size);
      for (std::size_t i = 0; i < root.size; ++i)
        if (!(root.row(i)[i] >= 1)) SavedState::refuse("factor_roots", "has no root of a matrix");
      columns.push_back(std::move(root));
    }
    if (at != cells.end()) SavedState::refuse("factor_roots", "has the wrong shape");
  }
};

/// The confidence loop with a covariance of low rank plus a diagonal (after Ma, Kulesza, Dredze,
/// Crammer, Saul & Pereira 2010): the precision of a column is D^-1 + U U', D diagonal, U a few
/// factors. A step appends sqrt(kappa)*z as one more factor. When there are twice as many as
/// `rank`, they are turned into the principal axes of D^(1/2) U; the `rank` longest stay, and of
/// the others the diagonal does. So nothing is lost before that, and the precision is positive
/// whatever is.
///
/// Sigma = D - D U (I + U'D U)^-1 U'D, where L L' = I + U'D U is kept (FactorRoots). A row
/// costs values * rank to score; a step features * rank in addition. Planes: mean, the diagonal D,
/// perhaps the average's, then the factors. Features are summed in an order that is not theirs by
/// numbering: over the row's own values, or, over all, on a grid where additions are exact.
template <class W>
class FactoredLoop : public DenseStepLoop<W> {
  using Base = DenseStepLoop<W>;
  using Base::intercept_, Base::average_, Base::for_values;

 public:
  static std::vector<Plane> planes(const LoopSettings& settings) {
    std::vector<Plane> planes = Base::planes(settings);
    planes.resize(planes.size() + 2 * static_cast<std::size_t>(settings.parameters.at(0)),
                  {.name = "factor", .initial = 0, .is_signed = false, .is_free = true});
    return planes;
  }

  static void extend(State<W>& state, const std::vector<double>&) { FactorRoots::start(state); }

  /// `loop_parameters`: the rank.
  void set(const std::vector<double>& loop_parameters) {
    rank_ = static_cast<std::size_t>(loop_parameters.at(0));
  }

  void measure(const State<W>& state, const Row<W>& row, std::span<const int> listed, Scores& out) {
    out.xx = squared_norm(row) + intercept_ * intercept_;
    whitened_.resize(state.blocks.columns());
    for (const int k : listed) out.variance[k] = variance_of(state, row, k, whitened_[k]);
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores, std::span<Move> moves) {
    products_.resize(state.blocks.columns());
    for (const Move& m : moves) multiply(state, row, m.column);
    Base::move_along(state, moves, products_,
                     [&](const Move& m) { append(state, row, m, scores.variance[m.column]); });
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    Base::score(state, row, out);
    std::vector<double> whitened;
    for (int k = 0; k < state.blocks.columns(); ++k)
      out.variance[k] = variance_of(state, row, k, whitened);
    Base::use_average(state, row, out);
  }

  /// The variance of one weight.
  double variance(const State<W>& state, std::size_t slot, int k) const {
    const double d = diagonal(state, slot, k);
    const std::vector<double> part = whitened_slot(state, slot, k);
    const double taken = std::inner_product(part.begin(), part.end(), part.begin(), 0.0);
    return std::max({d - taken, Base::rounding * d, Base::smallest_variance});
  }

  void covariance(const State<W>& state, int k, double* out) const {
    const std::size_t slots = state.blocks.features() + 1;
    std::vector<std::vector<double>> parts(slots);
    for (std::size_t i = 0; i < slots; ++i) parts[i] = whitened_slot(state, i, k);
    for (std::size_t i = 0; i < slots; ++i) {
      for (std::size_t j = 0; j < slots; ++j)
        out[i * slots + j] =
            -std::inner_product(parts[i].begin(), parts[i].end(), parts[j].begin(), 0.0);
      out[i * slots + i] = variance(state, i, k);
    }
  }

  /// Each root is that of I + U'D U, as far as rounding lets it be; factors to come are 0 so far.
  void check(const State<W>& state) const {
    const Blocks<W>& blocks = state.blocks;
    const auto capacity = static_cast<std::size_t>(blocks.capacity());
    const std::size_t planes = blocks.planes().size();
    for (int k = 0; k < blocks.columns(); ++k) {
      const TriangularRoot& root = root_of(state, k);
      const std::size_t n = root.size;
      if (n > 2 * rank_ - 1) SavedState::refuse("factors", "has a number out of range");
      std::vector<double> gram(n * n, 0), u(n);
      for (std::size_t a = 0; a < n; ++a) gram[a * n + a] = 1;
      for (std::size_t slot = 0; slot <= blocks.features(); ++slot) {
        read_factors(state, slot, k, u);
        const W* const cell = blocks.cell(slot, k);
        for (std::size_t p = 2 + average_ + n; p < planes; ++p)
          if (cell[p * capacity] != 0) SavedState::refuse("blocks", "has a factor too many");
        for (std::size_t a = 0; a < n; ++a)
          for (std::size_t b = 0; b < n; ++b)
            gram[a * n + b] += diagonal(state, slot, k) * u[a] * u[b];
      }
      const std::vector<double> square = root.square();
      double trace = 0;
      for (std::size_t a = 0; a < n; ++a) trace += gram[a * n + a];
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
          const double own = std::sqrt(gram[a * n + a]) * std::sqrt(gram[b * n + b]);
          if (!(std::abs(square[a * n + b] - gram[a * n + b]) <= 1e-6 * own + 1e-12 * trace))
            SavedState::refuse("factor_roots", "is not the root of its factors");
        }
    }
  }

  /// Features have gone, and their part in U'D U with them.
  void after_forgetting(State<W>& state) const {
    for (int k = 0; k < state.blocks.columns(); ++k) {
      const TriangularRoot& root = root_of(state, k);
      const double trace =
          std::inner_product(root.cells.begin(), root.cells.end(), root.cells.begin(), 0.0);
      renew_root(state, k, std::vector<double>(root.size, trace));
    }
  }

 private:
  static auto& root_of(auto& state, int k) {
    return FactorRoots::of(state).columns[static_cast<std::size_t>(k)];
  }
  const W* cells(const State<W>& state, std::size_t slot, int k) const {
    return state.blocks.cell(slot, k);
  }
  double diagonal(const State<W>& state, std::size_t slot, int k) const {
    return cells(state, slot, k)[state.blocks.capacity()];
  }
  std::size_t first_factor(const State<W>& state) const {
    return (2 + average_) * static_cast<std::size_t>(state.blocks.capacity());
  }
  /// A slot's part in the first factors, as many as `out` is long.
  void read_factors(const State<W>& state, std::size_t slot, int k,
                    std::vector<double>& out) const {
    const W* cell = cells(state, slot, k) + first_factor(state);
    for (double& value : out) {
      value = *cell;
      cell += state.blocks.capacity();
    }
  }
  /// d*L^-1 u of one slot: products of these are what the factors take from Sigma.
  std::vector<double> whitened_slot(const State<W>& state, std::size_t slot, int k) const {
    std::vector<double> part(root_of(state, k).size);
    read_factors(state, slot, k, part);
    root_of(state, k).forward(part);
    for (double& value : part) value *= diagonal(state, slot, k);
    return part;
  }

  /// x'Sigma x = x'D x - |y|^2, y = L^-1 U'D x. Where rounding has eaten it up, what rounding can
  /// tell: never 0 but for a row of zeros.
  double variance_of(const State<W>& state, const Row<W>& row, int k,
                     std::vector<double>& y) const {
    const std::size_t offset = first_factor(state), capacity = state.blocks.capacity();
    double separate = 0;
    y.assign(root_of(state, k).size, 0);
    for_values(row, [&](std::size_t slot, double x) {
      const double dx = diagonal(state, slot, k) * x;
      separate += x * dx;
      const W* factor = cells(state, slot, k) + offset;
      for (std::size_t a = 0; a < y.size(); ++a) y[a] += dx * factor[a * capacity];
    });
    root_of(state, k).forward(y);
    double taken = 0;
    for (const double part : y) taken += part * part;
    return std::max(separate - taken, Base::rounding * separate);
  }

  /// Sigma*x = D x - D U L'^-1 y, for all features.
  void multiply(const State<W>& state, const Row<W>& row, int k) {
    std::vector<double> w = whitened_[k];
    root_of(state, k).backward(w);
    const std::size_t offset = first_factor(state), capacity = state.blocks.capacity();
    std::vector<double>& product = products_[k];
    product.assign(state.blocks.features() + 1, 0);
    for_values(row, [&](std::size_t slot, double x) { product[slot] = x; });
    for (std::size_t slot = 0; slot < product.size(); ++slot) {
      const W* factor = cells(state, slot, k) + offset;
      double sum = product[slot];
      for (std::size_t a = 0; a < w.size(); ++a) sum -= w[a] * factor[a * capacity];
      product[slot] = sum * diagonal(state, slot, k);
    }
  }

  /// The precision grows by kappa*z*z'. With many classes at once the class's own block shrinks as
  /// that of the joint covariance does, whose v holds the rival's, too.
  void append(State<W>& state, const Row<W>& row, const Move& m, double own_v) const {
    const int k = m.column;
    const double kappa = 1 / (1 / m.other + std::max(0.0, m.v - own_v));
    double separate = 0;
    for_values(row,
               [&](std::size_t slot, double x) { separate += x * x * diagonal(state, slot, k); });
    const double root = std::sqrt(std::min(kappa, most_growth / separate));
    const std::size_t f = root_of(state, k).size;
    const std::size_t offset = first_factor(state), capacity = state.blocks.capacity();
    std::vector<double> cross(f, 0);
    double own = 1;
    for_values(row, [&](std::size_t slot, double x) {
      W* factor = state.blocks.cell(slot, k) + offset;
      factor[f * capacity] = static_cast<W>(root * x);
      const double u = factor[f * capacity], du = diagonal(state, slot, k) * u;
      own += u * du;
      for (std::size_t a = 0; a < f; ++a) cross[a] += du * factor[a * capacity];
    });
    root_of(state, k).append(std::move(cross), own);
    if (f + 1 == 2 * rank_) compress(state, k);
  }

  /// To the principal axes of D^(1/2) U, of which the longest stay.
  void compress(State<W>& state, int k) const {
    const std::size_t f = root_of(state, k).size;
    std::vector<double> gram = root_of(state, k).square();
    for (std::size_t a = 0; a < f; ++a) gram[a * f + a] -= 1;
    EigenSystem axes = eigen_system(std::move(gram), f);
    const std::size_t offset = first_factor(state), capacity = state.blocks.capacity();
    std::vector<double> before(f);
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot) {
      read_factors(state, slot, k, before);
      if (std::all_of(before.begin(), before.end(), [](double u) { return u == 0; })) continue;
      W* cell = state.blocks.cell(slot, k);
      double rest = 0;  // of the precision
      for (std::size_t a = 0; a < f; ++a) {
        const double u =
            std::inner_product(before.begin(), before.end(), axes.vectors.begin() + a * f, 0.0);
        if (a >= rank_) rest += u * u;
        cell[offset + a * capacity] = a < rank_ ? static_cast<W>(u) : W{0};
      }
      const double d = cell[capacity];
      cell[capacity] = static_cast<W>(std::max(Base::smallest_variance, d / (1 + d * rest)));
    }
    axes.values.resize(rank_);
    renew_root(state, k, axes.values);
  }

  /// L anew for the first factors, whose squares (weighed by D) sum up to at most `bounds`. On a
  /// grid that is coarse enough for that, additions are exact, and so their order does not matter.
  void renew_root(State<W>& state, int k, const std::vector<double>& bounds) const {
    const std::size_t f = bounds.size();
    if (f == 0) return;  // a column that has learned nothing yet
    const double least = 1e-12 * *std::max_element(bounds.begin(), bounds.end()) + 1e-200;
    std::vector<double> gram(f * f, 0), grid(f * f), u(f);
    for (std::size_t a = 0; a < f; ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        const double bound =
            std::sqrt(std::max(bounds[a], least)) * std::sqrt(std::max(bounds[b], least));
        grid[a * f + b] = 1.5 * std::exp2(std::ceil(std::log2(4 * bound)));
      }
    for (std::size_t slot = 0; slot <= state.blocks.features(); ++slot) {
      read_factors(state, slot, k, u);
      const double d = diagonal(state, slot, k);
      for (std::size_t a = 0; a < f; ++a) {
        if (u[a] == 0) continue;
        for (std::size_t b = 0; b <= a; ++b)
          gram[a * f + b] += (d * u[a] * u[b] + grid[a * f + b]) - grid[a * f + b];
      }
    }
    TriangularRoot root;
    for (std::size_t a = 0; a < f; ++a)
      root.append({gram.begin() + a * f, gram.begin() + a * f + a}, 1 + gram[a * f + a]);
    root_of(state, k) = std::move(root);
  }

  /// By how much one step may multiply the precision along its row: where confidence ends. More
  /// could not be told from rounding errors in L.
  static constexpr double most_growth = 1e12;

  std::size_t rank_ = 1;
  std::vector<std::vector<double>> whitened_, products_;  ///< of the row at hand, a column
};

}  // namespace yarrow
