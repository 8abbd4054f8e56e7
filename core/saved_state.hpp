#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "loops/forgetting.hpp"
#include "loops/votes.hpp"
#include "model.hpp"
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

/// No vector is from the future, and each of them, the oldest in plane 1, has finite weights.
template <class W>
void check_votes(const State<W>& state, double intercept) {
  const Blocks<W>& blocks = state.blocks;
  const std::vector<Votes<W>>& columns = VotesOfColumns<W>::of(state).columns;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const Votes<W>& votes = columns[k];
    const double now = state.t + 1 + state.columns[k].memory;  // as VotedLoop counts
    if (!(now > votes.first_born && (votes.born.empty() || now >= votes.born.back()) &&
          now < 1e300))
      SavedState::refuse("votes_born", "does not fit the number of rows");
    std::vector<double> weights;
    for (std::size_t slot = 0; slot <= blocks.features(); ++slot)
      weights.push_back(blocks.data()[slot * blocks.stride() + blocks.capacity() + k]);
    const auto add = [&](std::size_t slot, double amount) {
      weights[slot] += amount;
      if (!(std::abs(weights[slot]) < std::numeric_limits<W>::max() / 8))
        SavedState::refuse("votes_step", "makes weights that are not finite");
    };
    for (std::size_t i = 0; i < votes.size(); ++i) {
      const Row<W> row = votes.row(i);
      for (std::size_t j = 0; j < row.size; ++j)
        add(row.index[j] + std::size_t{1}, votes.step[i] * row.value[j]);
      add(0, votes.step[i] * intercept);
    }
  }
}

/// The times of last visits, where variances age by rows, are whole numbers and past.
template <class W>
void check_times(const State<W>& state) {
  const Blocks<W>& blocks = state.blocks;
  const Range past = Range::count(Clock::at(state.t));
  for (std::size_t slot = 0; slot <= blocks.features(); ++slot)
    for (int k = 0; k < blocks.columns(); ++k)
      if (!past.has(blocks.data()[slot * blocks.stride() + 2 * blocks.capacity() + k]))
        SavedState::refuse("blocks", "has the time of a visit that has not been");
}

/// Variances only ever shrink, or go back to what all began with; loops rely on it, up to a factor
/// of 16, to see an overflow coming (`Bound`). What is beyond that is a rounding error, or the
/// floor.
inline double most_variance(double initial) { return 8 * std::max(initial, 1e-30); }

/// Of what stands beside the variances only the size is looked at: a step adds to it no more than
/// the variances allow.
inline void restore_covariances(Covariances& covariances, double initial, SavedState& from,
                                std::size_t slots, std::size_t columns) {
  constexpr std::size_t queue_length = CovarianceMatrix::queue_length;
  const std::size_t size = CovarianceMatrix::saved_size(slots);
  const auto queued = from.values<double>("covariances_queued", {columns},
                                          Range::count(static_cast<double>(queue_length - 1)));
  const double most = most_variance(initial), any = 1e6 * std::max(most, std::sqrt(most));
  const auto matrices = from.values<double>("covariances", {columns, size}, {-any, any});
  covariances.reset(columns, slots);
  for (std::size_t k = 0; k < columns; ++k) {
    const double* const own = matrices.data() + k * size;  // the variances come first
    if (!std::all_of(own, own + slots, [=](double v) { return v > 0 && v <= most; }))
      SavedState::refuse("covariances", "has a variance out of range");
    covariances[static_cast<int>(k)].restore(own, slots, static_cast<std::size_t>(queued[k]));
  }
}

