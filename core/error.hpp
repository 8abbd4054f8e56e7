#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace yarrow {

// Everything the core throws: one sentence that a user can act on.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A mistake in a text stream. The parts are kept, so that a caller who knows the file's name can
// say it too.
struct ParseError : Error {
  std::size_t line;     // 1-based
  std::size_t column;   // 1-based, in bytes; 0 when the whole line is meant
  std::string field;    // the field as written, shortened when it is very long
  std::string problem;  // what is wrong with it

  ParseError(std::size_t line, std::size_t column, std::string_view field, std::string problem)
      : ParseError(line, column, shorten(field), std::move(problem), 0) {}

  // The same mistake, seen from a stream in which `lines` lines came before.
  ParseError after(std::size_t lines) const {
    return ParseError(line + lines, column, field, problem, 0);
  }

 private:
  ParseError(std::size_t line, std::size_t column, std::string field, std::string problem, int)
      : Error(sentence(line, column, field, problem)),
        line(line),
        column(column),
        field(std::move(field)),
        problem(std::move(problem)) {}

  static std::string shorten(std::string_view field) {
    constexpr std::size_t longest = 60;
    if (field.size() <= longest) return std::string(field);
    return std::string(field.substr(0, longest)) + "...";
  }

  static std::string sentence(std::size_t line, std::size_t column, const std::string& field,
                              const std::string& problem) {
    std::string text = "line " + std::to_string(line);
    if (column > 0) text += ", column " + std::to_string(column) + ", '" + field + "'";
    return text + ": " + problem;
  }
};

}  // namespace yarrow
