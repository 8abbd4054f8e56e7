// Hashes of feature names.
//
// A hashed model stores no names, only weights at `hash & mask`, so these functions are part of the
// model format: the same name gives the same 64 bits on every platform and in every version.
// tests/core/test_vocabulary.cpp holds golden values.
//
// The building block is the 64x64 -> 128 bit product, both halves folded together. The factors are
// folded in as well, so that no input can wipe out what was hashed before it by making a factor 0.
// The hash has no secret: whoever chooses the names can choose collisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace yarrow {
namespace hashing {

// Odd 64-bit numbers: the fractional parts of the square roots of 2, 3, 5 and 7.
inline constexpr std::uint64_t kLength = 0x6a09e667f3bcc909, kText = 0xbb67ae8584caa73b,
                               kLong = 0x3c6ef372fe94f82b, kInteger = 0xa54ff53a5f1d36f1;

inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const auto low = static_cast<std::uint64_t>(product);
  const auto high = static_cast<std::uint64_t>(product >> 64);
  return low ^ high ^ a ^ b;
}

// Little-endian, as all machines are that text/number.hpp lets in.
template <class Word>
inline std::uint64_t load(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace hashing

inline std::uint64_t hash_text(const char* text, std::size_t length) {
  using namespace hashing;
  std::uint64_t state = kText, first = 0, last = 0;
  // Two words cover up to 16 bytes; they overlap where the length is no multiple of their size.
  if (length >= 8) {
    const char* end = text + length;
    for (; end - text > 16; text += 16)
      state = fold(load<std::uint64_t>(text) ^ kLong, load<std::uint64_t>(text + 8) ^ state);
    // A long text ends with its last 16 bytes, some of them perhaps hashed already.
    first = load<std::uint64_t>(length > 16 ? end - 16 : text);
    last = load<std::uint64_t>(end - 8);
  } else if (length >= 4) {
    first = load<std::uint32_t>(text);
    last = load<std::uint32_t>(text + length - 4);
  } else if (length > 0) {
    first = load<std::uint8_t>(text);
    last = load<std::uint8_t>(text + length / 2) << 8 | load<std::uint8_t>(text + length - 1);
  }
  return fold(fold(first ^ kLong, last ^ state), length ^ kLength);
}

inline std::uint64_t hash_integer(std::int64_t number) {
  using namespace hashing;
  return fold(fold(static_cast<std::uint64_t>(number) ^ kInteger, kLong), kInteger);
}

}  // namespace yarrow
