#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "data/arrays.hpp"
#include "data/classes.hpp"
#include "data/named_row.hpp"
#include "data/share.hpp"
#include "learner/progressive_result.hpp"
#include "registry/learners.hpp"
#include "state/undo.hpp"

namespace yarrow {

/// Labels of the rows of one call: numbers, borrowed, or places in a list of names.
struct Labels {
  std::span<const double> numbers;
  std::vector<ClassName> names;
};

/// A learner that knows its users: names of features and classes, class weights, calls that either
/// succeed or leave no trace, and one lock. Learning excludes predicting, because memory may move;
/// whoever calls a method holds `mutex` accordingly.
template <class W>
class Model : public FeatureNumbers {
 public:
  Model(const Recipe& recipe, Naming naming, Classes classes)
      : FeatureNumbers(naming), learner(make_learner<W>(recipe)), classes(std::move(classes)) {
    grow(0);
  }

  std::unique_ptr<Learner<W>> learner;
  Classes classes;
  mutable std::shared_mutex mutex;

  bool is_regression() const { return learner->outputs().is_real(); }  ///< labels are numbers
  State<W>& state() { return learner->state; }
  const State<W>& state() const { return learner->state; }

  /// To be said before the first row: what it costs to take one class for another.
  void set_cost(const ClassName& truth, const ClassName& other, double cost) {
    classes.set_cost(truth, other, cost);
    learner->use_costs(&classes.costs());
  }

  /// Where the columns of an array go, by their names; without names they are called 0, 1, 2...
  /// -1: the feature is unknown and may not be added. Nothing: column j is feature j.
  std::optional<std::vector<Index>> place_columns(std::size_t columns, std::vector<Name> names,
                                                  bool add) {
    if (names.empty()) {
      if (!hash_mask && vocabulary.identity()) {
        if (add) grow(columns);
        if (static_cast<std::size_t>(vocabulary.size()) >= columns) return std::nullopt;
      }
      names = numbers_as_names(columns);
    }
    std::vector<Index> places = places_of(names, add);
    if (add) grow(0);  // who only predicts shares the lock, and changes nothing
    for (std::size_t j = 0; j < columns; ++j)
      if (places[j] != static_cast<Index>(j)) return places;
    return std::nullopt;
  }

  /// From here on, what is learned can be taken back, as long as the caller is not sure of it.
  void begin() {
    past_.reset();
    past_.emplace(state(), classes.size(), vocabulary.size(), hashed_kinds, 0, false);
  }
  void roll_back() {
    if (!past_) return;
    past_->undo.roll_back();
    if (past_->vocabulary) vocabulary = std::move(*past_->vocabulary);
    classes.truncate(past_->classes);
    vocabulary.truncate(past_->names);
    hashed_kinds = past_->hashed_kinds;
    past_.reset();
  }
  void commit() { past_.reset(); }

  /// Learns rows in the order given (in their own if `order` is null), all or nothing; without
  /// `undo` a failure leaves the model unusable, and the caller throws it away. Columns are the
  /// features of these names, or, without names, the features 0, 1, 2... With `told`, each row is
  /// predicted before it is learned; then rows come in their own order.
  void learn_rows(const RowSource<W>& rows, std::size_t columns, const std::vector<Name>& names,
                  const Labels& labels, const double* weights, const std::int64_t* order,
                  std::int64_t count, bool undo, ProgressiveResult* told = nullptr, int jobs = 1) {
    jobs = past_ || told ? 1 : jobs;
    try {
      return learn_rows_once(rows, columns, names, labels, weights, order, count, undo, told, jobs);
    } catch (const Error&) {
      if (jobs == 1 || !undo) throw;
    }
    // One thread finds what threads met, and where it stands, or that it is nothing.
    learn_rows_once(rows, columns, names, labels, weights, order, count, undo, told, 1);
  }

  /// Learns one row, all or nothing. `label` is the class, or null for the number `value`;
  /// `names_before` is the vocabulary's size before the row's names entered it. Returns the class
  /// number, or the value.
  double learn_row(const Row<W>& row, const ClassName* label, double value, double weight,
                   Index names_before) {
    const int classes_before = classes.size();
    try {
      if (!is_regression()) {
        value = label ? classes.find_or_add(*label) : classes.find_or_add(value);
        weight *= classes.weight(static_cast<int>(value));
        if (past_ && classes.size() > classes_before) past_->undo.remember_all();
      }
      grow(vocabulary.size());
      if (past_) past_->undo.remember(row);
      learner->learn(row, value, weight);
    } catch (...) {
      classes.truncate(classes_before);
      vocabulary.truncate(names_before);
      if (!hash_mask) state().truncate_features(names_before);
      throw;
    }
    if (vocabulary.crowded()) prune();
    return value;
  }

