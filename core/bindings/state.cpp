#include "saved_state.hpp"

#include "bindings/python_model.hpp"

namespace yarrow {

template <class Framework, class W>
static nb::dict state_of(const PythonModel<W>& self) {
  nb::dict out;
  save_state(self, [&](const char* name, auto numbers, const ArrayWriter::Shape& shape) {
    out[name] = to_array<Framework>(std::move(numbers), shape);
  });
  return out;
}

template <class W>
static nb::dict get_state(PythonModel<W>& self) {
  const Reading lock(self.mutex);
  return state_of<nb::numpy>(self);
}

/// The state, as views of memory, and the names of its classes, as of one moment.
template <class W>
static nb::tuple get_named_state(PythonModel<W>& self) {
  const Reading lock(self.mutex);
  return nb::make_tuple(state_of<nb::memview>(self), to_python(self.classes.names()));
}

/// Arrays of a dict, which must outlive what is returned.
static SavedState borrow_state(const nb::dict& from) {
  SavedState state;
  for (const auto& [key, value] : from) {
    const auto name = nb::cast<std::string>(key);
    nb::ndarray<nb::ro, nb::c_contig> array;
    if (!nb::try_cast(value, array, false)) SavedState::refuse(name, "is no array");
    const auto type = number_type(array.dtype());
    if (!type) SavedState::refuse(name, "has the wrong type");
    std::vector<std::size_t> shape;
    for (std::size_t i = 0; i < array.ndim(); ++i) shape.push_back(array.shape(i));
    state.add(name, {*type, std::move(shape), static_cast<const char*>(array.data())});
  }
  return state;
}

template <class W>
static void set_state(PythonModel<W>& self, const nb::dict& from, const nb::list& class_names) {
  SavedState state = borrow_state(from);
  const std::vector<ClassName> classes = to_class_names(class_names);
  const Changing lock(self.mutex);
  restore_state(self, state, classes);
}

template <class W>
void bind_state(nb::class_<PythonModel<W>>& type) {
  type.def("get_state", &get_state<W>, "The exact training state as named arrays.");
  type.def("get_named_state", &get_named_state<W>,
           "The state, as views of memory, and its classes, of one moment.");
  type.def("set_state", &set_state<W>, nb::arg("state"), nb::arg("classes"),
           "Go on from a state that get_state gave. A model that refuses one is of no more use.");
}

void bind_saved_names(nb::module_& m) {
  nb::list scalars;
  State<float> state(Blocks<float>({}, 1));
  each_scalar(state, [&](const char* name, auto&, Range) { scalars.append(name); });
  m.attr("SCALARS") = scalars;  // of a saved state, in their order
  m.attr("CALIBRATION_BINS") = std::size_t{Calibration::bins};
  m.attr("NAMES_UNKNOWN") = int{names_unknown};
}

template void bind_state(nb::class_<PythonModel<float>>&);
template void bind_state(nb::class_<PythonModel<double>>&);

}  // namespace yarrow
