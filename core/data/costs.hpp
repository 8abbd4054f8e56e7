#pragma once
#include <vector>

namespace yarrow {

/// What it costs to take one class for another, by class numbers: 1 unless said otherwise.
class CostTable {
 public:
  double at(int truth, int other) const { return cost_[truth][other]; }

  /// One more class; `cost(truth, other)` tells what is new.
  template <class Cost>
  void add_class(Cost cost) {
    const int added = static_cast<int>(cost_.size());
    cost_.emplace_back();
    for (int k = 0; k < added; ++k) {
      cost_[k].push_back(cost(k, added));
      cost_[added].push_back(cost(added, k));
    }
    cost_[added].push_back(0);
  }

  void truncate(int classes) {
    cost_.resize(classes);
    for (auto& row : cost_) row.resize(classes);
  }

 private:
  std::vector<std::vector<double>> cost_;
};

}  // namespace yarrow
