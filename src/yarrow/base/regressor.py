"""Regression: real targets, one weight vector."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self

from yarrow import _core
from yarrow.base.explanation import OneScore
from yarrow.base.linear import LinearModel
from yarrow.data.arrays import Array, Rows, feature_names, read_rows, read_values
from yarrow.errors import ParameterError
from yarrow.estimator import estimator
from yarrow.io.taught import as_taught, rows_as_taught
from yarrow.lazy import np
from yarrow.online.core_progressive import CoreProgressive, CoreResult
from yarrow.online.results import ProgressiveResult
from yarrow.saving.core_state import CoreModel


@estimator
class LinearRegressor(CoreProgressive, OneScore, LinearModel):
    """Base of the linear regressors."""

    river_bases: ClassVar[tuple[str, ...]] = ("Regressor", "MiniBatchRegressor")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        tags.target_tags.required = True
        return tags

    def _strategy(self, declared: list[Any]) -> _core.Strategy:
        return _core.Strategy.regression

    # -- scikit-learn ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn `max_iter` shuffled passes over the rows."""
        rows = read_rows(X, by_core=True)
        values = read_values(y, rows.n_rows)
        self._fit_passes(self._new_model([]), rows, (values, []), sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once."""
        rows, names = self._read(X)
        values = read_values(y, rows.n_rows)
        with self._learning([]) as model:
            self._learn(model, rows, names, (values, []), sample_weight)
        self._remember_columns(rows)
        return self

    def _read_labels(self, y: Any, n_rows: int) -> tuple[Array, list[Any]]:
        return read_values(y, n_rows), []

    def _learning_of(self, classes: Any) -> AbstractContextManager[CoreModel]:
        if classes is not None:
            raise ParameterError("A regression has no classes.")
        return self._learning([])

    def _named_result(self, model: CoreModel, found: CoreResult) -> ProgressiveResult:
        return ProgressiveResult(found.predictions, found.scores)

    def predict(self, X: Any) -> Array:
        """The predicted values."""
        return self._scores(X, variances=False)[0][:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination, R²."""
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones_like(y) if sample_weight is None else np.asarray(sample_weight)
        return _determination(y, self.predict(X), weights)

    def _score_held_out(
        self, model: Any, rows: Rows, labels: tuple[Array, list[Any]], weights: Array
    ) -> float:
        predicted = self._score_rows(model, rows, rows.names or [], variances=False)[0][:, 0]
        return _determination(labels[0], predicted, weights)

    # -- river -----------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> None:
        """Learn one row: features by name. A string as value makes the feature `name=value`."""
        if self._stream is not None:
            x = as_taught(self, x)
        model = self.__dict__.get("_model")
        if model is not None:
            model.learn_one(x, y, w)
            return
        with self._learning([]) as model:
            model.learn_one(x, y, w)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The predicted value; 0 before any row was learned."""
        if self._stream is not None:
            x = as_taught(self, x)
        model = self.__dict__.get("_model")
        return 0.0 if model is None else model.predict_one(x)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a data frame in order; its columns may differ from call to call."""
        rows = rows_as_taught(self, X, by_core=True)
        values = read_values(y, rows.n_rows)
        with self._learning([]) as model:
            self._learn(model, rows, feature_names(X, rows), (values, []), w)

    def predict_many(self, X: Any) -> Any:
        """The predicted values of the rows of a data frame, as a series."""
        import pandas as pd

        model = self.__dict__.get("_model")
        if model is None:
            return pd.Series(0.0, index=X.index)
        rows = rows_as_taught(self, X, by_core=True)
        scores = self._score_rows(model, rows, feature_names(X, rows), variances=False)[0]
        return pd.Series(scores[:, 0], index=X.index)


def _determination(y: Array, predicted: Array, weights: Array) -> float:
    residual = np.sum(weights * (y - predicted) ** 2)
    total = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
    return float(1 - residual / total) if total > 0 else float(residual == 0)
