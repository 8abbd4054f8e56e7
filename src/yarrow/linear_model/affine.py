"""First-order learners, `w <- a*w + b*z`: Perceptron and Passive-Aggressive."""

from __future__ import annotations

import dataclasses
from typing import Literal

from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import (
    Averaging,
    PassiveAggressiveRule,
    PAVariant,
    pa_loss,
    pa_restrictions,
    pa_variant,
    price,
)
from yarrow.base.regressor import LinearRegressor
from yarrow.base.rivals import CostSensitiveClassifier
from yarrow.estimator import estimator
from yarrow.parameters import number


class AffineLoop:
    """The affine loop."""

    family = "affine"
    core_learner = "affine"


class AffineFamily(Averaging, AffineLoop):
    """The same, with `average`."""


@estimator
class Perceptron(AffineFamily, LinearClassifier):
    """The Perceptron of Rosenblatt (1958): on a mistake, add the row to its class's weights.

    Use it as the baseline that every other learner must beat, with `average=True` for text.
    Instead: `PassiveAggressiveClassifier` for larger margins, `AROWClassifier` for most work.
    """

    margin: float = number(
        default=0.0, doc="Also update rows whose margin is not above this.", at_least=0
    )

    core_rule = "perceptron"


@estimator
class PassiveAggressiveClassifier(PassiveAggressiveRule, AffineFamily, CostSensitiveClassifier):
    """Passive-Aggressive (Crammer et al. 2006): the smallest change that gives the row its margin.

    Use it on clean data with large margins, such as long texts. A sample weight multiplies C and
    has no effect on the variant without a price, 'pa'.
    Instead: `AROWClassifier` where labels are noisy.

    >>> import numpy as np
    >>> model = PassiveAggressiveClassifier(C=1.0).partial_fit(np.eye(2), ["a", "b"])
    >>> model.predict(np.eye(2)).tolist()
    ['a', 'b']
    """

    C: float = price()
    variant: PAVariant = pa_variant()
    _: dataclasses.KW_ONLY
    loss: Literal["hinge", "squared_hinge"] | None = pa_loss("hinge", "squared_hinge")

    restrictions = (
        *CostSensitiveClassifier.restrictions,
        *pa_restrictions("hinge", "squared_hinge"),
    )


@estimator
class PassiveAggressiveRegressor(PassiveAggressiveRule, AffineFamily, LinearRegressor):
    """Passive-Aggressive regression (Crammer et al. 2006).

    It makes the smallest change that brings the prediction within `epsilon` of the target.

    Use it for targets with few outliers. Instead: `OGDRegressor` with a decaying rate.

    >>> model = PassiveAggressiveRegressor(epsilon=0.0)
    >>> model.learn_one({"x": 1.0}, 3.0)
    >>> round(model.predict_one({"x": 1.0}), 3)
    2.0
    """

    C: float = price()
    epsilon: float = number(default=0.1, doc="Errors up to this are no errors.", at_least=0)
    variant: PAVariant = pa_variant()
    _: dataclasses.KW_ONLY
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] | None = pa_loss(
        "epsilon_insensitive", "squared_epsilon_insensitive"
    )

    restrictions = pa_restrictions("epsilon_insensitive", "squared_epsilon_insensitive")

    def _epsilon(self) -> float:
        return self.epsilon
