"""Predict each row, then learn it: all rows of an array in one call, at the speed of learning."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

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
    #: if they were asked for: a column a class, NaN as in `scores`
    probabilities: Array | None = None

    def only(self, rows: Array) -> Scores:
        """What was said of some of the rows."""
        likely = None if self.probabilities is None else self.probabilities[rows]
        return Scores(self.predictions[rows], self.scores[rows], self.classes, likely)


class Foretold(NamedTuple):
    """The same as the core tells it: a column a class, in the order of their appearance."""

    predictions: Array  # class numbers (-1: none known), or values
    scores: Any  # None unless they are wanted, as all that follows
    variances: Any = None  # of the margins
    calibrations: Any = None  # two numbers a row


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
        probabilities: bool = False,
    ) -> Scores:
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
        check_delay(delay)
        rows, names = self._read(X)
        made: Scores = self._foretell_rows(
            rows, names, y, sample_weight, int(delay), classes=classes, probabilities=probabilities
        )
        self._remember_columns(rows)
        return made

    def _foretell_rows(
        self: Any,
        rows: Rows,
        names: list[Any],
        y: Any,
        sample_weight: Any = None,
        delay: int = 0,
        *,
        classes: Any = None,
        probabilities: bool = False,
    ) -> Scores:
        """All rows or none; their columns may differ from call to call."""
        if probabilities and not hasattr(self, "predict_proba"):
            raise ParameterError(f"{type(self).__name__} has no probabilities.")
        labels = self._read_labels(y, rows.n_rows)
        with self._learning_of(classes) as model:
            found = foretell(
                model, rows, names, labels, sample_weight, delay=delay, wants_doubts=probabilities
            )
            made: Scores = self._foretold(model, found)
        return made

    def _read_labels(self, y: Any, n_rows: int) -> Labels:
        """Labels as the core takes them."""
        raise NotImplementedError

    def _learning_of(self, classes: Any) -> AbstractContextManager[CoreModel]:
        """The model to learn with, checked against the classes that may come."""
        raise NotImplementedError

    def _foretold(self, model: CoreModel, told: Foretold) -> Scores:
        raise NotImplementedError


def is_count(number: Any) -> bool:
    """Whether it is a whole number that counts something; numpy calls a timedelta an integer."""
    is_integer = isinstance(number, (int, np.integer)) and not isinstance(number, np.timedelta64)
    return is_integer and not isinstance(number, bool) and bool(number >= 0)


def check_delay(delay: Any) -> None:
    """Refuse what is no number of rows."""
    if not is_count(delay):
        raise ParameterError(f"The delay must be an integer >= 0. Got {delay!r} instead.")


def foretell(
    model: CoreModel,
    rows: Rows,
    names: list[Any],
    labels: Labels,
    sample_weight: Any = None,
    *,
    delay: int = 0,
    wants_scores: bool = True,
    wants_doubts: bool = False,
    undo: bool = True,
) -> Foretold:
    """What the core says of rows before it learns them; without `undo` a failure ruins the model.

    `wants_doubts`: also what makes probabilities of scores.
    """
    weights = read_weights(sample_weight, rows.n_rows)
    rest = (*labels, weights, names, delay, wants_scores, wants_doubts, undo)
    if rows.begins is None or rows.indices is None:
        return Foretold(*model.foretell_dense(rows.values, *rest))
    begins, indices, values, width = rows.begins, rows.indices, rows.values, rows.n_columns
    return Foretold(*model.foretell_sparse(begins, indices, values, width, *rest))
