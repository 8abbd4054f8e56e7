"""Metrics of predicted classes: error, accuracy, F1, and the confusion matrix behind them."""

from __future__ import annotations

import math
from typing import Any, Literal

from yarrow.data.arrays import Array
from yarrow.data.labels import in_order, number_of, numbered
from yarrow.errors import check_value
from yarrow.lazy import np
from yarrow.metrics.base import (
    Mean,
    Metric,
    Rows,
    check_labels,
    equal,
    is_missing,
    positive_of,
)


class Error(Mean):
    """Share of rows predicted wrongly; where nothing was predicted, that is wrong.

    >>> metric = Error()
    >>> metric.update("spam", "ham")
    >>> metric.update_many(["ham", "ham", "spam"], [None, "ham", "spam"])
    >>> metric.value, metric.rows
    (0.5, 4)
    """

    name = "error"

    def _losses(self, rows: Rows) -> Array:
        return ~_is_right(rows)


class Accuracy(Mean):
    """Share of rows predicted rightly."""

    name = "accuracy"
    higher_is_better = True

    def _losses(self, rows: Rows) -> Array:
        return _is_right(rows)


def _is_right(rows: Rows) -> Array:
    assert rows.predictions is not None
    check_labels(rows.labels)
    return equal(rows.labels, rows.predictions)


