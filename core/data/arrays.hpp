#pragma once
// Arrays as rows: CSR and dense, any number type, borrowed and never copied as a whole. The common
// case (int32 indices, values of the weight's type, nothing to repair) hands out the caller's own
// memory; every other row is converted into scratch.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "data/duplicates.hpp"
#include "data/row.hpp"

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
    case NumberType::f32:
      return f(float{});
    case NumberType::f64:
      return f(double{});
    case NumberType::i8:
      return f(std::int8_t{});
    case NumberType::i16:
      return f(std::int16_t{});
    case NumberType::i32:
      return f(std::int32_t{});
    case NumberType::i64:
      return f(std::int64_t{});
    case NumberType::u8:
      return f(std::uint8_t{});
    case NumberType::u16:
      return f(std::uint16_t{});
    case NumberType::u32:
      return f(std::uint32_t{});
    case NumberType::u64:
      return f(std::uint64_t{});
    default:
      return f(bool{});
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

/// Whether a comparison of vectors holds at any place.
[[gnu::always_inline]] inline bool any(const auto& mask) {
  std::uint64_t parts[sizeof mask / 8], all = 0;
  std::memcpy(parts, &mask, sizeof mask);
  for (const std::uint64_t part : parts) all |= part;
  return all != 0;
}

/// Whether a row can be learned as it stands: values finite and not zero, indices ascending (then
/// none stands twice, and the ends tell the range). Without an early end, four places at a time;
/// the last four may overlap those before, because a short loop of its own costs more.
template <class W>
[[gnu::always_inline]] inline bool is_plain(const Index* index, const W* value, std::size_t n) {
  typedef W Values __attribute__((vector_size(4 * sizeof(W)), aligned(alignof(W)), may_alias));
  typedef Index Places __attribute__((vector_size(4 * sizeof(Index)), aligned(4), may_alias));
  constexpr auto is_ordinary = [](W x) { return x != 0 && x * 0 == 0; };  // infinity * 0 is NaN
  if (n < 5) {
    bool plain = true;
    for (std::size_t i = 0; i < n; ++i)
      plain &= is_ordinary(value[i]) && (i == 0 || index[i] > index[i - 1]);
    return plain;
  }
  Values nothing{};  // becomes NaN with the first value that is not finite, and stays so
  auto zero = nothing != nothing;
  Places ascending = Places{} == Places{};
  const auto look_at = [&](std::size_t i) {
    const Values x = *reinterpret_cast<const Values*>(value + i);
    nothing += x * 0;
    zero |= x == 0;
    ascending &= *reinterpret_cast<const Places*>(index + i) >
                 *reinterpret_cast<const Places*>(index + i - 1);
  };
  for (std::size_t i = 1; i + 4 <= n; i += 4) look_at(i);
  look_at(n - 4);
  const W sum = (nothing[0] + nothing[1]) + (nothing[2] + nothing[3]);
  return is_ordinary(value[0]) && sum == 0 && !any(zero) && !any(~ascending);
}

/// Rows by number. A row that is not fit to be learned throws, and names the place.
template <class W>
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::size_t values() const = 0;  ///< an upper bound on the values of all rows together
  virtual Row<W> row(std::int64_t i) = 0;  ///< valid until the next call
  /// The row as it is, if it can be seen for nothing, else an empty one: not checked.
  virtual Row<W> peek(std::int64_t) const { return {nullptr, nullptr, 0}; }
};

