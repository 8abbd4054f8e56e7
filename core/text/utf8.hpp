#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// Text from outside: whether it is UTF-8, as Python reads it, and how a sentence shows it.
namespace yarrow::utf8 {

// Whether all bytes are ASCII: one or of all, which the compiler turns into the widest it has.
inline bool is_ascii(std::string_view text) {
  std::uint64_t seen = 0;
  std::size_t i = 0;
  for (; i + 64 <= text.size(); i += 64) {
    std::uint64_t words[8];
    std::memcpy(words, text.data() + i, sizeof words);
    for (const std::uint64_t word : words) seen |= word;
  }
  for (; i < text.size(); ++i) seen |= static_cast<std::uint64_t>(text[i] & 0x80);
  return (seen & 0x8080808080808080) == 0;
}

// How many bytes the character at the beginning of `text` has; 0 if no valid one stands there.
// Neither surrogates nor a longer form than need be are valid.
inline std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return !text.empty();
  if (first < 0xc2 || first > 0xf4 || !continues(1)) return 0;
  if (first < 0xe0) return 2;
  if (!continues(2)) return 0;
  if (first < 0xf0)
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ? 0 : 3;
  if (!continues(3) || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90))
    return 0;
  return 4;
}

// The place of the first byte that belongs to no valid character, or npos.
inline std::size_t find_invalid(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    std::uint64_t word = 0;
    if (i + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + i, sizeof word);
      if ((word & 0x8080808080808080) == 0) {
        i += sizeof word;
        continue;
      }
    }
    const std::size_t size = character(text.substr(i));
    if (size == 0) return i;
    i += size;
  }
  return std::string_view::npos;
}

// `text` as a sentence can show it: bytes that are no UTF-8, and characters that would end the
// sentence or move the cursor, as \xNN.
inline std::string shown(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (size == 0 || byte < 0x20 || byte == 0x7f) {
      constexpr const char* digits = "0123456789abcdef";
      out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
      ++i;
    } else {
      out.append(text.substr(i, size));
      i += size;
    }
  }
  return out;
}

// The first 60 bytes of a text that is longer, and never half a character.
inline std::string shortened(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest;
  while (end > longest - 4 && (text[end] & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace yarrow::utf8