inline void restore_factors(std::vector<Column>& to, SavedState& from, std::size_t planes) {
  const auto factors =
      from.values<double>("factors", {to.size()}, Range::count(static_cast<double>(planes - 1)));
  const auto cells_of = [](double f) {
    return static_cast<std::size_t>(f) * (static_cast<std::size_t>(f) + 1) / 2;
  };
  std::size_t expected = 0;
  for (const double f : factors) expected += cells_of(f);
  const auto cells = from.values<double>("factor_roots", {expected});
  auto at = cells.begin();
  for (std::size_t k = 0; k < to.size(); ++k) {
    TriangularRoot& root = to[k].factor_root;
    root = {{at, at + static_cast<std::ptrdiff_t>(cells_of(factors[k]))},
            static_cast<std::size_t>(factors[k])};
    at += static_cast<std::ptrdiff_t>(root.cells.size());
    for (std::size_t i = 0; i < root.size; ++i)
      if (!(root.row(i)[i] >= 1)) SavedState::refuse("factor_roots", "has no root of a matrix");
  }
}

/// Each root is that of I + U'D U, as far as rounding lets it be; factors to come are 0 so far.
template <class W>
void check_factors(const State<W>& state, bool average) {
  const Blocks<W>& blocks = state.blocks;
  const auto capacity = static_cast<std::size_t>(blocks.capacity());
  const std::size_t first = 2 + average, planes = blocks.planes().size();
  for (std::size_t k = 0; k < state.columns.size(); ++k) {
    const TriangularRoot& root = state.columns[k].factor_root;
    const std::size_t n = root.size;
    std::vector<double> gram(n * n, 0), u(n);
    for (std::size_t a = 0; a < n; ++a) gram[a * n + a] = 1;
    for (std::size_t slot = 0; slot <= blocks.features(); ++slot) {
      const W* const cell = blocks.data() + slot * blocks.stride() + k;
      for (std::size_t a = 0; a < n; ++a) u[a] = cell[(first + a) * capacity];
      for (std::size_t p = first + n; p < planes; ++p)
        if (cell[p * capacity] != 0) SavedState::refuse("blocks", "has a factor too many");
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
          gram[a * n + b] += static_cast<double>(cell[capacity]) * u[a] * u[b];
    }
    const std::vector<double> square = root.square();
    double trace = 0;
    for (std::size_t a = 0; a < n; ++a) trace += gram[a * n + a];
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        const double own = std::sqrt(gram[a * n + a]) * std::sqrt(gram[b * n + b]);
        if (!(std::abs(square[a * n + b] - gram[a * n + b]) <= 1e-6 * own + 1e-12 * trace))
          SavedState::refuse("factor_roots", "is not the root of its factors");
      }
  }
}

/// Numbers that are not a column's; in this order files keep them.
template <class W>
std::vector<double> scalars_of(const State<W>& state) {
  return {state.t,
          state.updates,
          state.mistakes,
          static_cast<double>(state.classes),
          state.penalty,
          state.weight_bound.value,
          state.sum_bound.value,
          state.calibration.c,
          state.calibration.lapse,
          state.calibration.next_fit};
}

