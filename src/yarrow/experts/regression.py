"""Hedge and fixed share over regressors: the weighted mean of what the experts say."""

from __future__ import annotations

import dataclasses
from typing import Literal

from yarrow.composite.base import State
from yarrow.composite.supervised import CompositeRegressor
from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.experts.base import Experts, LossOf, exponential, shared
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.parameters import choice, number
from yarrow.saving import schema

LOW = "The least target that may come; None: the least so far."
MEAN = "Predict by the weighted mean, or by the expert with the largest weight (one model)."
HIGH = "The largest target that may come; None: the largest so far."


@estimator
class AveragingExperts(CompositeRegressor, Experts):
    """Base of the forms whose experts predict values, and lose (error / (high - low))**2.

    Predictions are clipped to the range of targets, so that one wild expert cannot spoil the mean.
    """

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

    def _state_schema(self) -> tuple[schema.Fields, schema.Fields]:
        arrays, notes = super()._state_schema()
        with_range = {**arrays.fields, "range": schema.Array("f8", (2,))}
        return schema.Fields(with_range, closed=True), notes

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

    eta: float = number(default=0.5, doc="Rate of the weights.", above=0)
    low: float | None = number(default=None, doc=LOW)
    high: float | None = number(default=None, doc=HIGH)
    _: dataclasses.KW_ONLY
    combine: Literal["vote", "leader"] = choice(
        default="vote", options=("vote", "leader"), doc=MEAN
    )

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

    eta: float = number(default=0.5, doc="Rate of the weights.", above=0)
    share: float = number(
        default=0.01, doc="Part of the weights that is shared out after each row.", above=0, below=1
    )
    low: float | None = number(default=None, doc=LOW)
    high: float | None = number(default=None, doc=HIGH)
    _: dataclasses.KW_ONLY
    combine: Literal["vote", "leader"] = choice(
        default="vote", options=("vote", "leader"), doc=MEAN
    )

    def _weights(self, state: State, losses: Array) -> Array:
        return shared(state, losses, self.eta, self.share)
