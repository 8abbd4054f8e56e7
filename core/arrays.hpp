#pragma once
// Arrays as rows: CSR and dense, any number type, borrowed and never copied as a whole. The common
// case (int32 indices, values of the weight's type, nothing to repair) hands out the caller's own
// memory; every other row is converted into scratch.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "duplicates.hpp"
#include "row.hpp"

namespace yarrow {

enum class NumberType { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Numbers in someone else's memory.
struct Numbers {
  const char* data = nullptr;
  NumberType type = NumberType::f64;
  std::ptrdiff_t step = 0;  ///< bytes from one number to the next
};

/// Calls f with a value of the C++ type that `type` names.
template <class F>
decltype(auto) with_type(NumberType type, F f) {
  switch (type) {
    case NumberType::f32: return f(float{});
    case NumberType::f64: return f(double{});
    case NumberType::i8: return f(std::int8_t{});
    case NumberType::i16: return f(std::int16_t{});
    case NumberType::i32: return f(std::int32_t{});
    case NumberType::i64: return f(std::int64_t{});
    case NumberType::u8: return f(std::uint8_t{});
    case NumberType::u16: return f(std::uint16_t{});
    case NumberType::u32: return f(std::uint32_t{});
    case NumberType::u64: return f(std::uint64_t{});
    default: return f(bool{});
  }
}

template <class V>
V number_at(const char* place) {
  V value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

template <class To>
void convert(const Numbers& from, std::size_t begin, std::size_t n, To* to) {
  with_type(from.type, [&](auto sample) {
    using V = decltype(sample);
    const char* place = from.data + static_cast<std::ptrdiff_t>(begin) * from.step;
    if (from.step == sizeof(V))
      for (std::size_t i = 0; i < n; ++i, place += sizeof(V))
        to[i] = static_cast<To>(number_at<V>(place));
    else
      for (std::size_t i = 0; i < n; ++i, place += from.step)
        to[i] = static_cast<To>(number_at<V>(place));
  });
}

/// What a look at many values found, after rounding to W.
struct Findings {
  bool bad = false;   ///< NaN, infinity, or too large for W
  bool zero = false;  ///< a zero among the values
};

template <class W>
Findings look(const Numbers& values, std::size_t n) {
  return with_type(values.type, [&](auto sample) {
    using V = decltype(sample);
    bool bad = false, zero = false;
    const char* place = values.data;
    for (std::size_t i = 0; i < n; ++i, place += values.step) {
      const W value = static_cast<W>(number_at<V>(place));
      if constexpr (std::is_floating_point_v<V>)
        bad |= !(std::abs(value) <= std::numeric_limits<W>::max());
      zero |= value == 0;
    }
    return Findings{bad, zero};
  });
}

template <class W>
[[noreturn]] void throw_bad_value(double value, std::int64_t row, std::int64_t column) {
  const std::string place =
      " at row " + std::to_string(row) + ", column " + std::to_string(column) + ".";
  if (std::isnan(value)) throw Error("Input X contains NaN" + place);
  if (std::isinf(value)) throw Error("Input X contains infinity" + place);
  throw Error("Input X contains a value too large for dtype('float32')" + place);
}

/// Rows by number. validate() throws for the first bad value before any row is handed out.
template <class W>
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::size_t values() const = 0;  ///< an upper bound on the values of all rows together
  virtual void validate() = 0;
  virtual Row<W> row(std::int64_t i) = 0;  ///< valid until the next call
};

template <class W>
class DenseRows final : public RowSource<W> {
 public:
  DenseRows(Numbers cells, std::int64_t rows, std::int64_t columns, std::ptrdiff_t row_step)
      : cells_(cells), rows_(rows), columns_(columns), row_step_(row_step) {
    dense_.resize(columns);
    index_.resize(columns);
    value_.resize(columns);
  }

  std::int64_t rows() const override { return rows_; }
  std::size_t values() const override { return static_cast<std::size_t>(rows_ * columns_); }

  void validate() override {
    for (std::int64_t i = 0; i < rows_; ++i)
      if (look<W>(at(i), columns_).bad) {
        std::vector<double> given(columns_);
        convert(at(i), 0, columns_, given.data());
        for (std::int64_t j = 0; j < columns_; ++j)
          if (!(std::abs(given[j]) <= std::numeric_limits<W>::max()))
            throw_bad_value<W>(given[j], i, j);
        throw Error("Input X contains a value too large for dtype('float32').");
      }
  }

  Row<W> row(std::int64_t i) override {
    convert(at(i), 0, columns_, dense_.data());
    std::size_t n = 0;
    for (std::int64_t j = 0; j < columns_; ++j) {
      index_[n] = static_cast<Index>(j);
      value_[n] = dense_[j];
      n += dense_[j] != 0;
    }
    return {index_.data(), value_.data(), n};
  }

 private:
  Numbers at(std::int64_t i) const {
    return {cells_.data + i * row_step_, cells_.type, cells_.step};
  }

