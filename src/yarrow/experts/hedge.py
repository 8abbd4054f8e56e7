"""Weighted majority, Hedge and fixed share over classifiers, whose loss is a mistake."""

from __future__ import annotations

import dataclasses
from typing import Literal

from yarrow.composite.base import State
from yarrow.composite.supervised import CompositeClassifier, CompositeRegressor
from yarrow.data.arrays import Array
from yarrow.data.labels import UNKNOWN, numbered
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.experts.base import Experts, LossOf, exponential, shared
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.parameters import choice, number
from yarrow.saving import schema


@estimator
class VotingExperts(CompositeClassifier, Experts):
    """Base of the forms whose experts vote for a class, and lose 1 by a mistake."""

    def _judge(self, state: State, said: Array, batch: Batch) -> tuple[Array, LossOf]:
        truth = numbered(batch.truth, state.codes, unknown=UNKNOWN)
        return said, lambda told: (told != truth[:, None]).astype(float)

    def _combine(self, state: State, weights: Array, said: Array) -> Array:
        if self.combine == "leader":
            return np.asarray(said[np.arange(len(said)), weights.argmax(axis=1)])
        votes = np.zeros((len(said), len(state.codes) + 1))
        for code in range(len(state.codes)):
            votes[:, code] = (weights * (said == code)).sum(axis=1)
        return np.where(votes.any(axis=1), votes.argmax(axis=1), -1)

    @property
    def n_mistakes_(self) -> int:
        """Mistakes of the best expert so far, the least that could be made by following one."""
        return int(self.losses_.min())


@estimator
class WeightedMajorityClassifier(VotingExperts):
    """Weighted majority vote (Littlestone & Warmuth 1994): a mistake multiplies a weight by beta.

    Its mistakes are at most (m ln(1/beta) + ln N) / ln(2/(1 + beta)) when the best of N experts
    makes m: about 2.4 m + 2.6 ln N for beta = 1/2 (`yarrow.evaluate.bounds.weighted_majority`).
    Use it for a mistake bound that needs no randomness and no number of rows. Instead:
    `HedgeClassifier`, whose rate falls; `FixedShareClassifier` where the best expert changes.
    """

    beta: float = number(
        default=0.5,
        doc="Factor by which a mistake multiplies an expert's weight.",
        above=0,
        below=1,
    )

    def _weights(self, state: State, losses: Array) -> Array:
        return exponential(state, losses, np.full(len(losses) + 1, -np.log(self.beta)))


@estimator
class HedgeClassifier(VotingExperts):
    """Hedge (Freund & Schapire 1997): weights exp(-eta * mistakes), or with a rate that falls.

    An expert drawn by the weights makes, in the mean, at most sqrt(T/2 ln N) mistakes more than
    the best of N in T rows if eta = sqrt(8 ln N / T); without eta the rate is sqrt(8 ln N / t) at
    row t, and the price twice that (`yarrow.evaluate.bounds.hedge`). The vote predicted here is
    mostly better than a draw, and at worst makes twice its mistakes.
    Use it to choose settings while learning. Instead: `FixedShareClassifier` where the best one
    changes; `MixtureClassifier` for probabilities; `yarrow tune` if you may look at rows twice.
    """

    eta: float | None = number(
        default=None,
        doc="Learning rate of the weights; None: sqrt(8 ln N / t), which falls.",
        above=0,
    )

    def _weights(self, state: State, losses: Array) -> Array:
        rows = state.t + 1 + np.arange(len(losses) + 1)
        falling = np.sqrt(8 * np.log(losses.shape[1]) / rows)
        rates = falling if self.eta is None else np.full(len(rows), self.eta)
        return exponential(state, losses, rates)


@estimator
class FixedShareClassifier(VotingExperts):
    """Fixed share (Herbster & Warmuth 1998): weights never fall so low that they cannot return.

    After each row every expert gets an equal part of `share`. So it follows the best sequence of
    experts, not only the best one: k switches cost about ((k + 1) ln N + k ln(1/share) +
    T share)/eta + eta T/8 (`yarrow.evaluate.bounds.fixed_share`).
    Use it under drift. Instead: `HedgeClassifier` where one expert is best throughout.
    """

    eta: float = number(default=0.5, doc="Learning rate of the weights.", above=0)
    share: float = number(
        default=0.01,
        doc="Share of the weights redistributed over all experts after each row.",
        above=0,
        below=1,
    )

    def _weights(self, state: State, losses: Array) -> Array:
        return shared(state, losses, self.eta, self.share)


LOW = "The least target that may come; None: the least so far."
MEAN = "Predict by the weighted mean, or by the expert with the largest weight (one model)."
HIGH = "The largest target that may come; None: the largest so far."


