#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "data/row.hpp"

// What a mixture predicts by, settled: all that depends on counts and times of learning has become
// a number. docs/export.md has the equations, and says what each of these is.

namespace yarrow {

/// A sum over a row, as a part of what an expert says.
struct SettledTerm {
  const char* over;             ///< of what there are items
  bool divided;                 ///< by the root of their number
  std::size_t each;             ///< how many numbers an item has for a score
  std::vector<double> numbers;  ///< by item, score and these
  std::vector<Index> of;        ///< over products: the number of each feature, from 1 on; 0: none
};

struct SettledExpert {
  std::string name;
  double weight;
  double cut;                    ///< the size to which the score is cut; 0: it is not
  bool needs_knots;              ///< says nothing of a row without a feature that bends
  std::vector<double> constant;  ///< by score
  std::vector<SettledTerm> terms{};
};

struct Settled {
  std::vector<Index> features;  ///< that were seen; others do not count
  std::vector<double> shift, unit;
  std::vector<std::uint8_t> bends;
  double limit;
  bool paired = false;       ///< there are terms over pairs of features
  std::vector<Index> zeros;  ///< places of the columns of tables
  std::vector<SettledExpert> experts;
};

/// A name or a coverage, and two numbers of it.
using ExpertTold = std::tuple<std::string, double, double>;
using IntervalTold = std::tuple<double, double, double>;

}  // namespace yarrow
