// Two successive minutes are two activities, mostly the same; the activity recogniser asks which
// pair is best for each activity that it could end in. A pair of different ones has a penalty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "error.hpp"

namespace yarrow {

struct Leader {
  std::size_t place = 0;
  double value = -std::numeric_limits<double>::infinity();
  double next = -std::numeric_limits<double>::infinity();  // the best of the others
};

inline Leader leader(std::span<const double> values) {
  Leader found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > found.value) {
      found = {i, values[i], found.value};
    } else if (values[i] > found.next) {
      found.next = values[i];
    }
  }
  return found;
}

// out[y] = (second[y] + the largest of first[y] and first[x] - penalty for x != y) / unit; returns
// the leader of them. The best x != y is the best of all or, for the best itself, the second best.
inline Leader best_pair(std::span<const double> first, std::span<const double> second,
                        double penalty, double unit, std::span<double> out) {
  if (first.size() != out.size() || second.size() != out.size())
    throw Error("There must be a number of each activity.");
  const Leader before = leader(first);
  for (std::size_t y = 0; y < out.size(); ++y) {
    const double other = y == before.place ? before.next : before.value;
    out[y] = (std::max(first[y], other - penalty) + second[y]) / unit;
  }
  return leader(out);
}

}  // namespace yarrow
