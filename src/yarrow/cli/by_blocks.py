"""Rows of files predicted and learned a block at a time, for what the core's stream does not do.

That is late labels, scores and probabilities, and learners that are not of the core.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any

from yarrow.cli.late import KnownColumns, Late, Part, only_present
from yarrow.composite.members import is_regression
from yarrow.data.labels import Codes, kept, numbered
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.linear_model.base import LinearModel
from yarrow.linear_model.file_blocks import FileBlock, FileBlocks
from yarrow.linear_model.progressive import Scores
from yarrow.linear_model.streaming import (
    COMPLAINTS_KEPT,
    Checkpoint,
    Progress,
    check_passes,
    most_index,
    with_name,
)
from yarrow.stream.arrays import Array
from yarrow.stream.format import LAST_INDEX


@dataclasses.dataclass
class Told:
    """What was said of some rows before they were learned."""

    labels: list[Any]
    predictions: list[Any]  # None where nothing was known
    scores: Array | None  # or probabilities: a column a class, NaN where it was not known yet
    classes: list[Any]  # of those columns
    sizes: list[int]  # features of each row


@dataclasses.dataclass
class Account(Progress):
    """Where a stream stands, and what was said since last time."""

    told: Told | None = None


class ByBlocks:
    """Predicts each row and learns it `delay` rows later; all rows are learned in the end.

    What comes out is what row by row would: of a block with a row that is refused, and of no other,
    the rows are gone through one by one.
    """

    def __init__(
        self, model: Any, how: Any, *, delay: int = 0, wanted: str = "predictions"
    ) -> None:
        self.model, self.how, self.wanted = model, how, wanted
        self.is_regression = is_regression(model)
        self._late = Late(delay, twice=wanted == "probabilities")
        # Room for features, and their variances, which make probabilities, are there from the row
        # on that is learned with them. Who drops or hashes features sees to that alone.
        by_row = wanted == "probabilities" or getattr(model, "max_features", None) is not None
        by_row &= isinstance(model, LinearModel) and self._late.twice
        by_row &= getattr(model, "hash_bits", None) is None
        by_row &= getattr(model, "when_full", "error") == "error"
        self._known = KnownColumns(model) if by_row else None
        self._progress = Account()
        self._codes: Codes = {}
        self._names: list[Any] = []  # of columns

    def run(self, sources: Sequence[str], passes: int = 1) -> Iterator[Account]:
        """Learn all sources, and say after each block what was predicted."""
        check_passes(sources, passes)
        core = isinstance(self.model, LinearModel)
        files = FileBlocks(
            sources,
            self.how,
            dtype=self.model.dtype if core else "float64",
            max_index=most_index(self.model, self.how) if core else LAST_INDEX,
            known=self.model.__dict__.get("_stream"),
        )
        progress = self._progress
        for progress.number in range(1, passes + 1):
            report = None
            for block in files.read():
                if report is not None:  # only now, as a short file with an error has none
                    yield report
                progress.source, self._names = files.reading, block.names
                part = self._part(block, files.reading)
                report = self._report(self._take(self._late.next(part)), files)
            if report is not None:
                yield report
            self._take(self._late.rest())
            progress.skipped += files.skipped
            progress.complaints = (progress.complaints + files.complaints)[:COMPLAINTS_KEPT]
            progress.done = True
            yield self._report(None, files)
            progress.done = False
        if not self.model.__sklearn_is_fitted__():
            first = f": {progress.complaints[0]}" if progress.complaints else ""
            skipped = f" ({progress.skipped} were skipped)" if progress.skipped else ""
            raise DataError(f"there is no row to learn{skipped}{first}", source=", ".join(sources))
        self.model.__dict__["_stream"] = files.known

    def _part(self, block: FileBlock, source: str) -> Part:
        """The rows of a block that can be learned."""
        rows, y = block.rows, block.y
        weights = np.ones(len(y)) if block.weights is None else block.weights
        part = Part(rows, y, weights, block.lines, np.full(len(y), source, dtype=object))
        keep = weights != 0  # a row of no weight is absent
        if self.is_regression and y.dtype.kind not in "fiu":
            for place, label in enumerate(y.tolist()):
                if isinstance(label, str):
                    keep[place] = False
                    self._complain(part, place, f"the label {label!r} is not a number")
            y = np.where(keep, y, 0.0).astype(np.float64)
            part = dataclasses.replace(part, y=y)
        return part if keep.all() else part.take(np.flatnonzero(keep))

    # -- predicting and learning -----------------------------------------------------------------

    def _take(self, turn: tuple[Part, Array] | None) -> Told | None:
        """Predict and learn rows in the given order; of which some are only predicted."""
        if turn is None or not len(turn[0]):
            return None
        part, learned = turn
        asked = ~learned if self._late.twice else np.ones(len(part), bool)
        try:
            scores = self._foretell(part, learned)
        except DataError as error:
            if len(part) > 1:
                ones = (np.array([place]) for place in range(len(part)))
                told = [self._take((part.take(one), learned[one])) for one in ones]
                return _joined([one for one in told if one is not None])
            self._complain(part, 0, re.sub(r"^[Rr]ow \d+: ", "", str(error)))
            return None
        if not asked.any():
            return None
        table = scores.probabilities if self.wanted == "probabilities" else scores.scores
        if self.wanted == "predictions" or scores.classes is None or table is None:
            table = None
        elif table.shape[1] == 1 and len(scores.classes) == 2:  # which speaks for the second
            table = np.column_stack([-table[:, 0], table[:, 0]])
        begins = part.rows.begins
        assert begins is not None
        labels = part.y[asked].tolist()
        return Told(
            labels if self.is_regression else [kept(label) for label in labels],
            scores.predictions[asked].tolist(),
            None if table is None else table[asked],
            [] if scores.classes is None else scores.classes.tolist(),
            np.diff(begins)[asked].tolist(),
        )

    def _foretell(self, part: Part, learned: Array) -> Scores:
        rows, names = part.rows, self._names
        new = np.zeros(0, np.int64)
        if self._known is not None:
            rows, new = self._known.of(rows, learned, names)
        if (
            names
            or getattr(self.model, "hash_bits", None)
            or getattr(self.model, "max_features", None)
        ):  # then columns go by name, and those alone that these rows have
            present, rows = only_present(rows)
            names = [names[place] for place in present] if names else present
        weights = np.where(learned, part.weights, 0.0)
        found: Scores = self.model._foretell_rows(
            rows,
            names,
            part.y,
            None if (weights == 1).all() else weights,
            probabilities=self.wanted == "probabilities",
        )
        if self._known is not None:
            self._known.add(new)
        return found

    def _complain(self, part: Part, place: int, problem: str) -> None:
        complaint = with_name(part.sources[place], f"line {part.lines[place]}: {problem}")
        if self.how.on_error != "skip":
            raise DataError(complaint)
        self._progress.skipped += 1
        if len(self._progress.complaints) < COMPLAINTS_KEPT:
            self._progress.complaints.append(complaint)

    # -- the account -----------------------------------------------------------------------------

    def _report(self, told: Told | None, files: FileBlocks) -> Account:
        progress = self._progress
        labels: Any
        predictions: Any
        labels, predictions = ([], []) if told is None else (told.labels, told.predictions)
        if self.is_regression:
            labels, predictions = np.asarray(labels, float), np.asarray(predictions, float)
            losses = (labels - predictions) ** 2
        else:
            labels = numbered(labels, self._codes, add=True)
            predictions = numbered(predictions, self._codes, add=True)
            losses = labels != predictions
        before = progress.rows
        mark = 1 << before.bit_length()  # the next power of two
        while told is not None and mark <= before + len(labels):
            at = mark - before
            lost = losses[:at].sum()
            progress.checkpoints.append(
                Checkpoint(
                    mark,
                    mark,
                    progress.mistakes + (0 if self.is_regression else int(lost)),
                    progress.squared_error + (float(lost) if self.is_regression else 0.0),
                    told.labels[at - 1],
                    told.predictions[at - 1],
                    told.sizes[at - 1],
                )
            )
            mark *= 2
        progress.rows += len(labels)
        progress.judged = progress.rows
        if self.is_regression:
            progress.squared_error += float(losses.sum())
        else:
            progress.mistakes += int(losses.sum())
        progress.results = labels, predictions
        progress.classes = list(self._codes)
        progress.position = files.position
        report = dataclasses.replace(progress, complaints=list(progress.complaints), told=told)
        progress.checkpoints = []
        return report


def _joined(parts: list[Told]) -> Told | None:
    """What was said of single rows, as one."""
    if not parts:
        return None
    last = max(parts, key=lambda part: len(part.classes))
    table = None
    if any(part.scores is not None for part in parts):
        table = np.full((len(parts), len(last.classes)), np.nan)
        place = {name: i for i, name in enumerate(last.classes)}
        for line, part in zip(table, parts, strict=True):
            if part.scores is not None:
                line[[place[name] for name in part.classes]] = part.scores[0]
    return Told(
        [label for part in parts for label in part.labels],
        [guess for part in parts for guess in part.predictions],
        table,
        last.classes,
        [size for part in parts for size in part.sizes],
    )
