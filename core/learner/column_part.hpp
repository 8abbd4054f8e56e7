#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "learner/outputs.hpp"

namespace yarrow {

/// A class, and what its column says of a row.
struct Contender {
  int of_class = -1;  ///< -1: there is none
  double score = 0, variance = 0;
};

/// The two classes with the highest scores of those that are offered, in any order.
struct BestTwo {
  Contender first, second;

  void offer(const Contender& other) {
    if (is_above(other, first))
      second = std::exchange(first, other);
    else if (is_above(other, second))
      second = other;
  }

 private:
  /// Ties go to the class seen first, as in `best_of`.
  static bool is_above(const Contender& a, const Contender& b) {
    if (a.of_class < 0 || b.of_class < 0) return a.of_class >= 0;
    return a.score > b.score || (a.score == b.score && a.of_class < b.of_class);
  }
};

/// What some columns of one-versus-rest leave of the rows that they have learned, for those who see
/// all columns: the class that was predicted, whether the row moved a class, and how far each move
/// may have carried weights, and sums of weights.
struct ColumnPart {
  struct OfRow {
    BestTwo best;
    bool moved;
    std::size_t moves;  ///< of this row
  };
  std::vector<OfRow> rows;
  std::vector<std::array<double, 2>> growths;  ///< of weights and sums, move by move

  void clear() {
    rows.clear();
    growths.clear();
  }
};

}  // namespace yarrow
