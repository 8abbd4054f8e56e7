#pragma once
#include <limits>

// A rule is a pure function of scalars: it is told about one row and answers with two numbers.
// Loops own everything else (walking the row, classes, growth, averaging, saving).

namespace yarrow {

/// What a loop tells a rule about one row. `z` is the signed example: `y*x` for two classes or a
/// regression residual of sign y, `x` on the true class and `-x` on the rival for many classes.
struct RuleInput {
  double margin;   ///< z.w before the update
  double target;   ///< the margin asked for: 1, a cost, or (regression) |y| side minus epsilon
  double zz;       ///< |z|^2, intercept included
  double ww;       ///< |w|^2, intercept included (affine family)
  double v;        ///< z' Sigma z (confidence family); |z|^2 in the weights' dual norm (mirror)
  double weight;   ///< sample weight times class weight; never 0
  double t;        ///< rows learned so far, this one included
  double updates;  ///< updates made before this row
  double memory;   ///< what the rule itself left for this column at an earlier row; 0 at first
};

/// affine family: w <- a*w + b*z
struct Affine {
  double a, b;
};

/// The same for a rule that keeps one number of its own a column: a count, a moving margin.
struct AffineKeeping {
  double a, b, memory;
};

/// confidence family: mu += alpha*Sigma*z, and the precision grows by kappa*z*z'
struct Confidence {
  double alpha, kappa;
};

/// proximal family: the dual or primal weights move by b*z; the pull towards zero follows lazily
struct Gradient {
  double b;
};

/// where a loop solves the row's own problem: the margin to reach, 0 for none, and 1/(2C), the
/// price of missing it
struct MarginConstraint {
  double margin, slack;
};

/// The plain C signature behind which every rule stands, built-in or a user's: three pointers to
/// doubles. `parameters` holds the hyper-parameters in the order in which the rule names them;
/// `step` has room for the two answers and for a new `memory`, which stays if nothing is written.
using Rule = void (*)(const RuleInput* input, const double* parameters, double* step);

/// What a rule asks for when it meets many rivals at once.
struct Slack {
  double target = 1;  ///< the margin asked for, per unit of cost
  double limit = std::numeric_limits<double>::infinity();  ///< slack priced limit*xi
  double curvature = 0;                                    ///< slack priced xi^2/(2*curvature)
  double kappa = 1;       ///< growth of the precision (confidence family)
  double level_step = 0;  ///< shared by rivals exactly level with the target, if none is above
};

/// The many-rivals form of a rule: a pure function, like the rule itself.
using SlackForm = Slack (*)(double weight, const double* parameters);

/// The C form of a rule written as a C++ function that returns its step by value.
template <auto F>
void as_rule(const RuleInput* input, const double* parameters, double* step) {
  const auto result = F(*input, parameters);
  if constexpr (requires { result.a; }) {
    step[0] = result.a;
    step[1] = result.b;
    if constexpr (requires { result.memory; }) step[2] = result.memory;
  } else if constexpr (requires { result.alpha; }) {
    step[0] = result.alpha;
    step[1] = result.kappa;
  } else if constexpr (requires { result.slack; }) {
    step[0] = result.margin;
    step[1] = result.slack;
  } else {
    step[0] = result.b;
    step[1] = 0;
  }
}

}  // namespace yarrow
