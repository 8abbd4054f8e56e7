#pragma once
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "error.hpp"
#include "text/number.hpp"

namespace yarrow {

/// The name of a class as the user gave it. 1, 1.0 and true are one class, "1" is another.
struct ClassName {
  enum class Kind { integer, real, boolean, text };
  Kind kind = Kind::integer;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;

  static ClassName of(std::int64_t value) { return {Kind::integer, value, 0, {}}; }
  static ClassName of(bool value) { return {Kind::boolean, value, 0, {}}; }
  static ClassName of(std::string value) { return {Kind::text, 0, 0, std::move(value)}; }
  static ClassName of(double value) {
    if (value == std::floor(value) && std::abs(value) <= last_exact_integer)
      return of(static_cast<std::int64_t>(value));
    return {Kind::real, 0, value, {}};
  }

  /// Of an integer as it is written, which a double may not hold.
  static ClassName of_digits(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data() + text.starts_with('+'), end, value).ec != std::errc())
      throw Error("the class " + std::string(text) + " does not fit into 64 bits");
    return of(value);
  }

  /// The same for equal names, different for others.
  std::string key() const {
    if (kind == Kind::text) return "t" + text;
    if (kind == Kind::real) return "r" + std::to_string(std::bit_cast<std::uint64_t>(real));
    return "i" + std::to_string(integer);
  }

  std::string quoted() const {
    if (kind == Kind::text) return "'" + utf8::shown(text) + "'";
    if (kind == Kind::real) return std::to_string(real);
    if (kind == Kind::boolean) return integer ? "True" : "False";
    return std::to_string(integer);
  }
};

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

/// Classes in the order of their first appearance. If a set was declared, no other may appear; else
/// no more than `limit`: every row costs as much as there are classes, so that labels which are no
/// classes (numbers of rows, real targets) would never end. Whole numbers look like classes, so
/// that so many of them as `kManyIntegers` need a limit that somebody chose: not `kDefaultLimit`.
class Classes {
 public:
  static constexpr int kNoLimit = std::numeric_limits<int>::max();
  static constexpr int kDefaultLimit = 10'000;
  static constexpr int kManyIntegers = 200;

  explicit Classes(std::vector<ClassName> declared = {}, int limit = kNoLimit)
      : declared_(std::move(declared)), limit_(limit) {
    for (const ClassName& name : declared_) declared_keys_.insert(name.key());
  }

  /// Refuses one class more than those known, where none are declared.
  static void check_limit(const ClassName& name, int known, int limit) {
    if (limit == kDefaultLimit && known >= kManyIntegers && name.kind == ClassName::Kind::integer)
      throw Error("the class " + name.quoted() + " is one of more than " +
                  std::to_string(kManyIntegers) +
                  " whole numbers, which are rather values than classes: use a regressor, such as "
                  "YarrowRegressor, or insist by max_classes=1000");
    if (known >= limit)
      throw Error("the class " + name.quoted() + " is one too many: max_classes allows " +
                  std::to_string(limit) + " classes; real targets are for regressors");
  }

  /// How much rows of a class count; 1 unless said otherwise.
  void set_weight(const ClassName& name, double weight) { weights_[name.key()] = {name, weight}; }
  const auto& weights() const { return weights_; }
  double weight(int number) const { return weight_of_number_[number]; }

  /// What it costs to take `truth` for `other`; to be said before the first class appears.
  void set_cost(const ClassName& truth, const ClassName& other, double cost) {
    named_costs_[{truth.key(), other.key()}] = cost;
  }
  const CostTable& costs() const { return costs_; }

  int size() const { return static_cast<int>(names_.size()); }
  const std::vector<ClassName>& names() const { return names_; }
  const std::vector<ClassName>& declared() const { return declared_; }

  /// The number of a class, -1 if it has not appeared.
  int find(const ClassName& name) const {
    const auto found = numbers_.find(name.key());
    return found == numbers_.end() ? -1 : found->second;
  }

  int find_or_add(const ClassName& name) {
    const int known = find(name);
    if (known >= 0) return known;
    check(name);
    return add(name);
  }

  /// The same for one that was learned before, under whatever limit.
  void restore(const ClassName& name) {
    if (find(name) >= 0) return;
    check_declared(name);
    add(name);
  }

  /// The same for a number read from a text or an array; most rows repeat a class seen before.
  int find_or_add(double value) {
    Recent& recent = recent_[std::bit_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15 >> 59];
    if (recent.value != value) recent = {value, find_or_add_integer(value)};
    return recent.number;
  }

  /// Forgets the newest classes, so that a failed call leaves no trace.
  void truncate(int size) {
    for (; this->size() > size; names_.pop_back()) numbers_.erase(names_.back().key());
    weight_of_number_.resize(size);
    if (!named_costs_.empty()) costs_.truncate(size);
    for (Recent& recent : recent_) recent = {};
  }

 private:
  struct Recent {
    double value = std::numeric_limits<double>::quiet_NaN();
    int number = 0;
  };

  [[gnu::noinline]] int find_or_add_integer(double value) {
    if (value != std::floor(value))  // NaN and fractions; infinity is no integer below either
      throw Error("the label " + ClassName::of(value).quoted() +
                  " is no class: classes are texts or integers, and regressors take real targets");
    return find_or_add(ClassName::of(value));
  }

  void check(const ClassName& name) const {
    check_declared(name);
    if (declared_.empty()) check_limit(name, size(), limit_);
  }

  void check_declared(const ClassName& name) const {
    if (declared_.empty() || declared_keys_.contains(name.key())) return;
    std::string listed;
    for (std::size_t i = 0; i < declared_.size() && i < 10; ++i)
      listed += (i ? ", " : "") + declared_[i].quoted();
    if (declared_.size() > 10) listed += ", ...";
    throw Error("the class " + name.quoted() + " is not one of the declared classes " + listed);
  }

  int add(const ClassName& name) {
    numbers_.emplace(name.key(), size());
    names_.push_back(name);
    const auto weight = weights_.find(name.key());
    weight_of_number_.push_back(weight == weights_.end() ? 1 : weight->second.second);
    if (!named_costs_.empty())
      costs_.add_class([this](int truth, int other) {
        const auto cost = named_costs_.find({names_[truth].key(), names_[other].key()});
        return cost == named_costs_.end() ? 1 : cost->second;
      });
    return size() - 1;
  }

  std::vector<ClassName> declared_, names_;
  std::unordered_set<std::string> declared_keys_;
  int limit_;
  std::unordered_map<std::string, int> numbers_;
  std::map<std::string, std::pair<ClassName, double>> weights_;
  std::vector<double> weight_of_number_;
  std::map<std::pair<std::string, std::string>, double> named_costs_;
  CostTable costs_;
  Recent recent_[32];
};

}  // namespace yarrow
