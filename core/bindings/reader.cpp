#include "model.hpp"

namespace yarrow {
template <class W>
void bind_streams(nb::class_<PythonModel<W>>&) {}
template void bind_streams(nb::class_<PythonModel<float>>&);
template void bind_streams(nb::class_<PythonModel<double>>&);
void bind_readers(nb::module_&) {}
}  // namespace yarrow
