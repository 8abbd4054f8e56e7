#pragma once
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "data/arrays.hpp"
#include "error.hpp"

// A saved state is named arrays. Whoever reads one trusts nothing: each array is taken by its name,
// with the type, the shape and the range that it must have, and what nobody has asked for is
// refused.

namespace yarrow {

/// Numbers of one name in someone else's memory, one behind the other, perhaps at an odd address.
struct SavedArray {
  NumberType type;
  std::vector<std::size_t> shape;
  const char* data = nullptr;

  std::size_t size() const {
    std::size_t n = 1;
    for (const std::size_t length : shape) n *= length;
    return n;
  }
};

/// Takes named arrays one by one and hands each to whoever keeps them, by its type and its shape.
class ArrayWriter {
 public:
  using Shape = std::vector<std::size_t>;

  /// `keep(name, numbers, shape)` for vectors of any type of number.
  template <class Keep>
  ArrayWriter(Keep keep)  // NOLINT: a lambda is one
      : keep_([keep](const char* name, Numbers numbers, const Shape& shape) {
          std::visit([&](auto& of_type) { keep(name, std::move(of_type), shape); }, numbers);
        }) {}

  /// Without lengths it is one line.
  void operator()(const char* name, auto numbers, auto... lengths) const {
    Shape shape = {static_cast<std::size_t>(lengths)...};
    if (shape.empty()) shape = {numbers.size()};
    keep_(name, std::move(numbers), shape);
  }

 private:
  using Numbers = std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint8_t>,
                               std::vector<std::int32_t>, std::vector<std::int64_t>,
                               std::vector<std::uint64_t>>;
  std::function<void(const char*, Numbers, const Shape&)> keep_;
};

/// What the numbers of an array may be; all are finite.
struct Range {
  double least = -std::numeric_limits<double>::max(), most = std::numeric_limits<double>::max();
  bool whole = false;

  bool has(double value) const {
    return value >= least && value <= most && (!whole || value == std::floor(value));
  }
  static Range not_negative() { return {0}; }
  static Range positive() { return {std::numeric_limits<double>::denorm_min()}; }
  /// A number of rows: a double counts exactly up to here.
  static Range count(double most = 0x1p53) { return {0, most, true}; }
};

/// Whether a matrix, n x n, is symmetric and its eigenvalues are not negative, up to `slack`.
inline bool is_covariance(std::vector<double> a, std::size_t n, double slack) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!(std::abs(a[i * n + j] - a[j * n + i]) <= slack)) return false;
  for (std::size_t i = 0; i < n; ++i)  // the lower triangle becomes the root of a + slack*I
    for (std::size_t j = 0; j <= i; ++j) {
      const double* const row = &a[i * n];
      const double rest = row[j] - std::inner_product(row, row + j, &a[j * n], 0.0);
      if (i == j && !(rest + slack > 0)) return false;
      a[i * n + j] = i == j ? std::sqrt(rest + slack) : rest / a[j * n + j];
    }
  return true;
}

class SavedState {
 public:
  static constexpr std::size_t any = SIZE_MAX;  ///< a length that the array itself says

  void add(std::string name, SavedArray array) { arrays_[std::move(name)] = {std::move(array)}; }
  bool has(std::string_view name) const { return arrays_.contains(name); }

  /// An array of this type and shape.
  template <class T>
  const SavedArray& array(std::string_view name, const std::vector<std::size_t>& shape) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) refuse(name, "is missing");
    found->second.was_read = true;
    const SavedArray& array = found->second.array;
    if (array.type != type_of<T>) refuse(name, "has the wrong type");
    bool fits = array.shape.size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i)
      fits = shape[i] == any || shape[i] == array.shape[i];
    if (!fits) refuse(name, "has the wrong shape");
    return array;
  }

  /// Its numbers, if all of them are in range.
  template <class T>
  std::vector<T> values(std::string_view name, const std::vector<std::size_t>& shape,
                        Range range = {}) {
    const SavedArray& found = array<T>(name, shape);
    std::vector<T> values(found.size());
    if (!values.empty()) std::memcpy(values.data(), found.data, values.size() * sizeof(T));
    if constexpr (std::is_floating_point_v<T>)
      for (const T value : values)
        if (!range.has(static_cast<double>(value))) refuse(name, "has a number out of range");
    return values;
  }

  /// To be said at the end.
  void refuse_unread() const {
    for (const auto& [name, entry] : arrays_)
      if (!entry.was_read) refuse(name, "does not belong to this learner");
  }

  [[noreturn]] static void refuse(std::string_view name, const char* problem) {
    throw Error("the state's '" + utf8::shown(std::string(name)) + "' " + problem);
  }

 private:
  struct Entry {
    SavedArray array;
    bool was_read = false;
  };
  std::map<std::string, Entry, std::less<>> arrays_;
};

}  // namespace yarrow
