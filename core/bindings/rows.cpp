#include "bindings/common.hpp"
#include "bindings/python_model.hpp"
#include "model.hpp"

namespace yarrow {

using AnyArray = nb::ndarray<nb::ro>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>;

std::optional<NumberType> number_type(const nb::dlpack::dtype& type) {
#define YARROW_FIND(name, T) \
  if (type == nb::dtype<T>()) return NumberType::name;
  YARROW_NUMBER_TYPES(YARROW_FIND)
#undef YARROW_FIND
  return std::nullopt;
}

static Numbers numbers(const AnyArray& array, int axis) {
  const auto bytes = static_cast<std::ptrdiff_t>(array.itemsize());
  const auto type = number_type(array.dtype());
  if (!type) throw nb::type_error("The values must be float32, float64, integers or booleans.");
  return {static_cast<const char*>(array.data()), *type,
          static_cast<std::ptrdiff_t>(array.stride(axis)) * bytes};
}

/// An array from Python as rows: dense (one array) or CSR (three).
template <class W>
struct ArrayRows {
  AnyArray values;
  std::optional<AnyArray> indices, begins;
  std::unique_ptr<RowSource<W>> rows;
  std::size_t columns;

  ArrayRows(AnyArray given, std::optional<AnyArray> i, std::optional<AnyArray> b, std::size_t n,
            Missing missing)
      : values(std::move(given)), indices(std::move(i)), begins(std::move(b)), columns(n) {
    if (indices && begins) {
      const auto count = static_cast<std::int64_t>(begins->shape(0)) - 1;
      auto sparse = std::make_unique<SparseRows<W>>(numbers(*begins, 0), numbers(*indices, 0),
                                                    numbers(values, 0), count,
                                                    static_cast<std::int64_t>(n), missing);
      if (sparse->values() > indices->shape(0) || sparse->values() > values.shape(0))
        throw Error("Input X is damaged: its rows need more values than there are.");
      rows = std::move(sparse);
    } else {
      const auto row_step = static_cast<std::ptrdiff_t>(values.stride(0)) *
                            static_cast<std::ptrdiff_t>(values.itemsize());
      rows = std::make_unique<DenseRows<W>>(numbers(values, 1),
                                            static_cast<std::int64_t>(values.shape(0)),
                                            static_cast<std::int64_t>(n), row_step, missing);
    }
  }
};

template <class W>
static void learn(PythonModel<W>& self, const ArrayRows<W>& x, const Doubles& labels,
                  const nb::list& label_names, const std::optional<Doubles>& weights,
                  const nb::list& names, const std::optional<Integers>& order, bool undo,
                  ProgressiveResult* told, int jobs) {
  const Labels given{{labels.data(), labels.shape(0)}, to_class_names(label_names)};
  const std::vector<Name> column_names = borrow_names(names);
  const double* weight = weights ? weights->data() : nullptr;
  const std::int64_t* places = order ? order->data() : nullptr;
  const auto count = order ? static_cast<std::int64_t>(order->shape(0)) : x.rows->rows();
  {
    nb::gil_scoped_release release;
    std::optional<Changing>
        lock;  // without undo the model is the caller's alone: no fork waits for it
    if (undo) lock.emplace(self.mutex, Interpreter::released);
    self.learn_rows(*x.rows, x.columns, column_names, given, weight, places, count, undo, told,
                    jobs);
  }
  warn_of_divergence(self);
}

template <class W>
static void learn_rows(PythonModel<W>& self, ArrayRows<W> x, const Doubles& labels,
                       const nb::list& label_names, std::optional<Doubles> weights,
                       const nb::list& names, std::optional<Integers> order, bool undo, int jobs) {
  learn<W>(self, x, labels, label_names, weights, names, order, undo, nullptr, jobs);
}

/// Predicts each row before it is learned: predictions, and if they are wanted scores, variances
/// and calibrations.
template <class W>
static nb::tuple predict_then_learn_rows(PythonModel<W>& self, ArrayRows<W> x,
                                         const Doubles& labels, const nb::list& label_names,
                                         std::optional<Doubles> weights, const nb::list& names,
                                         std::int64_t delay, bool wants_scores,
                                         bool wants_uncertainty, bool undo) {
  ProgressiveResult told;
  told.delay = delay;
  told.wants_scores = wants_scores;
  told.wants_uncertainty = wants_uncertainty;
  const auto rows = static_cast<std::size_t>(x.rows->rows());
  learn<W>(self, x, labels, label_names, weights, names, {}, undo, &told, 1);
  const auto table = [&](bool is_wanted, std::vector<double>& numbers, std::size_t width) {
    if (!is_wanted) return nb::object(nb::none());
    return nb::object(nb::cast(to_array(std::move(numbers), {rows, width})));
  };
  return nb::make_tuple(to_array(std::move(told.predictions), {rows}),
                        table(wants_scores, told.scores, told.width),
                        table(wants_uncertainty, told.variances, told.width),
                        table(wants_uncertainty, told.calibrations, 2));
}

/// The probabilities of two classes, as the model's mistakes have calibrated them; None where there
/// are not two.
template <class W>
static nb::object predict_two_classes(PythonModel<W>& self, ArrayRows<W> x, const nb::list& names,
                                      int jobs) {
  const std::vector<Name> column_names = borrow_names(names);
  Buffer<double> likely;
  const auto rows = static_cast<std::size_t>(x.rows->rows());
  bool are_two = false;
  {
    nb::gil_scoped_release release;
    const Reading lock(self.mutex, Interpreter::released);
    are_two = !self.is_regression() && self.state().classes == 2;
    if (are_two) {
      likely.resize(rows * 2);
      self.predict_two_classes(*x.rows, x.columns, column_names, likely.data(), jobs);
    }
  }
  if (!are_two) return nb::none();  // which is for those who hold the interpreter's lock
  return to_array(std::move(likely), {rows, 2});
}

/// The same of scores and variances that were asked for before, each row with its calibration.
static nb::object two_classes(const Table& scores, const Table& variances,
                              const Table& calibrations, bool mirrored) {
  const std::size_t rows = scores.shape(0);
  if (variances.shape(0) != rows || calibrations.shape(0) != rows || scores.shape(1) != 2 ||
      variances.shape(1) != 2 || calibrations.shape(1) != 2)
    throw Error("Two classes have two scores, two variances and a calibration in each row.");
  Buffer<double> likely(rows * 2);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t at = 2 * i;
    Calibration::of_two(calibrations.data()[at], calibrations.data()[at + 1], mirrored,
                        scores.data() + at, variances.data() + at, likely.data() + at);
  }
  return to_array(std::move(likely), {rows, 2});
}

