#pragma once
// Blocks of parsed rows into and out of a model, with places for errors and a running account.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "data/row_block.hpp"
#include "model.hpp"

namespace yarrow {

/// The account of a stream at one row: what `evaluate` prints at powers of two.
struct Checkpoint {
  double rows, mistakes, squared_error;
  double label, prediction;  ///< class numbers (-1: none), or values
  std::size_t features;
};

/// What has happened to a stream so far. Every prediction is made before its row is learned.
struct Account {
  double rows = 0, mistakes = 0, squared_error = 0;
  std::size_t features = 0;
  std::size_t skipped = 0;
  std::size_t returns = 0;  ///< of a class after another; none where rows are sorted by class
  std::vector<std::string> complaints;  ///< about the first few rows skipped
  std::vector<Checkpoint> checkpoints;
  std::vector<double> labels, predictions;  ///< if they are to be kept
};

/// The numbers that a model has for the names in lists of names, each looked up once.
class NameNumbers {
 public:
  /// Those of a list's first names, -1 where none is known yet.
  std::vector<Index>& of(const std::shared_ptr<const NameList>& names, std::size_t count,
                         const Vocabulary& vocabulary) {
    if (stamp_ != vocabulary.stamp()) lists_.clear();  // names may have lost their numbers
    stamp_ = vocabulary.stamp();
    auto list = std::ranges::find(lists_, names, &List::names);
    if (list == lists_.end()) {
      std::erase_if(lists_, [](const List& old) { return old.names.use_count() == 1; });
      list = lists_.insert(lists_.end(), {names, {}});
    }
    if (list->numbers.size() < count) list->numbers.resize(count, -1);
    return list->numbers;
  }

 private:
  struct List {
    std::shared_ptr<const NameList> names;
    std::vector<Index> numbers;
  };
  std::vector<List> lists_;
  std::uint64_t stamp_ = 0;
};

/// The rows of a block with their features numbered as the model numbers them.
template <class W>
class NumberedRows {
 public:
  NumberedRows(Model<W>& model, const RowBlock<W>& block, NameNumbers& numbers)
      : model_(model), block_(block), numbers_(numbers) {}

  /// For learning: makes room for new features.
  Row<W> resolve(std::size_t i) {
    if (is_numbered()) {
      const Row<W> row = block_.row(i);
      const std::size_t size = model_.hash_mask ? 0 : size_of(row);
      if (model_.hash_mask) model_.hashed_kinds |= Model<W>::by_number;
      if (size <= model_.state().blocks.features()) return row;
      if (has_room(size)) {
        model_.grow(size);
        return row;
      }
    }
    if (is_listed())
      return place(i, [&](const Name* names, std::size_t n, Index* out) {
        model_.vocabulary.resolve(names, n, out);
      });
    collect(i);
    model_.note_hashed(named_.names());
    return model_.resolve(named_);
  }

  /// After a row with a new class: what had room with fewer classes may have none now. A look at
  /// all features costs as much as room for more columns, which doubles each time, too.
  void make_room_for_class() {
    const Blocks<W>& blocks = model_.state().blocks;
    const bool has_doubled = (blocks.columns() & (blocks.columns() - 1)) == 0;
    if (is_numbered() && !model_.hash_mask && has_doubled && !has_room(blocks.features()))
      model_.drop_fresh_features();
  }

  /// For predicting: features that the model does not know are left out.
  Row<W> find(std::size_t i) {
    if (is_numbered()) {
      const Row<W> row = block_.row(i);
      if (model_.hash_mask || size_of(row) <= model_.state().blocks.features()) return row;
    }
    if (is_listed())
      return place(i, [&](const Name* names, std::size_t n, Index* out) {
        model_.vocabulary.find(names, n, out);
      });
    collect(i);
    return model_.find(named_);
  }

 private:
  /// Whether features have names that are looked up once a list, not once a row.
  bool is_listed() const { return block_.named() && !model_.hash_mask; }

