// Vowpal Wabbit text, its namespaces and their interactions.
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "input/parse_vw.hpp"

using namespace yarrow;

namespace {

template <class W = float>
RowBlock<W> parse(const std::string& text, const TextOptions& options = {}) {
  RowBlock<W> block;
  block.text.assign(text + "\n");
  ParserMemory memory;
  VwParser<W>(options).parse(block, memory);
  return block;
}

TextOptions with(std::vector<Interaction> interactions) {
  TextOptions options;
  options.interactions = std::move(interactions);
  return options;
}

// "label|name=value name=value" per row.
template <class W>
std::string show(const RowBlock<W>& block) {
  std::ostringstream out;
  for (std::size_t i = 0; i < block.rows(); ++i) {
    out << block.label_text[i] << "|";
    for (auto k = static_cast<std::size_t>(block.begin[i]);
         k < static_cast<std::size_t>(block.begin[i + 1]); ++k)
      out << (k > static_cast<std::size_t>(block.begin[i]) ? " " : "") << block.name(k).view()
          << "=" << block.value[k];
    out << "\n";
  }
  return out.str();
}

void rows_are_read() {
  const auto block = parse(
      "1 |a x y:2 |b:0.5 x z:4 | p q:-1.5\n"
      "\n"
      "-1 2.5 'first|a x\n"
      "3 0.5 0.1 second|a x\r\n"
      "| only\n"
      "spam 'it |a x\n"
      "  touching| x\n"
      "'| x\n"
      "1 | \n"
      "2 |a x|b y||c\tz  w");
  CHECK(show(block) ==
        "1|a^x=1 a^y=2 b^x=0.5 b^z=2 p=1 q=-1.5\n"
        "-1|a^x=1\n"
        "3|a^x=1\n"
        "|only=1\n"
        "spam|a^x=1\n"
        "|x=1\n"
        "|x=1\n"
        "1|\n"
        "2|a^x=1 b^y=1 c^z=1 c^w=1\n");
  CHECK((block.weight == std::vector<double>{1, 2.5, 0.5, 1, 1, 1, 1, 1, 1}));
  CHECK((block.tag ==
         std::vector<std::string_view>{"", "first", "second", "", "it", "touching", "", "", ""}));
  CHECK(block.has_text_label(4) && !block.has_label(3) && block.label[1] == -1);
  CHECK(block.lines == 10 && block.line_number(1) == 3);
  for (Index i = 0; i < block.name_count; ++i) {
    const Name name = (*block.names)[i];
    CHECK(name.hash == hash_text(name.text, name.view().size()));
  }
}

void rows_are_canonical() {
  CHECK(show(parse("a,b | x\na:b | x\n1-2 | x")) == "a,b|x=1\na:b|x=1\n1-2|x=1\n");
  CHECK(show(parse("1 |a x:1 y:0 x:2 |a x:4 | z:1 z:-1 w")) == "1|a^x=7 w=1\n");
  CHECK(show(parse("1 |a:0 x y | z:1e-60")) == "1|\n");
  CHECK(parse<double>("1 | z:1e-60").value[0] == 1e-60);
  CHECK(show(parse("1 |a^b c |a b^c")) == "1|a^b^c=2\n");
}

void names_are_utf8() {
  const std::string good = "a | caf\xc3\xa9 b\n";
  for (const char* line : {"a | x caf\xe9", "a |x caf\xe9:2", "a |caf\xe9 b", "caf\xe9 | b",
                           "a 'caf\xe9| b", "a | \xed\xa0\x80"})
    for (const int hash_bits : {0, 4}) {
      TextOptions options;
      options.hash_bits = hash_bits;
      const auto stopped = parse(good + line + "\n" + good, options);
      CHECK(stopped.failure && stopped.failure->line == 2 && stopped.rows() == 1);
      CHECK(stopped.failure->problem == "it is not valid UTF-8");
      options.skip_errors = true;
      const auto skipped = parse(good + line + "\n" + good, options);
      CHECK(skipped.skipped == 1 && skipped.rows() == 2 && skipped.value.size() == 4);
    }
  const auto named = parse("a |x y caf\xe9:2 z");
  CHECK(std::string(named.failure->what()) ==
        "line 1, column 8, 'caf\\xe9:2': it is not valid UTF-8");
}

void names_may_hold_anything_else() {
  CHECK(show(parse("1 | #x=\"1\" \xc3\xa4 a*b,c;d")) == "1|#x=\"1\"=1 \xc3\xa4=1 a*b,c;d=1\n");
}

struct Broken {
  const char* line;
  const char* field;
  const char* problem;
};

void the_broken_field_is_named() {
  for (const Broken& broken : {
           Broken{"1 2 3", "1 2 3", "the line has no '|'"},
           Broken{"1 2 3 4 |a x", "4", "too many words before the '|'"},
           Broken{"1 2 3 4 5 6 |a x", "5", "too many words before the '|'"},
           Broken{"1 x |a f", "x", "the importance is not a number"},
           Broken{"1 -2 |a x", "-2", "the importance is negative"},
           Broken{"1 nan |a x", "nan", "the importance is NaN"},
           Broken{"1 1 x |a y", "x", "the initial prediction is not a number"},
           Broken{"inf |a x", "inf", "the label is infinite"},
           Broken{"1,2 |a x", "1,2", "labels of several classes (1,2) of Vowpal Wabbit are not"},
           Broken{"shared |a x", "shared", "shared features, and rows of several lines, of Vowpal"},
           Broken{"0:1:0.5 |a x", "0:1:0.5", "contextual bandits (action:cost:probability) of"},
           Broken{"1:2 |a x", "1:2", "costs of classes (class:cost) of Vowpal Wabbit are not read"},
           Broken{"1:0 2:1 3:1 4:2 5:1 |a x", "1:0", "costs of classes"},
           Broken{"1 |a: x", "a:", "the scale is missing"},
           Broken{"1 |a:b x", "a:b", "the scale is not a number"},
           Broken{"1 |a x:1 :2", ":2", "the feature has no name"},
           Broken{"1 |a x:", "x:", "the value is missing"},
           Broken{"1 |a y x:two z", "x:two", "the value is not a number"},
           Broken{"1 |a y x:1:2", "x:1:2", "the value is not a number"},
           Broken{"1 |a y x:NaN", "x:NaN", "the value is NaN"},
           Broken{"1 |a y x:-inf|b z", "x:-inf", "the value is infinite"},
           Broken{"1 |a y x:1e39", "x:1e39", "the value is too large"},
           Broken{"1 |a y x:1e999", "x:1e999", "the value is too large"},
           Broken{"1 |a:1e30 x:1e30", "x:1e30", "the value is too large"},
           Broken{"1 |a x:3e38 x:3e38", "", "the values of a feature that comes twice"},
       }) {
    const std::string line = broken.line;
    const auto stopped = parse("1 | a\n" + line + "\n2 | b");
    CHECK(stopped.failure && stopped.failure->line == 2);
    CHECK(stopped.failure->problem.find(broken.problem) == 0);
    if (*broken.field) {
      CHECK(stopped.failure->field == broken.field);
      CHECK(stopped.failure->column == line.rfind(broken.field) + 1);
    }
    CHECK(show(stopped) == "1|a=1\n" && stopped.value.size() == 1 && stopped.index.size() == 1);
    TextOptions skipping;
    skipping.skip_errors = true;
    const auto skipped = parse("1 | a\n" + line + "\n2 | b", skipping);
    CHECK(skipped.skipped == 1 && skipped.complaints.size() == 1);
    CHECK(show(skipped) == "1|a=1\n2|b=1\n");
  }
}

// An error names a place in its line even if what overflows was made of two of its fields.
void the_broken_interaction_is_named() {
  for (const int hash_bits : {0, 8}) {
    TextOptions options = with({{"a", "b"}});
    options.hash_bits = hash_bits;
    const auto block = parse("1 | x\n1 |a u:3e38 |b caf\xc3\xa9:3e38\n", options);
    CHECK(block.failure && block.failure->line == 2 && block.failure->column == 3);
    CHECK(block.failure->problem ==
          "the value of the interaction 'a^u*b^caf\xc3\xa9' is too large");
    CHECK(block.failure->field == "|a u:3e38 |b caf\xc3\xa9:3e38");
  }
}

void features_may_be_hashed() {
  TextOptions options;
  options.hash_bits = 18;
  const auto block = parse("1 |a x y:2 | z", options);
  CHECK(!block.named() && block.row(0).size == 3);
  const std::string names[] = {"a^x", "a^y", "z"};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::uint64_t hash = hash_text(names[k].data(), names[k].size());
    CHECK(block.index[k] == static_cast<Index>(hash & ((1 << 18) - 1)));
  }
  CHECK(block.value[1] == 2);
  options.hash_bits = 1;
  const auto crowded = parse("1 | a b c d e f g h", options);
  CHECK(crowded.row(0).size == 2 && crowded.value[0] + crowded.value[1] == 8);
}

