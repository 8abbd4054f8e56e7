"""Progressive validation: every row is predicted first and learned when its label arrives."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from yarrow import metrics as known_metrics
from yarrow.data.arrays import Array, exact_array
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import curves
from yarrow.lazy import np
from yarrow.metrics import ConfusionMatrix, Metric
from yarrow.metrics.base import equal
from yarrow.notebook import shown
from yarrow.online.batch import Batch, length, table_of
from yarrow.online.driver import predict_then_learn
from yarrow.online.learners import is_regression, nonzeros
from yarrow.online.ledger import Ledger


@dataclasses.dataclass(frozen=True)
class Progressive:
    """What came of a progressive run."""

    #: what predictions were compared with: the clean labels where there are any
    labels: Array
    #: None where nothing was known yet; 0 in a regression
    predictions: Array
    #: the metrics by name, as they stood at the end
    metrics: dict[str, Metric]
    #: (rows, value) by the metric's name
    curves: dict[str, list[tuple[int, float]]]
    #: (rows, weights that are not zero), if they were asked for
    nonzeros: list[tuple[int, int]]
    #: a column a class, if a metric needed them; NaN where a class was not known, and before two
    #: were. Metrics of scores leave such rows out
    scores: Array | None
    classes: list[Any]
    regression: bool
    #: of learning and predicting alone
    seconds: float
    #: the model that was given, which has learned the rows
    model: Any = dataclasses.field(repr=False)

    @property
    def rows(self) -> int:
        """How many rows were predicted."""
        return len(self.labels)

    def _repr_html_(self) -> str:
        name = "mean squared error" if self.regression else "error"
        rows = [("rows", f"{self.rows:,}"), (name, f"{self.error:.4g}")]
        rows += [(one, f"{metric.value:.4g}") for one, metric in self.metrics.items()]
        return shown(repr(self.model), [*rows, ("seconds", f"{self.seconds:.3g}")])

    @property
    def wrong(self) -> Array:
        """Which rows were predicted wrongly; of a regression, their squared errors."""
        if self.regression:
            return np.asarray((self.labels - self.predictions) ** 2)
        return ~equal(self.labels, self.predictions)

    @property
    def error(self) -> float:
        """Share of rows predicted wrongly; of a regression, the mean squared error, not its root.

        Comparisons and commands show the root.
        """
        return float(self.wrong.mean()) if self.rows else float("nan")

    def error_curve(self, window: int | None = None, points: int = 200) -> list[tuple[int, float]]:
        """(rows, error so far), or of the last `window` rows."""
        return curves.online_curve(self.wrong, window=window, points=points)

    @property
    def confusion(self) -> ConfusionMatrix:
        """Which classes were taken for which."""
        if self.regression:
            raise ParameterError("A regression has no classes to confuse.")
        metric = ConfusionMatrix()
        metric.update_many(self.labels, self.predictions)
        return metric

    def __str__(self) -> str:
        values = ", ".join(f"{name} {metric.value:.6g}" for name, metric in self.metrics.items())
        return f"{type(self.model).__name__} on {self.rows:,} rows: {values}"


def progressive(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    clean: Any = None,
    classes: Any = None,
    delay: Any = 0,
    times: Any = None,
    arrives: Any = None,
    block: int = 1,
    metrics: Sequence[Metric | str] | None = None,
    checkpoints: Sequence[int] | None = None,
    watch_nonzeros: bool = False,
) -> Progressive:
    """Predict each row, then learn it when its label arrives; tell how good the predictions were.

    Parameters
    ----------
    model : learns into this very object: a learner of Yarrow, one of scikit-learn with
        `partial_fit`, or one of river
    X, y : rows and labels, in order; or one `Dataset`. For river also a list of dicts.
    clean : labels before noise, which predictions are compared with; a `Dataset` brings its own
    classes : all that may come. scikit-learn wants them before the first row, and is told those
        of y if they are not given
    delay : a label arrives when so many more rows have been predicted; with `times` (numbers or
        dates, one a row, not decreasing) so much later
    arrives : instead of a delay, the time when each label arrives; NaN or NaT: never
    block : predict so many rows, then learn them: faster with scikit-learn, but the knowledge is
        older. Rows whose labels arrive together are learned in one call of `partial_fit`
    metrics : objects or names of `yarrow.metrics`; by default error, or rmse in a regression.
        They are not changed: `Progressive.metrics` has fresh ones
    checkpoints : rows at which metrics are read for their curves; by default powers of two
    watch_nonzeros : count the weights that are not zero at the checkpoints

    >>> from yarrow import AROWClassifier
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 50, ["a", "b"] * 50
    >>> print(progressive(AROWClassifier(), X, y, delay=10, metrics=["error", "roc_auc"]))
    AROWClassifier on 100 rows: error 0.12, ROC AUC 1
    """
    if y is None:
        if not (hasattr(X, "X") and hasattr(X, "y")):
            raise ParameterError("Give X and y, or a Dataset that has both.")
        X, y, clean = X.X, X.y, X.clean if clean is None else clean
    labels = exact_array(y)
    X = table_of(X)
    n = length(X)
    truth = labels if clean is None else exact_array(clean)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, array in (("y", labels), ("clean", truth), ("sample_weight", weights)):
        if array is not None and array.shape != (n,):
            raise DataError(f"X has {n} rows, but {name} has the shape {array.shape}.")
    regression = is_regression(model)
    ledger = Ledger(known_metrics.chosen(metrics, regression), in_hindsight=True)
    marks = _checkpoints(checkpoints, n)
    counts: list[tuple[int, int]] = []
    begin = time.perf_counter()
    told = predict_then_learn(
        model,
        Batch(X=X, y=labels, weights=weights, classes=classes),
        delay=delay,
        times=times,
        arrives=arrives,
        block=block,
        wanted=ledger.wanted,
        stops=marks,
        at_stop=(lambda rows: counts.append((rows, nonzeros(model)))) if watch_nonzeros else None,
    )
    seconds = time.perf_counter() - begin
    predictions = told.predictions.astype(np.float64 if regression else object)
    lines: dict[str, list[tuple[int, float]]] = {name: [] for name in ledger.metrics}
    ledger.add(truth, told, weights)
    for mark in marks:
        for name, value in ledger.at(mark).items():
            lines[name].append((mark, value))
    names = [] if told.classes is None else told.classes.tolist()
    return Progressive(
        labels=truth,
        predictions=predictions,
        metrics=ledger.metrics,
        curves=lines,
        nonzeros=counts,
        scores=told.scores if names else None,
        classes=names,
        regression=regression,
        seconds=seconds,
        model=model,
    )


def _checkpoints(asked: Sequence[int] | None, n: int) -> list[int]:
    """Rows in order, the last one included."""
    if asked is None:
        asked = [1 << i for i in range(n.bit_length())]
    marks = sorted({int(mark) for mark in asked} | {n})
    if marks[0] < 0 or marks[-1] > n:
        raise ParameterError(f"Checkpoints are numbers of rows from 1 to {n}. Got {asked!r}.")
    return [mark for mark in marks if mark > 0]
