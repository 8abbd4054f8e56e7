// Amounts by row and column, most of them nothing: how often an activity (a column) has met a word
// or how long it was at a resource (the rows). Every minute the activity recogniser asks what a few
// rows say about all columns, so that is summed here from scratch, and nothing needs to be kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "error.hpp"

namespace yarrow {

class Amounts {
 public:
  using Number = std::int32_t;  // of a row or a column

  struct Entry {
    Number column;
    double amount;  // above zero
  };

  struct Row {
    std::vector<Entry> entries;  // in the order of columns
    double total = 0;
  };

  std::size_t size() const { return rows_.size(); }

  const Row& row(Number number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= rows_.size())
      throw Error("There is no row " + std::to_string(number) + ".");
    return rows_[static_cast<std::size_t>(number)];
  }

  double at(Number number, Number column) const {
    const Row& found = row(number);
    const auto place = std::ranges::lower_bound(found.entries, column, {}, &Entry::column);
    return place != found.entries.end() && place->column == column ? place->amount : 0;
  }

  // Adds to an amount, which does not fall below zero. Rows up to a new one come into being.
  void add(Number number, Number column, double amount) {
    if (number < 0 || column < 0) throw Error("Rows and columns are counted from 0.");
    if (static_cast<std::size_t>(number) >= rows_.size())
      rows_.resize(static_cast<std::size_t>(number) + 1);
    Row& changed = rows_[static_cast<std::size_t>(number)];
    auto& entries = changed.entries;
    auto place = std::ranges::lower_bound(entries, column, {}, &Entry::column);
    if (place == entries.end() || place->column != column)
      place = entries.insert(place, {column, 0});
    const double sum = std::max(place->amount + amount, 0.0);
    changed.total += sum - place->amount;
    place->amount = sum;
    if (sum == 0) entries.erase(place);
  }

  // Moves all amounts of a column to another.
  void merge(Number column, Number into) {
    for (std::size_t number = 0; number < rows_.size(); ++number) {
      const auto from = static_cast<Number>(number);
      const double amount = at(from, column);
      if (amount == 0) continue;
      add(from, column, -amount);
      add(from, into, amount);
    }
  }

  // out[column] += share * amount / (total + more), over some rows and their shares.
  void add_shares(std::span<const Number> rows, std::span<const double> shares, double more,
                  std::span<double> out) const {
    same_length(rows, shares);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& said = row(rows[i]);
      fits(said, out.size());
      const double weight = shares[i] / (said.total + more);
      for (const Entry& e : said.entries) out[index(e)] += weight * e.amount;
    }
  }

  // For row i of some: values[i][column] = log(total + 1) - log(total - amount + 1), whole numbers
  // all; and sum[column] += factor[i] * values[i][column]. Values are zeros at first.
  void add_rarities(std::span<const Number> rows, std::span<const double> factors,
                    std::span<double> values, std::span<double> sum) {
    same_length(rows, factors);
    if (values.size() != rows.size() * sum.size()) throw Error("Each row needs its values.");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& said = row(rows[i]);
      fits(said, sum.size());
      const auto all = static_cast<std::size_t>(said.total) + 1;
      know_logarithms(all);
      double* value = values.data() + i * sum.size();
      for (const Entry& e : said.entries) {
        const std::size_t column = index(e);
        value[column] = logarithms_[all] - logarithms_[all - static_cast<std::size_t>(e.amount)];
        sum[column] += factors[i] * value[column];
      }
    }
  }

 private:
  static std::size_t index(const Entry& entry) { return static_cast<std::size_t>(entry.column); }

  static void same_length(std::span<const Number> rows, std::span<const double> numbers) {
    if (rows.size() != numbers.size()) throw Error("Each row needs its number.");
  }

  static void fits(const Row& row, std::size_t columns) {
    if (!row.entries.empty() && index(row.entries.back()) >= columns)
      throw Error("There are more columns than the result has.");
  }

  // The logarithms of 0 (never used), 1, 2, ... up to this number and beyond.
  void know_logarithms(std::size_t up_to) {
    if (logarithms_.size() > up_to) return;
    const std::size_t known = logarithms_.size();
    logarithms_.resize(2 * up_to + 2);
    for (std::size_t n = known; n < logarithms_.size(); ++n)
      logarithms_[n] = std::log(static_cast<double>(std::max<std::size_t>(n, 1)));
  }

  std::vector<Row> rows_;
  std::vector<double> logarithms_;
};

}  // namespace yarrow
