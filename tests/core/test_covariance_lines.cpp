// The walks over a full covariance give the same bits with wide registers and without.
#include "yarrow/covariance_lines.hpp"

#include <random>
#include <vector>

#include "check.hpp"

using namespace yarrow;

namespace {

#if defined(__x86_64__)
void wide_and_plain_agree() {
  std::mt19937 generator(0);
  std::normal_distribution<float> normal;
  for (std::size_t size = 1; size <= 65; ++size) {
    const std::size_t line = (size + 3) / 4 * 4;
    std::vector<float> lines(size * line), values(size - 1), wide(line), plain(line);
    for (float& x : lines) x = normal(generator);
    std::vector<Index> places;
    for (std::size_t i = 0; i + 1 < size; ++i) {
      values[i] = normal(generator);
      places.push_back(static_cast<Index>((i * 7) % (size - 1)));
    }
    const Row<float> row{places.data(), values.data(), values.size()};
    multiply_wide(lines.data(), line, 0.5F, row, 0.3F, wide.data());
    for (std::size_t j = 0; j < line; j += 4)
      multiply_some<1>(1, lines.data() + j, line, 0.5F, row, 0.3F, plain.data() + j);
    CHECK(wide == plain);
    std::vector<float> other = lines;
    take_away_wide(lines.data(), size, line, wide.data(), 0.7F);
    take_away_lines(other.data(), size, line, wide.data(), 0.7F);
    CHECK(lines == other);
  }
}
#endif

}  // namespace

int main() {
#if defined(__x86_64__)
  if (has_wide_registers()) wide_and_plain_agree();
#endif
  return check::failures();
}
