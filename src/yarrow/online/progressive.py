"""`progressive`: each row of an array predicted, then learned, in one call.

The core does that for all rows of a batch in one call.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, ClassVar, NamedTuple

from yarrow import _core
from yarrow.data.arrays import Array, Rows, feature_names, labels_of, read_weights
from yarrow.data.frames import rows_in, series_like
from yarrow.data.labels import Labels
from yarrow.io.row_reader import rows_for
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.learners import check_tells
from yarrow.online.results import ProgressiveResult

CoreModel = _core.ModelF32 | _core.ModelF64


class ProgressiveMixin:
    """Rows that are predicted and learned in one call, for learners whose rows have labels."""

    #: what is predicted before any row was learned
    nothing: ClassVar[Any] = None
    #: rows are read as the core takes them
    _by_core: ClassVar[bool] = False

    def progressive(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        delay: int = 0,
        probabilities: bool = False,
    ) -> ProgressiveResult:
        """Predict each row, then learn it; all or nothing, and a second call goes on from there.

        With a `delay` a row is learned after so many rows that follow it were predicted; at the end
        of the call all rows are learned. To the bit what `predict` and `partial_fit` of one row at
        a time would say; `probabilities` adds what `predict_proba` would. A row of weight 0 is
        predicted and not learned.

        >>> from yarrow import Perceptron
        >>> model = Perceptron()
        >>> model.progressive([[1, 0], [0, 1], [1, 0]], ["a", "b", "a"]).predictions.tolist()
        [None, 'a', 'a']
        """
        from yarrow.online.delay import check_delay

        check_delay(delay)
        rows, names = self._read_named(X)
        batch = Batch(rows, names, y=labels_of(y), weights=sample_weight, classes=classes)
        return self._progressive(batch, int(delay), probabilities)

    def _read_named(self, X: Any) -> tuple[Rows, list[Any]]:
        """The rows of `X` and the names of its columns, checked against those seen before."""
        raise NotImplementedError

    def _progressive(
        self: Any, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        """Rows of an array, whose columns are kept; by a copy that takes the place of this one."""

        def change(twin: Any) -> ProgressiveResult:
            told: ProgressiveResult = twin._progressive_rows(batch, delay, probabilities)
            twin._keep_columns(batch.rows)
            return told

        return self._change(change)  # type: ignore[no-any-return]

    def _progressive_rows(
        self, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        """All rows or none; their columns may differ from call to call."""
        raise NotImplementedError

    def _learn_named(self, rows: Rows, names: list[Any], y: Any, weight: Any) -> None:
        """The same without an answer."""
        raise NotImplementedError

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        """Classes or values of rows whose columns may differ from call to call."""
        raise NotImplementedError

    def learn_many(self: Any, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a data frame in order; its columns may differ from call to call."""
        rows = rows_for(self, X, self._by_core)
        self._learn_named(rows, feature_names(X, rows), y, w)
        self._keep_stream(rows)

    def predict_many(self: Any, X: Any) -> Any:
        """What is predicted for the rows of a data frame, as a series of its library."""
        if not self.__sklearn_is_fitted__():
            return series_like(X, np.full(rows_in(X), self.nothing))
        rows = rows_for(self, X, self._by_core)
        return series_like(X, self._predict_rows(rows, feature_names(X, rows)))


class CoreResult(NamedTuple):
    """What the core says: a column a class, in the order of their appearance."""

    predictions: Array  # class numbers (-1: none known), or values
    scores: Any  # None unless they are wanted, as all that follows
    variances: Any = None  # of the margins
    calibrations: Any = None  # two numbers a row


class CoreProgressive(ProgressiveMixin):
    """The same for learners of the core."""

    _by_core = True

    def _read_named(self: Any, X: Any) -> tuple[Rows, list[Any]]:
        found: tuple[Rows, list[Any]] = self._read(X)
        return found

    def _progressive(
        self: Any, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        made: ProgressiveResult = self._progressive_rows(batch, delay, probabilities)
        self._keep_columns(batch.rows)
        return made

    def _progressive_rows(
        self: Any, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        if probabilities:
            check_tells(self, "probabilities")
        assert batch.rows is not None
        labels = self._read_labels(batch.y, batch.rows.n_rows)
        with self._learning_of(batch.classes) as model:
            found = core_result(model, batch, labels, delay=delay, wants_uncertainty=probabilities)
            made: ProgressiveResult = self._named_result(model, found)
        return made

    def _read_labels(self, y: Any, n_rows: int) -> Labels:
        """Labels as the core takes them."""
        raise NotImplementedError

    def _learning_of(self, classes: Any) -> AbstractContextManager[CoreModel]:
        """The model to learn with, checked against the classes that may come."""
        raise NotImplementedError

    def _named_result(self, model: CoreModel, found: CoreResult) -> ProgressiveResult:
        """What the core says, with the names of the classes in their order."""
        raise NotImplementedError


def core_result(
    model: CoreModel,
    batch: Batch,
    labels: Labels | None = None,
    *,
    delay: int = 0,
    wants_scores: bool = True,
    wants_uncertainty: bool = False,
    undo: bool = True,
) -> CoreResult:
    """What the core says of rows before it learns them; without `undo` a failure ruins the model.

    `wants_uncertainty`: also what makes probabilities of scores.
    """
    rows, known = batch.rows, labels or batch.labels
    assert rows is not None
    assert known is not None
    weights = read_weights(batch.weights, rows.n_rows)
    asked = (*known, weights, batch.names, delay, wants_scores, wants_uncertainty, undo)
    return CoreResult(*rows.given_to(model.predict_then_learn_rows, *asked))
