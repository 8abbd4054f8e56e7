#pragma once
// Arrays as rows: CSR and dense, any number type, any order of memory, borrowed and never copied as
// a whole. Some rows at a time are converted and looked at, all their values in one go, into memory
// that stays in the cache until they are learned. Where the caller's own memory holds what a row
// needs (int32 indices, values of the weight's type, nothing to repair), that is handed out.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "data/duplicates.hpp"
#include "data/numbers.hpp"
#include "data/row.hpp"
#include "error.hpp"

namespace yarrow {

/// Some rows, fit to be learned, and the memory of those that had to be made so.
template <class W>
class RowBatch {
 public:
  static constexpr std::size_t most_rows = 256, most_values = 8192;  ///< but one row at least

  std::vector<Row<W>> rows;
  DuplicateMerger merger;

  /// How many of the rows listed make a batch; an empty one, with room for their values. -1 in the
  /// list is an empty row.
  template <class Size>
  std::size_t start(std::span<const std::int64_t> places, Size size_of) {
    std::size_t count = 0, values = 0;
    for (; count < places.size(); ++count) {
      const std::size_t more = places[count] < 0 ? 0 : size_of(places[count]);
      if (count > 0 && values + more > most_values) break;
      values += more;
    }
    clear(values);
    return count;
  }
  void clear(std::size_t values) {
    rows.clear();
    used_ = 0;
    if (values <= index_.size()) return;
    index_.resize(values);
    value_.resize(values);
  }

  Index* index() { return index_.data() + used_; }  ///< the room that is left
  W* value() { return value_.data() + used_; }
  void take(std::size_t n) { used_ += n; }

  /// The batch of which this one is made, where it is made of another.
  RowBatch& given() {
    if (!given_) given_ = std::make_unique<RowBatch>();
    return *given_;
  }

 private:
  Buffer<Index> index_;
  Buffer<W> value_;
  std::size_t used_ = 0;
  std::unique_ptr<RowBatch> given_;
};

/// Where an array keeps its rows, so that their memory can be asked for before they are read.
struct RowMemory {
  const char *values = nullptr, *indices = nullptr;
  std::size_t value_bytes = 0, index_bytes = 0;  ///< of a number; of a whole row if dense
  std::ptrdiff_t row_step = 0;                   ///< of dense rows
  const std::int64_t* begins = nullptr;          ///< of sparse rows

  /// Sparse rows that stand behind each other may be asked for together.
  [[gnu::always_inline]] void ask(std::int64_t row, std::int64_t rows) const {
    if (!begins) return ask(values + row * row_step, value_bytes);
    const std::int64_t begin = begins[row], n = begins[row + rows] - begin;
    ask(values + begin * value_bytes, n * value_bytes);
    ask(indices + begin * index_bytes, n * index_bytes);
  }

 private:
  /// Of a long row the beginning: the rest would drive out what is read before it.
  [[gnu::always_inline]] static void ask(const char* first, std::size_t bytes) {
    constexpr std::size_t line = 64, most = 1 << 14;
    for (std::size_t at = 0; at < std::min(bytes, most); at += line) __builtin_prefetch(first + at);
  }
};

/// Rows by number. One that is not fit to be learned throws, and names the place.
template <class W>
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual RowMemory memory() const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::size_t values() const = 0;  ///< an upper bound on the values of all rows together
  /// Reads the rows listed, as many as make a batch; -1 stands for an empty one.
  virtual void read(std::span<const std::int64_t> places, RowBatch<W>& out) const = 0;
};

/// The rows of a source in the order in which they are wanted, read ahead by the batch.
template <class W>
class RowCursor {
 public:
  /// In their own order if `order` is null. Rows of weight 0 are not looked at, and empty.
  RowCursor(const RowSource<W>& source, std::int64_t begin, std::int64_t end,
            const std::int64_t* order = nullptr, const double* weights = nullptr)
      : source_(source),
        memory_(source.memory()),
        begin_(begin),
        end_(end),
        order_(order),
        weights_(weights),
        asked_(memory_.begins && !order ? 2 : 1) {}

