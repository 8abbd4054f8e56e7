#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "state/state.hpp"

namespace yarrow {

/// How classes become columns of weights and a row becomes signed examples.
///   regression       one column; z = sign(y - w.x) * x
///   binary           one column; z = +x for the second class seen, -x for the first
///   one_versus_rest  a binary problem per class, side by side; as many results as classes
///   top1             one column a class; z = x on the true class, -x on its best rival
///   max_loss         the same with the rival whose cost plus score is largest
///   many             one column a class; margins over many rivals at once (rivals.hpp)
///   joint            one column; z is the row itself, made by a user's feature map
///   examples         the same for rows without a label, examples of what w shall be near to
///   pairs            the same for differences of a better and a worse row
enum class Strategy {
  regression,
  binary,
  one_versus_rest,
  top1,
  max_loss,
  many,
  joint,
  examples,
  pairs
};

/// A score that is told: a column, and the sign with which it speaks.
struct ToldScore {
  int column;
  double sign;
};

/// Of the first so many classes the one with the highest value, but not `except`; -1 if there is
/// none. Ties go to the class seen first.
template <class Value>
int best_of(int except, int classes, Value value) {
  int best = -1;
  for (int k = 0; k < classes; ++k)
    if (k != except && (best < 0 || value(k) > value(best))) best = k;
  return best;
}

/// Which column speaks for which class.
///
/// Classes exist from their first row, numbered by appearance. one_versus_rest keeps one more
/// column, "none of the seen", which a new class copies: so growing classes equals knowing them
/// beforehand. Up to two classes share one column, since the other would be its mirror image to the
/// bit; if two are declared, "none" is not kept either. So `classes=` never changes a result.
struct Outputs {
  Strategy strategy;
  int classes;  ///< seen so far

  bool is_one_a_class() const {
    return strategy == Strategy::top1 || strategy == Strategy::max_loss ||
           strategy == Strategy::many;
  }
  /// Rows carry numbers, not classes.
  bool is_real() const {
    return strategy == Strategy::regression || strategy == Strategy::joint || is_unlabelled();
  }
  bool is_unlabelled() const {
    return strategy == Strategy::examples || strategy == Strategy::pairs;
  }

  /// How many there are, once a row has been learned.
  int count() const {
    if (is_one_a_class()) return classes;
    if (strategy != Strategy::one_versus_rest) return 1;
    return classes <= 2 ? std::max(classes, 1) : classes + 1;
  }

  /// The class for which a column is the positive one; -1: the column "none of the seen".
  int positive_class(int column) const {
    if (strategy == Strategy::binary) return 1;
    if (is_one_a_class()) return column;
    return column <= 2 ? std::array{-1, 1, 0}[column] : column - 1;
  }

  /// The column of a class's weights; for up to two classes in one_versus_rest and for binary there
  /// is only the second class's, and the first class's is its mirror image.
  int of_class(int c) const {
    if (strategy == Strategy::binary) return 0;
    if (is_one_a_class()) return c;
    if (classes <= 2) return classes - 1;
    return c <= 1 ? 2 - c : c + 1;
  }

  /// With which sign a class's column speaks for it.
  double sign_of_class(int c) const {
    return !is_real() && !is_one_a_class() && classes <= 2 && c + 1 < std::max(classes, 2) ? -1 : 1;
  }

  /// Whether a row of class c is a positive (1) or a negative (-1) example for a column.
  double sign(int column, int c) const { return c == positive_class(column) ? 1 : -1; }

  /// The column "none of the seen", which always comes first; with one class seen it is all there
  /// is, and stands for the second class.
  bool is_none(int column) const {
    return strategy == Strategy::one_versus_rest && column == 0 && classes > 1;
  }

  /// The best of the first so many classes, but not `except`; -1: there is none.
  int best_class(const std::vector<double>& scores, int except, int among) const {
    return best_of(except, among, [&](int k) { return scores[of_class(k)]; });
  }

  /// The class that the columns' scores speak for, of the first so many; -1: there is none.
  int predicted(const std::vector<double>& scores, int among) const {
    if (among <= 1) return among - 1;
    if (is_one_a_class() || classes > 2) return best_class(scores, -1, among);
    return scores[of_class(1)] > 0 ? 1 : 0;
  }

  /// The columns whose scores decide the prediction: those of the two best classes, or, of two
  /// classes, the one that serves both. None as long as there is nothing to decide.
  std::vector<int> leading(const std::vector<double>& scores) const {
    if (classes < 2) return {};
    if (classes == 2 && !is_one_a_class()) return {of_class(1)};
    const int best = best_class(scores, -1, classes);
    return {of_class(best), of_class(best_class(scores, best, classes))};
  }

  /// The scores that tell classes apart in this order: one each, or of two the one that they share,
  /// which speaks for the last.
  std::vector<ToldScore> told(const std::vector<int>& order) const {
    if (is_real()) return {{0, 1}};
    std::vector<ToldScore> scores;
    for (const int c : order) scores.push_back({of_class(c), sign_of_class(c)});
    if (scores.size() <= 2) scores.erase(scores.begin(), scores.end() - 1);
    return scores;
  }

  /// Values a column as values a class; `mirror` is the sign of a mirror image. Where they end.
  double* to_classes(const std::vector<double>& values, int mirror, double* to) const {
    if (is_one_a_class()) return std::copy_n(values.begin(), classes, to);
    if (classes > 2)
      for (int c = 0; c < classes; ++c) *to++ = values[of_class(c)];
    if (classes == 1 || classes == 2) *to++ = mirror * values[of_class(0)];
    if (classes == 2) *to++ = values[of_class(1)];
    return to;
  }
  void to_classes(std::vector<double>& values, int mirror) const {
    const std::vector<double> columns = std::move(values);
    values.assign(classes, 0);
    to_classes(columns, mirror, values.data());
  }
};

/// Gives a new class its column. In one_versus_rest it copies the column "none of the seen", which
/// has taken every row as negative, so that growing classes equals knowing them beforehand; the
/// first class gets its own column, mirrored from the second's, with the third.
template <class W>
void add_class(State<W>& state, Strategy strategy) {
  const int known = state.classes++;
  const Outputs outputs{strategy, state.classes};
  if (outputs.is_one_a_class()) state.add_column(-1, false);
  if (strategy != Strategy::one_versus_rest || known == 0) return;
  if (known == 2) state.add_column(outputs.of_class(1), true);
  state.add_column(0, false);
}

/// Takes back the newest class, whose column nothing has moved yet; perhaps it never came to be.
template <class W>
void remove_class(State<W>& state, Strategy strategy) {
  const Outputs left{strategy, --state.classes};
  if (left.count() <= state.blocks.columns()) state.truncate_columns(left.count());
}

/// Makes room for the columns of so many classes.
template <class W>
void reserve_classes(State<W>& state, Strategy strategy, int classes) {
  state.reserve_columns(Outputs{strategy, classes}.count());
}

}  // namespace yarrow
