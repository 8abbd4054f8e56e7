// Many rivals at once: the answer meets the conditions of optimality, whatever the numbers.
#include "learner/rivals.hpp"

#include <cmath>
#include <random>

#include "check.hpp"

using namespace yarrow;

namespace {

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Steps a >= 0 with sum <= limit minimise 1/2 a'(c 11' + diag d)a - loss'a if and only if there is
/// a price nu >= 0 of the limit, 0 unless it is reached, such that c*sum + d_r*a_r + nu - loss_r is
/// 0 where a_r > 0 and not negative elsewhere.
void steps_are_optimal() {
  Random random(1);
  int limited = 0, partly = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<double> score(2 + random() % 12);
    const double spread_digits = uniform(random, 0, 6), loss_digits = uniform(random, -3, 3);
    for (double& s : score) s = std::pow(10, loss_digits) * uniform(random, -1, 1);
    const int truth = static_cast<int>(random() % score.size());
    const int most = static_cast<int>(random() % 6);
    Slack slack;
    if (i % 3 == 1) slack.limit = std::pow(10, uniform(random, -4, 1));
    if (i % 3 == 2) slack.curvature = std::pow(10, uniform(random, -3, 2));
    std::vector<Rival> rivals;
    gather_rivals(rivals, score, truth, most, [&](int) { return uniform(random, 0, 2); });
    CHECK(most == 0 || rivals.size() <= static_cast<std::size_t>(most));
    CHECK(std::is_sorted(rivals.begin(), rivals.end(), is_ahead));
    for (Rival& r : rivals) r.spread = std::pow(10, -uniform(random, 0, spread_digits));
    const double spread = std::pow(10, -uniform(random, 0, spread_digits));
    const double total = solve_rivals(rivals, spread, slack);
    double sum = 0, size = 1e-300;
    for (const Rival& r : rivals) {
      CHECK(r.step >= 0);
      sum += r.step;
      size = std::max(size, std::abs(r.loss));
    }
    CHECK(std::abs(sum - total) <= 1e-12 * std::max(1.0, sum));
    CHECK(total <= slack.limit * (1 + 1e-9));
    const bool at_limit = total >= slack.limit * (1 - 1e-9);
    const double c = spread + slack.curvature;
    double nu = 0;
    if (at_limit && rivals[0].step > 0)
      nu = rivals[0].loss - c * sum - rivals[0].spread * rivals[0].step;
    CHECK(nu >= -1e-9 * size);
    std::size_t active = 0;
    for (const Rival& r : rivals) {
      const double slope = c * sum + r.spread * r.step + nu - r.loss;
      CHECK(slope >= -1e-9 * size);
      CHECK(r.step == 0 || slope <= 1e-9 * size);
      active += r.step > 0;
    }
    limited += at_limit;
    partly += active > 1 && active < rivals.size();
  }
  CHECK(limited > 1000);
  CHECK(partly > 1000);
}

void ties_share_the_level_step() {
  std::vector<Rival> rivals = {{1, 0, 1}, {2, 0, 1}, {0, -1, 1}};
  CHECK(solve_rivals(rivals, 1, {.level_step = 3}) == 3);
  CHECK(rivals[0].step == 1.5 && rivals[1].step == 1.5 && rivals[2].step == 0);
  CHECK(solve_rivals({}, 1, {.level_step = 3}) == 0);
  rivals = {{1, -1e-300, 1}};
  CHECK(solve_rivals(rivals, 1, {.level_step = 3}) == 0);
}

void the_class_seen_first_wins_ties() {
  std::vector<Rival> rivals;
  gather_rivals(rivals, {0, 5, 0, 5, 5}, 0, 2, [](int) { return 1.0; });
  CHECK(rivals.size() == 2 && rivals[0].column == 1 && rivals[1].column == 3);
}

}  // namespace

int main() {
  steps_are_optimal();
  ties_share_the_level_step();
  the_class_seen_first_wins_ties();
  return check::failures();
}
