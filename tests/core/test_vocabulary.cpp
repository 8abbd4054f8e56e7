// The vocabulary against a list and a std::unordered_map of names.
#include "data/vocabulary.hpp"

#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "check.hpp"

using namespace yarrow;

namespace {

using Key = std::variant<std::int64_t, std::string>;
using Random = std::mt19937_64;

Name name_of(const Key& key) {
  if (const auto* text = std::get_if<std::string>(&key)) return Name(std::string_view(*text));
  return Name(std::get<std::int64_t>(key));
}

Key key_of(const Name& name) {
  if (name.is_text()) return std::string(name.view());
  return name.number;
}

// What a vocabulary should be, in the most obvious way.
struct Reference {
  std::vector<Key> names;
  std::unordered_map<Key, Index> index;

  Index find(const Key& key) const {
    const auto found = index.find(key);
    return found == index.end() ? -1 : found->second;
  }
  Index find_or_add(const Key& key) {
    const auto [found, is_new] = index.try_emplace(key, static_cast<Index>(names.size()));
    if (is_new) names.push_back(key);
    return found->second;
  }
  void keep(const std::vector<Index>& kept) {
    Reference next;
    for (const Index i : kept) next.find_or_add(names[static_cast<std::size_t>(i)]);
    *this = next;
  }
  void truncate(std::size_t n) {
    for (; names.size() > n; names.pop_back()) index.erase(names.back());
  }
};

void check_same(const Vocabulary& vocabulary, const Reference& reference) {
  CHECK(vocabulary.size() == static_cast<Index>(reference.names.size()));
  for (Index i = 0; i < vocabulary.size(); ++i) {
    const Key& key = reference.names[static_cast<std::size_t>(i)];
    CHECK(key_of(vocabulary.name(i)) == key);
    CHECK(vocabulary.find(name_of(key)) == i);
  }
}

// Few short names and many long ones, digits that look like integers, every length around the
// 16 bytes of the hash's block and the 24 that fit into an entry.
Key random_key(Random& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  switch (below(8)) {
    case 0:
      return static_cast<std::int64_t>(below(40));
    case 1:
      return static_cast<std::int64_t>(random());
    case 2:
      return -static_cast<std::int64_t>(below(1000));
    case 3:
      return std::to_string(below(40));
    case 4:
      return std::string(below(3), 'x') + "naïve-数字-" + std::to_string(below(300));
    case 6:  // alike at both ends
      return "in front" + std::to_string(below(300)) + "and back";
    case 5:
      return std::string(below(60), '\0');
    default: {
      std::string text(below(4) ? below(12) : 13 + below(30), ' ');
      for (char& c : text) c = static_cast<char>('a' + below(3));
      return text;
    }
  }
}

std::vector<Key> random_keys(Random& random, std::size_t n) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < n; ++i) keys.push_back(random_key(random));
  return keys;
}

std::vector<Name> names_of(const std::vector<Key>& keys) {
  std::vector<Name> names;
  for (const Key& key : keys) names.push_back(name_of(key));
  return names;
}

// The values were computed apart, with Python's integers.
void hashes_are_fixed_forever() {
  CHECK(Name("").hash == 0x5d814241a5c5e778);
  CHECK(Name("5").hash == 0xcb073c0bf152c1ca);
  CHECK(Name("word").hash == 0xe654074b00ab502e);
  CHECK(Name("naïve 数字").hash == 0xd88a52699cd48587);
  CHECK(Name("sixteen bytes...").hash == 0xac8e3380d546be39);
  CHECK(Name("a name that is longer than two blocks of 16").hash == 0xbfa3e75ce399bc95);
  CHECK(Name(5).hash == 0xb4838439d15bc3f8);
  CHECK(Name(-1).hash == 0x2602449fa02dc475);
  CHECK(Name(std::int64_t{1} << 40).hash == 0x9f54281113eefa14);
}

void names_that_differ_hash_differently() {
  std::set<std::uint64_t> hashes;
  std::size_t names = 0;
  const auto add = [&](std::uint64_t hash) { hashes.insert(hash), ++names; };
  for (std::size_t length = 0; length <= 80; ++length)
    add(hash_text(std::string(80, '\0').data(), length));
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::string digits = std::to_string(i), longer = "a feature with a long name " + digits;
    add(hash_text(digits.data(), digits.size()));
    add(hash_text(longer.data(), longer.size()));
    add(hash_integer(i));
    add(hash_integer(-1 - i));
  }
  // Every byte of a text counts.
  for (const std::size_t length : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50})
    for (std::size_t i = 0; i < length; ++i) {
      std::string text(length, 'a');
      text[i] = 'b';
      add(hash_text(text.data(), text.size()));
    }
  CHECK(hashes.size() == names);
}

