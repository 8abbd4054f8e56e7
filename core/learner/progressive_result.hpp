#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "error.hpp"
#include "state/calibration.hpp"

namespace yarrow {

/// What a model said of rows before it learned them.
struct ProgressiveResult {
  std::int64_t delay = 0;  ///< a row is learned when so many rows after it have been predicted
  bool wants_scores = true;
  bool wants_uncertainty =
      false;  ///< what makes probabilities of scores: variances and calibrations
  std::vector<double> predictions;   ///< class numbers (-1: none was known), or values
  std::vector<double> scores;        ///< `width` numbers a row; NaN: the class was not known yet
  std::vector<double> variances;     ///< of the margins, in the same places
  std::vector<double> calibrations;  ///< two numbers a row, as they were when it was predicted
  std::size_t width = 1;

  void start(std::size_t rows, std::size_t classes) {
    width = classes;
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    predictions.assign(rows, -1);
    if (wants_scores) scores.assign(rows * width, unknown);
    if (wants_uncertainty) variances.assign(rows * width, unknown);
    if (wants_uncertainty) calibrations.assign(rows * 2, unknown);
  }
  void note(std::int64_t row, double prediction, const std::vector<double>& found) {
    predictions[row] = prediction;
    if (wants_scores) put(found, scores, row);
  }
  void note_uncertainty(std::int64_t row, const std::vector<double>& found,
                        const Calibration& now) {
    if (!wants_uncertainty) return;
    put(found, variances, row);
    calibrations[2 * row] = now.c;
    calibrations[2 * row + 1] = now.lapse;
  }

 private:
  void put(const std::vector<double>& found, std::vector<double>& to, std::int64_t row) const {
    if (found.size() > width) throw Error("this model has more scores than classes");
    std::copy(found.begin(), found.end(), to.begin() + row * static_cast<std::int64_t>(width));
  }
};

}  // namespace yarrow
