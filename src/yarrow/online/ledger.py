"""The account of a stream: how far it is, how many errors there were, and its metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from yarrow._core import MOST_COMPLAINTS
from yarrow.data.arrays import Array, exact_array
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.online.results import ProgressiveResult, Wanted

if TYPE_CHECKING:
    from yarrow.io.formats import OpenedSource
    from yarrow.metrics import Metric


class Ledger:
    """Metrics of a stream, read at any row.

    A score counts among those of the classes that were known at its row; `in_hindsight`, among
    those of all classes that came, where all rows are there at once.
    """

    def __init__(
        self, metrics: Sequence[Metric], *, positive: Any = None, in_hindsight: bool = False
    ) -> None:
        self.metrics = {metric.name: metric for metric in metrics}
        self._positive, self._in_hindsight = positive, in_hindsight
        self._waiting: list[tuple[Any, Any, Any, list[Any], Any]] = []
        self._rows = 0

    @property
    def wanted(self) -> Wanted:
        """What the metrics need of each row."""
        uses = {metric.uses for metric in self.metrics.values()}
        if "probabilities" in uses:
            return "probabilities"
        return "scores" if "scores" in uses else "predictions"

    def add(self, labels: Any, result: ProgressiveResult, weights: Any = None) -> None:
        """Some more rows, to be counted when their turn comes."""
        if not self.metrics:
            return
        table = result.table(self.wanted)
        classes = [] if table is None else exact_array(result.classes).tolist()
        if table is None or not classes:
            table = np.full((len(labels), 0), np.nan)
        self._waiting.append((labels, result.predictions, table, classes, weights))

    def at(self, rows: int) -> dict[str, float]:
        """The metrics when so many rows have been counted."""
        while self._rows < rows and self._waiting:
            labels, predictions, scores, classes, weights = self._waiting.pop(0)
            n = min(rows - self._rows, len(labels))
            first, rest = slice(0, n), slice(n, None)
            some = None if weights is None else weights[first]
            for metric in self.metrics.values():
                if metric.uses == "predictions":
                    metric.update_many(labels[first], predictions[first], weights=some)
                else:
                    self._count_scores(metric, labels[first], scores[first], classes, some)
            self._rows += n
            if n < len(labels):
                more = None if weights is None else weights[rest]
                self._waiting.insert(
                    0, (labels[rest], predictions[rest], scores[rest], classes, more)
                )
        return {name: metric.value for name, metric in self.metrics.items()}

    def _count_scores(
        self, metric: Metric, labels: Any, scores: Any, classes: list[Any], weights: Any
    ) -> None:
        if self._in_hindsight or not len(labels):
            table = scores if classes else np.full(len(labels), np.nan)
            metric.update_many(labels, scores=table, weights=weights, classes=classes or None)
            return
        known = ~np.isnan(scores)
        changes = np.flatnonzero((known[1:] != known[:-1]).any(axis=1)) + 1
        for begin, end in zip([0, *changes], [*changes, len(labels)], strict=True):
            names = [name for name, there in zip(classes, known[begin], strict=True) if there]
            part: Any = scores[begin:end][:, known[begin]]
            lacks_positive = metric.uses == "scores" and self._positive not in (None, *names)
            if len(names) < 2 or lacks_positive:
                part = np.full(end - begin, np.nan)
            some = None if weights is None else weights[begin:end]
            metric.update_many(labels[begin:end], scores=part, weights=some, classes=names)


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """The account of a stream at one row: rows, errors so far, and that row."""

    rows: int
    judged: int  # rows, or pairs of rows, that were predicted before they were learned
    mistakes: float
    squared_error: float
    label: Any
    prediction: Any  # None where no class was known yet
    features: int


class Skipping:
    """Counts rows that are left out, and keeps the first complaints about them."""

    skipped: int
    complaints: list[str]

    def skip(self, complaint: str, on_error: str) -> None:
        """Leave a row out, or refuse it."""
        if on_error != "skip":
            raise DataError(complaint)
        self.also(1, [complaint])

    def also(self, skipped: int, complaints: list[str]) -> None:
        """Count what somebody else has left out."""
        self.skipped += skipped
        self.complaints = [*self.complaints, *complaints][:MOST_COMPLAINTS]


@dataclasses.dataclass
class Progress(Skipping):
    """Where a stream stands. Mistakes were counted before each row was learned."""

    source: str = ""
    number: int = 1  # of the pass
    rows: int = 0
    judged: int = 0  # rows, or pairs of rows, that were predicted before they were learned
    mistakes: float = 0
    squared_error: float = 0.0
    features: int = 0
    returns: int = 0  # of a class after another
    skipped: int = 0
    complaints: list[str] = dataclasses.field(default_factory=list)  # about the first rows skipped
    bytes: int = 0  # of text or table, decompressed
    position: int | None = None  # in the file itself; None for a pipe
    done: bool = False  # with this source
    #: at powers of two, since last time
    checkpoints: list[Checkpoint] = dataclasses.field(default_factory=list)
    #: labels and predictions since last time, as class numbers in the order of their appearance
    #: (-1: none) or values, if they were asked for
    results: tuple[Array, Array] | None = None
    #: the names of those class numbers
    classes: list[Any] = dataclasses.field(default_factory=list)
    #: the same with scores, where a batch was predicted at a time
    told: ProgressiveResult | None = None

    def read(
        self, opened: OpenedSource, before: Progress, skipped: int = 0, own: Iterable[str] = ()
    ) -> None:
        """Note how far a source is read, which tells all that it left out.

        `before` is the account before it; others have left out some more (`skipped`, `own`).
        """
        self.bytes = before.bytes + opened.reader.bytes
        self.position = opened.position
        self.skipped, self.complaints = before.skipped, before.complaints
        self.also(opened.reader.skipped + skipped, [*opened.complaints, *map(opened.named, own)])
