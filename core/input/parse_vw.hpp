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

  void parse(RowBlock<W>& block, ParserMemory& memory) const override {
    block.clear();
    if (!hashed()) memory.names.start(block);
    // A look at all of the text at once costs next to nothing; lines are looked at if one is bad.
    Scratch scratch{memory, text::is_utf8({block.text.data(), block.text.size})};
    text::for_each_line(block, options_.skip_errors,
                        [&](const char* line) { return parse_line(line, block, scratch); });
    block.drop_unfinished_row();
    if (!hashed()) memory.names.finish(block);
  }

 private:
  static constexpr std::size_t kMostProducts = std::size_t{1} << 24;

  // A namespace, and what its values are multiplied by.
  struct Space : NameTable::Space {
    double scale = 1;
  };

  struct Feature {
    std::string_view name;
    double value;
    std::string_view space;
  };

  struct Scratch {
    ParserMemory& memory;
    bool is_utf8;                     // all of the block
    std::vector<Feature> features{};  // of the row, for interactions
    std::vector<const Feature*> left{}, right{};
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
    scratch.memory.names.ask_nothing();
    if (hashed()) block.arena.clear();

    const char* bar = p;
    while (*bar != '|' && *bar != '\n') ++bar;
    if (*bar == '\n') throw text::Mistake{text::between(p, bar), "the line has no '|'"};
    const Head head = parse_head(p, bar);
    const char* const end = parse_namespaces(bar, block, scratch);
    scratch.memory.names.answer(block.index);
    for (const Interaction& interaction : options_.interactions)
      multiply(interaction, block, scratch, text::between(bar, end));

    const auto begin = static_cast<std::size_t>(block.begin.back());
    const std::size_t columns = hashed() ? options_.hash_mask() + 1 : scratch.memory.names.size();
    const std::size_t size = text::merge_duplicates(
        scratch.memory.merger, block.index.data() + begin, block.value.data() + begin,
        block.value.size() - begin, columns, text::between(bar, end));
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
      const std::string_view name = word.substr(0, word.find(':'));
      Space space{hashed() ? NameTable::Space{name} : scratch.memory.names.space(name)};
      if (name.size() < word.size())
        space.scale = text::number_in(word.substr(name.size() + 1), "scale", word);
      p = parse_features(word.data() + word.size(), space, block, scratch);
    }
    return p;
  }

  // The words behind a namespace, each with a blank before it.
  const char* parse_features(const char* p, const Space& space, RowBlock<W>& block,
                             Scratch& scratch) const {
    for (;;) {
      std::size_t name_size;
      double value;
      const char* end = *p == ' ' ? parse_usual_feature(++p, name_size, value) : nullptr;
      if (!end) [[unlikely]] {
        p = text::skip_blanks(p);
        if (ends_word(*p)) return p;
        end = parse_any_feature(p, name_size, value);
      }
      add_feature(p, end, name_size, value, space, block, scratch);
      p = end;
    }
  }

  // Reads a feature of a usual form: a word alone of less than sixteen bytes, or a name of at most
  // fifteen with a value that parse_usual_number() takes. Returns its end, or nullptr if it has
  // another form. Its ends are found by one comparison, or two, so that the next feature can begin
  // before this one's digits are joined.
  static const char* parse_usual_feature(const char* p, std::size_t& name_size, double& value) {
#ifdef __SSE2__
    std::size_t colon = text::first_place(text::equal(text::load(p), ':'));
    std::size_t end = first_stop(p);
    if (end < colon) {
      name_size = end;
      value = 1;
      return end - 1 < 15 && ends_word(p[end]) ? p + end : nullptr;
    }
    if (colon - 1 > 14) return nullptr;
    name_size = colon++;
    if (end > 15) end = colon + first_stop(p + colon);
    const bool is_usual =
        end < 32 && ends_word(p[end]) && parse_usual_number(p + colon, p + end, value);
    return is_usual ? p + end : nullptr;
#else
    return nullptr;
#endif
  }

#ifdef __SSE2__
  // The first of sixteen bytes that may end a word.
  static std::size_t first_stop(const char* p) {
    const __m128i bytes = text::load(p);
    return text::first_place(_mm_or_si128(text::up_to_blank(bytes), text::equal(bytes, '|')));
  }
#endif

  // The same of a feature of any form.
  static const char* parse_any_feature(const char* p, std::size_t& name_size, double& value) {
    const char* end = p;
    while (*end != ':' && !ends_word(*end)) ++end;
    name_size = static_cast<std::size_t>(end - p);
    value = 1;
    if (*end != ':') return end;
    const char* const number = end + 1;
    end = parse_number(number, value);
    if (end == number || !ends_word(*end) || name_size == 0 || !std::isfinite(value))
      throw feature_mistake(p, {p, name_size});
    return end;
  }

  [[gnu::always_inline]] void add_feature(const char* p, const char* end, std::size_t name_size,
                                          double value, const Space& space, RowBlock<W>& block,
                                          Scratch& scratch) const {
    const std::string_view word(p, name_size);
    const auto name = [&] {
      return space.text.empty() ? word : block.arena.join(space.text, '^', word);
    };
    const W rounded = static_cast<W>(value * space.scale);
    if (!std::isfinite(rounded))
      throw text::Mistake{text::between(p, end), "the value is too large"};
    if (rounded != 0) {
      block.value.push_back(rounded);
      if (hashed())
        block.index.push_back(number(name()));
      else
        scratch.memory.names.ask(word, space, block.index);
    }
    if (!options_.interactions.empty())
      scratch.features.push_back({name(), value * space.scale, space.text});
  }

  // The number of a feature that is hashed.
  Index number(std::string_view name) const {
    return static_cast<Index>(hash_text(name.data(), name.size()) & options_.hash_mask());
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
        const bool swap = either_way && b->name < a->name;
        const std::string_view name =
            block.arena.join((swap ? b : a)->name, '*', (swap ? a : b)->name);
        const auto number_or_place = [&] {
          return hashed() ? number(name) : scratch.memory.names.place(name);
        };
        if (!block.add(a->value * b->value, number_or_place))
          throw text::Mistake{field, "the value of the interaction '" +
                                         utf8::shown(utf8::shortened(name)) + "' is too large"};
      }
    }
  }

  TextOptions options_;
};

}  // namespace yarrow
