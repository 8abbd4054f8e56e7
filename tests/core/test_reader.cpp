// The reader: the same rows in the same order whatever the threads, the blocks and the source.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "input/parse_svmlight.hpp"
#include "input/parse_vw.hpp"
#include "input/reader.hpp"
#include "memory_source.hpp"

using namespace yarrow;

namespace {

std::shared_ptr<SvmlightParser<float>> svmlight(const TextOptions& options = {}) {
  return std::make_shared<SvmlightParser<float>>(options);
}

std::shared_ptr<SvmlightParser<float>> skipping() {
  TextOptions options;
  options.skip_errors = true;
  return svmlight(options);
}

struct Seen {
  std::string rows;   // "line:label index=value ...;" each
  std::string error;  // what the reader threw at the end
  std::size_t lines = 0, skipped = 0;
  std::vector<std::string> complaints;
  bool operator==(const Seen&) const = default;
};

Seen read_all(BlockReader<float>& reader) {
  Seen seen;
  try {
    while (RowBlock<float>* block = reader.next()) {
      for (std::size_t i = 0; i < block->rows(); ++i) {
        seen.rows +=
            std::to_string(block->line_number(i)) + ":" + std::string(block->label_text[i]);
        const Row<float> row = block->row(i);
        for (std::size_t k = 0; k < row.size; ++k)
          seen.rows += " " + std::to_string(row.index[k]) + "=" + std::to_string(row.value[k]);
        seen.rows += ";";
      }
    }
  } catch (const std::exception& error) {
    seen.error = error.what();
  }
  seen.lines = reader.lines();
  seen.skipped = reader.skipped();
  for (const ParseError& complaint : reader.complaints())
    seen.complaints.push_back(complaint.what());
  return seen;
}

Seen read_all(const std::string& text, const std::shared_ptr<TextParser<float>>& parser,
              const ReaderOptions& options = {}) {
  BlockReader<float> reader(std::make_unique<MemorySource>(text), parser, options);
  return read_all(reader);
}

std::string some_text(std::size_t rows, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    if (random() % 10 == 0) text += random() % 2 ? "# comment\n" : "\r\n";
    text += random() % 2 ? "1" : "-1";
    std::size_t index = 0;
    for (std::size_t n = random() % 12; n-- > 0;)
      text += " " + std::to_string(index += 1 + random() % 99) + ":0." +
              std::to_string(random() % 9999);
    text += "\n";
  }
  return text;
}

// A source that delivers a few bytes at a time.
std::unique_ptr<ByteSource> trickle(const std::string& text, std::size_t most) {
  auto random = std::make_shared<std::mt19937_64>(5);
  auto rest = std::make_shared<std::string_view>(text);
  return std::make_unique<CallbackSource>([=](char* place, std::size_t size) {
    size = rest->copy(place, std::min<std::size_t>(size, 1 + (*random)() % most));
    rest->remove_prefix(size);
    return size;
  });
}

