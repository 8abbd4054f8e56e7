#include "bindings/common.hpp"
#include "rules/alma.hpp"
#include "rules/arow.hpp"
#include "rules/bayesian_perceptron.hpp"
#include "rules/confidence_weighted.hpp"
#include "rules/ellipsoid.hpp"
#include "rules/gradient.hpp"
#include "rules/herding.hpp"
#include "rules/mirror.hpp"
#include "rules/online_feature_selection.hpp"
#include "rules/passive_aggressive.hpp"
#include "rules/perceptron.hpp"
#include "rules/regularized_gradient.hpp"
#include "rules/regularized_pa.hpp"
#include "rules/romma.hpp"

namespace yarrow {

/// Stands for a Python function: `context` is the function itself.
static void call_python(const RuleInput* input, const double* context, double* step) {
  nb::gil_scoped_acquire hold;
  nb::handle function(reinterpret_cast<PyObject*>(const_cast<double*>(context)));
  const nb::object answer = function(nb::cast(*input));
  const std::size_t given = nb::isinstance<nb::tuple>(answer) ? nb::len(answer) : 0;
  if (given != 2 && given != 3)
    throw nb::type_error("A rule must return a tuple of two numbers, or three with its memory.");
  for (std::size_t i = 0; i < given; ++i) {
    const nb::object number = answer[i];
    step[i] = PyFloat_AsDouble(number.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
  }
}

enum class Passive { never, at_target };  ///< whether a margin at its target is always left alone

template <auto F>
static void add(nb::module_& m, const char* name, Passive passive,
                std::vector<std::string> parameters = {}, SlackForm slack = nullptr) {
  m.attr(name) = RuleObject{
      name, std::move(parameters), as_rule<F>, passive == Passive::at_target, {}, nullptr, slack};
}

void bind_rules(nb::module_& m) {
  nb::class_<RuleInput>(m, "RuleInput", "What a loop tells a rule about one row.")
      .def_ro("margin", &RuleInput::margin, "z.w before the update")
      .def_ro("target", &RuleInput::target, "the margin asked for")
      .def_ro("zz", &RuleInput::zz, "|z|^2, intercept included")
      .def_ro("ww", &RuleInput::ww, "|w|^2 (affine family)")
      .def_ro("v", &RuleInput::v, "z' Sigma z (confidence family)")
      .def_ro("weight", &RuleInput::weight, "sample weight times class weight")
      .def_ro("t", &RuleInput::t, "rows learned so far, this one included")
      .def_ro("updates", &RuleInput::updates, "updates made before this row")
      .def_ro("memory", &RuleInput::memory, "what the rule left for this column; 0 at first");

  nb::class_<RuleObject>(m, "Rule", "A pure function of scalars: one row in, two numbers out.")
      .def_ro("name", &RuleObject::name)
      .def_ro("parameters", &RuleObject::parameters)
      .def_prop_ro("meets_many_rivals",
                   [](const RuleObject& self) { return self.slack != nullptr; })
      .def(
          "steps",
          [](const RuleObject& self,
             nb::ndarray<const double, nb::shape<-1, 9>, nb::c_contig, nb::device::cpu> inputs,
             const std::vector<double>& parameters) {
            static_assert(sizeof(RuleInput) == 9 * sizeof(double));
            const auto* given = reinterpret_cast<const RuleInput*>(inputs.data());
            const std::size_t n = inputs.shape(0);
            std::vector<double> steps(3 * n);
            for (std::size_t i = 0; i < n; ++i) {
              steps[3 * i + 2] = given[i].memory;
              self.function(&given[i], parameters.data(), &steps[3 * i]);
            }
            return to_array(std::move(steps), {n, 3});
          },
          nb::arg("inputs"), nb::arg("parameters"),
          "The answers to some inputs, a line each: two numbers and the new memory.")
      .def_static(
          "from_address",
          [](std::uintptr_t address, std::vector<std::string> parameters, nb::object owner) {
            if (!address) throw nb::value_error("The address of a rule must not be 0.");
            return RuleObject{"compiled", std::move(parameters), reinterpret_cast<Rule>(address),
                              false, std::move(owner)};
          },
          nb::arg("address"), nb::arg("parameters"), nb::arg("owner"),
          "A compiled function void(double *input, double *parameters, double *step).")
      .def_static(
          "from_callable",
          [](nb::callable function) {
            PyObject* callable = function.ptr();
            return RuleObject{"python", {}, call_python, false, std::move(function), callable};
          },
          nb::arg("function"), "A Python function of a RuleInput that returns two numbers.");

  nb::module_ rules = m.def_submodule("rules", "The built-in rules.");
  add<perceptron>(rules, "perceptron", Passive::never, {"margin"});
  add<voted_perceptron>(rules, "voted_perceptron", Passive::never);
  add<pa>(rules, "pa", Passive::at_target, {}, pa_slack);
  add<pa1>(rules, "pa1", Passive::at_target, {"C"}, pa1_slack);
  add<pa2>(rules, "pa2", Passive::at_target, {"C"}, pa2_slack);
  const std::vector<std::string> descent_names{"eta0", "power", "count_mistakes", "radius"};
  add<ogd<hinge_slope>>(rules, "ogd_hinge", Passive::at_target, descent_names);
  add<ogd<squared_hinge_slope>>(rules, "ogd_squared_hinge", Passive::at_target, descent_names);
  add<ogd<logistic_slope>>(rules, "ogd_logistic", Passive::never, descent_names);
  add<ogd<squared_slope>>(rules, "ogd_squared", Passive::never, descent_names);
  add<ogd<exponential_slope>>(rules, "ogd_exponential", Passive::never, descent_names);
  add<pegasos>(rules, "pegasos", Passive::never, {"l2", "project"});
  add<asgd<hinge_slope>>(rules, "asgd_hinge", Passive::never, {"eta0", "l2"});
  add<asgd<squared_hinge_slope>>(rules, "asgd_squared_hinge", Passive::never, {"eta0", "l2"});
  add<asgd<logistic_slope>>(rules, "asgd_logistic", Passive::never, {"eta0", "l2"});
  add<norma>(rules, "norma", Passive::never, {"eta0", "power", "l2", "rho"});
  add<norma_nu>(rules, "norma_nu", Passive::never, {"eta0", "power", "l2", "nu"});
  add<alma>(rules, "alma", Passive::never, {"alpha", "B", "C"});
  add<romma>(rules, "romma", Passive::at_target);
  add<aggressive_romma>(rules, "aggressive_romma", Passive::at_target);
  add<regularized_pa<Updates::below_target>>(rules, "regularized_pa", Passive::at_target,
                                             {"alpha"});
  add<regularized_pa<Updates::on_mistakes>>(rules, "regularized_pa_on_mistakes", Passive::at_target,
                                            {"alpha"});
  add<soft_regularized_pa<Updates::below_target>>(rules, "soft_regularized_pa", Passive::at_target,
                                                  {"alpha", "C"});
  add<soft_regularized_pa<Updates::on_mistakes>>(rules, "soft_regularized_pa_on_mistakes",
                                                 Passive::at_target, {"alpha", "C"});
  add<elastic_pa<Updates::below_target>>(rules, "elastic_pa", Passive::at_target);
  add<elastic_pa<Updates::on_mistakes>>(rules, "elastic_pa_on_mistakes", Passive::at_target);
  add<soft_elastic_pa<Updates::below_target>>(rules, "soft_elastic_pa", Passive::at_target, {"C"});
  add<soft_elastic_pa<Updates::on_mistakes>>(rules, "soft_elastic_pa_on_mistakes",
                                             Passive::at_target, {"C"});
  add<norm_constrained_pa>(rules, "norm_constrained_pa", Passive::at_target, {"beta"});
  add<mira>(rules, "mira", Passive::never, {"margin"}, mira_slack);
  const std::vector<std::string> ball_names{"radius", "learn_radius", "C"};
  add<one_class_pa<hard_pull>>(rules, "one_class_pa", Passive::never, ball_names);
  add<one_class_pa<linear_pull>>(rules, "one_class_pa1", Passive::never, ball_names);
  add<one_class_pa<quadratic_pull>>(rules, "one_class_pa2", Passive::never, ball_names);
  add<second_order_perceptron>(rules, "second_order_perceptron", Passive::never);
  add<cw_variance>(rules, "cw_variance", Passive::never, {"phi"});
  add<cw_deviation>(rules, "cw_deviation", Passive::never, {"phi"});
  add<arow>(rules, "arow", Passive::at_target, {"r"}, arow_slack);
  add<arow_hinge>(rules, "arow_hinge", Passive::at_target, {"r"});
  const std::vector<std::string> two_prices{"r", "confidence_r"};
  add<arow_two_prices<arow>>(rules, "arow_two_prices", Passive::at_target, two_prices,
                             arow_two_prices_slack);
  add<arow_two_prices<arow_hinge>>(rules, "arow_hinge_two_prices", Passive::at_target, two_prices);
  add<arow_two_prices<arow_squared>>(rules, "arow_squared_two_prices", Passive::never, two_prices);
  add<scw1>(rules, "scw1", Passive::never, {"phi", "C"});
  add<scw2>(rules, "scw2", Passive::never, {"phi", "C"});
  add<arow_squared>(rules, "arow_squared", Passive::never, {"r"});
  add<nherd>(rules, "nherd", Passive::at_target, {"C"});
  add<nherd_exact>(rules, "nherd_exact", Passive::at_target, {"C"});
  add<narow>(rules, "narow", Passive::never, {"b"});
  add<iellip>(rules, "iellip", Passive::never, {"c", "b"});
  add<bayesian_perceptron>(rules, "bayesian_perceptron", Passive::never, {"noise"});
  add<descent<hinge_slope>>(rules, "descent_hinge", Passive::at_target, {"eta0", "power"});
  add<descent<squared_hinge_slope>>(rules, "descent_squared_hinge", Passive::at_target,
                                    {"eta0", "power"});
  add<descent<logistic_slope>>(rules, "descent_logistic", Passive::never, {"eta0", "power"});
  add<descent<squared_slope>>(rules, "descent_squared", Passive::never, {"eta0", "power"});
  add<dual_descent<hinge_slope>>(rules, "dual_hinge", Passive::at_target);
  add<dual_descent<squared_hinge_slope>>(rules, "dual_squared_hinge", Passive::at_target);
  add<dual_descent<logistic_slope>>(rules, "dual_logistic", Passive::never);
  add<dual_descent<squared_slope>>(rules, "dual_squared", Passive::never);
  add<l1_constrained>(rules, "l1_constrained", Passive::at_target, {"beta"});
  add<descent<perceptron_slope>>(rules, "descent_perceptron", Passive::never, {"eta0", "power"});
  add<exponentiated<perceptron_slope>>(rules, "exponentiated_perceptron", Passive::never,
                                       {"eta", "U"});
  add<exponentiated<hinge_slope>>(rules, "exponentiated_hinge", Passive::at_target, {"eta", "U"});
  add<exponentiated<logistic_slope>>(rules, "exponentiated_logistic", Passive::never, {"eta", "U"});
  add<exponentiated<squared_slope>>(rules, "exponentiated_squared", Passive::never, {"eta", "U"});
  add<alma_p>(rules, "alma_p", Passive::never, {"alpha", "B", "C", "p"});
  add<ofs>(rules, "ofs", Passive::never, {"eta", "margin", "lam"});
  add<ofs_partial>(rules, "ofs_partial", Passive::never, {"eta", "margin"});
}

}  // namespace yarrow
