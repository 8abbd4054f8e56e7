#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "data/row.hpp"
#include "simd/reductions.hpp"
#include "state/blocks.hpp"
#include "state/calibration.hpp"
#include "state/extension.hpp"

namespace yarrow {

/// Counts of rows: one thread learns and counts, others may look without waiting for it.
inline void add_to_count(double& count, double more) {
  std::atomic_ref(count).store(count + more, std::memory_order_relaxed);
}
inline double read_count(double& count) {
  return std::atomic_ref(count).load(std::memory_order_relaxed);
}

/// An upper bound on the size of stored numbers. It lets a loop refuse, before it writes anything,
/// the update that would make a weight infinite, at the price of one addition a row.
struct Bound {
  double value = 0;

  /// Of a stored number, as long as nobody needs a narrower limit; |w|^2 is a number, too.
  template <class W>
  static constexpr double most = std::min<double>(std::numeric_limits<W>::max() / 16, 1e150);

  /// Of a stored number of which a weight is made that is `factor` times as large.
  template <class W>
  static double most_behind(double factor) {
    return factor > 1 ? most<W> / factor : most<W>;
  }

  template <class W, class ExactMaximum>
  void admit(double growth, ExactMaximum exact_maximum, double limit = most<W>) {
    double now = value;
    if (!(now + growth < limit)) {
      now = exact_maximum();
      if (!(now + growth < limit)) refuse();
    }
    value = now + growth;
  }
  [[noreturn]] static void refuse() {
    throw Error("this row's update overflows the weights; scale the features or the step down");
  }

  /// Whether numbers of this size may stand behind it; rounding may have carried them a bit beyond.
  bool covers(double largest) const { return largest <= 2 * value; }
};

/// The numbers of one column that are not per feature; a loop uses those it needs.
struct Column {
  double scale = 1;      ///< affine: the weight is scale * stored; mirror: reference;
                         ///< elastic: stored is scale * weight
  double ww = 0;         ///< affine: |w|^2, intercept included; mirror: total
  double scale_sum = 0;  ///< averaging, elastic: scales since the last folding, summed
  double updates = 0;    ///< how often the column moved
  double memory = 0;     ///< what the rule keeps; top1 has one problem and uses the first column's
  double restarts = 0;   ///< how often its variances were set back to the prior
};

/// The numbers of a state that are not per feature.
struct Scalars {
  std::vector<Column> columns;

  double t = 0;         ///< rows learned
  double updates = 0;   ///< rows that changed a class's weights
  double mistakes = 0;  ///< rows that were predicted wrongly before they were learned
  int classes = 0;      ///< classes seen
  double penalty = 0;   ///< proximal: the cumulative penalty after row t
  double shrink = 1;    ///< proximal: weights are stored times this (elastic net)
  Bound weight_bound, sum_bound;
  Calibration calibration;
};

/// The features of the rows learned so far, as long as they are few. Most classes appear early, and
/// then a new column concerns these features only, however many there are.
struct Touched {
  static constexpr std::size_t most = std::size_t{1} << 16;
  std::vector<Index> features;  ///< with repetitions
  bool overflowed = false;

  bool is_known() const { return !overflowed; }

  void forget() {
    overflowed = true;
    features = {};
  }

  template <class W>
  void add(const Row<W>& row) {
    if (overflowed) return;
    features.insert(features.end(), row.index, row.index + row.size);
    if (features.size() > most) forget();
  }
};

/// Everything a model has learned, and all that saving must keep. Copying it is a checkpoint.
template <class W>
struct State : Scalars {
  explicit State(Blocks<W> b) : blocks(std::move(b)) { columns.resize(blocks.columns()); }

  Blocks<W> blocks;
  OwnedExtension extension;  ///< what only this learner's loop keeps, if it keeps something
  Touched touched;
  std::function<void()> before_all_change;  ///< told before more changes than a row's features
  std::function<void(std::span<const Index>)> before_change;  ///< or of which features, if few

  void tell_before_change(std::span<const Index> features) const {
    if (before_change) before_change(features);
  }

