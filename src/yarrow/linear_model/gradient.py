"""Gradient descent, with and without a penalty on large weights: OGD, Pegasos, ASGD, NORMA."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import (
    averaging,
    check_rate,
    error_margin,
    first_step,
    loss,
    step_power,
)
from yarrow.base.probabilities import LogisticProbabilities
from yarrow.base.regressor import LinearRegressor
from yarrow.estimator import estimator
from yarrow.linear_model.affine import AffineFamily, AffineLoop
from yarrow.parameters import choice, flag, number

RADIUS = "Keep the weights in a ball of this radius around 0, intercept included; None: no ball."


@estimator
class OGDClassifier(AffineLoop, LogisticProbabilities, LinearClassifier):
    """Online gradient descent (Zinkevich 2003) with the rate eta0 / t**power.

    Use it with `loss='logistic'` where probabilities are wanted; only then is there a
    `predict_proba`. A sample weight multiplies the step. The power 0 keeps the rate constant, 0.5
    and 1 give c/sqrt(t) and c/t; with `count_mistakes=True`, t counts the rows so far whose margin
    was not above 0, for each class's weights on their own.
    Instead: `AROWClassifier` where features differ much in frequency.

    >>> model = OGDClassifier(loss="logistic")
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> model.predict_proba_one({"rain": 1})["wet"] > 0.7
    True
    """

    loss: Literal["hinge", "squared_hinge", "logistic", "exponential", "squared"] = loss(
        "hinge", "hinge", "squared_hinge", "logistic", "exponential", "squared"
    )
    eta0: float = first_step()
    power: float = step_power()
    _: dataclasses.KW_ONLY
    count_mistakes: bool = flag(
        default=False, doc="Let the steps shrink with the mistakes made instead of the rows seen."
    )
    radius: float | None = number(default=None, doc=RADIUS, above=0)
    average: bool = averaging()

    core_rule = "ogd_{loss}"

    def _rule_parameters(self) -> list[float]:
        radius = math.inf if self.radius is None else self.radius
        return [self.eta0, self.power, float(self.count_mistakes), radius]


@estimator
class OGDRegressor(AffineLoop, LinearRegressor):
    """Online gradient descent (Zinkevich 2003) on the error, with the rate eta0 / t**power.

    Use it on scaled features; with `loss='epsilon_insensitive'` where some targets are far off. A
    sample weight multiplies the step.
    Instead: `PassiveAggressiveRegressor` where scales are unknown.

    >>> model = OGDRegressor(eta0=0.3, power=0.0)
    >>> for _ in range(50):
    ...     model.learn_one({"x": 1.0}, 3.0)
    >>> round(model.predict_one({"x": 1.0}), 2)
    3.0
    """

    eta0: float = first_step(0.01)
    power: float = step_power(0.25)
    _: dataclasses.KW_ONLY
    loss: Literal["squared", "epsilon_insensitive", "squared_epsilon_insensitive"] = choice(
        default="squared",
        options=("squared", "epsilon_insensitive", "squared_epsilon_insensitive"),
        doc="Loss function of the error; the last two count what exceeds epsilon.",
    )
    epsilon: float = error_margin()
    radius: float | None = number(default=None, doc=RADIUS, above=0)
    average: bool = averaging()

    def _rule(self) -> _core.Rule:
        # For the side on which the target lies, the insensitive losses are hinge losses.
        return {
            "squared": rules.ogd_squared,
            "epsilon_insensitive": rules.ogd_hinge,
            "squared_epsilon_insensitive": rules.ogd_squared_hinge,
        }[self.loss]

    def _rule_parameters(self) -> list[float]:
        return [self.eta0, self.power, 0.0, math.inf if self.radius is None else self.radius]

    def _epsilon(self) -> float:
        return 0.0 if self.loss == "squared" else self.epsilon


L2 = "Price of large weights, l2/2*|w|**2, the intercept's weight included."


@estimator
class PegasosClassifier(AffineLoop, LinearClassifier):
    """Pegasos (Shalev-Shwartz et al. 2011): gradient steps on the objective of the linear SVM.

    It minimises l2/2*|w|**2 plus the mean hinge loss, with the rate 1/(l2*t) and so without one to
    tune. Use it for several passes over data that stays the same. A sample weight multiplies the
    loss. Instead: `ASGDClassifier` for a single pass, `PassiveAggressiveClassifier` under drift.
    """

    l2: float = number(default=0.001, doc=L2, above=0)
    _: dataclasses.KW_ONLY
    project: bool = flag(
        default=False, doc="Keep the weights in the ball of radius 1/sqrt(l2), where the best are."
    )
    average: bool = averaging()

    core_rule = "pegasos"


@estimator
class ASGDClassifier(AffineFamily, LogisticProbabilities, LinearClassifier):
    """Averaged stochastic gradient descent (Bottou 2010), with l2/2*|w|**2 in the objective.

    The rate is eta0 * (1 + l2*eta0*(t - 1))**-0.75, slow enough for the average of all weights to
    be nearly as good as the best weights after a single pass. Use it where one pass must do, with
    `loss='logistic'` where probabilities are wanted. A sample weight multiplies the loss.
    Instead: `AROWClassifier` where features differ much in frequency.
    """

    loss: Literal["hinge", "squared_hinge", "logistic"] = loss(
        "hinge", "hinge", "squared_hinge", "logistic"
    )
    l2: float = number(default=1e-4, doc=L2, above=0)
    eta0: float = first_step(0.5, "; below 1/l2")
    _: dataclasses.KW_ONLY
    average: bool = averaging(default=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rate(self.eta0, self.l2)

    core_rule = "asgd_{loss}"


@estimator
class NORMAClassifier(AffineFamily, LinearClassifier):
    """NORMA (Kivinen, Smola & Williamson 2004) with the linear kernel: descent that forgets.

    Each row is a gradient step on l2/2*|w|**2 + max(0, rho - margin); the rate is eta0 / t**power.
    With `nu`, the margin asked for starts at 0 and moves down the gradient of
    max(0, rho - margin) - nu*rho, until about a share `nu` of the rows stays below it.
    Use it under drift, with power=0. A sample weight multiplies the loss.
    Instead: `RegularizedPAClassifier`, which forgets only when it errs.
    """

    eta0: float = first_step(0.5, "; below 1/l2")
    power: float = step_power()
    l2: float = number(default=1e-3, doc=L2, above=0)
    rho: float = number(default=1.0, doc="The required margin, unless nu is given.", at_least=0)
    nu: float | None = number(
        default=None, doc="Share of rows that may stay below the margin.", above=0, below=1
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rate(self.eta0, self.l2)

    def _rule(self) -> _core.Rule:
        return rules.norma if self.nu is None else rules.norma_nu
