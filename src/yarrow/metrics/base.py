"""What all running metrics share: rows come one by one or in arrays, and count by their weight.

Metrics are ratios of sums. So `Fading` lets new rows gain weight instead of scaling old ones, and
`Windowed` keeps rows and counts them when asked: exact for any metric.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from yarrow.data.arrays import Array, exact_array
from yarrow.data.labels import in_order
from yarrow.errors import DataError
from yarrow.lazy import np

_MOST_PENDING = 4096

Uses = Literal["predictions", "scores", "probabilities"]


class Rows(NamedTuple):
    """Rows to be counted, all of positive weight; a column that a metric does not use is None."""

    labels: Array
    predictions: Array | None
    scores: Array | None  # one number a row
    weights: Array

    def take(self, places: Any) -> Rows:
        """Some of the rows."""
        return Rows(*(None if column is None else column[places] for column in self))  # type: ignore[arg-type]


class Metric:
    """A number that sums up rows seen so far; every row counts as much as its weight.

    A subclass keeps sums (`_reset`, `_add`, `_scale`) and makes its value of them (`_value`). The
    value must not change if all weights are multiplied by one number: `Fading` relies on that.

    Single rows wait in a list until there are many, or until the value is asked for, and then take
    the way of arrays. So there is one way to count, and a call costs about a microsecond.
    """

    name: str = ""
    higher_is_better: bool = True
    #: whether it is of a regression's values, not of classes
    of_values: bool = False
    #: what a row must bring along besides its label
    uses: Uses = "predictions"

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        self._pending: list[tuple[Any, Any, float, float]] = []
        self._rows = 0
        self._reset()

    def fresh(self) -> Self:
        """A metric with the same settings that has seen no rows."""
        twin = copy.copy(self)
        twin.reset()
        return twin

    def update(
        self, label: Any, prediction: Any = None, score: Any = None, weight: float = 1.0
    ) -> None:
        """Count one row. `score` is a number for the positive class, or a dict with all classes'.

        A row of weight 0 is absent.
        """
        if not (weight >= 0 and math.isfinite(weight)):
            raise DataError(
                f"A weight must be a finite number, at least 0. Got {weight!r} instead."
            )
        if weight == 0:
            return
        number = math.nan
        if self.uses != "predictions":
            if score is None:
                raise DataError(f"{self.name} needs {self.uses}, and a row came without.")
            by_class = isinstance(score, Mapping)
            number = self._score_in(label, score) if by_class else self._score(label, float(score))
        self._pending.append((label, prediction, number, weight))
        if len(self._pending) >= _MOST_PENDING:
            self._count_pending()

    def update_many(
        self,
        labels: Any,
        predictions: Any = None,
        scores: Any = None,
        weights: Any = None,
        *,
        classes: Any = None,
    ) -> None:
        """Count many rows, in order.

        `scores` has a number a row, for the positive class, or a column for each of `classes`.
        Where nothing was predicted, a prediction is None and a score NaN.
        """
        given = vector(labels, "labels")
        guesses = None if predictions is None else vector(predictions, "predictions")
        _check_length(guesses, "predictions", len(given))
        sizes = _weights(weights, len(given))
        numbers = None
        if self.uses != "predictions":
            if scores is None:
                raise DataError(f"{self.name} needs {self.uses}: pass scores=...")
            numbers = self._scores(given, np.asarray(scores, dtype=np.float64), classes)
        elif guesses is None:
            raise DataError(f"{self.name} needs predictions.")
        self._count_pending()
        rows, there = Rows(given, guesses, numbers, sizes), sizes > 0
        self._count(rows if there.all() else rows.take(there))

    @property
    def rows(self) -> int:
        """Rows counted, those of weight 0 left out."""
        return self._rows + len(self._pending)

    @property
    def value(self) -> float:
        """The number itself; NaN where the rows do not say, as at the beginning."""
        self._count_pending()
        return float(self._value()) if self._rows else math.nan

    def __repr__(self) -> str:
        return f"{self.name}: {self.value:.6g}"

    def _count_pending(self) -> None:
        if not self._pending:
            return
        labels, predictions, scores, weights = zip(*self._pending, strict=True)
        self._pending = []
        numbers = None if self.uses == "predictions" else np.array(scores)
        sizes = np.array(weights, dtype=float)
        self._count(Rows(_objects(labels), _objects(predictions), numbers, sizes))

    def _count(self, rows: Rows) -> None:
        if len(rows.labels):
            self._add(rows)
            self._rows += len(rows.labels)

    # -- what a subclass says ------------------------------------------------------------------

    def _reset(self) -> None:
        raise NotImplementedError

    def _add(self, rows: Rows) -> None:
        """Count rows."""
        raise NotImplementedError

    def _scale(self, factor: float) -> None:
        """Multiply the weights of all rows so far."""
        raise NotImplementedError

    def _value(self) -> float:
        raise NotImplementedError

    def _score(self, label: Any, score: float) -> float:
        """What is kept of the positive class's score."""
        return score

    def _score_in(self, label: Any, by_class: Mapping[Any, float]) -> float:
        """What is kept of all classes' scores."""
        raise NotImplementedError

    def _scores(self, labels: Array, scores: Array, classes: Any) -> Array:
        """What is kept of many rows' scores, checked."""
        raise NotImplementedError


