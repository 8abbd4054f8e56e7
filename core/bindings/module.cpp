#include "common.hpp"

namespace yarrow {

ClassName to_class_name(nb::handle object) {
  PyObject* p = object.ptr();
  if (PyBool_Check(p)) return ClassName::of(p == Py_True);
  if (PyUnicode_Check(p)) return ClassName::of(nb::cast<std::string>(object));
  if (PyFloat_Check(p)) {
    const double value = PyFloat_AsDouble(p);
    if (!std::isfinite(value)) throw nb::value_error("A class must not be NaN or infinite.");
    return ClassName::of(value);
  }
  if (PyIndex_Check(p)) {
    const nb::object integer = nb::steal(PyNumber_Index(p));
    if (!integer.is_valid()) throw nb::python_error();
    return ClassName::of(nb::cast<std::int64_t>(integer));
  }
  const nb::object plain = nb::getattr(object, "item", nb::none());  // NumPy scalars
  if (!plain.is_none()) return to_class_name(plain());
  throw nb::type_error("A class must be a string, an integer, a number or a boolean.");
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

}  // namespace yarrow

/// The core's errors as those of the package: bad input, one sentence.
static void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const yarrow::Error& e) {
    const nanobind::object type = nanobind::module_::import_("yarrow.errors").attr("DataError");
    PyErr_SetString(type.ptr(), e.what());
  }
}

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of yarrow.";
  nanobind::set_leak_warnings(false);  // an interpreter that ends need not free everything
  nanobind::register_exception_translator(translate);
  yarrow::bind_rules(m);
  yarrow::bind_models(m);
  yarrow::bind_readers(m);
}