void threads_and_blocks_change_nothing() {
  std::string text = some_text(400);
  for (const bool broken : {false, true}) {
    if (broken)
      for (const std::size_t at : {900u, 2000u, 4000u, 9000u})
        text.insert(text.find('\n', at), " oops");
    const Seen expected = read_all(text, skipping());
    CHECK(expected.error.empty() && expected.skipped == (broken ? 4 : 0));
    CHECK(expected.lines == static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    const Seen stopped = read_all(text, svmlight());
    CHECK(stopped.error.empty() == !broken);
    for (const int threads : {1, 2, 3, 8})
      for (const std::size_t bytes : {1u, 7u, 100u, 1000u, 5000u, 1000000u}) {
        const ReaderOptions options{.threads = threads, .block_bytes = bytes};
        CHECK(read_all(text, skipping(), options) == expected);
        const Seen again = read_all(text, svmlight(), options);
        CHECK(again.rows == stopped.rows && again.error == stopped.error);
        BlockReader<float> reader(trickle(text, 40), skipping(), options);
        CHECK(read_all(reader) == expected);
      }
  }
}

void an_error_comes_after_the_rows_before_it() {
  const std::size_t rows = 40;
  for (std::size_t bad = 0; bad < rows; ++bad) {
    std::string text, before;
    for (std::size_t i = 0; i < rows; ++i) {
      text += i == bad ? "1 2:x\n" : "1 2:1\n";
      if (i < bad) before += std::to_string(i + 1) + ":1 1=1.000000;";
    }
    for (const int threads : {1, 2, 4})
      for (const std::size_t bytes : {1u, 20u, 100u, 1000u}) {
        BlockReader<float> reader(std::make_unique<MemorySource>(text), svmlight(),
                                  {.threads = threads, .block_bytes = bytes});
        const Seen seen = read_all(reader);
        CHECK(seen.rows == before);
        CHECK(seen.error ==
              "line " + std::to_string(bad + 1) + ", column 3, '2:x': the value is not a number");
        CHECK_THROWS(reader.next(), ParseError, "'2:x'");  // and stays
      }
  }
}

void a_failing_source_comes_after_the_rows_before_it() {
  for (const int threads : {1, 2, 4}) {
    const std::string text = some_text(50);
    auto rest = std::make_shared<std::string_view>(text);
    auto source = std::make_unique<CallbackSource>([=](char* place, std::size_t size) {
      if (rest->empty()) throw Error("The disk is gone.");
      size = rest->copy(place, std::min<std::size_t>(size, 100));
      rest->remove_prefix(size);
      return size;
    });
    TextOptions options;
    options.index_base = 1;
    BlockReader<float> reader(std::move(source), svmlight(options),
                              {.threads = threads, .block_bytes = 300});
    const Seen seen = read_all(reader), expected = read_all(text, svmlight(options));
    CHECK(seen.error == "The disk is gone.");
    CHECK(seen.rows.size() > 100 && expected.rows.find(seen.rows) == 0);
  }
}

void ends_and_beginnings_of_files() {
  const Seen whole = read_all("1 2:3\n4 5:6\n", svmlight());
  CHECK(whole.rows == "1:1 1=3.000000;2:4 4=6.000000;" && whole.lines == 2);
  CHECK(read_all("1 2:3\n4 5:6", svmlight()) == whole);
  CHECK(read_all("1 2:3\r\n4 5:6\r\n", svmlight()) == whole);
  CHECK(read_all("\xef\xbb\xbf"
                 "1 2:3\n4 5:6\n",
                 svmlight()) == whole);
  for (const char* empty : {"", "\n", "# nothing\n\n", " "}) {
    const Seen seen = read_all(empty, svmlight());
    CHECK(seen.rows.empty() && seen.error.empty());
  }
}

void long_lines_grow_the_buffer_up_to_a_limit() {
  std::string text = "1 1:1\n2", rows = "1:1 0=1.000000;2:2";
  for (int i = 1; i <= 5000; ++i) {
    text += " " + std::to_string(i) + ":1";
    rows += " " + std::to_string(i - 1) + "=1.000000";
  }
  text += "\n3 1:1\n";
  rows += ";3:3 0=1.000000;";
  for (const int threads : {1, 3}) {
    CHECK(read_all(text, svmlight(), {.threads = threads, .block_bytes = 64}).rows == rows);
    const Seen limited =
        read_all(text, svmlight(), {.threads = threads, .block_bytes = 64, .longest_line = 20000});
    CHECK(limited.rows == "1:1 0=1.000000;");
    CHECK(limited.error ==
          "line 2: the line is longer than the limit of 20000 bytes; longest_line allows more");
  }
  // The line feed does not count, and it may be missing at the end.
  for (const char* end : {"", "\n"})
    for (const std::size_t size : {99u, 100u, 101u}) {
      const std::string line = "1 1:1 # " + std::string(size - 8, 'x') + end;
      const Seen seen = read_all(line, svmlight(), {.block_bytes = 64, .longest_line = 100});
      CHECK(seen.error.empty() == (size <= 100));
    }
}

void long_lines_are_not_read_ahead() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "1 1:1 # " + std::string(20000, 'x') + "\n";
  TextOptions options;
  options.index_base = 1;  // or the beginning would be looked at
  std::size_t bytes = 0;
  MemorySource memory(text);
  BlockReader<float> reader(std::make_unique<CallbackSource>([&](char* place, std::size_t size) {
                              const std::size_t count = memory.read(place, size);
                              bytes += count;
                              return count;
                            }),
                            svmlight(options), {.threads = 4, .block_bytes = 64});
  for (std::size_t line = 1; line <= 40; ++line) {
    CHECK(reader.next() && bytes <= (line + 2) * 21000);
  }
  CHECK(!reader.next());
}