  /// One more column: a fresh one (`from` < 0), or a copy of another, perhaps its mirror image.
  void add_column(int from, bool mirrored) {
    const int to = blocks.columns();
    if (extension) extension->add_column(from, mirrored);  // may be refused
    blocks.add_column();
    columns.push_back(from < 0 ? Column{} : Column(columns[from]));
    if (from < 0) columns.back().scale_sum = t;  // a fresh column had scale 1 so far
    if (from < 0) return;
    const auto copy = [&](std::size_t slot) { blocks.copy_column(slot, from, to, mirrored); };
    // Features that no row has touched hold the same initial values in all columns.
    copy(0);
    if (touched.is_known())
      for (const Index f : touched.features) copy(f + std::size_t{1});
    else
      for (std::size_t slot = 1; slot <= blocks.features(); ++slot) copy(slot);
  }

  void reserve_columns(int columns) { blocks.reserve_columns(columns); }

  void truncate_columns(int columns) {
    blocks.truncate_columns(columns);
    this->columns.resize(columns);
    if (extension) extension->truncate_columns(columns);
  }

  void grow_features(std::size_t features) {
    if (extension) extension->grow_features(features);  // may be refused
    blocks.grow_features(features);
  }

  void truncate_features(std::size_t features) {
    if (features < blocks.features()) touched.forget();
    if (extension) extension->truncate_features(features);
    blocks.truncate_features(features);
  }

  /// Keep the listed features only, renumbered in that (ascending) order.
  void keep_features(const std::vector<Index>& keep) {
    keep_blocks(keep);
    if (extension) extension->keep_features(keep);
  }

  /// Whether a feature may be forgotten and come back as it is.
  bool is_fresh(Index feature) const {
    return blocks.is_fresh(feature) && (!extension || extension->is_fresh(feature));
  }

  /// The same, where all others are fresh: nothing else is forgotten, and their room is given back.
  void drop_fresh(const std::vector<Index>& keep) {
    if (extension) extension->drop_fresh(keep);
    keep_blocks(keep);
    blocks.shrink();
  }

  double largest(std::size_t plane) const {
    double most = 0;
    const W* cells = blocks.data() + plane * blocks.capacity();
    for (std::size_t slot = 0; slot <= blocks.features(); ++slot, cells += blocks.stride())
      for (int k = 0; k < blocks.columns(); ++k)
        most = std::max(most, std::abs(static_cast<double>(cells[k])));
    return most;
  }

 private:
  void keep_blocks(const std::vector<Index>& keep) {
    touched.forget();
    blocks.keep_features(keep);
  }
};

/// What walks over a row find out: per column z.w and, where somebody asked, z'Sigma z, for z = x;
/// and |x|^2. A loop of one column may also note the weight at each place of the row.
struct Scores {
  std::vector<double> score, variance;
  double xx = 0;
  Buffer<double> weights;
  Buffer<double> sums;  ///< of columns, before scales and the constant

  void resize(std::size_t columns) {
    if (score.size() == columns) return;
    score.assign(columns, 0);
    variance.assign(columns, 0);
  }
};

/// Scores with the weights as `loop` settles them: the slow and general way.
template <class Loop, class W>
void score_by_weight(const Loop& loop, const State<W>& state, const Row<W>& row, Scores& out) {
  out.resize(state.blocks.columns());
  for (int k = 0; k < state.blocks.columns(); ++k) {
    out.score[k] = out.variance[k] = 0;
    for (std::size_t i = 0; i < row.size; ++i)
      out.score[k] += row.value[i] * loop.weight(state, row.index[i] + std::size_t{1}, k);
    out.score[k] += loop.intercept() * loop.weight(state, 0, k);
  }
}

/// Why a row has its score in a column: what each of its values adds, and what the constant one.
struct Parts {
  std::vector<double> values;  ///< by place in the row
  double constant = 0;
  bool add_up = true;  ///< to the score; if not, each is what the score would lose without it
  /// Where others are explained than those of the row that was given: whose values they are.
  std::vector<Index> features;

  template <class W>
  Parts&& of(const Row<W>& explained) && {
    features.assign(explained.index, explained.index + explained.size);
    return std::move(*this);
  }
};

/// The parts that `part(slot, value)` tells.
template <class W, class Part>
Parts parts_of(const Row<W>& row, double intercept, Part part) {
  Parts parts;
  for (std::size_t i = 0; i < row.size; ++i)
    parts.values.push_back(part(row.index[i] + std::size_t{1}, static_cast<double>(row.value[i])));
  parts.constant = part(std::size_t{0}, intercept);
  return parts;
}

/// How one column moves: by `add` times the (whitened) row; `other` is a, kappa or nothing.
struct Move {
  int column;
  double add, other;
  double v;  ///< z'Sigma z of the whole signed example
};

}  // namespace yarrow
