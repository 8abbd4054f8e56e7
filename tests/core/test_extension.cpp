// What a loop keeps beside the blocks is copied with the state, told of what changes, and taken
// back.
#include "state/extension.hpp"

#include <vector>

#include "check.hpp"
#include "state/undo.hpp"

using namespace yarrow;

namespace {

template <bool IsCopied>
struct Notes final : ExtensionOf<Notes<IsCopied>> {
  int value = 0, columns = 1;
  std::size_t features = 0;

  bool is_copied_for_undo() const override { return IsCopied; }
  void add_column(int, bool) override {
    if (columns == 2) throw Error("one column too many");
    ++columns;
  }
  void truncate_columns(int n) override { columns = n; }
  void grow_features(std::size_t n) override {
    if (n > 3000) throw Error("too many features");
    features = n;
  }
  void truncate_features(std::size_t n) override { features = n; }
};

/// Of which calls change a part.
struct ExtendedParts final : ExtensionOf<ExtendedParts> {
  int fixed = 1, changing = 1;

  std::unique_ptr<Extension> copy_for_undo() const override {
    auto copy = std::make_unique<ExtendedParts>();
    copy->fixed = -1;  // it is not asked for
    copy->changing = changing;
    return copy;
  }
  void take_back(const Extension& copy) override {
    changing = static_cast<const ExtendedParts&>(copy).changing;
  }
};

/// A state of so many features; a call that touches one of them copies no more than that.
State<float> some_state() {
  State<float> state(Blocks<float>({{0, true}}, 1));
  state.grow_features(1000);
  return state;
}

void copies_are_apart() {
  State<float> state = some_state();
  CHECK(!state.extension);
  Notes<true>::start(state).value = 1;
  State<float> copy = state, other = some_state();
  other = state;
  Notes<true>::of(state).value = 2;
  CHECK(Notes<true>::of(copy).value == 1 && Notes<true>::of(other).value == 1);
  const State<float> moved = std::move(copy);
  CHECK(Notes<true>::of(moved).value == 1);
}

void the_state_tells_it() {
  State<float> state = some_state();
  Notes<true>& notes = Notes<true>::start(state);
  state.add_column(0, false);
  CHECK(notes.columns == 2);
  state.truncate_columns(1);
  CHECK(notes.columns == 1);
  state.truncate_features(7);
  CHECK(notes.features == 7);
}

void it_may_refuse_to_grow() {
  State<float> state = some_state();
  Notes<true>& notes = Notes<true>::start(state);
  state.grow_features(2000);
  CHECK(notes.features == 2000);
  CHECK_THROWS(state.grow_features(4000), Error, "too many");
  CHECK(state.blocks.features() == 2000);
  state.add_column(0, false);
  CHECK_THROWS(state.add_column(0, false), Error, "too many");
  CHECK(state.blocks.columns() == 2 && state.columns.size() == 2);
}

void undo_takes_back_a_part() {
  State<float> state = some_state();
  ExtendedParts::start(state);
  Undo<float> undo(state, 1, false);
  ExtendedParts::of(state).fixed = ExtendedParts::of(state).changing = 2;
  undo.roll_back();
  CHECK(ExtendedParts::of(state).fixed == 2 && ExtendedParts::of(state).changing == 1);
}

template <bool IsCopied>
int after_undo(bool all_at_once, bool tells) {
  State<float> state = some_state();
  Notes<IsCopied>::start(state).value = 1;
  Undo<float> undo(state, all_at_once ? 1 << 20 : 1, false);
  if (tells) state.before_all_change();
  Notes<IsCopied>::of(state).value = 2;
  undo.roll_back();
  return Notes<IsCopied>::of(state).value;
}

void undo_takes_it_back() {
  CHECK(after_undo<true>(true, false) == 1);
  CHECK(after_undo<true>(false, false) == 1);
  CHECK(after_undo<true>(false, true) == 1);
  CHECK(after_undo<false>(false, true) == 1);
  CHECK(after_undo<false>(false, false) == 2);  // who says that no copy is needed must tell
}

}  // namespace

int main() {
  copies_are_apart();
  the_state_tells_it();
  undo_takes_it_back();
  it_may_refuse_to_grow();
  undo_takes_back_a_part();
  return check::failures();
}
