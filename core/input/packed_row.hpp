#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "input/parse.hpp"

namespace yarrow {

// A row as the log of a service holds it, in MessagePack: [{name: value, ...}, label, weight, ...].
//
// As with lines of JSON (parse_json.hpp), what Python would read as the same row is read here, and
// all else, such as names that are integers, is left to Python. The bytes must outlive the block.
template <class W>
class PackedRow {
 public:
  // Adds the row to a block, for all of whose rows `memory` is the same; false, and the block's
  // rows are as they were, if it is unusual.
  static bool add(RowBlock<W>& block, ParserMemory& memory, std::string_view bytes) {
    PackedRow reader(bytes, memory);
    if (reader.read(block)) return true;
    block.drop_unfinished_row();
    return false;
  }

 private:
  PackedRow(std::string_view bytes, ParserMemory& memory) : rest_(bytes), memory_(memory) {}

  bool read(RowBlock<W>& block) {
    const auto fields = count(0x90, 0xdc);
    if (!fields || *fields < 3 || !read_features(block)) return false;
    double label = std::numeric_limits<double>::quiet_NaN();
    std::string_view label_text = "number";
    if (const auto text = string()) {
      label_text = *text;
    } else {
      const bool is_truth = peek() == 0xc2 || peek() == 0xc3;  // a class of its own, not 0 or 1
      const auto number = this->number();
      if (is_truth || !number || std::abs(*number) >= last_exact_integer) return false;
      label = *number;
    }
    const auto weight = number();
    if (label_text.empty() || !weight || !(*weight > 0) || !std::isfinite(*weight)) return false;
    block.add_row(block.value.size(), label, label_text, *weight);
    block.tag.push_back({});
    ++block.lines;
    return true;
  }

  bool read_features(RowBlock<W>& block) {
    const auto size = count(0x80, 0xde);
    if (!size) return false;
    bool has_category = false;
    const std::size_t begin = block.value.size();
    for (std::size_t i = 0; i < *size; ++i) {
      const auto name = string();
      if (!name) return false;
      if (const auto category = string()) {
        add(block, block.arena.join(*name, '=', *category), 1);
        has_category = true;
        continue;
      }
      if (peek() == 0xc0) {
        rest_.remove_prefix(1);
        block.add_missing(memory_.names.place(*name));
        continue;
      }
      const auto value = number();
      if (!value || !add(block, *name, *value)) return false;
    }
    if (!has_category) return true;  // the keys of a dict differ
    const std::size_t added = block.value.size() - begin;
    Index* const places = block.index.data() + begin;
    return memory_.merger.merge(places, block.value.data() + begin, added) == added;
  }

  bool add(RowBlock<W>& block, std::string_view name, double value) {
    return block.add(value, [&] { return memory_.names.place(name); });
  }

  // A big-endian number of so many bytes.
  std::optional<std::uint64_t> bytes(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(size);
    return value;
  }

  int peek() const { return rest_.empty() ? -1 : static_cast<unsigned char>(rest_[0]); }

  // How many items an array or a map has: up to 15 in the first byte, or in the two or four behind.
  std::optional<std::uint64_t> count(int short_form, int long_form) {
    const int first = peek();
    if (first == -1) return std::nullopt;
    if ((first & 0xf0) == short_form) {
      rest_.remove_prefix(1);
      return static_cast<std::uint64_t>(first & 0x0f);
    }
    if (first != long_form && first != long_form + 1) return std::nullopt;
    rest_.remove_prefix(1);
    return bytes(first == long_form ? 2 : 4);
  }

  // A text in UTF-8; nothing, and nothing is read, where there is none.
  std::optional<std::string_view> string() {
    const std::string_view before = rest_;
    const int first = peek();
    std::optional<std::uint64_t> size;
    if (first != -1 && (first & 0xe0) == 0xa0) {
      size = first & 0x1f;
      rest_.remove_prefix(1);
    } else if (first >= 0xd9 && first <= 0xdb) {
      rest_.remove_prefix(1);
      size = bytes(std::size_t{1} << (first - 0xd9));
    }
    if (size && *size <= rest_.size()) {
      const std::string_view text = rest_.substr(0, *size);
      if (text::is_utf8(text)) {
        rest_.remove_prefix(*size);
        return text;
      }
    }
    rest_ = before;
    return std::nullopt;
  }

  // A number; true is 1.
  std::optional<double> number() {
    const int first = peek();
    if (first == -1) return std::nullopt;
    rest_.remove_prefix(1);
    if (first < 0x80) return first;
    if (first >= 0xe0) return first - 256;
    if (first == 0xc2 || first == 0xc3) return first - 0xc2;
    if (first == 0xcb) return to<double>(bytes(8));
    if (first == 0xca) return to<float>(bytes(4));
    if (first >= 0xcc && first <= 0xcf) {
      const auto value = bytes(std::size_t{1} << (first - 0xcc));
      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    }
    if (first >= 0xd0 && first <= 0xd3) {
      const std::size_t size = std::size_t{1} << (first - 0xd0);
      const auto value = bytes(size);
      if (!value) return std::nullopt;
      const auto shift = 64 - 8 * static_cast<int>(size);
      return static_cast<double>(static_cast<std::int64_t>(*value << shift) >> shift);
    }
    return std::nullopt;
  }

  template <class Float>
  static std::optional<double> to(std::optional<std::uint64_t> bits) {
    if (!bits) return std::nullopt;
    if constexpr (sizeof(Float) == 8) return std::bit_cast<double>(*bits);
    return std::bit_cast<float>(static_cast<std::uint32_t>(*bits));
  }

  std::string_view rest_;
  ParserMemory& memory_;
};

}  // namespace yarrow
