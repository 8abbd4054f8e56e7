#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
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
    missing_.clear();
    may_repeat_ = false;
  }
  void add(const Name& name, W value) {
    names_.push_back(name);
    value_.push_back(value);
  }
  /// The value of a feature is missing: where the feature is known, the row has NaN there.
  void add_missing(const Name& name) { missing_.push_back(name); }
  void expect_repetition() { may_repeat_ = true; }
  /// Those that it was filled with, as long as whom they were borrowed from lives.
  std::span<const Name> names() const { return names_; }

  /// New names enter the vocabulary; if there is an error, none does.
  Row<W> resolve(Vocabulary& vocabulary) {
    const Index before = vocabulary.size();
    places_.resize(names_.size());
    vocabulary.resolve(names_.data(), names_.size(), places_.data());
    return all_or_nothing([&] { return settle([&](const Name& n) { return vocabulary.find(n); }); },
                          [&] { vocabulary.truncate(before); });
  }

  /// Unknown names are left out.
  Row<W> find(const Vocabulary& vocabulary) {
    places_.resize(names_.size());
    vocabulary.find(names_.data(), names_.size(), places_.data());
    return settle([&](const Name& n) { return vocabulary.find(n); });
  }

  /// Without a vocabulary: the index is the hash, cut to the bits of `mask`.
  Row<W> hash(Index mask) {
    places_.resize(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) places_[i] = names_[i].place(mask);
    may_repeat_ = true;
    return settle([&](const Name& n) { return n.place(mask); });
  }

 private:
  /// Makes the row canonical: without names that have no place, one value for each index.
  Row<W> settle(auto place_of) {
    index_.resize(names_.size() + missing_.size());
    value_.resize(index_.size());
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
    for (const Name& name : missing_) {
      index_[size] = place_of(name);
      value_[size] = std::numeric_limits<W>::quiet_NaN();
      size += index_[size] >= 0;
    }
    return {index_.data(), value_.data(), size};
  }

  std::vector<Name> names_;
  std::vector<Name> missing_;
  std::vector<Index> places_;  ///< the index of each name, or -1; at first those of the last row
  bool may_repeat_ = false;    ///< whether two names may have one index
  DuplicateMerger merger_;
  Buffer<Index> index_;
  Buffer<W> value_;
};

/// How features get their numbers.
struct Naming {
  static constexpr int most_hash_bits = std::numeric_limits<Index>::digits - 1;

  int hash_bits = 0;  ///< > 0: by hash, into 2^bits places; names are not kept
  Index limit = Vocabulary::kNoLimit;
  WhenFull when_full = WhenFull::Refuse;
};

/// The numbers of features, by names that a vocabulary keeps, or by hash.
struct FeatureNumbers {
  static constexpr std::uint8_t by_text = 1, by_number = 2;

  Vocabulary vocabulary;
  const Index hash_mask;  ///< 0: names are kept in the vocabulary
  /// The kinds of names that a model which hashes was taught by: it keeps no sign of them else, and
  /// columns without names mean nothing to one that only knows texts.
  std::uint8_t hashed_kinds = 0;

  explicit FeatureNumbers(Naming naming)
      : vocabulary(naming.limit, naming.when_full),
        hash_mask(naming.hash_bits ? (Index{1} << naming.hash_bits) - 1 : 0) {}

  /// Notes the names of what has been learned.
  void note_hashed(std::span<const Name> names) {
    if (!hash_mask) return;
    for (const Name& name : names) hashed_kinds |= name.is_text() ? by_text : by_number;
  }

  /// For learning: new names enter the vocabulary.
  template <class W>
  Row<W> resolve(NamedRow<W>& row) {
    return hash_mask ? row.hash(hash_mask) : row.resolve(vocabulary);
  }
  /// For predicting: unknown names are left out, or have no place, -1.
  template <class W>
  Row<W> find(NamedRow<W>& row) const {
    return hash_mask ? row.hash(hash_mask) : row.find(vocabulary);
  }
  Index find(const Name& name) const {
    return hash_mask ? name.place(hash_mask) : vocabulary.find(name);
  }
  std::vector<Index> places_of(const std::vector<Name>& names, bool add) {
    std::vector<Index> places(names.size());
    if (add && !hash_mask)
      vocabulary.resolve(names.data(), names.size(), places.data());
    else if (hash_mask)
      std::ranges::transform(names, places.begin(), [this](const Name& n) { return find(n); });
    else
      vocabulary.find(names.data(), names.size(), places.data());
    return places;
  }
};

/// The names of columns that have none: 0, 1, 2...
inline std::vector<Name> numbers_as_names(std::size_t columns) {
  std::vector<Name> names;
  for (std::size_t j = 0; j < columns; ++j) names.push_back(Name(static_cast<std::int64_t>(j)));
  return names;
}

}  // namespace yarrow
