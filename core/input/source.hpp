#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace yarrow
