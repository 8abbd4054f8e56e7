#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "data/duplicates.hpp"
#include "data/vocabulary.hpp"

namespace yarrow {

/// A row whose features have names, on the way to their numbers. It is filled, then asked once for
/// the row, which lives until it is filled again; it keeps its memory.
template <class W>
class NamedRow {
 public:
  NamedRow() = default;
  NamedRow(const NamedRow&) = delete;  // scratch memory, full of borrowed names
  NamedRow& operator=(const NamedRow&) = delete;

  void clear() {
    names_.clear();
    value_.clear();
    may_repeat_ = false;
  }
  void add(const Name& name, W value) {
    names_.push_back(name);
    value_.push_back(value);
  }
  void expect_repetition() { may_repeat_ = true; }
  /// Those that it was filled with, as long as whom they were borrowed from lives.
  std::span<const Name> names() const { return names_; }

  /// New names enter the vocabulary; if there is an error, none does.
  Row<W> resolve(Vocabulary& vocabulary) {
    const Index before = vocabulary.size();
    places_.resize(names_.size());
    vocabulary.resolve(names_.data(), names_.size(), places_.data());
    try {
      return settle();
    } catch (...) {
      vocabulary.truncate(before);
      throw;
    }
  }

  /// Unknown names are left out.
  Row<W> find(const Vocabulary& vocabulary) {
    places_.resize(names_.size());
    vocabulary.find(names_.data(), names_.size(), places_.data());
    return settle();
  }

  /// Without a vocabulary: the index is the hash, cut to the bits of `mask`.
  Row<W> hash(Index mask) {
    places_.resize(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i)
      places_[i] = static_cast<Index>(names_[i].hash & static_cast<std::uint64_t>(mask));
    may_repeat_ = true;
    return settle();
  }

 private:
  /// Makes the row canonical: without names that have no place, one value for each index.
  Row<W> settle() {
    index_.resize(names_.size());
    std::size_t size = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      index_[size] = places_[i];
      value_[size] = value_[i];
      size += places_[i] >= 0;
    }
    if (may_repeat_) {
      size = merger_.merge(index_.data(), value_.data(), size);
      for (std::size_t i = 0; i < size; ++i) {
        if (std::isfinite(value_[i])) continue;
        const auto place = std::find(places_.begin(), places_.end(), index_[i]);
        throw Error("The value of feature " +
                    names_[static_cast<std::size_t>(place - places_.begin())].quoted() +
                    " and that of another at the same index have too large a sum.");
      }
    }
    return {index_.data(), value_.data(), size};
  }

  std::vector<Name> names_;
  Buffer<Index> places_;     ///< the index of each name, or -1
  bool may_repeat_ = false;  ///< whether two names may have one index
  DuplicateMerger merger_;
  Buffer<Index> index_;
  Buffer<W> value_;
};

}  // namespace yarrow
