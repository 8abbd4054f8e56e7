#pragma once
#include <optional>
#include <vector>

#include "state.hpp"

namespace yarrow {

/// What a call with many rows needs to leave no trace when one of them fails: a copy of the state,
/// or, when the call can touch only a small part of it, of the blocks that its rows touch.
template <class W>
class Undo {
 public:
  /// `values`: an upper bound on the values of all rows; `columns_change`: a class is new.
  Undo(State<W>& state, std::size_t values, bool columns_change) : state_(state) {
    const std::size_t block_bytes = state.blocks.stride() * sizeof(W);
    if (columns_change || values * block_bytes >= state.blocks.bytes()) {
      whole_.emplace(state);
    } else {
      scalars_.emplace(state);
      features_ = state.blocks.features();
      intercept_.assign(state.blocks.intercept(), state.blocks.first());
      state.before_all_change = [this] { remember_all(); };
    }
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() { state_.before_all_change = nullptr; }

  /// To be called before a row is learned.
  void remember(const Row<W>& row) {
    if (whole_) return;
    const Blocks<W>& blocks = state_.blocks;
    for (std::size_t i = 0; i < row.size; ++i) {
      keep(blocks_, blocks, row.index[i]);
      if (state_.paid) keep(paid_, *state_.paid, row.index[i]);
      places_.push_back(row.index[i]);
    }
  }

  void roll_back() {
    if (whole_)
      state_ = std::move(*whole_);
    else
      restore(state_);
  }

 private:
  template <class N>
  static void keep(std::vector<N>& kept, const Blocks<N>& blocks, Index feature) {
    const N* block = blocks.first() + feature * blocks.stride();
    kept.insert(kept.end(), block, block + blocks.stride());
  }

  template <class N>
  static void put_back(const std::vector<N>& kept, std::size_t i, Blocks<N>& blocks,
                       Index feature) {
    std::copy_n(kept.begin() + i * blocks.stride(), blocks.stride(),
                blocks.first() + feature * blocks.stride());
  }

  /// From the touched blocks to a copy of everything as it was.
  void remember_all() {
    if (whole_) return;
    State<W> before = state_;
    restore(before);
    whole_.emplace(std::move(before));
  }

  void restore(State<W>& state) {
    for (std::size_t i = places_.size(); i-- > 0;) {
      put_back(blocks_, i, state.blocks, places_[i]);
      if (state.paid) put_back(paid_, i, *state.paid, places_[i]);
    }
    std::copy(intercept_.begin(), intercept_.end(), state.blocks.intercept());
    state.truncate_features(features_);
    static_cast<Scalars&>(state) = *scalars_;
  }

  State<W>& state_;
  std::optional<State<W>> whole_;
  std::optional<Scalars> scalars_;
  std::size_t features_ = 0;
  std::vector<W> blocks_, intercept_;
  std::vector<double> paid_;
  std::vector<Index> places_;
};

}  // namespace yarrow
