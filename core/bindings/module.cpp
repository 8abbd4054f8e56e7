#include <cstring>

#include "bindings/common.hpp"
#include "bindings/forking.hpp"

namespace yarrow {

ClassName to_class_name(nb::handle object) {
  PyObject* p = object.ptr();
  if (PyBool_Check(p)) return ClassName::of(p == Py_True);
  if (PyUnicode_Check(p)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(p, &size);
    if (text) return ClassName::of(std::string(text, static_cast<std::size_t>(size)));
    PyErr_Clear();
    throw Error("The class " + std::string(nb::repr(object).c_str()) + " is not valid Unicode.");
  }
  if (PyFloat_Check(p)) {
    const double value = PyFloat_AsDouble(p);
    if (value != std::floor(value) || std::isinf(value))
      throw Error("A class must be a string, an integer or a boolean, not a fraction.");
    return ClassName::of(value);
  }
  if (PyIndex_Check(p)) {
    const nb::object integer = nb::steal(PyNumber_Index(p));
    if (!integer.is_valid()) throw nb::python_error();
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow) throw Error("A class that is an integer must fit into 64 bits.");
    return ClassName::of(static_cast<std::int64_t>(value));
  }
  const nb::object plain = nb::getattr(object, "item", nb::none());  // NumPy scalars
  if (!plain.is_none()) {
    const nb::object value = plain();
    if (value.type().ptr() != object.type().ptr()) return to_class_name(value);
  }
  throw Error("A class must be a string, an integer or a boolean, not " +
              std::string(nb::repr(object).c_str()) + ".");
}

std::vector<ClassName> to_class_names(const nb::list& objects) {
  std::vector<ClassName> names;
  for (nb::handle object : objects) names.push_back(to_class_name(object));
  return names;
}

double to_number(nb::handle object, const char* what) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value != -1 || !PyErr_Occurred()) return value;
  PyErr_Clear();
  throw Error(std::string(what) + " must be a number, not " + nb::repr(object).c_str() + ".");
}

nb::object to_python(const ClassName& name) {
  switch (name.kind) {
    case ClassName::Kind::text:
      return nb::cast(name.text);
    case ClassName::Kind::real:
      return nb::cast(name.real);
    case ClassName::Kind::boolean:
      return nb::cast(name.integer != 0);
    default:
      return nb::cast(name.integer);
  }
}

nb::list to_python(const std::vector<ClassName>& names) {
  nb::list list;
  for (const ClassName& name : names) list.append(to_python(name));
  return list;
}

}  // namespace yarrow

/// The core's errors as those of the package: bad input, one sentence.
static void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const yarrow::Error& e) {
    const nanobind::object type = nanobind::module_::import_("yarrow.errors").attr("DataError");
    // Whatever a sentence quotes, reporting it must not fail.
    const auto size = static_cast<Py_ssize_t>(std::strlen(e.what()));
    const nanobind::object sentence =
        nanobind::steal(PyUnicode_DecodeUTF8(e.what(), size, "backslashreplace"));
    if (sentence.is_valid()) PyErr_SetObject(type.ptr(), sentence.ptr());
  }
}

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of yarrow.";
  nanobind::set_leak_warnings(false);  // an interpreter that ends need not free everything
  nanobind::register_exception_translator(translate);
  yarrow::bind_rules(m);
  yarrow::bind_models(m);
  yarrow::bind_mixtures(m);
  yarrow::bind_saved_names(m);
  yarrow::bind_probabilities(m);
  yarrow::bind_labels(m);
  yarrow::bind_readers(m);
  yarrow::bind_counts(m);
  yarrow::bind_locks(m);
}