  /// Row i, which lives until one behind its batch is asked for; i never falls.
  [[gnu::always_inline]] const Row<W>& operator[](std::int64_t i) {
    while (static_cast<std::size_t>(i - begin_) >= batch_.rows.size()) read_on();
    return batch_.rows[static_cast<std::size_t>(i - begin_)];
  }
  /// The rows from i on that have been read already, i itself at least. Whoever learns or predicts
  /// it gives memory the time to fetch a row of the next batch, which else would wait for it.
  [[gnu::always_inline]] std::span<const Row<W>> from(std::int64_t i) {
    const Row<W>* const row = &(*this)[i];
    const auto read = static_cast<std::int64_t>(batch_.rows.size());
    if (const std::int64_t later = i + read;
        memory_.values && later < end_ && (later & (asked_ - 1)) == 0)
      memory_.ask(order_ ? order_[later] : later, std::min(asked_, end_ - later));
    return {row, batch_.rows.data() + read};
  }

 private:
  [[gnu::noinline]] void read_on() {
    begin_ += static_cast<std::int64_t>(batch_.rows.size());
    std::int64_t places[RowBatch<W>::most_rows];
    const auto count =
        static_cast<std::size_t>(std::min<std::int64_t>(RowBatch<W>::most_rows, end_ - begin_));
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t i = begin_ + static_cast<std::int64_t>(k), place = order_ ? order_[i] : i;
      places[k] = weights_ && weights_[place] == 0 ? -1 : place;
    }
    source_.read({places, count}, batch_);
  }

  const RowSource<W>& source_;
  const RowMemory memory_;
  std::int64_t begin_, end_;  ///< of the batch; of all
  const std::int64_t* order_;
  const double* weights_;
  const std::int64_t asked_;  ///< rows asked for at once, since where each ends is guessed wrong
  RowBatch<W> batch_;
};

/// Rows of an array: those listed that stand behind each other are read at once.
template <class W, class Self>
class ArraySource : public RowSource<W> {
 public:
  void read(std::span<const std::int64_t> places, RowBatch<W>& out) const final {
    const Self& self = static_cast<const Self&>(*this);
    places = places.first(out.start(places, [&](std::int64_t row) { return self.size(row); }));
    for (std::size_t k = 0, end; k < places.size(); k = end) {
      end = k + 1;
      while (places[k] >= 0 && end < places.size() && places[end] == places[end - 1] + 1) ++end;
      if (places[k] < 0)
        out.rows.push_back({nullptr, nullptr, 0});
      else
        with_number_loops([&](auto loops) { self.read_run(loops, places[k], end - k, out); });
    }
  }
};

/// What becomes of NaN. Where it stands for a value that is missing, a row has no feature there, or
/// keeps it for a learner that tells it from 0.
enum class Missing { refused, left_out, kept };

/// Whether a value may be given.
template <class W>
bool is_fit(W value, Missing missing) {
  return std::isfinite(value) || (missing != Missing::refused && std::isnan(value));
}
template <class W>
bool are_fit(const W* value, std::size_t n, Missing missing) {
  return std::all_of(value, value + n, [=](W x) { return is_fit(x, missing); });
}

/// Says which of the values, as they were given, is the bad one.
template <class W>
[[noreturn]] void throw_bad_value(const Numbers& given, std::size_t n, std::int64_t row,
                                  Missing missing, auto column_of) {
  std::vector<double> values(n);
  convert(given, n, values.data());
  for (std::size_t j = 0; j < n; ++j) {
    if (is_fit(static_cast<W>(values[j]), missing)) continue;
    const std::string place =
        " at row " + std::to_string(row) + ", column " + std::to_string(column_of(j));
    if (std::isnan(values[j]))
      throw Error("Input X contains NaN" + place +
                  ": give a frame, in which it means a missing value, or put a number there.");
    if (std::isinf(values[j])) throw Error("Input X contains infinity" + place + ".");
    throw Error("Input X contains a value too large for dtype('float32')" + place + ".");
  }
  throw Error("Input X changed while it was read.");
}

