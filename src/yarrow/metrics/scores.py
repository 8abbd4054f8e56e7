"""Metrics of scores: one number a row, and the area under the ROC curve."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import DataError, check_value
from yarrow.lazy import np
from yarrow.metrics.base import Metric, Rows, Uses, check_labels, equal, positive_of


class OfScores(Metric):
    """A metric of one number a row; rows with no score (NaN) are left out and counted."""

    def __init__(self, positive: Any = None) -> None:
        self.positive = positive
        super().__init__()

    def reset(self) -> None:
        self._left_out = 0
        super().reset()

    @property
    def left_out(self) -> int:
        """Rows for which there was no score."""
        self._count_pending()
        return self._left_out

    def _scored(self, rows: Rows) -> tuple[Array, Array, Array]:
        """Labels, scores and weights of the rows that have a score."""
        assert rows.scores is not None
        check_labels(rows.labels)
        there = ~np.isnan(rows.scores)
        self._left_out += int(len(there) - there.sum())
        return rows.labels[there], rows.scores[there], rows.weights[there]

    def _column(self, scores: Array, n: int) -> Array:
        """The scores if they are one a row."""
        column = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
        if column.shape != (n,):
            raise DataError(f"There are {n} labels, but the scores have the shape {scores.shape}.")
        return column


def is_table(scores: Array, classes: Any) -> bool:
    if scores.ndim != 2 or scores.shape[1] < 2:
        return False
    if classes is None or len(classes) != scores.shape[1]:
        raise DataError(
            f"Scores in {scores.shape[1]} columns need the names of as many classes=..."
        )
    return True


class RocAuc(OfScores):
    """The chance that a positive row has a higher score than a negative one; equal scores: half.

    resolution : None keeps all scores, so the value is exact and memory grows with the rows (for
        a whole array, or inside `Windowed`). A number such as 0.001 counts scores in bins instead:
        two scores are taken for equal if they differ by less than this share of their size.
        Memory is then about 16 KB / resolution for ever.
    positive : by default 1 of the labels 0, 1, -1, else the last of two classes in their order

    >>> metric = RocAuc()
    >>> metric.update_many([0, 0, 1, 1], scores=[0.1, 0.4, 0.35, 0.8])
    >>> metric.value
    0.75
    """

    name = "ROC AUC"
    uses: Uses = "scores"

    def __init__(self, resolution: float | None = None, positive: Any = None) -> None:
        holds = resolution is None or 2**-16 <= resolution < 1
        check_value(holds, "resolution", resolution, "None or in [2**-16, 1)")
        self.resolution = resolution
        super().__init__(positive)

    def _reset(self) -> None:
        self._kept: list[tuple[Array, Array, Array]] = []  # labels, scores, weights
        self._bins: dict[Any, Array] = {}  # weights by class and bin

    def _add(self, rows: Rows) -> None:
        labels, scores, weights = self._scored(rows)
        if self.resolution is None:
            self._kept.append((labels, scores, weights))
            return
        bits = math.ceil(-math.log2(self.resolution))
        bins = _bins(scores, bits)
        for name in set(labels.tolist()):
            if name not in self._bins:
                self._bins[name] = np.zeros(1 << (9 + bits))
            there = equal(labels, np.full(len(labels), name, dtype=labels.dtype))
            np.add.at(self._bins[name], bins[there], weights[there])

    def _scale(self, factor: float) -> None:
        self._kept = [(labels, scores, w * factor) for labels, scores, w in self._kept]
        self._bins = {name: counts * factor for name, counts in self._bins.items()}

    def _value(self) -> float:
        if self.resolution is not None:
            positive = positive_of(self._bins, self.positive)
            if positive not in self._bins:
                return math.nan
            others = [counts for name, counts in self._bins.items() if name != positive]
            return _area(self._bins[positive], sum(others, np.zeros(1)))
        if not self._kept:
            return math.nan
        labels = np.concatenate([part[0].astype(object) for part in self._kept])
        positive = positive_of(set(labels.tolist()), self.positive)
        is_positive = np.asarray(labels == positive, dtype=bool)
        _, places = np.unique(np.concatenate([part[1] for part in self._kept]), return_inverse=True)
        weights = np.concatenate([part[2] for part in self._kept])
        n = int(places.max()) + 1 if len(places) else 0
        above = np.bincount(places, weights * is_positive, minlength=n)
        return _area(above, np.bincount(places, weights * ~is_positive, minlength=n))

    def _score_in(self, label: Any, by_class: Mapping[Any, float]) -> float:
        if not by_class:
            return math.nan
        positive = positive_of(by_class, self.positive)
        rest = [score for name, score in by_class.items() if name != positive]
        if positive not in by_class or not rest:
            return math.nan
        # Of two classes the difference decides; of many, the score of the positive one.
        return float(by_class[positive] - rest[0] if len(rest) == 1 else by_class[positive])

    def _scores(self, labels: Array, scores: Array, classes: Any) -> Array:
        if not is_table(scores, classes):
            return self._column(scores, len(labels))
        names = list(classes)
        positive = positive_of(names, self.positive)
        if positive not in names:
            raise DataError(f"There is no column of scores for the positive class {positive!r}.")
        of_positive: Array = scores[:, names.index(positive)]
        if len(names) > 2:
            return of_positive
        return np.asarray(of_positive - scores[:, 1 - names.index(positive)])


def _area(positive: Array, negative: Array) -> float:
    """From the weights of both classes at each score, in order."""
    if not positive.sum() or not negative.sum():
        return math.nan
    below = np.cumsum(negative) - negative / 2
    return float(positive @ below / (positive.sum() * negative.sum()))


def _bins(scores: Array, bits: int) -> Array:
    """The first digits of each score: its sign, its power of two, and `bits` more.

    The bits of a positive float32 are in the order of its value; those of a negative one in the
    opposite order.
    """
    with np.errstate(over="ignore"):
        raw = (scores.astype(np.float32) + np.float32(0)).view(np.int32).astype(np.int64)
    ordered = np.where(raw < 0, -(raw & 0x7FFFFFFF) - 1, raw) + (1 << 31)
    return np.asarray(ordered >> (23 - bits))
