#pragma once
// What the binding files share. Only this folder knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <type_traits>

#include "data/classes.hpp"
#include "learner/rivals.hpp"
#include "rules/rule.hpp"

namespace yarrow {

namespace nb = nanobind;

/// A rule as Python holds it: where its code is, and what its parameters are called.
struct RuleObject {
  std::string name;
  std::vector<std::string> parameters;
  Rule function;
  bool passive_at_target = false;  ///< see Recipe
  nb::object owner;                ///< keeps a user's compiled function alive
  PyObject* callable = nullptr;    ///< a Python function, called through a trampoline
  SlackForm slack = nullptr;       ///< its form for many rivals at once, if it has one
};

ClassName to_class_name(nb::handle object);
std::vector<ClassName> to_class_names(const nb::list& objects);
double to_number(nb::handle object, const char* what);
nb::object to_python(const ClassName& name);
nb::list to_python(const std::vector<ClassName>& names);
inline nb::str to_python(std::string_view text) { return nb::str(text.data(), text.size()); }

/// The text that a str keeps as long as it lives.
std::string_view text_of(nb::handle object);

/// Before arrays are made: an interrupt while nanobind loads numpy would come out as another error.
inline void load_numpy() {
  static bool is_loaded = false;
  if (!is_loaded) nb::module_::import_("numpy");
  is_loaded = true;
}

/// Numbers that Python owns from now on, with the shape given, or in one line: an array, or
/// (nb::memview) what can be had without numpy.
template <class Framework = nb::numpy, class T, class Allocator>
nb::object to_array(std::vector<T, Allocator>&& values, std::vector<std::size_t> shape = {}) {
  using Kept = std::vector<T, Allocator>;
  if constexpr (std::is_same_v<Framework, nb::numpy>) load_numpy();
  if (shape.empty()) shape = {values.size()};
  auto* kept = new Kept(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
  return nb::cast(nb::ndarray<Framework, T>(kept->data(), shape.size(), shape.data(), owner));
}

void bind_rules(nb::module_& m);
void bind_models(nb::module_& m);
void bind_mixtures(nb::module_& m);
void bind_saved_names(nb::module_& m);
void bind_probabilities(nb::module_& m);
void bind_labels(nb::module_& m);
void bind_readers(nb::module_& m);
void bind_counts(nb::module_& m);

}  // namespace yarrow
