#include "model.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

#include <set>
#include <unordered_map>

#include "bindings/common.hpp"
#include "bindings/dict_row.hpp"
#include "bindings/python_model.hpp"
#include "learner/column_sources.hpp"
#include "loops/grouped.hpp"

namespace yarrow {

std::string_view text_of(nb::handle object) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (!text) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

std::vector<Name> borrow_names(const nb::list& list) {
  std::vector<Name> names;
  for (nb::handle item : list)
    names.push_back(PyUnicode_Check(item.ptr()) ? Name(text_of(item))
                                                : Name(nb::cast<std::int64_t>(item)));
  return names;
}

static nb::object to_python(const Name& name) {
  return name.is_text() ? to_python(name.view()) : nb::cast(name.number);
}

nb::list to_python(const Vocabulary& names, Index first) {
  nb::list list;
  for (Index i = first; i < names.size(); ++i) list.append(to_python(names.name(i)));
  return list;
}

template <class W>
static void learn_one(PythonModel<W>& self, nb::object x, nb::handle label,
                      nb::handle given_weight) {
  const double weight = to_number(given_weight, "The weight of a row");
  if (!(weight >= 0) || std::isinf(weight))
    throw Error("The weight of a row must be finite and >= 0.");
  const bool regression = self.is_regression();
  // Most labels are plain integers, which need no name to be found.
  const bool is_number =
      regression || (PyLong_CheckExact(label.ptr()) && !PyBool_Check(label.ptr()));
  const double value = is_number ? to_number(label, regression ? "The target" : "The label") : 0;
  if (regression && !std::isfinite(value)) throw Error("The target is not a finite number.");
  ClassName name;
  // 2^53 itself may be the nearest double of its neighbour.
  const bool is_small = is_number && std::abs(value) < last_exact_integer;
  if (!regression && !is_small) name = to_class_name(label);
  if (weight == 0) return;
  std::optional<Changing> lock(std::in_place, self.mutex);
  nb::object plain = x;
  const bool may_miss = self.learner->tells_missing();
  if (!self.reader.collect(plain, may_miss)) {
    lock.reset();  // converting may run any Python code, even code that waits for this lock
    plain = plain_copy(x);
    lock.emplace(self.mutex);
    self.reader.collect(plain, may_miss);
  }
  const Index before = self.vocabulary.size();
  const Row<W> row = self.resolve(self.reader);
  self.learn_row(row, regression || is_small ? nullptr : &name, value, weight, before);
  self.note_hashed(self.reader.names());
  lock.reset();
  warn_of_divergence(self);
}

/// Scores and variances of one dict: two lists, in the order of the classes' appearance.
template <class W>
static void score_one(PythonModel<W>& self, nb::object x, Scores& out, bool last = false) {
  // Several threads may ask at once, each with its own memory; a library has little room for that.
  thread_local const auto kept = std::make_unique<DictReader<W>>();
  DictReader<W>& reader = *kept;
  nb::object plain = x;
  const bool may_miss = self.learner->tells_missing();
  if (!reader.collect(plain, may_miss)) {
    plain = plain_copy(x);
    reader.collect(plain, may_miss);
  }
  const Reading lock(self.mutex);
  const Row<W> row = self.find(reader);
  last ? self.learner->score(row, out) : self.learner->predict(row, out);
}

template <class W>
static nb::object predict_one(PythonModel<W>& self, nb::object x) {
  Scores scores;
  score_one(self, x, scores);
  if (self.is_regression()) return nb::cast(scores.score[0]);
  if (scores.score.empty()) return nb::none();
  // Another thread may be adding a class, which moves the names.
  const Reading lock(self.mutex);
  return to_python(self.classes.names()[static_cast<std::size_t>(self.answer(scores.score))]);
}

/// Numbers per slot (0: intercept) and column, and the column of each class, as of one moment.
template <class W>
static nb::tuple plane(PythonModel<W>& self, std::size_t which) {
  const Reading lock(self.mutex);
  const Blocks<W>& blocks = self.state().blocks;
  const std::size_t slots = blocks.features() + 1, columns = blocks.columns();
  std::vector<W> values(slots * columns);
  if (which == 0) values = self.learner->weights();
  for (std::size_t slot = 0; which > 0 && slot < slots; ++slot)
    for (std::size_t k = 0; k < columns; ++k)
      values[slot * columns + k] =
          static_cast<W>(self.learner->variance(slot, static_cast<int>(k)));
  std::vector<int> of_class;
  for (int c = 0; c < self.state().classes; ++c) of_class.push_back(self.learner->column_of(c));
  return nb::make_tuple(to_array(std::move(values), {slots, columns}), of_class);
}

/// Weights that are not zero, without the intercept's. Two columns for two classes count as one, by
/// what they differ in.
template <class W>
static std::size_t count_nonzero(PythonModel<W>& self) {
  const Reading lock(self.mutex);
  std::set<int> used;
  for (int c = 0; c < self.state().classes; ++c) used.insert(self.learner->column_of(c));
  if (used.empty()) used.insert(0);
  const std::vector<W> weights = self.learner->weights();
  const std::size_t columns = self.state().blocks.columns();
  std::size_t count = 0;
  for (std::size_t at = columns; at < weights.size(); at += columns)
    if (used.size() == 2)
      count += weights[at + *used.begin()] != weights[at + *used.rbegin()];
    else
      for (const int column : used) count += weights[at + column] != 0;
  return count;
}

/// The full covariance of each class's weights, slot 0 (the intercept) included.
template <class W>
static nb::object covariances(PythonModel<W>& self) {
  const Reading lock(self.mutex);
  const State<W>& state = self.state();
  const std::size_t slots = state.blocks.features() + 1;
  const auto scores = static_cast<std::size_t>(self.is_regression() ? 1 : state.classes);
  const bool joint = self.learner->is_joint();
  std::vector<double> values(scores * (joint ? scores : 1) * slots * slots);
  double* to = values.data();
  const auto column = [&](std::size_t c) {
    return self.is_regression() ? 0 : self.learner->column_of(static_cast<int>(c));
  };
  for (std::size_t c = 0; c < scores; ++c)
    for (std::size_t d = joint ? 0 : c; d < (joint ? scores : c + 1); ++d, to += slots * slots)
      self.learner->covariance(column(c), column(d), to);
  if (joint) return nb::cast(to_array(std::move(values), {scores, scores, slots, slots}));
  return nb::cast(to_array(std::move(values), {scores, slots, slots}));
}

/// What a unit of each feature adds to a class's score of the row that they make, what the constant
/// adds, and whether all of it is the score; then the features whose value of 0 adds something, and
/// how much. Names that share a place share what it adds. A value that is NaN is missing.
template <class W>
static nb::tuple explain(PythonModel<W>& self, const nb::list& names,
                         const std::vector<double>& values, int of_class) {
  const Reading lock(self.mutex);
  const std::vector<Index> places = self.places_of(borrow_names(names), false);
  std::vector<Index> index;
  std::vector<W> value;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const W rounded = static_cast<W>(values[i]);
    if (places[i] < 0 || rounded == 0) continue;
    index.push_back(places[i]);
    value.push_back(rounded);
  }
  const std::size_t size = DuplicateMerger().merge(index.data(), value.data(), index.size());
  const bool is_real = self.is_regression();
  const Parts parts = self.learner->explain({index.data(), value.data(), size},
                                            is_real ? 0 : self.learner->column_of(of_class));
  const double sign = self.learner->outputs().sign_of_class(of_class);
  std::unordered_map<Index, double> of_place, given;
  for (std::size_t i = 0; i < size; ++i) given[index[i]] = value[i];
  nb::list zeros;
  for (std::size_t i = 0; i < parts.values.size(); ++i) {
    const Index place = parts.features.empty() ? index[i] : parts.features[i];
    const auto found = given.find(place);
    if (found != given.end())
      of_place[place] = sign * parts.values[i] / found->second;
    else if (parts.values[i] != 0)
      zeros.append(
          nb::make_tuple(self.hash_mask ? nb::cast(place) : to_python(self.vocabulary.name(place)),
                         sign * parts.values[i]));
  }
  std::vector<double> weights;
  for (const Index place : places) weights.push_back(of_place[place]);
  return nb::make_tuple(weights, sign * parts.constant, parts.add_up, zeros);
}

