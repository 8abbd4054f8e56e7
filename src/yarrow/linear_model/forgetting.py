"""Second-order learners for streams that drift: AROW whose confidence fades, or starts anew."""

from __future__ import annotations

from typing import Any, Literal

from yarrow import _core
from yarrow._core import rules
from yarrow.base.hyperparameters import Averaging, Covariance, caution, covariance
from yarrow.estimator import estimator
from yarrow.linear_model.confidence import ConfidenceClassifier
from yarrow.parameters import choice, number


class _ForgettingRule(Averaging, ConfidenceClassifier):
    """AROW's rule, in a loop that forgets."""

    loss: Literal["squared_hinge", "hinge"]

    def _rule(self) -> _core.Rule:
        return {"squared_hinge": rules.arow, "hinge": rules.arow_hinge}[self.loss]


def _loss() -> Any:
    options = ("squared_hinge", "hinge")
    return choice(default="squared_hinge", options=options, doc="What a margin below 1 costs.")


@estimator
class ForgettingAROWClassifier(_ForgettingRule):
    """AROW that forgets (after Crammer et al. 2013): confidence fades, so it can learn anew.

    AROW (Crammer, Kulesza & Dredze 2013) grows surer of a weight with each row and at last hardly
    moves it. Here a precision P falls back towards its prior, `P <- P0 + (P - P0) * memory**n`,
    where n counts the updates of the feature ("visits") or all rows since its last one ("rows").
    With memory=1 it is AROW, to the bit. Weights themselves are kept. There is no full covariance
    here: falling back to the prior changes each of its eigenvalues by another factor, so that a row
    would cost features**3.

    Use it where the concept drifts, with a memory of about 1 - 1/(rows for which it holds).
    "visits" leaves rare features alone until they come back; "rows" makes them open to change
    after a long absence. Instead: `AROWClassifier` if nothing drifts.
    A sample weight divides r; it does not make time pass faster.

    >>> model, never = ForgettingAROWClassifier(memory=0.9), ForgettingAROWClassifier(memory=1)
    >>> for label in 50 * ["good"] + 5 * ["bad"]:
    ...     for learner in (model, never):
    ...         learner.learn_one({"phone": 1}, label)
    >>> model.predict_one({"phone": 1}), never.predict_one({"phone": 1})
    ('bad', 'good')
    """

    r: float = caution()
    memory: float = number(
        default=0.99,
        doc="Share of a weight's confidence that outlasts one visit, or row; 1 forgets nothing.",
        above=0,
        at_most=1,
    )
    clock: Literal["visits", "rows"] = choice(
        default="visits",
        options=("visits", "rows"),
        doc="What makes a feature fade: its own updates, or every row that is learned.",
    )
    loss: Literal["squared_hinge", "hinge"] = _loss()
    covariance: Covariance = covariance("diagonal", "projected")

    def _kind(self) -> _core.Learner:
        loops = {
            ("diagonal", "visits"): _core.Learner.fading_visits,
            ("diagonal", "rows"): _core.Learner.fading_rows,
            ("projected", "visits"): _core.Learner.projected_fading_visits,
            ("projected", "rows"): _core.Learner.projected_fading_rows,
        }
        return loops[self.covariance, self.clock]

    def _loop_parameters(self) -> list[float]:
        return [self.memory, self._initial_variance()]


@estimator
class ARCORClassifier(_ForgettingRule):
    """AROW with covariance resets (ARCOR, Vaits & Crammer 2011), for classification.

    Whenever an update makes a variance smaller than a floor, all variances go back to their prior
    and only the weights are kept. The i-th segment has the floor `floor * i**-power`. The paper's
    algorithm is one for regression with a full covariance; here the rows that update are AROW's,
    and the eigenvalues are the variances. Its projection on a ball of weights is left out.

    Use it as the baseline for drift. Instead: `ForgettingAROWClassifier`, which forgets each
    feature at its own pace and not all at once.
    A sample weight divides r.

    >>> model = ARCORClassifier(floor=0.2)
    >>> for label in 50 * ["good"] + 5 * ["bad"]:
    ...     model.learn_one({"phone": 1}, label)
    >>> model.predict_one({"phone": 1})
    'bad'
    """

    r: float = caution()
    floor: float = number(
        default=0.1,
        doc="A variance below this starts the covariance anew.",
        above=0,
        below=1,
    )
    power: float = number(
        default=0.0, doc="How fast the floor falls with each new start.", at_least=0
    )
    loss: Literal["squared_hinge", "hinge"] = _loss()

    core_learner = "restarting"

    def _loop_parameters(self) -> list[float]:
        return [self.floor, self.power, self._initial_variance()]
