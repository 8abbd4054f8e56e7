// Feature names and their indices.
//
// A name is a text (UTF-8 bytes) or an integer; `5` and `"5"` differ. Names are numbered 0, 1, 2...
// in the order in which they appear. Nothing here knows where names come from: a caller lends the
// bytes of a `Name` for the length of a call, and the vocabulary copies what it keeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/name.hpp"
#include "data/row.hpp"
#include "error.hpp"

namespace yarrow {

// A vocabulary as flat arrays, for a model file. The integers 0..columns-1 come first and need no
// room; text i behind them is bytes[offsets[i] .. offsets[i + 1]], an integer eight such bytes,
// little-endian.
struct FlatNames {
  static constexpr std::uint8_t kText = 0, kInteger = 1;
  Index columns = 0;
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint64_t> offsets;  // one more than kinds
  std::vector<char> bytes;
};

// A number that nothing else ever had, and a copy gets its own.
class Stamp {
 public:
  Stamp() = default;
  Stamp(const Stamp&) : Stamp() {}
  Stamp& operator=(const Stamp&) {
    renew();
    return *this;
  }
  std::uint64_t value() const { return value_; }
  void renew() { value_ = next(); }

 private:
  static std::uint64_t next() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
  std::uint64_t value_ = next();
};

enum class WhenFull {
  Refuse,  // a new name is an error
  Drop,    // a new name gets no index, its feature is ignored
  Prune,   // a new name enters; after the row the learner sees crowded() and forgets some features
};

// The first `columns` names are the integers 0, 1, 2... and are not stored: a model of arrays or
// svmlight rows has no other. Every other name is an Entry, found by open addressing with linear
// probing in a table of 8-byte slots, eight to a cache line.
//
// The table always looks as if its entries had been inserted in order, so the newest leaves by
// emptying its slot: that makes truncate() cheap enough to roll back a single bad row.
class Vocabulary {
 public:
  static constexpr Index kNoLimit = std::numeric_limits<Index>::max();

  explicit Vocabulary(Index limit = kNoLimit, WhenFull when_full = WhenFull::Refuse)
      : limit_(limit), when_full_(when_full) {
    clear();
  }

  Index size() const { return columns_ + static_cast<Index>(entries_.size()); }
  Index limit() const { return limit_; }
  WhenFull when_full() const { return when_full_; }
  bool crowded() const { return when_full_ == WhenFull::Prune && size() > limit_; }
  // Whether every name i is the integer i.
  bool identity() const { return entries_.empty(); }
  // As long as it stays the same, so does the index of every name that has one.
  std::uint64_t stamp() const { return stamp_.value(); }

  // Borrowed until the vocabulary next changes.
  Name name(Index index) const {
    if (index < columns_) return Name(std::int64_t{index});
    const Entry& entry = entries_[static_cast<std::size_t>(index - columns_)];
    return entry.is_text() ? Name(text(entry)) : Name(entry.load());
  }

  // The index of a name, or -1.
  Index find(const Name& name) const {
    return is_column(name) ? static_cast<Index>(name.number) : index_at(probe(name));
  }

  // The index of a name, new if need be; -1 if it is dropped for want of room.
  Index find_or_add(const Name& name) {
    const Index known = find(name);
    return known >= 0 ? known : add(name);
  }

  // Of many names. What `out` holds already are guesses, of which any may be wrong: rows often have
  // the names of the row before them.
  void find(const Name* names, std::size_t n, Index* out) const {
    in_batches(names, n, out, [&](const Name& name) { return find(name); });
  }

  // find_or_add() of many, all or nothing: if one name is refused, the others are forgotten.
  void resolve(const Name* names, std::size_t n, Index* out) {
    const Index before = size();
    all_or_nothing(
        [&] { in_batches(names, n, out, [&](const Name& name) { return find_or_add(name); }); },
        [&] { truncate(before); });
  }

  // Make the integers 0..n-1 names, for arrays of n columns; for an identity() only.
  void extend(Index n) {
    if (n <= columns_) return;
    if (!identity()) throw Error("Columns cannot be added behind named features.");
    if (n > limit_ && when_full_ == WhenFull::Refuse) refuse(Name(std::int64_t{n} - 1));
    columns_ = when_full_ == WhenFull::Drop ? std::max(columns_, std::min(n, limit_)) : n;
  }

  // Forget the names with index >= n.
  void truncate(Index n) {
    if (n < size()) stamp_.renew();
    while (!entries_.empty() && size() > n) forget_newest();
    columns_ = std::min(columns_, n);
  }

  // Keep the listed names, renumbered in that order.
  void remap(const std::vector<Index>& keep) {
    Vocabulary kept(limit_, when_full_);
    for (const Index index : keep) {
      if (index < 0 || index >= size()) throw Error("There is no feature to keep at this index.");
      if (kept.find(name(index)) >= 0) throw Error("A feature to keep is listed twice.");
      kept.add(name(index));
    }
    *this = std::move(kept);
  }

