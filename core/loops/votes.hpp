#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/row.hpp"
#include "error.hpp"
#include "state/extension.hpp"

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

/// The rows of all columns; none before the first mistake.
template <class W>
struct VotesOfColumns final : ExtensionOf<VotesOfColumns<W>> {
  std::vector<Votes<W>> columns;

  bool is_copied_for_undo() const override { return false; }  // before_all_change is told

  void add_column(int from, bool mirrored) override {
    if (columns.empty()) return;
    columns.push_back(from < 0 ? Votes<W>() : columns[from]);
    if (mirrored) columns.back().mirror();
  }
  void truncate_columns(int n) override {
    if (!columns.empty()) columns.resize(n);
  }
  void keep_features(const std::vector<Index>& keep) override {
    for (Votes<W>& votes : columns) votes.keep_features(keep);
  }
  bool is_fresh(Index) const override { return columns.empty(); }  // rows are not searched
  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const Votes<W>& votes : columns) sum += votes.bytes();
    return sum;
  }

  /// Each list of all columns, one behind the other.
  void save(const ArrayWriter& put) const override {
    if (columns.empty()) return;
    std::vector<double> first_born;
    std::vector<std::uint64_t> sizes;
    for (const Votes<W>& votes : columns) {
      first_born.push_back(votes.first_born);
      sizes.push_back(votes.size());
    }
    put("votes_sizes", std::move(sizes));
    put("votes_first_born", std::move(first_born));
    for_lists([&](const char* name, auto list) {
      std::remove_cvref_t<decltype(columns[0].*list)> all;
      for (const Votes<W>& votes : columns)
        all.insert(all.end(), (votes.*list).begin(), (votes.*list).end());
      put(name, std::move(all));
    });
  }
  void restore(SavedState& from, std::size_t features, std::size_t n) override {
    columns.clear();
    if (!from.has("votes_sizes")) return;
    const auto sizes = from.values<std::uint64_t>("votes_sizes", {n});
    const auto first_born = from.values<double>("votes_first_born", {n}, Range::not_negative());
    Votes<W> all;
    for_lists([&](const char* name, auto list) {
      using Number = typename std::remove_cvref_t<decltype(all.*list)>::value_type;
      all.*list = from.values<Number>(name, {SavedState::any});
    });
    const bool fits = all.step.size() == all.size() && all.end.size() == all.size() + n &&
                      all.value.size() == all.index.size();
    if (!fits) SavedState::refuse("votes_sizes", "does not add up");
    std::size_t at = 0, cell = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const auto size = static_cast<std::size_t>(sizes[k]);
      if (size > all.size() - at) SavedState::refuse("votes_sizes", "has a number out of range");
      const std::uint64_t cells = all.end[at + k + size];
      if (cells > all.index.size() - cell)
        SavedState::refuse("votes_end", "has a number out of range");
      const auto part = [](const auto& list, std::size_t first, std::size_t count) {
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
        return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
      };
      columns.push_back({part(all.born, at, size), part(all.step, at, size),
                         part(all.end, at + k, size + 1), part(all.index, cell, cells),
                         part(all.value, cell, cells), first_born[k]});
      columns.back().check(features);
      at += size;
      cell += cells;
    }
    if (at != all.size() || cell != all.index.size())
      SavedState::refuse("votes_sizes", "does not add up");
  }

 private:
  /// As files name them.
  template <class F>
  static void for_lists(F f) {
    f("votes_born", &Votes<W>::born);
    f("votes_step", &Votes<W>::step);
    f("votes_end", &Votes<W>::end);
    f("votes_index", &Votes<W>::index);
    f("votes_value", &Votes<W>::value);
  }
};

}  // namespace yarrow
