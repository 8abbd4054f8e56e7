"""Sparse learners: a gradient step, then a pull of every weight towards zero, paid lazily."""

from __future__ import annotations

from typing import ClassVar, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.estimator import estimator
from yarrow.linear_model.classifier import LinearClassifier
from yarrow.parameters import choice, number

LOSSES = ("hinge", "squared_hinge", "logistic", "squared")
Loss = Literal["hinge", "squared_hinge", "logistic", "squared"]


@estimator
class FOBOSClassifier(LinearClassifier):
    """SG-L1, also known as FOBOS (Duchi & Singer 2009).

    After each gradient step every weight moves towards zero by the step's size times `l1`, and
    stops there. The intercept is not pulled.

    Use it for a small model out of many features. Instead: `RDAClassifier`, which keeps fewer
    weights at the same accuracy; `AROWClassifier` where size does not matter.

    >>> model = FOBOSClassifier(l1=0.01)
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1, "monday": 0.01}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> [name for name, weight in model.top_features() if weight]
    ['rain', 'sun']
    """

    l1: float = number(default=1e-5, doc="Strength of the pull towards zero.", at_least=0)
    loss: Loss = choice(default="hinge", options=LOSSES, doc="What a small margin costs.")
    eta0: float = number(default=0.5, doc="The first step's size.", above=0)
    power: float = number(
        default=0.5, doc="How fast steps shrink: eta0 / t**power.", at_least=0, at_most=1
    )

    family: ClassVar[str] = "proximal"

    def _loop(self) -> _core.Loop:
        return _core.Loop.soft_pull

    def _rule(self) -> _core.Rule:
        return {
            "hinge": rules.descent_hinge,
            "squared_hinge": rules.descent_squared_hinge,
            "logistic": rules.descent_logistic,
            "squared": rules.descent_squared,
        }[self.loss]

    def _loop_parameters(self) -> list[float]:
        return [self.l1, self.eta0, self.power]


@estimator
class RDAClassifier(LinearClassifier):
    """Regularised dual averaging with L1 (Xiao 2010).

    Weights are made from the average of all gradients, cut off at `l1`. The intercept is not cut.

    Use it for the smallest models. Instead: `FOBOSClassifier` where rare features must survive.

    >>> model = RDAClassifier(l1=0.01)
    >>> for _ in range(20):
    ...     model.learn_one({"rain": 1, "monday": 0.01}, "wet")
    ...     model.learn_one({"sun": 1}, "dry")
    >>> [name for name, weight in model.top_features() if weight]
    ['rain', 'sun']
    """

    l1: float = number(
        default=1e-5, doc="Average gradients up to this give the weight zero.", at_least=0
    )
    gamma: float = number(
        default=1.0, doc="Strength of the L2 term; larger for smaller steps.", above=0
    )
    loss: Loss = choice(default="hinge", options=LOSSES, doc="What a small margin costs.")

    family: ClassVar[str] = "proximal"

    def _loop(self) -> _core.Loop:
        return _core.Loop.dual_pull

    def _rule(self) -> _core.Rule:
        return {
            "hinge": rules.dual_hinge,
            "squared_hinge": rules.dual_squared_hinge,
            "logistic": rules.dual_logistic,
            "squared": rules.dual_squared,
        }[self.loss]

    def _loop_parameters(self) -> list[float]:
        return [self.l1, self.gamma]