  void clear() {
    stamp_.renew();
    columns_ = 0;
    entries_.clear();
    arena_.clear();
    make_slots(4);
  }

  std::size_t memory() const {
    return entries_.capacity() * sizeof(Entry) + slots_.capacity() * sizeof(Slot) +
           arena_.capacity();
  }

  FlatNames flatten() const {
    FlatNames flat{columns_, {}, {0}, {}};
    for (const Entry& entry : entries_) {
      if (entry.is_text()) {
        flat.bytes.insert(flat.bytes.end(), text(entry).begin(), text(entry).end());
      } else {
        const auto number = static_cast<std::uint64_t>(entry.load());
        for (int shift = 0; shift < 64; shift += 8)
          flat.bytes.push_back(static_cast<char>(number >> shift & 0xff));
      }
      flat.kinds.push_back(entry.is_text() ? FlatNames::kText : FlatNames::kInteger);
      flat.offsets.push_back(flat.bytes.size());
    }
    return flat;
  }

  // Names as flatten() gave them, which may since have been damaged.
  void assign(Index columns, std::span<const std::uint8_t> kinds,
              std::span<const std::uint64_t> offsets, std::span<const char> bytes) {
    const auto check = [](bool fine, const char* problem) {
      if (!fine) throw Error(std::string("The feature names are damaged: ") + problem + ".");
    };
    check(columns >= 0, "their number is negative");
    check(offsets.size() == kinds.size() + 1, "there is not one offset for each name");
    check(offsets.front() == 0 && offsets.back() == bytes.size(), "some bytes belong to no name");
    Vocabulary loaded(limit_, when_full_);
    loaded.extend(columns);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const std::uint64_t begin = offsets[i], end = offsets[i + 1];
      check(begin <= end && end <= bytes.size(), "the offsets do not ascend");
      check(kinds[i] <= FlatNames::kInteger, "a name is neither a text nor an integer");
      const bool is_text = kinds[i] == FlatNames::kText;
      check(is_text || end - begin == 8, "an integer has not eight bytes");
      const char* start = bytes.data() + begin;
      const Name name = is_text
                            ? Name(std::string_view(start, end - begin))
                            : Name(static_cast<std::int64_t>(hashing::load<std::uint64_t>(start)));
      check(!is_text || utf8::find_invalid(name.view()) == std::string_view::npos,
            "a name is not valid UTF-8");
      check(loaded.find(name) < 0, "a name is listed twice");
      loaded.add(name);
    }
    check(loaded.size() - columns == static_cast<Index>(kinds.size()), "they exceed their limit");
    *this = std::move(loaded);
  }

 private:
  // Half a cache line. A short text stands inside; of a long one the place in the arena.
  struct alignas(32) Entry {
    static constexpr std::int32_t kInteger = -1;
    std::uint32_t tag;    // all that the table needs of the hash: growing reads no text
    std::int32_t length;  // of the text, or kInteger
    char inside[24];

    bool is_text() const { return length >= 0; }
    bool is_long() const { return length > static_cast<std::int32_t>(sizeof inside); }
    std::size_t size() const { return static_cast<std::size_t>(length); }
    std::int64_t load() const {
      std::int64_t number;
      std::memcpy(&number, inside, sizeof number);
      return number;
    }
    void store(std::int64_t number) { std::memcpy(inside, &number, sizeof number); }
  };

  // The tag's upper bits are the slot's home, the others tell names apart without a look at them.
  struct Slot {
    std::uint32_t tag;
    Index entry;  // -1 where empty
  };

  bool is_column(const Name& name) const {
    return !name.is_text() && name.number >= 0 && name.number < columns_;
  }

  Index index_at(std::size_t place) const {
    const Index entry = slots_[place].entry;
    return entry < 0 ? -1 : columns_ + entry;
  }

  // Whether a name that is no column has this index.
  bool is_at(Index index, const Name& name) const {
    const auto entry = static_cast<std::size_t>(index) - static_cast<std::size_t>(columns_);
    return entry < entries_.size() && entries_[entry].tag == name.tag() &&
           same(entries_[entry], name);
  }

  std::string_view text(const Entry& entry) const {
    return {entry.is_long() ? arena_.data() + entry.load() : entry.inside, entry.size()};
  }

  bool same(const Entry& entry, const Name& name) const {
    if (!name.is_text()) return !entry.is_text() && entry.load() == name.number;
    return entry.length == name.number && same_bytes(text(entry).data(), name.text, entry.size());
  }

  // Most names are short: two overlapping words instead of a call.
  static bool same_bytes(const char* a, const char* b, std::size_t n) {
    const auto equal = [=]<class Word>(Word) {
      Word a0, b0, a1, b1;
      std::memcpy(&a0, a, sizeof(Word));
      std::memcpy(&b0, b, sizeof(Word));
      std::memcpy(&a1, a + n - sizeof(Word), sizeof(Word));
      std::memcpy(&b1, b + n - sizeof(Word), sizeof(Word));
      return ((a0 ^ b0) | (a1 ^ b1)) == 0;
    };
    if (n > 16) return std::memcmp(a, b, n) == 0;
    if (n < 4)  // the first byte, the middle one and the last
      return n == 0 || ((a[0] ^ b[0]) | (a[n / 2] ^ b[n / 2]) | (a[n - 1] ^ b[n - 1])) == 0;
    return n >= 8 ? equal(std::uint64_t{}) : equal(std::uint32_t{});
  }

