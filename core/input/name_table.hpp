#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/hash.hpp"
#include "data/row_block.hpp"

namespace yarrow {

// A word as a key: up to 15 bytes stand in it, of a longer word its hash and its length.
struct WordKey {
  static constexpr std::size_t most_bytes = 15;
  std::uint64_t first, second;  // the last byte is the length, or 255

  bool is_whole() const { return second >> 56 <= most_bytes; }

  static WordKey of(std::string_view word) {
    char bytes[16] = {};
    if (word.size() > most_bytes) return of_long(word);
    word.copy(bytes, most_bytes);
    return of_margin(bytes, word.size());
  }

  // The same of text that may be read to 16 bytes from its beginning.
  static WordKey of_margin(const char* word, std::size_t size) {
    if (size > most_bytes) [[unlikely]]
      return of_long({word, size});
    static constexpr auto keep = [] {
      std::array<WordKey, most_bytes + 1> masks{};
      for (std::size_t n = 0; n <= most_bytes; ++n) {
        masks[n].first = n < 8 ? (std::uint64_t{1} << 8 * n) - 1 : ~std::uint64_t{0};
        masks[n].second = n > 8 ? (std::uint64_t{1} << 8 * (n - 8)) - 1 : 0;
      }
      return masks;
    }();
    return {hashing::load<std::uint64_t>(word) & keep[size].first,
            (hashing::load<std::uint64_t>(word + 8) & keep[size].second) | size << 56};
  }

 private:
  static WordKey of_long(std::string_view word) {
    return {hash_text(word.data(), word.size()), word.size() | std::uint64_t{0xff} << 56};
  }
};

// Finds the places of names in a list that the blocks of one parsing thread share. So most of the
// work with names is done where blocks are parsed, by several threads; whoever learns, in the order
// of rows, looks up each name of a list once. A name of two parts, "space^word", is put together
// only when it is new. Before the list grows large, which it would where names never come again, a
// new one is begun.
class NameTable {
 public:
  // A namespace; its number holds until the next block.
  struct Space {
    std::string_view text;
    std::uint32_t number = 0;  // of the one without a name
  };

  // Lends a block the list that its names will be in.
  template <class W>
  void start(RowBlock<W>& block) {
    if (!list_ || used_ > most_words || list_->bytes() + space_bytes_ > most_bytes) renew();
    block.names = list_;
  }

  std::size_t size() const { return static_cast<std::size_t>(list_->size()); }

  // Says how long the list has become.
  template <class W>
  void finish(RowBlock<W>& block) {
    block.name_count = list_->size();
  }

  Space space(std::string_view text) {
    if (text.empty()) return {};
    const WordKey key = WordKey::of(text);
    const Index number = find_or_add({key, text.data(), of_spaces, hash(key, of_spaces)});
    return {text, static_cast<std::uint32_t>(number)};
  }

  Index place(std::string_view name) {
    const WordKey key = WordKey::of(name);
    return find_or_add({key, name.data(), 0, hash(key, 0)});
  }

  // Asks for the place of a word in a namespace; the text may be read to 16 bytes from its
  // beginning. The memory where the answer is found is asked for at once, and looked at with the
  // next answers.
  void ask(std::string_view word, const Space& space, Buffer<Index>& answers) {
    const WordKey key = WordKey::of_margin(word.data(), word.size());
    const std::uint32_t hash = this->hash(key, space.number);
    __builtin_prefetch(&slots_[hash >> shift_]);
    asked_[asked_count_++] = {key, word.data(), space.number, hash};
    if (asked_count_ == asked_.size()) [[unlikely]]
      answer(answers);
  }

  // Appends the places of all that was asked for.
  [[gnu::noinline]] void answer(Buffer<Index>& answers) {
    const std::size_t before = answers.size();
    answers.resize(before + asked_count_);
    Index* const to = answers.data() + before;
    for (std::size_t i = 0; i < asked_count_; ++i) to[i] = find_or_add(asked_[i]);
    asked_count_ = 0;
  }

