#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "loops/confidence.hpp"

namespace yarrow {

/// The features that one column of weights may use, in the order of their entry.
///
/// The order decides ties, because it is the same by every route, which the numbers of features are
/// not. A plane holds each feature's entry number (0: not selected), so that a model file keeps the
/// order, too. A row costs its own values and the budget, whatever the number of features.
template <class W>
class Selected {
 public:
  /// A list a column. They follow from the entry numbers, and so from the blocks.
  struct Lists final : ExtensionByColumn<Lists, std::vector<Index>> {
    void restore(SavedState&, std::size_t, std::size_t n) override { this->columns.assign(n, {}); }
  };
  static const std::vector<Index>& list(const State<W>& state, int column) {
    return Lists::of(state).columns[column];
  }

  /// `arrivals`: how many features may enter before the next one is made.
  Selected(State<W>& state, int column, std::size_t plane, std::size_t arrivals)
      : state_(state),
        list_(Lists::of(state).columns[column]),
        weights_(state.blocks.first() + column),
        entries_(weights_ + plane * state.blocks.capacity()) {
    if (!list_.empty()) last_ = entry(list_.back());
    if (last_ + arrivals > most) count_anew();
  }

  /// Whether there are entry numbers for that many features.
  static bool fits(std::size_t features) { return features < most; }

  const std::vector<Index>& list() const { return list_; }
  bool has(Index feature) const { return entry(feature) > 0; }

  void enter(Index feature) {
    entry(feature) = static_cast<W>(++last_);
    list_.push_back(feature);
  }

  /// Keeps the `budget` features of the largest `merit(feature)`, of equal ones those that entered
  /// first; the weights of the others become 0.
  template <class Merit>
  void cut(std::size_t budget, Merit merit, std::vector<std::pair<double, std::size_t>>& ranking) {
    if (list_.size() <= budget) return;
    ranking.clear();
    for (std::size_t place = 0; place < list_.size(); ++place)
      ranking.emplace_back(merit(list_[place]), place);
    const auto kept = ranking.begin() + static_cast<std::ptrdiff_t>(budget);
    std::nth_element(ranking.begin(), kept, ranking.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (auto loser = kept; loser != ranking.end(); ++loser) drop(list_[loser->second]);
    std::erase_if(list_, [this](Index feature) { return !has(feature); });
  }

  /// The lists of all columns, from the entry numbers.
  static void rebuild(State<W>& state, std::size_t plane) {
    const Blocks<W>& blocks = state.blocks;
    for (int k = 0; k < blocks.columns(); ++k) {
      const W* entries = blocks.first() + k + plane * blocks.capacity();
      const auto entry = [&](Index f) { return entries[f * blocks.stride()]; };
      std::vector<Index>& list = Lists::of(state).columns[k];
      list.clear();
      for (std::size_t f = 0; f < blocks.features(); ++f) {
        const W number = entry(static_cast<Index>(f));
        if (!(number <= static_cast<W>(most)) || number != std::floor(number))
          throw Error("the state's 'blocks' has an entry number out of range");
        if (number == 0 && blocks.first()[f * blocks.stride() + k] != 0)
          throw Error("the state's 'blocks' has a weight of a feature that is not selected");
        if (number > 0) list.push_back(static_cast<Index>(f));
      }
      std::sort(list.begin(), list.end(), [&](Index a, Index b) { return entry(a) < entry(b); });
    }
  }

 private:
  /// The largest entry number: up to here W can count.
  static constexpr std::uint64_t most = std::uint64_t{1} << std::numeric_limits<W>::digits;

  W& entry(Index feature) const { return entries_[feature * state_.blocks.stride()]; }

  void drop(Index feature) {
    state_.tell_before_change({&feature, 1});
    entry(feature) = 0;
    weights_[feature * state_.blocks.stride()] = 0;
  }

  void count_anew() {
    state_.tell_before_change(list_);
    last_ = 0;
    for (const Index feature : list_) entry(feature) = static_cast<W>(++last_);
  }

  State<W>& state_;
  std::vector<Index>& list_;
  W *weights_, *entries_;
  std::uint64_t last_ = 0;
};

/// A number in [0, 1) that depends on the seed, the row and the place in it, and on nothing else
/// (the finalizer of SplitMix64, Steele, Lea & Flood 2014).
inline double uniform(std::uint64_t seed, double t, std::uint64_t place) {
  std::uint64_t h = seed;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(t), place}) {
    h += part + 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    h ^= h >> 31;
  }
  return static_cast<double>(h >> 11) * 0x1p-53;
}

