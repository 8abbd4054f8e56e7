#pragma once
#include <array>
#include <string>
#include <vector>

#include "common.hpp"

// How numbers of a saved state are read.

namespace yarrow {

/// An array of the state: of the type that was saved, since another one is not what was saved.
template <class T, std::size_t N>
nb::ndarray<const T, nb::ndim<N>, nb::c_contig> saved(const nb::dict& from, const char* name) {
  if (!from.contains(name)) throw Error(std::string("the state has no '") + name + "'");
  nb::ndarray<const T, nb::ndim<N>, nb::c_contig> array;
  if (!nb::try_cast(from[name], array, false))
    throw Error(std::string("the state's '") + name + "' has the wrong type");
  return array;
}

/// Its numbers, if it has the shape that it must have; SIZE_MAX: any.
template <class T, std::size_t N>
std::vector<T> values(const nb::dict& from, const char* name,
                      const std::array<std::size_t, N>& shape) {
  const auto array = saved<T, N>(from, name);
  for (std::size_t i = 0; i < N; ++i)
    if (shape[i] != SIZE_MAX && array.shape(i) != shape[i])
      throw Error(std::string("the state's '") + name + "' has the wrong shape");
  return {array.data(), array.data() + array.size()};
}
template <class T>
std::vector<T> values(const nb::dict& from, const char* name, std::size_t expected) {
  return values<T, 1>(from, name, {expected});
}

}  // namespace yarrow
