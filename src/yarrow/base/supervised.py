"""Rows with labels: what linear classifiers and regressors share."""

from __future__ import annotations

from typing import Any

from yarrow.base.linear import LinearModel
from yarrow.data.arrays import Array, Rows
from yarrow.estimator import estimator
from yarrow.io.row_reader import row_for, row_to_predict
from yarrow.online.progressive import CoreProgressive


@estimator
class SupervisedModel(CoreProgressive, LinearModel):
    """Base of the linear learners of labels or values."""

    def _predicted(self, scores: Array) -> Array:
        """Labels or values, from the scores of each class in the order of appearance."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The class with the highest score, the one seen first if several have it; or values."""
        return self._predicted(self._scores(X, variances=False)[0])

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        scores = self._score_rows(self._fitted, rows, names, variances=False)[0]
        return self._predicted(scores)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        rows, names = self._read(X)
        self._learn_named(rows, names, y, sample_weight, classes)
        self._keep_columns(rows)

    def _learn_named(
        self, rows: Rows, names: list[Any], y: Any, weight: Any, classes: Any = None
    ) -> None:
        labels = self._read_labels(y, rows.n_rows)
        with self._learning_of(classes) as model:
            self._learn(model, rows, names, labels, weight)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row: features by name. A string as value makes the feature `name=value`."""
        if self._stream is not None:
            x = row_for(self, x)
        model = self.__dict__.get("_model")
        if model is not None:
            model.learn_one(x, y, w)
            return
        with self._learning_of(None) as model:
            model.learn_one(x, y, w)

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class or value of one row; None or 0 before any row was learned."""
        model = self.__dict__.get("_model")
        return self.nothing if model is None else model.predict_one(row_to_predict(self, model, x))
