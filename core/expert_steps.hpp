#pragma once
#include <cmath>
#include <cstring>
#include <limits>

#include "pulls/arithmetic.hpp"

// What the experts of yarrow_learner.hpp do to their numbers: several neighbours at a time, in the
// type that is stored, which is four at once in float32. Each number is treated alike wherever it
// stands, so that one column and many give the same bits.

namespace yarrow {

template <class W>
struct LanesOf {
  typedef W type __attribute__((vector_size(16)));
};
template <class W>
using Lanes = typename LanesOf<W>::type;
template <class W>
constexpr std::size_t lanes_of = 16 / sizeof(W);

/// N neighbours, at most as many as a register holds.
template <std::size_t N, class W>
[[gnu::always_inline]] inline Lanes<W> lanes_at(const W* from) {
  Lanes<W> found{};
#if defined(__SSE2__)  // half a register goes straight there, and not by way of memory
  if constexpr (N < lanes_of<W>)
    return (Lanes<W>)_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
#endif
  std::memcpy(&found, from, N * sizeof(W));
  return found;
}

template <std::size_t N, class W>
[[gnu::always_inline]] inline void put_lanes(Lanes<W> numbers, W* to) {
#if defined(__SSE2__)
  if constexpr (N < lanes_of<W>)
    return _mm_storel_epi64(reinterpret_cast<__m128i*>(to), (__m128i)numbers);
#endif
  std::memcpy(to, &numbers, N * sizeof(W));
}

/// Two numbers at a and two at b, in one register.
[[gnu::always_inline]] inline Lanes<float> first_halves(Lanes<float> a, Lanes<float> b) {
#if defined(__SSE2__)
  return _mm_movelh_ps(a, b);
#else
  return Lanes<float>{a[0], a[1], b[0], b[1]};
#endif
}
[[gnu::always_inline]] inline Lanes<float> halves_at(const float* a, const float* b) {
#if defined(__SSE2__)
  return _mm_loadh_pi(lanes_at<2>(a), reinterpret_cast<const __m64*>(b));
#else
  return Lanes<float>{a[0], a[1], b[0], b[1]};
#endif
}
[[gnu::always_inline]] inline void put_halves(Lanes<float> numbers, float* a, float* b) {
  put_lanes<2>(numbers, a);
#if defined(__SSE2__)
  _mm_storeh_pi(reinterpret_cast<__m64*>(b), numbers);
#else
  b[0] = numbers[2];
  b[1] = numbers[3];
#endif
}

/// Each of some values, times `scale` and rounded, at all places of a register.
template <class W, std::size_t N>
[[gnu::always_inline]] inline void spread(const double (&values)[N], double scale,
                                          Lanes<W> (&out)[N]) {
#if defined(__SSE2__)
  if constexpr (sizeof(W) == 4 && N == 4) {  // by twos
    const Pair front = {values[0], values[1]}, back = {values[2], values[3]};
    const __m128 all = _mm_movelh_ps(_mm_cvtpd_ps(front * scale), _mm_cvtpd_ps(back * scale));
    out[0] = _mm_shuffle_ps(all, all, 0x00);
    out[1] = _mm_shuffle_ps(all, all, 0x55);
    out[2] = _mm_shuffle_ps(all, all, 0xaa);
    out[3] = _mm_shuffle_ps(all, all, 0xff);
    return;
  }
#endif
  for (std::size_t k = 0; k < N; ++k) out[k] = Lanes<W>{} + static_cast<W>(values[k] * scale);
}

/// Adds them to sums in double.
[[gnu::always_inline]] inline void add_lanes(Lanes<double> numbers, Pair* sums) {
  *sums += numbers;
}
[[gnu::always_inline]] inline void add_lanes(Lanes<float> numbers, Pair* sums) {
#if defined(__SSE2__)
  sums[0] += _mm_cvtps_pd(numbers);
  sums[1] += _mm_cvtps_pd(_mm_movehl_ps(numbers, numbers));
#else
  sums[0] += Pair{numbers[0], numbers[1]};
  sums[1] += Pair{numbers[2], numbers[3]};
#endif
}

inline Lanes<float> square_root(Lanes<float> x) {
#if defined(__SSE2__)
  return _mm_sqrt_ps(x);
#else
  for (int k = 0; k < 4; ++k) x[k] = std::sqrt(x[k]);
  return x;
#endif
}

#if defined(__SSE2__)
inline Lanes<float> larger(Lanes<float> a, Lanes<float> b) { return _mm_max_ps(a, b); }
inline Lanes<float> smaller(Lanes<float> a, Lanes<float> b) { return _mm_min_ps(a, b); }
#endif

/// Where confidence, and the sum of squared gradients, end.
constexpr double most_precision = 1e30;

/// One step of some neighbours. `precisions` are P - 1.
template <class W>
struct ExpertStep {
  static constexpr std::size_t width = lanes_of<W>;
  Lanes<W> step, gain, fade;  ///< AROW: alpha, kappa, memory; AdaGrad: gradient, rate, memory

  [[gnu::always_inline]] void arow(W* weights, W* precisions, Lanes<W> x) const {
    const Lanes<W> p = lanes_at<width>(precisions);
    put_lanes<width>(lanes_at<width>(weights) + step * x / (1 + p), weights);
    put_lanes<width>(smaller(fade * (p + gain * (x * x)), limit()), precisions);
  }
  template <std::size_t N>
  [[gnu::always_inline]] void adagrad(W* weights, W* squares, Lanes<W> x) const {
    const auto [w, s] = after_adagrad(lanes_at<N>(weights), lanes_at<N>(squares), x);
    put_lanes<N>(w, weights);
    put_lanes<N>(s, squares);
  }
  /// The first two neighbours, for two values: half a register each. The squares stand `squares`
  /// behind the weights.
  [[gnu::always_inline]] void adagrad_twice(W* one, W* other, std::size_t squares, Lanes<W> x_one,
                                            Lanes<W> x_other) const {
    const ExpertStep twice = {first_halves(step, step), first_halves(gain, gain),
                              first_halves(fade, fade)};
    const auto [w, s] =
        twice.after_adagrad(halves_at(one, other), halves_at(one + squares, other + squares),
                            first_halves(x_one, x_other));
    put_halves(w, one, other);
    put_halves(s, one + squares, other + squares);
  }

 private:
  struct WeightsAndSquares {
    Lanes<W> weights, squares;
  };
  [[gnu::always_inline]] WeightsAndSquares after_adagrad(Lanes<W> weights, Lanes<W> squares,
                                                         Lanes<W> x) const {
    const Lanes<W> g = step * x, sum = fade * squares + g * g;
    const Lanes<W> least = Lanes<W>{} + std::numeric_limits<W>::min();
    return {weights + gain * g / square_root(larger(sum, least)), smaller(sum, limit())};
  }
  static Lanes<W> limit() { return Lanes<W>{} + static_cast<W>(most_precision); }
};

/// The steps of all experts and columns.
template <class W>
struct ExpertSteps {
  const W *step, *gain, *fade;
  template <std::size_t N>
  [[gnu::always_inline]] ExpertStep<W> at(std::size_t j) const {
    return {lanes_at<N>(step + j), lanes_at<N>(gain + j), lanes_at<N>(fade + j)};
  }
};

}  // namespace yarrow
