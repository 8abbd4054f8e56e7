// Counts by row and column, most of them nothing: how often an activity (a column) has met a word
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

class Counts {
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
    if (!std::isfinite(amount)) throw Error("An amount must be finite.");
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

  // out[column] += share * amount / (total + more).
  void add_share(Number number, double share, double more, std::span<double> out) const {
    const Row& said = fitting(number, out.size());
    const double weight = share / (said.total + more);
    for (const Entry& e : said.entries) out[index(e)] += weight * e.amount;
  }

  // Where there is an amount (all are whole numbers), values[column] = log(total + 1) -
  // log(total - amount + 1), and sum[column] += factor * values[column].
  void add_rarity(Number number, double factor, std::span<double> values, std::span<double> sum) {
    const Row& said = fitting(number, std::min(values.size(), sum.size()));
    const auto all = static_cast<std::size_t>(said.total) + 1;
    know_logarithms(all);
    for (const Entry& e : said.entries) {
      const double value = logarithms_[all] - logarithms_[all - static_cast<std::size_t>(e.amount)];
      values[index(e)] = value;
      sum[index(e)] += factor * value;
    }
  }

 private:
  static std::size_t index(const Entry& entry) { return static_cast<std::size_t>(entry.column); }

  const Row& fitting(Number number, std::size_t columns) const {
    const Row& found = row(number);
    if (!found.entries.empty() && index(found.entries.back()) >= columns)
      throw Error("There are more columns than the result has.");
    return found;
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
