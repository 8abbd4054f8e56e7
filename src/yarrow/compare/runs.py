"""How learners of every kind take a block: predict its rows, learn them, say what they are now."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.compare.baselines import Baseline
from yarrow.compare.race_batch import Classes, RaceBatch
from yarrow.composite.base import Composite
from yarrow.data.arrays import Array
from yarrow.data.labels import named
from yarrow.errors import ParameterError
from yarrow.kernel.base import KernelClassifier
from yarrow.lazy import np
from yarrow.linear_model.base import LinearModel
from yarrow.linear_model.progressive import predict_then_learn
from yarrow.online.adapters import ArrayAdapter, adapter_of
from yarrow.online.learners import fresh


def run_of(model: Any, classes: Classes | None, known: list[Any] | None) -> Any:
    """The run of a fresh model; `known`: its classes, where they are known beforehand."""
    if isinstance(model, Baseline):
        return model
    if isinstance(model, LinearModel):
        if (classes is None) == hasattr(type(model), "classes_"):
            task = "a regression" if classes is None else "classes"
            raise ParameterError(f"{type(model).__name__} is not for {task}.")
        return _CoreRun(model, known)
    if isinstance(model, Composite):
        if (classes is None) is not model.regression:
            task = "a regression" if classes is None else "classes"
            raise ParameterError(f"{type(model).__name__} is not for {task}.")
        return _CompositeRun(model, classes, known)
    if hasattr(model, "enter"):
        return model.enter(classes, known)
    if isinstance(model, KernelClassifier):
        return _KernelRun(model, classes)
    return _OtherRun(model, classes, known)


class _CoreRun:
    """One of Yarrow's learners: a block is one call of the core, which needs no lock of Python."""

    def __init__(self, model: LinearModel, known: list[Any] | None) -> None:
        if "_model" in model.__dict__:
            raise ParameterError(f"{type(model).__name__} has learned before: give a fresh one.")
        self.model: Any = model.clone()
        self.core = self.model._new_model(self._declared(known))
        # Columns are numbered alike for all; who hashes, limits or groups names has to see them.
        self._needs_names = any(
            getattr(model, name, None) is not None
            for name in ("hash_bits", "max_features", "groups")
        )
        self._width: int | None = None

    def _declared(self, known: list[Any] | None) -> list[Any]:
        """Two classes that are known beforehand share one column of weights: twice as fast."""
        if not hasattr(self.model, "_declared"):
            return []
        two = known if known is not None and len(known) == 2 else None
        return list(self.model._declared(two if self.model.classes is None else None))

    def step(self, batch: RaceBatch) -> Array:
        some = batch if self._needs_names else dataclasses.replace(batch, names=[])
        told = predict_then_learn(self.core, some, wants_scores=False, undo=False)
        same = self._width in (None, batch.n_columns)
        self._width = batch.n_columns if same else -1
        return told.predictions

    def learned(self) -> Any:
        if self.core.t > 0:
            self.model._model, self.model._made_with = self.core, self.model.get_params(deep=False)
            if self._width is not None and self._width >= 0:
                self.model._n_features_in, self.model._feature_names_in = self._width, None
        return self.model

    def updates(self) -> int:
        return int(self.core.updates)

    def nonzeros(self) -> int:
        return int(self.learned().n_nonzero_) if self.core.t > 0 else 0


class _CompositeRun:
    """An estimator made of learners, or a bandit: a block is one call."""

    def __init__(self, model: Composite, classes: Classes | None, known: list[Any] | None) -> None:
        if "_state" in model.__dict__:
            raise ParameterError(f"{type(model).__name__} has learned before: give a fresh one.")
        self.model, self.classes, self.known = model.clone(), classes, known
        self.state = self.model._new_state()

    def step(self, batch: RaceBatch) -> Array:
        # Columns are numbered alike in all blocks, whose number of columns may grow.
        some = dataclasses.replace(batch, names=[], classes=self.known)
        said = self.model._walk(self.state, some)
        if self.classes is None:
            return said
        return _numbered(list(named(said, list(self.state.codes))), self.classes)

    def learned(self) -> Any:
        if self.state.t:
            self.model._state = self.state
        return self.model

    def updates(self) -> int:
        return self.state.t

    def nonzeros(self) -> int:
        return int(self.learned().n_nonzero_) if self.state.t else 0


class _KernelRun:
    """A learner with a kernel: a block is one call, in Python."""

    def __init__(self, model: KernelClassifier, classes: Classes | None) -> None:
        if classes is None:
            raise ParameterError(f"{type(model).__name__} is not for a regression.")
        if model.__sklearn_is_fitted__():
            raise ParameterError(f"{type(model).__name__} has learned before: give a fresh one.")
        self.model, self.classes = model.clone(), classes

    def step(self, batch: RaceBatch) -> Array:
        told = self.model._predict_then_learn(dataclasses.replace(batch, names=[]))
        return _numbered(told.predictions.tolist(), self.classes)

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        return self.model.n_updates_ if self.model.__sklearn_is_fitted__() else 0

    def nonzeros(self) -> int:
        known = self.model.__sklearn_is_fitted__()
        return int(np.count_nonzero(self.model.dual_coef_)) if known else 0


class _OtherRun:
    """A learner of another library, row by row: slow."""

    def __init__(self, model: Any, classes: Classes | None, known: list[Any] | None) -> None:
        self.adapter, self.classes, self.known = adapter_of(fresh(model)), classes, known
        if isinstance(self.adapter, ArrayAdapter) and classes is not None and known is None:
            raise ParameterError(f"{type(model).__name__} must be told all classes beforehand.")
        self._updates = 0

    def step(self, batch: RaceBatch) -> Array:
        some = dataclasses.replace(batch, classes=self.known)
        names = [] if self.classes is None else self.classes.names
        codes = {name: number for number, name in enumerate(names)}
        said = self.adapter.predict_then_learn(some, codes)
        self._updates += int(np.count_nonzero(batch.counts))
        return said

    def learned(self) -> Any:
        return self.adapter.model

    def updates(self) -> int:
        return self._updates

    def nonzeros(self) -> int:
        return weights_of_others(self.adapter.model)


def weights_of_others(model: Any) -> int:
    """How many weights of a learner of scikit-learn or river are not zero."""
    weights: Any = getattr(model, "weights", None)
    if hasattr(weights, "values"):
        return sum(bool(np.any(value)) for value in weights.values())
    return int(np.count_nonzero(getattr(model, "coef_", 0)))


def _numbered(labels: list[Any], classes: Classes | None) -> Array:
    if classes is None:
        return np.array([0.0 if label is None else float(label) for label in labels])
    return classes.number_said(labels)
