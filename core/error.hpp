#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace yarrow {

// Everything the core throws: one sentence that a user can act on.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A mistake in a text stream. Its parts are kept, so that a caller who knows the file's name can
// say that too.
struct ParseError : Error {
  std::size_t line;     // 1-based
  std::size_t column;   // 1-based, in bytes; 0 when the whole line is meant
  std::string field;    // as written, shortened when it is very long
  std::string problem;  // what is wrong with it

  ParseError(std::size_t at_line, std::size_t at_column, std::string_view text,
             std::string_view what_is_wrong)
      : Error(sentence(at_line, at_column, shorten(text), what_is_wrong)),
        line(at_line),
        column(at_column),
        field(shorten(text)),
        problem(what_is_wrong) {}

  // The same mistake, seen from a stream in which `lines` lines came before.
  ParseError after(std::size_t lines) const { return {line + lines, column, field, problem}; }

 private:
  static std::string shorten(std::string_view text) {
    constexpr std::size_t longest = 60;
    if (text.size() <= longest) return std::string(text);
    return std::string(text.substr(0, longest)) + "...";
  }

  static std::string sentence(std::size_t line, std::size_t column, const std::string& field,
                              std::string_view problem) {
    std::string text = "line " + std::to_string(line);
    if (column > 0) text += ", column " + std::to_string(column) + ", '" + field + "'";
    return text.append(": ").append(problem);
  }
};

}  // namespace yarrow
