"""The objective-regularized Passive-Aggressive with an elastic net: it forgets, and is sparse."""

from __future__ import annotations

from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import (
    HARD,
    ForgettingRule,
    OneVersusRest,
    UpdateOn,
    price_or_none,
    update_on,
)
from yarrow.estimator import estimator
from yarrow.parameters import number


@estimator
class ElasticNetPAClassifier(ForgettingRule, OneVersusRest, LinearClassifier):
    """Passive-Aggressive with an elastic net (after Shen & Dietterich 2009, their future work).

    A row below its margin moves the weights to the minimum of 1/2*|w - w_t|**2 + alpha/2*|w|**2 +
    l1*|w|_1 among those that give it the margin of 1. So each update shrinks all weights, the
    intercept's included, and those of features that stay away end at zero; rows whose margin is
    reached change nothing. With `C`, a margin may fall short by xi at the price C*xi**2; a sample
    weight multiplies C and has no effect without it. Rows of zeros are left alone. With l1=0 it is
    `RegularizedPAClassifier`.

    Use it under drift, where old features should leave the model. Instead:
    `RegularizedPAClassifier` where they may stay, `L1ConstrainedPAClassifier` to bound the sum of
    all weights.

    >>> model = ElasticNetPAClassifier(l1=0.1)
    >>> for _ in range(10):
    ...     model.learn_one({"cheap": 1, "pills": 1, "the": 0.1}, "spam")
    ...     model.learn_one({"lunch": 1, "today": 1, "the": 0.1}, "ham")
    >>> model.predict_one({"pills": 1, "the": 0.1})
    'spam'
    >>> model.n_nonzero_
    4
    """

    family = "constrained"
    class_weight_fails = HARD

    alpha: float = number(
        default=0.001, doc="How much each update shrinks old weights.", at_least=0
    )
    l1: float = number(
        default=0.001, doc="How much each update subtracts from every absolute weight.", at_least=0
    )
    C: float | None = price_or_none()
    update: UpdateOn = update_on()

    core_learner = "elastic"

    core_rule = "elastic_pa"

    loop_settings = ("alpha", "l1")
