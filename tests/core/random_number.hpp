// Decimal numbers of all shapes, for tests.
#pragma once

#include <cstddef>
#include <random>
#include <string>

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t n) { return random() % n; }

inline std::string random_number(Random& random) {
  static const char* const signs[] = {"", "", "", "-", "+"};
  std::string text = signs[below(random, 5)];
  const auto digits = [&](std::size_t n) {
    while (n-- > 0) text += static_cast<char>('0' + below(random, 10));
  };
  const bool long_one = below(random, 8) == 0;
  const std::size_t before = below(random, long_one ? 30 : 4),
                    after = below(random, long_one ? 40 : 9);
  digits(before);
  if (after > 0 || before == 0 || below(random, 8) == 0) text += '.';
  digits(before + after == 0 ? 1 : after);
  if (below(random, 4) == 0) {
    text += below(random, 2) ? "e" : "E";
    text += signs[below(random, 5)];
    digits(1 + below(random, below(random, 9) == 0 ? 4 : 2));
  }
  return text;
}
