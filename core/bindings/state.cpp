#include <algorithm>

#include "mixture_state.hpp"
#include "model.hpp"

namespace yarrow {

/// The rows of the voted Perceptron, all columns one behind the other; others have none.
template <class Framework, class W>
static void add_votes(const std::vector<Votes<W>>& columns, nb::dict& out) {
  if (columns.empty()) return;
  Votes<W> all;
  std::vector<double> first_born;
  std::vector<std::uint64_t> sizes;
  all.end.clear();
  for (const Votes<W>& votes : columns) {
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(all.born, votes.born);
    append(all.step, votes.step);
    append(all.end, votes.end);
    append(all.index, votes.index);
    append(all.value, votes.value);
    first_born.push_back(votes.first_born);
    sizes.push_back(votes.size());
  }
  const auto put = [&](const char* name, auto& values) {
    const std::size_t n = values.size();
    out[name] = to_array<Framework>(std::move(values), {n});
  };
  put("votes_sizes", sizes);
  put("votes_first_born", first_born);
  put("votes_born", all.born);
  put("votes_step", all.step);
  put("votes_end", all.end);
  put("votes_index", all.index);
  put("votes_value", all.value);
}

/// The numbers of a column, as files name them.
static constexpr std::pair<const char*, double Column::*> column_numbers[] = {
    {"scale", &Column::scale},          {"ww", &Column::ww},
    {"scale_sum", &Column::scale_sum},  {"column_updates", &Column::updates},
    {"column_memory", &Column::memory}, {"restarts", &Column::restarts},
};

template <class Framework, class W>
static nb::dict state_of(PythonModel<W>& self) {
  const State<W>& state = self.state();
  const Blocks<W>& blocks = state.blocks;
  const std::size_t slots = blocks.features() + 1, columns = blocks.columns();
  nb::dict out;
  out["blocks"] = to_array<Framework>(blocks.compact(), {slots, blocks.planes().size(), columns});
  const auto add = [&](const char* name, const std::vector<double>& values) {
    out[name] = to_array<Framework>(std::vector<double>(values), {values.size()});
  };
  for (const auto& [name, number] : column_numbers) {
    std::vector<double> of_columns;
    for (const Column& column : state.columns) of_columns.push_back(column.*number);
    add(name, of_columns);
  }
  add("scalars", {state.t, state.updates, state.mistakes, double(state.classes), state.penalty,
                  state.weights.value, state.sums.value, state.calibration.c,
                  state.calibration.lapse, state.calibration.next_fit});
  if (state.shrink != 1) add("shrink", {state.shrink});
  add("calibration_right", {state.calibration.right.begin(), state.calibration.right.end()});
  add("calibration_wrong", {state.calibration.wrong.begin(), state.calibration.wrong.end()});
  std::vector<double> roots, factors;
  for (const Column& column : state.columns) {
    const TriangularRoot& root = column.factor_root;
    factors.push_back(static_cast<double>(root.size));
    roots.insert(roots.end(), root.cells.begin(), root.cells.end());
  }
  if (self.learner->recipe().loop == LoopKind::factored) {
    add("factors", factors);
    add("factor_roots", roots);
  }
  if (state.mixture.in_use) add_mixture<Framework>(state, out);
  if (state.few.in_use() && state.few.amount != Amount::many) add_few<Framework>(state.few, out);
  if (state.covariances.in_use()) {
    const std::size_t size = CovarianceMatrix::saved_size(slots);
    std::vector<double> matrices, queued;
    matrices.reserve(columns * size);
    for (std::size_t k = 0; k < columns; ++k) {
      state.covariances[static_cast<int>(k)].save(matrices);
      queued.push_back(static_cast<double>(state.covariances[static_cast<int>(k)].queued()));
    }
    out["covariances"] = to_array<Framework>(std::move(matrices), {columns, size});
    add("covariances_queued", queued);
  }
  add_votes<Framework>(state.votes, out);
  if (state.groups.size() > 0) {
    std::vector<double> squares;  // a column may not have met the newest groups
    for (const Column& column : state.columns) {
      std::vector<double> of_column = column.group_squares;
      of_column.resize(state.groups.size());
      squares.insert(squares.end(), of_column.begin(), of_column.end());
    }
    add("group_squares", squares);
  }
  if (!self.hash_mask) {
    FlatNames names = self.vocabulary.flatten();
    const std::size_t n = names.kinds.size(), bytes = names.bytes.size();
    out["name_columns"] = to_array<Framework>(std::vector<std::int64_t>{names.columns}, {1});
    out["name_kinds"] = to_array<Framework>(std::move(names.kinds), {n});
    out["name_offsets"] = to_array<Framework>(std::move(names.offsets), {n + 1});
    out["name_bytes"] = to_array<Framework>(
        std::vector<std::uint8_t>(names.bytes.begin(), names.bytes.end()), {bytes});
  }
  return out;
}

template <class W>
static nb::dict get_state(PythonModel<W>& self) {
  auto lock = acquire<std::shared_lock<std::shared_mutex>>(self.mutex);
  return state_of<nb::numpy>(self);
}

/// The state, as views of memory, and the names of its classes, as of one moment.
template <class W>
static nb::tuple get_named_state(PythonModel<W>& self) {
  auto lock = acquire<std::shared_lock<std::shared_mutex>>(self.mutex);
  nb::list classes;
  for (const ClassName& name : self.classes.names()) classes.append(to_python(name));
  return nb::make_tuple(state_of<nb::memview>(self), classes);
}

static void restore_covariances(Covariances& covariances, const nb::dict& from, std::size_t slots,
                                std::size_t columns) {
  const auto queued = values<double>(from, "covariances_queued", columns);
  const auto matrices = saved<double, 2>(from, "covariances");
  const std::size_t size = CovarianceMatrix::saved_size(slots);
  if (matrices.shape(0) != columns || matrices.shape(1) != size)
    throw Error("the state's 'covariances' have the wrong shape");
  covariances.reset(columns, slots);
  for (std::size_t k = 0; k < columns; ++k) {
    if (!(queued[k] >= 0 && queued[k] < CovarianceMatrix::queue_length))
      throw Error("the state's 'covariances_queued' are out of range");
    covariances[static_cast<int>(k)].restore(matrices.data() + k * size, slots,
                                             static_cast<std::size_t>(queued[k]));
  }
}

/// The way back, of what `add_votes` added.
template <class W>
static std::vector<Votes<W>> read_votes(const nb::dict& from, std::size_t columns,
                                        std::size_t features) {
  if (!from.contains("votes_sizes")) return {};
  const auto sizes = values<std::uint64_t>(from, "votes_sizes", columns);
  const auto first_born = values<double>(from, "votes_first_born", columns);
  const auto born = values<double>(from, "votes_born", SIZE_MAX);
  const auto step = values<double>(from, "votes_step", born.size());
  const auto end = values<std::uint64_t>(from, "votes_end", born.size() + columns);
  const auto index = values<Index>(from, "votes_index", SIZE_MAX);
  const auto value = values<W>(from, "votes_value", index.size());
  std::vector<Votes<W>> votes(columns);
  std::size_t at = 0, cell = 0;
  for (std::size_t k = 0; k < columns; ++k) {
    Votes<W>& v = votes[k];
    const auto n = static_cast<std::size_t>(sizes[k]);
    if (n > born.size() - at) throw Error("the state's votes do not fit together");
    const auto part = [](const auto& all, std::size_t first, std::size_t count) {
      return std::vector(all.begin() + static_cast<std::ptrdiff_t>(first),
                         all.begin() + static_cast<std::ptrdiff_t>(first + count));
    };
    v.born = part(born, at, n);
    v.step = part(step, at, n);
    v.end = part(end, at + k, n + 1);
    if (v.end.back() > index.size() - cell) throw Error("the state's votes do not fit together");
    v.index = part(index, cell, v.end.back());
    v.value = part(value, cell, v.end.back());
    v.first_born = first_born[k];
    v.check(features);
    at += n;
    cell += v.index.size();
  }
  return votes;
}

static void restore_factors(std::vector<Column>& to, const nb::dict& from, std::size_t planes) {
  const auto factors = values<double>(from, "factors", to.size());
  std::size_t expected = 0;
  for (const double f : factors) {
    if (!(f >= 0 && f < static_cast<double>(planes)))
      throw Error("the state's 'factors' are out of range");
    expected += static_cast<std::size_t>(f) * (static_cast<std::size_t>(f) + 1) / 2;
  }
  const auto cells = values<double>(from, "factor_roots", expected);
  auto at = cells.begin();
  for (std::size_t k = 0; k < to.size(); ++k) {
    const auto f = static_cast<std::size_t>(factors[k]);
    to[k].factor_root = {{at, at + f * (f + 1) / 2}, f};
    at += f * (f + 1) / 2;
  }
}

/// How many columns classes have; 0: any number.
static std::size_t columns_of(Strategy strategy, int classes) {
  if (strategy == Strategy::binary) return 1;
  if (strategy == Strategy::one_versus_rest)
    return classes <= 2 ? std::max(classes, 1) : classes + 1;
  return 0;
}

template <class W>
static void set_state(PythonModel<W>& self, const nb::dict& from, const nb::list& class_names) {
  const auto cells = saved<W, 3>(from, "blocks");
  auto lock = acquire<std::unique_lock<std::shared_mutex>>(self.mutex);
  State<W>& state = self.state();
  const std::size_t slots = cells.shape(0), planes = cells.shape(1), columns = cells.shape(2);
  if (slots == 0 || columns == 0) throw Error("the state's 'blocks' has the wrong shape");
  if (const std::size_t wanted = state.blocks.planes().size(); planes != wanted)
    throw Error("the state has " + std::to_string(planes) +
                " numbers for each feature and class, where this version keeps " +
                std::to_string(wanted) + "; learn its rows anew");

  const auto scalars = values<double>(from, "scalars", 10);
  for (nb::handle name : class_names) self.classes.find_or_add(to_class_name(name));
  if (self.classes.size() != static_cast<int>(scalars[3]))
    throw Error("the state knows another number of classes than it names");
  const std::size_t wanted_columns = columns_of(self.learner->strategy(), self.classes.size());
  if (wanted_columns != 0 && columns != wanted_columns)
    throw Error("the state's 'blocks' does not fit its number of classes");
  if (!self.hash_mask) {
    const auto bytes = values<std::uint8_t>(from, "name_bytes", SIZE_MAX);
    self.vocabulary.assign(static_cast<Index>(values<std::int64_t>(from, "name_columns", 1)[0]),
                           values<std::uint8_t>(from, "name_kinds", SIZE_MAX),
                           values<std::uint64_t>(from, "name_offsets", SIZE_MAX),
                           std::span(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (static_cast<std::size_t>(self.vocabulary.size()) != slots - 1)
      throw Error("the state has another number of features than it names");
  } else if (slots - 1 != static_cast<std::size_t>(self.hash_mask) + 1) {
    throw Error("the state's 'blocks' do not fit the number of hash bits");
  }

  if (state.covariances.in_use()) restore_covariances(state.covariances, from, slots, columns);
  state.votes = read_votes<W>(from, columns, slots - 1);
  state.columns.assign(columns, {});
  for (const auto& [name, number] : column_numbers) {
    const bool is_newer = number == &Column::memory || number == &Column::restarts;
    if (is_newer && !from.contains(name)) continue;  // the first files had neither
    const auto of_columns = values<double>(from, name, columns);
    for (std::size_t k = 0; k < columns; ++k) state.columns[k].*number = of_columns[k];
  }
  if (state.mixture.in_use) restore_mixture(state, from);
  if (state.few.in_use()) restore_few(state.few, from, slots - 1, columns);
  if (self.learner->recipe().loop == LoopKind::factored)
    restore_factors(state.columns, from, planes);
  state.touched.forget();
  state.support.forget();
  state.blocks.restore(cells.data(), slots - 1, static_cast<int>(columns));
  if (!self.hash_mask) state.groups.truncate(0);
  self.grow(0);
  self.learner->rebuild();
  if (from.contains("group_squares")) {
    const std::size_t groups = state.groups.size();
    const auto squares = values<double>(from, "group_squares", columns * groups);
    for (std::size_t k = 0; k < columns; ++k)
      state.columns[k].group_squares.assign(squares.begin() + k * groups,
                                            squares.begin() + (k + 1) * groups);
  }
  state.t = scalars[0];
  state.updates = scalars[1];
  state.mistakes = scalars[2];
  state.classes = static_cast<int>(scalars[3]);
  state.penalty = scalars[4];
  state.shrink = from.contains("shrink") ? values<double>(from, "shrink", 1)[0] : 1;
  state.weights.value = scalars[5];
  state.sums.value = scalars[6];
  state.calibration.c = scalars[7];
  state.calibration.lapse = scalars[8];
  state.calibration.next_fit = scalars[9];
  const auto right = values<double>(from, "calibration_right", Calibration::bins);
  const auto wrong = values<double>(from, "calibration_wrong", Calibration::bins);
  std::copy(right.begin(), right.end(), state.calibration.right.begin());
  std::copy(wrong.begin(), wrong.end(), state.calibration.wrong.begin());
}

template <class W>
void bind_state(nb::class_<PythonModel<W>>& type) {
  type.def("get_state", &get_state<W>, "The exact training state as named arrays.");
  type.def("get_named_state", &get_named_state<W>,
           "The state, as views of memory, and its classes, of one moment.");
  type.def("set_state", &set_state<W>, nb::arg("state"), nb::arg("classes"),
           "Go on from a state that get_state gave.");
}

template void bind_state(nb::class_<PythonModel<float>>&);
template void bind_state(nb::class_<PythonModel<double>>&);

}  // namespace yarrow
