"""Predict each row, then learn it: all rows of an array in one call, at the speed of learning."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from yarrow.errors import ParameterError
from yarrow.lazy import np
from yarrow.stream.arrays import Array, Rows, read_weights

if TYPE_CHECKING:
    from yarrow.linear_model.owner import CoreModel

Labels = tuple[Array, list[Any]]


@dataclasses.dataclass(frozen=True)
class Scores:
    """What a learner said of rows before it learned them."""

    #: a label a row, None where no class was known yet; the values of a regression
    predictions: Array
    #: a column a class in the order of `classes`, NaN before a class appeared; one column for a
    #: regression and for two declared classes, where it speaks for the second and is NaN before
    #: both have appeared
    scores: Array
    #: all classes known at the end, sorted; None for a regression
    classes: Array | None = None


class Foretelling:
    """`progressive`, for learners whose rows have labels."""

    def progressive(
        self: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        delay: int = 0,
    ) -> Scores:
        """Predict each row, then learn it; all or nothing, and a second call goes on from there.

        With a `delay` a row is learned after so many rows that follow it were predicted; at the end
        of the call all rows are learned. To the bit what `predict` and `partial_fit` of one row at
        a time would say.

        >>> from yarrow import Perceptron
        >>> model = Perceptron()
        >>> model.progressive([[1, 0], [0, 1], [1, 0]], ["a", "b", "a"]).predictions.tolist()
        [None, 'a', 'a']
        """
        if isinstance(delay, bool) or not isinstance(delay, (int, np.integer)) or delay < 0:
            raise ParameterError(f"The delay must be an integer >= 0. Got {delay!r} instead.")
        rows, names = self._read(X, reset=False)
        labels = self._read_labels(y, rows.n_rows)
        with self._learning_of(classes) as model:
            found = foretell(model, rows, names, labels, sample_weight, delay=int(delay))
            made: Scores = self._foretold(model, *found)
        self._remember_columns(rows)
        return made

    def _read_labels(self, y: Any, n_rows: int) -> Labels:
        """Labels as the core takes them."""
        raise NotImplementedError

    def _learning_of(self, classes: Any) -> AbstractContextManager[CoreModel]:
        """The model to learn with, checked against the classes that may come."""
        raise NotImplementedError

    def _foretold(self, model: CoreModel, predictions: Array, scores: Array) -> Scores:
        raise NotImplementedError


def foretell(
    model: CoreModel,
    rows: Rows,
    names: list[Any],
    labels: Labels,
    sample_weight: Any = None,
    *,
    delay: int = 0,
    wants_scores: bool = True,
    undo: bool = True,
) -> tuple[Array, Any]:
    """Class numbers in the order of appearance (-1: none known) or values; and scores, if wanted.

    Without `undo` a failure leaves the model unusable.
    """
    weights = read_weights(sample_weight, rows.n_rows)
    rest = (*labels, weights, names, delay, wants_scores, undo)
    if rows.begins is None or rows.indices is None:
        return model.foretell_dense(rows.values, *rest)
    return model.foretell_sparse(rows.begins, rows.indices, rows.values, rows.n_columns, *rest)
