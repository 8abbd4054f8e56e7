#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "model.hpp"
#include "state/covariance.hpp"
#include "state/saved_arrays.hpp"

// The exact training state of a model as named arrays, and back. What only one loop keeps, its
// extension saves (state/extension.hpp). `restore_state` takes nothing on trust: what it accepts
// can be predicted with and learned from.

namespace yarrow {

/// Of a hashed model from an older file, which does not say what names taught it; it never will.
inline constexpr std::uint8_t names_unknown = 4;

/// The numbers of a column, as files name them, and what they may be.
struct ColumnNumber {
  const char* name;
  double Column::* number;
  Range range;
  bool is_newer = false;  ///< the first files did not have it
};
inline const ColumnNumber column_numbers[] = {
    {"scale", &Column::scale, {}},
    {"ww", &Column::ww, Range::not_negative()},
    {"scale_sum", &Column::scale_sum, {}},
    {"column_updates", &Column::updates, Range::count()},
    {"column_memory", &Column::memory, {}, true},
    {"restarts", &Column::restarts, Range::count(), true},
};

/// Numbers that are not a column's, and what they may be; in this order files keep them.
template <class S, class F>
void each_scalar(S& state, F f) {
  f("t", state.t, Range{1, 0x1p53, true});  // what has learned nothing is not saved
  f("updates", state.updates, Range::count(state.t));
  f("mistakes", state.mistakes, Range::count(state.t));
  f("classes", state.classes, Range::count(0x1p30));
  f("penalty", state.penalty, Range::not_negative());
  f("weight_bound", state.weight_bound.value, Range::not_negative());
  f("sum_bound", state.sum_bound.value, Range::not_negative());
  f("c", state.calibration.c, Range{Calibration::least_c, Calibration::most_c});
  f("lapse", state.calibration.lapse, Range{0, 1 - 1.0 / std::max(2, state.classes)});
  f("next_fit", state.calibration.next_fit, Range::not_negative());
}

template <class W>
void restore_scalars(State<W>& state, SavedState& from) {
  const auto saved = from.values<double>("scalars", {10});
  auto next = saved.begin();
  each_scalar(state, [&](const char*, auto& number, Range range) {
    if (!range.has(*next)) SavedState::refuse("scalars", "has a number out of range");
    number = static_cast<std::remove_reference_t<decltype(number)>>(*next++);
  });
  state.shrink = from.has("shrink") ? from.values<double>("shrink", {1}, Range::positive())[0] : 1;
  const auto read = [&](const char* name, std::array<double, Calibration::bins>& to) {
    const auto counts = from.values<double>(name, {SavedState::any}, {0, Calibration::most_rows});
    if (counts.size() != Calibration::near_bins && counts.size() != to.size())
      SavedState::refuse(name, "has another number of bins");
    to.fill(0);
    std::copy(counts.begin(), counts.end(), to.begin());
  };
  read("calibration_right", state.calibration.right);
  read("calibration_wrong", state.calibration.wrong);
}

template <class W>
void save_state(const Model<W>& model, const ArrayWriter& put) {
  const State<W>& state = model.state();
  const Blocks<W>& blocks = state.blocks;
  const std::size_t slots = blocks.features() + 1;
  const auto columns = static_cast<std::size_t>(blocks.columns());
  put("blocks", blocks.compact(), slots, blocks.planes().size(), columns);
  for (const ColumnNumber& each : column_numbers) {
    std::vector<double> of_columns;
    for (const Column& column : state.columns) of_columns.push_back(column.*each.number);
    put(each.name, std::move(of_columns));
  }
  std::vector<double> scalars;
  each_scalar(state, [&](const char*, auto number, Range) {
    scalars.push_back(static_cast<double>(number));
  });
  put("scalars", std::move(scalars));
  if (state.shrink != 1) put("shrink", std::vector<double>{state.shrink});
  const auto counts = [n = state.calibration.bins_in_use()](const auto& bins) {
    return std::vector<double>(bins.begin(), bins.begin() + n);
  };
  put("calibration_right", counts(state.calibration.right));
  put("calibration_wrong", counts(state.calibration.wrong));
  if (state.extension) state.extension->save(put);
  if (model.hash_mask) {
    if (model.hashed_kinds && model.hashed_kinds < names_unknown)
      put("hashed_kinds", std::vector<std::uint8_t>{model.hashed_kinds});
    return;
  }
  FlatNames names = model.vocabulary.flatten();
  put("name_columns", std::vector<std::int64_t>{names.columns});
  put("name_kinds", std::move(names.kinds));
  put("name_offsets", std::move(names.offsets));
  put("name_bytes", std::vector<std::uint8_t>(names.bytes.begin(), names.bytes.end()));
}

template <class W>
void restore_blocks(Blocks<W>& blocks, const SavedArray& saved) {
  const std::size_t slots = saved.shape[0], planes = saved.shape[1], columns = saved.shape[2];
  std::vector<W> aligned;  // what is mapped from a file stands where it may, but for forged ones
  const W* cells = reinterpret_cast<const W*>(saved.data);
  if (reinterpret_cast<std::uintptr_t>(saved.data) % alignof(W) != 0) {
    aligned.resize(saved.size());
    std::memcpy(aligned.data(), saved.data, saved.size() * sizeof(W));
    cells = aligned.data();
  }
  std::vector<Range> ranges;
  for (const Plane& plane : blocks.planes()) {
    Range range = {plane.least(), static_cast<double>(std::numeric_limits<W>::max())};
    if (plane.initial > 0) range.most = std::min(range.most, most_variance(plane.initial));
    ranges.push_back(range);
  }
  const W* cell = cells;
  for (std::size_t slot = 0; slot < slots; ++slot)
    for (std::size_t p = 0; p < planes; ++p)
      for (std::size_t k = 0; k < columns; ++k, ++cell)
        if (!ranges[p].has(static_cast<double>(*cell)))
          SavedState::refuse("blocks", "has a number out of range");
  blocks.restore(cells, slots - 1, static_cast<int>(columns));
}

template <class W>
void restore_names(Model<W>& model, SavedState& from, std::size_t features) {
  if (model.hash_mask) {
    if (features != static_cast<std::size_t>(model.hash_mask) + 1)
      throw Error("the state's 'blocks' do not fit the number of hash bits");
    model.hashed_kinds = names_unknown;
    if (from.has("hashed_kinds")) {
      model.hashed_kinds = from.values<std::uint8_t>("hashed_kinds", {1})[0];
      if (model.hashed_kinds >= names_unknown)
        SavedState::refuse("hashed_kinds", "has a number out of range");
    }
    return;
  }
  constexpr std::size_t any = SavedState::any;
  const auto columns = from.values<std::int64_t>("name_columns", {1})[0];
  const auto kinds = from.values<std::uint8_t>("name_kinds", {any});
  const auto offsets = from.values<std::uint64_t>("name_offsets", {any});
  const auto bytes = from.values<std::uint8_t>("name_bytes", {any});
  if (columns < 0 || static_cast<std::size_t>(columns) > features ||
      kinds.size() != features - static_cast<std::size_t>(columns))
    throw Error("the state has another number of features than it names");
  model.vocabulary.assign(static_cast<Index>(columns), kinds, offsets,
                          std::span(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// Makes a new model one that has learned; whoever is refused throws it away.
template <class W>
void restore_state(Model<W>& model, SavedState& from, const std::vector<ClassName>& classes) {
  constexpr std::size_t any = SavedState::any;
  State<W>& state = model.state();
  const SavedArray& blocks = from.array<W>("blocks", {any, any, any});
  const std::size_t slots = blocks.shape[0], planes = blocks.shape[1], columns = blocks.shape[2];
  if (slots == 0 || slots > std::size_t{std::numeric_limits<Index>::max()})
    SavedState::refuse("blocks", "has the wrong shape");
  if (const std::size_t wanted = state.blocks.planes().size(); planes != wanted)
    throw Error("the state has " + std::to_string(planes) +
                " numbers for each feature and class, where this version keeps " +
                std::to_string(wanted) + "; learn its rows anew");
  restore_scalars(state, from);
  for (const ClassName& name : classes) model.classes.restore(name);
  const bool is_real = model.is_regression();
  if (model.classes.size() != state.classes || is_real != (state.classes == 0) ||
      (model.learner->strategy() == Strategy::binary && state.classes > 2))
    throw Error("the state knows another number of classes than it names");
  if (columns != static_cast<std::size_t>(model.learner->outputs().count()))
    throw Error("the state's 'blocks' does not fit its number of classes");
  restore_names(model, from, slots - 1);

  state.columns.assign(columns, {});
  for (const ColumnNumber& each : column_numbers) {
    if (each.is_newer && !from.has(each.name)) continue;
    const auto of_columns = from.values<double>(each.name, {columns}, each.range);
    for (std::size_t k = 0; k < columns; ++k) state.columns[k].*each.number = of_columns[k];
  }
  model.name_features();
  if (state.extension) state.extension->restore(from, slots - 1, columns);
  state.touched.forget();
  restore_blocks(state.blocks, blocks);
  model.grow(0);
  model.learner->rebuild();
  model.learner->check();
  from.refuse_unread();
  constexpr double limit = Bound::most<W>;  // as learning keeps them
  for (const W weight : model.learner->weights())
    if (!Range{-limit, limit}.has(static_cast<double>(weight)))
      throw Error("the state makes weights that are not finite");
  // Bounds that do not hold are looked for anew by the next update.
  if (!model.learner->is_bounded())
    state.weight_bound.value = state.sum_bound.value = std::numeric_limits<double>::max();
}

}  // namespace yarrow
