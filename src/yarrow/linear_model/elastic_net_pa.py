"""The objective-regularised Passive-Aggressive with an elastic net: it forgets, and is sparse."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.estimator import estimator
from yarrow.parameters import choice, number


@estimator
class ElasticNetPAClassifier(LinearClassifier):
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

    family: ClassVar[str] = "constrained"
    expected_failed_checks: ClassVar[dict[str, str]] = LinearClassifier.expected_failed_checks | {
        "check_class_weight_classifiers": (
            "without C, a hard constraint has no price that a class weight could multiply"
        ),
    }

    alpha: float = number(default=0.001, doc="How much an update forgets.", at_least=0)
    l1: float = number(
        default=0.001, doc="How much an update takes off every absolute weight.", at_least=0
    )
    C: float | None = number(
        default=None, doc="Price of a row that misses its margin; None: no row may.", above=0
    )
    update: Literal["margin", "mistakes"] = choice(
        default="margin",
        options=("margin", "mistakes"),
        doc="Learn from rows whose margin is below 1, or from mistakes only.",
    )
    _: dataclasses.KW_ONLY
    multiclass: Literal["ovr"] = choice(
        default="ovr", options=("ovr",), doc="Many classes: one-versus-rest, each by itself."
    )

    def _loop(self) -> _core.Loop:
        return _core.Loop.elastic

    def _rule(self) -> _core.Rule:
        hard = {"margin": rules.elastic_pa, "mistakes": rules.elastic_pa_on_mistakes}
        soft = {"margin": rules.soft_elastic_pa, "mistakes": rules.soft_elastic_pa_on_mistakes}
        return (hard if self.C is None else soft)[self.update]

    def _loop_parameters(self) -> list[float]:
        return [self.alpha, self.l1]
