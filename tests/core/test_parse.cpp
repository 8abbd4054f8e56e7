// svmlight text, against a parser that is slow and obvious.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "input/parse_svmlight.hpp"
#include "random_number.hpp"

using namespace yarrow;

namespace {

template <class W = float>
RowBlock<W> parse(const std::string& text, const TextOptions& options = {}) {
  RowBlock<W> block;
  block.text.assign(text + "\n");
  SvmlightParser<W> parser(options);
  if (parser.window() > 0) parser.see_start(text);
  ParserMemory memory;
  parser.parse(block, memory);
  return block;
}

// "label|index=value index=value", for comparing whole rows at a glance.
template <class W>
std::string show(const RowBlock<W>& block, std::size_t i) {
  std::ostringstream out;
  out.precision(17);
  out << block.label_text[i] << "|";
  const Row<W> row = block.row(i);
  for (std::size_t k = 0; k < row.size; ++k)
    out << (k ? " " : "") << row.index[k] << "=" << row.value[k];
  return out.str();
}

template <class W>
std::string show(const RowBlock<W>& block) {
  std::string text;
  for (std::size_t i = 0; i < block.rows(); ++i) text += show(block, i) + "\n";
  return text;
}

void svmlight_reads_rows() {
  const auto block = parse(
      "+1 1:0.5 3:2 7:1e-1\n"
      "# a comment\n"
      "\n"
      "-1   2:1\t\t5:-3.25  \r\n"
      "  2.5 qid:7 1:1 # trailing 9:9\n"
      " \t \n"
      "spam 4:+1.5#tight\n"
      "C# 1:1\n"
      "3");
  CHECK(show(block) ==
        "+1|0=0.5 2=2 6=0.10000000149011612\n"
        "-1|1=1 4=-3.25\n"
        "2.5|0=1\n"
        "spam|3=1.5\n"
        "C#|0=1\n"
        "3|\n");
  CHECK(block.label[0] == 1 && block.label[1] == -1 && block.label[2] == 2.5);
  CHECK(block.has_text_label(3) && block.has_text_label(4) && !block.has_text_label(5));
  CHECK(block.lines == 9 && block.line_number(0) == 1 && block.line_number(3) == 7);
  CHECK(block.weight == std::vector<double>(6, 1.0));
  CHECK(!block.failure && block.skipped == 0);
}

TextOptions labels_optional() {
  TextOptions options;
  options.labels_optional = true;
  return options;
}

// One long row takes as long as many short ones: its length must not count twice.
void the_index_base_is_found_in_linear_time() {
  for (const char* what : {" 10:1", " 100000:1", " # 0:1"}) {
    std::string row = "1";
    while (row.size() < (std::size_t{4} << 20)) row += what;
    SvmlightParser<float> parser{TextOptions{}};
    const auto start = std::chrono::steady_clock::now();
    parser.see_start(row);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    CHECK(taken.count() < 1.0);  // it is milliseconds, where squares are minutes
    CHECK(parser.index_base() == 1);
  }
}

void svmlight_finds_the_index_base() {
  CHECK(show(parse("1 1:1 2:2")) == "1|0=1 1=2\n");
  CHECK(show(parse("1 5:1\n1 0:1 2:2")) == "1|5=1\n1|0=1 2=2\n");
  CHECK(show(parse("1 1:1 # 0:1")) == "1|0=1\n");
  CHECK(show(parse("1 1:1\n1 10:1 20:0 qid")).substr(0, 6) == "1|0=1\n");
  CHECK(show(parse("1 00:1 1:2")) == "1|0=1 1=2\n");
  CHECK(show(parse("1 1:1 # 0:1 0:1\n1 1:1 # 0:1\n1 2:1")) == "1|0=1\n1|0=1\n1|1=1\n");
  CHECK(show(parse("1 1:1 # 0:1\n0:1 1:1", labels_optional())) == "1|1=1\n|0=1 1=1\n");
  TextOptions options;
  options.index_base = 0;
  CHECK(show(parse("1 1:1", options)) == "1|1=1\n");
  options.index_base = 1;
  CHECK(parse("1 0:1", options).failure->problem.find("pass index base 0") != std::string::npos);
}

void svmlight_rows_are_canonical() {
  CHECK(show(parse("1 5:1 2:2 9:3")) == "1|4=1 1=2 8=3\n");
  CHECK(show(parse("1 5:1 2:2 5:3 2:1 7:1")) == "1|4=4 1=3 6=1\n");
  CHECK(show(parse("1 5:1 2:2 5:-1")) == "1|1=2\n");
  CHECK(show(parse("1 1:0 2:0.0 3:-0 4:1 5:1e-60 6:1e-400")) == "1|3=1\n");
  CHECK(parse<double>("1 4:1 5:1e-60").value[1] == 1e-60);
  CHECK(show(parse("1 2147483646:1")) == "1|2147483645=1\n");
}

void svmlight_labels_may_be_optional() {
  TextOptions options;
  options.labels_optional = true;
  const auto block = parse("1:1 2:2\n3 1:1\nqid:4 2:1", options);
  CHECK(show(block) == "|0=1 1=2\n3|0=1\n|1=1\n");
  CHECK(!block.has_label(0) && block.has_label(1) && !block.has_label(2));
  CHECK(std::isnan(block.label[0]) && !block.has_text_label(0));
}

void svmlight_queries_are_tags() {
  TextOptions options;
  options.skip_errors = true;
  const auto block = parse("1 1:1\n2 qid:7 1:1\n3 qid:8 broken\n4 qid:9 1:1\n5 1:1", options);
  CHECK(block.rows() == 4 && block.skipped == 1);
  CHECK(block.tag.size() == 3);  // rows behind the last qid have none
  CHECK(block.tag[0].empty() && block.tag[1] == "7" && block.tag[2] == "9");
}

// Nothing of a line that is left out stays: whatever else is in the text, the rows before and
// behind it are as if it were not there.
void svmlight_skipped_lines_leave_nothing() {
  const auto tag = [](const auto& block, std::size_t i) {
    return i < block.tag.size() ? block.tag[i] : std::string_view();
  };
  TextOptions options;
  options.skip_errors = true;
  options.index_base = 1;
  for (const char* broken : {"3 qid:8 broken", "3 qid:8 1:1 1:nan", "3 qid:8 5:1 5:3e38 5:3e38",
                             "3 qid:8 0:1", "nan qid:8 1:1", "3 qid:x 1:1", "caf\xe9 qid:8 1:1"}) {
    const std::string before = "1 qid:7 1:1 4:2\n", behind = "5 2:1 2:1\n6 qid:9 1:1\n";
    const auto with = parse(before + broken + "\n" + behind, options);
    const auto without = parse(before + behind, options);
    CHECK(with.skipped == 1 && show(with) == show(without));
    for (std::size_t i = 0; i < without.rows(); ++i) CHECK(tag(with, i) == tag(without, i));
  }
}

struct Broken {
  const char* line;
  const char* field;
  const char* problem;
  const char* raw = "";  // how the field begins in the line, where a sentence shows it differently
};

void svmlight_names_the_broken_field() {
  TextOptions options;
  options.index_base = 1;
  options.max_index = 1000;
  for (const Broken& broken : {
           Broken{"1 2:1 3", "3", "expected index:value"},
           Broken{"1 2:1 garbage", "garbage", "expected index:value"},
           Broken{"1 2:1 3:", "3:", "the value is missing"},
           Broken{"1 2:1 3:abc", "3:abc", "the value is not a number"},
           Broken{"1 2:1 3:1.2.3", "3:1.2.3", "the value is not a number"},
           Broken{"1 2:1 3:1,5", "3:1,5", "the value is not a number"},
           Broken{"1 2:1 3:0x1", "3:0x1", "the value is not a number"},
           Broken{"1 2:1 3:1e", "3:1e", "the value is not a number"},
           Broken{"1 2:1 3:4:5", "3:4:5", "the value is not a number"},
           Broken{"1 2:1 3:nan", "3:nan", "the value is NaN"},
           Broken{"1 2:1 3:-NaN 4:1", "3:-NaN", "the value is NaN"},
           Broken{"1 2:1 3:inf", "3:inf", "the value is infinite"},
           Broken{"1 2:1 3:-Infinity", "3:-Infinity", "the value is infinite"},
           Broken{"1 2:1 3:1e39", "3:1e39", "the value is too large"},
           Broken{"1 2:1 3:-1e999", "3:-1e999", "the value is too large"},
           Broken{"1 2:1 -3:1", "-3:1", "the index is negative"},
           Broken{"1 2:1 3.5:1", "3.5:1", "the index is not a whole number"},
           Broken{"1 2:1 :1", ":1", "the index is not a whole number"},
           Broken{"1 2:1 x:1", "x:1", "the index is not a whole number"},
           Broken{"1 2:1 qid:3", "qid:3", "the index is not a whole number"},
           Broken{"1 qid:x 2:1", "qid:x", "the qid is not a whole number"},
           Broken{"1 2:1 1001:1", "1001:1",
                  "the index is beyond the limit of 1000; max_features sets another, hash_bits "
                  "allows any"},
           Broken{"1 2:1 123456789012345678901234:1 3:1", "123456789012345678901234:1",
                  "the index is beyond the limit of 1000; max_features sets another, hash_bits "
                  "allows any"},
           Broken{"1 2:1 0:1", "0:1",
                  "index 0 in a stream whose indices begin at 1; pass index base 0"},
           Broken{"2:1 3:1", "2:1", "the line has no label"},
           Broken{"nan 2:1", "nan", "the label is NaN"},
           Broken{"-inf 2:1", "-inf", "the label is infinite"},
           Broken{"1e999 2:1", "1e999", "the label is too large"},
           Broken{"1 2:1 \x01", "\\x01", "expected index:value", "\x01"},
           Broken{"1 2:1 \xe9", "\\xe9", "expected index:value", "\xe9"},
           Broken{"caf\xe9 2:1", "caf\\xe9", "it is not valid UTF-8", "caf"},
           Broken{"1 5:3e38 2:1 5:3e38", "", "the values of a feature that comes twice have"},
       }) {
    const std::string line = broken.line, before = "1 1:1 2:2\n\n", after = "\n1 3:4";
    const auto stopped = parse(before + line + after, options);
    CHECK(stopped.failure.has_value());
    CHECK(stopped.failure->line == 3);
    CHECK(stopped.failure->problem.find(broken.problem) == 0);
    if (*broken.field) {
      CHECK(stopped.failure->field == broken.field);
      CHECK(stopped.failure->column == line.rfind(*broken.raw ? broken.raw : broken.field) + 1);
    }
    CHECK(show(stopped) == "1|0=1 1=2\n");

    TextOptions skipping = options;
    skipping.skip_errors = true;
    const auto skipped = parse(before + line + after, skipping);
    CHECK(!skipped.failure && skipped.skipped == 1 && skipped.complaints.size() == 1);
    CHECK(std::string(skipped.complaints[0].what()) == stopped.failure->what());
    CHECK(show(skipped) == "1|0=1 1=2\n1|2=4\n");
    CHECK(skipped.line_number(1) == 4);
  }
  CHECK(show(parse("caf\xc3\xa9 2:1 # \xe9")) == "caf\xc3\xa9|1=1\n");  // comments may be anything
  CHECK(parse("1 2:1\x01 3:1").failure && parse("1 2:0.5|3:1").failure);
  CHECK(std::string(parse("1 2:x").failure->what()) ==
        "line 1, column 3, '2:x': the value is not a number");
}

void svmlight_keeps_only_the_first_complaints() {
  TextOptions options;
  options.skip_errors = true;
  std::string text;
  for (int i = 0; i < 100; ++i) text += "1 x\n";
  const auto block = parse(text, options);
  CHECK(block.skipped == 100 && block.complaints.size() == 5 && block.complaints[4].line == 5);
}

void svmlight_indices_may_be_hashed() {
  TextOptions options;
  options.hash_bits = 4;
  options.index_base = 0;
  const auto block = parse("1 0:1 7:2 9223372036854775807:4", options);
  std::map<Index, float> expected;
  for (auto [name, value] : {std::pair{0LL, 1.f}, {7LL, 2.f}, {9223372036854775807LL, 4.f}})
    expected[static_cast<Index>(hash_integer(name) & 15)] += value;
  const Row<float> row = block.row(0);
  CHECK(row.size == expected.size());
  for (std::size_t k = 0; k < row.size; ++k) CHECK(expected.at(row.index[k]) == row.value[k]);

  // Four features in one place: their values are summed.
  options.hash_bits = 1;
  const auto crowded = parse("1 0:1 1:1 2:1 3:1 4:1 5:1", options);
  float sum = 0;
  for (float value : crowded.value) sum += value;
  CHECK(crowded.value.size() <= 2 && sum == 6);
}

void options_are_checked() {
  TextOptions options;
  options.index_base = 2;
  CHECK_THROWS(SvmlightParser<float>{options}, Error, "index base");
  options = {};
  options.hash_bits = 32;
  CHECK_THROWS(SvmlightParser<float>{options}, Error, "hash bits");
  options = {};
  options.max_index = 2147483647;
  CHECK_THROWS(SvmlightParser<float>{options}, Error, "largest index");
}

// The same format, read with streams and strtod.
template <class W>
std::string slow_parse(const std::string& text, int base) {
  std::istringstream lines(text);
  std::ostringstream out;
  out.precision(17);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find(" #")));
    std::string word;
    if (!(words >> word) || word[0] == '#') continue;
    out << word << "|";
    std::vector<long> order;
    std::map<long, W> sums;
    while (words >> word) {
      if (word.substr(0, 4) == "qid:") continue;
      const long index = std::strtol(word.c_str(), nullptr, 10) - base;
      const W value = static_cast<W>(std::strtod(word.c_str() + word.find(':') + 1, nullptr));
      if (value == 0) continue;
      if (!sums.count(index)) order.push_back(index);
      sums[index] += value;
    }
    bool first = true;
    for (long index : order) {
      if (sums[index] == 0) continue;
      out << (first ? "" : " ") << index << "=" << sums[index];
      first = false;
    }
    out << "\n";
  }
  return out.str();
}

