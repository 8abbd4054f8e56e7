#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#ifndef __cpp_lib_to_chars
#include <locale.h>
#include <stdlib.h>
#endif

// Decimal numbers, eight digits at a time. The text of a number must be followed by a byte that
// ends it and by seven more that may be read.
namespace yarrow {

/// 2^53: beyond it not every integer is a double of its own.
inline constexpr double last_exact_integer = 9007199254740992.0;

static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");

// All powers of ten that a double holds exactly.
inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

namespace number {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Eight bytes of text, of which the digits become 0..9 and everything else 10 and more.
inline std::uint64_t load_digits(const char* text) {
  std::uint64_t bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes ^ 0x3030303030303030;
}

// How many of the eight bytes are digits before the first that is not.
inline int count_digits(std::uint64_t bytes) {
  // The sum carries only into bytes behind the first that is no digit.
  const std::uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
  return std::countr_zero(others) >> 3;
}

// The number that eight digits stand for: neighbours are joined to pairs, fours and the eight.
inline std::uint64_t join_digits(std::uint64_t digits) {
  digits = (digits * (10 << 8 | 1)) >> 8 & 0x00ff00ff00ff00ff;
  digits = (digits * (100 << 16 | 1)) >> 16 & 0x0000ffff0000ffff;
  return (digits * (10000ULL << 32 | 1)) >> 32;
}

#ifdef __SSE2__
// Of eight bytes, ones in the last `count`.
inline constexpr std::array<std::uint64_t, 9> kLastBytes = [] {
  std::array<std::uint64_t, 9> masks{};
  for (int count = 1; count <= 8; ++count) masks[count] = ~std::uint64_t{0} << (64 - 8 * count);
  return masks;
}();

// Two numbers side by side: the digits of each are the bytes of its half that `keep` has ones for,
// up to the last. False if something else stands there. Both numbers come in the lower half.
inline bool join_digits(__m128i letters, __m128i keep, __m128i& numbers) {
  const __m128i digits = _mm_and_si128(_mm_xor_si128(letters, _mm_set1_epi8('0')), keep);
  if (_mm_movemask_epi8(_mm_adds_epu8(digits, _mm_set1_epi8(127 - 9)))) return false;
  // Single digits are joined to fours, and those to the eight.
  const __m128i even = _mm_and_si128(digits, _mm_set1_epi16(0xff));
  const __m128i odd = _mm_srli_epi16(digits, 8);
  const __m128i fours = _mm_add_epi32(_mm_madd_epi16(even, _mm_set1_epi32(10 << 16 | 1000)),
                                      _mm_madd_epi16(odd, _mm_set1_epi32(1 << 16 | 100)));
  numbers = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
  return true;
}
#endif

// Appends the digits at `text` to `number`, modulo 2^64, and returns the place behind them.
inline const char* take_digits(const char* text, std::uint64_t& number) {
  static constexpr std::uint64_t shift[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  for (;; text += 8) {
    const std::uint64_t bytes = load_digits(text);
    const int count = count_digits(bytes);
    if (count < 8) {
      number = number * shift[count] + join_digits(bytes << (56 - 8 * count) << 8);
      return text + count;
    }
    number = number * 100000000 + join_digits(bytes);
  }
}

// The correctly rounded value of any decimal number; `exponent` belongs to its last digit.
inline double round_exactly(const char* first, const char* last, std::int64_t exponent) {
  double value = 0;
#ifdef __cpp_lib_to_chars
  if (std::from_chars(first, last, value).ec != std::errc::result_out_of_range) return value;
  // Too large or too small: find the place of the leading digit.
  std::int64_t digits = 0;
  for (; first < last && (*first | 0x20) != 'e'; ++first)
    digits += (digits > 0 || *first > '0') && *first != '.';
  value = digits + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
#else
  static const locale_t decimal_point = newlocale(LC_ALL_MASK, "C", nullptr);
  value = strtod_l(std::string(first, last).c_str(), nullptr, decimal_point);
  static_cast<void>(exponent);
#endif
  return value;
}

}  // namespace number

// Reads the decimal number at `text` into the nearest double (infinity when it is too large) and
// returns the place behind it, or `text` itself where no number stands. The value is the one
// that Python's float() gives; words such as "nan" and "inf" are not numbers here.
inline const char* parse_number(const char* text, double& value) {
  const bool negative = *text == '-';
  const char* digits = text + (negative || *text == '+');
  // Digit by digit before the point, where one or two are usual.
  std::uint64_t mantissa = 0;
  const char* end = digits;
  for (; number::is_digit(*end); ++end)
    mantissa = mantissa * 10 + static_cast<unsigned>(*end - '0');
  std::ptrdiff_t count = end - digits;
  std::int64_t exponent = 0;
  if (*end == '.') {
    const char* fraction = end + 1;
    end = number::take_digits(fraction, mantissa);
    exponent = fraction - end;
    count -= exponent;
  }
  if (count == 0) return text;

  if ((*end | 0x20) == 'e') {
    const bool below = end[1] == '-';
    const char* power = end + 1 + (below || end[1] == '+');
    std::int64_t shift = 0;
    const char* place = power;
    for (; number::is_digit(*place); ++place)
      shift = std::min(shift * 10 + (*place - '0'), std::int64_t{1} << 40);
    if (place > power) {
      exponent += below ? -shift : shift;
      end = place;
    }
  }

  // One rounding of two exact numbers gives the nearest double (Clinger's fast path).
  if (count <= 19 && mantissa >> 53 == 0 && exponent >= -22 && exponent <= 22) {
    const auto exact = static_cast<double>(static_cast<std::int64_t>(mantissa));
    value = exponent < 0 ? exact / kPowersOfTen[-exponent] : exact * kPowersOfTen[exponent];
  } else {
    value = number::round_exactly(digits, end, exponent);
  }
  if (negative) value = -value;
  return end;
}

#ifdef __SSE2__
// Reads a number of one of the usual forms, `digits` or `0.digits` with at most eight of them, that
// ends where it is told to; false if it has another. The seven bytes before it may be read, too.
inline bool parse_usual_number(const char* text, const char* end, double& value) {
  std::uint16_t start;
  std::memcpy(&start, text, sizeof start);
  const std::size_t fraction = start == ('0' | '.' << 8);
  const std::size_t count = static_cast<std::size_t>(end - text) - 2 * fraction;
  if (count - 1 > 7) return false;
  const auto low = [](const void* bytes) {
    return _mm_loadl_epi64(static_cast<const __m128i*>(bytes));
  };
  __m128i number;
  if (!number::join_digits(low(end - 8), low(&number::kLastBytes[count]), number)) return false;
  value = _mm_cvtsd_f64(_mm_cvtepi32_pd(number)) / kPowersOfTen[count & -fraction];
  return true;
}
#endif

// Reads a whole number without a sign, likewise; more than 19 digits give the largest number.
inline const char* parse_natural(const char* text, std::uint64_t& value) {
  value = 0;
  const char* end = number::take_digits(text, value);
  if (end - text > 19) value = std::numeric_limits<std::uint64_t>::max();
  return end;
}

}  // namespace yarrow
