// Rows of arrays: whatever type, order and place in memory, the same rows come out.
#include "data/arrays.hpp"

#include <cstdio>
#include <random>

#include "check.hpp"

using namespace yarrow;

namespace {

struct Given {
  std::vector<std::int64_t> begins{0}, index;
  std::vector<double> value;
};

/// Rows in no order, whose values every type can hold; one is longer than a batch, some are empty.
Given some_rows(std::int64_t columns, bool has_zeros) {
  std::mt19937 random(1);
  Given given;
  for (int row = 0; row < 700; ++row) {
    const std::int64_t step = 2 * std::int64_t(random() % 50) + 1;  // odd: no index stands twice
    const std::int64_t most = row == 300 ? columns : std::min<std::int64_t>(columns, 40);
    const std::int64_t n = row % 7 == 0 ? 0 : random() % most + (row == 300 ? 1 : 0);
    for (std::int64_t k = 0; k < n; ++k) {
      given.index.push_back(k * step % columns);
      given.value.push_back(double(random() % 9 + (has_zeros ? 0 : 1)));
    }
    given.begins.push_back(std::int64_t(given.index.size()));
  }
  return given;
}

template <class T, class From>
std::vector<char> bytes_of(const std::vector<From>& numbers, std::size_t shift) {
  std::vector<char> bytes(shift + numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const T number = static_cast<T>(numbers[i]);
    std::memcpy(bytes.data() + shift + i * sizeof(T), &number, sizeof number);
  }
  return bytes;
}

template <class W, class V, class I>
void check_sparse(const Given& given, std::int64_t columns, NumberType value, NumberType index,
                  std::size_t shift) {
  const auto values = bytes_of<V>(given.value, shift), indices = bytes_of<I>(given.index, shift);
  const auto begins = bytes_of<std::int64_t>(given.begins, 0);
  const auto rows = static_cast<std::int64_t>(given.begins.size()) - 1;
  const SparseRows<W> source({begins.data(), NumberType::i64, 8},
                             {indices.data() + shift, index, sizeof(I)},
                             {values.data() + shift, value, sizeof(V)}, rows, columns);
  RowCursor<W> cursor(source, 0, rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    const Row<W>& row = cursor[i];
    std::size_t k = 0;
    for (std::int64_t j = given.begins[i]; j < given.begins[i + 1]; ++j) {
      if (given.value[j] == 0) continue;
      CHECK(k < row.size && row.index[k] == given.index[j] && row.value[k] == given.value[j]);
      ++k;
    }
    CHECK(k == row.size);
  }
}

template <class W, class V>
void check_dense(bool has_zeros, NumberType type, bool is_turned, std::size_t shift) {
  constexpr std::int64_t rows = 700, columns = 37;
  std::mt19937 random(2);
  std::vector<double> cells(rows * columns);
  for (double& cell : cells) cell = double(random() % 3 + (has_zeros ? 0 : 1));
  const auto place = [&](std::int64_t i, std::int64_t j) {
    return is_turned ? j * rows + i : i * columns + j;
  };
  const auto bytes = bytes_of<V>(cells, shift);
  const std::ptrdiff_t size = sizeof(V);
  const DenseRows<W> source({bytes.data() + shift, type, is_turned ? rows * size : size}, rows,
                            columns, is_turned ? size : columns * size);
  RowCursor<W> cursor(source, 0, rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    const Row<W>& row = cursor[i];
    CHECK(row.is_dense || has_zeros);
    std::size_t k = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const double cell = cells[place(i, j)];
      if (cell == 0) continue;
      CHECK(k < row.size && row.index[k] == j && row.value[k] == cell);
      ++k;
    }
    CHECK(k == row.size);
  }
}

template <class W>
void check_all() {
  for (const bool zeros : {false, true}) {
    for (const std::int64_t columns : {64, 70'016, 1 << 21}) {
      if (columns > 64 && sizeof(W) == 8) continue;
      const Given given = some_rows(columns, zeros);
      for (const std::size_t shift : {0, 1}) {
        const auto i32 = NumberType::i32, i64 = NumberType::i64;
        check_sparse<W, float, std::int32_t>(given, columns, NumberType::f32, i32, shift);
        check_sparse<W, double, std::int64_t>(given, columns, NumberType::f64, i64, shift);
        check_sparse<W, std::int8_t, std::int32_t>(given, columns, NumberType::i8, i32, shift);
        check_sparse<W, std::uint64_t, std::int64_t>(given, columns, NumberType::u64, i64, shift);
      }
    }
    for (const bool is_turned : {false, true})
      for (const std::size_t shift : {0, 1}) {
        check_dense<W, float>(zeros, NumberType::f32, is_turned, shift);
        check_dense<W, double>(zeros, NumberType::f64, is_turned, shift);
        check_dense<W, std::int64_t>(zeros, NumberType::i64, is_turned, shift);
        check_dense<W, std::uint8_t>(zeros, NumberType::u8, is_turned, shift);
      }
  }
}

void check_repeated() {
  const std::int32_t begins[] = {0, 2, 6}, index[] = {1, 0, 3, 1, 3, 2};
  const double value[] = {1, 2, 0.5, 1, 0.25, 4};
  const auto at = [](const void* data) { return static_cast<const char*>(data); };
  const SparseRows<float> source({at(begins), NumberType::i32, 4}, {at(index), NumberType::i32, 4},
                                 {at(value), NumberType::f64, 8}, 2, 4);
  const std::int64_t order[] = {1, 0, 1};
  RowCursor<float> cursor(source, 0, 3, order);
  CHECK(cursor[0].size == 3 && cursor[0].index[0] == 3 && cursor[0].value[0] == 0.75F);
  CHECK(cursor[1].size == 2 && cursor[1].index[0] == 1);
  CHECK(cursor[2].size == 3 && cursor[2].index[1] == 1);
}

}  // namespace

int main() {
  check_all<float>();
  check_all<double>();
  check_repeated();
  return check::failures();
}
