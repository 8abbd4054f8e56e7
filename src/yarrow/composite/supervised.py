"""Labels or values: what classifiers and regressors made of learners add."""

from __future__ import annotations

from typing import Any, Self

from yarrow.composite.base import Composite, State
from yarrow.data.arrays import Array, Rows
from yarrow.data.labels import array_of, in_order
from yarrow.estimator import ClassifierMixin, RegressorMixin
from yarrow.lazy import np
from yarrow.online.batch import Batch


class CompositeClassifier(ClassifierMixin, Composite):
    """Labels, for estimators made of classifiers."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once. `classes` are all that may ever come."""
        self.progressive(X, y, sample_weight, classes=classes)
        return self

    @property
    def classes_(self) -> Array:
        """The classes seen, sorted."""
        self._fitted  # noqa: B018  (raises before anything was learned)
        return array_of(in_order(self._classes_seen()))

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        return self._predict_batch(*self._ask(X))

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        """Of rows whose columns may differ from call to call."""
        return self._predict_batch(self._fitted, self._batch(rows, names))

    def _predict_batch(self, state: State, batch: Batch) -> Array:
        with self._lock:
            said = self._said(state, batch)
        return array_of(list(state.codes))[np.maximum(said, 0)]

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class of one row; None before any row was learned."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            if state is None:
                return None
            code = int(self._said(state, batch)[0])
            return list(state.codes)[code] if code >= 0 else None


class CompositeRegressor(RegressorMixin, Composite):
    """Values, for estimators made of regressors."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once."""
        self.progressive(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Array:
        """The predicted values."""
        state, batch = self._ask(X)
        with self._lock:
            return self._said(state, batch)

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        """Of rows whose columns may differ from call to call."""
        with self._lock:
            return self._said(self._fitted, self._batch(rows, names))

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The predicted value; 0 before any row was learned."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            return 0.0 if state is None else float(self._said(state, batch)[0])
