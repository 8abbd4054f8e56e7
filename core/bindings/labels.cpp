// Labels that are texts, numbered in the order of their first appearance.
#include <string_view>
#include <unordered_map>

#include "bindings/common.hpp"
#include "data/hash.hpp"

namespace yarrow {

/// The number of each text in a list, and the texts; None if something else stands in it.
static nb::object number_texts(const nb::list& labels) {
  const std::size_t n = nb::len(labels);
  std::vector<double> numbers(n);
  nb::list texts;
  nb::dict known;
  // Most lists have few objects, many times over.
  struct Met {
    PyObject* object = nullptr;
    double number = 0;
  } met[256];
  for (std::size_t i = 0; i < n; ++i) {
    PyObject* const label = PyList_GetItem(labels.ptr(), static_cast<Py_ssize_t>(i));
    Met& last = met[reinterpret_cast<std::uintptr_t>(label) / 16 % 256];
    if (last.object != label) {
      if (!PyUnicode_CheckExact(label)) return nb::none();
      PyObject* number = PyDict_GetItemWithError(known.ptr(), label);
      if (!number && PyErr_Occurred()) throw nb::python_error();
      if (!number) {
        known[nb::handle(label)] = nb::float_(static_cast<double>(nb::len(texts)));
        texts.append(nb::handle(label));
        number = PyDict_GetItemWithError(known.ptr(), label);
      }
      last = {label, PyFloat_AsDouble(number)};
    }
    numbers[i] = last.number;
  }
  return nb::make_tuple(to_array(std::move(numbers), {n}), texts);
}

/// The same for cells of some bytes each: their numbers, and where each first stands.
static nb::tuple number_cells(const nb::ndarray<const char, nb::ndim<2>, nb::c_contig>& cells) {
  struct Hash {
    std::size_t operator()(std::string_view cell) const {
      return hash_text(cell.data(), cell.size());
    }
  };
  const std::size_t n = cells.shape(0), size = cells.shape(1);
  std::vector<double> numbers(n);
  std::vector<std::int64_t> first;
  std::unordered_map<std::string_view, double, Hash> known;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view cell(cells.data() + i * size, size);
    const auto [at, is_new] = known.try_emplace(cell, static_cast<double>(first.size()));
    if (is_new) first.push_back(static_cast<std::int64_t>(i));
    numbers[i] = at->second;
  }
  const std::size_t distinct = first.size();
  return nb::make_tuple(to_array(std::move(numbers), {n}), to_array(std::move(first), {distinct}));
}

void bind_labels(nb::module_& m) {
  m.attr("MOST_CLASSES") = int{Classes::kDefaultLimit};
  m.def(
      "check_new_class",
      [](nb::handle label, int known, int limit) {
        Classes::check_limit(to_class_name(label), known, limit);
      },
      nb::arg("label"), nb::arg("known"), nb::arg("limit"),
      "Refuses one class more than those known, where no more than a limit may appear.");
  m.def("number_texts", &number_texts, nb::arg("labels"),
        "The number of each text of a list, by its first appearance, and the texts; None if "
        "something else stands in it.");
  m.def("number_cells", &number_cells, nb::arg("cells"),
        "The number of each row of bytes, by its first appearance, and where that is.");
}

}  // namespace yarrow