/// Says which of the values, as they were given, is the bad one.
template <class W>
[[noreturn]] void throw_bad_value(const Numbers& given, std::size_t begin, std::size_t n,
                                  std::int64_t row, auto column_of) {
  std::vector<double> values(n);
  convert(given, begin, n, values.data());
  for (std::size_t j = 0; j < n; ++j) {
    if (std::isfinite(static_cast<W>(values[j]))) continue;
    const std::string place =
        " at row " + std::to_string(row) + ", column " + std::to_string(column_of(j)) + ".";
    if (std::isnan(values[j])) throw Error("Input X contains NaN" + place);
    if (std::isinf(values[j])) throw Error("Input X contains infinity" + place);
    throw Error("Input X contains a value too large for dtype('float32')" + place);
  }
  throw Error("Input X changed while it was read.");
}

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

  Row<W> row(std::int64_t i) override {
    const Numbers given{cells_.data + i * row_step_, cells_.type, cells_.step};
    convert(given, 0, columns_, dense_.data());
    if (!std::all_of(dense_.begin(), dense_.end(), [](W x) { return std::isfinite(x); }))
      throw_bad_value<W>(given, 0, columns_, i, [](std::size_t j) { return j; });
    std::size_t n = 0;
    for (std::int64_t j = 0; j < columns_; ++j) {
      index_[n] = static_cast<Index>(j);
      value_[n] = dense_[j];
      n += dense_[j] != 0;
    }
    return {index_.data(), value_.data(), n};
  }

 private:
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
    if (indices.type != NumberType::i32 && indices.type != NumberType::i64)
      throw Error("The indices of a sparse matrix must be int32 or int64.");
    direct_ = indices.type == NumberType::i32 &&
              values.type == (sizeof(W) == 4 ? NumberType::f32 : NumberType::f64);
  }

  std::int64_t rows() const override { return rows_; }
  std::size_t values() const override { return static_cast<std::size_t>(begins_[rows_]); }

  Row<W> row(std::int64_t i) override {
    const Row<W> given = peek(i);
    return direct_ && is_fit(given) ? given : made_fit(i);
  }

  Row<W> peek(std::int64_t i) const override {
    const std::size_t begin = begins_[i], n = direct_ ? begins_[i + 1] - begins_[i] : 0;
    return {reinterpret_cast<const Index*>(indices_.data) + begin,
            reinterpret_cast<const W*>(values_.data) + begin, n};
  }

 private:
  [[gnu::always_inline]] bool is_fit(const Row<W>& row) const {
    return is_plain(row.index, row.value, row.size) &&
           (row.size == 0 || (row.index[0] >= 0 && row.index[row.size - 1] < columns_));
  }

  [[gnu::noinline]] Row<W> made_fit(std::int64_t i) {
    const std::size_t begin = begins_[i], n = begins_[i + 1] - begins_[i];
    const Row<W> row = direct_ ? peek(i) : copied(begin, n);
    return is_fit(row) ? row : repaired(row, begin, i);
  }

  Row<W> copied(std::size_t begin, std::size_t n) {
    index_.resize(std::max(n, index_.size()));
    value_.resize(std::max(n, value_.size()));
    convert(values_, begin, n, value_.data());
    if (indices_.type == NumberType::i32) {
      convert(indices_, begin, n, index_.data());
    } else {
      const auto* given = reinterpret_cast<const std::int64_t*>(indices_.data) + begin;
      for (std::size_t j = 0; j < n; ++j)  // what does not fit must stay out of range
        index_[j] = given[j] < 0 || given[j] > columns_ ? -1 : static_cast<Index>(given[j]);
    }
    return {index_.data(), value_.data(), n};
  }

  /// The row without zeros, and with repeated indices summed, if that is all that is wrong with it.
  Row<W> repaired(const Row<W>& given, std::size_t begin, std::int64_t row) {
    for (std::size_t j = 0; j < given.size; ++j) {
      if (given.index[j] < 0 || given.index[j] >= columns_)
        throw Error("Input X has a column index outside 0.." + std::to_string(columns_ - 1) +
                    " in row " + std::to_string(row) + ".");
      if (!std::isfinite(given.value[j]))
        throw_bad_value<W>(values_, begin, given.size, row,
                           [&](std::size_t at) { return given.index[at]; });
    }
    copied(begin, given.size);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < given.size; ++i) {
      index_[kept] = index_[i];
      value_[kept] = value_[i];
      kept += value_[i] != 0;
    }
    kept = merger_.merge(index_.data(), value_.data(), kept);
    for (std::size_t i = 0; i < kept; ++i)
      if (!std::isfinite(value_[i]))
        throw Error("The values of column " + std::to_string(index_[i]) + " in row " +
                    std::to_string(row) + " have too large a sum.");
    return {index_.data(), value_.data(), kept};
  }

  Numbers indices_, values_;
  std::int64_t rows_, columns_;
  std::vector<std::int64_t> begins_;
  bool direct_ = false;
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

  Row<W> row(std::int64_t i) override {
    const Row<W> given = source_.row(i);
    if (given.size > index_.size()) {
      index_.resize(given.size);
      value_.resize(given.size);
    }
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