void interactions_multiply() {
  const std::string row = "1 |ab x:2 y:3 |c z:5 | n:7";
  const std::string plain = "1|ab^x=2 ab^y=3 c^z=5 n=7";
  for (const char* first : {"a", "ab"})
    CHECK(show(parse(row, with({{first, "c"}}))) == plain + " ab^x*c^z=10 ab^y*c^z=15\n");
  CHECK(show(parse(row, with({{"c", "a"}}))) == plain + " c^z*ab^x=10 c^z*ab^y=15\n");
  CHECK(show(parse(row, with({{"a", "a"}}))) == plain + " ab^x*ab^x=4 ab^x*ab^y=6 ab^y*ab^y=9\n");
  CHECK(show(parse(row, with({{" ", "c"}}))) == plain + " n*c^z=35\n");
  CHECK(show(parse(row, with({{"b", "c"}, {"q", "q"}}))) == plain + "\n");
  CHECK(show(parse(row, with({{"a", "c"}, {"c", " "}}))) ==
        plain + " ab^x*c^z=10 ab^y*c^z=15 c^z*n=35\n");
  CHECK(show(parse("1 |c z:5 |ab x:2", with({{":", ":"}}))) ==
        "1|c^z=5 ab^x=2 c^z*c^z=25 ab^x*c^z=10 ab^x*ab^x=4\n");
  CHECK(show(parse("1 |ab x:2 |c z:5", with({{":", "c"}}))) ==
        "1|ab^x=2 c^z=5 ab^x*c^z=10 c^z*c^z=25\n");

  std::string crowd = "1 |a";
  for (int i = 0; i < 5000; ++i) crowd += " f" + std::to_string(i);
  CHECK(parse(crowd, with({{"a", "a"}})).failure->problem.find("too many") != std::string::npos);
}

