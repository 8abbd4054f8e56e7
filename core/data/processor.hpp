#pragma once
// Some loops are compiled twice: for the registers of 16 bytes that every x86-64 processor has, and
// for those of 32 that most have. Both do the same to each number, so that both give the same bits.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define YARROW_MAY_HAVE_WIDE_LANES
#endif

namespace yarrow {

/// Whether this processor has registers of 32 bytes.
inline bool has_wide_lanes() {
#if defined(YARROW_MAY_HAVE_WIDE_LANES)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

}  // namespace yarrow