  /// The row with its features' numbers in the model. look_up() is asked for those that are not
  /// known yet; features without a number are left out.
  template <class LookUp>
  Row<W> place(std::size_t i, LookUp look_up) {
    const Row<W> row = stated(block_.row(i));
    std::vector<Index>& numbers =
        numbers_.of(block_.names, static_cast<std::size_t>(block_.name_count), model_.vocabulary);
    index_.resize(row.size + missing_.size());
    Index lowest = 0;
    for (std::size_t j = 0; j < row.size; ++j) {
      index_[j] = numbers[static_cast<std::size_t>(row.index[j])];
      lowest = std::min(lowest, index_[j]);
    }
    if (lowest == 0) return with_missing({index_.data(), row.value, row.size}, numbers);

    unknown_.clear();
    for (std::size_t j = 0; j < row.size; ++j)
      if (index_[j] < 0) unknown_.push_back((*block_.names)[row.index[j]]);
    found_.resize(unknown_.size());
    look_up(unknown_.data(), unknown_.size(), found_.data());
    value_.resize(row.size + missing_.size());
    std::size_t kept = 0;
    for (std::size_t j = 0, next = 0; j < row.size; ++j) {
      Index& number = numbers[static_cast<std::size_t>(row.index[j])];
      if (index_[j] < 0) number = found_[next++];
      index_[kept] = number;
      value_[kept] = row.value[j];
      kept += number >= 0;
    }
    return with_missing({index_.data(), value_.data(), kept}, numbers);
  }

  /// A row without the values that are missing; `missing_` has their names' places, where somebody
  /// tells them from 0.
  Row<W> stated(const Row<W>& row) {
    missing_.clear();
    if (!block_.has_missing) return row;
    stated_.resize(row.size);
    value_.resize(row.size);
    std::size_t size = 0;
    for (std::size_t j = 0; j < row.size; ++j) {
      stated_[size] = row.index[j];
      value_[size] = row.value[j];
      if (!std::isnan(row.value[j]))
        ++size;
      else if (model_.learner->tells_missing())
        missing_.push_back(row.index[j]);
    }
    return {stated_.data(), value_.data(), size};
  }

  /// The row and, behind it, what it has of features that are known and missing.
  Row<W> with_missing(Row<W> row, std::vector<Index>& numbers) {
    for (const Index place : missing_) {
      Index& number = numbers[static_cast<std::size_t>(place)];
      if (number < 0) number = model_.vocabulary.find((*block_.names)[place]);
      if (number < 0) continue;
      index_[row.size] = number;
      value_[row.size++] = std::numeric_limits<W>::quiet_NaN();
    }
    return row;
  }

  /// Whether the numbers of the features are their places.
  bool is_numbered() const {
    return !block_.named() &&
           (model_.hash_mask ||
            (model_.vocabulary.identity() && model_.vocabulary.when_full() == WhenFull::Refuse));
  }

  /// Whether the features 0..size-1 may have their places by number, without a name that is looked
  /// up. That is fastest, but a single row then takes room for all numbers below its largest:
  /// beyond this much memory its numbers are names like any other, and only those that came take
  /// room.
  bool has_room(std::size_t size) const {
    constexpr std::size_t most_bytes = std::size_t{1} << 26;
    const Blocks<W>& blocks = model_.state().blocks;
    const std::size_t columns = std::max(blocks.columns(), 1);
    return size * columns * blocks.planes().size() <= most_bytes / sizeof(W);
  }

  static std::size_t size_of(const Row<W>& row) {
    Index last = -1;
    for (std::size_t j = 0; j < row.size; ++j) last = std::max(last, row.index[j]);
    return static_cast<std::size_t>(last) + 1;
  }

  void collect(std::size_t i) {
    named_.clear();
    for (std::int64_t j = block_.begin[i]; j < block_.begin[i + 1]; ++j) {
      const Name name = block_.named() ? block_.name(j) : Name(std::int64_t{block_.index[j]});
      if (!std::isnan(block_.value[j]))
        named_.add(name, block_.value[j]);
      else if (model_.learner->tells_missing())
        named_.add_missing(name);
    }
  }

