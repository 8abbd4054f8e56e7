#pragma once
#include <string_view>

#include "input/lines.hpp"

namespace yarrow {

/// Text that is in memory, and stays there.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : text_(text) {}
  std::size_t read(char* place, std::size_t size) override {
    size = text_.copy(place, size);
    text_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view text_;
};

}  // namespace yarrow