  // Forgets what was asked for, in a line that turned out broken.
  void ask_nothing() { asked_count_ = 0; }

 private:
  static constexpr std::size_t most_words = 1 << 16;
  static constexpr std::size_t most_bytes = 1 << 22;
  static constexpr std::size_t least_slots = 1 << 8, most_loose_slots = 1 << 20;
  // In place of a namespace's number: of words that are namespaces, and of slots that are free.
  static constexpr std::uint32_t of_spaces = ~std::uint32_t{0}, of_nothing = of_spaces - 1;

  struct Slot {
    WordKey key;
    std::uint32_t space = of_nothing;
    Index place;
  };

  // A word in a namespace.
  struct Asked {
    WordKey key;
    const char* text;
    std::uint32_t space;
    std::uint32_t hash;

    std::string_view word() const {
      return {text, key.is_whole() ? key.second >> 56 : key.second << 8 >> 8};
    }
  };

  void renew() {
    list_ = std::make_shared<NameList>();
    slots_ = std::vector<Slot>(least_slots);
    shift_ = 32 - std::countr_zero(least_slots);
    used_ = 0;
    spaces_.clear();
    space_texts_.clear();
    space_bytes_ = 0;
  }

  [[gnu::always_inline]] Index find_or_add(const Asked& asked) {
    for (std::size_t at = asked.hash >> shift_;; at = next(at)) {
      const Slot& slot = slots_[at];
      const bool differs = ((slot.key.first ^ asked.key.first) |
                            (slot.key.second ^ asked.key.second) | (slot.space ^ asked.space)) != 0;
      if (!differs && (asked.key.is_whole() || text_at(slot) == asked.word())) [[likely]]
        return slot.place;
      if (slot.space == of_nothing) return add(asked);
    }
  }

  // The word of a slot that may be a long one.
  std::string_view text_at(const Slot& slot) const {
    if (slot.space == of_spaces) return spaces_[static_cast<std::size_t>(slot.place) - 1];
    const std::string_view name = (*list_)[slot.place].view();
    return slot.space ? name.substr(spaces_[slot.space - 1].size() + 1) : name;
  }

  [[gnu::noinline]] Index add(const Asked& asked) {
    const Index place = new_place(asked);  // which may add to the table
    ++used_;
    if ((slots_.size() < most_loose_slots ? 4 : 2) * used_ > slots_.size()) {
      std::vector<Slot> before(2 * slots_.size());
      before.swap(slots_);
      --shift_;
      for (const Slot& slot : before)
        if (slot.space != of_nothing) fill_vacancy(slot);
    }
    fill_vacancy({asked.key, asked.space, place});
    return place;
  }

  Index new_place(const Asked& asked) {
    if (asked.space == 0) return list_->add(asked.word());
    if (asked.space == of_spaces) {
      spaces_.push_back(space_texts_.copy(asked.word()));
      space_bytes_ += asked.word().size();
      return static_cast<Index>(spaces_.size());
    }
    // As a whole the name may be known: "a^b" and "c", "a" and "b^c".
    joined_.assign(spaces_[asked.space - 1]).append(1, '^').append(asked.word());
    return place(joined_);
  }

  void fill_vacancy(const Slot& slot) {
    std::size_t at = hash(slot.key, slot.space) >> shift_;
    while (slots_[at].space != of_nothing) at = next(at);
    slots_[at] = slot;
  }

  static std::uint32_t hash(WordKey key, std::uint32_t space) {
    return ((key.first * hashing::kLong) ^ ((key.second + space) * hashing::kText)) >> 32;
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  std::shared_ptr<NameList> list_;
  // At most a quarter full, so that most names stand where they are looked for first; or half, in
  // a block of so many that memory counts.
  std::vector<Slot> slots_;
  int shift_ = 0;
  std::size_t used_ = 0;
  std::vector<std::string_view> spaces_;
  TextArena space_texts_;
  std::size_t space_bytes_ = 0;
  std::array<Asked, 64> asked_;
  std::size_t asked_count_ = 0;
  std::string joined_;
};

}  // namespace yarrow