  /// Gives back the room of features that no row has had, where these are most. Each class takes
  /// room for all features, so that a far index and many classes would take gigabytes.
  void drop_fresh_features() {
    std::vector<Index> keep;
    for (Index f = 0; f < vocabulary.size(); ++f)
      if (!state().is_fresh(f)) keep.push_back(f);
    if (2 * keep.size() > static_cast<std::size_t>(vocabulary.size())) return;
    if (past_) past_->remember_all(vocabulary);
    vocabulary.remap(keep);
    state().drop_fresh(keep);
    learner->rebuild();
  }

  /// Makes room for the vocabulary, and for features numbered 0..n-1 if that is their name.
  void grow(std::size_t n) {
    if (hash_mask) return state().grow_features(static_cast<std::size_t>(hash_mask) + 1);
    const Index before = vocabulary.size();
    if (vocabulary.identity() && n > static_cast<std::size_t>(before))
      vocabulary.extend(static_cast<Index>(n));
    all_or_nothing([&] { state().grow_features(vocabulary.size()); },  // there may not be room
                   [&] { vocabulary.truncate(before); });
    name_features();
  }

  void name_features() {
    if (state().extension) state().extension->name_features(vocabulary);
  }

  /// Scores of a row: one a class, or for regression one.
  std::size_t score_width() const { return is_regression() ? 1 : state().classes; }

  /// Scores of rows, and variances if there is room for them.
  void predict_rows(const RowSource<W>& rows, std::size_t columns, const std::vector<Name>& names,
                    double* scores, double* variances, int jobs = 1) {
    const auto width = static_cast<std::int64_t>(score_width());
    for_batches(rows, columns, names, jobs,
                [&](RowCursor<W>& cursor, std::int64_t begin, std::int64_t end, Scores& found) {
                  learner->predict_rows(cursor, begin, end, scores + begin * width,
                                        variances ? variances + begin * width : nullptr, found);
                });
  }

  /// The probabilities of two classes, as calibrated.
  void predict_two_classes(const RowSource<W>& rows, std::size_t columns,
                           const std::vector<Name>& names, double* likely, int jobs) {
    const bool mirrored = !learner->outputs().is_one_a_class();
    const Calibration& now = state().calibration;
    for_batches(rows, columns, names, jobs,
                [&](RowCursor<W>& cursor, std::int64_t begin, std::int64_t end, Scores& found) {
                  double scores[2 * RowBatch<W>::most_rows], variances[std::size(scores)];
                  learner->predict_rows(cursor, begin, end, scores, variances, found);
                  for (std::int64_t i = 0; i < 2 * (end - begin); i += 2)
                    Calibration::of_two(now.c, now.lapse, mirrored, scores + i, variances + i,
                                        likely + 2 * begin + i);
                });
  }

  /// What scores speak for: a class number (-1: none is known), or a value.
  double answer(std::span<const double> scores) const {
    if (is_regression()) return scores[0];
    return best_of(-1, static_cast<int>(scores.size()), [&](int c) { return scores[c]; });
  }