template <class W>
static void bind_model(nb::module_& m, const char* name) {
  using M = PythonModel<W>;
  nb::class_<M> type(m, name, "A learner with its names, classes and lock.");
  type.def(
      "__init__",
      [](M* self, LearnerKind kind, Strategy strategy, const RuleObject& rule,
         std::vector<double> rule_parameters, int rivals, std::vector<double> loop_parameters,
         std::map<std::string, std::vector<double>> constants, double initial_variance,
         double intercept, double epsilon, bool average, int hash_bits, Index max_features,
         WhenFull when_full, const nb::list& declared, int max_classes,
         const nb::list& class_weights, const nb::list& costs) {
        Recipe recipe{kind,
                      strategy,
                      rule.function,
                      std::move(rule_parameters),
                      rule.slack,
                      rivals,
                      reinterpret_cast<const double*>(rule.callable),
                      std::move(loop_parameters),
                      std::move(constants),
                      initial_variance,
                      intercept,
                      epsilon,
                      average,
                      rule.passive_at_target};
        new (self) M(recipe, {hash_bits, max_features, when_full},
                     Classes(to_class_names(declared), max_classes));
        for (nb::handle item : class_weights)
          self->classes.set_weight(to_class_name(item[0]), nb::cast<double>(item[1]));
        for (nb::handle item : costs)
          self->set_cost(to_class_name(item[0]), to_class_name(item[1]), nb::cast<double>(item[2]));
        self->rule_owner = rule.owner;
      },
      nb::kw_only(), nb::arg("kind"), nb::arg("strategy"), nb::arg("rule"),
      nb::arg("rule_parameters"), nb::arg("rivals"), nb::arg("loop_parameters"),
      nb::arg("constants"), nb::arg("initial_variance"), nb::arg("intercept"), nb::arg("epsilon"),
      nb::arg("average"), nb::arg("hash_bits"), nb::arg("max_features"), nb::arg("when_full"),
      nb::arg("declared"), nb::arg("max_classes"), nb::arg("class_weights"), nb::arg("costs"));

  type.def(
      "declare_groups",
      [](M& self, const nb::list& names, const std::vector<Index>& groups) {
        Groups& declared = GroupNorms::of(self.state()).groups;
        declared.declare(borrow_names(names), groups);
        if (self.hash_mask) declared.grow_hashed(self.hash_mask);
      },
      nb::arg("names"), nb::arg("groups"),
      "Before the first row: the group of each name, numbered from 0.");
  type.def(
      "separate_groups",
      [](M& self, std::string separator) {
        GroupNorms::of(self.state()).groups.separate_by(std::move(separator));
      },
      nb::arg("separator"),
      "Before the first row: what stands before the separator is a feature's group.");
  bind_rows(type);
  type.def("learn_one", &learn_one<W>, nb::arg("x").none(), nb::arg("label").none(),
           nb::arg("weight").none());

  const auto alone = [&](const char* name, void (M::*change)(), const char* text) {
    type.def(
        name,
        [change](M& self) {
          const Changing lock(self.mutex);
          (self.*change)();
        },
        text);
  };
  alone("begin", &M::begin, "From here on, what is learned can be taken back.");
  alone("roll_back", &M::roll_back, "Takes back what was learned since `begin`.");
  alone("commit", &M::commit, "What was learned since `begin` is kept.");

  type.def("predict_one", &predict_one<W>, nb::arg("x").none());
  type.def(
      "score_one",
      [](M& self, nb::object x) {
        Scores scores;
        score_one(self, x, scores);
        return nb::make_tuple(scores.score, scores.variance);
      },
      nb::arg("x").none());
  type.def(
      "last_score",
      [](M& self, nb::object x) {
        Scores scores;
        score_one(self, x, scores, true);
        return scores.score[0];
      },
      nb::arg("x"), "The score of one column by the last weights, even where averages predict.");

  type.def("plane", &plane<W>, nb::arg("which"),
           "Numbers per slot (0: intercept) and column (0: the weights, 1: their variances, both "
           "as they count now), and the column of each class.");
  type.def("count_nonzero", &count_nonzero<W>,
           "Weights that are not zero, without the intercept's.");
  type.def("covariances", &covariances<W>,
           "The covariance of the weights of each class, in the order of their appearance; of a "
           "joint one the part between each two.");
  type.def_prop_ro(
      "planes",
      [](M& self) {
        std::vector<std::string> names;
        for (const Plane& plane : self.state().blocks.planes()) names.push_back(plane.name);
        return names;
      },
      "What the numbers of a feature and column are called, in their order.");
  type.def_prop_ro("t", [](M& self) { return read_count(self.state().t); });
  type.def_prop_ro("updates", [](M& self) { return read_count(self.state().updates); });
  type.def_prop_ro("mistakes", [](M& self) { return read_count(self.state().mistakes); });
  const auto at_once = [&](const char* name, auto get) {
    type.def_prop_ro(name, [get](M& self) {
      const Reading lock(self.mutex);
      return get(self);
    });
  };
  at_once("column_memory", [](M& self) {
    std::vector<double> memory;
    for (const Column& column : self.state().columns) memory.push_back(column.memory);
    return memory;
  });
  at_once("calibration", [](M& self) {
    return nb::make_tuple(self.state().calibration.c, self.state().calibration.lapse);
  });
  at_once("n_features", [](M& self) { return self.state().blocks.features(); });
  at_once("classes", [](M& self) { return to_python(self.classes.names()); });
  type.def_prop_ro("declared", [](M& self) { return to_python(self.classes.declared()); });
  type.def_prop_ro("class_weights", [](M& self) {
    nb::list pairs;
    for (const auto& [key, weight] : self.classes.weights())
      pairs.append(nb::make_tuple(to_python(weight.first), weight.second));
    return pairs;
  });
  at_once("memory", [](M& self) {
    const State<W>& state = self.state();
    const std::size_t extension = state.extension ? state.extension->bytes() : 0;
    return state.blocks.bytes() + extension + self.vocabulary.memory();
  });
  at_once("hashed_kinds", [](M& self) { return self.hashed_kinds; });
  at_once("has_integer_names", [](M& self) { return self.vocabulary.identity(); });
  at_once("feature_names", [](M& self) { return to_python(self.vocabulary, 0); });
  type.def(
      "place",
      [](M& self, const nb::list& names) {
        const Reading lock(self.mutex);
        return self.places_of(borrow_names(names), false);
      },
      nb::arg("names"));
  type.def("explain", &explain<W>, nb::arg("names"), nb::arg("values"), nb::arg("of_class"),
           "What a unit of each feature adds to a class's score of the row that they make, what "
           "the constant adds, whether all of it is the score, and what values of 0 add.");
  bind_mixture(type);
  bind_state(type);
  bind_streams(type);
}

