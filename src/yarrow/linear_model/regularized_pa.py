"""Passive-Aggressive learners that forget, for streams that drift (Shen & Dietterich 2009)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.estimator import estimator
from yarrow.linear_model.affine import AVERAGE, AffineFamily
from yarrow.parameters import choice, flag, number


@estimator
class RegularizedPAClassifier(AffineFamily, LinearClassifier):
    """Passive-Aggressive with a penalty on large weights (Shen & Dietterich 2009).

    With alpha/2*|w|**2 in its objective, every update also shrinks all weights by 1/(1 + alpha), so
    that old rows fade; rows whose margin is reached change nothing. With `C`, a margin may fall
    short by xi at the price C*xi**2; a sample weight multiplies C and has no effect without it.
    Rows of zeros are left alone.
    Use it under drift. Instead: `NormConstrainedPAClassifier`, which shrinks only what has grown
    too large.

    >>> model = RegularizedPAClassifier()
    >>> model.learn_one({"cheap": 1, "pills": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"pills": 1})
    'spam'
    """

    alpha: float = number(default=0.001, doc="How much an update forgets.", above=0)
    C: float | None = number(
        default=None, doc="Price of a row that misses its margin; None: no row may.", above=0
    )
    update: Literal["margin", "mistakes"] = choice(
        default="margin",
        options=("margin", "mistakes"),
        doc="Learn from rows whose margin is below 1, or from mistakes only, as the bounds assume.",
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    expected_failed_checks: ClassVar[dict[str, str]] = {
        **LinearClassifier.expected_failed_checks,
        "check_class_weight_classifiers": (
            "without C, a hard constraint has no price that a class weight could multiply"
        ),
    }

    def _rule(self) -> _core.Rule:
        hard = {"margin": rules.regularized_pa, "mistakes": rules.regularized_pa_on_mistakes}
        soft = {
            "margin": rules.soft_regularized_pa,
            "mistakes": rules.soft_regularized_pa_on_mistakes,
        }
        return (hard if self.C is None else soft)[self.update]


@estimator
class NormConstrainedPAClassifier(AffineFamily, LinearClassifier):
    """Passive-Aggressive within the ball |w| <= beta, intercept included (Shen & Dietterich 2009).

    Each step is the smallest change that gives the row a margin of 1 without leaving the ball. Rows
    too short to have that margin within it (beta*|x| <= 1, the constant feature included) are left
    alone. Constraints have no price, so a sample weight has no effect.
    Use it under drift. Instead: `PassiveAggressiveClassifier` where nothing drifts.

    >>> model = NormConstrainedPAClassifier(beta=5.0)
    >>> model.learn_one({"cheap": 1, "pills": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"pills": 1})
    'spam'
    """

    beta: float = number(
        default=10.0, doc="The largest norm of the weights; above 1/|x| of the rows.", above=0
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    expected_failed_checks: ClassVar[dict[str, str]] = {
        **LinearClassifier.expected_failed_checks,
        "check_class_weight_classifiers": (
            "a hard constraint has no price that a class weight could multiply"
        ),
    }

    def _rule(self) -> _core.Rule:
        return rules.norm_constrained_pa
