"""One way to use any learner: Yarrow's, scikit-learn's with partial_fit, river's with learn_one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal

from yarrow.composite.members import is_regression, says_not_fitted
from yarrow.data.labels import check_alike, distinct, in_order
from yarrow.errors import DataError, ParameterError
from yarrow.estimator import Estimator
from yarrow.lazy import np
from yarrow.linear_model.base import LinearModel
from yarrow.linear_model.progressive import Scores
from yarrow.stream.arrays import Array, exact_array
from yarrow.stream.sparse import to_csr

Wanted = Literal["predictions", "scores", "probabilities"]


def nonzeros(model: Any) -> int:
    """Weights that are not zero, without the intercept; of Yarrow's and scikit-learn's learners."""
    if isinstance(model, LinearModel) and "_model" not in model.__dict__:
        return 0  # nothing has been learned yet
    if hasattr(model, "n_nonzero_"):
        return int(model.n_nonzero_)
    if not hasattr(model, "coef_"):
        raise ParameterError(f"{type(model).__name__} has no weights that could be counted.")
    return int(np.count_nonzero(model.coef_))


def sparseness(model: Any) -> float:
    """Share of zeros among the weights of all features seen, for all classes.

    Oiwa et al. 2011 do not define their sparseness rate; this is how it is taken here.
    """
    if hasattr(model, "sparsity_"):
        return float(model.sparsity_)
    count = nonzeros(model)
    return 1.0 - count / np.size(model.coef_)


class Told:
    """What a learner said of rows: predictions, and scores of whatever classes it knew then."""

    def __init__(self, n: int, regression: bool) -> None:
        self.regression = regression
        # Before anything was learned, a regression says 0 and a classifier nothing.
        self.predictions: Array = np.zeros(n) if regression else np.full(n, None, dtype=object)
        self._parts: list[tuple[int, list[Any], Array]] = []

    def add(self, begin: int, predictions: Any, classes: Any = None, scores: Any = None) -> None:
        """Rows from `begin` on; a column of scores a class, or one for the second of two."""
        self.predictions[begin : begin + len(predictions)] = predictions
        if scores is None or classes is None or len(classes) < 2:
            return
        table = np.asarray(scores, dtype=np.float64)
        if table.ndim == 1 or table.shape[1] == 1:
            column = table.reshape(-1)
            table = np.column_stack([-column, column])
        self._parts.append((begin, exact_array(classes).tolist(), table))

    def add_all(self, begin: int, found: Scores, wanted: Wanted) -> None:
        """What `progressive` of a learner said of the rows from `begin` on."""
        if self.regression or wanted == "predictions":
            self.add(begin, found.predictions)
        else:
            scores = found.scores if wanted == "scores" else found.probabilities
            self.add(begin, found.predictions, found.classes, scores)

    def scores(self) -> tuple[list[Any], Array | None]:
        """All classes, and a line a row; NaN where a class was not known or nothing was said."""
        if not self._parts:
            return [], None
        names = {name: None for _, classes, _ in self._parts for name in classes}
        ordered = in_order(names)
        place = {name: i for i, name in enumerate(ordered)}
        whole = np.full((len(self.predictions), len(ordered)), np.nan)
        for begin, classes, table in self._parts:
            columns = [place[name] for name in classes]
            whole[begin : begin + len(table), columns] = table
        # The score of a class that is alone says nothing.
        whole[np.count_nonzero(~np.isnan(whole), axis=1) < 2] = np.nan
        return ordered, whole


class ArrayLearner:
    """A learner with `partial_fit` and `predict`, and rows in an array, matrix or data frame."""

    def __init__(self, model: Any, X: Any, y: Array, weights: Array | None, classes: Any) -> None:
        self.model, self.y, self.weights = model, y, weights
        self.X = rows_of(X)
        self.regression = is_regression(model)
        self._ready = False
        self._first: dict[str, Any] = {}
        if not self.regression and (classes is not None or not isinstance(model, LinearModel)):
            # scikit-learn must be told all classes before it learns the first row.
            told = distinct(y)[0] if classes is None else classes
            self._first = {"classes": exact_array(told)}
            if not isinstance(model, Estimator):
                check_alike(told, model)

    def predict(self, begin: int, end: int, told: Told, wanted: Wanted) -> None:
        """Tell about the rows from begin up to end."""
        rows = take(self.X, slice(begin, end))
        try:
            predictions = self.model.predict(rows)
        except Exception as error:
            if self._ready or not says_not_fitted(error):
                raise
            return
        self._ready = True
        if self.regression or wanted == "predictions":
            told.add(begin, predictions)
        else:
            told.add(begin, predictions, self.model.classes_, self._scores(rows, wanted))

    def _scores(self, rows: Any, wanted: Wanted) -> Any:
        if wanted == "scores" and hasattr(self.model, "decision_function"):
            return self.model.decision_function(rows)
        if not hasattr(self.model, "predict_proba"):
            raise ParameterError(f"{type(self.model).__name__} has no {wanted}.")
        return self.model.predict_proba(rows)

    def learn(self, places: Array) -> None:
        """Learn some rows, in one call."""
        if not len(places):
            return
        more = {} if self.weights is None else {"sample_weight": self.weights[places]}
        self.model.partial_fit(take(self.X, places), self.y[places], **self._first, **more)
        self._ready, self._first = True, {}


class DictLearner:
    """A learner with `learn_one` and `predict_one`; rows are dicts, or are made dicts."""

    def __init__(self, model: Any, X: Any, y: Array, weights: Array | None) -> None:
        self.model, self.X, self.weights = model, list(X) if _is_dicts(X) else dicts(X), weights
        self.y = y.tolist()
        self.regression = is_regression(model)
        if weights is not None and "w" not in inspect.signature(model.learn_one).parameters:
            raise ParameterError(f"{type(model).__name__}.learn_one takes no weights.")

    def predict(self, begin: int, end: int, told: Told, wanted: Wanted) -> None:
        """Tell about the rows from begin up to end."""
        for i in range(begin, end):
            prediction = self.model.predict_one(self.X[i])
            if prediction is None or self.regression or wanted == "predictions":
                told.add(i, [prediction if prediction is not None or not self.regression else 0.0])
                continue
            try:
                likely = self.model.predict_proba_one(self.X[i])
            except NotImplementedError:
                raise ParameterError(
                    f"{type(self.model).__name__} has no probabilities for rows that are dicts."
                ) from None
            told.add(i, [prediction], list(likely), [list(likely.values())])

    def learn(self, places: Array) -> None:
        """Learn some rows, one by one."""
        for i in places.tolist():
            more = {} if self.weights is None else {"w": float(self.weights[i])}
            self.model.learn_one(self.X[i], self.y[i], **more)


def learner(
    model: Any, X: Any, y: Array, weights: Array | None = None, classes: Any = None
) -> ArrayLearner | DictLearner:
    """The way to use a model on rows of this kind."""
    by_array = hasattr(model, "partial_fit") and hasattr(model, "predict")
    by_dict = hasattr(model, "learn_one") and hasattr(model, "predict_one")
    if by_dict and (_is_dicts(X) or not by_array):
        return DictLearner(model, X, y, weights)
    if not by_array:
        raise ParameterError(
            f"{type(model).__name__} has neither partial_fit and predict nor learn_one and "
            "predict_one, so it cannot learn row by row."
        )
    if _is_dicts(X):
        raise DataError(f"Rows that are dicts need a model with learn_one, not {model!r}.")
    return ArrayLearner(model, X, y, weights, classes)


def length(X: Any) -> int:
    """How many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def rows_of(X: Any) -> Any:
    """Rows as they are, but lists of numbers as an array, and sparse ones as sound CSR."""
    if hasattr(X, "tocsr"):
        return to_csr(X)
    return X if hasattr(X, "shape") or _is_dicts(X) else np.asarray(X)


def take(X: Any, places: Any) -> Any:
    """Some of the rows, whatever they are kept in."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if hasattr(X, "tocsr"):
        return X[places]
    if hasattr(X, "columns"):  # polars
        return X[places]
    if _is_dicts(X):
        return [X[i] for i in np.arange(len(X))[places]]
    return np.asarray(X)[places]


def _is_dicts(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)


def dicts(X: Any) -> list[dict[Any, float]]:
    """Rows as river wants them: by name or number of their column, without a matrix's zeros."""
    if hasattr(X, "tocsr"):
        csr = to_csr(X)
        bounds = zip(csr.indptr, csr.indptr[1:], strict=False)
        return [
            dict(zip(csr.indices[a:b].tolist(), csr.data[a:b].tolist(), strict=True))
            for a, b in bounds
        ]
    names = list(X.columns) if hasattr(X, "columns") else None
    table = np.asarray(X)
    return [dict(zip(names or range(len(row)), row, strict=True)) for row in table.tolist()]
