"""Estimators that learn in Python: kernels, and those that are made of other learners.

What they have learned is one state. A subclass says what a batch of rows does to a state (`_walk`):
predict each row, then learn it; `partial_fit` leaves the answer out. Arrays are learned by a copy
that takes the state's place; one row by the state itself, which can take it back (`attempt`).
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

from yarrow.data.arrays import (
    Array,
    Rows,
    check_columns,
    check_values,
    labels_of,
    read_values,
    read_weights,
)
from yarrow.data.labels import Labels, array_of, in_order, named, order_of, read_labels
from yarrow.errors import DataError, ParameterError
from yarrow.estimator import ClassifierMixin, Estimator, LearnsArrays, Shared, columns_of
from yarrow.io.row_reader import row_for, rows_for
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.delay import steps
from yarrow.online.progressive import ProgressiveMixin
from yarrow.online.results import ProgressiveResult
from yarrow.saving.codec import Saved


class StateEstimator(ProgressiveMixin, LearnsArrays, Saved, Shared, Estimator):
    """Base of all that learns in Python."""

    _state: Any
    _learned_as: ClassVar[str] = "_state"
    learns_rows: ClassVar[bool] = True
    is_dear: ClassVar[bool] = True
    max_iter: int
    shuffle: bool
    random_state: int

    # -- what a subclass says --------------------------------------------------------------------

    def _new_state(self) -> Any:
        """A state that has learned nothing."""
        raise NotImplementedError

    def _walk(self, state: Any, batch: Batch) -> Any:
        """Predict each row, then learn it: what is said of the rows."""
        raise NotImplementedError

    def _said(self, state: Any, batch: Batch) -> Any:
        """What is said of rows that are not learned."""
        raise NotImplementedError

    def _predict_batch(self, state: Any, batch: Batch) -> Array:
        """The same as classes or values."""
        with self._lock:
            return np.asarray(self._said(state, batch))

    def _unsaid(self) -> Any:
        """What is said of a row before any was learned: no class, or 0."""
        return 0.0 if self.regression else -1

    def _result(self, said: Any) -> ProgressiveResult:
        """What was said, with the names of classes."""
        numbers, none = np.asarray(said), np.full((len(said), 0), np.nan)
        if self.regression:
            return ProgressiveResult(numbers, none)
        known = self._classes_seen()
        return ProgressiveResult(named(numbers, known), none, array_of(in_order(known)))

    def _text_name(self) -> str | None:
        """A feature that is called by a text, if there is one."""
        raise NotImplementedError

    # -- rows ------------------------------------------------------------------------------------

    def _read(self, X: Any) -> Rows:
        rows = rows_for(self, X)
        known = self.__dict__.get("_n_features_in")
        names = self.__dict__.get("_feature_names_in")
        check_columns(type(self).__name__, rows, known, names, self._text_name)
        return rows

    def _names_of(self, rows: Rows) -> list[Any]:
        return rows.names or self.__dict__.get("_feature_names_in") or []

    def _read_named(self, X: Any) -> tuple[Rows, list[Any]]:
        rows = self._read(X)
        return rows, self._names_of(rows)

    def _batch(
        self, rows: Rows, names: list[Any], y: Any = None, weight: Any = None, classes: Any = None
    ) -> Batch:
        """Rows of an array, looked at before anything is learned of them."""
        check_values(rows)
        labels = None if y is None else self._read_labels(y, rows.n_rows)
        known = None if classes is None else np.asarray(classes).tolist()
        return Batch(rows, names, None, labels, read_weights(weight, rows.n_rows), known)

    def _read_labels(self, y: Any, n_rows: int) -> Labels:
        return (read_values(y, n_rows), []) if self.regression else read_labels(y, n_rows)

    def _one(self, x: Any, y: Any = None, w: float | None = None) -> Batch:
        """One row, a dict."""
        labels = None if y is None else self._read_labels([y], 1)
        weights = None if w in (None, 1.0) else read_weights([w], 1)
        return Batch(row=row_for(self, x), labels=labels, weights=weights)

    def _ask(self, X: Any) -> tuple[Any, Batch]:
        """What has been learned, and rows to be predicted by it."""
        state = self._fitted
        batch = self._batch(*self._read_named(X))
        state.check_values(batch)
        return state, batch

    def predict(self, X: Any) -> Array:
        """The class, or the value, of each row."""
        return self._predict_batch(*self._ask(X))

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        return self._predict_batch(self._fitted, self._batch(rows, names))

    # -- learning --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn `max_iter` passes over the rows."""
        rows = rows_for(self, X, fresh=True)
        batch = self._batch(rows, rows.names or [], labels_of(y), sample_weight)
        if not self.regression:
            batch = dataclasses.replace(batch, classes=in_order(set(batch.truth)))
        state = self._new_state()
        state.check(batch)
        random = np.random.default_rng(self.random_state)
        for _ in range(self.max_iter):
            order = random.permutation(rows.n_rows) if self.shuffle else np.arange(rows.n_rows)
            try:
                self._walk(state, batch.take(order))
            except DataError as error:
                if error.row is None:
                    raise
                row = int(order[error.row])
                raise type(error)(error.problem, row=row, field=error.field) from None
        self._keep_fitted(state, rows, self.max_iter)
        return self

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row: features by name. A string as value makes the feature `name=value`."""
        if y is None:
            raise DataError("There is no label to learn: y contains NaN (None).")
        batch = self._one(x, y, w)
        with self._lock:
            self._learn_batch(batch)

    def _partial_fit(self, X: Any, y: Any, weight: Any, classes: Any = None) -> None:
        rows, names = self._read_named(X)
        batch = self._batch(rows, names, labels_of(y), weight, classes)

        def learn(twin: Self) -> None:
            twin._learn_batch(batch)
            twin._keep_columns(rows)

        self._change(learn)

    def _learn_named(self, rows: Rows, names: list[Any], y: Any, weight: Any) -> None:
        batch = self._batch(rows, names, y, weight)
        with self._lock:
            self._learn_batch(batch)

    def _learn_batch(self, batch: Batch) -> Any:
        """All rows or none: a copy learns, and takes the place of the old state if all went well.

        One row needs no copy: what was learned of it is taken back if it is refused.
        """
        state = self.__dict__.get("_state")
        if state is not None and len(batch) == 1:
            state.check(batch)
            said = state.attempt(lambda: self._walk(state, batch))
            return said
        working = self._new_state() if state is None else state.copy()
        working.check(batch)
        said = self._walk(working, batch)
        if working.t:
            self._state = working
        return said

    def _progressive_rows(
        self, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        if probabilities:
            raise ParameterError(
                f"{type(self).__name__} does not predict probabilities while it learns."
            )
        assert batch.rows is not None
        batch = self._batch(batch.rows, batch.names, batch.y, batch.weights, batch.classes)
        with self._lock:
            if delay:
                said = self._change(lambda twin: twin._late_rows(batch, delay))
            else:
                said = self._learn_batch(batch)
            return self._result(said)

    def _late_rows(self, batch: Batch, delay: int) -> list[Any]:
        """Row by row, each learned when so many more have been predicted; all of them, or none."""
        if "_state" in self.__dict__:
            self._state = self._state.copy()
        ones, said = batch.one_by_one(), list[Any]()
        i = 0
        try:
            for begin, end, due in steps(len(ones), delay=delay):
                for i in range(begin, end):
                    state = self.__dict__.get("_state")
                    said += [self._unsaid()] if state is None else list(self._said(state, ones[i]))
                for i in due.tolist():
                    self._learn_batch(ones[i])
        except DataError as error:
            if error.row is None:
                raise
            raise type(error)(error.problem, row=i, field=error.field) from None
        return said

    # -- what was learned ------------------------------------------------------------------------

    def _keep_fitted(self, state: Any, rows: Rows, n_iter: int) -> None:
        """Take a state that `fit` made, and forget how other rows were read: all in one step."""
        if not state.t:
            raise DataError("All sample weights are zero: there is no row to learn.")
        found = {"_state": state, "_n_iter": n_iter, "_stream": None}
        with self._lock:
            self.__dict__.update(found | columns_of(rows))

    @property
    def _fitted(self) -> Any:
        self._check_fitted()
        return self._state

    @property
    def t_(self) -> int:
        """Rows learned."""
        return int(self._fitted.t)

    @property
    def _raw_memory_usage(self) -> int:
        state = self.__dict__.get("_state")
        return super()._raw_memory_usage + (0 if state is None else int(state.nbytes))

    def _classes_seen(self) -> list[Any]:
        """The classes in the order of their appearance."""
        state = self.__dict__.get("_state")
        return [] if state is None else state.classes


class StateClassifier(ClassifierMixin, StateEstimator):
    """Base of the classifiers that learn in Python."""

    def _numbers(self, said: Any) -> Any:
        """What is said as class numbers, -1 for none."""
        return said

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once. `classes` are all that may ever come."""
        self._partial_fit(X, y, sample_weight, classes)
        return self

    @property
    def classes_(self) -> Array:
        """The classes seen, sorted."""
        return array_of(in_order(self._fitted.classes))

    def _predict_batch(self, state: Any, batch: Batch) -> Array:
        with self._lock:
            numbers: Array = np.maximum(self._numbers(self._said(state, batch)), 0)
            return array_of(state.classes)[numbers]

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class of one row; None before any row was learned."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            if state is None:
                return None
            number = int(self._numbers(self._said(state, batch))[0])
            return state.classes[number] if number >= 0 else None


class ScoringClassifier(StateClassifier):
    """Base of those that have a score for each class."""

    #: the scores of two classes are each other's negatives
    _mirrored: ClassVar[bool] = True

    def _scores(self, state: Any, batch: Batch) -> Array:
        """A column a class in the order of their appearance."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Scores: of the second class where there are two, else a column a class."""
        return self._decision(self._score_batch(*self._ask(X)), self._mirrored)

    def _score_table(self, rows: Rows, names: list[Any]) -> Array:
        """A column a class in the order of `classes_`; of rows of any columns."""
        return self._score_batch(self._fitted, self._batch(rows, names))

    def _score_batch(self, state: Any, batch: Batch) -> Array:
        with self._lock:  # another thread may bring a class before and after
            return self._scores(state, batch)[:, order_of(state.classes)]
