#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/duplicates.hpp"
#include "data/row_block.hpp"
#include "input/name_table.hpp"
#include "text/number.hpp"

// What the text formats share: lines, blanks, labels, values, and what happens to a broken line.
namespace yarrow {

inline constexpr int kAutoBase = -1;
inline constexpr std::int64_t kLastIndex = std::numeric_limits<Index>::max() - 1;

// Two namespaces whose features are multiplied (Vowpal Wabbit's `-q`). Each is given by its name,
// by its first letter, by ":" for every namespace, or by " " for the one without a name.
using Interaction = std::pair<std::string, std::string>;

struct TextOptions {
  bool skip_errors = false;  // leave broken lines out and count them, instead of stopping
  int hash_bits = 0;         // b > 0: features are numbered by the lowest b bits of their hash

  // svmlight
  bool labels_optional = false;         // a line may begin with its first feature
  int index_base = kAutoBase;           // the lowest index a file may have, 0 or 1
  std::int64_t max_index = kLastIndex;  // as written; does not bind hashed indices

  std::vector<Interaction> interactions;  // VW

  void check() const {
    if (hash_bits < 0 || hash_bits > 31)
      throw Error("The number of hash bits must be between 0 and 31.");
  }
  // Of the hash, the bits that number a feature; 0: none do.
  std::uint64_t hash_mask() const { return (std::uint64_t{1} << hash_bits) - 1; }
};

// What a thread that parses keeps from block to block.
struct ParserMemory {
  NameTable names;
  DuplicateMerger merger;
};

// Turns the text of a block into its rows. parse() may run in several threads at once, each with
// memory of its own.
template <class W>
class TextParser {
 public:
  virtual ~TextParser() = default;
  virtual void parse(RowBlock<W>& block, ParserMemory& memory) const = 0;

  // A parser that has to see the beginning of a stream before it can parse says how many bytes
  // of it, and is shown them once, before any block.
  virtual std::size_t window() const { return 0; }
  virtual void see_start(std::string_view) {}
};

namespace text {

#ifdef __SSE2__
inline __m128i load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

inline __m128i equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

// Bytes up to the blank, and so all that end a word but for a few.
inline __m128i up_to_blank(__m128i bytes) {
  return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
}

// The first of sixteen bytes that a comparison found; where there is none, a place beyond any.
inline std::size_t first_place(__m128i found) {
  constexpr unsigned nowhere = 1u << 31;
  const unsigned places = static_cast<unsigned>(_mm_movemask_epi8(found)) | nowhere;
  return static_cast<unsigned>(std::countr_zero(places));
}
#endif

// Whether all of a text is UTF-8; next to nothing where it is ASCII.
inline bool is_utf8(std::string_view text) {
  return utf8::is_ascii(text) || utf8::find_invalid(text) == std::string_view::npos;
}

// A broken field; thrown and caught within a parser, which knows the line.
struct Mistake {
  std::string_view field;  // a part of that line: where it stands is the column of the error
  std::string problem;
};

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

inline const char* find_blank(const char* p) {
  while (*p != '\n' && !is_blank(*p)) ++p;
  return p;
}

inline const char* find_line_end(const char* p) {
  while (*p != '\n') ++p;
  return p;
}

inline std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

inline bool is_word(std::string_view text, std::string_view word) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((text[i] | 0x20) != word[i]) return false;
  return true;
}

// What keeps the text of a `what` ("value", "label") from being a number that fits.
inline std::string number_problem(std::string_view what, std::string_view text) {
  std::string sentence = "the " + std::string(what);
  double value;
  if (text.empty()) return sentence + " is missing";
  if (is_word(text, "nan")) return sentence + " is NaN";
  if (is_word(text, "inf") || is_word(text, "infinity")) return sentence + " is infinite";
  if (parse_number(text.data(), value) != text.data() + text.size())
    return sentence + " is not a number";
  return sentence + " is too large";
}

// The finite number that `text` is, from its beginning to its end.
inline double number_in(std::string_view text, std::string_view what, std::string_view field) {
  double value = 0;
  if (text.empty() || parse_number(text.data(), value) != text.data() + text.size() ||
      !std::isfinite(value))
    throw Mistake{field, number_problem(what, text)};
  return value;
}

// Refuses text with bytes that are no UTF-8; the word around the first of them is the field.
inline void check_utf8(std::string_view text) {
  const std::size_t at = utf8::find_invalid(text);
  if (at == std::string_view::npos) return;
  const auto ends = [](char c) { return c == '|' || c == '\n' || is_blank(c); };
  std::size_t begin = at, end = at;
  while (begin > 0 && !ends(text[begin - 1])) --begin;
  while (end < text.size() && !ends(text[end])) ++end;
  throw Mistake{text.substr(begin, end - begin), "it is not valid UTF-8"};
}

// The number that a label is, or NaN for any other text but the words for NaN and infinity.
inline double label_in(std::string_view text) {
  double value = 0;
  const bool numeric = parse_number(text.data(), value) == text.data() + text.size();
  if (numeric && std::isfinite(value)) return value;
  if (numeric || is_word(text, "nan") || is_word(text, "inf") || is_word(text, "infinity"))
    throw Mistake{text, number_problem("label", text)};
  check_utf8(text);
  return std::numeric_limits<double>::quiet_NaN();
}

// Makes a row canonical whose indices, all below `columns`, may repeat, and returns its size. A sum
// may turn out too large; `field` stands for the row.
template <class W>
std::size_t merge_duplicates(DuplicateMerger& merger, Index* index, W* value, std::size_t size,
                             std::size_t columns, std::string_view field) {
  if (!merger.may_repeat(index, size, columns)) return size;
  const std::size_t merged = merger.merge(index, value, size);
  if (merged < size && !std::all_of(value, value + merged, [](W v) { return std::isfinite(v); }))
    throw Mistake{field, "the values of a feature that comes twice have too large a sum"};
  return merged;
}

// Calls parse_line(begin) for each line. It adds a row or none and returns the line's end, or
// throws a Mistake before it has added the row.
template <class W, class ParseLine>
void for_each_line(RowBlock<W>& block, bool skip_errors, ParseLine parse_line) {
  const char* const end = block.text.data() + block.text.size;
  for (const char* line = block.text.data(); line < end; ++line, ++block.lines) {
    try {
      line = parse_line(line);
    } catch (const Mistake& mistake) {
      const auto column = static_cast<std::size_t>(mistake.field.data() - line) + 1;
      ParseError error(block.lines + 1, column, mistake.field, mistake.problem);
      if (!skip_errors) {
        block.failure = std::move(error);
        return;
      }
      if (block.complaints.size() < most_complaints) block.complaints.push_back(std::move(error));
      ++block.skipped;
      line = find_line_end(line);
    }
  }
}

}  // namespace text
}  // namespace yarrow
