#include "bindings/dict_row.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "error.hpp"

namespace yarrow {

namespace nb = nanobind;

namespace {

// The exact types first: that is one comparison, where the stable ABI asks for flags by a call.
bool is_text(nb::handle h) { return PyUnicode_CheckExact(h.ptr()) || PyUnicode_Check(h.ptr()); }
bool is_float(nb::handle h) { return PyFloat_CheckExact(h.ptr()) || PyFloat_Check(h.ptr()); }
bool is_integer(nb::handle h) { return PyLong_CheckExact(h.ptr()) || PyLong_Check(h.ptr()); }

bool is_plain_name(nb::handle key) { return is_text(key) || is_integer(key); }
bool is_plain_number(nb::handle value) { return is_float(value) || is_integer(value); }

std::string type_of(nb::handle object) { return nb::inst_name(object).c_str(); }

std::string shown(nb::handle object) {
  const std::string text = nb::repr(object).c_str();
  return text.size() <= 60 ? text : "a " + type_of(object);
}

[[noreturn]] void bad_value(const Name& name, const std::string& problem) {
  throw Error("The value of feature " + name.quoted() + " " + problem + ".");
}

// The UTF-8 bytes of a str, which keeps them as long as it lives.
std::string_view bytes_of(nb::handle text) {
  Py_ssize_t size;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes) return {bytes, static_cast<std::size_t>(size)};
  if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) throw nb::python_error();
  PyErr_Clear();
  throw Error("The text " + shown(text) + " in a row is not valid Unicode.");
}

std::int64_t integer_of(nb::handle key) {
  int overflow;
  const long long integer = PyLong_AsLongLongAndOverflow(key.ptr(), &overflow);
  if (overflow) throw Error("The feature name " + shown(key) + " does not fit into 64 bits.");
  return integer;
}

Name name_of(nb::handle key) { return is_text(key) ? Name(bytes_of(key)) : Name(integer_of(key)); }

// The names of keys that came before. The rows of a program mostly have the very same objects as
// keys, not just equal ones, and who holds a str knows its bytes and their hash without asking
// again. A key is held once it comes a second time, until another one takes its place. The
// interpreter's lock guards all of it: nothing here runs Python code, not even the end of a str.
class KnownKeys {
 public:
  // The name of a plain str, until another one is asked for.
  const Name& name_of(PyObject* key) {
    Slot& slot = slots_[reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15 >> (64 - bits)];
    if (slot.key != key || !slot.is_held) [[unlikely]]
      meet(slot, key);
    return slot.name;
  }

 private:
  static constexpr int bits = 12;
  struct Slot {
    Name name{std::int64_t{0}};
    PyObject* key = nullptr;  // where it is not held, perhaps that of an object that is no more
    bool is_held = false;
  };

  [[gnu::noinline]] static void meet(Slot& slot, PyObject* key) {
    const Name name(bytes_of(key));
    PyObject* const left = slot.is_held ? slot.key : nullptr;
    slot = {name, key, slot.key == key};
    if (slot.is_held) Py_INCREF(key);
    Py_XDECREF(left);
  }

  std::array<Slot, 1 << bits> slots_;
};

KnownKeys known_keys;

// A plain number in W, checked.
template <class W>
W number_of(nb::handle key, nb::handle value) {
  const double number =
      is_float(value) ? PyFloat_AsDouble(value.ptr()) : PyLong_AsDouble(value.ptr());
  const bool huge_integer = number == -1 && PyErr_Occurred();
  const W rounded = static_cast<W>(number);
  if (std::isfinite(rounded) && !huge_integer) [[likely]]
    return rounded;
  PyErr_Clear();
  if (std::isnan(number)) bad_value(name_of(key), "is NaN; say None where a value is missing");
  if (std::isinf(number)) bad_value(name_of(key), "is infinite");
  bad_value(name_of(key), sizeof(W) == 4 ? "is too large for float32" : "is too large");
}

nb::object plain_name(nb::handle key) {
  if (is_plain_name(key)) return nb::borrow(key);
  if (!PyIndex_Check(key.ptr()))
    throw Error("The feature name " + shown(key) + " is neither a text nor an integer.");
  PyObject* integer = PyNumber_Index(key.ptr());
  if (!integer) throw nb::python_error();
  return nb::steal(integer);
}

nb::object plain_value(const Name& name, nb::handle value) {
  if (value.is_none()) return nb::none();
  if (is_plain_number(value) || is_text(value)) return nb::borrow(value);
  const double number = PyFloat_AsDouble(value.ptr());
  if (number != -1 || !PyErr_Occurred()) return nb::float_(number);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  // In the words of dict_rows.py.
  bad_value(name, "is neither a number nor a text: " + shown(value) +
                      "; yarrow.features.Columns().transform_one(row) makes features of dates, "
                      "lists and dicts");
}

}  // namespace

nb::dict plain_copy(nb::handle dict) {
  if (!PyDict_Check(dict.ptr()))
    throw Error("A row must be a dict of names and values, not " + shown(dict) +
                (is_text(dict) ? "; yarrow.features.TextFeatures().transform_one(text) makes one "
                                 "of a text."
                               : "."));
  // Conversions may run code that changes the dict, so they read a snapshot.
  const nb::dict snapshot = nb::steal<nb::dict>(PyDict_Copy(dict.ptr()));
  if (!snapshot) throw nb::python_error();
  nb::dict plain;
  for (const auto [raw_name, raw_value] : snapshot) {
    const nb::object key = plain_name(raw_name);
    plain[key] = plain_value(name_of(key), raw_value);
  }
  return plain;
}

template <class W>
[[gnu::always_inline]] inline bool DictReader<W>::take(PyObject* key, PyObject* value,
                                                       bool may_miss) {
  if (!is_plain_name(key)) return false;
  if (!is_plain_number(value)) {
    if (value == Py_None) {
      if (may_miss) this->add_missing(name_of(key));
      return true;
    }
    if (!is_text(value)) return false;
    add_category(key, value);
    return true;
  }
  const W number = number_of<W>(key, value);
  if (number == 0) return true;
  if (PyUnicode_CheckExact(key)) [[likely]] {
    this->add(known_keys.name_of(key), number);
    return true;
  }
  this->add(name_of(key), number);
  // Keys that differ are names that differ, unless a subclass of str has its own equality.
  if (!PyLong_CheckExact(key)) this->expect_repetition();
  return true;
}

template <class W>
bool DictReader<W>::collect(nb::handle dict, bool may_miss) {
  categories_.clear();
  this->clear();
  if (!PyDict_Check(dict.ptr())) return false;

  PyObject *key, *value;
  for (Py_ssize_t place = 0; PyDict_Next(dict.ptr(), &place, &key, &value);)
    if (!take(key, value, may_miss)) return false;
  return true;
}

template <class W>
void DictReader<W>::add_category(nb::handle key, nb::handle value) {
  const std::string digits = is_text(key) ? "" : std::to_string(integer_of(key));
  const std::string_view left = is_text(key) ? bytes_of(key) : digits, right = bytes_of(value);
  this->add(Name(categories_.join(left, '=', right)), 1);
  this->expect_repetition();  // "key=value" may also be a key
}

template class DictReader<float>;
template class DictReader<double>;

}  // namespace yarrow
