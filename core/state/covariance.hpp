#pragma once
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "error.hpp"
#include "state/blocks.hpp"
#include "state/extension.hpp"

namespace yarrow {

/// sums[j] += x*from[j] for many vectors, four at a time so that the sums are loaded and stored
/// less often; each sum takes its terms in the order given.
class FourVectors {
 public:
  FourVectors(double* sums, std::size_t n) : sums_(sums), n_(n) {}

  void add(const double* from, double x) {
    from_[held_] = from;
    x_[held_] = x;
    if (++held_ == 4) add_four(sums_, n_, x_, from_[0], from_[1], from_[2], from_[3]);
    held_ %= 4;
  }

  void finish() {
    for (int h = 0; h < held_; ++h) add_one(sums_, n_, x_[h], from_[h]);
    held_ = 0;
  }

  static void add_four(double* __restrict sums, std::size_t n, const double* x, const double* a,
                       const double* b, const double* c, const double* d) {
    const double xa = x[0], xb = x[1], xc = x[2], xd = x[3];
    for (std::size_t j = 0; j < n; ++j)
      sums[j] = sums[j] + xa * a[j] + xb * b[j] + xc * c[j] + xd * d[j];
  }

 private:
  static void add_one(double* __restrict sums, std::size_t n, double x, const double* from) {
    for (std::size_t j = 0; j < n; ++j) sums[j] += x * from[j];
  }

  double* sums_;
  std::size_t n_;
  const double* from_[4];
  double x_[4];
  int held_ = 0;
};

/// The covariance of one column's weights, a symmetric matrix over all slots (0: the intercept), in
/// double whatever the weights are: in single precision it is no longer positive once features are
/// nearly collinear. It only ever shrinks, by `Sigma -= h h'`. Such steps wait in a queue and are
/// worked in together, so that the matrix passes through memory once for many of them; whoever
/// reads it takes the queue into account. The variances, the matrix's diagonal, are kept apart and
/// always up to date, as sums of positive terms where the difference would cancel.
///
/// A cell's value depends on the steps alone, not on how features are numbered, and the matrix is
/// symmetric to the bit.
class CovarianceMatrix {
 public:
  static constexpr std::size_t queue_length = 16;

  explicit CovarianceMatrix(double initial) : initial_(initial) {}
  CovarianceMatrix(const CovarianceMatrix& other) { *this = other; }
  CovarianceMatrix(CovarianceMatrix&&) noexcept = default;
  CovarianceMatrix& operator=(CovarianceMatrix&&) noexcept = default;
  CovarianceMatrix& operator=(const CovarianceMatrix& other) {
    initial_ = other.initial_;
    reserve(other.slots_, other);
    return *this;
  }

  std::size_t slots() const { return slots_; }
  std::size_t queued() const { return queued_; }
  const double* variance() const { return vector(0); }
  const double* queue(std::size_t k) const { return vector(1 + k); }
  const double* row(std::size_t slot) const { return vector(1 + queue_length + slot); }

  /// New slots are independent of the others and have the initial variance.
  void grow(std::size_t slots) {
    if (slots <= slots_) return;
    if (slots > capacity_) reserve(std::max(slots, capacity_ + capacity_ / 4), *this);
    for (std::size_t v = 0; v < 1 + queue_length + slots_; ++v)
      std::fill(vector(v) + slots_, vector(v) + slots, v == 0 ? initial_ : 0);
    for (std::size_t slot = slots_; slot < slots; ++slot) {
      std::fill_n(cells(slot), slots, 0.0);
      cells(slot)[slot] = initial_;
    }
    slots_ = slots;
  }

  void truncate(std::size_t slots) { slots_ = std::min(slots_, slots); }

  /// Keeps the listed features (slots 1 + feature) and the intercept, in that ascending order.
  void keep_features(const std::vector<Index>& keep) {
    const auto compact = [&](double* values) {
      for (std::size_t to = 0; to < keep.size(); ++to) values[to + 1] = values[keep[to] + 1];
    };
    for (std::size_t v = 0; v < 2 + queue_length; ++v) compact(vector(v));  // the intercept's, too
    for (std::size_t to = 0; to < keep.size(); ++to) {
      std::memmove(cells(to + 1), cells(keep[to] + 1), slots_ * sizeof(double));
      compact(cells(to + 1));
    }
    slots_ = keep.size() + 1;
  }

