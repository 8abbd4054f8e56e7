"""First-order learners, `w <- a*w + b*z`: Perceptron and Passive-Aggressive."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.base.regressor import LinearRegressor
from yarrow.base.rivals import CostSensitiveClassifier
from yarrow.estimator import estimator
from yarrow.parameters import choice, flag, number


class AffineFamily:
    """The affine loop."""

    family: ClassVar[str] = "affine"
    can_average: ClassVar[bool] = True

    def _loop(self) -> _core.Loop:
        return _core.Loop.affine


AVERAGE = "Predict with the average of all past weights: steadier on noise, slower under drift."


@estimator
class Perceptron(AffineFamily, LinearClassifier):
    """The Perceptron of Rosenblatt (1958): on a mistake, add the row to its class's weights.

    Use it as the baseline that every other learner must beat, with `average=True` for text.
    Instead: `PassiveAggressiveClassifier` for larger margins, `AROWClassifier` for most work.

    >>> model = Perceptron()
    >>> model.learn_one({"cheap": 1, "pills": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"cheap": 1, "lunch": 0.1})
    'spam'
    """

    margin: float = number(
        default=0.0, doc="Also update rows whose margin is not above this.", at_least=0
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return rules.perceptron


@estimator
class PassiveAggressiveClassifier(AffineFamily, CostSensitiveClassifier):
    """Passive-Aggressive (Crammer et al. 2006): the smallest change that gives the row its margin.

    Use it on clean data with large margins, such as long texts. A sample weight multiplies C and
    has no effect on the variant without a price, 'pa'.
    Instead: `AROWClassifier` where labels are noisy.

    >>> import numpy as np
    >>> model = PassiveAggressiveClassifier(C=1.0).partial_fit(np.eye(2), ["a", "b"])
    >>> model.predict(np.eye(2)).tolist()
    ['a', 'b']
    """

    C: float = number(
        default=1.0, doc="Price of a row that keeps a loss; small is cautious.", above=0
    )
    variant: Literal["pa", "pa1", "pa2"] = choice(
        default="pa1",
        options=("pa", "pa1", "pa2"),
        doc="Without slack; with slack priced C*xi; with slack priced C*xi**2.",
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return {"pa": rules.pa, "pa1": rules.pa1, "pa2": rules.pa2}[self.variant]


@estimator
class PassiveAggressiveRegressor(AffineFamily, LinearRegressor):
    """Passive-Aggressive regression (Crammer et al. 2006).

    It makes the smallest change that brings the prediction within `epsilon` of the target.

    Use it for targets with few outliers. Instead: `OGDRegressor` with a decaying rate.

    >>> model = PassiveAggressiveRegressor(epsilon=0.0)
    >>> model.learn_one({"x": 1.0}, 3.0)
    >>> round(model.predict_one({"x": 1.0}), 3)
    2.0
    """

    C: float = number(
        default=1.0, doc="Price of a row that keeps a loss; small is cautious.", above=0
    )
    epsilon: float = number(default=0.1, doc="Errors up to this are no errors.", at_least=0)
    variant: Literal["pa", "pa1", "pa2"] = choice(
        default="pa1",
        options=("pa", "pa1", "pa2"),
        doc="Without slack; with slack priced C*xi; with slack priced C*xi**2.",
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return {"pa": rules.pa, "pa1": rules.pa1, "pa2": rules.pa2}[self.variant]

    def _epsilon(self) -> float:
        return self.epsilon