template <class W>
class DenseRows final : public ArraySource<W, DenseRows<W>> {
 public:
  DenseRows(Numbers cells, std::int64_t rows, std::int64_t columns, std::ptrdiff_t row_step,
            Missing missing = Missing::refused)
      : cells_(cells),
        rows_(rows),
        columns_(columns),
        row_step_(row_step),
        missing_(missing),
        all_(columns_) {
    std::iota(all_.begin(), all_.end(), 0);
    const auto bytes = with_type(cells.type, [](auto x) { return std::ptrdiff_t{sizeof x}; });
    is_whole_ = cells.step == bytes || columns_ == 1;
    has_whole_columns_ = row_step == bytes;
    goes_on_ = is_whole_ && row_step == bytes * columns;
    is_direct_ = is_whole_ && cells.type == type_of<W> &&
                 reinterpret_cast<std::uintptr_t>(cells.data) % alignof(W) == 0 &&
                 row_step % static_cast<std::ptrdiff_t>(alignof(W)) == 0;
  }

  RowMemory memory() const override {
    if (!is_whole_) return {};  // a column's numbers are asked for where it is turned into rows
    const auto bytes = with_type(cells_.type, [](auto x) { return sizeof x; });
    return {.values = cells_.data, .value_bytes = columns_ * bytes, .row_step = row_step_};
  }
  std::int64_t rows() const override { return rows_; }
  std::size_t values() const override { return static_cast<std::size_t>(rows_) * columns_; }

  std::size_t size(std::int64_t) const { return columns_; }

  void read_run(auto loops, std::int64_t first, std::size_t rows, RowBatch<W>& out) const {
    const std::size_t n = rows * columns_;
    const W* value = out.value();
    auto step = static_cast<std::ptrdiff_t>(columns_);
    bool ordinary = true;
    if (is_direct_) {
      value = reinterpret_cast<const W*>(at(first).data);
      step = row_step_ / static_cast<std::ptrdiff_t>(sizeof(W));
      ordinary = (rows == 1 || goes_on_) && loops.are_ordinary(value, n);
    } else if (is_whole_) {
      const std::size_t once = goes_on_ ? rows : 1;
      for (std::size_t r = 0; r < rows; r += once)
        ordinary &= loops.convert_ordinary(at(first + static_cast<std::int64_t>(r)),
                                           once * columns_, out.value() + r * columns_);
    } else {
      transpose(loops, first, rows, out.value());
      ordinary = loops.are_ordinary(value, n);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const W* const cells = value + static_cast<std::ptrdiff_t>(r) * step;
      out.rows.push_back(ordinary || loops.are_ordinary(cells, columns_)
                             ? Row<W>{all_.data(), cells, columns_, true}
                             : without_zeros(first + static_cast<std::int64_t>(r), cells, out));
      out.take(columns_);
    }
  }

 private:
  Numbers at(std::int64_t row) const {
    return {cells_.data + row * row_step_, cells_.type, cells_.step};
  }

  /// Columns are read as far as a batch goes, since their neighbours may be in other rows.
  void transpose(auto loops, std::int64_t first, std::size_t rows, W* to) const {
    if (has_whole_columns_) return loops.transpose(at(first), cells_.step, rows, columns_, to);
    for (std::size_t j = 0; j < columns_; ++j)
      convert({at(first).from(static_cast<std::ptrdiff_t>(j)).data, cells_.type, row_step_}, rows,
              to + j, columns_);
  }

  [[gnu::noinline]] Row<W> without_zeros(std::int64_t row, const W* cells, RowBatch<W>& out) const {
    if (!are_fit(cells, columns_, missing_))
      throw_bad_value<W>(at(row), columns_, row, missing_, [](std::size_t j) { return j; });
    const std::size_t n = drop_zeros(all_.data(), cells, columns_, out.index(), out.value(),
                                     missing_ == Missing::left_out);
    return {out.index(), out.value(), n};
  }