  /// Sigma -= h h', and the variances become those given.
  void shrink(const double* h, const double* variances) {
    std::copy_n(variances, slots_, vector(0));
    for (std::size_t slot = 0; slot < slots_; ++slot) cells(slot)[slot] = variances[slot];
    std::copy_n(h, slots_, vector(1 + queued_));
    if (++queued_ == queue_length) work_in_queue();
  }

  /// One number of Sigma as of now.
  double at(std::size_t i, std::size_t j) const {
    if (i == j) return variance()[i];
    double value = row(i)[j];
    for (std::size_t k = 0; k < queued_; ++k) value -= queue(k)[i] * queue(k)[j];
    return value;
  }

  /// Sigma as of now, `slots` x `slots`.
  void copy_to(double* out) const {
    for (std::size_t i = 0; i < slots_; ++i)
      for (std::size_t j = 0; j < slots_; ++j) *out++ = at(i, j);
  }

  // What a model file keeps: the vectors, and the lower triangle of the matrix.
  static std::size_t saved_size(std::size_t slots) {
    return (1 + queue_length) * slots + slots * (slots + 1) / 2;
  }
  void save(std::vector<double>& to) const {
    for (std::size_t v = 0; v <= queue_length; ++v)
      if (v <= queued_)
        to.insert(to.end(), vector(v), vector(v) + slots_);
      else
        to.insert(to.end(), slots_, 0.0);
    for (std::size_t i = 0; i < slots_; ++i) to.insert(to.end(), row(i), row(i) + i + 1);
  }
  void restore(const double* from, std::size_t slots, std::size_t queued) {
    truncate(0);
    grow(slots);
    queued_ = queued;
    for (std::size_t v = 0; v <= queue_length; ++v, from += slots)
      std::copy_n(from, slots, vector(v));
    for (std::size_t i = 0; i < slots; ++i)
      for (std::size_t j = 0; j <= i; ++j) cells(i)[j] = cells(j)[i] = *from++;
  }

 private:
  const double* vector(std::size_t v) const { return memory_.get() + v * capacity_; }
  double* vector(std::size_t v) { return memory_.get() + v * capacity_; }
  double* cells(std::size_t slot) { return vector(1 + queue_length + slot); }

  /// New memory, with what another (or this one) holds.
  void reserve(std::size_t capacity, const CovarianceMatrix& from) {
    capacity = (capacity + 7) / 8 * 8;
    auto memory = allocate<double>((1 + queue_length + capacity) * capacity);
    for (std::size_t v = 0; from.slots_ > 0 && v < 1 + queue_length + from.slots_; ++v)
      std::copy_n(from.vector(v), from.slots_, memory.get() + v * capacity);
    memory_ = std::move(memory);
    capacity_ = capacity;
    slots_ = from.slots_;
    queued_ = from.queued_;
  }

  void work_in_queue() {
    for (std::size_t i = 0; i < slots_; ++i) {
      FourVectors four(cells(i), slots_);
      for (std::size_t k = 0; k < queue_length; ++k)
        if (queue(k)[i] != 0) four.add(queue(k), -queue(k)[i]);
      four.finish();
      cells(i)[i] = variance()[i];
    }
    queued_ = 0;
    for (std::size_t v = 1; v <= queue_length; ++v) std::fill_n(vector(v), slots_, 0.0);
  }

  double initial_ = 1;
  std::size_t slots_ = 0, capacity_ = 0, queued_ = 0;
  std::shared_ptr<double[]> memory_;  ///< variances, queue, matrix: vectors of `capacity_` numbers
};

/// Variances only ever shrink, or go back to what all began with; loops rely on it, up to a factor
/// of 16, to see an overflow coming (`Bound`). What is beyond that is a rounding error, or the
/// floor.
inline double most_variance(double initial) { return 8 * std::max(initial, 1e-30); }

inline std::string bytes_in_words(double bytes) {
  char text[32];
  if (bytes < 1e6)
    std::snprintf(text, sizeof text, "%.1f kB", bytes / 1e3);
  else if (bytes < 1e9)
    std::snprintf(text, sizeof text, "%.1f MB", bytes / 1e6);
  else
    std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  return text;
}

/// The full covariances of a state, one a column. They may take a stated number of bytes; what
/// would need more is refused before anything changes.
class Covariances final : public ExtensionOf<Covariances> {
 public:
  Covariances(int columns, double initial, double most_bytes)
      : initial_(initial),
        most_bytes_(most_bytes),
        columns_(static_cast<std::size_t>(columns), CovarianceMatrix(initial)) {
    grow_features(0);
  }

