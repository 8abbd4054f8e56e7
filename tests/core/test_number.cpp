// Decimal numbers, against strtod.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "check.hpp"
#include "random_number.hpp"
#include "text/number.hpp"

using namespace yarrow;

namespace {

bool same_as_strtod(const std::string& text) {
  const std::string padded = text + "\n       ";
  double value = -1;
  const char* end = parse_number(padded.c_str(), value);
  const double expected = std::strtod(text.c_str(), nullptr);
  const bool same =
      end == padded.c_str() + text.size() && std::memcmp(&value, &expected, sizeof value) == 0;
  if (!same) std::printf("%s gave %.17g\n", text.c_str(), value);
  return same;
}

void numbers_are_rounded_like_strtod() {
  for (const char* text : {"0",
                           "-0",
                           "1",
                           "+1",
                           "1.",
                           ".5",
                           "-.5",
                           "0.1",
                           "1e0",
                           "1E+05",
                           "1e-5",
                           "9007199254740993",
                           "9007199254740992",
                           "123456789012345678901234567890",
                           "0.30000000000000004",
                           "1e22",
                           "1e23",
                           "4503599627370496.5",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "5e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "1e-400",
                           "-1e-400",
                           "0e999",
                           "0.0000e-999",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "-1e999",
                           "1e99999999999",
                           "1e-99999999999",
                           "12345678",
                           "123456789",
                           "0.12345678",
                           "0.123456789",
                           "00000000000000000001",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999e-19"})
    CHECK(same_as_strtod(text));
  const std::string zeros(400, '0');
  CHECK(same_as_strtod("0." + zeros + "1e401"));
  CHECK(same_as_strtod("0." + zeros + "1e100"));
  CHECK(same_as_strtod("1" + zeros + "e-399"));
  CHECK(same_as_strtod("1" + zeros));
  CHECK(same_as_strtod("1" + zeros + "e-30"));
  Random random(1);
  for (int i = 0; i < 300000; ++i) CHECK(same_as_strtod(random_number(random)));
}

void words_and_scraps_are_no_numbers() {
  for (std::string text : {"", "-", "+", ".", "-.", "e5", "nan", "inf", "infinity", "+-1", "x"}) {
    text += "\n       ";
    double value;
    CHECK(parse_number(text.c_str(), value) == text.c_str());
  }
  const std::string unfinished = "1e+ \n       ";
  double value;
  CHECK(parse_number(unfinished.c_str(), value) == unfinished.c_str() + 1 && value == 1);
}

}  // namespace

int main() {
  numbers_are_rounded_like_strtod();
  words_and_scraps_are_no_numbers();
  return check::failures();
}
