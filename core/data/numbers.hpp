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

#include "data/row.hpp"

// Some loops are compiled twice: for the registers of 16 bytes that every x86-64 processor has, and
// for those of 32 that most have. Both do the same to each number, so that both give the same bits.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define YARROW_MAY_HAVE_WIDE_LANES
#endif

namespace yarrow {

/// Whether this processor has registers of 32 bytes.
inline bool has_wide_lanes() {
#if defined(YARROW_MAY_HAVE_WIDE_LANES)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

/// All types of numbers that arrays may have, each once: its name, and what C++ calls it.
// clang-format off
#define YARROW_NUMBER_TYPES(type) \
  type(f32, float) type(f64, double) \
  type(i8, std::int8_t) type(i16, std::int16_t) type(i32, std::int32_t) type(i64, std::int64_t) \
  type(u8, std::uint8_t) type(u16, std::uint16_t) type(u32, std::uint32_t) type(u64, std::uint64_t) \
  type(boolean, bool)
// clang-format on

#define YARROW_NAME(name, ...) name,
enum class NumberType { YARROW_NUMBER_TYPES(YARROW_NAME) };
#undef YARROW_NAME

template <class T>
constexpr NumberType type_of = NumberType::boolean;
#define YARROW_TYPE(name, T) \
  template <>                \
  inline constexpr NumberType type_of<T> = NumberType::name;
YARROW_NUMBER_TYPES(YARROW_TYPE)
#undef YARROW_TYPE

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
#define YARROW_CALL(name, T) \
  case NumberType::name:     \
    return f(T{});
    YARROW_NUMBER_TYPES(YARROW_CALL)
#undef YARROW_CALL
  }
  __builtin_unreachable();
}

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
