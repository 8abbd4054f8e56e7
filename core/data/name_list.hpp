#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>

#include "data/name.hpp"
#include "data/text_arena.hpp"
#include "error.hpp"

namespace yarrow {

// Names of features, each with a place for good. One thread may add names while others read those
// that were there when they were told of the list: nothing that has been added ever moves.
class NameList {
 public:
  // For the thread that adds alone, as are all but [].
  Index size() const { return size_; }
  std::size_t bytes() const { return bytes_; }

  Name operator[](Index place) const {
    const auto [chunk, at] = find(place);
    return chunks_[chunk][at];
  }

  Index add(std::string_view name) {
    if (size_ == std::numeric_limits<Index>::max() - first_chunk)
      throw Error("There are too many names of features.");
    const auto [chunk, at] = find(size_);
    if (at == 0) chunks_[chunk] = std::make_unique_for_overwrite<Name[]>(first_chunk << chunk);
    chunks_[chunk][at] = Name(texts_.copy(name));
    bytes_ += name.size();
    return size_++;
  }

 private:
  static constexpr std::size_t first_chunk = 64;  // each is twice as large as the one before

  struct Place {
    std::size_t chunk, at;
  };
  static Place find(Index place) {
    const std::size_t number = static_cast<std::size_t>(place) + first_chunk;
    const auto chunk = static_cast<std::size_t>(std::bit_width(number / first_chunk)) - 1;
    return {chunk, number - (first_chunk << chunk)};
  }

  std::array<std::unique_ptr<Name[]>, 26> chunks_;
  TextArena texts_;
  Index size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace yarrow