  std::size_t home(std::uint32_t tag) const { return tag >> shift_; }
  std::size_t next(std::size_t place) const { return (place + 1) & (slots_.size() - 1); }

  // The slot of a name, or the empty one where it would go.
  std::size_t probe(const Name& name) const {
    const std::uint32_t tag = name.tag();
    std::size_t place = home(tag);
    for (; slots_[place].entry >= 0; place = next(place)) {
      const Slot& slot = slots_[place];
      if (slot.tag == tag && same(entries_[static_cast<std::size_t>(slot.entry)], name)) break;
    }
    return place;
  }

  std::size_t vacancy(std::uint32_t tag) const {
    std::size_t place = home(tag);
    while (slots_[place].entry >= 0) place = next(place);
    return place;
  }

  // A lookup waits for memory twice, for its slot and for its entry. In a batch both are asked for
  // ahead: first all slots, then all entries they most likely lead to; then most names are settled
  // by one comparison with an entry that is near, and the others, new or unlucky, by `otherwise`.
  // Names in front that are guessed right need no slot.
  template <class Otherwise>
  void in_batches(const Name* names, std::size_t n, Index* out, Otherwise otherwise) const {
    constexpr std::size_t batch = 64;
    std::size_t guessed = 0;
    while (guessed < n && is_at(out[guessed], names[guessed])) ++guessed;
    for (std::size_t begin = guessed; begin < n; begin += batch) {
      const std::size_t end = std::min(n, begin + batch);
      for (std::size_t i = begin; i < end; ++i) __builtin_prefetch(&slots_[home(names[i].tag())]);
      for (std::size_t i = begin; i < end; ++i) {
        std::size_t place = home(names[i].tag());
        while (slots_[place].entry >= 0 && slots_[place].tag != names[i].tag()) place = next(place);
        out[i] = slots_[place].entry;
        __builtin_prefetch(entries_.data() + std::max(out[i], 0));
      }
      for (std::size_t i = begin; i < end; ++i) {
        const bool likely =
            out[i] >= 0 && same(entries_[static_cast<std::size_t>(out[i])], names[i]);
        out[i] = likely ? columns_ + out[i] : otherwise(names[i]);
      }
    }
  }

  Index add(const Name& name) {
    if (size() >= (when_full_ == WhenFull::Prune ? kNoLimit : limit_)) {
      if (when_full_ == WhenFull::Drop) return -1;
      refuse(name);
    }
    if (identity() && !name.is_text() && name.number == columns_) return columns_++;
    // At most half full: a probe seldom leaves the cache line of its home.
    if (2 * (entries_.size() + 1) > slots_.size()) make_slots(32 - shift_ + 1);

    Entry entry{name.tag(), Entry::kInteger, {}};
    if (!name.is_text()) {
      entry.store(name.number);
    } else {
      if (name.number > std::numeric_limits<std::int32_t>::max())
        throw Error("The name " + name.quoted() + " of a feature is too long.");
      entry.length = static_cast<std::int32_t>(name.number);
      if (entry.is_long()) {
        entry.store(static_cast<std::int64_t>(arena_.size()));
        arena_.insert(arena_.end(), name.text, name.text + name.number);
      } else {
        std::memcpy(entry.inside, name.text, entry.size());
      }
    }
    entries_.push_back(entry);
    slots_[vacancy(entry.tag)] = {entry.tag, static_cast<Index>(entries_.size() - 1)};
    return size() - 1;
  }

  void forget_newest() {
    const Entry& newest = entries_.back();
    std::size_t place = home(newest.tag);
    while (slots_[place].entry != static_cast<Index>(entries_.size() - 1)) place = next(place);
    slots_[place].entry = -1;
    if (newest.is_long()) arena_.resize(static_cast<std::size_t>(newest.load()));
    entries_.pop_back();
  }

  void make_slots(int bits) {
    slots_ = std::vector<Slot>(std::size_t{1} << bits, Slot{0, -1});
    shift_ = 32 - bits;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      slots_[vacancy(entries_[i].tag)] = {entries_[i].tag, static_cast<Index>(i)};
  }

  [[noreturn]] void refuse(const Name& name) const {
    throw Error("The feature " + name.quoted() + " is one too many: there may be " +
                std::to_string(limit_) + " features.");
  }

  Index limit_;
  WhenFull when_full_;
  Index columns_;
  Stamp stamp_;
  int shift_;  // 32 less the binary logarithm of the number of slots
  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
  std::vector<char> arena_;
};

}  // namespace yarrow