void the_index_base_depends_on_the_start_alone() {
  // Index 0 occurs late, but within the window.
  std::string text;
  while (text.size() < 100000) text += "1 3:1 4:1\n";
  text += "1 0:1\n";
  for (const int threads : {1, 2, 4})
    for (const std::size_t bytes : {50u, 4096u, 1000000u}) {
      const auto parser = svmlight();
      const Seen seen = read_all(text, parser, {.threads = threads, .block_bytes = bytes});
      CHECK(parser->index_base() == 0 && seen.error.empty());
      CHECK(seen.rows.substr(0, 24) == "1:1 3=1.000000 4=1.00000");
    }
  // Beyond the window it is an error, in every thread alike.
  std::string late;
  while (late.size() < svmlight()->window()) late += "1 3:1 4:1\n";
  late += "1 0:1\n";
  for (const int threads : {1, 4}) {
    const auto parser = svmlight();
    const Seen seen = read_all(late, parser, {.threads = threads});
    CHECK(parser->index_base() == 1 && seen.error.find("pass index base 0") != std::string::npos);
  }
}

void a_live_stream_is_not_kept_waiting() {
  for (const int threads : {1, 2}) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    TextOptions options;
    options.index_base = 1;
    BlockReader<float> reader(std::make_unique<FileSource>(ends[0]), svmlight(options),
                              {.threads = threads});
    const auto send = [&](std::string_view text) {
      return write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    };
    for (int i = 0; i < 5; ++i) {
      CHECK(send(i == 0 ? "1 1:1\n2 2:2\n3 3" : ":3\n2 2:2\n3 3"));
      const RowBlock<float>* block = reader.next();  // would hang if it waited for more
      CHECK(block && block->rows() == 2 && block->label[1] == 2);
    }
    CHECK(send(":3"));
    close(ends[1]);
    const RowBlock<float>* block = reader.next();
    CHECK(block && block->rows() == 1 && block->value[0] == 3 && block->line_number(0) == 11);
    CHECK(reader.next() == nullptr);
    close(ends[0]);
  }
}

void a_reader_may_be_left_early() {
  const std::string text = some_text(2000);
  for (int i = 0; i < 50; ++i) {
    BlockReader<float> reader(std::make_unique<MemorySource>(text), svmlight(),
                              {.threads = 4, .block_bytes = 500});
    for (int k = 0; k < i % 7; ++k) CHECK(reader.next() != nullptr);
  }
}

void the_source_is_read_by_the_calling_thread() {
  const std::string text = some_text(500);
  const auto caller = std::this_thread::get_id();
  auto rest = std::make_shared<std::string_view>(text);
  std::atomic<int> strangers = 0;
  auto source = std::make_unique<CallbackSource>([&, rest](char* place, std::size_t size) {
    strangers += std::this_thread::get_id() != caller;
    size = rest->copy(place, size);
    rest->remove_prefix(size);
    return size;
  });
  BlockReader<float> reader(std::move(source), svmlight(), {.threads = 4, .block_bytes = 200});
  CHECK(read_all(reader).rows == read_all(text, svmlight()).rows);
  CHECK(strangers == 0);
}

}  // namespace

int main() {
  threads_and_blocks_change_nothing();
  an_error_comes_after_the_rows_before_it();
  a_failing_source_comes_after_the_rows_before_it();
  ends_and_beginnings_of_files();
  long_lines_grow_the_buffer_up_to_a_limit();
  long_lines_are_not_read_ahead();
  the_index_base_depends_on_the_start_alone();
  a_live_stream_is_not_kept_waiting();
  a_reader_may_be_left_early();
  the_source_is_read_by_the_calling_thread();
  return check::failures();
}
