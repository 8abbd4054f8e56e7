"""Rows of files predicted and learned a batch at a time, for what the core's stream does not do.

That is late labels, scores and probabilities, and learners that are not of the core.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any

from yarrow.data.arrays import Array
from yarrow.data.labels import Codes, kept, numbered
from yarrow.errors import DataError
from yarrow.io.formats import LAST_INDEX, StreamFormat, with_name
from yarrow.io.unknown_features import warn_of_unknown
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.core_stream import LEARNED_ANEW, check_passes, most_index, no_row
from yarrow.online.delay import DelayedBatches, KnownColumns
from yarrow.online.file_batches import FileBatches
from yarrow.online.learners import is_core, is_regression
from yarrow.online.ledger import Checkpoint, Progress
from yarrow.online.results import ProgressiveResult, Wanted, joined


class BatchStream:
    """Predicts each row and learns it `delay` rows later; all rows are learned in the end.

    What comes out is what row by row would: of a batch with a row that is refused, and of no other,
    the rows are gone through one by one.
    """

    def __init__(
        self,
        model: Any,
        stream_format: StreamFormat,
        *,
        delay: int = 0,
        wanted: Wanted = "predictions",
    ) -> None:
        self.model, self.stream_format, self.wanted = model, stream_format, wanted
        self.is_regression, self.is_core = is_regression(model), is_core(model)
        self._delayed = DelayedBatches(delay, twice=wanted == "probabilities")
        # Room for features, and their variances, which make probabilities, are there from the row
        # on that is learned with them. Who drops or hashes features sees to that alone.
        by_row = wanted == "probabilities" or getattr(model, "max_features", None) is not None
        by_row &= self.is_core and self._delayed.twice
        by_row &= getattr(model, "hash_bits", None) is None
        by_row &= getattr(model, "when_full", "error") == "error"
        self._known = KnownColumns(model) if by_row else None
        self._progress = Progress()
        self._codes: Codes = {}
        self._came, self._last_label = set[int](), -1

    def run(self, sources: Sequence[str], passes: int = 1) -> Iterator[Progress]:
        """Learn all sources, and say after each batch what was predicted."""
        check_passes(sources, passes)
        files = FileBatches(
            sources,
            self.stream_format,
            dtype=self.model.dtype if self.is_core else "float64",
            max_index=most_index(self.model, self.stream_format) if self.is_core else LAST_INDEX,
            stream=self.model.__dict__.get("_stream"),
            tells_missing=getattr(self.model, "tells_missing", False),
        )
        core = self.model.__dict__.get("_model") if self.is_core else None
        progress = self._progress
        for progress.number in range(1, passes + 1):
            report = None
            for batch in files.read():
                if core is not None and batch.rows is not None:
                    names = batch.only_present().names
                    warn_of_unknown(core, names, files.reading, so_that=LEARNED_ANEW)
                    core = None
                if report is not None:  # only now, as a short file with an error has none
                    yield report
                progress.source = files.reading
                turn = self._delayed.next(self._learnable(batch, files.reading))
                report = self._report(self._take(*turn), files)
            if report is not None:
                yield report
            rest = self._delayed.rest()
            if rest is not None:
                self._take(*rest)
            progress.also(files.skipped, files.complaints)
            progress.done = True
            yield self._report(None, files)
            progress.done = False
        if not self.model.__sklearn_is_fitted__():
            raise no_row(progress, sources)
        self.model.__dict__["_stream"] = files.stream

    def _learnable(self, batch: Batch, source: str) -> Batch:
        """The rows that can be learned, with their weights and their file."""
        y, n = batch.y, len(batch)
        weights = np.ones(n) if batch.weights is None else batch.weights
        sources = np.full(n, source, dtype=object)
        batch = dataclasses.replace(batch, weights=weights, sources=sources)
        keep = weights != 0  # a row of no weight is absent
        if self.is_regression and y.dtype.kind not in "fiu":
            for place, label in enumerate(y.tolist()):
                if isinstance(label, str):
                    keep[place] = False
                    self._complain(batch, place, f"the label {label!r} is not a number")
            y = np.where(keep, y, 0.0).astype(np.float64)
            batch = dataclasses.replace(batch, y=y)
        return batch if keep.all() else batch.take(np.flatnonzero(keep))

    # -- predicting and learning -----------------------------------------------------------------

    def _take(self, batch: Batch, learned: Array) -> tuple[ProgressiveResult, Array] | None:
        """Predict and learn rows in the given order, of which some are only predicted.

        What was said of those that were asked about, and how many features each has.
        """
        if not len(batch):
            return None
        asked = ~learned if self._delayed.twice else np.ones(len(batch), bool)
        try:
            result = self._in_one_call(batch, learned)
        except DataError as error:
            if len(batch) > 1:
                ones = (np.array([place]) for place in range(len(batch)))
                told = [self._take(batch.take(one), learned[one]) for one in ones]
                there = [one for one in told if one is not None]
                if not there:
                    return None
                results = [result for result, _ in there]
                return joined(results, self.wanted), np.concatenate([size for _, size in there])
            self._complain(batch, 0, re.sub(r"^[Rr]ow \d+: ", "", str(error)))
            return None
        if not asked.any():
            return None
        labels = batch.y[asked].tolist()
        labels = labels if self.is_regression else [kept(label) for label in labels]
        said = dataclasses.replace(result.only(asked), labels=labels)
        assert batch.rows is not None
        assert batch.rows.begins is not None
        return said, np.diff(batch.rows.begins)[asked]

    def _in_one_call(self, batch: Batch, learned: Array) -> ProgressiveResult:
        new = np.zeros(0, np.int64)
        if self._known is not None:
            assert batch.rows is not None
            rows, new = self._known.of(batch.rows, learned, batch.names)
            batch = dataclasses.replace(batch, rows=rows)
        limits = (getattr(self.model, name, None) for name in ("hash_bits", "max_features"))
        if batch.names or any(limits):  # then columns go by name, and those alone that are there
            batch = batch.only_present()
        weights = np.where(learned, batch.weights, 0.0)
        batch = dataclasses.replace(batch, weights=None if (weights == 1).all() else weights)
        found: ProgressiveResult = self.model._progressive_rows(
            batch, probabilities=self.wanted == "probabilities"
        )
        if self._known is not None:
            self._known.add(new)
        return found

    def _complain(self, batch: Batch, place: int, problem: str) -> None:
        assert batch.sources is not None
        assert batch.lines is not None
        complaint = with_name(batch.sources[place], f"line {batch.lines[place]}: {problem}")
        self._progress.skip(complaint, self.stream_format.on_error)

    def _count_returns(self, labels: Array) -> None:
        """Count how often a class came again after another."""
        if len(labels):
            stretches = np.count_nonzero(np.diff(labels, prepend=self._last_label))
            new = set(labels.tolist()) - self._came
            self._progress.returns += int(stretches) - len(new)
            self._came |= new
            self._last_label = labels[-1]

    # -- the account -----------------------------------------------------------------------------

    def _report(self, told: tuple[ProgressiveResult, Array] | None, files: FileBatches) -> Progress:
        progress = self._progress
        result, sizes = (None, np.zeros(0)) if told is None else told
        said: list[Any] = [] if result is None else result.predictions.tolist()
        truth: list[Any] = [] if result is None else result.labels or []
        labels: Any
        predictions: Any
        if self.is_regression:
            labels, predictions = np.asarray(truth, float), np.asarray(said, float)
            losses = (labels - predictions) ** 2
        else:
            labels = numbered(truth, self._codes, add=True)
            predictions = numbered(said, self._codes, add=True)
            losses = labels != predictions
        before = progress.rows
        mark = 1 << before.bit_length()  # the next power of two
        while mark <= before + len(labels):
            at = mark - before
            lost = losses[:at].sum()
            progress.checkpoints.append(
                Checkpoint(
                    mark,
                    mark,
                    progress.mistakes + (0 if self.is_regression else int(lost)),
                    progress.squared_error + (float(lost) if self.is_regression else 0.0),
                    truth[at - 1],
                    said[at - 1],
                    int(sizes[at - 1]),
                )
            )
            mark *= 2
        progress.rows += len(labels)
        progress.judged = progress.rows
        if self.is_regression:
            progress.squared_error += float(losses.sum())
        else:
            progress.mistakes += int(losses.sum())
            self._count_returns(labels)
        progress.results = labels, predictions
        progress.classes = list(self._codes)
        progress.position = files.position
        report = dataclasses.replace(progress, complaints=list(progress.complaints), told=result)
        progress.checkpoints = []
        return report
