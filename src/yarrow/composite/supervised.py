"""Labels or values: what classifiers and regressors made of learners add."""

from __future__ import annotations

from typing import Any, Self

from yarrow.base.state_estimator import StateClassifier
from yarrow.composite.base import Composite, State
from yarrow.data.arrays import Array, Rows, feature_names
from yarrow.data.frames import frame_like
from yarrow.data.labels import order_of
from yarrow.estimator import RegressorMixin
from yarrow.io.row_reader import rows_for
from yarrow.online.batch import Batch


class CompositeClassifier(StateClassifier, Composite):
    """Labels, for estimators made of classifiers."""


class CompositeProbabilities:
    """predict_proba and its kin, of what `_probabilities` says of rows."""

    _lock: Any
    _fitted: Any
    _ask: Any
    _batch: Any
    _one: Any

    def _probabilities(self, state: State, batch: Batch) -> Array:
        """A column a class in the order of their appearance."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Array:
        """Probabilities, a column a class in the order of `classes_`."""
        return self._in_order(*self._ask(X))

    def _probability_table(self, rows: Rows, names: list[Any]) -> Array:
        """Of rows whose columns may differ from call to call."""
        return self._in_order(self._fitted, self._batch(rows, names))

    def _in_order(self, state: State, batch: Batch) -> Array:
        with self._lock:  # another thread may bring a class before and after
            return self._probabilities(state, batch)[:, order_of(state.classes)]

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The probability of each class seen."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            if state is None:
                return {}
            row = self._probabilities(state, batch)[0]
            return dict(zip(state.codes, row.tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities as a data frame of the same library, a column a class."""
        state = self.__dict__.get("_state")
        if state is None:
            return frame_like(X, {})
        rows = rows_for(self, X)
        batch = self._batch(rows, feature_names(X, rows))
        with self._lock:
            table, classes = self._probabilities(state, batch), list(state.codes)
        return frame_like(X, zip(classes, table.T, strict=True))


class CompositeRegressor(RegressorMixin, Composite):
    """Values, for estimators made of regressors."""

    nothing = 0.0

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once."""
        self._partial_fit(X, y, sample_weight)
        return self

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The predicted value; 0 before any row was learned."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            return 0.0 if state is None else float(self._said(state, batch)[0])
