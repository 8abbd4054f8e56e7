#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "data/hash.hpp"
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

// Memory for texts that stay where they are until clear(); the pages are used again.
class TextArena {
 public:
  char* take(std::size_t size) {
    if (size > static_cast<std::size_t>(limit_ - free_)) next_page(size);
    char* text = free_;
    free_ += size;
    return text;
  }

  // Two texts with a letter between them.
  std::string_view join(std::string_view a, char between, std::string_view b) {
    char* const text = take(a.size() + 1 + b.size());
    *std::copy(a.begin(), a.end(), text) = between;
    std::copy(b.begin(), b.end(), text + a.size() + 1);
    return {text, a.size() + 1 + b.size()};
  }

  void clear() {
    used_ = 0;
    free_ = limit_ = nullptr;
  }

 private:
  struct Page {
    std::unique_ptr<char[]> text;
    std::size_t size;
  };

  void next_page(std::size_t size) {
    while (used_ < pages_.size() && pages_[used_].size < size) ++used_;
    if (used_ == pages_.size()) {
      std::size_t page_size = std::max(size, std::size_t{1} << 16);
      pages_.push_back({std::make_unique_for_overwrite<char[]>(page_size), page_size});
    }
    free_ = pages_[used_].text.get();
    limit_ = free_ + pages_[used_++].size;
  }

  std::vector<Page> pages_;
  std::size_t used_ = 0;
  char* free_ = nullptr;
  char* limit_ = nullptr;
};

// The full name of a feature ("feature", or "namespace^feature") and its hash_text().
struct FeatureName {
  std::string_view text;
  std::uint64_t hash;

  FeatureName() = default;
  explicit FeatureName(std::string_view name)
      : text(name), hash(hash_text(name.data(), name.size())) {}
};

// Rows that a parser made from one piece of text. Features are either numbered (`index` is filled)
// or named (`name` is filled, and whoever learns turns names into numbers in the order of rows);
// names, labels and tags point into the block and live as long as its content.
template <class W>
struct RowBlock {
  Buffer<std::int64_t> begin;  // rows + 1 places in index (or name) and value
  Buffer<Index> index;
  Buffer<W> value;
  std::vector<FeatureName> name;

  std::vector<double> label;                 // NaN when the label is text or absent
  std::vector<std::string_view> label_text;  // as written; empty when absent
  std::vector<double> weight;                // importance, 1 by default
  std::vector<std::string_view> tag;         // empty, or missing at the end, where rows have none
  std::vector<std::uint32_t> line;           // of each row, counted from 0 at the block's start

  std::size_t first_line = 1;         // in the whole stream, of the block's first line
  std::size_t lines = 0;              // in this block, rows or not
  std::size_t skipped = 0;            // broken lines left out
  std::vector<ParseError> mistakes;   // the first few of those
  std::optional<ParseError> failure;  // the broken line that ended the block

  TextBuffer text;  // what was parsed: whole lines, each with its line feed
  TextArena arena;  // names that do not stand in the text as they are

  // Makes it one without rows, whose text stays.
  void clear() {
    begin.assign(1, 0);
    index.clear();
    value.clear();
    name.clear();
    label.clear();
    label_text.clear();
    weight.clear();
    tag.clear();
    line.clear();
    lines = skipped = 0;
    mistakes.clear();
    failure.reset();
    arena.clear();
  }

  // Adds a feature to the row at hand unless its value is 0, by name or, with a mask, by the number
  // that these bits of its hash are; false if the value is too large.
  bool add(const FeatureName& feature, double given, std::uint64_t mask = 0) {
    const W rounded = static_cast<W>(given);
    if (!std::isfinite(rounded)) return false;
    if (rounded == 0) return true;
    value.push_back(rounded);
    if (mask)
      index.push_back(static_cast<Index>(feature.hash & mask));
    else
      name.push_back(feature);
    return true;
  }

  // The value of a feature is missing, which is NaN to those who tell that from 0.
  void add_missing(const FeatureName& feature) {
    value.push_back(std::numeric_limits<W>::quiet_NaN());
    name.push_back(feature);
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
    index.resize(std::min(index.size(), size));
    name.resize(std::min(name.size(), size));
  }

  std::size_t rows() const { return label.size(); }
  bool named() const { return !name.empty(); }
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