  Numbers cells_;
  std::int64_t rows_, columns_;
  std::ptrdiff_t row_step_;
  std::vector<W> dense_, value_;
  std::vector<Index> index_;
};

template <class W>
class SparseRows final : public RowSource<W> {
 public:
  SparseRows(Numbers begins, Numbers indices, Numbers values, std::int64_t rows,
             std::int64_t columns)
      : indices_(indices), values_(values), rows_(rows), columns_(columns), begins_(rows + 1) {
    convert(begins, 0, begins_.size(), begins_.data());
    for (std::int64_t i = 0; i < rows; ++i)
      if (begins_[i] < 0 || begins_[i] > begins_[i + 1])
        throw Error("Input X is damaged: row " + std::to_string(i) + " ends before it begins.");
  }

  std::int64_t rows() const override { return rows_; }
  std::size_t values() const override { return static_cast<std::size_t>(begins_[rows_]); }

  void validate() override {
    with_type(indices_.type, [&](auto sample) {
      if constexpr (std::is_same_v<decltype(sample), std::int32_t> ||
                    std::is_same_v<decltype(sample), std::int64_t>)
        validate_indices<decltype(sample)>();
      else
        throw Error("The indices of a sparse matrix must be int32 or int64.");
    });
    const Findings found = look<W>(values_, values());
    repair_ |= found.zero;
    if (found.bad) throw_first_bad_value();
    direct_ = !repair_ && indices_.type == NumberType::i32 &&
              values_.type == (sizeof(W) == 4 ? NumberType::f32 : NumberType::f64);
  }

  Row<W> row(std::int64_t i) override {
    const std::size_t begin = begins_[i];
    std::size_t n = begins_[i + 1] - begins_[i];
    if (direct_)
      return {reinterpret_cast<const Index*>(indices_.data) + begin,
              reinterpret_cast<const W*>(values_.data) + begin, n};
    if (n > index_.size()) {
      index_.resize(n);
      value_.resize(n);
    }
    convert(indices_, begin, n, index_.data());
    convert(values_, begin, n, value_.data());
    if (repair_) n = merger_.merge(index_.data(), value_.data(), drop_zeros(n));
    return {index_.data(), value_.data(), n};
  }

 private:
  template <class I>
  void validate_indices() {
    const I* index = reinterpret_cast<const I*>(indices_.data);
    bool ascending = true;
    for (std::int64_t i = 0; i < rows_; ++i) {
      bool outside = false;
      I last = -1;
      for (std::int64_t j = begins_[i]; j < begins_[i + 1]; ++j) {
        outside |= index[j] < 0 || index[j] >= columns_;
        ascending &= index[j] > last;
        last = index[j];
      }
      if (outside)
        throw Error("Input X has a column index outside 0.." + std::to_string(columns_ - 1) +
                    " in row " + std::to_string(i) + ".");
    }
    repair_ = !ascending;  // then an index may stand twice
  }

  std::size_t drop_zeros(std::size_t n) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      index_[kept] = index_[i];
      value_[kept] = value_[i];
      kept += value_[i] != 0;
    }
    return kept;
  }

  void throw_first_bad_value() {
    std::vector<double> given;
    std::vector<std::int64_t> column;
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::size_t n = begins_[i + 1] - begins_[i];
      given.resize(n);
      column.resize(n);
      convert(values_, begins_[i], n, given.data());
      convert(indices_, begins_[i], n, column.data());
      for (std::size_t j = 0; j < n; ++j)
        if (!(std::abs(given[j]) <= std::numeric_limits<W>::max()))
          throw_bad_value<W>(given[j], i, column[j]);
    }
    throw Error("Input X contains a value too large for dtype('float32').");
  }

  Numbers indices_, values_;
  std::int64_t rows_, columns_;
  std::vector<std::int64_t> begins_;
  bool repair_ = false, direct_ = false;
  std::vector<Index> index_;
  std::vector<W> value_;
  DuplicateMerger merger_;
};

/// Another source with its columns renumbered by `map`; columns mapped to -1 are left out.
template <class W>
class MappedRows final : public RowSource<W> {
 public:
  MappedRows(RowSource<W>& source, std::vector<Index> map, bool may_collide)
      : source_(source), map_(std::move(map)), may_collide_(may_collide) {}

  std::int64_t rows() const override { return source_.rows(); }
  std::size_t values() const override { return source_.values(); }
  void validate() override { source_.validate(); }

  Row<W> row(std::int64_t i) override {
    const Row<W> given = source_.row(i);
    index_.resize(given.size);
    value_.resize(given.size);
    std::size_t n = 0;
    for (std::size_t j = 0; j < given.size; ++j) {
      index_[n] = map_[given.index[j]];
      value_[n] = given.value[j];
      n += index_[n] >= 0;
    }
    if (may_collide_) n = merger_.merge(index_.data(), value_.data(), n);
    return {index_.data(), value_.data(), n};
  }

 private:
  RowSource<W>& source_;
  std::vector<Index> map_;
  bool may_collide_;
  std::vector<Index> index_;
  std::vector<W> value_;
  DuplicateMerger merger_;
};

}  // namespace yarrow