void bind_probabilities(nb::module_& m) {
  m.def("two_classes", &two_classes, nb::arg("scores"), nb::arg("variances"),
        nb::arg("calibrations"), nb::arg("mirrored"),
        "Probabilities of two classes by their scores and variances, a calibration a row; mirrored "
        "scores are one margin and its mirror image.");
}

template <class W>
static nb::tuple predict_rows(PythonModel<W>& self, ArrayRows<W> x, const nb::list& names,
                              bool wants_variances, int jobs) {
  const std::vector<Name> column_names = borrow_names(names);
  Buffer<double> scores, variances;
  const auto rows = static_cast<std::size_t>(x.rows->rows());
  std::size_t width = 0;
  {
    nb::gil_scoped_release release;
    const Reading lock(self.mutex, Interpreter::released);
    width = self.score_width();
    scores.resize(rows * width);
    if (wants_variances) variances.resize(rows * width);
    self.predict_rows(*x.rows, x.columns, column_names, scores.data(),
                      wants_variances ? variances.data() : nullptr, jobs);
  }
  const nb::object sure =
      wants_variances ? to_array(std::move(variances), {rows, width}) : nb::none();
  return nb::make_tuple(to_array(std::move(scores), {rows, width}), sure);
}

/// A function of rows as one of the arrays that they come in; with `may_miss` NaN is a value that
/// is missing, to learners that tell.
template <class W, class Result, class... Rest>
static auto from_arrays(Result (*function)(PythonModel<W>&, ArrayRows<W>, Rest...)) {
  using Some = std::optional<AnyArray>;
  return [function](PythonModel<W>& self, AnyArray values, Some indices, Some begins,
                    std::size_t columns, bool may_miss, Rest... rest) {
    return function(self,
                    ArrayRows<W>(std::move(values), std::move(indices), std::move(begins), columns,
                                 !may_miss                       ? Missing::refused
                                 : self.learner->tells_missing() ? Missing::kept
                                                                 : Missing::left_out),
                    std::forward<Rest>(rest)...);
  };
}

template <class W>
void bind_rows(nb::class_<PythonModel<W>>& type) {
  const auto with_rows = [&](const char* name, auto function, const auto&... rest) {
    type.def(name, from_arrays<W>(function), nb::arg("values"), nb::arg("indices").none(),
             nb::arg("begins").none(), nb::arg("columns"), nb::arg("may_miss"), rest...);
  };
  with_rows("learn_rows", &learn_rows<W>, nb::arg("labels"), nb::arg("label_names"),
            nb::arg("weights").none(), nb::arg("names"), nb::arg("order").none(), nb::arg("undo"),
            nb::arg("jobs") = 1,
            "Learns rows: of a table of values, or with indices and begins those of a CSR matrix; "
            "columns of one-versus-rest by so many threads.");
  with_rows("predict_then_learn_rows", &predict_then_learn_rows<W>, nb::arg("labels"),
            nb::arg("label_names"), nb::arg("weights").none(), nb::arg("names"), nb::arg("delay"),
            nb::arg("wants_scores"), nb::arg("wants_uncertainty"), nb::arg("undo"),
            "Predicts each row and learns it `delay` rows later: predictions as class numbers (-1: "
            "none known) or values; scores, a column a class in the order of appearance; and what "
            "makes probabilities of them: variances of the margins, and the calibration at each "
            "row.");
  with_rows("predict_rows", &predict_rows<W>, nb::arg("names"), nb::arg("variances") = true,
            nb::arg("jobs") = 1,
            "Scores, a column a class in the order of appearance, and the variances of the "
            "margins; by so many threads.");
  with_rows(
      "predict_two_classes", &predict_two_classes<W>, nb::arg("names"), nb::arg("jobs") = 1,
      "The probabilities of two classes in the order of appearance, as calibrated; None where "
      "there are not two.");
}

template void bind_rows(nb::class_<PythonModel<float>>&);
template void bind_rows(nb::class_<PythonModel<double>>&);

}  // namespace yarrow
