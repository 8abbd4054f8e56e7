"""How learners of every kind take a block: predict its rows, learn them, say what they are now."""

from __future__ import annotations

from typing import Any

from yarrow.compare.baselines import Baseline
from yarrow.compare.heats import Classes, Heat
from yarrow.composite.base import Composite
from yarrow.composite.members import Block
from yarrow.data.labels import named
from yarrow.errors import ParameterError
from yarrow.kernel.base import KernelClassifier
from yarrow.lazy import np
from yarrow.linear_model.base import LinearModel
from yarrow.linear_model.progressive import foretell
from yarrow.stream.arrays import Array


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
    if hasattr(model, "learn_one"):
        return _DictRun(model, classes)
    return _ArrayRun(model, classes, known)


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

    def step(self, heat: Heat) -> Array:
        names = (heat.names or []) if self._needs_names else []
        told = foretell(
            self.core, heat.rows, names, heat.labels, heat.weights, wants_scores=False, undo=False
        )
        same = self._width in (None, heat.rows.n_columns)
        self._width = heat.rows.n_columns if same else -1
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

    def step(self, heat: Heat) -> Array:
        # Columns are numbered alike in all blocks, whose number of columns may grow.
        block = Block(heat.rows, [], None, heat.labels, heat.weights, self.known)
        said = self.model._walk(self.state, block)
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

    def step(self, heat: Heat) -> Array:
        told = self.model._foretell_rows(heat.rows, [], heat.y, heat.weights)
        return _numbered(told.predictions.tolist(), self.classes)

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        return self.model.n_updates_ if self.model.__sklearn_is_fitted__() else 0

    def nonzeros(self) -> int:
        known = self.model.__sklearn_is_fitted__()
        return int(np.count_nonzero(self.model.dual_coef_)) if known else 0


class _ArrayRun:
    """A learner of scikit-learn's kind, row by row: slow."""

    def __init__(self, model: Any, classes: Classes | None, known: list[Any] | None) -> None:
        from sklearn.base import clone

        self.model, self.classes = clone(model), classes
        self._first = {} if classes is None or known is None else {"classes": np.asarray(known)}
        if classes is not None and known is None:
            raise ParameterError(f"{type(model).__name__} must be told all classes beforehand.")
        self._ready = False
        self._updates = 0

    def step(self, heat: Heat) -> Array:
        X = heat.X.tocsr() if hasattr(heat.X, "tocsr") else np.asarray(heat.X)
        labels: list[Any] = []
        for i in range(heat.rows.n_rows):
            row = X[i : i + 1]
            labels.append(self.model.predict(row)[0] if self._ready else None)
            if heat.counts is not None and not heat.counts[i]:
                continue
            more = {} if heat.weights is None else {"sample_weight": heat.weights[i : i + 1]}
            self.model.partial_fit(row, heat.y[i : i + 1], **self._first, **more)
            self._ready, self._first = True, {}
            self._updates += 1
        return _numbered(labels, self.classes)

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        return self._updates

    def nonzeros(self) -> int:
        return int(np.count_nonzero(getattr(self.model, "coef_", 0)))


class _DictRun:
    """A learner of river's kind, row by row: slow."""

    def __init__(self, model: Any, classes: Classes | None) -> None:
        self.model, self.classes = model.clone(), classes
        self._updates = 0

    def step(self, heat: Heat) -> Array:
        rows = heat.rows
        matrix: Any = heat.X.tocsr() if hasattr(heat.X, "tocsr") else np.asarray(heat.X)
        names = heat.names or range(rows.n_columns)
        labels: list[Any] = []
        for i, label in enumerate(np.asarray(heat.y).tolist()):
            if hasattr(matrix, "indptr"):
                part = slice(matrix.indptr[i], matrix.indptr[i + 1])
                places, values = matrix.indices[part].tolist(), matrix.data[part].tolist()
            else:
                places, values = range(rows.n_columns), matrix[i].tolist()
            x = {names[j]: value for j, value in zip(places, values, strict=True) if value}
            labels.append(self.model.predict_one(x))
            if heat.counts is not None and not heat.counts[i]:
                continue
            more = {} if heat.weights is None else {"w": float(heat.weights[i])}
            self.model.learn_one(x, label, **more)
            self._updates += 1
        return _numbered(labels, self.classes)

    def learned(self) -> Any:
        return self.model

    def updates(self) -> int:
        return self._updates

    def nonzeros(self) -> int:
        weights: Any = getattr(self.model, "weights", {})
        values = weights.values() if hasattr(weights, "values") else ()
        return sum(bool(np.any(value)) for value in values)


def _numbered(labels: list[Any], classes: Classes | None) -> Array:
    if classes is None:
        return np.array([0.0 if label is None else float(label) for label in labels])
    return classes.number_said(labels)
