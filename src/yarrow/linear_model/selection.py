"""Learners that keep a budget of features: after each row at most `B` weights are not zero."""

from __future__ import annotations

import math
from typing import Any, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.classifier import LinearClassifier
from yarrow.base.hyperparameters import caution
from yarrow.base.linear import LinearModel
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.linear_model.confidence import ConfidenceClassifier
from yarrow.parameters import choice, integer, number


@estimator
class _Budget(LinearModel):
    """What both learners share: a number of features that stay."""

    B: int = integer(
        default=100,
        doc="The most features with a weight, for each class; the intercept does not count.",
        at_least=1,
        at_most=2**22,  # so that the order of entry can be counted in float32
    )

    family = "selection"
    row_costs = "O(nnz + B)"
    is_dear = True

    @property
    def selected_features_(self) -> list[Any]:
        """Names of the features that have a weight, for any class."""
        used = np.flatnonzero(np.atleast_2d(self.coef_).any(axis=0))
        names = self.feature_names_
        return [names[i] for i in used.tolist()]


@estimator
class OFSClassifier(_Budget, LinearClassifier):
    """Online feature selection (Wang, Zhao, Hoi & Jin 2014): only the `B` largest weights stay.

    A gradient step on rows with a margin up to `margin`, a projection onto the ball of radius
    1/sqrt(lam), then the cut. Of equal weights those stay that entered first. The intercept counts
    in the norm, but is never cut.

    With ``inputs="partial"`` the learner looks at no more than `B` values of each row: with the
    chance `epsilon` at random ones, else at those of the selected features, and what it sees counts
    by the inverse of its chance to be seen. (The paper draws among all features; this draws among
    the values a row has, which is the same for dense rows.) Mistakes counted while learning are
    those of this limited view; `predict` looks at the selected features only, in any case.

    Use it where a model may not use more than so many features, or where looking at values costs.
    Instead: `SOFSClassifier`, which selects better; `RDAClassifier` if the number may vary. A
    sample weight multiplies the step.

    >>> model = OFSClassifier(B=2)
    >>> for _ in range(3):
    ...     model.learn_one({"rain": 1, "monday": 0.1}, "wet")
    ...     model.learn_one({"sun": 1, "monday": 0.1}, "dry")
    >>> model.selected_features_
    ['rain', 'sun']
    """

    eta: float = number(default=0.2, doc="Size of a step.", above=0)
    lam: float = number(
        default=0.01, doc="Strength of the L2 term, which also sets the ball's radius.", above=0
    )
    margin: float = number(
        default=1.0, doc="Rows with a margin up to this are learned; 0: mistakes only.", at_least=0
    )
    inputs: Literal["whole", "partial"] = choice(
        default="whole",
        options=("whole", "partial"),
        doc="See whole rows, or at most B values of each.",
    )
    epsilon: float = number(
        default=0.2, doc="Partial inputs: how often to look at random values.", above=0, at_most=1
    )

    class_weight_fails = (
        "a row of weight 1000 fills the whole ball, so that all that was learned before is lost"
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.eta * self.lam >= 1:
            raise ParameterError(
                f"eta * lam must be below 1, or a step would turn the weights around. "
                f"Got {self.eta!r} * {self.lam!r}."
            )

    core_learner = "largest"

    def _rule(self) -> _core.Rule:
        return {"whole": rules.ofs, "partial": rules.ofs_partial}[self.inputs]

    def _loop_parameters(self) -> list[float]:
        epsilon = self.epsilon if self.inputs == "partial" else 0.0
        return [self.B, 1 / math.sqrt(self.lam), epsilon, self.random_state % 2**53]


@estimator
class SOFSClassifier(_Budget, ConfidenceClassifier):
    """Second-order online feature selection (Wu, Hoi, Mei & Yu 2017).

    AROW, after whose steps only the `B` features of the smallest variance keep a weight: those
    that the learner is most sure of. Of equal ones those stay that entered first. The intercept
    is never cut.

    Use it to select few out of very many sparse features. Instead: `OFSClassifier` where large
    weights matter more than sure ones; `AROWClassifier` where size does not matter. A sample
    weight divides r.

    >>> model = SOFSClassifier(B=2)
    >>> for _ in range(3):
    ...     model.learn_one({"rain": 1, "monday": 0.1}, "wet")
    ...     model.learn_one({"sun": 1, "monday": 0.1}, "dry")
    >>> model.selected_features_
    ['rain', 'sun']
    """

    r: float = caution()

    core_learner = "surest"
    core_rule = "arow"
    loop_settings = ("B",)
