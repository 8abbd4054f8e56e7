#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "input/parse.hpp"
#include "text/number.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// One `index:value` of svmlight text.
namespace yarrow::svmlight {

struct Feature {
  std::uint64_t index;  // as written
  double value;
  const char* end;
};

#ifdef __SSE2__
// Reads a feature of the common form: `digits:0.digits` or `digits:digits`, at most eight digits
// each and fifteen bytes in all. Returns false, having read nothing, if it has another form.
//
// One comparison of sixteen bytes finds both ends, so that the next feature can begin before this
// one's digits are joined, and both numbers are joined side by side in one register. This is more
// than twice as fast as the general way, which takes signs, longer numbers and exponents.
inline bool parse_common_feature(const char* p, Feature& feature) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i blanks = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
  const __m128i colons = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':'));
  const auto first = [](__m128i found) -> std::size_t {
    constexpr unsigned nowhere = 1u << 31;  // makes the lengths below impossible
    const unsigned places = static_cast<unsigned>(_mm_movemask_epi8(found)) | nowhere;
    return static_cast<unsigned>(std::countr_zero(places));
  };
  const std::size_t colon = first(colons), end = first(blanks);
  std::uint16_t start;
  std::memcpy(&start, p + colon + 1, sizeof start);
  const std::size_t fraction = start == ('0' | '.' << 8);
  const std::size_t digits = end - colon - 1 - 2 * fraction;
  if (((colon - 1) | (digits - 1)) > 7) return false;

  // The lower half gets the value's digits, the upper half those of the index, right-aligned.
  const auto halves = [](const void* lower, const void* upper) {
    std::int64_t half[2];
    std::memcpy(&half[0], lower, 8);
    std::memcpy(&half[1], upper, 8);
    return _mm_set_epi64x(half[1], half[0]);
  };
  static constexpr auto last = [](int n) { return ~std::uint64_t{0} << (64 - 8 * n); };
  static constexpr std::uint64_t keep[] = {0,       last(1), last(2), last(3), last(4),
                                           last(5), last(6), last(7), last(8)};
  const __m128i letters = halves(p + end - 8, p + colon - 8);
  __m128i number = _mm_and_si128(_mm_xor_si128(letters, _mm_set1_epi8('0')),
                                 halves(keep + digits, keep + colon));
  if (_mm_movemask_epi8(_mm_adds_epu8(number, _mm_set1_epi8(127 - 9)))) return false;

  // Single digits are joined to fours, and those to the eight.
  const __m128i even = _mm_and_si128(number, _mm_set1_epi16(0xff));
  const __m128i odd = _mm_srli_epi16(number, 8);
  number = _mm_add_epi32(_mm_madd_epi16(even, _mm_set1_epi32(10 << 16 | 1000)),
                         _mm_madd_epi16(odd, _mm_set1_epi32(1 << 16 | 100)));
  number = _mm_packs_epi32(number, number);
  number = _mm_madd_epi16(number, _mm_set1_epi32(1 << 16 | 10000));

  feature.index = static_cast<std::uint64_t>(_mm_cvtsi128_si64(number)) >> 32;
  feature.value = _mm_cvtsd_f64(_mm_cvtepi32_pd(number)) / kPowersOfTen[digits & -fraction];
  feature.end = p + end;
  return true;
}
#else
inline bool parse_common_feature(const char*, Feature&) { return false; }
#endif

// What is wrong with the feature at `p`, which could not be read.
inline text::Mistake feature_mistake(const char* p) {
  const std::string_view field = text::between(p, text::find_blank(p));
  const std::size_t colon = field.find(':');
  if (colon == std::string_view::npos) return {field, "expected index:value"};
  if (*p == '-') return {field, "the index is negative"};
  std::uint64_t index;
  if (colon == 0 || parse_natural(p, index) != p + colon)
    return {field, "the index is not a whole number"};
  return {field, text::number_problem("value", field.substr(colon + 1))};
}

// Reads a feature of any form, whose value has to be finite in W.
template <class W>
Feature parse_feature(const char* p) {
  Feature feature;
  const char* const colon = parse_natural(p, feature.index);
  if (colon == p || *colon != ':') throw feature_mistake(p);
  feature.end = parse_number(colon + 1, feature.value);
  const bool ends = *feature.end == '\n' || *feature.end == '#' || text::is_blank(*feature.end);
  if (feature.end == colon + 1 || !ends || !std::isfinite(static_cast<W>(feature.value)))
    throw feature_mistake(p);
  return feature;
}

}  // namespace yarrow::svmlight
