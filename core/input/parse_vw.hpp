#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "input/parse.hpp"

namespace yarrow {

// Vowpal Wabbit's text format, one row a line:
//
//   [label [importance [initial]]] ['tag]|[namespace[:scale]] feature[:value] ... |...
//
// A feature is named "namespace^feature", or just "feature" where the namespace has no name. The
// last word before the first bar is a tag if it begins with ' or touches the bar. The initial
// prediction is checked, then ignored. A label may be any text, as in the other formats, but for
// those that mean several classes, costs or actions to Vowpal Wabbit: they are refused by name.
//
// An interaction adds the product "a^x*b^y" for every feature x of one namespace and y of the
// other. Where both features belong to both (as with `aa` or `::`), each pair is taken once, a
// feature with itself included, and the lesser name stands first.
//
// Features keep their order; the values of one that comes twice are summed.
template <class W>
class VwParser : public TextParser<W> {
 public:
  explicit VwParser(const TextOptions& options) : options_(options) { options.check(); }

  void parse(RowBlock<W>& block) const override {
    block.clear();
    Scratch scratch;
    // A look at all of the text at once costs next to nothing; lines are looked at if one is bad.
    scratch.is_utf8 = text::is_utf8({block.text.data(), block.text.size});
    text::for_each_line(block, options_.skip_errors,
                        [&](const char* line) { return parse_line(line, block, scratch); });
    block.drop_unfinished_row();
  }

 private:
  static constexpr std::size_t kMostProducts = std::size_t{1} << 24;

  struct Feature {
    FeatureName name;
    double value;
    std::string_view space;
  };

  struct Scratch {
    std::vector<Feature> features;
    std::vector<const Feature*> left, right;
    DuplicateMerger merger;
    bool is_utf8 = false;  // all of the block
  };

  struct Head {
    double label = std::numeric_limits<double>::quiet_NaN();
    std::string_view label_text;
    double weight = 1;
    std::string_view tag;
  };

  bool hashed() const { return options_.hash_bits > 0; }

  // A table, as this is asked for every byte.
  static bool ends_word(char c) {
    static constexpr auto ends = [] {
      std::array<bool, 256> table{};
      for (unsigned char end : {'|', '\n', ' ', '\t', '\r', '\v', '\f'}) table[end] = true;
      return table;
    }();
    return ends[static_cast<unsigned char>(c)];
  }

  static const char* find_word_end(const char* p) {
    while (!ends_word(*p)) ++p;
    return p;
  }

  const char* parse_line(const char* p, RowBlock<W>& block, Scratch& scratch) const {
    p = text::skip_blanks(p);
    if (*p == '\n') return p;
    if (!scratch.is_utf8) text::check_utf8(text::between(p, text::find_line_end(p)));
    block.drop_unfinished_row();
    scratch.features.clear();
    if (hashed()) block.arena.clear();

    const char* bar = p;
    while (*bar != '|' && *bar != '\n') ++bar;
    if (*bar == '\n') throw text::Mistake{text::between(p, bar), "the line has no '|'"};
    const Head head = parse_head(p, bar);
    const char* const end = parse_namespaces(bar, block, scratch);
    for (const Interaction& interaction : options_.interactions)
      multiply(interaction, block, scratch, text::between(bar, end));

    const auto begin = static_cast<std::size_t>(block.begin.back());
    const auto merge = [&](auto* key) {
      return text::merge_duplicates(scratch.merger, key + begin, block.value.data() + begin,
                                    block.value.size() - begin, text::between(bar, end));
    };
    const std::size_t size = hashed() ? merge(block.index.data()) : merge(block.name.data());
    block.add_row(begin + size, head.label, head.label_text, head.weight);
    block.tag.push_back(head.tag);
    return end;
  }

  // The words before the first bar.
  static Head parse_head(const char* p, const char* bar) {
    std::string_view words[4];
    std::size_t count = 0;
    const char* end = p;
    for (; p < bar; p = text::skip_blanks(end)) {
      end = find_word_end(p);
      if (count == 4) {
        check_label_kind(words[0]);
        throw text::Mistake{text::between(p, end), "too many words before the '|'"};
      }
      words[count++] = text::between(p, end);
    }
    Head head;
    if (count > 0 && (words[count - 1].front() == '\'' || end == bar)) {
      head.tag = words[--count];
      if (head.tag.front() == '\'') head.tag.remove_prefix(1);
    }
    if (count > 0) {
      head.label_text = words[0];
      head.label = text::label_in(words[0]);
      if (std::isnan(head.label)) check_label_kind(words[0]);
    }
    if (count == 4) throw text::Mistake{words[3], "too many words before the '|'"};
    if (count > 1) head.weight = text::number_in(words[1], "importance", words[1]);
    if (head.weight < 0) throw text::Mistake{words[1], "the importance is negative"};
    if (count > 2) text::number_in(words[2], "initial prediction", words[2]);
    return head;
  }

