"""Labels or values: what classifiers and regressors made of learners add."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from yarrow.composite.base import Composite, State
from yarrow.data.arrays import Array, Rows, feature_names
from yarrow.data.labels import array_of, in_order
from yarrow.estimator import ClassifierMixin
from yarrow.io.taught import rows_as_taught
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
        return self._predict_block(*self._ask(X))

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        """Of rows whose columns may differ from call to call."""
        return self._predict_block(self._fitted, self._block(rows, names))

    def _predict_block(self, state: State, block: Batch) -> Array:
        with self._lock:
            said = self._said(state, block)
        return array_of(list(state.codes))[np.maximum(said, 0)]

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class of one row; None before any row was learned."""
        block = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            if state is None:
                return None
            code = int(self._said(state, block)[0])
            return list(state.codes)[code] if code >= 0 else None

    def predict_many(self, X: Any) -> Any:
        """The classes of the rows of a data frame, as a series."""
        import pandas as pd

        state = self.__dict__.get("_state")
        if state is None:
            return pd.Series([None] * len(X), index=X.index, dtype=object)
        rows = rows_as_taught(self, X)
        return pd.Series(self._predict_rows(rows, feature_names(X, rows)), index=X.index)


class CompositeRegressor(Composite):
    """Values, for estimators made of regressors."""

    river_bases: ClassVar[tuple[str, ...]] = ("Regressor", "MiniBatchRegressor")
    regression: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        tags.target_tags.required = True
        return tags

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once."""
        self.progressive(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Array:
        """The predicted values."""
        state, block = self._ask(X)
        with self._lock:
            return self._said(state, block)

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        """Of rows whose columns may differ from call to call."""
        with self._lock:
            return self._said(self._fitted, self._block(rows, names))

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The predicted value; 0 before any row was learned."""
        block = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            return 0.0 if state is None else float(self._said(state, block)[0])

    def predict_many(self, X: Any) -> Any:
        """The predicted values of the rows of a data frame, as a series."""
        import pandas as pd

        state = self.__dict__.get("_state")
        if state is None:
            return pd.Series(0.0, index=X.index)
        rows = rows_as_taught(self, X)
        return pd.Series(self._predict_rows(rows, feature_names(X, rows)), index=X.index)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination, R²."""
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones_like(y) if sample_weight is None else np.asarray(sample_weight)
        residual = np.sum(weights * (y - self.predict(X)) ** 2)
        total = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        return float(1 - residual / total) if total > 0 else float(residual == 0)
