#pragma once
#include <array>
#include <vector>

namespace yarrow {

/// How classes become columns of weights and a row becomes signed examples.
///   regression       one column; z = sign(y - w.x) * x
///   binary           one column; z = +x for the second class seen, -x for the first
///   one_versus_rest  a binary problem per class, side by side; as many results as classes
///   top1             one column a class; z = x on the true class, -x on its best rival
///   max_loss         the same with the rival whose cost plus score is largest
///   many             one column a class; margins over many rivals at once (rivals.hpp)
///   joint            one column; z is the row itself, made by a user's feature map
enum class Strategy { regression, binary, one_versus_rest, top1, max_loss, many, joint };

/// Which column speaks for which class.
struct Columns {
  Strategy strategy;
  int classes;  ///< seen so far

  bool is_one_a_class() const {
    return strategy == Strategy::top1 || strategy == Strategy::max_loss ||
           strategy == Strategy::many;
  }
  /// Rows carry numbers, not classes.
  bool is_real() const { return strategy == Strategy::regression || strategy == Strategy::joint; }

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

  /// Values a column as values a class; `mirror` is the sign of a mirror image.
  void to_classes(std::vector<double>& values, int mirror) const {
    if (is_one_a_class()) return;
    if (classes == 1) {
      values = {mirror * values[0]};
    } else if (classes == 2) {
      const double second = values[of_class(1)];
      values = {mirror * second, second};
    } else {
      std::vector<double> ordered(classes);
      for (int c = 0; c < classes; ++c) ordered[c] = values[of_class(c)];
      values = std::move(ordered);
    }
  }
};

}  // namespace yarrow