void behaves_like_a_map_of_names() {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Vocabulary vocabulary;
    Reference reference;
    for (int step = 0; step < 60; ++step) {
      const std::vector<Key> keys = random_keys(random, random() % 150);
      const std::vector<Name> names = names_of(keys);
      std::vector<Index> out(keys.size(), -7);
      switch (random() % 8) {
        case 0:
          for (const Key& key : keys)
            CHECK(vocabulary.find_or_add(name_of(key)) == reference.find_or_add(key));
          break;
        case 1: {
          const Index n = static_cast<Index>(random() % (reference.names.size() + 2));
          vocabulary.truncate(n);
          reference.truncate(static_cast<std::size_t>(n));
          break;
        }
        case 2: {
          std::vector<Index> kept;
          for (Index i = 0; i < vocabulary.size(); ++i)
            if (random() % 4) kept.push_back(i);
          if (random() % 2) std::shuffle(kept.begin(), kept.end(), random);
          vocabulary.remap(kept);
          reference.keep(kept);
          break;
        }
        case 3: {
          const FlatNames flat = vocabulary.flatten();
          Vocabulary loaded;
          loaded.assign(flat.columns, flat.kinds, flat.offsets, flat.bytes);
          vocabulary = loaded;
          break;
        }
        case 4:
          if (vocabulary.identity()) {
            const Index n = static_cast<Index>(random() % 50);
            vocabulary.extend(n);
            for (std::int64_t i = 0; i < n; ++i) reference.find_or_add(i);
          }
          break;
        case 5:
          if (random() % 4 == 0) vocabulary.clear(), reference = {};
          break;
        default:
          vocabulary.resolve(names.data(), names.size(), out.data());
          for (std::size_t i = 0; i < keys.size(); ++i)
            CHECK(out[i] == reference.find_or_add(keys[i]));
      }
      const std::vector<Key> others = random_keys(random, 100);
      out.resize(others.size());
      const std::vector<Name> asked = names_of(others);
      for (const std::size_t from : {std::size_t{0}, random() % others.size()}) {
        for (std::size_t i = from; i < out.size(); ++i)  // all wrong guesses, then some
          out[i] = static_cast<Index>(random() % (reference.names.size() + 9)) - 4;
        std::as_const(vocabulary).find(asked.data(), asked.size(), out.data());
        for (std::size_t i = 0; i < others.size(); ++i) CHECK(out[i] == reference.find(others[i]));
      }
      check_same(vocabulary, reference);
    }
  }
}

// Names with forged hashes: all crowd around the table's last slot and share their tags.
void survives_collisions() {
  Random random(1);
  Vocabulary vocabulary;
  Reference reference;
  const auto forged = [](const Key& key) {
    Name name = name_of(key);
    name.hash = ~std::uint64_t{0} - (name.hash % 3 << 32);
    return name;
  };
  for (int step = 0; step < 200; ++step) {
    std::vector<Key> keys = random_keys(random, 20);
    std::vector<Name> names;
    for (const Key& key : keys) names.push_back(forged(key));
    std::vector<Index> out(keys.size());
    for (Index& guess : out) guess = static_cast<Index>(random() % (reference.names.size() + 1));
    vocabulary.resolve(names.data(), names.size(), out.data());
    for (std::size_t i = 0; i < keys.size(); ++i) CHECK(out[i] == reference.find_or_add(keys[i]));
    if (step % 3 == 0) {
      const std::size_t n = reference.names.size() - random() % (reference.names.size() + 1) / 4;
      vocabulary.truncate(static_cast<Index>(n));
      reference.truncate(n);
    }
    for (const Key& key : random_keys(random, 20))
      CHECK(vocabulary.find(forged(key)) == reference.find(key));
  }
}

void forgetting_gives_memory_back() {
  Vocabulary vocabulary;
  const std::string text = "a name that does not fit into an entry";
  const auto try_name = [&] { vocabulary.find_or_add(Name(text)), vocabulary.truncate(0); };
  try_name();
  const std::size_t before = vocabulary.memory();
  for (int i = 0; i < 1000; ++i) try_name();
  CHECK(vocabulary.memory() == before);
}

