// The whole test framework: CHECK reports and counts, main() returns failures().
#pragma once

#include <cstdio>

namespace check {

inline int& count() {
  static int failed = 0;
  return failed;
}

inline int failures() {
  if (count()) std::fprintf(stderr, "%d checks failed\n", count());
  return count() ? 1 : 0;
}

}  // namespace check

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      if (++check::count() >= 20) return;                                            \
    }                                                                                \
  } while (false)

// The statement must throw an `Exception` whose message contains `part`.
#define CHECK_THROWS(statement, Exception, part)                                           \
  do {                                                                                     \
    bool thrown = false;                                                                   \
    try {                                                                                  \
      statement;                                                                           \
    } catch (const Exception& error) {                                                     \
      thrown = std::string_view(error.what()).find(part) != std::string_view::npos;        \
      if (!thrown) std::fprintf(stderr, "  message: %s\n", error.what());                  \
    }                                                                                      \
    if (!thrown) {                                                                         \
      std::fprintf(stderr, "%s:%d: does not throw: %s\n", __FILE__, __LINE__, #statement); \
      ++check::count();                                                                    \
    }                                                                                      \
  } while (false)
