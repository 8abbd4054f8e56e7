"""Regression: real targets, one weight vector."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Self

from yarrow.base.explanation import OneScore
from yarrow.base.linear import SupervisedModel
from yarrow.data.arrays import Array, Rows, read_values
from yarrow.data.labels import Labels
from yarrow.errors import ParameterError
from yarrow.estimator import RegressorMixin, determination, estimator
from yarrow.io.row_reader import rows_for
from yarrow.online.progressive import CoreModel, CoreResult
from yarrow.online.results import ProgressiveResult


@estimator
class LinearRegressor(RegressorMixin, OneScore, SupervisedModel):
    """Base of the linear regressors."""

    nothing = 0.0

    core_strategy = "regression"

    # -- scikit-learn ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn `max_iter` shuffled passes over the rows."""
        rows = rows_for(self, X, by_core=True, fresh=True)
        values = read_values(y, rows.n_rows)
        self._fit_passes(self._new_model([]), rows, (values, []), sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once."""
        self._partial_fit(X, y, None, sample_weight)
        return self

    def _read_labels(self, y: Any, n_rows: int) -> Labels:
        return read_values(y, n_rows), []

    def _learning_of(self, classes: Any) -> AbstractContextManager[CoreModel]:
        if classes is not None:
            raise ParameterError("A regression has no classes.")
        return self._learning([])

    def _named_result(self, model: CoreModel, found: CoreResult) -> ProgressiveResult:
        return ProgressiveResult(found.predictions, found.scores)

    def _predicted(self, scores: Array) -> Array:
        return scores[:, 0]

    def _score_held_out(self, model: Any, rows: Rows, labels: Labels, weights: Array) -> float:
        predicted = self._score_rows(model, rows, rows.names or [], variances=False)[0][:, 0]
        return determination(labels[0], predicted, weights)
