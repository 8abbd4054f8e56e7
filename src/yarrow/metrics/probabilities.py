"""Metrics of probabilities: log loss, Brier score and calibration error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import DataError, check_value
from yarrow.lazy import np
from yarrow.metrics.base import Mean, Rows, Uses, equal, positive_of
from yarrow.metrics.scores import OfScores, is_table

_LEAST = 1e-15  # probability that a log is taken of


class _OfProbabilities(OfScores):
    """A metric of what a row gave to each class.

    Scores are probabilities: of the positive class, or of every class. A class that has no
    probability counts as 0. A subclass says which one number of a row it keeps (`_kept`).
    """

    uses: Uses = "probabilities"

    def _kept(self, true: Array, table: Array) -> Array:
        """A number a row, of the true class's column (-1: it has none) and all probabilities."""
        raise NotImplementedError

    def _score(self, label: Any, score: float) -> float:
        return float(self._scores(np.array([label]), np.array([score]), None)[0])

    def _score_in(self, label: Any, by_class: Mapping[Any, float]) -> float:
        if not by_class:
            return math.nan
        names = list(by_class)
        place = names.index(label) if label in by_class else -1
        table = np.array([[by_class[name] for name in names]], dtype=np.float64)
        return float(self._checked(np.array([place]), table)[0])

    def _scores(self, labels: Array, scores: Array, classes: Any) -> Array:
        if is_table(scores, classes):
            place = {name: i for i, name in enumerate(list(classes))}
            columns = (place.get(label, -1) for label in labels.tolist())
            return self._checked(np.fromiter(columns, np.int64, len(labels)), scores)
        column = self._column(scores, len(labels))
        if np.isnan(column).all():
            return column  # then it does not matter which class they are of
        positive = positive_of(set(labels.tolist()) if self.positive is None else (), self.positive)
        if positive is None:
            raise DataError("Say which class the probabilities are of by positive=...")
        true = equal(labels, np.full(len(labels), positive)).astype(np.int64)
        return self._checked(true, np.stack([1 - column, column], axis=1))

    def _checked(self, true: Array, table: Array) -> Array:
        """Rows without any probability stay without; of others, one that is missing is 0."""
        outside = (table < -1e-6) | (table > 1 + 1e-6)
        if outside.any():
            row, column = (int(place[0]) for place in np.nonzero(outside))
            raise DataError(
                f"{table[row, column]} is not a probability", row=row if len(table) > 1 else None
            )
        kept = self._kept(true, np.clip(np.nan_to_num(table), 0, 1))
        return np.where(np.isnan(table).all(axis=1), np.nan, kept)


def _of_column(table: Array, columns: Array) -> Array:
    """The number in each row's own column; 0 where it has none."""
    return np.where(columns < 0, 0.0, table[np.arange(len(table)), columns])


class _MeanOfProbabilities(_OfProbabilities, Mean):
    def _add(self, rows: Rows) -> None:
        labels, scores, weights = self._scored(rows)
        super()._add(Rows(labels, None, scores, weights))

    def _losses(self, rows: Rows) -> Array:
        assert rows.scores is not None
        return rows.scores


class LogLoss(_MeanOfProbabilities):
    """Mean of -log of the probability that was given to the true class, at least 1e-15.

    >>> metric = LogLoss()
    >>> metric.update(1, score=0.5)
    >>> metric.update("b", score={"a": 0.5, "b": 0.5})
    >>> round(metric.value, 4)
    0.6931
    """

    name = "log loss"

    def _kept(self, true: Array, table: Array) -> Array:
        return np.asarray(-np.log(np.maximum(_of_column(table, true), _LEAST)))


class BrierScore(_MeanOfProbabilities):
    """Mean squared error of the probabilities (Brier 1950), summed over more than two classes.

    Of two classes it is that of one of them, as in scikit-learn: 0 is perfect, 0.25 is what a coin
    gets, 1 is to be sure and wrong.

    >>> metric = BrierScore()
    >>> metric.update(1, score=0.8)
    >>> round(metric.value, 4)
    0.04
    """

    name = "Brier score"

    def _kept(self, true: Array, table: Array) -> Array:
        rest = (table**2).sum(axis=1) - _of_column(table, true) ** 2
        total = rest + (1 - _of_column(table, true)) ** 2
        return np.asarray(total / 2 if table.shape[1] == 2 else total)


class CalibrationError(_OfProbabilities):
    """Expected calibration error (ECE): how far confidence is from being right as often.

    Rows are counted in bins of equal width by the probability of the class that has most. In each
    bin the mean of these is held against the share of rows where that class was right; the value
    is the mean distance, by rows. `curve` has both for a reliability diagram (Guo et al. 2017).

    >>> metric = CalibrationError(bins=10)
    >>> metric.update_many([1, 1, 1, 0], scores=[0.75, 0.75, 0.75, 0.75])
    >>> metric.value
    0.0
    >>> metric.curve
    [(0.75, 0.75, 4.0)]
    """

    name = "calibration error"
    higher_is_better = False

    def __init__(self, bins: int = 10, positive: Any = None) -> None:
        check_value(1 <= bins <= 10_000, "bins", bins, "an integer in [1, 10000]")
        self.bins = bins
        super().__init__(positive)

    @property
    def curve(self) -> list[tuple[float, float, float]]:
        """Of each bin with rows: mean confidence, share of them right, weight of the rows."""
        self._count_pending()
        all_, confidence, right = self._sums
        return [
            (float(confidence[b] / all_[b]), float(right[b] / all_[b]), float(all_[b]))
            for b in np.flatnonzero(all_)
        ]

    def _reset(self) -> None:
        self._sums = np.zeros((3, self.bins))  # weight, weighted confidence, weight of the right

    def _kept(self, true: Array, table: Array) -> Array:
        """The confidence; below 0 where the class was wrong."""
        best = np.argmax(table, axis=1)
        confidence = table[np.arange(len(table)), best]
        return np.asarray(np.where(best == true, confidence, -confidence))

    def _add(self, rows: Rows) -> None:
        _, signed, weights = self._scored(rows)
        confidence, right = np.abs(signed), weights * ~np.signbit(signed)
        bins = np.minimum((confidence * self.bins).astype(np.int64), self.bins - 1)
        for sums, sizes in zip(self._sums, (weights, weights * confidence, right), strict=True):
            sums += np.bincount(bins, sizes, minlength=self.bins)

    def _scale(self, factor: float) -> None:
        self._sums *= factor

    def _value(self) -> float:
        all_, confidence, right = self._sums
        total = all_.sum()
        return float(np.abs(confidence - right).sum() / total) if total else math.nan