/// A random choice of `budget` places of a row, made place by place (Knuth's Algorithm S).
class RandomPlaces {
 public:
  RandomPlaces(std::uint64_t seed, double t, std::size_t size, double budget)
      : seed_(seed), t_(t), size_(static_cast<double>(size)), left_(budget) {}

  /// To be asked about each place once, in order.
  bool include(std::size_t place) {
    const bool yes = uniform(seed_, t_, place + 1) * (size_ - static_cast<double>(place)) < left_;
    left_ -= yes;
    return yes;
  }

 private:
  std::uint64_t seed_;
  double t_, size_, left_;
};

/// Online feature selection (Wang, Zhao, Hoi & Jin 2014): w <- a*w + b*z, then
///   w <- min(1, radius/|w|) * w,   and of the weights only the `budget` largest stay.
/// The intercept counts in the norm but not in the budget, and is never cut.
///
/// With partial inputs (their Algorithm 4) the learner looks at no more than `budget` values of a
/// row: with the chance epsilon at random ones, else at those of the selected features. A value x
/// seen with the chance p stands for x/p, so that the step is right in the mean. The random ones
/// are taken among the values that the row has: for dense rows that is the paper's choice, and in
/// sparse ones nothing is wasted on zeros. All columns look at the same random places.
template <class W>
class LargestLoop : public ScaledLoop<W> {
  using Base = ScaledLoop<W>;
  using Base::intercept_;

 public:
  static std::vector<Plane> planes(const LoopSettings&) {
    return {{"weight", 0, true}, {"entry", 0, false}};  // weights behind one scale a column
  }
  static void extend(State<W>& state, const std::vector<double>&) {
    Selected<W>::Lists::start(state);
  }

  void set(const std::vector<double>& p) {
    budget_ = static_cast<std::size_t>(p[0]);
    radius_ = p[1];
    epsilon_ = p[2];  // 0: rows are seen whole
    seed_ = static_cast<std::uint64_t>(p[3]);
  }

  bool predicts_otherwise() const { return epsilon_ > 0; }  // by all that is selected

  /// As far as the learner may look.
  void score(const State<W>& state, const Row<W>& row, Scores& out) const {
    if (!explores(state)) return Base::score(state, row, out);  // what is not selected has weight 0
    const Blocks<W>& blocks = state.blocks;
    out.resize(blocks.columns());
    std::fill(out.score.begin(), out.score.end(), 0);
    RandomPlaces places(seed_, state.t, row.size, static_cast<double>(budget_));
    for (std::size_t i = 0; i < row.size; ++i) {
      if (!places.include(i)) continue;
      const W* cells = blocks.first() + row.index[i] * blocks.stride();
      for (int k = 0; k < blocks.columns(); ++k)
        out.score[k] += row.value[i] * static_cast<double>(cells[k]);
    }
    for (int k = 0; k < blocks.columns(); ++k)
      out.score[k] = state.columns[k].scale * (out.score[k] + intercept_ * blocks.intercept()[k]);
  }

