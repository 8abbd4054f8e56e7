#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/row_block.hpp"
#include "error.hpp"

namespace yarrow {

// Where bytes come from. A reader calls it from one thread only, the one that calls the reader.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads at least one byte and at most `size`, waiting for them if need be; 0 at the end.
  virtual std::size_t read(char* place, std::size_t size) = 0;
  // Whether read() would return at once. Rows that are there are handed out before waiting for
  // more.
  virtual bool ready() { return true; }
};

// A file, a pipe or a terminal.
class FileSource : public ByteSource {
 public:
  // `interrupted` is called when a signal breaks off a read; it may throw to stop.
  explicit FileSource(int file, std::function<void()> interrupted = {})
      : file_(file), interrupted_(std::move(interrupted)) {
    struct stat about;
    may_wait_ = fstat(file, &about) == 0 && !S_ISREG(about.st_mode);
  }

  std::size_t read(char* place, std::size_t size) override {
    for (;;) {
      const ssize_t count = ::read(file_, place, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) throw Error(std::string("Cannot read: ") + std::strerror(errno) + ".");
      if (interrupted_) interrupted_();
    }
  }

  bool ready() override {
    pollfd request{file_, POLLIN, 0};
    return !may_wait_ || poll(&request, 1, 0) != 0;
  }

 private:
  int file_;
  bool may_wait_;
  std::function<void()> interrupted_;
};

// Whatever a function delivers, such as the decompressed bytes of a file; 0 at the end.
class CallbackSource : public ByteSource {
 public:
  using Read = std::function<std::size_t(char* place, std::size_t size)>;
  explicit CallbackSource(Read read) : read_(std::move(read)) {}
  std::size_t read(char* place, std::size_t size) override { return read_(place, size); }

 private:
  Read read_;
};

// Cuts a stream of bytes into texts of whole lines.
class LineCutter {
 public:
  LineCutter(std::unique_ptr<ByteSource> source, std::size_t block_bytes, std::size_t longest_line)
      : source_(std::move(source)), block_bytes_(block_bytes), longest_line_(longest_line) {}

  bool ended() const { return ended_ && !has_pending(); }

  // The first `size` bytes of the stream, or all of it; they will come again in fill().
  std::string_view peek(std::size_t size) {
    std::size_t count = 0;
    while (count < size && !ended_) {
      if (count == pending_.size()) pending_.resize(std::min(size, 2 * count + (1 << 12)));
      count += read_source(pending_.data() + count, pending_.size() - count);
    }
    pending_.resize(count);
    return {pending_.data(), count};
  }

  // Replaces `text` by the next lines: about block_bytes of them, or those that are there without
  // waiting. If there is none yet, waits for one, or returns false if it shall not. Returns false
  // at the end of the stream. The last line gets the line feed that it may lack.
  bool fill(TextBuffer& text, bool wait) {
    text.reserve(block_bytes_);
    text.size = 0;
    std::size_t whole = 0;  // how much of the text is whole lines
    while (text.size < text.capacity() || (whole == 0 && grow(text))) {
      if ((whole > 0 || !wait) && !has_pending() && !source_->ready()) break;
      const std::size_t count = take(text.data() + text.size, text.capacity() - text.size);
      if (count == 0) break;
      const auto line_feed = std::string_view(text.data() + text.size, count).rfind('\n');
      if (line_feed != std::string_view::npos) whole = text.size + line_feed + 1;
      text.size += count;
    }
    if (first_) blank_byte_order_mark(text);
    if (!ended()) {
      give_back(text, whole);
    } else if (text.size > whole) {
      text.data()[text.size++] = '\n';
    }
    return text.size > 0;
  }

 private:
  bool has_pending() const { return place_ < pending_.size(); }

  std::size_t read_source(char* place, std::size_t size) {
    const std::size_t count = ended_ ? 0 : source_->read(place, size);
    ended_ |= count == 0;
    return count;
  }

  std::size_t take(char* place, std::size_t size) {
    if (!has_pending()) return read_source(place, size);
    size = std::min(size, pending_.size() - place_);
    std::memcpy(place, pending_.data() + place_, size);
    place_ += size;
    return size;
  }

  void give_back(TextBuffer& text, std::size_t whole) {
    const std::size_t rest = text.size - whole;
    if (has_pending()) {
      place_ -= rest;  // nothing but pending bytes went into this text
    } else {
      pending_.assign(text.data() + whole, text.data() + text.size);
      place_ = 0;
    }
    text.size = whole;
  }

  bool grow(TextBuffer& text) const {
    if (text.capacity() > longest_line_)  // the line feed is no part of the line
      throw ParseError(1, 0, "",
                       "the line is longer than the limit of " + std::to_string(longest_line_) +
                           " bytes; longest_line allows more");
    text.reserve(std::min(2 * text.capacity(), longest_line_ + 1));
    return true;
  }

  // What some editors put at the start of a file is no part of its first label.
  void blank_byte_order_mark(TextBuffer& text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (std::string_view(text.data(), text.size).starts_with(mark))
      std::fill_n(text.data(), mark.size(), ' ');
    first_ = false;
  }

  std::unique_ptr<ByteSource> source_;
  std::size_t block_bytes_, longest_line_;
  std::vector<char> pending_;  // read but not handed out yet, from place_ on
  std::size_t place_ = 0;
  bool ended_ = false;
  bool first_ = true;
};

}  // namespace yarrow