 private:
  void learn_rows_once(const RowSource<W>& rows, std::size_t columns,
                       const std::vector<Name>& names, const Labels& labels, const double* weights,
                       const std::int64_t* order, std::int64_t count, bool undo,
                       ProgressiveResult* told, int jobs) {
    if (told) told->delay = std::min(told->delay, count);
    const int classes_before = classes.size();
    const Index names_before = vocabulary.size();
    const bool is_alone = !past_;
    try {
      const Buffer<double> numbers = number_labels(labels, weights, order, count);
      if (told) told->start(count, is_regression() ? 1 : classes.size());
      const bool columns_change = classes.size() > classes_before;
      if (past_ && columns_change) past_->undo.remember_all();
      if (undo && !past_)
        past_.emplace(state(), classes_before, names_before, hashed_kinds, rows.values(),
                      columns_change);
      learner->reserve_classes(classes.size());
      Lesson lesson{&rows, numbers, weights, order, count, !is_regression()};
      if (forgets()) {
        learn_by_names(lesson, names.empty() ? numbers_as_names(columns) : names, told);
      } else {
        const auto places = place_columns(columns, names, true);
        const MappedRows<W> mapped(rows, places.value_or(std::vector<Index>{}), hash_mask != 0);
        if (places) lesson.rows = &mapped;
        lesson.is_large = learner->is_large();
        told ? predict_then_learn_in_order(lesson, *told) : learn_in_order(lesson, jobs);
      }
    } catch (...) {
      roll_back();
      classes.truncate(std::min(classes.size(), classes_before));
      vocabulary.truncate(names_before);
      throw;
    }
    if (is_alone) commit();
    note_hashed(names);
    if (hash_mask && names.empty()) hashed_kinds |= by_number;
    if (vocabulary.crowded()) prune();
  }