// The pairs of an interaction, counted from its definition.
void interactions_agree_with_their_definition() {
  std::mt19937_64 random(1);
  const std::vector<std::string> spaces = {"a", "ab", "b", ""};
  const std::vector<std::string> selectors = {":", "a", "ab", "b", " "};
  const auto selects = [](const std::string& selector, const std::string& space) {
    return selector == ":" || selector == space || (selector == " " && space.empty()) ||
           (selector.size() == 1 && space.substr(0, 1) == selector);
  };
  for (int round = 0; round < 2000; ++round) {
    std::string text = "1";
    std::vector<std::array<std::string, 2>> features;  // namespace, full name
    std::map<std::string, double> expected;
    for (std::size_t n = random() % 4; n-- > 0;) {
      const std::string space = spaces[random() % 4];
      text += " |" + space;
      for (std::size_t m = random() % 4; m-- > 0;) {
        const std::string word(1, static_cast<char>('p' + random() % 9));
        features.push_back({space, (space.empty() ? "" : space + "^") + word});
        text += " " + word;
        expected[features.back()[1]] += 1;
      }
    }
    const std::string first = selectors[random() % 5], second = selectors[random() % 5];
    for (std::size_t i = 0; i < features.size(); ++i)
      for (std::size_t j = 0; j < features.size(); ++j) {
        const auto& [space_i, name_i] = features[i];
        const auto& [space_j, name_j] = features[j];
        if (!selects(first, space_i) || !selects(second, space_j)) continue;
        const bool both = selects(second, space_i) && selects(first, space_j);
        if (both && i > j) continue;
        expected[both && name_j < name_i ? name_j + "*" + name_i : name_i + "*" + name_j] += 1;
      }
    if (features.empty()) text += " |";
    const auto block = parse<double>(text, with({{first, second}}));
    std::map<std::string, double> got;
    for (std::size_t k = 0; k < block.index.size(); ++k)
      got[std::string(block.name(k).view())] += block.value[k];
    CHECK(got == expected && got.size() == block.index.size());
  }
}

