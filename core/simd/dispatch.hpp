#pragma once
#include "simd/kernels/layout.hpp"
#include "simd/lanes.hpp"

// What is done with many numbers at a time, most of it by yarrow_learner.hpp, is written once, in
// the words of lanes.hpp, and compiled twice: for registers of 16 bytes, and for those of 32 where
// a processor has them. Each number is treated alike in both, and sums are taken in the same order,
// so that both give the same bits.

namespace yarrow {

inline Lanes<double> log_ratio(Lanes<double> a, Lanes<double> b) {
  return Lanes<double>{std::log(a[0] / b[0]), std::log(a[1] / b[1])};
}

#include "simd/kernels/all.inc"

}  // namespace yarrow

#if defined(YARROW_MAY_HAVE_WIDE_LANES)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace yarrow::wide {

#include "simd/kernels/all.inc"

}  // namespace yarrow::wide
#pragma GCC pop_options
#endif

namespace yarrow {

/// Calls f with the kernels for the registers that this processor has.
template <class W, class F>
auto with_kernels(F f) {
  if constexpr (may_have_wide_lanes<W>)
    if (has_wide_lanes()) return f(wide::Kernels<W>{});
  return f(Kernels<W>{});
}

/// The same for kernels over so many columns: one alone does not fill a large register.
template <std::size_t Columns, class W, class F>
auto with_kernels_of(F f) {
  if constexpr (Columns == 1)
    return f(Kernels<W>{});
  else
    return with_kernels<W>(f);
}

}  // namespace yarrow
