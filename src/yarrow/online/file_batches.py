"""Rows of files as batches of sparse arrays, for all who do not learn from the parser itself."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any

from yarrow._core import Names
from yarrow.data.arrays import Array, Rows, exact_array
from yarrow.errors import DataError
from yarrow.io.compressed import source_name
from yarrow.io.formats import LAST_INDEX, OpenedSource, StreamFormat, reading
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.ledger import Skipping

#: text in a block: enough rows that a call costs nothing, few enough that they stay in a cache
BLOCK_BYTES = 1 << 21


class FileBatches(Skipping):
    """Files or standard input in order; named features are numbered as they appear.

    The names of a batch's columns include those that come later. `stream` is what is remembered of
    the streams that were read before.
    """

    def __init__(
        self,
        paths: Sequence[Any],
        stream_format: StreamFormat | None = None,
        *,
        dtype: str = "float32",
        max_index: int = LAST_INDEX,
        stream: dict[str, Any] | None = None,
        labels: bool = True,
        tells_missing: bool = False,
    ) -> None:
        self.paths, self.stream_format = list(paths), stream_format or StreamFormat()
        self.dtype, self.max_index, self.stream, self.labels = dtype, max_index, stream, labels
        self.tells_missing = tells_missing
        self.names = Names()
        self.listed: list[Any] = []
        self.reading = ""  # the path
        self.skipped = 0
        self.complaints: list[str] = []
        self._sizes = [os.path.getsize(p) if os.path.isfile(p) else None for p in self.paths]
        self._finished = 0
        self._opened: OpenedSource | None = None

    @property
    def share_read(self) -> float | None:
        """How far the reading is, from 0 to 1; None where nobody can know."""
        at = self.position
        return None if at is None else min(1.0, at / max(1, sum(s or 0 for s in self._sizes)))

    @property
    def position(self) -> int | None:
        """How many bytes of all files have been read; None where nobody can know."""
        if None in self._sizes:
            return None
        at = 0 if self._opened is None else self._opened.position
        return self._finished + (at or 0)

    def read(self) -> Iterator[Batch]:
        """The rows in their order."""
        self._finished, self.skipped, self.complaints = 0, 0, []
        for path, size in zip(self.paths, self._sizes, strict=True):
            stream_format = self.stream_format.remembering(self.stream)
            self.reading = source_name(path)
            # Who only predicts reads labels if they are asked for, not as in training.
            labels = None if self.labels else bool(self.stream_format.table.get("label"))
            settings: dict[str, Any] = {"dtype": self.dtype, "max_index": self.max_index}
            settings["tells_missing"] = self.tells_missing
            with reading(
                path, stream_format, labels=labels, block_bytes=BLOCK_BYTES, **settings
            ) as opened:
                self._opened = opened
                yield from self._text(opened) if opened.is_text else self._table(opened)
                self.stream = (self.stream or {}) | opened.described()
            self.also(opened.reader.skipped, opened.complaints)
            self._finished, self._opened = self._finished + (size or 0), None

    def _text(self, opened: OpenedSource) -> Iterator[Batch]:
        while (rows := opened.reader.next_rows(self.names)) is not None:
            indices = rows["indices"]
            width = max(1, len(self.names))
            labels, weights = rows["labels"], rows["weights"]
            bad = _bad_rows(labels, weights) if self.labels else np.zeros(0, np.int64)
            cells = (rows["values"], indices, rows["begins"], width)
            batch = self._batch(*cells, exact_array(labels), weights, rows["lines"])
            yield self._without(batch, bad, opened) if len(bad) else batch

    def _table(self, opened: OpenedSource) -> Iterator[Batch]:
        for rows in opened.reader:
            numbers = np.asarray(self.names.resolve(rows.names))
            values = rows.values.astype(self.dtype)
            y = exact_array([None] * len(rows) if rows.labels is None else rows.labels)
            indices = numbers[rows.indices].astype(np.int32)
            cells = (values, indices, rows.indptr, len(self.names))
            batch = self._batch(*cells, y, rows.weights, rows.lines)
            yield dataclasses.replace(batch, passed=rows.passed)

    def _batch(
        self,
        values: Array,
        indices: Array,
        begins: Array,
        width: int,
        y: Array,
        weights: Any,
        lines: Array,
    ) -> Batch:
        if weights is not None and (weights == 1).all():
            weights = None
        if not self.names.are_numbers and len(self.listed) < len(self.names):
            self.listed += self.names.since(len(self.listed))
        rows = Rows(values, indices, begins, len(y), width, None, may_miss=self.tells_missing)
        return Batch(rows, self.listed, y=y, weights=weights, lines=lines)

    def _without(self, batch: Batch, bad: Array, opened: OpenedSource) -> Batch:
        """Leave out rows that cannot be learned, or stop there."""
        for place in bad.tolist():
            negative = batch.weights is not None and not batch.weights[place] >= 0
            what = "the weight of the row is negative" if negative else "the row has no label"
            complaint = opened.named(f"line {np.asarray(batch.lines)[place]}: {what}")
            self.skip(complaint, opened.stream_format.on_error)
        kept = batch.take(np.setdiff1d(np.arange(len(batch)), bad))
        y = np.asarray(kept.y)
        y = exact_array(y.tolist()) if y.dtype == object else y
        return dataclasses.replace(kept, y=y)


def _bad_rows(labels: Any, weights: Array) -> Array:
    if isinstance(labels, list):
        missing = np.array([label is None for label in labels], np.bool_)
    else:
        missing = np.isnan(labels)
    return np.flatnonzero(missing | ~(weights >= 0))


def read_whole(sources: Sequence[str], stream_format: StreamFormat, *, most_values: int) -> Batch:
    """All rows of some files at once, with those columns alone that they have.

    More than `most_values` values are refused before they are held.
    """
    files = FileBatches(sources, stream_format, dtype="float64")
    parts: list[Batch] = []
    held = 0
    for batch in files.read():
        held += batch.n_values
        if held > most_values:
            raise DataError(f"has more than {most_values:,} values", source=files.reading)
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        parts.append(dataclasses.replace(batch, weights=weights))
    if not parts:
        raise DataError("there is no row", source=", ".join(map(source_name, files.paths)))
    return Batch.joined(parts).only_present()
