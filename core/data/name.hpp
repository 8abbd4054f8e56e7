#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/hash.hpp"
#include "data/row.hpp"
#include "text/utf8.hpp"

namespace yarrow {

// A borrowed name of a feature, with its hash.
struct Name {
  const char* text;     // null for an integer
  std::int64_t number;  // the integer, or the length of the text
  std::uint64_t hash;

  Name() = default;
  explicit Name(std::string_view text) : Name(text, hash_text(text.data(), text.size())) {}
  Name(std::string_view text, std::uint64_t hash)
      : text(text.data() ? text.data() : ""),
        number(static_cast<std::int64_t>(text.size())),
        hash(hash) {}
  explicit Name(std::int64_t integer)
      : text(nullptr), number(integer), hash(hash_integer(integer)) {}

  bool is_text() const { return text != nullptr; }
  std::uint32_t tag() const { return static_cast<std::uint32_t>(hash >> 32); }
  // The place of a feature that is numbered by its hash.
  Index place(Index mask) const {
    return static_cast<Index>(hash & static_cast<std::uint64_t>(mask));
  }
  std::string_view view() const { return {text, static_cast<std::size_t>(number)}; }

  // As an error message shows it: 5, 'word', 'a very long te...'.
  std::string quoted() const {
    if (!is_text()) return std::to_string(number);
    return "'" + utf8::shown(utf8::shortened(view())) + "'";
  }
};

}  // namespace yarrow