std::string random_svmlight(Random& random, int base) {
  static const char* const labels[] = {"1", "-1", "+1", "2.5", "spam", "a-b_c", "1e0"};
  static const char* const gaps[] = {" ", " ", " ", " ", "  ", "\t", " \t "};
  std::string text;
  for (std::size_t rows = below(random, 6); rows-- > 0;) {
    if (below(random, 9) == 0) text += below(random, 2) ? "# comment 1:2\n" : " \t\r\n";
    text += labels[below(random, 7)];
    if (below(random, 5) == 0) text += " qid:" + std::to_string(below(random, 99));
    const bool sorted = below(random, 2), plain = below(random, 2);
    std::size_t index = static_cast<std::size_t>(base);
    for (std::size_t size = below(random, 30); size-- > 0;) {
      index = sorted ? index + 1 + below(random, 5000)
                     : static_cast<std::size_t>(base) + below(random, 40);
      std::string value = random_number(random);
      if (plain) value = std::to_string(static_cast<double>(below(random, 99999)) / 1e5);
      if (std::abs(std::strtod(value.c_str(), nullptr)) > 1e30) value = "1";
      text += gaps[below(random, 7)] + std::to_string(index) + ":" + value;
    }
    if (below(random, 9) == 0) text += " # trailing 3:4";
    text += below(random, 9) == 0 ? " \r\n" : "\n";
  }
  return text;
}