// One table for many blocks, as a thread that parses has it: names of all lengths, alone and in
// namespaces, that are the same as a whole or differ in one byte.
void names_have_one_place() {
  std::mt19937_64 random(3);
  ParserMemory memory;
  RowBlock<float> block;
  std::map<std::shared_ptr<const NameList>, std::map<std::string, Index>> places;
  std::size_t features = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    std::vector<std::string> expected;
    const int many = round % 50 == 0 ? 4000 : 100;  // more than a list keeps
    for (int i = 0; i < many; ++i) {
      const std::string letter(1, static_cast<char>('a' + random() % 2));
      std::string space, word(random() % 40, 'x');
      if (random() % 3)
        space = std::string(random() % 20, 'n') + letter + (random() % 4 ? "" : "^");
      if (many > 1000) word += std::to_string(random());
      word += random() % 5 ? letter : "^" + letter;
      text += "1 |" + space + " " + word + ":0.5\n";
      expected.push_back(space.empty() ? word : space + "^" + word);
    }
    block.text.assign(text);
    VwParser<float>({}).parse(block, memory);
    CHECK(block.rows() == expected.size() && block.index.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(block.name(i).view() == expected[i] && block.index[i] < block.name_count);
      const auto known = places[block.names].try_emplace(expected[i], block.index[i]).first;
      CHECK(known->second == block.index[i]);
    }
    features += expected.size();
  }
  std::size_t kept = 0;
  for (const auto& [list, names] : places) kept += static_cast<std::size_t>(list->size());
  std::size_t different = 0;
  for (const auto& [list, names] : places) different += names.size();
  CHECK(kept == different && features > kept);

  // A list that grows large ends, and the next block begins another.
  for (int round = 0; round < 40; ++round) {
    std::string text = "1 |";
    for (int i = 0; i < 4000; ++i) text += " w" + std::to_string(round * 4000 + i);
    block.text.assign(text + "\n");
    VwParser<float>({}).parse(block, memory);
    CHECK(block.name(3999).view() == "w" + std::to_string(round * 4000 + 3999));
    CHECK(block.name_count < 75'000);
  }
  // So does one of many namespaces, whose words may be few.
  std::size_t lists = 0;
  std::shared_ptr<const NameList> last;
  for (int round = 0; round < 40; ++round) {
    std::string text;
    for (int i = 0; i < 4000; ++i) text += "1 |n" + std::to_string(round * 4000 + i) + "\n";
    block.text.assign(text + "1 | w\n");
    VwParser<float>({}).parse(block, memory);
    lists += block.names != last;
    last = block.names;
  }
  CHECK(lists > 1 && lists < 6);
}

// Whatever the bytes, a line becomes a canonical row, or is refused.
void any_bytes_are_survived() {
  static const char bytes[] = "01289:::..--e||||  \t\r\n\nabcnaif'*^\0\x01\xff";
  std::mt19937_64 random(2);
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 90, ' ');
    for (char& c : text) c = bytes[random() % (sizeof bytes - 1)];
    TextOptions options = with({{"a", ":"}});
    options.skip_errors = true;
    options.hash_bits = round % 4;
    const auto block = parse(text, options);
    CHECK(block.rows() + block.skipped <= block.lines && block.tag.size() == block.rows());
    CHECK(block.index.size() == block.value.size() && block.named() == !options.hash_bits);
    CHECK(block.value.size() == static_cast<std::size_t>(block.begin.back()));
    for (float value : block.value) CHECK(std::isfinite(value) && value != 0);
  }
}

// `+0.25` is never read by the short way that `0.25` takes; names, values and ends agree.
void the_common_form_agrees_with_any_other() {
  for (const std::string end : {" ", "\t", "\r", "|", " |c w:0.5 "}) {
    for (std::size_t name = 1; name < 18; ++name) {
      for (std::size_t digits = 1; digits < 18; ++digits) {
        const std::string word = "1 |a " + std::string(name, 'n') + ":";
        const std::string number = "0." + std::string("98765432109876543").substr(0, digits) + end;
        const auto common = parse<double>(word + number),
                   other = parse<double>(word + "+" + number);
        CHECK(!common.failure && common.value == other.value && show(common) == show(other));
      }
    }
  }
  CHECK(parse("1 |a n:0.5\x01").failure && parse("1 |a n:0.5x").failure);
  CHECK(parse("1 |a n:0.5:1").failure && parse("1 |a :0.5").failure);
  CHECK(show(parse("1 |a n:0.5e1 m:0. k\x01:0.5")) == "1|a^n=5 a^k\x01=0.5\n");
}

}  // namespace

int main() {
  rows_are_read();
  rows_are_canonical();
  the_common_form_agrees_with_any_other();
  names_are_utf8();
  names_may_hold_anything_else();
  the_broken_field_is_named();
  the_broken_interaction_is_named();
  features_may_be_hashed();
  interactions_multiply();
  interactions_agree_with_their_definition();
  names_have_one_place();
  any_bytes_are_survived();
  return check::failures();
}
