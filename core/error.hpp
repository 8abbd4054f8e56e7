#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "text/utf8.hpp"

namespace yarrow {

// Everything the core throws: one sentence that a user can act on.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Does something; if it fails, takes back what it began, and the failure goes on.
template <class Work, class TakeBack>
decltype(auto) all_or_nothing(Work work, TakeBack take_back) {
  try {
    return work();
  } catch (...) {
    take_back();
    throw;
  }
}

// Rows that are skipped are counted; so many of them, the first ones, are also told of.
constexpr std::size_t most_complaints = 5;

// A mistake in a text stream. Its parts are kept, so that a caller who knows the file's name can
// say that too.
struct ParseError : Error {
  std::size_t line;     // 1-based
  std::size_t column;   // 1-based, in bytes; 0 when the whole line is meant
  std::string field;    // as a sentence shows it: shortened, without bytes that are no text
  std::string problem;  // what is wrong with it

  ParseError(std::size_t at_line, std::size_t at_column, std::string_view text,
             std::string_view what_is_wrong)
      : ParseError(at_line, at_column, utf8::shown(utf8::shortened(text)), what_is_wrong, Shown{}) {
  }

  // The same mistake, seen from a stream in which `lines` lines came before.
  ParseError after(std::size_t lines) const {
    return {line + lines, column, field, problem, Shown{}};
  }

 private:
  struct Shown {};  // says that the field has been made fit to be shown

  ParseError(std::size_t at_line, std::size_t at_column, const std::string& text,
             std::string_view what_is_wrong, Shown)
      : Error(sentence(at_line, at_column, text, what_is_wrong)),
        line(at_line),
        column(at_column),
        field(text),
        problem(what_is_wrong) {}

  static std::string sentence(std::size_t line, std::size_t column, const std::string& field,
                              std::string_view problem) {
    std::string text = "line " + std::to_string(line);
    if (column > 0) text += ", column " + std::to_string(column) + ", '" + field + "'";
    return text.append(": ").append(problem);
  }
};

}  // namespace yarrow
