"""Curves: error against rows, online and on a test set; precision and recall by threshold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from yarrow import metrics as known_metrics
from yarrow.data.arrays import Array
from yarrow.errors import DataError, ParameterError, check_value
from yarrow.lazy import np
from yarrow.metrics import Metric
from yarrow.online.adapters import adapter_for
from yarrow.online.batch import Batch, length, table_of
from yarrow.online.driver import tested
from yarrow.online.learners import is_regression, nonzeros


def places(n: int, points: int = 200) -> list[int]:
    """Rows at which to look: about `points` of them spaced evenly, powers of two, and the last.

    >>> places(1000, 4)
    [1, 2, 4, 8, 16, 32, 64, 128, 250, 256, 500, 512, 750, 1000]
    """
    even = np.linspace(0, n, min(points, n) + 1).astype(int)[1:].tolist() if n else []
    return sorted(set(even) | {1 << i for i in range(n.bit_length())} if n else set())


def online_curve(
    wrong: Any, *, window: int | None = None, points: int = 200
) -> list[tuple[int, float]]:
    """(rows, error so far) of a progressive run, or of the last `window` rows up to there.

    `wrong` has a truth value a row, or a loss a row.

    >>> online_curve([True, True, False, False])
    [(1, 1.0), (2, 1.0), (3, 0.6666666666666666), (4, 0.5)]
    >>> online_curve([True, True, False, False], window=2)
    [(1, 1.0), (2, 1.0), (3, 0.5), (4, 0.0)]
    """
    losses = np.asarray(wrong, dtype=np.float64)
    check_value(window is None or window >= 1, "window", window, "at least 1")
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    rows = np.array(places(len(losses), points), dtype=np.int64)
    starts = np.zeros_like(rows) if window is None else np.maximum(rows - window, 0)
    shares = (sums[rows] - sums[starts]) / (rows - starts)
    return list(zip(rows.tolist(), shares.tolist(), strict=True))


@dataclasses.dataclass(frozen=True)
class LearningCurve:
    """How good a learner is on rows it never learns, against the rows it has learned."""

    metric: str
    rows: list[int]
    values: list[float]
    nonzeros: list[int]


def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    sizes: Sequence[int] | None = None,
    metric: Metric | str | None = None,
    classes: Any = None,
) -> LearningCurve:
    """The general learning curve: learn the rows in order, and test at each of `sizes`.

    `sizes` are powers of two and all rows, if they are not given. The nonzero weights at each size
    are told where the model has weights to count.

    >>> from yarrow import AROWClassifier
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 8, ["a", "b"] * 8
    >>> learning_curve(AROWClassifier(), X, y, X, y, sizes=[1, 2, 16]).values
    [0.5, 0.0, 0.0]
    """
    n = length(X)
    marks = sorted(set(places(n, 1) if sizes is None else map(int, sizes)))
    if not marks or marks[0] < 1 or marks[-1] > n:
        raise ParameterError(f"Sizes are numbers of rows from 1 to {n}. Got {sizes!r} instead.")
    start = known_metrics.chosen(metric, is_regression(model))[0]
    rows = Batch(X=table_of(X), y=np.asarray(y), classes=classes)
    test = Batch(X=table_of(X_test), y=np.asarray(y_test))
    learning = adapter_for(model, rows)
    rows = learning.ready(rows)
    values, counts = [], []
    for first, last in zip([0, *marks], marks, strict=False):
        learning.learn(rows.take(slice(first, last)))
        values.append(tested(model, test, [start])[start.name])
        if hasattr(model, "coef_"):
            counts.append(nonzeros(model))
    return LearningCurve(start.name, marks, values, counts)


@dataclasses.dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall when only predictions of at least a threshold's score are made."""

    thresholds: Array
    precision: Array  # NaN where no prediction is made
    recall: Array


def precision_recall(
    correct: Any, scores: Any, *, relevant: int | None = None, thresholds: Any = None
) -> PrecisionRecall:
    """Precision and recall of a predictor that speaks only if its score reaches a threshold.

    As Shen & Dietterich measure alarms: precision is the share of correct ones among the
    predictions made, recall the number of correct ones divided by `relevant`, all that could have
    been predicted (by default the number of correct ones at any threshold). For two classes pass
    `labels == positive`.

    >>> found = precision_recall([True, False, True], [0.9, 0.5, 0.1])
    >>> found.thresholds.tolist(), found.recall.tolist()
    ([0.1, 0.5, 0.9], [1.0, 0.5, 0.5])
    """
    right, values = np.asarray(correct, dtype=bool), np.asarray(scores, dtype=np.float64)
    if right.ndim != 1 or right.shape != values.shape:
        raise DataError(f"There are {right.shape} truth values, but {values.shape} scores.")
    if np.isnan(values).any():
        raise DataError("The score is NaN", row=int(np.argmax(np.isnan(values))))
    total = int(right.sum()) if relevant is None else int(relevant)
    if total < right.sum():
        raise ParameterError(f"relevant={total} is less than the {right.sum()} correct ones.")
    levels = np.unique(values) if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    order = np.argsort(values)
    first = np.searchsorted(values[order], levels, side="left")
    made = len(values) - first
    found = np.concatenate([np.cumsum(right[order][::-1])[::-1], [0]])[first]
    precision = np.full(len(levels), np.nan)
    np.divide(found, made, out=precision, where=made > 0)
    return PrecisionRecall(
        levels, precision, found / total if total else np.full(len(levels), np.nan)
    )


def error_of(wrong: Array) -> float:
    """The share of mistakes, or the root of the mean of squared errors."""
    if not len(wrong):
        return float("nan")
    mean = float(np.mean(wrong))
    return mean if wrong.dtype == np.bool_ else mean**0.5


def curve_of(wrong: Array) -> list[tuple[int, float]]:
    """(rows, error so far) at powers of two and about 200 places that are spaced evenly."""
    power = 1.0 if wrong.dtype == np.bool_ else 0.5
    return [(rows, mean**power) for rows, mean in online_curve(wrong)]
