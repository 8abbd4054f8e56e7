"""Passive-Aggressive learners that forget, for streams that drift (Shen & Dietterich 2009)."""

from __future__ import annotations

from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import HARD, ForgettingRule, UpdateOn, price_or_none, update_on
from yarrow.estimator import estimator
from yarrow.linear_model.affine import AffineFamily
from yarrow.parameters import number


@estimator
class RegularizedPAClassifier(ForgettingRule, AffineFamily, LinearClassifier):
    """Passive-Aggressive with a penalty on large weights (Shen & Dietterich 2009).

    With alpha/2*|w|**2 in its objective, every update also shrinks all weights by 1/(1 + alpha), so
    that old rows fade; rows whose margin is reached change nothing. With `C`, a margin may fall
    short by xi at the price C*xi**2; a sample weight multiplies C and has no effect without it.
    Rows of zeros are left alone.
    Use it under drift. Instead: `NormConstrainedPAClassifier`, which shrinks only what has grown
    too large.
    """

    alpha: float = number(default=0.001, doc="How much each update shrinks old weights.", above=0)
    C: float | None = price_or_none()
    update: UpdateOn = update_on()

    class_weight_fails = HARD

    core_rule = "regularized_pa"


@estimator
class NormConstrainedPAClassifier(AffineFamily, LinearClassifier):
    """Passive-Aggressive within the ball |w| <= beta, intercept included (Shen & Dietterich 2009).

    Each step is the smallest change that gives the row a margin of 1 without leaving the ball. Rows
    too short to have that margin within it (beta*|x| <= 1, the constant feature included) are left
    alone. Constraints have no price, so a sample weight has no effect.
    Use it under drift. Instead: `PassiveAggressiveClassifier` where nothing drifts.
    """

    beta: float = number(
        default=10.0, doc="The largest norm of the weights; above 1/|x| of the rows.", above=0
    )

    class_weight_fails = HARD

    core_rule = "norm_constrained_pa"
