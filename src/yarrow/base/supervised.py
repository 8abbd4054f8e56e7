"""Rows with labels: what linear classifiers and regressors share."""

from __future__ import annotations

from typing import Any, ClassVar

from yarrow.base.linear import LinearModel
from yarrow.data.arrays import Array, feature_names
from yarrow.data.frames import rows_in, series_like
from yarrow.estimator import estimator
from yarrow.io.taught import as_taught, rows_as_taught
from yarrow.lazy import np
from yarrow.online.progressive import CoreProgressive


@estimator
class SupervisedModel(CoreProgressive, LinearModel):
    """Base of the linear learners of labels or values."""

    #: what is predicted before any row was learned
    nothing: ClassVar[Any] = None

    def _predicted(self, scores: Array) -> Array:
        """Labels or values, from the scores of each class in the order of appearance."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The class with the highest score, the one seen first if several have it; or values."""
        return self._predicted(self._scores(X, variances=False)[0])

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        rows, names = self._read(X)
        labels = self._read_labels(y, rows.n_rows)
        with self._learning_of(classes) as model:
            self._learn(model, rows, names, labels, sample_weight)
        self._keep_columns(rows)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row: features by name. A string as value makes the feature `name=value`."""
        if self._stream is not None:
            x = as_taught(self, x)
        model = self.__dict__.get("_model")
        if model is not None:
            model.learn_one(x, y, w)
            return
        with self._learning_of(None) as model:
            model.learn_one(x, y, w)

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class or value of one row; None or 0 before any row was learned."""
        if self._stream is not None:
            x = as_taught(self, x)
        model = self.__dict__.get("_model")
        return self.nothing if model is None else model.predict_one(x)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a data frame in order; its columns may differ from call to call."""
        rows = rows_as_taught(self, X, by_core=True)
        labels = self._read_labels(y, rows.n_rows)
        with self._learning_of(None) as model:
            self._learn(model, rows, feature_names(X, rows), labels, w)
        self._keep_stream(rows)

    def predict_many(self, X: Any) -> Any:
        """What is predicted for the rows of a data frame, as a series of its library."""
        model = self.__dict__.get("_model")
        if model is None:
            return series_like(X, np.full(rows_in(X), self.nothing))
        rows = rows_as_taught(self, X, by_core=True)
        scores = self._score_rows(model, rows, feature_names(X, rows), variances=False)[0]
        return series_like(X, self._predicted(scores))
