// A Python dict of features as a row.
//
// A key is the feature's name: a text, or an integer (True is 1, as everywhere in Python). A value
// is a finite number; 0 means that the feature is absent. A text as value makes the feature
// "key=value" with value 1.
//
// Here alone names meet Python: the vocabulary sees borrowed bytes and integers.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <vector>

#include "data/duplicates.hpp"
#include "data/row.hpp"
#include "data/vocabulary.hpp"

namespace yarrow {

// Turns dicts into rows, one at a time, and keeps its memory. First collect() a dict, then ask once
// for its row, which lives until the next collect(). No Python code runs inside, so the caller may
// hold a lock; what needs Python code goes through plain_copy(), without the lock:
//
//     nb::object plain;
//     if (!reader.collect(dict)) reader.collect(plain = plain_copy(dict));
//     Row<float> row = reader.learn(vocabulary);
template <class W>
class DictReader {
 public:
  DictReader() = default;
  DictReader(const DictReader&) = delete;  // scratch memory, full of borrowed names
  DictReader& operator=(const DictReader&) = delete;

  // Reads and checks a dict, which must live until its row is asked for; false if it is no dict or
  // needs a plain_copy().
  bool collect(nanobind::handle dict);

  // New names enter the vocabulary; if there is an error, none does.
  Row<W> learn(Vocabulary& vocabulary);

  // Unknown names are left out.
  Row<W> find(const Vocabulary& vocabulary);

  // Without a vocabulary: the index is the hash, cut to the bits of `mask`.
  Row<W> hash(Index mask);

  // Those of the dict, as long as it lives.
  std::span<const Name> names() const { return names_; }

 private:
  void add_category(nanobind::handle key, nanobind::handle value);
  Row<W> settle();

  TextArena categories_;  // the texts "key=value"
  std::vector<Name> names_;
  Buffer<Index> places_;     // the index of each name, or -1
  bool may_repeat_ = false;  // whether two names may have one index
  DuplicateMerger merger_;
  Buffer<Index> index_;
  Buffer<W> value_;
};

// The same features with keys of type str and int and values of type float, int and str. For dicts
// of anything else that is a name or a number, such as NumPy's scalars.
nanobind::dict plain_copy(nanobind::handle dict);

}  // namespace yarrow
