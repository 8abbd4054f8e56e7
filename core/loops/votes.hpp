#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/row.hpp"
#include "error.hpp"

namespace yarrow {

/// The rows that made one column of weights what it is, oldest first: vector i + 1 is vector i plus
/// step i times row i. Each vector votes as often as rows came while it was the current one, by
/// their weights.
template <class W>
struct Votes {
  std::vector<double> born;  ///< the weights of rows before the one that made the next vector
  std::vector<double> step;  ///< signed
  std::vector<std::uint64_t> end = {0};  ///< where each row ends, after a 0
  std::vector<Index> index;
  std::vector<W> value;
  double first_born = 0;  ///< the same for the one that made the oldest vector

  std::size_t size() const { return born.size(); }
  Row<W> row(std::size_t i) const {
    return {index.data() + end[i], value.data() + end[i], std::size_t(end[i + 1] - end[i])};
  }
  std::size_t bytes() const {
    return size() * (2 * sizeof(double) + sizeof(end[0])) +
           index.size() * (sizeof(Index) + sizeof(W));
  }

  void add(const Row<W>& row, double signed_step, double t) {
    born.push_back(t);
    step.push_back(signed_step);
    index.insert(index.end(), row.index, row.index + row.size);
    value.insert(value.end(), row.value, row.value + row.size);
    end.push_back(index.size());
  }

  /// Forgets the oldest vector; its row belongs to the next, which is now the oldest.
  void drop_oldest() {
    const std::uint64_t cut = end[1];
    first_born = born[0];
    born.erase(born.begin());
    step.erase(step.begin());
    end.erase(end.begin());
    for (std::uint64_t& e : end) e -= cut;
    index.erase(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(cut));
    value.erase(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(cut));
  }

  void mirror() {
    for (double& s : step) s = -s;
  }

  /// Keeps the listed features only, renumbered in that (ascending) order.
  void keep_features(const std::vector<Index>& keep) {
    std::size_t to = 0, from = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      for (; from < end[i + 1]; ++from) {
        const auto place = std::lower_bound(keep.begin(), keep.end(), index[from]);
        if (place == keep.end() || *place != index[from]) continue;
        index[to] = static_cast<Index>(place - keep.begin());
        value[to++] = value[from];
      }
      end[i + 1] = to;
    }
    index.resize(to);
    value.resize(to);
  }

  /// Refuses what cannot have been saved.
  void check(std::size_t features) const {
    bool fits = step.size() == size() && end.size() == size() + 1 && end.front() == 0 &&
                end.back() == index.size() && index.size() == value.size() &&
                std::is_sorted(end.begin(), end.end()) &&
                std::is_sorted(born.begin(), born.end()) && (born.empty() || born[0] >= first_born);
    for (const Index i : index) fits &= i >= 0 && static_cast<std::size_t>(i) < features;
    if (!fits) throw Error("the state's votes do not fit together");
  }
};

}  // namespace yarrow
