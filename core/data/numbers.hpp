#pragma once
// Numbers of any type in someone else's memory: looked at and converted as many at a time as a
// register holds. What is wrong with one of them shows in the sign of a whole number, and signs are
// gathered with `or`: so no loop here has a branch, and compilers make vectors of all of them.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "data/processor.hpp"
#include "data/row.hpp"

namespace yarrow {

enum class NumberType { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Numbers in someone else's memory.
struct Numbers {
  const char* data = nullptr;
  NumberType type = NumberType::f64;
  std::ptrdiff_t step = 0;  ///< bytes from one number to the next

  Numbers from(std::ptrdiff_t place) const { return {data + place * step, type, step}; }
};

/// Calls f with a value of the C++ type that `type` names.
template <class F>
decltype(auto) with_type(NumberType type, F f) {
  switch (type) {
    case NumberType::f32:
      return f(float{});
    case NumberType::f64:
      return f(double{});
    case NumberType::i8:
      return f(std::int8_t{});
    case NumberType::i16:
      return f(std::int16_t{});
    case NumberType::i32:
      return f(std::int32_t{});
    case NumberType::i64:
      return f(std::int64_t{});
    case NumberType::u8:
      return f(std::uint8_t{});
    case NumberType::u16:
      return f(std::uint16_t{});
    case NumberType::u32:
      return f(std::uint32_t{});
    case NumberType::u64:
      return f(std::uint64_t{});
    default:
      return f(bool{});
  }
}

template <class W>
constexpr NumberType type_of_weight = sizeof(W) == 4 ? NumberType::f32 : NumberType::f64;

template <class V>
[[gnu::always_inline]] inline V number_at(const char* place) {
  V value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

/// n numbers, `to_step` apart.
template <class To>
void convert(const Numbers& from, std::size_t n, To* to, std::size_t to_step = 1) {
  with_type(from.type, [&](auto sample) {
    using V = decltype(sample);
    if (from.step == sizeof(V) && to_step == 1)
      for (std::size_t i = 0; i < n; ++i)
        to[i] = static_cast<To>(number_at<V>(from.data + i * sizeof(V)));
    else if (from.step == sizeof(V))
      for (std::size_t i = 0; i < n; ++i)
        to[i * to_step] = static_cast<To>(number_at<V>(from.data + i * sizeof(V)));
    else
      for (std::size_t i = 0; i < n; ++i)
        to[i * to_step] =
            static_cast<To>(number_at<V>(from.data + static_cast<std::ptrdiff_t>(i) * from.step));
  });
}

/// Negative for 0, infinity and NaN.
template <class W>
[[gnu::always_inline]] inline auto sign_of_trouble(W x) {
  using Bits = std::conditional_t<sizeof(W) == 4, std::int32_t, std::int64_t>;
  constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<W>::infinity());
  const Bits size = std::bit_cast<Bits>(x) & std::numeric_limits<Bits>::max();
  return (size - 1) | (infinity - 1 - size);
}

/// What indices are like.
struct IndexCheck {
  bool in_range;
  std::size_t falls;  ///< how often one is not above the one before it
};

#include "data/number_loops.inc"

}  // namespace yarrow

#if defined(YARROW_MAY_HAVE_WIDE_LANES)
#pragma GCC push_options
#pragma GCC target("avx2")
namespace yarrow::wide {

#include "data/number_loops.inc"

}  // namespace yarrow::wide
#pragma GCC pop_options
#endif

namespace yarrow {

/// Calls f with the loops for the registers that this processor has.
template <class F>
auto with_number_loops(F f) {
#if defined(YARROW_MAY_HAVE_WIDE_LANES)
  if (has_wide_lanes()) return f(wide::NumberLoops{});
#endif
  return f(NumberLoops{});
}

}  // namespace yarrow
