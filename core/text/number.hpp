#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>

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

// Reads a whole number without a sign, likewise; more than 19 digits give the largest number.
inline const char* parse_natural(const char* text, std::uint64_t& value) {
  value = 0;
  const char* end = number::take_digits(text, value);
  if (end - text > 19) value = std::numeric_limits<std::uint64_t>::max();
  return end;
}

}  // namespace yarrow
