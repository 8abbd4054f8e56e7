// A Python dict of features as a row.
//
// A key is the feature's name: a text, or an integer (True is 1, as everywhere in Python). A value
// is a finite number; 0 means that the feature is absent. A text as value makes the feature
// "key=value" with value 1. None means that the value is missing: to learners that do not tell that
// from 0, the feature is absent.
//
// Here alone names meet Python: the vocabulary sees borrowed bytes and integers.
#pragma once

#include <nanobind/nanobind.h>

#include "data/named_row.hpp"
#include "data/text_arena.hpp"

namespace yarrow {

// Turns dicts into rows, one at a time, and keeps its memory. First collect() a dict, then ask once
// for its row, which lives until the next collect(). No Python code runs inside, so the caller may
// hold a lock; what needs Python code goes through plain_copy(), without the lock:
//
//     nb::object plain;
//     if (!reader.collect(dict, false)) reader.collect(plain = plain_copy(dict), false);
//     Row<float> row = reader.resolve(vocabulary);
template <class W>
class DictReader : public NamedRow<W> {
 public:
  // Reads and checks a dict, which must live until its row is asked for; false if it is no dict or
  // needs a plain_copy().
  bool collect(nanobind::handle dict, bool may_miss);

 private:
  bool take(PyObject* key, PyObject* value, bool may_miss);  // false: it needs a plain_copy()
  void add_category(nanobind::handle key, nanobind::handle value);

  TextArena categories_;  // the texts "key=value"
};

// The same features with keys of type str and int and values of type float, int and str. For dicts
// of anything else that is a name or a number, such as NumPy's scalars.
nanobind::dict plain_copy(nanobind::handle dict);

}  // namespace yarrow
