// The limit the toolkit is measured against: one pass of PA-I and of diagonal AROW over CSR,
// written by hand for exactly one input (int32 indices, float32 values, labels -1 and +1), with an
// intercept (one more feature, of value 1, whose weight comes last). The arithmetic is the
// toolkit's, in double and rounded once, so that the weights must agree bit for bit.
//
// The input is checked, and a call learns all rows or none. To read the rows from memory only once,
// each is checked just before it is learned, and learning happens on a copy of the weights.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

struct Csr {
  std::int64_t rows;
  std::int32_t features;
  const std::int32_t* start;
  const std::int32_t* index;
  const float* value;
  const std::int64_t* label;
};

struct Row {
  std::int32_t size;
  const std::int32_t* index;
  const float* value;
  double label;
};

struct Gaussian {
  float mean, variance;
};

// Finite values, indices within range, a label of -1 or +1. No early exit: it would keep the
// compiler from using vector instructions.
bool is_valid(const Row& row, std::int32_t features) {
  const std::uint32_t infinity = 0x7f800000u;
  std::uint32_t wrong = row.size < 0 || (row.label != 1 && row.label != -1);
  for (std::int32_t k = 0; k < row.size; ++k) {
    std::uint32_t bits;
    std::memcpy(&bits, row.value + k, sizeof bits);
    wrong |= (bits & infinity) == infinity;
    wrong |= static_cast<std::uint32_t>(row.index[k]) >= static_cast<std::uint32_t>(features);
  }
  return !wrong;
}

// Four sums instead of one, so that an addition need not wait for the one before it.
template <class Term>
double sum(const Row& row, Term term) {
  double lanes[4] = {};
  std::int32_t k = 0;
  for (; k + 4 <= row.size; k += 4)
    for (int lane = 0; lane < 4; ++lane)
      lanes[lane] += term(row.index[k + lane], double(row.value[k + lane]));
  for (int lane = 0; k < row.size; ++k, ++lane)
    lanes[lane] += term(row.index[k], double(row.value[k]));
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

// Returns the number of rows that changed the weights, or -1 (nothing learned) for invalid input.
template <class Weight, class Learn>
std::int64_t one_pass(const Csr& x, Weight* weights, Learn learn) {
  std::vector<Weight> copy(weights, weights + x.features + 1);
  std::int64_t updates = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const std::int32_t at = x.start[i];
    const Row row = {x.start[i + 1] - at, x.index + at, x.value + at, double(x.label[i])};
    if (!is_valid(row, x.features)) return -1;
    updates += learn(copy.data(), copy[x.features], row);
  }
  std::copy(copy.begin(), copy.end(), weights);
  return updates;
}

}  // namespace

// The limit for predicting: the rows of a CSR matrix of float64 times the weights. Some rows at a
// time are rounded to float32 and checked, so that both loops run over many numbers and what they
// leave is still in the cache when it is summed. Returns 0, or -1 for invalid input.
extern "C" std::int64_t product(std::int64_t rows, std::int32_t features, const std::int32_t* start,
                                const std::int32_t* index, const double* value,
                                const float* weights, double* scores) {
  constexpr std::int32_t most = 16384;
  std::vector<float> rounded(most);
  for (std::int64_t i = 0; i < rows;) {
    const std::int32_t at = start[i];
    std::int64_t end = i;
    do {
      if (start[end + 1] < start[end]) return -1;
      ++end;
    } while (end < rows && start[end + 1] - at <= most);
    const std::int32_t size = start[end] - at;
    if (rounded.size() < static_cast<std::size_t>(size)) rounded.resize(size);
    for (std::int32_t k = 0; k < size; ++k) rounded[k] = static_cast<float>(value[at + k]);
    if (!is_valid({size, index + at, rounded.data(), 1}, features)) return -1;
    for (; i < end; ++i) {
      const Row row = {start[i + 1] - start[i], index + start[i], rounded.data() + start[i] - at,
                       1};
      scores[i] = sum(row, [weights](std::int32_t j, double x) { return x * weights[j]; }) +
                  weights[features];
    }
  }
  return 0;
}

// min |w - w_t|^2 / 2 + C * hinge(w; x, y): w += min(C, loss / |x|^2) * y * x (Crammer et al.
// 2006).
extern "C" std::int64_t pa1(std::int64_t rows, std::int32_t features, const std::int32_t* start,
                            const std::int32_t* index, const float* value,
                            const std::int64_t* label, double C, float* weights) {
  const auto learn = [C](float* w, float& intercept, const Row& row) {
    const double score = sum(row, [w](std::int32_t j, double x) { return x * w[j]; }) + intercept;
    const double loss = 1 - row.label * score;
    if (loss <= 0) return false;
    const double norm = sum(row, [](std::int32_t, double x) { return x * x; }) + 1;
    const double step = row.label * std::min(C, loss / norm);
    for (std::int32_t k = 0; k < row.size; ++k) {
      float& weight = w[row.index[k]];
      weight = static_cast<float>(weight + step * row.value[k]);
    }
    intercept = static_cast<float>(intercept + step);
    return true;
  };
  return one_pass(Csr{rows, features, start, index, value, label}, weights, learn);
}

// AROW with a diagonal covariance S (Crammer et al. 2009): mean += loss / (x'Sx + r) * y * S x, and
// the precision 1/S grows by x^2 / r. Mean and variance of a feature lie side by side.
extern "C" std::int64_t arow(std::int64_t rows, std::int32_t features, const std::int32_t* start,
                             const std::int32_t* index, const float* value,
                             const std::int64_t* label, double r, Gaussian* weights) {
  const auto learn = [r](Gaussian* w, Gaussian& intercept, const Row& row) {
    const double score =
        sum(row, [w](std::int32_t j, double x) { return x * w[j].mean; }) + intercept.mean;
    const double loss = 1 - row.label * score;
    if (loss <= 0) return false;
    const double variance =
        sum(row, [w](std::int32_t j, double x) { return x * x * w[j].variance; }) +
        intercept.variance;
    const double step = row.label * (loss / (variance + r)), kappa = 1 / r;
    const auto move = [=](Gaussian& g, double x) {
      const double s = g.variance;
      g.mean = static_cast<float>(g.mean + step * s * x);
      g.variance = static_cast<float>(s / (1 + kappa * s * x * x));
    };
    for (std::int32_t k = 0; k < row.size; ++k) move(w[row.index[k]], row.value[k]);
    move(intercept, 1);
    return true;
  };
  return one_pass(Csr{rows, features, start, index, value, label}, weights, learn);
}