  static void check_label_kind(std::string_view label) {
    const auto refuse = [&](const char* kind) {
      throw text::Mistake{
          label,
          std::string(kind) + " of Vowpal Wabbit are not read: a row has one class or value"};
    };
    if (label == "shared") refuse("shared features, and rows of several lines,");
    if (label.find_first_not_of("0123456789.,:+-") != std::string_view::npos) return;
    if (label.find(',') != std::string_view::npos) refuse("labels of several classes (1,2)");
    const auto colons = std::count(label.begin(), label.end(), ':');
    if (colons == 1) refuse("costs of classes (class:cost)");
    if (colons > 1) refuse("contextual bandits (action:cost:probability)");
  }

  // The rest of the line, from its first bar on.
  const char* parse_namespaces(const char* p, RowBlock<W>& block, Scratch& scratch) const {
    while (*p == '|') {
      const std::string_view word = text::between(p + 1, find_word_end(p + 1));
      const std::string_view space = word.substr(0, word.find(':'));
      const bool scaled = space.size() < word.size();
      const double scale =
          scaled ? text::number_in(word.substr(space.size() + 1), "scale", word) : 1;
      p = text::skip_blanks(word.data() + word.size());
      while (!ends_word(*p)) {
        p = parse_feature(p, space, scale, block, scratch);
        p = text::skip_blanks(p);
      }
    }
    return p;
  }

  // Where a feature's name ends: at its colon, or with the word.
  static const char* find_name_end(const char* p) {
    while (*p != ':' && !ends_word(*p)) ++p;
    return p;
  }

  // Reads a feature of the common form, `name:0.digits` with at most seven digits, sixteen bytes in
  // all. Returns its end, or nullptr if it has another form. One comparison finds both ends, so
  // that the next feature can begin before this one's digits are joined.
  static const char* parse_common_feature(const char* p, std::size_t& name_size, double& value) {
#ifdef __SSE2__
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i blanks = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
    const __m128i bars = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('|'));
    const __m128i colons = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':'));
    const std::size_t colon = text::first_place(colons),
                      end = text::first_place(_mm_or_si128(blanks, bars));
    const std::size_t digits = end - colon - 3;
    if (end == 31 || colon - 1 > 14 || digits - 1 > 6) return nullptr;
    if (p[colon + 1] != '0' || p[colon + 2] != '.' || !ends_word(p[end])) return nullptr;
    const std::uint64_t text = number::load_digits(p + colon + 3);
    if (number::count_digits(text) != static_cast<int>(digits)) return nullptr;
    const std::uint64_t joined = number::join_digits(text << (64 - 8 * digits));
    value = static_cast<double>(static_cast<std::int64_t>(joined)) / kPowersOfTen[digits];
    name_size = colon;
    return p + end;
#else
    return nullptr;
#endif
  }

  const char* parse_feature(const char* p, std::string_view space, double scale, RowBlock<W>& block,
                            Scratch& scratch) const {
    double value = 1;
    std::size_t name_size;
    const char* end = parse_common_feature(p, name_size, value);
    if (!end) [[unlikely]] {
      end = find_name_end(p);
      name_size = static_cast<std::size_t>(end - p);
      if (*end == ':') {
        const char* const number = end + 1;
        end = parse_number(number, value);
        if (end == number || !ends_word(*end) || name_size == 0 || !std::isfinite(value))
          throw feature_mistake(p, {p, name_size});
      }
    }
    const std::string_view word(p, name_size);
    const std::string_view name = space.empty() ? word : block.arena.join(space, '^', word);
    const Feature feature{FeatureName(name), value * scale, space};
    if (!block.add(feature.name, feature.value, options_.hash_mask()))
      throw text::Mistake{text::between(p, end), "the value is too large"};
    if (!options_.interactions.empty()) scratch.features.push_back(feature);
    return end;
  }

  static text::Mistake feature_mistake(const char* p, std::string_view word) {
    const std::string_view field = text::between(p, find_word_end(p));
    if (word.empty()) return {field, "the feature has no name"};
    return {field, text::number_problem("value", field.substr(word.size() + 1))};
  }

  static bool selects(std::string_view selector, std::string_view space) {
    if (space.empty()) space = " ";
    return selector == ":" || selector == space ||
           (selector.size() == 1 && selector[0] == space[0]);
  }

  void multiply(const Interaction& interaction, RowBlock<W>& block, Scratch& scratch,
                std::string_view field) const {
    const auto& [first, second] = interaction;
    scratch.left.clear();
    scratch.right.clear();
    for (const Feature& feature : scratch.features) {
      if (selects(first, feature.space)) scratch.left.push_back(&feature);
      if (selects(second, feature.space)) scratch.right.push_back(&feature);
    }
    if (scratch.left.size() * scratch.right.size() > kMostProducts)
      throw text::Mistake{field, "the interactions of this row make too many features"};
    for (const Feature* a : scratch.left) {
      for (const Feature* b : scratch.right) {
        const bool either_way = selects(second, a->space) && selects(first, b->space);
        if (either_way && b < a) continue;
        const bool swap = either_way && b->name.text < a->name.text;
        const std::string_view name =
            block.arena.join((swap ? b : a)->name.text, '*', (swap ? a : b)->name.text);
        if (!block.add(FeatureName(name), a->value * b->value, options_.hash_mask()))
          throw text::Mistake{field, "the value of the interaction '" +
                                         utf8::shown(utf8::shortened(name)) + "' is too large"};
      }
    }
  }

  TextOptions options_;
};

}  // namespace yarrow