class ConfusionMatrix(Metric):
    """Which classes are taken for which.

    `matrix[i, j]` is the share of the rows of class j that were classified as i (Doppa's lecture
    on online learning): a column a true class, each adding up to 1, but for rows where nothing was
    predicted. `counts` has the numbers of rows in the same places; scikit-learn's matrix has rows
    and columns exchanged. The value is the share of rows on the diagonal, the accuracy.

    >>> metric = ConfusionMatrix()
    >>> metric.update_many(["a", "a", "b", "c"], ["a", "b", "b", "b"])
    >>> metric.labels
    ['a', 'b', 'c']
    >>> metric.matrix
    array([[0.5, 0. , 0. ],
           [0.5, 1. , 1. ],
           [0. , 0. , 0. ]])
    """

    name = "confusion matrix"

    def _reset(self) -> None:
        self._numbers: dict[Any, int] = {}  # of each class, by appearance
        self._cells: dict[tuple[int, int], float] = {}  # (label, prediction), -1 for none

    def update_pair(self, label: Any, prediction: Any, rows: int) -> None:
        """Count so many rows that are alike; it needs no numpy."""
        self._count_pending()
        self._rows += rows
        line = number_of(label, self._numbers)
        key = line, -1 if prediction is None else number_of(prediction, self._numbers)
        self._cells[key] = self._cells.get(key, 0.0) + rows

    def _add(self, rows: Rows) -> None:
        assert rows.predictions is not None
        check_labels(rows.labels)
        lines, columns = self._number(rows.labels), self._number(rows.predictions)
        k = len(self._numbers) + 1
        cells = lines * k + columns + 1
        if k * k <= 4 * len(cells) + 4096:
            sums = np.bincount(cells, rows.weights, minlength=k * k)
            found = np.flatnonzero(sums)
            sums = sums[found]
        else:
            found, places = np.unique(cells, return_inverse=True)
            sums = np.bincount(places, rows.weights)
        for cell, weight in zip(found.tolist(), sums.tolist(), strict=True):
            key = (cell // k, cell % k - 1)
            self._cells[key] = self._cells.get(key, 0.0) + weight

    def _number(self, names: Array) -> Array:
        """Classes as numbers; -1 where there is none."""
        numbers = self._numbers
        if names.dtype.kind in "iub":
            least, most = int(names.min()), int(names.max())
            if most - least < 1 << 16:
                places = names.astype(np.int64) - least
                table = np.zeros(most - least + 1, dtype=np.int64)
                for place in np.flatnonzero(np.bincount(places)).tolist():
                    table[place] = number_of(place + least, numbers)
                return np.asarray(table[places])
        missing = is_missing(names)
        found = np.full(len(names), -1, dtype=np.int64)
        found[~missing] = numbered(names[~missing].tolist(), numbers, add=True)
        return found

    def _scale(self, factor: float) -> None:
        self._cells = {key: weight * factor for key, weight in self._cells.items()}

    def _sums(self) -> tuple[Array, Array, Array]:
        """Of each class by number: rows, predictions, and rows predicted rightly."""
        k = len(self._numbers)
        keys, weights = np.array(list(self._cells)), np.array(list(self._cells.values()))
        labels, guesses = keys[:, 0], keys[:, 1]
        right = labels == guesses
        return (
            np.bincount(labels, weights, minlength=k),
            np.bincount(guesses + 1, weights, minlength=k + 1)[1:],
            np.bincount(labels[right], weights[right], minlength=k),
        )

    def _value(self) -> float:
        rows, _, right = self._sums()
        return float(right.sum() / rows.sum())

    @property
    def labels(self) -> list[Any]:
        """The classes seen or predicted, in order; the lines and columns of the matrix."""
        self._count_pending()
        return in_order(self._numbers)

    @property
    def cells(self) -> dict[tuple[Any, Any], float]:
        """Rows (or their weights) by true class and prediction, where there are any."""
        self._count_pending()
        names: list[Any] = [*self._numbers, None]
        return {(names[row], names[guess]): w for (row, guess), w in self._cells.items()}

    @property
    def counts(self) -> Array:
        """Rows (or their weights) by prediction, a line each, and true class, a column each."""
        names = self.labels
        place = {self._numbers[name]: i for i, name in enumerate(names)}
        table = np.zeros((len(names), len(names)))
        for (label, guess), weight in self._cells.items():
            if guess >= 0:
                table[place[guess], place[label]] = weight
        return table

    @property
    def unpredicted(self) -> Array:
        """Rows of each class for which nothing was predicted."""
        cells, names = self._cells, self.labels
        return np.array([cells.get((self._numbers[name], -1), 0.0) for name in names])

    @property
    def matrix(self) -> Array:
        """Shares of each true class; NaN in the column of a class that was only predicted."""
        counts = self.counts
        rows = counts.sum(axis=0) + self.unpredicted
        shares: Array = np.full_like(counts, np.nan)
        np.divide(counts, rows, out=shares, where=rows > 0)
        return shares


class BalancedAccuracy(ConfusionMatrix):
    """Mean over the classes of the share of a class's rows predicted rightly."""

    name = "balanced accuracy"

    def _value(self) -> float:
        rows: dict[int, float] = {}
        for (label, _), weight in self._cells.items():
            rows[label] = rows.get(label, 0.0) + weight
        shares = [self._cells.get((k, k), 0.0) / all_ for k, all_ in rows.items() if all_ > 0]
        return math.fsum(shares) / len(shares)


class F1(ConfusionMatrix):
    """2*precision*recall / (precision + recall); 0 where both are 0.

    average : "binary", of the class `positive`; "macro", the mean over all classes seen or
        predicted; "micro", of the sums over all classes
    positive : by default 1 of the labels 0, 1, -1, else the last of two classes in their order

    >>> metric = F1(average="macro")
    >>> metric.update_many([0, 1, 2, 2], [0, 2, 2, 2])
    >>> round(metric.value, 4)
    0.6
    """

    def __init__(
        self, average: Literal["binary", "macro", "micro"] = "binary", positive: Any = None
    ) -> None:
        known = average in ("binary", "macro", "micro")
        check_value(known, "average", average, "'binary', 'macro' or 'micro'")
        self.average, self.positive = average, positive
        self.name = "F1" if average == "binary" else f"{average} F1"
        super().__init__()

    def _value(self) -> float:
        rows, predicted, right = self._sums()
        if self.average == "micro":
            return float(2 * right.sum() / (rows.sum() + predicted.sum()))
        there = rows + predicted > 0  # what fades long enough is gone
        each = np.where(there, 2 * right / np.where(there, rows + predicted, 1), 0.0)
        if self.average == "macro":
            return float(each[there].mean())
        positive = positive_of(self._numbers, self.positive)
        if positive is None:
            return float("nan")
        return float(each[self._numbers[positive]]) if positive in self._numbers else 0.0
