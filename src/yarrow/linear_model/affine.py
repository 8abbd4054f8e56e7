"""First-order learners, `w <- a*w + b*z`: Perceptron, Passive-Aggressive, gradient descent."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np

from yarrow import _core
from yarrow._core import rules
from yarrow.estimator import estimator
from yarrow.linear_model.classifier import CalibratedProbabilities, LinearClassifier, normalised
from yarrow.linear_model.regressor import LinearRegressor
from yarrow.linear_model.rivals import CostSensitiveClassifier
from yarrow.parameters import choice, flag, number
from yarrow.stream.arrays import Array


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


@estimator
class OGDClassifier(AffineFamily, CalibratedProbabilities, LinearClassifier):
    """Online gradient descent (Zinkevich 2003) with the rate eta0 / t**power.

    Use it with `loss='logistic'` where probabilities are wanted; only then is there a
    `predict_proba`. Instead: `AROWClassifier` where features differ much in frequency.

    >>> model = OGDClassifier(loss="logistic")
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> model.predict_proba_one({"rain": 1})["wet"] > 0.7
    True
    """

    loss: Literal["hinge", "squared_hinge", "logistic", "squared"] = choice(
        default="hinge",
        options=("hinge", "squared_hinge", "logistic", "squared"),
        doc="What a small margin costs.",
    )
    eta0: float = number(default=0.5, doc="The first step's size.", above=0)
    power: float = number(
        default=0.5, doc="How fast steps shrink: eta0 / t**power.", at_least=0, at_most=1
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return {
            "hinge": rules.ogd_hinge,
            "squared_hinge": rules.ogd_squared_hinge,
            "logistic": rules.ogd_logistic,
            "squared": rules.ogd_squared,
        }[self.loss]

    def __getattribute__(self, name: str) -> Any:
        # scikit-learn asks for the attribute, river calls the method and waits for its refusal.
        if name.startswith("predict_proba") and self.loss != "logistic":
            if name == "predict_proba":
                raise AttributeError("predict_proba is there for loss='logistic' only")
            return LinearClassifier.__dict__[name].__get__(self)
        return super().__getattribute__(name)

    def _probabilities(self, scores: Array, variances: Array) -> Array:
        if scores.shape[1] <= 2 and self.multiclass == "ovr":
            positive = scores[:, -1:] if scores.shape[1] == 2 else np.full_like(scores, np.inf)
            second = 0.5 * (1 + np.tanh(0.5 * positive))
            return np.hstack([1 - second, second]) if scores.shape[1] == 2 else second
        if self.multiclass == "top1":
            shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
            return normalised(shifted)
        return normalised(0.5 * (1 + np.tanh(0.5 * scores)))


@estimator
class OGDRegressor(AffineFamily, LinearRegressor):
    """Online gradient descent on the squared error, with the rate eta0 / t**power.

    Use it on scaled features. Instead: `PassiveAggressiveRegressor` where scales are unknown.

    >>> model = OGDRegressor(eta0=0.3, power=0.0)
    >>> for _ in range(50):
    ...     model.learn_one({"x": 1.0}, 3.0)
    >>> round(model.predict_one({"x": 1.0}), 2)
    3.0
    """

    eta0: float = number(default=0.01, doc="The first step's size.", above=0)
    power: float = number(
        default=0.25, doc="How fast steps shrink: eta0 / t**power.", at_least=0, at_most=1
    )
    _: dataclasses.KW_ONLY
    average: bool = flag(default=False, doc=AVERAGE)

    def _rule(self) -> _core.Rule:
        return rules.ogd_squared