  /// Calls f with a few rows at a time (a cursor, the first one's number, the last one's) and
  /// memory for scores; each of `jobs` threads takes rows that stand behind each other. Of what is
  /// wrong with rows the first is told.
  template <class F>
  void for_batches(const RowSource<W>& rows, std::size_t columns, const std::vector<Name>& names,
                   int jobs, F f) {
    const auto places = place_columns(columns, names, false);
    MappedRows<W> mapped(rows, places.value_or(std::vector<Index>{}), hash_mask != 0);
    const RowSource<W>& source = places ? mapped : rows;
    // Fewer values than this are read before a thread has begun.
    constexpr std::size_t least = 2 * RowBatch<W>::most_values;
    const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, rows.values() / least));
    share(rows.rows(), std::min<std::int64_t>(jobs, most),
          [&](std::int64_t begin, std::int64_t end) {
            RowCursor<W> cursor(source, begin, end);
            Scores found;
            constexpr std::int64_t most = RowBatch<W>::most_rows;
            for (std::int64_t i = begin; i < end; i += most)
              f(cursor, i, std::min(i + most, end), found);
          });
  }

  void predict_row(const Row<W>& row, std::int64_t at, ProgressiveResult& told) {
    if (!is_regression() && state().classes == 0) return;  // -1 and NaN
    learner->predict(row, found_);
    told.note(at, answer(found_.score), found_.score);
    told.note_uncertainty(at, found_.variance, state().calibration);
  }

  /// Whether features may be dropped or forgotten.
  bool forgets() const {
    return !hash_mask && vocabulary.when_full() != WhenFull::Refuse &&
           vocabulary.limit() != Vocabulary::kNoLimit;
  }

  /// The rows of one call, what they mean and how much they count, in the order of learning.
  struct Lesson {
    const RowSource<W>* rows;
    const Buffer<double>& numbers;
    const double* weights;
    const std::int64_t* order;
    std::int64_t count;
    bool by_class;          ///< labels are classes
    bool is_large = false;  ///< the weights exceed a core's own cache

    /// Rows that do not count are not looked at.
    RowCursor<W> to_learn(std::int64_t begin, std::int64_t end) const {
      return {*rows, begin, end, order, weights};
    }
    RowCursor<W> to_learn() const { return to_learn(0, count); }
    std::int64_t place(std::int64_t i) const { return order ? order[i] : i; }
    double weight(std::int64_t i) const { return weights ? weights[place(i)] : 1; }
  };

  void learn_in_order(const Lesson& lesson, int jobs) {
    constexpr std::int64_t least = 256;  // takes longer than starting a thread
    if (jobs == 1 || !learner->has_lone_columns() || (past_ && !past_->undo.is_whole()))
      return learn_in_order(lesson, std::int64_t{0}, lesson.count);
    for (std::int64_t begin = 0, end; begin < lesson.count; begin = end) {
      end = known_until(lesson, begin);
      const int parts = std::min(jobs, state().blocks.columns() / 4);
      if (parts > 1 && end - begin >= least) {
        learn_by_columns(lesson, begin, end, parts);
      } else {
        end = std::min(std::max(end + 1, begin + least), lesson.count);  // past a new class
        learn_in_order(lesson, begin, end);
      }
    }
  }
  void learn_in_order(const Lesson& lesson, std::int64_t begin, std::int64_t end) {
    RowCursor<W> rows = lesson.to_learn(begin, end);
    Undo<W>* const before = past_ ? &past_->undo : nullptr;
    for (std::int64_t i = begin; i < end; ++i) learn_next(lesson, rows, i, before);
  }

  /// Where the rows of classes that have been learned end, or what is kept of them gets large.
  std::int64_t known_until(const Lesson& lesson, std::int64_t begin) {
    constexpr std::int64_t most = 4096;
    std::int64_t i = begin;
    const std::int64_t end = std::min(lesson.count, begin + most);
    while (i < end && (lesson.weight(i) == 0 || lesson.numbers[i] < state().classes)) ++i;
    return i;
  }

  /// Threads learn the same rows, each for some columns; what needs all columns is counted
  /// afterwards, row by row.
  void learn_by_columns(const Lesson& lesson, std::int64_t begin, std::int64_t end, int parts) {
    const int columns = state().blocks.columns();
    const auto first_of = [=](int k) {  // columns that are walked together stay together
      return k == parts ? columns : (columns * k / parts + 2) / 4 * 4;
    };
    std::vector<std::unique_ptr<Learner<W>>> learners;
    for (int k = 0; k < parts; ++k)
      learners.push_back(learner->part(first_of(k), first_of(k + 1) - first_of(k)));
    told_.resize(parts);
    share(parts, parts, [&](std::int64_t k, std::int64_t) {
      ColumnPart told = std::move(told_[k]);  // threads write to no neighbouring memory
      told.clear();
      RowCursor<W> rows = lesson.to_learn(begin, end);
      for (std::int64_t i = begin; i < end; ++i) {
        if (lesson.weight(i) == 0) continue;
        const std::span<const Row<W>> read = rows.from(i);
        if (lesson.is_large && read.size() > 1) learners[k]->prefetch_part(read[1]);
        learners[k]->learn_part(read[0], static_cast<int>(lesson.numbers[i]),
                                lesson.weight(i) * class_weight(lesson, lesson.numbers[i]), told);
      }
      told_[k] = std::move(told);
    });
    for (int k = 0; k < parts; ++k) learner->take_columns(*learners[k], first_of(k));
    std::vector<std::size_t> moves(parts);
    for (std::int64_t i = begin, learned = 0; i < end; ++i)
      if (lesson.weight(i) != 0)
        learner->count_row(static_cast<int>(lesson.numbers[i]),
                           lesson.weight(i) * class_weight(lesson, lesson.numbers[i]), learned++,
                           told_, moves);
  }

  /// The same, but each row is predicted first, or scored by its learning, which begins with that.
  void predict_then_learn_in_order(const Lesson& lesson, ProgressiveResult& told) {
    Undo<W>* const before = past_ ? &past_->undo : nullptr;
    // Learning tells the scores of a row, but not how sure they are.
    const bool by_learning =
        told.delay == 0 && !told.wants_uncertainty && learner->predicts_as_it_learns();
    RowCursor<W> to_tell(*lesson.rows, 0, lesson.count), later = lesson.to_learn();
    RowCursor<W>& to_learn = told.delay == 0 ? to_tell : later;
    for (std::int64_t i = 0; i < lesson.count + told.delay; ++i) {
      const bool is_told = by_learning && lesson.weight(i) != 0 &&
                           (!lesson.by_class || lesson.numbers[i] < state().classes);
      if (!is_told && i < lesson.count) predict_row(to_tell[i], i, told);
      if (i >= told.delay) learn_next(lesson, to_learn, i - told.delay, before);
      if (!is_told) continue;
      if (told.wants_scores) learner->last_scores(last_scores_);
      told.note(i, learner->last_prediction, last_scores_);
    }
  }

  /// The same where features may be dropped or forgotten: each row brings its own, as if it were a
  /// dict, so that the result depends on the rows alone. Forgetting changes everything, so all of
  /// it is copied.
  void learn_by_names(const Lesson& lesson, const std::vector<Name>& names,
                      ProgressiveResult* told) {
    if (past_) past_->remember_all(vocabulary);
    std::vector<Index> index;
    std::vector<W> value;
    const auto placed = [&](const Row<W>& row, bool add) -> Row<W> {
      index.clear();
      value.clear();
      for (std::size_t j = 0; j < row.size; ++j) {
        const Name& name = names[row.index[j]];
        const Index place = add ? vocabulary.find_or_add(name) : vocabulary.find(name);
        if (place < 0) continue;
        index.push_back(place);
        value.push_back(row.value[j]);
      }
      return {index.data(), value.data(), index.size()};
    };
    const std::int64_t delay = told ? told->delay : 0;
    RowCursor<W> to_learn = lesson.to_learn(), to_tell(*lesson.rows, 0, lesson.count);
    for (std::int64_t i = 0; i < lesson.count + delay; ++i) {
      if (told && i < lesson.count) predict_row(placed(to_tell[i], false), i, *told);
      if (i < delay || lesson.weight(i - delay) == 0) continue;
      const std::int64_t next = i - delay;
      const double label = lesson.numbers[next];
      const Row<W> row = placed(to_learn[next], true);
      grow(0);
      learn_row_at(lesson.place(next), row, label,
                   lesson.weight(next) * class_weight(lesson, label));
      if (vocabulary.crowded()) prune();
    }
  }
  double class_weight(const Lesson& lesson, double label) const {
    return lesson.by_class ? classes.weight(static_cast<int>(label)) : 1;
  }

  [[gnu::always_inline]] void learn_next(const Lesson& lesson, RowCursor<W>& rows, std::int64_t i,
                                         Undo<W>* before) {
    double weight = lesson.weight(i);
    if (weight == 0) return;
    const double label = lesson.numbers[i];
    if (lesson.by_class) weight *= classes.weight(static_cast<int>(label));
    const std::span<const Row<W>> read = rows.from(i);
    const Row<W> row = read[0];
    if (lesson.is_large && read.size() > 1) learner->template prefetch<true>(read[1]);
    if (before) before->remember(row);
    learn_row_at(lesson.place(i), row, label, weight);
  }

  /// An error says which row of the call it was.
  [[gnu::always_inline]] void learn_row_at(std::int64_t place, const Row<W>& row, double label,
                                           double weight) {
    try {
      learner->learn(row, label, weight);
    } catch (const Error& error) {
      throw Error("Row " + std::to_string(place) + ": " + error.what());
    }
  }

  /// Class numbers, or real targets, of rows in the order in which they are learned.
  Buffer<double> number_labels(const Labels& labels, const double* weights,
                               const std::int64_t* order, std::int64_t count) {
    Buffer<double> numbers(count);
    std::vector<int> number_of_name(labels.names.size(), -1);
    const bool by_class = !is_regression();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = order ? order[i] : i;
      const double value = labels.numbers[at];
      numbers[i] = value;
      if (!by_class || (weights && weights[at] == 0)) continue;
      try {
        if (labels.names.empty()) {
          numbers[i] = classes.find_or_add(value);
        } else {
          const auto place = static_cast<std::size_t>(value);
          int& number = number_of_name[place];
          if (number < 0) number = classes.find_or_add(labels.names[place]);
          numbers[i] = number;
        }
      } catch (const Error& error) {
        throw Error("Row " + std::to_string(at) + ": " + error.what());
      }
    }
    return numbers;
  }

  /// Forgets the quarter of the features with the smallest weights.
  void prune() {
    if (past_) past_->remember_all(vocabulary);
    const auto n = static_cast<std::size_t>(vocabulary.size());
    std::vector<std::pair<double, Index>> size_of(n);
    for (std::size_t f = 0; f < n; ++f) {
      double most = 0;
      for (int k = 0; k < state().blocks.columns(); ++k)
        most = std::max(most, std::abs(learner->weight(f + 1, k)));
      size_of[f] = {-most, static_cast<Index>(f)};
    }
    const std::size_t kept = static_cast<std::size_t>(vocabulary.limit()) * 3 / 4;
    std::nth_element(size_of.begin(), size_of.begin() + kept, size_of.end());
    std::vector<Index> keep;
    for (std::size_t i = 0; i < kept; ++i) keep.push_back(size_of[i].second);
    std::sort(keep.begin(), keep.end());
    vocabulary.remap(keep);
    state().keep_features(keep);
    name_features();
    learner->rebuild();
    learner->after_forgetting();
  }

  Scores found_;
  std::vector<double> last_scores_;
  std::vector<ColumnPart> told_;
  std::optional<Past<W>> past_;  ///< since `begin`
};

}  // namespace yarrow
