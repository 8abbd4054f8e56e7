#pragma once
#include <cmath>

#include "lanes.hpp"
#include "row.hpp"

// Naive Bayes, one-versus-rest: how much more often rows of a class have a feature than the rest.
// With h hits among n visits of a feature, H among N of all features,
//   evidence = sum over the row's features of log((h + a)/(n - h + a)) + log((N - H + c)/(H + c)),
// where a and c smooth the counts. Counting needs no errors to learn from, so that it is ahead of
// all others while rows are few. Features never seen before say nothing.

namespace yarrow {

/// log(a/b) of positive numbers; in float to about the last digit: a = m*2^e, b = o*2^f, and the
/// logarithm of m/o is a short series in (m - o)/(m + o).
[[gnu::always_inline]] inline Lanes<float> log_ratio(Lanes<float> a, Lanes<float> b) {
  using Bits = LaneBits<float>;
  constexpr int digits = 23, fraction = (1 << digits) - 1;
  const Bits one = (Bits)(Lanes<float>{} + 1), x = (Bits)a, y = (Bits)b;
  const Lanes<float> m = (Lanes<float>)((x & fraction) | one);
  const Lanes<float> o = (Lanes<float>)((y & fraction) | one);
  const Lanes<float> powers = __builtin_convertvector((x >> digits) - (y >> digits), Lanes<float>);
  const Lanes<float> s = (m - o) / (m + o), q = s * s;
  const Lanes<float> series =
      ((((q / 11.0F + 1 / 9.0F) * q + 1 / 7.0F) * q + 1 / 5.0F) * q + 1 / 3.0F) * q + 1;
  return powers * 0.6931471805599453F + 2 * s * series;
}
inline Lanes<double> log_ratio(Lanes<double> a, Lanes<double> b) {
  return Lanes<double>{std::log(a[0] / b[0]), std::log(a[1] / b[1])};
}

/// What the hits among some visits say.
template <class W>
[[gnu::always_inline]] inline Lanes<W> log_odds(Lanes<W> hits, Lanes<W> visits, W smoothing) {
  return log_ratio(hits + smoothing, larger(visits - hits, Lanes<W>{}) + smoothing);
}
inline double log_odds(double hits, double visits, double smoothing) {
  return std::log((hits + smoothing) / (visits - hits + smoothing));
}

/// Evidence of up to four features as a product of odds, so that it takes one logarithm. Counts end
/// at 2^23 (standardized.hpp), and four of these multiplied are far from the end of float32.
template <class W>
struct Odds {
  static constexpr std::size_t most = 4;
  Lanes<W> yes = Lanes<W>{} + 1, no = yes;

  [[gnu::always_inline]] void multiply(Lanes<W> hits, Lanes<W> visits, W smoothing) {
    yes *= hits + smoothing;
    no *= larger(visits - hits, Lanes<W>{}) + smoothing;
  }
  [[gnu::always_inline]] Lanes<W> log() const { return log_ratio(yes, no); }
};

/// Sums of evidence, of one column, whose numbers another walk brings: a register of neighbouring
/// values at a time.
template <class W>
struct EvidenceSum {
  W smoothing;
  Odds<W> odds{};
  std::size_t pending = 0;
  double sum = 0;

  [[gnu::always_inline]] void add(Lanes<W> hits, Lanes<W> visits, LaneBits<W> known) {
    const Lanes<W> none{}, one = none + (1 - smoothing);  // smoothed, it is a factor of one
    odds.multiply(known ? hits : one, known ? visits : one + one, smoothing);
    if (++pending == Odds<W>::most) take();
  }
  [[gnu::always_inline]] void take() {
    const Lanes<W> said = odds.log();
    for (std::size_t k = 0; k < lanes_of<W>; ++k) sum += static_cast<double>(said[k]);
    odds = {};
    pending = 0;
  }
};

/// The same for many columns, whose hits stand side by side, and with the same bits: the odds of
/// values that are a register apart are multiplied. Whole registers of columns are read and summed:
/// there have to be numbers behind the last column's hits, and room behind its sum.
template <class W>
void sum_evidence(const Row<W>& row, const W* first, std::size_t stride, std::size_t hits,
                  std::size_t visits, std::size_t columns, W smoothing, double* sums) {
  constexpr std::size_t width = lanes_of<W>;
  for (std::size_t begin = 0; begin < row.size; begin += Odds<W>::most * width) {
    const std::size_t end = std::min(begin + Odds<W>::most * width, row.size);
    for (std::size_t lane = begin; lane < std::min(begin + width, end); ++lane) {
      const W* blocks[Odds<W>::most];
      std::size_t known = 0;
      for (std::size_t i = lane; i < end; i += width) {
        blocks[known] = first + row.index[i] * stride;
        known += blocks[known][visits] > 0;
      }
      if (known == 0) continue;
      for (std::size_t j = 0; j < columns; j += width) {
        Odds<W> odds;
        for (std::size_t b = 0; b < known; ++b)
          odds.multiply(lanes_at<width>(blocks[b] + hits + j), Lanes<W>{} + blocks[b][visits],
                        smoothing);
        std::size_t at = j;
        for (const Pair both : in_double(odds.log())) {
          put_pair_at(pair_at(sums + at) + both, sums + at);
          at += 2;
        }
      }
    }
  }
}

}  // namespace yarrow
