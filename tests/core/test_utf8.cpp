// UTF-8 as Python reads it, against a decoder that is slow and obvious.
#include <random>
#include <string>

#include "check.hpp"
#include "error.hpp"
#include "text/utf8.hpp"

using namespace yarrow;

namespace {

// Decodes one character by its definition; 0 if it is none.
std::size_t slow_character(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::size_t size = byte(i) < 0x80           ? 1
                           : (byte(i) >> 5) == 0x06 ? 2
                           : (byte(i) >> 4) == 0x0e ? 3
                           : (byte(i) >> 3) == 0x1e ? 4
                                                    : 0;
  if (size == 0 || i + size > text.size()) return 0;
  unsigned code = size == 1 ? byte(i) : byte(i) & (0x7f >> size);
  for (std::size_t k = 1; k < size; ++k) {
    if (byte(i + k) >> 6 != 2) return 0;
    code = code << 6 | (byte(i + k) & 0x3f);
  }
  const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return size;
}

void invalid_bytes_are_found() {
  static const unsigned char bytes[] = {'a',  'b',  0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                        0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
                                        0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
  std::mt19937_64 random(1);
  for (int round = 0; round < 200000; ++round) {
    std::string text(random() % 8, 'x');
    for (char& c : text) c = static_cast<char>(bytes[random() % sizeof bytes]);
    if (round % 2) text = "caf\xc3\xa9 longer text " + text;
    std::size_t expected = 0;
    while (expected < text.size()) {
      const std::size_t size = slow_character(text, expected);
      if (size == 0) break;
      expected += size;
    }
    if (expected == text.size()) expected = std::string::npos;
    CHECK(utf8::find_invalid(text) == expected);
    CHECK(utf8::find_invalid(utf8::shown(text)) == std::string::npos);
  }
}

void ascii_is_known_at_every_place() {
  for (std::size_t size = 0; size < 200; ++size) {
    std::string text(size, 'a');
    CHECK(utf8::is_ascii(text));
    for (std::size_t i = 0; i < size; ++i) {
      text[i] = '\x80';
      CHECK(!utf8::is_ascii(text));
      text[i] = 'a';
    }
  }
}

void sentences_show_what_no_sentence_can_hold() {
  using namespace std::string_literals;
  CHECK(utf8::shown("caf\xc3\xa9") == "caf\xc3\xa9");
  CHECK(utf8::shown("caf\xe9") == "caf\\xe9");
  CHECK(utf8::shown("a\0b\x1b[2J\x7f"s) == "a\\x00b\\x1b[2J\\x7f");
  CHECK(utf8::shortened(std::string(60, 'a')) == std::string(60, 'a'));
  CHECK(utf8::shortened(std::string(59, 'a') + "\xc3\xa9z") == std::string(59, 'a') + "...");
  const ParseError error(3, 6, "x\0y\xff"s, "it is broken");
  const char* const sentence = "line 3, column 6, 'x\\x00y\\xff': it is broken";
  CHECK(error.what() == std::string(sentence));
  CHECK(error.after(0).what() == std::string(sentence));
}

}  // namespace

int main() {
  invalid_bytes_are_found();
  ascii_is_known_at_every_place();
  sentences_show_what_no_sentence_can_hold();
  return check::failures();
}