  Numbers cells_;
  std::int64_t rows_;
  std::size_t columns_;
  std::ptrdiff_t row_step_;
  Missing missing_;
  bool is_whole_;           ///< the cells of a row stand side by side
  bool has_whole_columns_;  ///< the cells of a column do
  bool goes_on_;            ///< a row begins where the one before it ends
  bool is_direct_;          ///< a row without zeros needs nothing but its indices
  std::vector<Index> all_;
};

template <class W>
class SparseRows final : public ArraySource<W, SparseRows<W>> {
 public:
  SparseRows(Numbers begins, Numbers indices, Numbers values, std::int64_t rows,
             std::int64_t columns, Missing missing = Missing::refused)
      : indices_(indices),
        values_(values),
        rows_(rows),
        columns_(columns),
        missing_(missing),
        begins_(rows + 1) {
    convert(begins, begins_.size(), begins_.data());
    for (std::int64_t i = 0; i < rows; ++i)
      if (begins_[i] < 0 || begins_[i] > begins_[i + 1])
        throw Error("Input X is damaged: row " + std::to_string(i) + " ends before it begins.");
    if (indices.type != NumberType::i32 && indices.type != NumberType::i64)
      throw Error("The indices of a sparse matrix must be int32 or int64.");
    const auto is_aligned = [](const Numbers& numbers, std::size_t bytes) {
      return reinterpret_cast<std::uintptr_t>(numbers.data) % bytes == 0;
    };
    lends_indices_ = indices.type == NumberType::i32 && is_aligned(indices, alignof(Index));
    lends_values_ = values.type == type_of<W> && is_aligned(values, alignof(W));
  }

  RowMemory memory() const override {
    return {.values = values_.data,
            .indices = indices_.data,
            .value_bytes = static_cast<std::size_t>(values_.step),
            .index_bytes = static_cast<std::size_t>(indices_.step),
            .begins = begins_.data()};
  }
  std::int64_t rows() const override { return rows_; }
  std::size_t values() const override { return static_cast<std::size_t>(begins_[rows_]); }

  std::size_t size(std::int64_t row) const {
    return static_cast<std::size_t>(begins_[row + 1] - begins_[row]);
  }

  void read_run(auto loops, std::int64_t first, std::size_t rows, RowBatch<W>& out) const {
    const std::int64_t begin = begins_[first];
    const auto end = first + static_cast<std::int64_t>(rows);
    const auto n = static_cast<std::size_t>(begins_[end] - begin);
    const Index* index = out.index();
    const W* value = out.value();
    bool fits = true, ordinary;
    if (lends_indices_)
      index = reinterpret_cast<const Index*>(indices_.data) + begin;
    else if (indices_.type == NumberType::i64)
      fits = loops.narrow(indices_.from(begin).data, n, out.index());
    else
      convert(indices_.from(begin), n, out.index());
    if (lends_values_) {
      value = reinterpret_cast<const W*>(values_.data) + begin;
      ordinary = loops.are_ordinary(value, n);
    } else {
      ordinary = loops.convert_ordinary(values_.from(begin), n, out.value());
    }
    constexpr std::int64_t largest = std::numeric_limits<Index>::max();
    const IndexCheck found =
        loops.check_indices(index, n, static_cast<Index>(std::min(columns_ - 1, largest)));
    if (!fits || !found.in_range) throw_bad_index(first, end);
    const bool ascends = found.falls == falls_between(first, end, index);
    const std::size_t before = out.rows.size();
    out.rows.resize(before + rows);
    Row<W>* to = out.rows.data() + before;
    const std::int64_t* const begins = begins_.data() + first;
    for (std::size_t i = 0; i < rows; ++i)
      to[i] = {index + (begins[i] - begin), value + (begins[i] - begin),
               static_cast<std::size_t>(begins[i + 1] - begins[i])};
    if (ordinary && ascends) return out.take(n);
    for (std::int64_t i = first; i < end; ++i, ++to) {
      const std::size_t size = to->size;
      const bool is_fit = (ordinary || loops.are_ordinary(to->value, size)) &&
                          (ascends || !out.merger.may_repeat(to->index, size, columns_));
      if (!is_fit) *to = repaired(i, *to, out);
      out.take(size);
    }
  }