@estimator
class AveragingExperts(CompositeRegressor, Experts):
    """Base of the forms whose experts predict values, and lose (error / (high - low))**2.

    Predictions are clipped to the range of targets, so that one wild expert cannot spoil the mean.
    """

    _: dataclasses.KW_ONLY
    combine: Literal["vote", "leader"] = choice(
        default="vote", options=("vote", "leader"), doc=MEAN
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        low, high = getattr(self, "low", None), getattr(self, "high", None)
        if low is not None and high is not None and not low < high:
            raise ParameterError(f"The 'low' parameter must be < high. Got {low!r} and {high!r}.")

    def _begin(self, state: State) -> None:
        super()._begin(state)
        low, high = getattr(self, "low", None), getattr(self, "high", None)
        state.tensors["range"] = np.array(
            [np.inf if low is None else low, -np.inf if high is None else high], dtype=float
        )

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        arrays, notes = super()._state_schema()
        return {**arrays, "range": schema.Array("f8", (2,))}, notes

    def _judge(self, state: State, said: Array, batch: Batch) -> tuple[Array, LossOf]:
        y = np.where(batch.counts, batch.values, np.nan)
        low, high = state.tensors["range"]
        lows = np.fmin.accumulate(np.concatenate([[low], y]))
        highs = np.fmax.accumulate(np.concatenate([[high], y]))
        state.tensors["range"] = np.array([lows[-1], highs[-1]])
        span = (highs - lows)[1:, None]

        def loss_of(told: Array) -> Array:
            away = told - batch.values[:, None]
            ratio = np.divide(away, span, out=np.zeros_like(away), where=span > 0)
            return np.asarray(np.minimum(ratio**2, 1.0))

        return _clipped(said, lows[:-1, None], highs[:-1, None]), loss_of

    def _heard(self, state: State, said: Array) -> Array:
        return _clipped(said, *state.tensors["range"])

    def _combine(self, state: State, weights: Array, said: Array) -> Array:
        if self.combine == "leader":
            return np.asarray(said[np.arange(len(said)), weights.argmax(axis=1)])
        return np.asarray((weights * said).sum(axis=1))


def _clipped(said: Array, low: Array, high: Array) -> Array:
    """Values within a range, once there is one."""
    return np.where(low <= high, np.clip(said, low, np.maximum(low, high)), said)


@estimator
class HedgeRegressor(AveragingExperts):
    """The exponentially weighted mean of regressors (Vovk 1990; Kivinen & Warmuth 1999).

    Losses are squared errors relative to the range of the targets. With eta <= 1/2 and targets
    within [low, high] its squared errors exceed those of the best of N experts by at most
    (high - low)**2 ln N / eta in sum, however many rows there are (`yarrow.evaluate.bounds.hedge`).
    Use it to choose settings of a regression while learning. Instead: `FixedShareRegressor` where
    the best one changes.

    >>> from yarrow import AROWRegressor
    >>> model = HedgeRegressor([AROWRegressor(r) for r in (0.1, 1.0)])
    >>> for i in range(20):
    ...     model.learn_one({"x": i % 3}, 2.0 * (i % 3))
    >>> round(model.predict_one({"x": 2}), 1)
    3.8
    """

    eta: float = number(default=0.5, doc="Learning rate of the weights.", above=0)
    low: float | None = number(default=None, doc=LOW)
    high: float | None = number(default=None, doc=HIGH)

    def _weights(self, state: State, losses: Array) -> Array:
        return exponential(state, losses, np.full(len(losses) + 1, self.eta))


@estimator
class FixedShareRegressor(AveragingExperts):
    """Fixed share over regressors (Herbster & Warmuth 1998), for a best expert that changes.

    As `HedgeRegressor`, but after each row every expert gets an equal part of `share`.
    Use it under drift. Instead: `HedgeRegressor` where one expert is best throughout.

    >>> from yarrow import AROWRegressor, OGDRegressor
    >>> model = FixedShareRegressor([AROWRegressor(), OGDRegressor()])
    >>> for i in range(20):
    ...     model.learn_one({"x": i % 3}, 2.0 * (i % 3))
    >>> model.weights_.shape
    (2,)
    """

    eta: float = number(default=0.5, doc="Learning rate of the weights.", above=0)
    share: float = number(
        default=0.01,
        doc="Share of the weights redistributed over all experts after each row.",
        above=0,
        below=1,
    )
    low: float | None = number(default=None, doc=LOW)
    high: float | None = number(default=None, doc=HIGH)

    def _weights(self, state: State, losses: Array) -> Array:
        return shared(state, losses, self.eta, self.share)
