"""Rows of files learned one by one, for what the core's stream does not do: late labels, scores."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.linear_model.streaming import Checkpoint, Progress, errors_named, with_name
from yarrow.stream.format import TEXT_FORMATS, TableReader, opened, text_reader

_ROWS_AT_ONCE = 4096
_COMPLAINTS_KEPT = 5


@dataclasses.dataclass
class Row:
    """A row of a file: its features by name, its label, and where it stands."""

    features: dict[Any, float]
    label: Any
    weight: float
    line: int
    source: str


class OneByOne:
    """Predicts each row and learns it `delay` rows later; all rows are learned in the end.

    `scores` has what the model said of the rows of the last `Progress.results`, by class: scores
    or probabilities, if they are wanted.
    """

    def __init__(self, model: Any, how: Any, *, delay: int = 0, wanted: str = "predictions"):
        self.model, self.how, self.delay, self.wanted = model, how, delay, wanted
        self.is_regression = not hasattr(type(model), "classes_")
        self.scores: list[dict[Any, float]] = []
        self._progress = Progress()
        self._numbers: dict[Any, int] = {}  # of classes
        self._waiting: deque[Row] = deque()
        self._told: list[tuple[Any, Any]] = []

    def run(self, sources: Sequence[str]) -> Iterator[Progress]:
        """Learn all sources, and say every so often what was predicted."""
        progress = self._progress
        for source in sources:
            progress.source = source
            for row in self._rows(source):
                self._see(row)
                if len(self._told) >= _ROWS_AT_ONCE:
                    yield self._report()
        while self._waiting:
            self._learn(self._waiting.popleft())
        yield self._report()

    def _see(self, row: Row) -> None:
        if row.weight == 0:
            return
        if row.label is None or not row.weight > 0:
            what = "the row has no label" if row.label is None else "the weight is negative"
            self._complain(row, what)
            return
        if self.is_regression and isinstance(row.label, str):
            self._complain(row, f"the label {row.label!r} is not a number")
            return
        prediction = self.model.predict_one(row.features)
        if self.wanted != "predictions":
            self.scores.append(self._score(row.features))
        self._told.append((row.label, prediction))
        progress = self._progress
        progress.rows += 1
        if self.is_regression:
            progress.squared_error += (row.label - prediction) ** 2
        else:
            progress.mistakes += row.label != prediction
        if progress.rows & (progress.rows - 1) == 0:
            progress.checkpoints.append(
                Checkpoint(
                    progress.rows,
                    progress.mistakes,
                    progress.squared_error,
                    row.label,
                    prediction,
                    len(row.features),
                )
            )
        self._waiting.append(row)
        if len(self._waiting) > self.delay:
            self._learn(self._waiting.popleft())

    def _score(self, features: dict[Any, float]) -> dict[Any, float]:
        model = self.model.__dict__.get("_model")
        if model is None or len(model.classes) < 2:
            return {}  # nothing can be said of a class that is alone
        if self.wanted == "probabilities":
            return dict(self.model.predict_proba_one(features))
        return dict(zip(model.classes, model.score_one(features)[0], strict=False))

    def _learn(self, row: Row) -> None:
        try:
            self.model.learn_one(row.features, row.label, row.weight)
        except DataError as error:
            self._complain(row, str(error))

    def _complain(self, row: Row, problem: str) -> None:
        complaint = with_name(row.source, f"line {row.line}: {problem}")
        if self.how.on_error != "skip":
            raise DataError(complaint)
        self._progress.skipped += 1
        if len(self._progress.complaints) < _COMPLAINTS_KEPT:
            self._progress.complaints.append(complaint)

    def _report(self) -> Progress:
        progress = self._progress
        labels, predictions = ([pair[i] for pair in self._told] for i in (0, 1))
        if not self.is_regression:
            labels, predictions = self._numbered(labels), self._numbered(predictions)
        progress.results = np.asarray(labels), np.asarray(predictions)
        progress.classes = list(self._numbers)
        self._told = []
        report = dataclasses.replace(progress)
        progress.checkpoints = []
        return report

    def _numbered(self, names: list[Any]) -> list[int]:
        known = self._numbers
        return [-1 if name is None else known.setdefault(name, len(known)) for name in names]

    # -- reading -------------------------------------------------------------------------------

    def _rows(self, source: str) -> Iterator[Row]:
        how = self.how.remembering(self.model.__dict__.get("_stream"))
        format = how.of(source)
        before = self._progress.skipped, list(self._progress.complaints)
        with errors_named(source, format), opened(source) as file:
            reader: Any
            found: dict[str, Any] = {}
            if format in TEXT_FORMATS:
                reader = text_reader(file, format, how, dtype=self.model.dtype)
                yield from self._text_rows(reader, source)
                found = {"index_base": int(reader.index_base)} if format == "svmlight" else {}
            else:
                reader = TableReader(source, file, format, how, dtype=self.model.dtype)
                for batch in reader:
                    lines, weights = batch.lines.tolist(), batch.weights
                    sizes = [1.0] * len(batch) if weights is None else weights.tolist()
                    rows = zip(batch.dicts(), batch.labels or (), sizes, lines, strict=True)
                    for features, label, weight, line in rows:
                        yield Row(features, self._label(label), weight, line, source)
                found = {"kinds": reader.kinds}
            self._progress.skipped += reader.skipped
            named = [with_name(source, text) for text in reader.complaints]
            self._progress.complaints = (before[1] + named)[:_COMPLAINTS_KEPT]
            known = self.model.__dict__.get("_stream") or {}
            self.model.__dict__["_stream"] = known | how.described(format, **found)

    def _text_rows(self, reader: Any, source: str) -> Iterator[Row]:
        while (block := reader.next_arrays()) is not None:
            names = block["names"] if "names" in block else block["indices"].tolist()
            values, begins = block["values"].tolist(), block["begins"].tolist()
            rest = zip(block["labels"], block["weights"].tolist(), block["lines"], strict=True)
            for begin, end, (label, weight, line) in zip(begins, begins[1:], rest, strict=False):
                features = dict(zip(names[begin:end], values[begin:end], strict=True))
                yield Row(features, self._label(label), weight, int(line), source)

    def _label(self, label: Any) -> Any:
        """Classes are named by whole numbers where they can be."""
        is_whole = isinstance(label, float) and label.is_integer() and not self.is_regression
        return int(label) if is_whole else label
