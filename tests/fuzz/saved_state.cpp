// A saved state of some learner, changed as the fuzzer says. It is refused by an `Error`, or the
// model predicts finite numbers, learns rows or refuses them, and can be saved and restored again.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replay.hpp"
#include "rules/arow.hpp"
#include "rules/gradient.hpp"
#include "rules/mirror.hpp"
#include "rules/online_feature_selection.hpp"
#include "rules/passive_aggressive.hpp"
#include "rules/perceptron.hpp"
#include "rules/regularized_pa.hpp"
#include "saved_state.hpp"

using namespace yarrow;

namespace {

using W = float;

struct Owned {
  NumberType type;
  std::vector<std::size_t> shape;
  std::vector<char> bytes;
};
using Arrays = std::map<std::string, Owned>;

template <class T>
constexpr NumberType type_of() {
  if constexpr (std::is_same_v<T, float>) return NumberType::f32;
  if constexpr (std::is_same_v<T, double>) return NumberType::f64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return NumberType::u8;
  if constexpr (std::is_same_v<T, std::int32_t>) return NumberType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return NumberType::i64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return NumberType::u64;
}

Arrays saved(const Model<W>& model) {
  Arrays arrays;
  const auto keep = [&]<class T>(const char* name, std::vector<T> numbers,
                                 const ArrayWriter::Shape& shape) {
    Owned owned{type_of<T>(), shape, {}};
    const char* first = reinterpret_cast<const char*>(numbers.data());
    owned.bytes.assign(first, first + numbers.size() * sizeof(T));
    arrays[name] = std::move(owned);
  };
  save_state(model, keep);
  return arrays;
}

struct Kind {
  Recipe recipe;
  int classes;
  int hash_bits;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto add = [&](LearnerKind kind, Rule rule, std::vector<double> rule_parameters,
                       std::vector<double> loop_parameters, SlackForm slack = nullptr,
                       bool average = false) {
    std::vector<Strategy> strategies = {Strategy::one_versus_rest, Strategy::top1, Strategy::binary,
                                        Strategy::regression};
    if (slack) strategies.push_back(Strategy::many);
    if (kind == LearnerKind::yarrow) strategies = {Strategy::one_versus_rest, Strategy::binary};
    if (kind == LearnerKind::yarrow_regression) strategies = {Strategy::regression};
    if (kind == LearnerKind::task_groups) strategies = {Strategy::one_versus_rest};
    for (const Strategy strategy : strategies) {
      Recipe recipe;
      recipe.kind = kind;
      recipe.strategy = strategy;
      recipe.rule = rule;
      recipe.rule_parameters = rule_parameters;
      recipe.loop_parameters = loop_parameters;
      recipe.slack = slack;
      recipe.average = average;
      const int classes = strategy == Strategy::regression ? 0
                          : strategy == Strategy::binary   ? 2
                                                           : 3;
      all.push_back({recipe, classes, 0});
      if (kind == LearnerKind::affine) all.push_back({recipe, classes, 3});
    }
  };
  add(LearnerKind::affine, as_rule<pa1>, {1}, {}, pa1_slack);
  add(LearnerKind::affine, as_rule<pa1>, {1}, {}, nullptr, true);
  add(LearnerKind::diagonal, as_rule<arow>, {1}, {}, arow_slack);
  add(LearnerKind::diagonal, as_rule<arow>, {1}, {}, nullptr, true);
  add(LearnerKind::projected, as_rule<arow>, {1}, {});
  add(LearnerKind::full, as_rule<arow>, {1}, {1e8});
  add(LearnerKind::factored, as_rule<arow>, {1}, {2});
  add(LearnerKind::fading_rows, as_rule<arow>, {1}, {0.99, 1});
  add(LearnerKind::restarting, as_rule<arow>, {1}, {0.1, 1, 1});
  add(LearnerKind::voted, as_rule<voted_perceptron>, {}, {0});
  add(LearnerKind::largest, as_rule<ofs>, {0.2, 1, 0.01}, {3, 1, 0, 0});
  add(LearnerKind::surest, as_rule<arow>, {1}, {3});
  add(LearnerKind::yarrow, nullptr, {}, {});
  add(LearnerKind::yarrow_regression, nullptr, {}, {});
  add(LearnerKind::whitened, as_rule<arow>, {1}, {});
  add(LearnerKind::herded, as_rule<arow>, {1}, {});
  add(LearnerKind::p_norm, as_rule<descent<hinge_slope>>, {0.5, 0.5}, {3, 1});
  add(LearnerKind::exponential_signed, as_rule<exponentiated<hinge_slope>>, {0.1, 30}, {30});
  add(LearnerKind::elastic, as_rule<elastic_pa<Updates::below_target>>, {}, {1e-3, 1e-3});
  add(LearnerKind::l1_constrained, as_rule<l1_constrained>, {10}, {10});
  add(LearnerKind::feature_groups, as_rule<dual_descent<hinge_slope>>, {}, {0, 1e-5, 1});
  add(LearnerKind::task_groups, as_rule<dual_descent<hinge_slope>>, {}, {0, 1e-5, 1, 0});
  add(LearnerKind::soft_threshold, as_rule<descent<hinge_slope>>, {0.5, 0.5}, {0.01, 0.5, 0.5, 0});
  add(LearnerKind::dual_averaging, as_rule<dual_descent<hinge_slope>>, {}, {0.01, 1, 0, 0});
  add(LearnerKind::ftrl_proximal, as_rule<dual_descent<logistic_slope>>, {}, {0, 0.1, 1, 0});
  add(LearnerKind::adagrad_mirror, as_rule<dual_descent<hinge_slope>>, {}, {1e-5, 0.1, 0.1});
  add(LearnerKind::frequency_penalty, as_rule<descent<hinge_slope>>, {0.5, 0.5},
      {1e-5, 0.5, 0.5, 2, 500});
  add(LearnerKind::frequency_dual_averaging, as_rule<dual_descent<hinge_slope>>, {},
      {1e-5, 1, 2, 500});
  add(LearnerKind::randomized_rounding, as_rule<descent<hinge_slope>>, {0.5, 0.5}, {0.001, 1000});
  return all;
}

std::unique_ptr<Model<W>> fresh(const Kind& kind) {
  std::vector<ClassName> declared;
  if (kind.recipe.strategy == Strategy::binary)
    declared = {ClassName::of(std::int64_t{0}), ClassName::of(std::int64_t{1})};
  return std::make_unique<Model<W>>(kind.recipe, Naming{kind.hash_bits}, Classes(declared));
}

void require(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

constexpr int columns = 6;

void learn_some(Model<W>& model, const Kind& kind, int rows, bool may_fail) {
  unsigned random = 12345;
  for (int i = 0; i < rows; ++i) {
    std::vector<W> cells(columns);
    for (W& cell : cells) {
      random = random * 1664525 + 1013904223;
      cell = (random >> 30) == 0 ? 0 : static_cast<W>(static_cast<int>(random >> 24) - 128) / 64;
    }
    const double label = kind.classes == 0 ? i % 5 - 2 : i % kind.classes;
    DenseRows<W> source({reinterpret_cast<const char*>(cells.data()), NumberType::f32, sizeof(W)},
                        1, columns, columns * sizeof(W));
    try {
      model.learn_rows(source, columns, {}, Labels{{&label, 1}, {}}, nullptr, nullptr, 1, true);
    } catch (const Error&) {
      require(may_fail, "a row is refused");
    }
  }
}

void predict_some(Model<W>& model) {
  const W cells[2][columns] = {{1, 0, -1, 0.5, 2, 0}, {0, 0, 0, 1, 1, 1}};
  DenseRows<W> source({reinterpret_cast<const char*>(cells), NumberType::f32, sizeof(W)}, 2,
                      columns, columns * sizeof(W));
  std::vector<double> scores(2 * model.score_width()), variances(scores.size());
  model.predict_rows(source, columns, {}, scores.data(), variances.data());
  for (const double score : scores) require(std::isfinite(score), "a score is not finite");
}

SavedState borrowed(const Arrays& arrays) {
  SavedState state;
  for (const auto& [name, owned] : arrays)
    state.add(name, {owned.type, owned.shape, owned.bytes.data()});
  return state;
}

std::vector<ClassName> names(int classes) {
  std::vector<ClassName> found;
  for (int c = 0; c < classes; ++c) found.push_back(ClassName::of(std::int64_t{c}));
  return found;
}

/// The fuzzer's bytes, one after the other; zeros behind the last.
struct Input {
  const std::uint8_t* data;
  std::size_t size, at = 0;
  std::uint8_t byte() { return at < size ? data[at++] : 0; }
  bool is_over() const { return at >= size; }
};

std::size_t width_of(NumberType type) {
  return with_type(type, [](auto sample) { return sizeof sample; });
}

void change(Arrays& arrays, Input& input) {
  auto chosen = arrays.begin();
  std::advance(chosen, input.byte() % arrays.size());
  Owned& array = chosen->second;
  const std::size_t width = width_of(array.type), n = array.bytes.size() / width;
  switch (input.byte() % 8) {
    case 0:  // its length
      if (!array.shape.empty()) {
        std::size_t& length = array.shape[input.byte() % array.shape.size()];
        length = input.byte() % 20;
        std::size_t size = width;
        for (const std::size_t l : array.shape) size *= l;
        array.bytes.resize(size);
      }
      return;
    case 1:  // its type, of the same width or not
      array.type = static_cast<NumberType>(input.byte() % 11);
      {
        std::size_t size = width_of(array.type);
        for (const std::size_t l : array.shape) size *= l;
        array.bytes.resize(size);
      }
      return;
    case 2:
      arrays.erase(chosen);
      return;
    default:  // a number, by its bytes or a special one
      if (n == 0) return;
      const std::size_t at = (input.byte() * 256u + input.byte()) % n * width;
      if (array.type == NumberType::f32 || array.type == NumberType::f64) {
        constexpr double special[] = {0,    -0.0,  1,   -1, 1e-300, 1e300,
                                      3e38, -3e38, 0.5, 2,  1e15,   1e-30};
        const std::uint8_t which = input.byte();
        if (which < std::size(special)) {
          const double number = special[which];
          const auto single = static_cast<float>(number);
          std::memcpy(&array.bytes[at],
                      array.type == NumberType::f64 ? reinterpret_cast<const char*>(&number)
                                                    : reinterpret_cast<const char*>(&single),
                      width);
          return;
        }
      }
      for (std::size_t i = 0; i < width; ++i) array.bytes[at + i] = static_cast<char>(input.byte());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Kind> all = kinds();
  static const std::vector<Arrays> originals = [] {
    std::vector<Arrays> states;
    for (const Kind& kind : all) {
      const auto model = fresh(kind);
      learn_some(*model, kind, 30, false);
      states.push_back(saved(*model));
    }
    return states;
  }();
  Input input{data, size};
  const std::size_t which = input.byte() % all.size();
  const Kind& kind = all[which];
  Arrays arrays = originals[which];
  for (int i = 0; i < 4 && !input.is_over() && !arrays.empty(); ++i) change(arrays, input);
  const auto model = fresh(kind);
  try {
    SavedState state = borrowed(arrays);
    restore_state(*model, state, names(kind.classes));
  } catch (const Error&) {
    return 0;
  }
  predict_some(*model);
  learn_some(*model, kind, 4, true);
  predict_some(*model);
  const Arrays again = saved(*model);
  SavedState state = borrowed(again);
  restore_state(*fresh(kind), state, names(kind.classes));
  return 0;
}
