#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "data/row.hpp"
#include "data/vocabulary.hpp"
#include "state/saved_arrays.hpp"

namespace yarrow {

/// What one loop keeps beside the numbers that all loops have: made by the loop when it starts,
/// and from then on copied, grown, saved and taken back together with the state that owns it.
class Extension {
 public:
  virtual ~Extension() = default;
  virtual std::unique_ptr<Extension> clone() const = 0;

  /// Whether taking back a call needs a copy from before it. No, where the loop tells
  /// `State::before_all_change` before it changes anything here, or where too much does no harm.
  virtual bool is_copied_for_undo() const { return true; }
  /// The copy, or that of the part which calls change, and the way back.
  virtual std::unique_ptr<Extension> copy_for_undo() const { return clone(); }
  virtual void take_back(const Extension& copy) = 0;

  /// As `State` has them, and told by it before it does the same; it may refuse to grow.
  virtual void add_column(int /*from*/, bool /*mirrored*/) {}
  virtual void truncate_columns(int /*columns*/) {}
  virtual void grow_features(std::size_t /*features*/) {}
  virtual void truncate_features(std::size_t /*features*/) {}
  virtual void keep_features(const std::vector<Index>& /*keep*/) {}
  /// Told what features are called, after they have come or have been renumbered.
  virtual void name_features(const Vocabulary& /*names*/) {}
  /// Whether nothing here knows of a feature; and the same as above where that is so of the others.
  virtual bool is_fresh(Index /*feature*/) const { return true; }
  virtual void drop_fresh(const std::vector<Index>& keep) { keep_features(keep); }
  virtual std::size_t bytes() const { return 0; }

  /// What a model file keeps, and the way back, which trusts nothing: into a new extension, whose
  /// features have their names, before the blocks are there.
  virtual void save(const ArrayWriter& /*put*/) const {}
  virtual void restore(SavedState& /*from*/, std::size_t /*features*/, std::size_t /*columns*/) {}
};

/// A pointer to an extension, or to none, whose copy is a copy of the extension.
class OwnedExtension {
 public:
  OwnedExtension() = default;
  explicit OwnedExtension(std::unique_ptr<Extension> extension) : owned_(std::move(extension)) {}
  OwnedExtension(OwnedExtension&&) noexcept = default;
  OwnedExtension& operator=(OwnedExtension&&) noexcept = default;
  OwnedExtension(const OwnedExtension& other) : owned_(other ? other->clone() : nullptr) {}
  OwnedExtension& operator=(const OwnedExtension& other) { return *this = OwnedExtension(other); }

  explicit operator bool() const { return owned_ != nullptr; }
  Extension* operator->() const { return owned_.get(); }
  Extension& operator*() const { return *owned_; }

 private:
  std::unique_ptr<Extension> owned_;
};

/// What an extension called Self has in common with the others: a copy, and the way to it from the
/// state of a learner whose loop has made one.
template <class Self>
class ExtensionOf : public Extension {
 public:
  std::unique_ptr<Extension> clone() const override {
    return std::make_unique<Self>(static_cast<const Self&>(*this));
  }
  void take_back(const Extension& copy) override {
    static_cast<Self&>(*this) = static_cast<const Self&>(copy);
  }

  static Self& start(auto& state, auto&&... arguments) {
    state.extension = OwnedExtension(std::make_unique<Self>(arguments...));
    return of(state);
  }
  static Self& of(auto& state) { return static_cast<Self&>(*state.extension); }
  static const Self& of(const auto& state) { return static_cast<const Self&>(*state.extension); }
};

/// The same where something is kept of each column, and comes and goes with it.
template <class Self, class Kept>
class ExtensionByColumn : public ExtensionOf<Self> {
 public:
  std::vector<Kept> columns;

  static void start(auto& state) {
    ExtensionOf<Self>::start(state).columns.resize(state.blocks.columns());
  }
  void add_column(int from, bool mirrored) override {
    columns.push_back(from < 0 ? Kept() : Kept(columns[from]));
    if constexpr (requires { columns.back().mirror(); })
      if (mirrored) columns.back().mirror();
  }
  void truncate_columns(int n) override { columns.resize(n); }
};

}  // namespace yarrow
