"""How learners of every kind take a block: predict its rows, learn them, say what they are now."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.base.linear import LinearModel
from yarrow.base.state_estimator import StateEstimator
from yarrow.compare.race_batch import Classes, RaceBatch
from yarrow.data.arrays import Array
from yarrow.data.labels import named
from yarrow.errors import ParameterError
from yarrow.estimator import Estimator
from yarrow.lazy import np
from yarrow.online.adapters import ArrayAdapter, adapter_of
from yarrow.online.learners import check_task, fresh, has_learned, nonzeros
from yarrow.online.progressive import CoreResult, core_result


class Baseline:
    """What needs no learning, and what every learner has to beat."""

    name = ""

    def learned(self) -> Any:
        """Nothing that could be saved."""
        return None

    def updates(self) -> int:
        """None."""
        return 0

    def nonzeros(self) -> int:
        """None."""
        return 0


class LastLabel(Baseline):
    """Repeats the last label; before there is one, nothing (a regression: 0)."""

    name = "repeat the last label"

    def __init__(self, regression: bool) -> None:
        self._last = 0.0 if regression else -1

    def step(self, batch: RaceBatch) -> Array:
        """The label of the row before."""
        counts = batch.counts
        y = batch.learned
        places = np.where(counts, np.arange(len(y)), -1)
        before = np.concatenate(([-1], np.maximum.accumulate(places)[:-1]))
        said = np.where(before < 0, self._last, y[before])
        if counts.any():
            self._last = y[places.max()]
        return said


class Majority(Baseline):
    """The class seen most often so far (the first seen of several); in a regression the mean."""

    def __init__(self, regression: bool) -> None:
        self.name = "mean so far" if regression else "majority class so far"
        self._regression = regression
        self._counts = np.zeros(0)

    def step(self, batch: RaceBatch) -> Array:
        """The majority before each row."""
        y = batch.learned
        weigh = batch.counts.astype(np.float64)
        if self._regression:
            sums = self._counts if len(self._counts) else np.zeros(2)
            n = sums[0] + np.cumsum(weigh) - weigh
            total = sums[1] + np.cumsum(weigh * y) - weigh * y
            self._counts = np.array([n[-1] + weigh[-1], total[-1] + weigh[-1] * y[-1]])
            means: Array = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
            return means
        k = int(max(y.max(initial=-1) + 1, len(self._counts)))
        counts = np.zeros(k)
        counts[: len(self._counts)] = self._counts
        said = np.full(len(y), -1)
        step = max(1, 2**20 // max(k, 1))  # so many rows at a time, to bound memory
        for at in range(0, len(y), step):
            part = slice(at, at + step)
            ones = np.zeros((len(y[part]), k))
            known = y[part] >= 0
            ones[np.flatnonzero(known), y[part][known]] = weigh[part][known]
            sums = counts + np.cumsum(ones, axis=0)
            before = sums - ones
            if k:
                said[part] = np.where(before.any(axis=1), before.argmax(axis=1), -1)
                counts = sums[-1]
        self._counts = counts
        return said


def run_of(model: Any, classes: Classes | None, known: list[Any] | None) -> Any:
    """The run of a fresh model; `known`: its classes, where they are known beforehand."""
    if isinstance(model, Baseline):
        return model
    if hasattr(model, "enter"):
        return model.enter(classes, known)
    if isinstance(model, Estimator):
        check_task(model, classes is None)
        if has_learned(model):
            raise ParameterError(f"{type(model).__name__} has learned before: give a fresh one.")
    kinds = ((LinearModel, CoreRun), (StateEstimator, _StateRun))
    run: Any = next((run for kind, run in kinds if isinstance(model, kind)), _OtherRun)
    return run(model, classes, known)


class _Run:
    """A fresh copy of a model, and what it is at the end."""

    def __init__(self, model: Any, classes: Classes | None, known: list[Any] | None) -> None:
        self.model, self.classes, self.known = fresh(model), classes, known

    def step(self, batch: RaceBatch) -> Array:
        """Predict each row and learn it: class numbers, or values."""
        raise NotImplementedError

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        model = self.learned()
        if not has_learned(model):
            return 0
        return int(model.n_updates_ if hasattr(model, "n_updates_") else model.t_)

    def nonzeros(self) -> int:
        return nonzeros(self.learned(), otherwise=0)


class CoreRun(_Run):
    """One of Yarrow's learners: a block is one call of the core, which needs no lock of Python."""

    def __init__(self, model: Any, classes: Classes | None, known: list[Any] | None) -> None:
        super().__init__(model, classes, known)
        self.core = self.model._new_model(self._declared())
        # Columns are numbered alike for all; who hashes, limits or groups names has to see them.
        self._needs_names = any(
            getattr(model, name, None) is not None
            for name in ("hash_bits", "max_features", "groups")
        )
        self._width: int | None = None

    def _declared(self) -> list[Any]:
        """Two classes that are known beforehand share one column of weights: twice as fast."""
        if not hasattr(self.model, "_declared"):
            return []
        two = self.known if self.known is not None and len(self.known) == 2 else None
        return list(self.model._declared(two if self.model.classes is None else None))

    def told(self, batch: RaceBatch, **wanted: Any) -> CoreResult:
        """What the core says of rows before it learns them."""
        some = batch if self._needs_names else dataclasses.replace(batch, names=[])
        return core_result(self.core, some, undo=False, **wanted)

    def step(self, batch: RaceBatch) -> Array:
        told = self.told(batch, wants_scores=False)
        same = self._width in (None, batch.n_columns)
        self._width = batch.n_columns if same else -1
        return told.predictions

    def learned(self) -> Any:
        if self.core.t > 0:
            self.model._keep(self.core)
            if self._width is not None and self._width >= 0:
                self.model._n_features_in, self.model._feature_names_in = self._width, None
        return self.model


class _StateRun(_Run):
    """A learner in Python: a block is one call, which copies nothing."""

    def __init__(self, model: Any, classes: Classes | None, known: list[Any] | None) -> None:
        super().__init__(model, classes, known)
        self.state = self.model._new_state()

    def step(self, batch: RaceBatch) -> Array:
        # Columns are numbered alike in all blocks, whose number of columns may grow.
        some = dataclasses.replace(batch, names=[], classes=self.known)
        said = self.model._walk(self.state, some)
        if self.state.t:
            self.model._state = self.state
        if self.classes is None:
            return np.asarray(said)
        labels = named(np.asarray(self.model._numbers(said)), self.state.classes)
        return self.classes.number_said(list(labels))


class _OtherRun(_Run):
    """A learner of another library, row by row: slow."""

    def __init__(self, model: Any, classes: Classes | None, known: list[Any] | None) -> None:
        super().__init__(model, classes, known)
        self.adapter = adapter_of(self.model)
        if isinstance(self.adapter, ArrayAdapter) and classes is not None and known is None:
            raise ParameterError(f"{type(model).__name__} must be told all classes beforehand.")
        self._updates = 0

    def step(self, batch: RaceBatch) -> Array:
        some = dataclasses.replace(batch, classes=self.known)
        said = self.adapter.progressive(some, {} if self.classes is None else self.classes.codes)
        self._updates += int(np.count_nonzero(batch.counts))
        return said

    def updates(self) -> int:
        return self._updates
