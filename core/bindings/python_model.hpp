#pragma once
#include "bindings/common.hpp"
#include "bindings/dict_row.hpp"
#include "bindings/forking.hpp"
#include "model.hpp"

namespace yarrow {

/// A model as Python holds it: with the memory for dicts, and its rule's owner kept alive.
template <class W>
class PythonModel : public Model<W> {
 public:
  using Model<W>::Model;
  DictReader<W> reader;
  nb::object rule_owner;
};

/// Says once of a model that it diverges. To be called when no lock is held.
template <class W>
void warn_of_divergence(PythonModel<W>& model) {
  if (!model.is_regression()) return;
  {
    const Changing lock(model.mutex);
    if (!model.learner->divergence.tells()) return;
  }
  constexpr auto text =
      "The predictions of most rows are more than three times as far off as 0 would be: the "
      "learner "
      "diverges. Bring the columns to one scale, take a smaller step, or use YarrowRegressor, "
      "which "
      "needs neither.";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text, 1) < 0) throw nb::python_error();
}

/// The type of an array's numbers, if the core knows it.
std::optional<NumberType> number_type(const nb::dlpack::dtype& type);

/// Borrows the names in a Python list of strings and integers; and a list of all from one on.
std::vector<Name> borrow_names(const nb::list& list);
nb::list to_python(const Vocabulary& names, Index first);

/// Learning from and predicting for the rows of arrays.
template <class W>
void bind_rows(nb::class_<PythonModel<W>>& type);

/// The training state as named arrays and back: what `save` keeps.
template <class W>
void bind_state(nb::class_<PythonModel<W>>& type);

/// What is asked of mixtures of experts alone.
template <class W>
void bind_mixture(nb::class_<PythonModel<W>>& type);

/// Learning from and predicting for streams of text.
template <class W>
void bind_streams(nb::class_<PythonModel<W>>& type);

extern template void bind_rows(nb::class_<PythonModel<float>>&);
extern template void bind_rows(nb::class_<PythonModel<double>>&);
extern template void bind_state(nb::class_<PythonModel<float>>&);
extern template void bind_state(nb::class_<PythonModel<double>>&);
extern template void bind_mixture(nb::class_<PythonModel<float>>&);
extern template void bind_mixture(nb::class_<PythonModel<double>>&);
extern template void bind_streams(nb::class_<PythonModel<float>>&);
extern template void bind_streams(nb::class_<PythonModel<double>>&);

}  // namespace yarrow
