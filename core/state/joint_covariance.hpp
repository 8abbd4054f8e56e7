#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "state/covariance.hpp"

namespace yarrow {

/// One covariance over the weights of all columns together: (columns * slots)^2 numbers. Each
/// weight has a place in the matrix, in the order in which features and columns came, so that the
/// matrix only grows at its end. Files keep it column by column; no number depends on the places.
class JointCovariance final : public ExtensionOf<JointCovariance> {
 public:
  JointCovariance(int columns, double initial, double most_bytes)
      : matrix(initial), initial_(initial), most_bytes_(most_bytes) {
    grow(static_cast<std::size_t>(columns), 1);
  }

  CovarianceMatrix matrix;

  std::size_t place(int column, std::size_t slot) const { return places_[column][slot]; }

  bool is_copied_for_undo() const override { return false; }  // before_all_change is told

  void grow_features(std::size_t features) override {
    grow(places_.size(), std::max(slots_, features + 1));
  }
  /// Columns are never copied: one a class, each of which begins with nothing learned.
  void add_column(int /*from*/, bool /*mirrored*/) override { grow(places_.size() + 1, slots_); }

  void truncate_features(std::size_t features) override {
    slots_ = std::min(slots_, features + 1);
    for (std::vector<std::size_t>& of_column : places_) of_column.resize(slots_);
    cut();
  }
  void truncate_columns(int columns) override {
    places_.resize(columns);
    cut();
  }

  void keep_features(const std::vector<Index>& keep) override {
    slots_ = keep.size() + 1;
    if (places_.empty()) return;
    std::vector<std::size_t> kept;
    for (std::vector<std::size_t>& of_column : places_) {
      for (std::size_t to = 0; to < keep.size(); ++to)
        of_column[to + 1] = of_column[keep[to] + std::size_t{1}];
      of_column.resize(slots_);
      kept.insert(kept.end(), of_column.begin(), of_column.end());
    }
    std::sort(kept.begin(), kept.end());  // place 0, the first column's intercept, stays
    std::vector<Index> others;
    for (std::size_t i = 1; i < kept.size(); ++i) others.push_back(static_cast<Index>(kept[i] - 1));
    matrix.keep_features(others);
    for (std::vector<std::size_t>& of_column : places_)
      for (std::size_t& place : of_column)
        place = static_cast<std::size_t>(std::lower_bound(kept.begin(), kept.end(), place) -
                                         kept.begin());
  }
  bool is_fresh(Index) const override { return false; }  // nobody looks

  std::size_t bytes() const override { return bytes_of(places_.size() * slots_); }

  void save(const ArrayWriter& put) const override {
    std::vector<std::size_t> order;
    for (const std::vector<std::size_t>& of_column : places_)
      order.insert(order.end(), of_column.begin(), of_column.end());
    std::vector<double> numbers;
    const auto put_vector = [&](const double* values) {
      for (const std::size_t place : order) numbers.push_back(values ? values[place] : 0);
    };
    put_vector(matrix.variance());
    for (std::size_t q = 0; q < CovarianceMatrix::queue_length; ++q)
      put_vector(q < matrix.queued() ? matrix.queue(q) : nullptr);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) numbers.push_back(matrix.row(order[i])[order[j]]);
    put("joint_covariance", std::move(numbers));
    put("joint_covariance_queued", std::vector<double>{static_cast<double>(matrix.queued())});
  }

  void restore(SavedState& from, std::size_t features, std::size_t columns) override {
    const std::size_t n = columns * (features + 1), size = CovarianceMatrix::saved_size(n);
    const double most = most_variance(initial_), any = 1e6 * std::max(most, std::sqrt(most));
    const double queued =
        from.values<double>("joint_covariance_queued", {1},
                            Range::count(static_cast<double>(CovarianceMatrix::queue_length - 1)))
            .front();
    const auto numbers = from.values<double>("joint_covariance", {size}, {-any, any});
    if (!std::all_of(numbers.data(), numbers.data() + n,
                     [=](double v) { return v > 0 && v <= most; }))
      SavedState::refuse("joint_covariance", "has a variance out of range");
    places_.clear();
    matrix = CovarianceMatrix(initial_);
    grow(0, features + 1);
    for (std::size_t k = 1; k <= columns; ++k) grow(k, slots_);
    matrix.restore(numbers.data(), n, static_cast<std::size_t>(queued));
  }

 private:
  static std::size_t bytes_of(std::size_t weights) {
    return weights * (1 + CovarianceMatrix::queue_length + weights) * sizeof(double);
  }

  void grow(std::size_t columns, std::size_t slots) {
    const double n = static_cast<double>(columns) * static_cast<double>(slots);
    const double bytes = n * (n + 1 + CovarianceMatrix::queue_length) * sizeof(double);
    if (bytes > most_bytes_)
      throw Error("the joint covariance of " + std::to_string(slots - 1) + " features and " +
                  std::to_string(columns) + " classes would take " + bytes_in_words(bytes) +
                  ", more than the " + bytes_in_words(most_bytes_) +
                  " allowed; use covariance='full', 'factored' or 'diagonal', or fewer features");
    places_.reserve(columns);
    for (std::vector<std::size_t>& of_column : places_) of_column.reserve(slots);
    std::vector<std::vector<std::size_t>> fresh(columns - places_.size());
    for (std::vector<std::size_t>& of_column : fresh) of_column.reserve(slots);
    std::size_t next = matrix.slots();
    matrix.grow(columns * slots);  // nothing is refused from here on
    for (std::vector<std::size_t>& of_column : fresh) places_.push_back(std::move(of_column));
    for (std::vector<std::size_t>& of_column : places_)
      while (of_column.size() < slots) of_column.push_back(next++);
    slots_ = slots;
  }

  /// What came last goes first, so that the places that are left are the first ones, once features
  /// and columns are both as they were.
  void cut() {
    std::size_t end = 0;
    for (const std::vector<std::size_t>& of_column : places_)
      for (const std::size_t place : of_column) end = std::max(end, place + 1);
    matrix.truncate(end);
  }

  double initial_, most_bytes_;
  std::size_t slots_ = 1;
  std::vector<std::vector<std::size_t>> places_;  ///< in the matrix, by column and slot
};

}  // namespace yarrow
