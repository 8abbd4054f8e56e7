// What must hold of any bytes that a reader of text is given. LLVMFuzzerTestOneInput() of a format
// calls check_text(); without libFuzzer, main() replays files.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/memory_source.hpp"
#include "input/reader.hpp"
#include "replay.hpp"

namespace fuzz {

using namespace yarrow;

inline void require(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::abort();
}

/// The first bytes of an input choose options, the rest is the text.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}
  unsigned below(unsigned n) {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    return byte % n;
  }
  std::string_view text() const { return rest_; }

 private:
  std::string_view rest_;
};

/// All that a reader says of a text.
struct Account {
  std::uint64_t rows = 0xcbf29ce484222325;  // a sum of all that is in them
  std::string complaints;
  std::optional<ParseError> failure;
  std::size_t lines = 0, skipped = 0;
};

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The place that an error names lies in the text.
inline void check_place(const ParseError& error, const std::vector<std::string_view>& lines) {
  require(error.line >= 1 && error.line <= lines.size(), "an error's line is in the text");
  require(error.column <= lines[error.line - 1].size() + 1, "an error's column is in its line");
  require(!error.problem.empty() && utf8::find_invalid(error.what()) == std::string_view::npos,
          "an error is a sentence");
}

/// Adds bytes to a sum that tells texts apart (FNV-1a).
inline void add(std::uint64_t& sum, std::string_view bytes) {
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  sum *= 0x100000001b3;
}
inline void add(std::uint64_t& sum, double number) {
  const auto bits = std::bit_cast<std::array<char, sizeof number>>(number);
  add(sum, std::string_view(bits.data(), bits.size()));
}

template <class W>
void check_row(const RowBlock<W>& block, std::size_t i, std::uint64_t& sum) {
  add(sum, block.label_text[i]);
  add(sum, block.label[i]);
  add(sum, block.weight[i]);
  add(sum, static_cast<double>(block.line_number(i)));
  add(sum, i < block.tag.size() ? block.tag[i] : std::string_view());
  std::vector<std::string_view> names;
  std::vector<Index> indices;
  for (std::int64_t j = block.begin[i]; j < block.begin[i + 1]; ++j) {
    require(std::isfinite(block.value[j]) && block.value[j] != 0, "values are finite and not 0");
    add(sum, block.value[j]);
    if (block.named()) {
      require(block.index[j] >= 0 && block.index[j] < block.name_count, "a name is in the list");
      names.push_back(block.name(static_cast<std::size_t>(j)).view());
      require(utf8::find_invalid(names.back()) == std::string_view::npos, "names are UTF-8");
      add(sum, names.back());
    } else {
      indices.push_back(block.index[j]);
      require(indices.back() >= 0, "indices are not negative");
      add(sum, indices.back());
    }
  }
  const auto has_twice = [](auto& all) {
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) != all.end();
  };
  require(!has_twice(names) && !has_twice(indices), "a row has no feature twice");
}

template <class W>
Account read(std::string_view text, std::shared_ptr<TextParser<W>> parser,
             const ReaderOptions& options) {
  const auto lines = lines_of(text);
  Account account;
  BlockReader<W> reader(std::make_unique<MemorySource>(text), std::move(parser), options);
  try {
    while (const RowBlock<W>* block = reader.next())
      for (std::size_t i = 0; i < block->rows(); ++i) check_row(*block, i, account.rows);
  } catch (const ParseError& error) {
    check_place(error, lines);
    account.failure = error;
  }
  account.lines = reader.lines();
  account.skipped = reader.skipped();
  for (const ParseError& complaint : reader.complaints()) {
    check_place(complaint, lines);
    account.complaints.append(complaint.what()).append("\n");
  }
  return account;
}

/// Whatever the size of blocks, the answer is the same.
template <class W>
void check_text(std::string_view text, const std::shared_ptr<TextParser<W>>& parser,
                std::size_t block_bytes, std::size_t longest_line) {
  ReaderOptions options;
  options.longest_line = longest_line;
  options.block_bytes = 1 << 12;
  const Account whole = read(text, parser, options);
  options.block_bytes = block_bytes;
  const Account cut = read(text, parser, options);
  // Which line is too long is found block by block; all else is as if read at once.
  if (longest_line < text.size()) return;
  require(whole.rows == cut.rows, "blocks do not change the rows");
  require(whole.complaints == cut.complaints && whole.skipped == cut.skipped,
          "blocks do not change what is skipped");
  require(whole.failure.has_value() == cut.failure.has_value(), "blocks do not change the end");
  if (whole.failure)
    require(std::string_view(whole.failure->what()) == cut.failure->what(),
            "blocks do not change the error");
  else
    require(whole.lines == cut.lines, "blocks do not change the number of lines");
}

}  // namespace fuzz
