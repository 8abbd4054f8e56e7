"""Mirror descent: steps in a dual space, weights by a link that suits few relevant features."""

from __future__ import annotations

import math
from typing import Literal

from yarrow import _core
from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import OneVersusRest, first_step, step_power
from yarrow.base.regressor import LinearRegressor
from yarrow.estimator import estimator
from yarrow.parameters import choice, flag, number

Loss = Literal["hinge", "logistic", "perceptron"]
_LOSSES = ("hinge", "logistic", "perceptron")
LOSS = "What a small margin costs; 'perceptron' asks only for the right sign."
NORM = "The norm of rows; 2 for many relevant features, 2*log(number of features) for few."
SIZE = "What the absolute weights sum up to at most, the intercept's included."


@estimator
class PNormClassifier(LinearClassifier):
    """The p-norm algorithms (Grove, Littlestone & Schuurmans 2001; Gentile 2003).

    Gradient steps add rows up; of their sum theta the weights are made as the gradient of half the
    squared p-norm. p = 2 gives gradient descent; a larger p favours the largest sums, so that the
    number of mistakes grows with the logarithm of the number of irrelevant features. With
    `loss='perceptron'` and `power=0` it is the p-norm Perceptron. A sample weight scales the step.

    Use it where few of many features matter and their values are of like size.
    Instead: `AROWClassifier` where rare features matter, `RDAClassifier` for exact zeros.

    >>> model = PNormClassifier(p=6)
    >>> for _ in range(5):
    ...     model.learn_one({"rain": 1, "monday": 1}, "wet")
    ...     model.learn_one({"sun": 1, "monday": 1}, "dry")
    >>> model.predict_one({"sun": 1})
    'dry'
    """

    p: float = number(default=4.0, doc=NORM, at_least=2, at_most=100)
    loss: Loss = choice(default="hinge", options=_LOSSES, doc=LOSS)
    eta0: float = first_step()
    power: float = step_power()

    family = "mirror"
    core_learner = "p_norm"

    core_rule = "descent_{loss}"

    def _loop_parameters(self) -> list[float]:
        return [self.p, 0.0]


@estimator
class ALMApClassifier(OneVersusRest, LinearClassifier):
    """ALMA_p (Gentile 2001), which approaches the largest margin measured in the p-norm.

    Rows count with p-norm 1, and weights of a q-norm above 1 (1/p + 1/q = 1), over all features and
    the intercept, are scaled back to it. It updates where the margin is at most
    (1 - alpha) * B * sqrt((p - 1) / k), k - 1 updates having been made, by a step of
    C / sqrt((p - 1) * k). A sample weight scales the step. Rows of zeros are left alone.

    Use it for a large margin on separable data with few relevant features.
    Instead: `PassiveAggressiveClassifier` where p = 2 would do.

    >>> model = ALMApClassifier(p=6)
    >>> for _ in range(5):
    ...     model.learn_one({"rain": 1, "monday": 1}, "wet")
    ...     model.learn_one({"sun": 1, "monday": 1}, "dry")
    >>> model.predict_one({"sun": 1})
    'dry'
    """

    class_weight_fails = (
        "weights stay in a ball, so a step of weight 1000 leaves nothing of those before it"
    )

    p: float = number(default=3.0, doc=NORM, at_least=2, at_most=100)
    alpha: float = number(
        default=0.9,
        doc="Fraction of the largest margin that may be given up; smaller is slower.",
        above=0,
        at_most=1,
    )
    B: float | None = number(
        default=None, doc="Scale of the required margin; None: sqrt(8) / alpha.", above=0
    )
    C: float = number(default=math.sqrt(2), doc="Scale of the steps.", above=0)

    family = "mirror"
    core_learner = "p_norm"
    core_rule = "alma_p"

    def _rule_parameters(self) -> list[float]:
        asked = math.sqrt(8) / self.alpha if self.B is None else self.B
        return [self.alpha, asked, self.C, self.p]

    def _loop_parameters(self) -> list[float]:
        return [self.p, 1.0]


@estimator
class EGClassifier(LinearClassifier):
    """Exponentiated gradient with both signs, EG± (Kivinen & Warmuth 1997).

    Weights are multiplied by exp(±eta * U * slope * x) and scaled so that each feature's positive
    and negative part sum up to `U` over all features: the smallest change in relative entropy
    against the gradient. A feature joins the sum with the first row that has it and moves the
    weights. A sample weight scales the step.

    Use it where very few of many features matter and their values are of like size.
    Instead: `PNormClassifier`, between this and gradient descent; `RDAClassifier` for exact zeros.

    >>> model = EGClassifier()
    >>> for _ in range(5):
    ...     model.learn_one({"rain": 1, "monday": 1}, "wet")
    ...     model.learn_one({"sun": 1, "monday": 1}, "dry")
    >>> model.predict_one({"sun": 1})
    'dry'
    """

    eta: float = number(default=0.01, doc="Learning rate.", above=0)
    U: float = number(default=30.0, doc=SIZE, above=0, at_most=1e30)
    loss: Loss = choice(default="hinge", options=_LOSSES, doc=LOSS)

    family = "mirror"
    core_learner = "exponential_signed"

    core_rule = "exponentiated_{loss}"

    loop_settings = ("U",)


@estimator
class EGRegressor(LinearRegressor):
    """Exponentiated gradient on half the squared error: EG± and EG (Kivinen & Warmuth 1997).

    As `EGClassifier`; with `signed=False` weights are positive and sum up to `U` exactly. The
    paper takes the whole squared error, so its rate is half of `eta`. A sample weight scales the
    step.

    Use it for a target made of few of many features, with `U` a little above the sum of the
    weights that are needed. Instead: `OGDRegressor` where most features matter.

    >>> model = EGRegressor(eta=0.1, U=3.0)
    >>> for _ in range(100):
    ...     model.learn_one({"x": 1.0, "noise": 0.5}, 2.0)
    ...     model.learn_one({"x": 0.5, "noise": -1.0}, 1.0)
    >>> round(model.predict_one({"x": 1.0, "noise": 0.5}), 1)
    2.0
    """

    eta: float = number(default=0.01, doc="Learning rate.", above=0)
    U: float = number(default=10.0, doc=SIZE, above=0, at_most=1e30)
    signed: bool = flag(default=True, doc="EG±, with weights of both signs; else EG.")

    family = "mirror"

    def _kind(self) -> _core.Learner:
        return _core.Learner.exponential_signed if self.signed else _core.Learner.exponential

    core_rule = "exponentiated_squared"
    loop_settings = ("U",)