template <class W>
void restore_scalars(State<W>& state, SavedState& from) {
  const auto saved = from.values<double>("scalars", {10});
  std::size_t next = 0;
  const auto take = [&](Range range) {
    if (!range.has(saved[next])) SavedState::refuse("scalars", "has a number out of range");
    return saved[next++];
  };
  state.t = take({1, 0x1p53, true});  // what has learned nothing is not saved
  state.updates = take(Range::count(state.t));
  state.mistakes = take(Range::count(state.t));
  state.classes = static_cast<int>(take(Range::count(0x1p30)));
  state.penalty = take(Range::not_negative());
  state.weight_bound.value = take(Range::not_negative());
  state.sum_bound.value = take(Range::not_negative());
  state.calibration.c = take({1e-30, 1e30});
  state.calibration.lapse = take({0, 1 - 1.0 / std::max(2, state.classes)});
  state.calibration.next_fit = take(Range::not_negative());
  state.shrink = from.has("shrink") ? from.values<double>("shrink", {1}, Range::positive())[0] : 1;
  const auto read = [&](const char* name, std::array<double, Calibration::bins>& to) {
    const auto counts = from.values<double>(name, {SavedState::any}, Range::not_negative());
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
  put("scalars", scalars_of(state));
  if (state.shrink != 1) put("shrink", std::vector<double>{state.shrink});
  const auto counts = [n = state.calibration.bins_in_use()](const auto& bins) {
    return std::vector<double>(bins.begin(), bins.begin() + n);
  };
  put("calibration_right", counts(state.calibration.right));
  put("calibration_wrong", counts(state.calibration.wrong));
  if (model.learner->recipe().loop == LoopKind::factored) {
    std::vector<double> roots, factors;
    for (const Column& column : state.columns) {
      const TriangularRoot& root = column.factor_root;
      factors.push_back(static_cast<double>(root.size));
      roots.insert(roots.end(), root.cells.begin(), root.cells.end());
    }
    put("factors", std::move(factors));
    put("factor_roots", std::move(roots));
  }
  if (state.extension) state.extension->save(put);
  if (state.covariances.in_use()) {
    const std::size_t size = CovarianceMatrix::saved_size(slots);
    std::vector<double> matrices, queued;
    matrices.reserve(columns * size);
    for (std::size_t k = 0; k < columns; ++k) {
      state.covariances[static_cast<int>(k)].save(matrices);
      queued.push_back(static_cast<double>(state.covariances[static_cast<int>(k)].queued()));
    }
    put("covariances", std::move(matrices), columns, size);
    put("covariances_queued", std::move(queued));
  }
  if (state.groups.size() > 0) {
    std::vector<double> squares;  // a column may not have met the newest groups
    for (const Column& column : state.columns) {
      std::vector<double> of_column = column.group_squares;
      of_column.resize(state.groups.size());
      squares.insert(squares.end(), of_column.begin(), of_column.end());
    }
    put("group_squares", std::move(squares));
  }
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

  if (state.covariances.in_use())
    restore_covariances(state.covariances, state.blocks.planes()[1].initial, from, slots, columns);
  state.columns.assign(columns, {});
  for (const ColumnNumber& each : column_numbers) {
    if (each.is_newer && !from.has(each.name)) continue;
    const auto of_columns = from.values<double>(each.name, {columns}, each.range);
    for (std::size_t k = 0; k < columns; ++k) state.columns[k].*each.number = of_columns[k];
  }
  const LoopKind loop = model.learner->recipe().loop;
  if (loop == LoopKind::factored) restore_factors(state.columns, from, planes);
  if (state.extension) state.extension->restore(from, slots - 1, columns);
  state.touched.forget();
  restore_blocks(state.blocks, blocks);
  if (loop == LoopKind::factored) check_factors(state, model.learner->recipe().average);
  if (loop == LoopKind::fading_rows || loop == LoopKind::projected_fading_rows) check_times(state);
  if (loop == LoopKind::voted) check_votes(state, model.learner->intercept());
  if (!model.hash_mask) state.groups.truncate(0);
  model.grow(0);
  model.learner->rebuild();
  if (from.has("group_squares")) {
    const std::size_t groups = state.groups.size();
    const auto squares =
        from.values<double>("group_squares", {columns * groups}, Range::not_negative());
    for (std::size_t k = 0; k < columns; ++k)
      state.columns[k].group_squares.assign(squares.begin() + k * groups,
                                            squares.begin() + (k + 1) * groups);
  }
  from.refuse_unread();
  constexpr double limit = std::numeric_limits<W>::max() / 16;  // as learning keeps them
  for (const W weight : model.learner->weights())
    if (!Range{-limit, limit}.has(static_cast<double>(weight)))
      throw Error("the state makes weights that are not finite");
  // Bounds that do not hold are looked for anew by the next update.
  if (!model.learner->is_bounded())
    state.weight_bound.value = state.sum_bound.value = std::numeric_limits<double>::max();
}

}  // namespace yarrow
