#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "input/parse.hpp"

namespace yarrow {

// Rows as lines of JSON, as a service takes them, one row a line:
//
//   {"row": {"name": 1.5, "colour": "red"}, "label": "spam", "weight": 2, "id": "..."}
//
// It reads what Python would read as the same row, bit for bit, and leaves all else to Python: a
// line with anything unusual (an escape, a name twice, a label that is null, text where an object
// should be, no JSON at all) is a mistake, which says where to go on by other means. So there is no
// second opinion on what is wrong with a line.
template <class W>
class JsonParser : public TextParser<W> {
 public:
  explicit JsonParser(const TextOptions& options) : options_(options) {
    if (options.hash_bits != 0) throw Error("Rows of JSON are not read into a hashed model.");
  }

  void parse(RowBlock<W>& block, ParserMemory& memory) const override {
    block.clear();
    memory.names.start(block);
    const bool is_utf8 = text::is_utf8({block.text.data(), block.text.size});
    text::for_each_line(block, options_.skip_errors, [&](const char* line) {
      block.drop_unfinished_row();
      const char* const begin = skip_space(line);
      if (*begin == '\n') return begin;
      if (!is_utf8) unusual(begin);
      return parse_line(begin, block, memory);
    });
    block.drop_unfinished_row();
    memory.names.finish(block);
  }

 private:
  // All that is noted of a line beside its features.
  struct Head {
    double label = std::numeric_limits<double>::quiet_NaN();
    std::string_view label_text;
    double weight = 1;
    bool row = false, weighed = false;
  };

  [[noreturn]] static void unusual(const char* p) {
    throw text::Mistake{text::between(p, p + (*p != '\n')), "it is not a plain row of JSON"};
  }

  static const char* skip_space(const char* p) {
    while (*p == ' ' || *p == '\t' || *p == '\r') ++p;
    return p;
  }

  static const char* expect(const char* p, char c) {
    if (*p != c) unusual(p);
    return skip_space(p + 1);
  }

  // A string without escapes; the place behind its last quote.
  static const char* parse_string(const char* p, std::string_view& out) {
    if (*p != '"') unusual(p);
    const char* end = p + 1;
    while (*end != '"') {
      if (*end == '\\' || static_cast<unsigned char>(*end) < 0x20) unusual(end);
      ++end;
    }
    out = text::between(p + 1, end);
    return end + 1;
  }

  // JSON's numbers are fewer than those of `parse_number`.
  static const char* parse_json_number(const char* p, double& value) {
    const char* end = p + (*p == '-');
    if (!number::is_digit(*end) || (*end == '0' && number::is_digit(end[1]))) unusual(p);
    const auto skip_digits = [&] {
      if (!number::is_digit(*end)) unusual(p);
      while (number::is_digit(*end)) ++end;
    };
    skip_digits();
    if (*end == '.') ++end, skip_digits();
    if (*end == 'e' || *end == 'E') {
      ++end;
      if (*end == '+' || *end == '-') ++end;
      skip_digits();
    }
    if (parse_number(p, value) != end || !std::isfinite(value)) unusual(p);
    return end;
  }

  // Calls member(name, value's place), which returns the place behind the value, for each member.
  template <class Member>
  static const char* parse_object(const char* p, Member member) {
    p = expect(p, '{');
    if (*p == '}') return p + 1;
    for (;;) {
      std::string_view name;
      p = expect(skip_space(parse_string(p, name)), ':');
      p = skip_space(member(name, p));
      if (*p != ',') break;
      p = skip_space(p + 1);
    }
    if (*p != '}') unusual(p);
    return p + 1;
  }

  const char* parse_line(const char* p, RowBlock<W>& block, ParserMemory& memory) const {
    Head head;
    const char* end = parse_object(p, [&](std::string_view name, const char* value) {
      if (name == "row") return parse_row(value, block, memory.names, head);
      if (name == "label") return parse_label(value, head);
      if (name == "weight") return parse_weight(value, head);
      std::string_view ignored;
      if (name == "id" || name == "ticket" || name == "source") return parse_string(value, ignored);
      unusual(value);
    });
    end = skip_space(end);
    if (*end != '\n' || !head.row || head.label_text.empty()) unusual(p);
    const auto begin = static_cast<std::size_t>(block.begin.back());
    const std::size_t size = block.value.size() - begin;
    // In a dict the last of two values counts; "key=value" may also be a key, and both count.
    if (memory.merger.merge(block.index.data() + begin, block.value.data() + begin, size) < size)
      unusual(p);
    block.add_row(begin + size, head.label, head.label_text, head.weight);
    block.tag.push_back({});
    return end;
  }

  const char* parse_row(const char* p, RowBlock<W>& block, NameTable& names, Head& head) const {
    if (head.row) unusual(p);
    head.row = true;
    return parse_object(p, [&](std::string_view name, const char* value) {
      if (*value == '"') {  // "colour": "red" is the feature "colour=red"
        std::string_view category;
        const char* const end = parse_string(value, category);
        block.add(1, [&] { return names.place(block.arena.join(name, '=', category)); });
        return end;
      }
      double number = 0;
      const char* end = value;
      if (const std::size_t size = word_size(value); size > 0) {
        end = value + size;
        if (*value == 'n') {
          block.add_missing(names.place(name));
          return end;
        }
        number = *value == 't';
      } else {
        end = parse_json_number(value, number);
      }
      if (!block.add(number, [&] { return names.place(name); })) unusual(value);
      return end;
    });
  }

  // true is 1, false is 0, and null is missing.
  static std::size_t word_size(const char* p) {
    for (const std::string_view word : {"true", "false", "null"}) {
      std::size_t i = 0;
      while (i < word.size() && p[i] == word[i]) ++i;
      if (i == word.size()) return i;
    }
    return 0;
  }

  static const char* parse_label(const char* p, Head& head) {
    if (!head.label_text.empty()) unusual(p);
    if (*p == '"') {
      p = parse_string(p, head.label_text);
      if (head.label_text.empty()) unusual(p);
      return p;
    }
    const char* const end = parse_json_number(p, head.label);
    head.label_text = text::between(p, end);
    const bool is_minus_zero = head.label == 0 && *p == '-';
    if (is_minus_zero || std::abs(head.label) >= last_exact_integer) unusual(p);
    return end;
  }

  static const char* parse_weight(const char* p, Head& head) {
    if (head.weighed) unusual(p);
    head.weighed = true;
    const char* const end = parse_json_number(p, head.weight);
    if (!(head.weight > 0)) unusual(p);
    return end;
  }

  TextOptions options_;
};

}  // namespace yarrow