  CovarianceMatrix& operator[](int column) { return columns_[column]; }
  const CovarianceMatrix& operator[](int column) const { return columns_[column]; }

  bool is_copied_for_undo() const override { return false; }  // before_all_change is told

  void grow_features(std::size_t features) override {
    const std::size_t slots = features + 1;
    if (slots <= slots_) return;
    admit(columns_.size(), slots);
    try {
      for (CovarianceMatrix& matrix : columns_) matrix.grow(slots);
    } catch (...) {  // out of memory: all or none
      for (CovarianceMatrix& matrix : columns_) matrix.truncate(slots_);
      throw;
    }
    slots_ = slots;
  }

  void truncate_features(std::size_t features) override {
    if (features + 1 >= slots_) return;
    slots_ = features + 1;
    for (CovarianceMatrix& matrix : columns_) matrix.truncate(slots_);
  }

  void keep_features(const std::vector<Index>& keep) override {
    for (CovarianceMatrix& matrix : columns_) matrix.keep_features(keep);
    slots_ = keep.size() + 1;
  }
  bool is_fresh(Index) const override { return false; }  // nobody looks

  /// A mirror image has the same covariance.
  void add_column(int from, bool /*mirrored*/) override {
    admit(columns_.size() + 1, slots_);
    CovarianceMatrix matrix = from < 0 ? CovarianceMatrix(initial_) : columns_[from];
    matrix.grow(slots_);
    columns_.push_back(std::move(matrix));
  }
  void truncate_columns(int columns) override {
    columns_.resize(columns, CovarianceMatrix(initial_));
  }

  std::size_t bytes() const override {
    return columns_.size() * (1 + CovarianceMatrix::queue_length + slots_) * slots_ *
           sizeof(double);
  }

  void save(const ArrayWriter& put) const override {
    std::vector<double> matrices, queued;
    for (const CovarianceMatrix& matrix : columns_) {
      matrix.save(matrices);
      queued.push_back(static_cast<double>(matrix.queued()));
    }
    put("covariances", std::move(matrices), columns_.size(), CovarianceMatrix::saved_size(slots_));
    put("covariances_queued", std::move(queued));
  }

  /// Of what stands beside the variances only the size is looked at: a step adds to it no more than
  /// the variances allow.
  void restore(SavedState& from, std::size_t features, std::size_t columns) override {
    const std::size_t slots = features + 1, size = CovarianceMatrix::saved_size(slots);
    const double most = most_variance(initial_), any = 1e6 * std::max(most, std::sqrt(most));
    const auto queued =
        from.values<double>("covariances_queued", {columns},
                            Range::count(static_cast<double>(CovarianceMatrix::queue_length - 1)));
    const auto matrices = from.values<double>("covariances", {columns, size}, {-any, any});
    admit(columns, slots);
    columns_.assign(columns, CovarianceMatrix(initial_));
    slots_ = slots;
    for (std::size_t k = 0; k < columns; ++k) {
      const double* const own = matrices.data() + k * size;  // the variances come first
      if (!std::all_of(own, own + slots, [=](double v) { return v > 0 && v <= most; }))
        SavedState::refuse("covariances", "has a variance out of range");
      columns_[k].restore(own, slots, static_cast<std::size_t>(queued[k]));
    }
  }

 private:
  void admit(std::size_t columns, std::size_t slots) const {
    const double bytes = static_cast<double>(columns) * static_cast<double>(slots) *
                         static_cast<double>(1 + CovarianceMatrix::queue_length + slots) *
                         sizeof(double);
    if (bytes <= most_bytes_) return;
    throw Error("the full covariance of " + std::to_string(slots - 1) + " features would take " +
                bytes_in_words(bytes) +
                (columns > 1 ? " in " + std::to_string(columns) + " matrices" : std::string()) +
                ", more than the " + bytes_in_words(most_bytes_) +
                " allowed; use covariance='factored' or 'diagonal', or fewer features");
  }

  double initial_, most_bytes_;
  std::size_t slots_ = 0;
  std::vector<CovarianceMatrix> columns_;
};

}  // namespace yarrow
