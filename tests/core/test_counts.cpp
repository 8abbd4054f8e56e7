// Counts by row and column against a plain matrix, under random additions and merges.
#include "activity/counts.hpp"

#include <array>
#include <random>

#include "check.hpp"

using namespace yarrow;

namespace {

constexpr int kRows = 7, kColumns = 9;
using Matrix = std::array<std::array<double, kColumns>, kRows>;

double total(const Matrix& plain, int row) {
  double sum = 0;
  for (const double amount : plain[row]) sum += amount;
  return sum;
}

void says_what_a_matrix_says(Counts& kept, const Matrix& plain, int row) {
  std::array<double, kColumns> shares{}, values{}, sum{};
  kept.add_share(row, 2.0, 60.0, shares);
  kept.add_rarity(row, 0.5, values, sum);
  const double all = total(plain, row);
  CHECK(kept.row(row).total == all);
  for (int column = 0; column < kColumns; ++column) {
    const double amount = plain[row][column];
    CHECK(kept.at(row, column) == amount);
    CHECK(std::abs(shares[column] - 2.0 * amount / (all + 60.0)) < 1e-12);
    CHECK(std::abs(values[column] - std::log((all + 1) / (all - amount + 1))) < 1e-12);
    CHECK(sum[column] == 0.5 * values[column]);
  }
}

void random_changes() {
  std::mt19937_64 random(3);
  Counts kept;
  Matrix plain{};
  kept.add(kRows - 1, 0, 0);
  for (int step = 0; step < 5000; ++step) {
    const int row = random() % kRows, column = random() % kColumns, into = random() % kColumns;
    if (step % 50 == 49 && column != into) {
      kept.merge(column, into);
      for (auto& amounts : plain) {
        amounts[into] += amounts[column];
        amounts[column] = 0;
      }
    } else {
      const double amount = static_cast<double>(random() % 9) - 4;
      kept.add(row, column, amount);
      plain[row][column] = std::max(plain[row][column] + amount, 0.0);
    }
    says_what_a_matrix_says(kept, plain, row);
  }
}

void what_does_not_fit_is_refused() {
  Counts kept;
  std::array<double, 2> two{};
  kept.add(0, 2, 1.0);
  CHECK_THROWS(kept.add_share(0, 1, 1, two), Error, "more columns");
  CHECK_THROWS(kept.add_share(1, 1, 1, two), Error, "no row 1");
  CHECK_THROWS(kept.add(-1, 0, 1), Error, "from 0");
  CHECK_THROWS(kept.add(1, 0, NAN), Error, "finite");
  CHECK(kept.size() == 1);
}

}  // namespace

int main() {
  random_changes();
  what_does_not_fit_is_refused();
  return check::failures();
}
