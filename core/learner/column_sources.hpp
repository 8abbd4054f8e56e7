#pragma once
#include <utility>
#include <vector>

#include "learner/outputs.hpp"

namespace yarrow {

/// For each column of a model that knows more classes, or in another order: the column of this one
/// that is as it would be had this one known them beforehand, and the sign with which it speaks;
/// -1: a fresh one. `places` has, for each class of the other, its number here, or -1.
inline std::vector<std::pair<int, double>> column_sources(const Outputs& here,
                                                          const std::vector<int>& places) {
  const Outputs there{here.strategy, static_cast<int>(places.size())};
  std::vector<std::pair<int, double>> sources(there.count(), {0, 1.0});
  if (here.is_real()) return sources;
  for (int column = 0; column < there.count(); ++column) {
    const int c = there.positive_class(column);
    const int place = c < 0 || c >= there.classes ? -1 : places[c];
    if (place >= 0)
      sources[column] = {here.of_class(place), here.sign_of_class(place)};
    else if (here.is_one_a_class())
      sources[column] = {-1, 1.0};
  }
  return sources;
}

}  // namespace yarrow