  void predict(const State<W>& state, const Row<W>& row, Scores& out) const {
    Base::score(state, row, out);
  }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores, std::span<Move> moves) {
    if (!Selected<W>::fits(budget_ + row.size)) throw Error("this row has too many values");
    admit_all(state, moves, [&](const Move& m, Bound& weights, Bound&) {
      admit(state, row, scores, m, weights);
    });
    for (const Move& m : moves) {
      shrink(state, m.column, m.other);
      if (m.add != 0) learn(state, row, m.column, m.add);
    }
  }

  void rebuild(State<W>& state) const { Selected<W>::rebuild(state, 1); }

  /// Refuses a scale that learning does not lead to.
  void check(const State<W>& state) const {
    for (const Column& column : state.columns)
      if (is_extreme(column.scale) || column.scale > 1)
        SavedState::refuse("scale", "has a number out of range");
  }

 private:
  bool explores(const State<W>& state) const {
    return epsilon_ > 0 && uniform(seed_, state.t, 0) < epsilon_;
  }

  /// The chance that a value of this row is seen.
  double chance(std::size_t row_size, bool selected) const {
    if (epsilon_ == 0) return 1;
    const double of_random_places =
        std::min(1.0, static_cast<double>(budget_) /
                          static_cast<double>(std::max<std::size_t>(row_size, 1)));
    return epsilon_ * of_random_places + (1 - epsilon_) * selected;
  }

  static bool is_extreme(double scale) { return scale < std::numeric_limits<float>::epsilon(); }

  /// Refuses a move that would overflow, before anything is written.
  void admit(const State<W>& state, const Row<W>& row, const Scores& scores, const Move& m,
             Bound& weights) const {
    const double growth = std::abs(m.add) * std::sqrt(scores.xx) / chance(row.size, false);
    const double scale = state.columns[m.column].scale * m.other;
    weights.admit<W>(is_extreme(scale) ? growth : growth / scale, [&] { return state.largest(0); });
    if (!std::isfinite(square(std::sqrt(state.columns[m.column].ww) + growth))) Bound::refuse();
  }

  /// w <- a*w for 0 <= a <= 1.
  void shrink(State<W>& state, int k, double a) const {
    state.columns[k].scale *= a;
    state.columns[k].ww *= a * a;
    if (!is_extreme(state.columns[k].scale)) return;
    state.tell_before_change(Selected<W>::list(state, k));
    const auto fold = [&](W& cell) { cell = static_cast<W>(state.columns[k].scale * cell); };
    fold(state.blocks.intercept()[k]);
    for (const Index f : Selected<W>::list(state, k))
      fold(state.blocks.first()[f * state.blocks.stride() + k]);
    state.columns[k].scale = 1;
    state.columns[k].ww = norm2(state, k);
  }

  /// w <- w + add*x, the projection and the cut.
  void learn(State<W>& state, const Row<W>& row, int k, double add) {
    W* const first = state.blocks.first() + k;
    const std::size_t stride = state.blocks.stride();
    const double stored_add = add / state.columns[k].scale;
    const bool whole = epsilon_ == 0, explores_now = explores(state);
    RandomPlaces places(seed_, state.t, row.size, static_cast<double>(budget_));
    Selected<W> selected(state, k, 1, row.size);
    for (std::size_t i = 0; i < row.size; ++i) {
      const Index f = row.index[i];
      const bool is_selected = selected.has(f);
      if (!whole && !(explores_now ? places.include(i) : is_selected)) continue;
      const double x = row.value[i] / chance(row.size, is_selected);
      first[f * stride] = static_cast<W>(first[f * stride] + stored_add * x);
      if (!is_selected) selected.enter(f);
    }
    W& intercept = state.blocks.intercept()[k];
    intercept = static_cast<W>(intercept + stored_add * intercept_);

    const double norm = std::sqrt(norm2(state, k));
    selected.cut(budget_, [=](Index f) { return std::abs(double{first[f * stride]}); }, ranking_);
    shrink(state, k, norm > radius_ ? radius_ / norm : 1);
    state.columns[k].ww = norm2(state, k);
  }

  /// |w|^2, summed in the order of entry.
  double norm2(const State<W>& state, int k) const {
    const Blocks<W>& blocks = state.blocks;
    double sum = square(state.columns[k].scale * blocks.intercept()[k]);
    for (const Index f : Selected<W>::list(state, k))
      sum += square(state.columns[k].scale * blocks.first()[f * blocks.stride() + k]);
    return sum;
  }

  std::size_t budget_ = 1;
  double radius_ = 1, epsilon_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::pair<double, std::size_t>> ranking_;
};

/// Second-order online feature selection (Wu, Hoi, Mei & Yu 2017): a step of the confidence family,
/// then only the `budget` features of the smallest variance keep their means. All variances stay
/// known, so that a feature can come back as soon as it is sure enough.
template <class W>
class SurestLoop : public ConfidenceLoop<W, Diagonal, 3> {  // mean, variance, entry number
 public:
  using Base = ConfidenceLoop<W, Diagonal, 3>;
  static constexpr bool has_lone_columns = false;  // each has a list of its own

  static void extend(State<W>& state, const std::vector<double>&) {
    Selected<W>::Lists::start(state);
  }

  void set(const std::vector<double>& p) { budget_ = static_cast<std::size_t>(p[0]); }

  void apply(State<W>& state, const Row<W>& row, const Scores& scores, std::span<Move> moves) {
    if (!Selected<W>::fits(budget_ + row.size)) throw Error("this row has too many values");
    Base::apply(state, row, scores, moves);
    const std::size_t stride = state.blocks.stride();
    for (const Move& m : moves) {
      Selected<W> selected(state, m.column, 2, row.size);
      for (std::size_t i = 0; i < row.size; ++i)
        if (!selected.has(row.index[i])) selected.enter(row.index[i]);
      const W* variances = state.blocks.first() + m.column + state.blocks.capacity();
      selected.cut(budget_, [=](Index f) { return -double{variances[f * stride]}; }, ranking_);
    }
  }

  void rebuild(State<W>& state) const { Selected<W>::rebuild(state, 2); }

 private:
  std::size_t budget_ = 1;
  std::vector<std::pair<double, std::size_t>> ranking_;
};

}  // namespace yarrow