  Model<W>& model_;
  const RowBlock<W>& block_;
  NameNumbers& numbers_;
  Buffer<Index> index_, found_, stated_;
  Buffer<W> value_;
  std::vector<Index> missing_;
  std::vector<Name> unknown_;
  NamedRow<W> named_;
};

struct StreamOptions {
  bool skip_errors = false;   ///< leave rows out that cannot be learned, and count them
  bool keep_results = false;  ///< keep every label and prediction in the account
};

/// Learns blocks row by row and keeps the account. Whoever calls holds the model's lock.
template <class W>
class StreamLearner {
 public:
  StreamLearner(Model<W>& model, StreamOptions options) : model_(model), options_(options) {}

  void learn(const RowBlock<W>& block, Account& account) {
    NumberedRows<W> rows(model_, block, numbers_);
    for (std::size_t i = 0; i < block.rows(); ++i) {
      try {
        learn_row(block, i, rows, account);
      } catch (const Error& error) {
        const std::string complaint =
            "line " + std::to_string(block.line_number(i)) + ": " + error.what();
        if (!options_.skip_errors) throw Error(complaint);
        ++account.skipped;
        if (account.complaints.size() < most_complaints) account.complaints.push_back(complaint);
      }
    }
  }

 private:
  void learn_row(const RowBlock<W>& block, std::size_t i, NumberedRows<W>& rows, Account& account) {
    if (learns_labels() && !block.has_label(i)) throw Error("the row has no label");
    const double weight = block.weight[i];
    if (!(weight >= 0)) throw Error("the weight of the row is negative");
    if (weight == 0) return;
    const bool is_text = learns_labels() && block.has_text_label(i);
    if (is_text && model_.is_regression())
      throw Error("the label '" + utf8::shown(utf8::shortened(block.label_text[i])) +
                  "' is not a number");
    const Index names_before = model_.vocabulary.size();
    const int classes_before = model_.classes.size();
    const Row<W> row = rows.resolve(i);
    double prediction = 0;
    const double updates = model_.state().updates;
    const bool is_told = model_.learner->predicts_as_it_learns();
    if (!is_told) prediction = predict(row, names_before);
    // The class of a row is what is written there, if that is not the number that was made of it.
    const bool is_named = learns_labels() && !model_.is_regression() &&
                          (block.has_text_label(i) || block.has_large_label(i));
    const ClassName name = is_named ? class_name(block, i) : ClassName();
    const double label =
        model_.learn_row(row, is_named ? &name : nullptr, block.label[i], weight, names_before);
    if (!learns_labels()) return add(account, row, 1, model_.state().updates == updates ? 1 : -1);
    add(account, row, label, is_told ? model_.learner->last_prediction : prediction);
    if (model_.classes.size() > classes_before) rows.make_room_for_class();
  }

  static ClassName class_name(const RowBlock<W>& block, std::size_t i) {
    const std::string_view text = block.label_text[i];
    return block.has_text_label(i) ? ClassName::of(std::string(text)) : ClassName::of_digits(text);
  }

  /// Without labels every row counts as 1, normal, and is predicted as -1 if it moves the model.
  bool learns_labels() const { return !model_.learner->outputs().is_unlabelled(); }

  double predict(const Row<W>& row, Index names_before) {
    all_or_nothing([&] { model_.grow(model_.vocabulary.size()); },  // there may not be room
                   [&] { model_.vocabulary.truncate(names_before); });
    model_.learner->predict(row, scores_);
    return model_.answer(scores_.score);
  }

  void add(Account& account, const Row<W>& row, double label, double prediction) {
    const bool regression = model_.is_regression() && learns_labels();
    ++account.rows;
    account.features += row.size;
    account.mistakes += !regression && label != prediction;
    account.squared_error += regression ? square(label - prediction) : 0;
    account.returns += label != last_label_ && label <= highest_label_;
    last_label_ = label;
    highest_label_ = std::max(highest_label_, label);
    if (options_.keep_results) {
      account.labels.push_back(label);
      account.predictions.push_back(prediction);
    }
    if (account.rows == next_checkpoint_) {
      next_checkpoint_ *= 2;
      account.checkpoints.push_back(
          {account.rows, account.mistakes, account.squared_error, label, prediction, row.size});
    }
  }

  Model<W>& model_;
  StreamOptions options_;
  NameNumbers numbers_;
  Scores scores_;
  double next_checkpoint_ = 1;
  double last_label_ = -1, highest_label_ = -1;  // classes are numbered as they come
};

}  // namespace yarrow
