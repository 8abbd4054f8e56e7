#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "data/name_list.hpp"
#include "data/row.hpp"
#include "error.hpp"
#include "text/number.hpp"

namespace yarrow {

// A text that parsers may read past by kMargin bytes in either direction.
class TextBuffer {
 public:
  static constexpr std::size_t kMargin = 64;
  std::size_t size = 0;

  char* data() { return memory_.data() + kMargin; }
  const char* data() const { return memory_.data() + kMargin; }
  std::size_t capacity() const { return memory_.empty() ? 0 : memory_.size() - 2 * kMargin; }
  void reserve(std::size_t capacity) { memory_.resize(capacity + 2 * kMargin); }
  void assign(std::string_view text) {
    reserve(text.size());
    size = text.copy(data(), text.size());
  }

 private:
  Buffer<char> memory_;
};

// Rows that a parser made from one piece of text. Features are either numbered, or named: then
// `index` is the place of a name in a list, and whoever learns turns names into numbers in the
// order of rows. Labels and tags point into the block and live as long as its content.
template <class W>
struct RowBlock {
  Buffer<std::int64_t> begin;  // rows + 1 places in index and value
  Buffer<Index> index;         // a feature's number, or the place of its name
  Buffer<W> value;
  std::shared_ptr<const NameList> names;  // null where features are numbered
  Index name_count = 0;                   // every place in this block is below
  bool has_missing = false;               // some value may be NaN

  std::vector<double> label;                 // NaN when the label is text or absent
  std::vector<std::string_view> label_text;  // as written; empty when absent
  std::vector<double> weight;                // importance, 1 by default
  std::vector<std::string_view> tag;         // empty, or missing at the end, where rows have none
  std::vector<std::uint32_t> line;           // of each row, counted from 0 at the block's start

  std::size_t first_line = 1;          // in the whole stream, of the block's first line
  std::size_t lines = 0;               // in this block, rows or not
  std::size_t skipped = 0;             // broken lines left out
  std::vector<ParseError> complaints;  // the first few of those
  std::optional<ParseError> failure;   // the broken line that ended the block

  TextBuffer text;  // what was parsed: whole lines, each with its line feed
  TextArena arena;  // texts that do not stand there as they are

  // Makes it one without rows, whose text stays.
  void clear() {
    begin.assign(1, 0);
    index.clear();
    value.clear();
    names.reset();
    name_count = 0;
    has_missing = false;
    label.clear();
    label_text.clear();
    weight.clear();
    tag.clear();
    line.clear();
    lines = skipped = 0;
    complaints.clear();
    failure.reset();
    arena.clear();
  }

  // Adds a feature, whose number or place number() tells, to the row at hand unless its value is 0;
  // false if the value is too large.
  template <class Number>
  bool add(double given, Number number) {
    const W rounded = static_cast<W>(given);
    if (!std::isfinite(rounded)) return false;
    if (rounded == 0) return true;
    index.push_back(number());
    value.push_back(rounded);
    return true;
  }

  // The value of a feature is missing, which is NaN to those who tell that from 0.
  void add_missing(Index number) {
    index.push_back(number);
    value.push_back(std::numeric_limits<W>::quiet_NaN());
    has_missing = true;
  }

  // Ends the row whose features stand before `end`.
  void add_row(std::size_t end, double number, std::string_view text_of_label, double importance) {
    begin.push_back(static_cast<std::int64_t>(end));
    label.push_back(number);
    label_text.push_back(text_of_label);
    weight.push_back(importance);
    line.push_back(static_cast<std::uint32_t>(lines));
  }

  // Whatever stands behind the last finished row: duplicates, or a line that turned out broken.
  void drop_unfinished_row() {
    const auto size = static_cast<std::size_t>(begin.back());
    value.resize(size);
    index.resize(size);
  }

  std::size_t rows() const { return label.size(); }
  bool named() const { return names != nullptr; }
  Name name(std::size_t j) const { return (*names)[index[j]]; }
  bool has_label(std::size_t i) const { return !label_text[i].empty(); }
  bool has_text_label(std::size_t i) const { return has_label(i) && std::isnan(label[i]); }
  // Whether the label is written as an integer that the number in `label` may not be: beyond 2^53.
  bool has_large_label(std::size_t i) const {
    if (!(std::abs(label[i]) >= last_exact_integer)) return false;
    std::string_view digits = label_text[i];
    if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) digits.remove_prefix(1);
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  }
  std::size_t line_number(std::size_t i) const { return first_line + line[i]; }
  Row<W> row(std::size_t i) const {
    return {index.data() + begin[i], value.data() + begin[i],
            static_cast<std::size_t>(begin[i + 1] - begin[i])};
  }
};

}  // namespace yarrow