 private:
  /// How often a row begins with an index that is not above the one before it.
  std::size_t falls_between(std::int64_t first, std::int64_t end, const Index* index) const {
    std::size_t falls = 0;
    for (std::int64_t i = first + 1; i < end; ++i) {
      const std::int64_t at = begins_[i] - begins_[first];
      if (size(i - 1) > 0 && begins_[i] < begins_[end]) falls += index[at] <= index[at - 1];
    }
    return falls;
  }

  /// The row without zeros, and with repeated indices summed, if that is all that is wrong with it.
  [[gnu::noinline]] Row<W> repaired(std::int64_t row, const Row<W>& given, RowBatch<W>& out) const {
    if (!are_fit(given.value, given.size, missing_)) throw_bad_value(row, given.index);
    Index* const index = out.index();
    W* const value = out.value();
    std::size_t kept = drop_zeros(given.index, given.value, given.size, index, value,
                                  missing_ == Missing::left_out);
    kept = out.merger.merge(index, value, kept);
    for (std::size_t i = 0; i < kept; ++i)
      if (!is_fit(value[i], missing_))
        throw Error("The values of column " + std::to_string(index[i]) + " in row " +
                    std::to_string(row) + " have too large a sum.");
    return {index, value, kept};
  }

  [[noreturn]] void throw_bad_value(std::int64_t row, const auto* index) const {
    yarrow::throw_bad_value<W>(values_.from(begins_[row]), size(row), row, missing_,
                               [&](std::size_t at) { return index[at]; });
  }

  /// Of what is wrong in some rows the first, where an index is.
  [[noreturn]] void throw_bad_index(std::int64_t first, std::int64_t end) const {
    for (std::int64_t row = first; row < end; ++row) {
      std::vector<std::int64_t> index(size(row));
      std::vector<W> value(size(row));
      convert(indices_.from(begins_[row]), index.size(), index.data());
      convert(values_.from(begins_[row]), value.size(), value.data());
      for (std::size_t j = 0; j < index.size(); ++j) {
        if (index[j] < 0 || index[j] >= columns_)
          throw Error("Input X has a column index outside 0.." + std::to_string(columns_ - 1) +
                      " in row " + std::to_string(row) + ".");
        if (!std::isfinite(value[j])) throw_bad_value(row, index.data());
      }
    }
    throw Error("Input X changed while it was read.");
  }

  Numbers indices_, values_;
  std::int64_t rows_, columns_;
  Missing missing_;
  std::vector<std::int64_t> begins_;
  bool lends_indices_, lends_values_;  ///< they are as a row has them
};

/// Another source with its columns renumbered by `map`; columns mapped to -1 are left out.
template <class W>
class MappedRows final : public RowSource<W> {
 public:
  MappedRows(const RowSource<W>& source, std::vector<Index> map, bool may_collide)
      : source_(source), map_(std::move(map)), may_collide_(may_collide) {}

  RowMemory memory() const override { return source_.memory(); }
  std::int64_t rows() const override { return source_.rows(); }
  std::size_t values() const override { return source_.values(); }

  void read(std::span<const std::int64_t> places, RowBatch<W>& out) const override {
    const std::vector<Row<W>>& given = out.given().rows;
    source_.read(places, out.given());
    std::size_t values = 0;
    for (const Row<W>& row : given) values += row.size;
    out.clear(values);
    for (const Row<W>& row : given) {
      Index* const index = out.index();
      W* const value = out.value();
      std::size_t n = 0;
      for (std::size_t j = 0; j < row.size; ++j) {
        index[n] = map_[row.index[j]];
        value[n] = row.value[j];
        n += index[n] >= 0;
      }
      if (may_collide_) n = out.merger.merge(index, value, n);
      out.rows.push_back({index, value, n});
      out.take(row.size);
    }
  }

 private:
  const RowSource<W>& source_;
  std::vector<Index> map_;
  bool may_collide_;
};

}  // namespace yarrow