void columns_cost_nothing_until_a_name_comes() {
  Vocabulary vocabulary;
  const std::size_t empty = vocabulary.memory();
  vocabulary.extend(1'000'000);
  CHECK(vocabulary.identity() && vocabulary.memory() == empty);
  CHECK(vocabulary.find(Name(999'999)) == 999'999);
  CHECK(vocabulary.find(Name(1'000'000)) == -1 && vocabulary.find(Name(-1)) == -1);
  CHECK(vocabulary.find(Name("5")) == -1);
  CHECK(vocabulary.find_or_add(Name(1'000'000)) == 1'000'000 && vocabulary.identity());
  CHECK(vocabulary.find_or_add(Name("5")) == 1'000'001 && !vocabulary.identity());
  CHECK(vocabulary.find_or_add(Name(1'000'002)) == 1'000'002);
  CHECK(vocabulary.find(Name(5)) == 5);
  CHECK_THROWS(vocabulary.extend(1'000'010), Error, "behind named features");
  vocabulary.extend(10);  // already there
  vocabulary.truncate(1'000'001);
  CHECK(vocabulary.identity() && vocabulary.find(Name("5")) == -1);
  vocabulary.remap({3, 0});
  CHECK(vocabulary.size() == 2 && key_of(vocabulary.name(0)) == Key(std::int64_t{3}));
  CHECK(vocabulary.find(Name(0)) == 1 && vocabulary.find(Name(1)) == -1);
}

void a_full_vocabulary_refuses_drops_or_asks_for_pruning() {
  const std::vector<Name> names = {Name("a"), Name("b"), Name("c"), Name("d"), Name("a")};
  std::vector<Index> out(names.size());

  Vocabulary refusing(3, WhenFull::Refuse);
  CHECK(refusing.find_or_add(Name("b")) == 0);
  CHECK_THROWS(refusing.resolve(names.data(), names.size(), out.data()), Error,
               "'d' is one too many: there may be 3 features");
  CHECK(refusing.size() == 1 && refusing.find(Name("a")) == -1 && refusing.find(Name("b")) == 0);
  CHECK_THROWS(Vocabulary(3).extend(4), Error, "The feature 3 is one too many");

  Vocabulary dropping(3, WhenFull::Drop);
  dropping.resolve(names.data(), names.size(), out.data());
  CHECK((out == std::vector<Index>{0, 1, 2, -1, 0}) && dropping.size() == 3);
  Vocabulary columns(3, WhenFull::Drop);
  columns.extend(5);
  CHECK(columns.size() == 3 && columns.find_or_add(Name(3)) == -1);

  Vocabulary pruning(3, WhenFull::Prune);
  pruning.resolve(names.data(), names.size(), out.data());
  CHECK((out == std::vector<Index>{0, 1, 2, 3, 0}) && pruning.crowded());
  pruning.remap({1, 3});
  CHECK(!pruning.crowded() && pruning.find(Name("d")) == 1 && pruning.find(Name("a")) == -1);
  CHECK_THROWS(pruning.remap({0, 0}), Error, "twice");
  CHECK_THROWS(pruning.remap({2}), Error, "no feature");
  CHECK(pruning.size() == 2);
}

void damaged_names_are_noticed() {
  Vocabulary vocabulary;
  for (const Name& name : {Name(0), Name("a"), Name(7), Name("long enough for the arena")})
    vocabulary.find_or_add(name);
  const FlatNames good = vocabulary.flatten();
  CHECK(good.columns == 1 && good.offsets == (std::vector<std::uint64_t>{0, 1, 9, 34}));
  const auto load = [&](auto damage) {
    FlatNames flat = good;
    damage(flat);
    Vocabulary().assign(flat.columns, flat.kinds, flat.offsets, flat.bytes);
  };
  load([](FlatNames&) {});
  CHECK_THROWS(Vocabulary(3, WhenFull::Drop).assign(1, good.kinds, good.offsets, good.bytes), Error,
               "exceed their limit");
  CHECK_THROWS(load([](FlatNames& f) { f.columns = -1; }), Error, "damaged: their number");
  CHECK_THROWS(load([](FlatNames& f) { f.columns = 8; }), Error, "twice");
  CHECK_THROWS(load([](FlatNames& f) { f.kinds[0] = 2; }), Error, "neither");
  CHECK_THROWS(load([](FlatNames& f) { f.kinds[0] = 1; }), Error, "eight bytes");
  CHECK_THROWS(load([](FlatNames& f) { f.kinds.pop_back(); }), Error, "one offset");
  CHECK_THROWS(load([](FlatNames& f) { f.offsets.clear(); }), Error, "one offset");
  CHECK_THROWS(load([](FlatNames& f) { f.offsets[1] = 100; }), Error, "ascend");
  CHECK_THROWS(load([](FlatNames& f) { f.offsets[2] = 0; }), Error, "ascend");
  CHECK_THROWS(load([](FlatNames& f) { f.bytes.pop_back(); }), Error, "belong to no name");
}

void errors_show_names_briefly() {
  CHECK(Name(-5).quoted() == "-5" && Name("").quoted() == "''");
  const std::string text = std::string(59, 'x') + "ü and more";
  CHECK(Name(text).quoted() == "'" + std::string(59, 'x') + "...'");
}

}  // namespace

int main() {
  hashes_are_fixed_forever();
  names_that_differ_hash_differently();
  behaves_like_a_map_of_names();
  survives_collisions();
  forgetting_gives_memory_back();
  columns_cost_nothing_until_a_name_comes();
  a_full_vocabulary_refuses_drops_or_asks_for_pruning();
  damaged_names_are_noticed();
  errors_show_names_briefly();
  return check::failures();
}
