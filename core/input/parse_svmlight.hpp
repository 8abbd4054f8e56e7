#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "data/hash.hpp"
#include "input/parse.hpp"

namespace yarrow {

// One `index:value` of svmlight text.
namespace svmlight {

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
  const __m128i bytes = text::load(p);
  const std::size_t colon = text::first_place(text::equal(bytes, ':')),
                    end = text::first_place(text::up_to_blank(bytes));
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
  const __m128i letters = halves(p + end - 8, p + colon - 8);
  const __m128i keep = halves(&number::kLastBytes[digits], &number::kLastBytes[colon]);
  __m128i number;
  if (!number::join_digits(letters, keep, number)) return false;
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

}  // namespace svmlight

// svmlight (libsvm) text: `label [qid:n] index:value ... [# comment]`, one row a line.
//
// Indices may come in any order, which is kept; the values of an index that comes twice are
// summed. A comment begins with a '#' behind a blank or a value. A row's qid is its tag.
template <class W>
class SvmlightParser : public TextParser<W> {
 public:
  explicit SvmlightParser(const TextOptions& options)
      : options_(options), base_(options.index_base == kAutoBase ? 1 : options.index_base) {
    if (base_ != 0 && base_ != 1) throw Error("The index base must be 0, 1 or automatic.");
    if (options.max_index < 0 || options.max_index > kLastIndex)
      throw Error("The largest index must be between 0 and " + std::to_string(kLastIndex) + ".");
    options.check();
  }

  // The base in use; final once the first block is there.
  int index_base() const { return base_; }

  // The base is chosen from a window of fixed size, so that it does not depend on the size of
  // blocks or the number of threads: 0 if index 0 occurs there, else 1.
  std::size_t window() const override {
    return options_.index_base == kAutoBase ? std::size_t{4} << 20 : 0;
  }
  void see_start(std::string_view start) override { base_ = contains_index_zero(start) ? 0 : 1; }

  void parse(RowBlock<W>& block, ParserMemory& memory) const override {
    block.clear();
    const std::size_t most_features = block.text.size / 4 + 1;  // each at least " 1:1"
    block.index.resize(most_features);
    block.value.resize(most_features);
    text::for_each_line(block, options_.skip_errors,
                        [&](const char* line) { return parse_line(line, block, memory.merger); });
    block.drop_unfinished_row();
  }

 private:
  const char* parse_line(const char* p, RowBlock<W>& block, DuplicateMerger& merger) const {
    p = text::skip_blanks(p);
    if (*p == '\n' || *p == '#') return text::find_line_end(p);

    double label = std::numeric_limits<double>::quiet_NaN();
    std::string_view label_text = text::between(p, text::find_blank(p));
    if (label_text.find(':') == std::string_view::npos) {
      label = text::label_in(label_text);
      p += label_text.size();
    } else if (options_.labels_optional) {
      label_text = {};
    } else {
      throw text::Mistake{label_text, "the line has no label"};
    }
    const std::string_view query = query_at(p);
    if (!query.empty()) p = query.data() + query.size();

    const auto begin = static_cast<std::size_t>(block.begin.back());
    Index* const index = block.index.data() + begin;
    W* const value = block.value.data() + begin;
    Features features = options_.hash_bits > 0 ? parse_features<true>(p, index, value)
                                               : parse_features<false>(p, index, value);
    if (!features.increasing)
      features.size = text::merge_duplicates(merger, index, value, features.size, columns(),
                                             text::between(p, features.end));
    if (!query.empty()) {  // rows before the first qid of a block cost nothing for it
      block.tag.resize(block.rows());
      block.tag.push_back(query);
    }
    block.add_row(begin + features.size, label, label_text, 1);
    return features.end;
  }

  // The number of the qid behind `p`, empty where there is none.
  static std::string_view query_at(const char* p) {
    const char* const start = text::skip_blanks(p);
    if (std::strncmp(start, "qid:", 4) != 0) return {};
    const std::string_view field = text::between(start, text::find_blank(start));
    std::uint64_t query;
    if (field.size() == 4 || parse_natural(start + 4, query) != start + field.size())
      throw text::Mistake{field, "the qid is not a whole number"};
    return field.substr(4);
  }

  struct Features {
    const char* end;  // of the line
    std::size_t size;
    bool increasing;  // every index is larger than the one before it, so none comes twice
  };

  // The hot loop, kept apart so that nothing else competes for its registers.
  template <bool hashed>
  [[gnu::noinline]] Features parse_features(const char* p, Index* index, W* value) const {
    const auto base = static_cast<std::uint64_t>(base_);
    const std::uint64_t most = static_cast<std::uint64_t>(limit()) - base;
    const std::uint64_t mask = options_.hash_mask();
    std::size_t size = 0;
    Index previous = -1;
    bool increasing = true;
    for (;;) {
      svmlight::Feature feature;
      if (*p != ' ' || !svmlight::parse_common_feature(++p, feature)) [[unlikely]] {
        p = text::skip_blanks(p);
        if (*p == '\n' || *p == '#') return {text::find_line_end(p), size, increasing};
        feature = svmlight::parse_feature<W>(p);
      }
      const std::uint64_t number = feature.index - base;  // far beyond any limit if below base
      if (number > most) throw bad_index(text::between(p, feature.end), feature.index);
      const auto key = static_cast<Index>(hashed ? hash_integer(number) & mask : number);
      const W rounded = static_cast<W>(feature.value);
      index[size] = key;
      value[size] = rounded;
      size += std::abs(rounded) > 0;
      increasing &= key > previous;
      previous = key;
      p = feature.end;
    }
  }

  std::size_t columns() const {
    return static_cast<std::size_t>(options_.hash_bits > 0 ? options_.hash_mask() : kLastIndex) + 1;
  }

  std::int64_t limit() const {
    return options_.hash_bits > 0 ? std::numeric_limits<std::int64_t>::max() : options_.max_index;
  }

  text::Mistake bad_index(std::string_view field, std::uint64_t index) const {
    if (index == 0)
      return {field, "index 0 in a stream whose indices begin at 1; pass index base 0"};
    const char* remedy =
        limit() < kLastIndex ? "; max_features sets another, hash_bits allows any" : "";
    return {field, "the index is beyond the limit of " + std::to_string(limit()) + remedy};
  }

  // No byte is looked at more than a few times, however long a line is: one is only searched for
  // a comment if a 0 stands there, and the rest of a comment is passed over.
  static bool contains_index_zero(std::string_view start) {
    for (std::size_t at = 0; (at = start.find(':', at)) != std::string_view::npos; ++at) {
      std::size_t digits = at;
      while (digits > 0 && start[digits - 1] == '0') --digits;
      const auto ends = [](char c) { return c == '\n' || text::is_blank(c); };
      if (digits == at || (digits > 0 && !ends(start[digits - 1]))) continue;
      const std::size_t line = digits > 0 ? start.rfind('\n', digits - 1) + 1 : 0;
      if (start.substr(line, digits - line).find('#') == std::string_view::npos) return true;
      at = std::min(start.find('\n', at), start.size());
    }
    return false;
  }

  TextOptions options_;
  int base_;
};

}  // namespace yarrow