void bind_models(nb::module_& m) {
  nb::enum_<LearnerKind> kinds(m, "Learner", "By the loop that it runs; or a mixture.");
#define YARROW_ADD(name, ...) kinds.value(#name, LearnerKind::name);
  YARROW_LEARNERS(YARROW_ADD)
#undef YARROW_ADD
  nb::enum_<Strategy>(m, "Strategy", "How classes become columns of weights.")
      .value("regression", Strategy::regression)
      .value("binary", Strategy::binary)
      .value("one_versus_rest", Strategy::one_versus_rest)
      .value("top1", Strategy::top1)
      .value("max_loss", Strategy::max_loss)
      .value("many", Strategy::many)
      .value("joint", Strategy::joint)
      .value("examples", Strategy::examples)
      .value("pairs", Strategy::pairs);
  m.def(
      "column_sources",
      [](Strategy strategy, int classes, const std::vector<int>& places) {
        return column_sources({strategy, classes}, places);
      },
      nb::arg("strategy"), nb::arg("classes"), nb::arg("places"),
      "For each column of a model that knows more classes: the column of one that knows so many, "
      "or -1, and its sign. `places`: each class's number there, or -1.");
  nb::enum_<WhenFull>(m, "WhenFull", "What happens to one feature too many.")
      .value("refuse", WhenFull::Refuse)
      .value("drop", WhenFull::Drop)
      .value("prune", WhenFull::Prune);
  m.attr("NO_LIMIT") = Vocabulary::kNoLimit;
  m.attr("MOST_HASH_BITS") = int{Naming::most_hash_bits};
  bind_model<float>(m, "ModelF32");
  bind_model<double>(m, "ModelF64");
}

}  // namespace yarrow
