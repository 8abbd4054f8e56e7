#pragma once
#include <optional>
#include <vector>

#include "data/vocabulary.hpp"
#include "state/state.hpp"

namespace yarrow {

/// What a call with many rows needs to leave no trace when one of them fails: a copy of the state,
/// or, when the call can touch only a small part of it, of the blocks that its rows touch. It takes
/// back once, whatever was learned since it was made.
template <class W>
class Undo {
 public:
  /// `values`: an upper bound on the values of all rows; `columns_change`: a class is new.
  Undo(State<W>& state, std::size_t values, bool columns_change) : state_(state) {
    const std::size_t block_bytes = state.blocks.stride() * sizeof(W);
    // What a loop tells before it changes it, perhaps much, is copied no sooner.
    const bool waits = state.extension && !state.extension->is_copied_for_undo();
    if (columns_change || (!waits && values * block_bytes >= state.blocks.bytes())) {
      whole_.emplace(state);
    } else {
      scalars_.emplace(state);
      features_ = state.blocks.features();
      intercept_.assign(state.blocks.intercept(), state.blocks.first());
      if (state.extension && !waits) extension_ = state.extension->copy_for_undo();
      state.before_all_change = [this] { remember_all(); };
      state.before_change = [this](std::span<const Index> features) { remember(features); };
    }
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    state_.before_all_change = nullptr;
    state_.before_change = nullptr;
  }

  bool is_whole() const { return whole_.has_value(); }

  /// To be called before a row is learned.
  void remember(const Row<W>& row) { remember(std::span(row.index, row.size)); }

  /// To be called before more than rows' features changes: from the touched blocks to a copy of
  /// everything as it was.
  void remember_all() {
    if (whole_) return;
    State<W> before = state_;
    restore(before);
    whole_.emplace(std::move(before));
  }

  void roll_back() {
    if (whole_)
      state_ = std::move(*whole_);
    else
      restore(state_);
  }

 private:
  void remember(std::span<const Index> features) {
    if (whole_) return;
    const Blocks<W>& blocks = state_.blocks;
    for (const Index feature : features) {
      if (static_cast<std::size_t>(feature) >= features_) continue;  // it goes
      const W* block = blocks.first() + feature * blocks.stride();
      blocks_.insert(blocks_.end(), block, block + blocks.stride());
      places_.push_back(feature);
    }
    // Rows that change features of others may at last need more than a copy of everything.
    if (blocks_.size() * sizeof(W) > 2 * blocks.bytes()) remember_all();
  }

  void restore(State<W>& state) {
    const std::size_t stride = state.blocks.stride();
    for (std::size_t i = places_.size(); i-- > 0;)
      std::copy_n(blocks_.begin() + i * stride, stride, state.blocks.first() + places_[i] * stride);
    std::copy(intercept_.begin(), intercept_.end(), state.blocks.intercept());
    state.truncate_features(features_);
    if (extension_) state.extension->take_back(*extension_);
    static_cast<Scalars&>(state) = *scalars_;
  }

  State<W>& state_;
  std::optional<State<W>> whole_;
  std::optional<Scalars> scalars_;
  std::size_t features_ = 0;
  std::vector<W> blocks_, intercept_;
  std::vector<Index> places_;
  std::unique_ptr<Extension> extension_;
};

/// What a model was, as far as later calls change it.
template <class W>
struct Past {
  /// As `Undo` has them: `values`, `columns_change`.
  Past(State<W>& state, int classes, Index names, std::uint8_t hashed_kinds, std::size_t values,
       bool columns_change)
      : undo(state, values, columns_change),
        classes(classes),
        names(names),
        hashed_kinds(hashed_kinds) {}

  /// To be called before features are forgotten: names that were there go, too.
  void remember_all(const Vocabulary& all) {
    undo.remember_all();
    if (!vocabulary) vocabulary.emplace(all);
  }

  Undo<W> undo;
  int classes;
  Index names;
  std::uint8_t hashed_kinds;
  std::optional<Vocabulary> vocabulary;
};

}  // namespace yarrow
