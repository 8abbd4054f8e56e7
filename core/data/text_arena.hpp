#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace yarrow {

// Memory for texts that stay where they are until clear(); the pages are used again.
class TextArena {
 public:
  char* take(std::size_t size) {
    if (size > static_cast<std::size_t>(limit_ - free_)) next_page(size);
    char* text = free_;
    free_ += size;
    return text;
  }

  std::string_view copy(std::string_view text) {
    char* const place = take(text.size());
    text.copy(place, text.size());
    return {place, text.size()};
  }

  // Two texts with a letter between them.
  std::string_view join(std::string_view a, char between, std::string_view b) {
    char* const text = take(a.size() + 1 + b.size());
    *std::copy(a.begin(), a.end(), text) = between;
    std::copy(b.begin(), b.end(), text + a.size() + 1);
    return {text, a.size() + 1 + b.size()};
  }

  void clear() {
    used_ = 0;
    free_ = limit_ = nullptr;
  }

 private:
  struct Page {
    std::unique_ptr<char[]> text;
    std::size_t size;
  };

  void next_page(std::size_t size) {
    while (used_ < pages_.size() && pages_[used_].size < size) ++used_;
    if (used_ == pages_.size()) {
      std::size_t page_size = std::max(size, std::size_t{1} << 16);
      pages_.push_back({std::make_unique_for_overwrite<char[]>(page_size), page_size});
    }
    free_ = pages_[used_].text.get();
    limit_ = free_ + pages_[used_++].size;
  }

  std::vector<Page> pages_;
  std::size_t used_ = 0;
  char* free_ = nullptr;
  char* limit_ = nullptr;
};

}  // namespace yarrow
