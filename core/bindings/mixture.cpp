#include <nanobind/stl/map.h>
#include <nanobind/stl/tuple.h>

#include "bindings/python_model.hpp"
#include "mixture/constants.hpp"
#include "mixture/regression_state.hpp"

// What is asked of mixtures of experts alone.

namespace yarrow {

static nb::dict to_python(SettledTerm&& term, std::size_t scores) {
  nb::dict told;
  told["over"] = term.over;
  told["divided"] = term.divided;
  std::vector<std::size_t> shape = {term.numbers.size() / (scores * term.each), scores};
  if (term.each > 1) shape.push_back(term.each);
  told["numbers"] = to_array(std::move(term.numbers), shape);
  told["of"] = term.of.empty() ? nb::none() : to_array(std::move(term.of));
  return told;
}

static nb::dict to_python(Settled&& settled) {
  nb::list experts;
  for (SettledExpert& expert : settled.experts) {
    const std::size_t scores = expert.constant.size();
    nb::list terms;
    for (SettledTerm& term : expert.terms) terms.append(to_python(std::move(term), scores));
    nb::dict told;
    told["name"] = expert.name;
    told["weight"] = expert.weight;
    told["cut"] = expert.cut > 0 ? nb::cast(expert.cut) : nb::none();
    told["needs_knots"] = expert.needs_knots;
    told["constant"] = to_array(std::move(expert.constant));
    told["terms"] = terms;
    experts.append(told);
  }
  nb::dict told;
  told["features"] = to_array(std::move(settled.features));
  told["shift"] = to_array(std::move(settled.shift));
  told["unit"] = to_array(std::move(settled.unit));
  told["bends"] = to_array(std::move(settled.bends));
  told["limit"] = settled.limit;
  told["paired"] = settled.paired;
  told["zeros"] = settled.zeros;
  told["experts"] = experts;
  return told;
}

template <class W>
void bind_mixture(nb::class_<PythonModel<W>>& type) {
  using M = PythonModel<W>;
  type.def(
      "settled",
      [](M& self, const std::vector<int>& order) {
        const Reading lock(self.mutex);
        const Outputs outputs = self.learner->outputs();
        const auto asked = static_cast<int>(order.size());  // before others may have taught it more
        if (!outputs.is_real() && (asked == 0 || asked != outputs.classes))
          throw Error("the model has other classes now: export it again");
        return to_python(self.learner->settle(outputs.told(order)));
      },
      nb::arg("order"),
      "What a mixture predicts by (docs/export.md), of its classes in this order.");
  const auto at_once = [&](const char* name, auto get, const char* text) {
    type.def_prop_ro(
        name,
        [get](M& self) {
          const Reading lock(self.mutex);
          return (self.learner.get()->*get)();
        },
        text);
  };
  at_once("experts", &Learner<W>::experts,
          "Of a mixture: its experts, what each is worth, and how much of a prediction it makes.");
  at_once("intervals", &Learner<W>::intervals,
          "Coverages of intervals, half their widths, and how often they held the target.");
  type.def(
      "radius",
      [](M& self, double coverage) {
        const Reading lock(self.mutex);
        return self.learner->radius(coverage);
      },
      nb::arg("coverage"),
      "Half the width of the interval around a prediction that holds the target so often.");
}

template <class Constants>
static std::map<std::string, std::vector<double>> constants_of() {
  Constants constants;
  std::map<std::string, std::vector<double>> told;
  for (const auto& [name, numbers] : constants.named())
    told[name] = {numbers.begin(), numbers.end()};
  return told;
}

void bind_mixtures(nb::module_& m) {
  m.def("classifier_constants", &constants_of<ClassifierConstants>,
        "The numbers of YarrowClassifier, by their names in core/mixture/constants.hpp.");
  m.def("regressor_constants", &constants_of<RegressorConstants>, "Those of YarrowRegressor.");
  m.attr("UNNAMED_RATES") = numbers_of(LearningRates::unnamed());
  m.attr("SPLINE_FEATURES") = std::size_t{FewFeatures<double>::most};
  m.attr("COLUMN_SHARE") = TableColumns::share;
  m.attr("LEAST_COVERAGE") = IntervalWidths::levels.front();
  m.attr("MOST_COVERAGE") = IntervalWidths::levels.back();
}

template void bind_mixture(nb::class_<PythonModel<float>>&);
template void bind_mixture(nb::class_<PythonModel<double>>&);

}  // namespace yarrow
