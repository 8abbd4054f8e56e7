"""Rows of files as blocks of sparse arrays, for all who do not learn from the parser itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from yarrow import _core
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.linear_model.streaming import COMPLAINTS_KEPT, errors_named, with_name
from yarrow.stream.arrays import Array, Rows, exact_array
from yarrow.stream.compressed import source_name
from yarrow.stream.format import (
    LAST_INDEX,
    TEXT_FORMATS,
    StreamFormat,
    TableReader,
    label_needed,
    opened,
    position,
    text_reader,
)

#: text in a block: enough rows that a call costs nothing, few enough that they stay in a cache
BLOCK_BYTES = 1 << 21


class FileBlock(NamedTuple):
    """Some rows that follow one another in a file."""

    rows: Rows  # sparse
    y: Array
    weights: Array | None  # None: all are 1
    names: list[Any]  # of the columns, those that come later included; empty: their numbers
    lines: Array  # where the rows stand


class FileBlocks:
    """Files or standard input in order; named features are numbered as they appear.

    `known` is what is remembered of streams that were read before.
    """

    def __init__(
        self,
        paths: Sequence[str],
        how: StreamFormat | None = None,
        *,
        dtype: str = "float32",
        max_index: int = LAST_INDEX,
        known: dict[str, Any] | None = None,
        labels: bool = True,
    ) -> None:
        self.paths, self.how, self.dtype = list(paths), how or StreamFormat(), dtype
        self.max_index, self.known = max_index, known
        self.labels = labels
        self.names = _core.Names()
        self.listed: list[Any] = []
        self.reading = ""  # the path
        self.skipped = 0
        self.complaints: list[str] = []
        self._sizes = [os.path.getsize(p) if os.path.isfile(p) else None for p in self.paths]
        self._finished = 0
        self._file: Any = None

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
        at = position(self._file) if self._file is not None else 0
        return self._finished + (at or 0)

    def read(self) -> Iterator[FileBlock]:
        """The rows in their order."""
        self._finished, self.skipped, self.complaints = 0, 0, []
        for path, size in zip(self.paths, self._sizes, strict=True):
            how = self.how.remembering(self.known)
            format = how.of(path)
            self.reading = source_name(path)
            with errors_named(path, format), opened(path) as file:
                self._file = file
                reader: Any
                found: dict[str, Any]
                if format in TEXT_FORMATS:
                    reader = text_reader(
                        file,
                        format,
                        how,
                        dtype=self.dtype,
                        max_index=self.max_index,
                        labels_optional=not self.labels,
                        block_bytes=BLOCK_BYTES,
                    )
                    yield from self._text(reader, how)
                    found = {"index_base": int(reader.index_base)} if format == "svmlight" else {}
                else:
                    # Who only predicts reads labels if they are asked for, not as in training.
                    has_labels = bool((how if self.labels else self.how).table.get("label"))
                    if self.labels and not has_labels:
                        raise label_needed(path, file, format, how)
                    reader = TableReader(
                        path, file, format, how, dtype=self.dtype, labels=has_labels
                    )
                    yield from self._table(reader)
                    found = {"kinds": reader.kinds}
                self.known = (self.known or {}) | how.described(format, **found)
            self.skipped += reader.skipped
            named = [with_name(self.reading, c) for c in reader.complaints]
            self.complaints = (self.complaints + named)[:COMPLAINTS_KEPT]
            self._finished, self._file = self._finished + (size or 0), None

    def _text(self, reader: Any, how: StreamFormat) -> Iterator[FileBlock]:
        while (rows := reader.next_rows(self.names)) is not None:
            indices = rows["indices"]
            width = max(1, len(self.names))
            labels, weights = rows["labels"], rows["weights"]
            bad = _bad_rows(labels, weights) if self.labels else np.zeros(0, np.int64)
            cells = (rows["values"], indices, rows["begins"], width)
            block = self._block(*cells, exact_array(labels), weights, rows["lines"])
            yield self._without(block, bad, how) if len(bad) else block

    def _table(self, reader: TableReader) -> Iterator[FileBlock]:
        for rows in reader:
            numbers = np.asarray(self.names.resolve(rows.names))
            values = rows.values.astype(self.dtype)
            y = exact_array([None] * len(rows) if rows.labels is None else rows.labels)
            indices = numbers[rows.indices].astype(np.int32)
            cells = (values, indices, rows.indptr, len(self.names))
            yield self._block(*cells, y, rows.weights, rows.lines)

    def _block(
        self,
        values: Array,
        indices: Array,
        begins: Array,
        width: int,
        y: Array,
        weights: Any,
        lines: Array,
    ) -> FileBlock:
        if weights is not None and (weights == 1).all():
            weights = None
        if not self.names.are_numbers and len(self.listed) < len(self.names):
            self.listed += self.names.since(len(self.listed))
        rows = Rows(values, indices, begins, len(y), width, None)
        return FileBlock(rows, y, weights, self.listed, lines)

    def _without(self, block: FileBlock, bad: Array, how: StreamFormat) -> FileBlock:
        """Leave out rows that cannot be learned, or stop there."""
        for place in bad.tolist():
            negative = block.weights is not None and not block.weights[place] >= 0
            what = "the weight of the row is negative" if negative else "the row has no label"
            complaint = with_name(self.reading, f"line {block.lines[place]}: {what}")
            if how.on_error != "skip":
                raise DataError(complaint)
            self.skipped += 1
            self.complaints = [*self.complaints, complaint][:COMPLAINTS_KEPT]
        keep = np.setdiff1d(np.arange(len(block.y)), bad)
        weights = None if block.weights is None else block.weights[keep]
        y = block.y[keep]
        y = exact_array(y.tolist()) if y.dtype == object else y
        return FileBlock(block.rows.take(keep), y, weights, block.names, block.lines[keep])


def _bad_rows(labels: Any, weights: Array) -> Array:
    if isinstance(labels, list):
        missing = np.array([label is None for label in labels], np.bool_)
    else:
        missing = np.isnan(labels)
    return np.flatnonzero(missing | ~(weights >= 0))