template <class W>
void svmlight_agrees_with_a_slow_parser() {
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    TextOptions options;
    options.index_base = i % 2;
    const std::string text = random_svmlight(random, options.index_base);
    const auto block = parse<W>(text, options);
    const bool same = show(block) == slow_parse<W>(text, options.index_base);
    if (!same) std::printf("%s\n%s", text.c_str(), show(block).c_str());
    CHECK(same && !block.failure);
  }
}

// Whatever the bytes, a line becomes a canonical row, or is refused.
void svmlight_survives_any_bytes() {
  static const char bytes[] = "0123456789::::....--++eE##  \t\r\n\n\nqidnaf\0\x01\xff|";
  Random random(3);
  for (int i = 0; i < 30000; ++i) {
    std::string text(below(random, 80), ' ');
    for (char& c : text) c = bytes[below(random, sizeof bytes - 1)];
    TextOptions options;
    options.skip_errors = true;
    options.labels_optional = i % 2;
    options.hash_bits = i % 3;
    const auto block = parse(text, options);
    CHECK(block.lines == 1u + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    CHECK(block.rows() + block.skipped <= block.lines);
    for (std::size_t row = 0; row < block.rows(); ++row) {
      std::map<Index, int> seen;
      for (std::size_t k = 0; k < block.row(row).size; ++k) {
        CHECK(block.row(row).index[k] >= 0 && !seen[block.row(row).index[k]]++);
        CHECK(std::isfinite(block.row(row).value[k]) && block.row(row).value[k] != 0);
      }
    }
  }
}

}  // namespace

int main() {
  svmlight_reads_rows();
  svmlight_finds_the_index_base();
  the_index_base_is_found_in_linear_time();
  svmlight_rows_are_canonical();
  svmlight_labels_may_be_optional();
  svmlight_queries_are_tags();
  svmlight_skipped_lines_leave_nothing();
  svmlight_names_the_broken_field();
  svmlight_keeps_only_the_first_complaints();
  svmlight_indices_may_be_hashed();
  options_are_checked();
  svmlight_agrees_with_a_slow_parser<float>();
  svmlight_agrees_with_a_slow_parser<double>();
  svmlight_survives_any_bytes();
  return check::failures();
}