class Mean(Metric):
    """The mean of some loss of each row."""

    higher_is_better = False

    def _reset(self) -> None:
        self._sum = self._all = 0.0

    def _add(self, rows: Rows) -> None:
        self._sum += float(rows.weights @ self._losses(rows))
        self._all += float(rows.weights.sum())

    def _losses(self, rows: Rows) -> Array:
        raise NotImplementedError

    def _scale(self, factor: float) -> None:
        self._sum *= factor
        self._all *= factor

    def _value(self) -> float:
        return self._sum / self._all if self._all else math.nan


def vector(values: Any, what: str) -> Array:
    """One value a row; numbers and words in one list stay what they are."""
    array = exact_array(values)
    if array.ndim != 1:
        raise DataError(f"The {what} must be one a row. Got the shape {array.shape} instead.")
    return array


def _objects(values: Any) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _weights(weights: Any, n: int) -> Array:
    if weights is None:
        return np.ones(n)
    array = np.asarray(weights, dtype=np.float64)
    _check_length(array, "weights", n)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"A weight must be finite and at least 0, but is {array[row]}", row=row)
    return array


def _check_length(array: Array | None, what: str, n: int) -> None:
    if array is not None and array.shape != (n,):
        raise DataError(f"There are {n} labels, but the {what} have the shape {array.shape}.")


def is_missing(values: Array) -> Array:
    """Where there is no value: None or NaN."""
    if values.dtype == object:
        # Only NaN is not equal to itself.
        return np.fromiter((v is None or v != v for v in values), dtype=bool, count=len(values))
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.zeros(len(values), dtype=bool)


def equal(one: Array, other: Array) -> Array:
    """Row by row, whatever the types are; nothing equals what is missing."""
    kinds = {one.dtype.kind, other.dtype.kind}
    if len(kinds) > 1 and not kinds <= set("iufb"):
        one, other = one.astype(object), other.astype(object)
    return np.asarray(one == other, dtype=bool)


def check_labels(labels: Array) -> None:
    """Every row must have a label."""
    missing = is_missing(labels)
    if missing.any():
        raise DataError("There is no label", row=int(np.argmax(missing)))


def positive_of(names: Any, given: Any = None) -> Any:
    """The positive class: as given; 1 of 0, 1 and -1; else the last of two in their order.

    None where too few classes are known to tell.
    """
    if given is not None:
        return given
    known = set(names)
    if known <= {-1, 0, 1} and not {-1, 0} <= known:
        return 1
    if len(known) > 2:
        shown = sorted(map(str, known))
        raise DataError(
            f"With more than two classes ({', '.join(shown[:5])}{'...' * (len(shown) > 5)}), say "
            "which one is positive by positive=..."
        )
    return in_order(known)[-1] if len(known) == 2 else None
