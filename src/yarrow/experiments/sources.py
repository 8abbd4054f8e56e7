"""Where the rows of a comparison come from: files parsed once for all, or a named set."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from yarrow import _core
from yarrow.datasets import Block, Dataset, with_noise
from yarrow.errors import DataError, ParameterError
from yarrow.lazy import np
from yarrow.linear_model.streaming import check_passes, errors_named, with_name
from yarrow.stream.arrays import Array
from yarrow.stream.compressed import source_name
from yarrow.stream.format import (
    TEXT_FORMATS,
    StreamFormat,
    TableReader,
    opened,
    position,
    text_reader,
)

#: text in a block: enough rows that a call costs nothing, few enough that they stay in a cache
BLOCK_BYTES = 1 << 21
BLOCK_ROWS = 2048  # of a set in memory
_COMPLAINTS_KEPT = 5


class Named:
    """A set in memory."""

    def __init__(self, data: Dataset, noise: float = 0.0, seed: int = 0) -> None:
        self.data = with_noise(data, noise, seed) if noise else data
        self.name, self.order, self.source = data.name, data.order, data.source
        self.noise = noise
        self.is_regression = data.task == "regression"
        self.skipped = 0
        self.complaints: list[str] = []
        self._read = 0
        self.can_be_read_again = True

    @property
    def classes(self) -> list[Any] | None:
        """All classes, which are known beforehand."""
        return None if self.is_regression else list(self.data.classes)

    @property
    def probable_classes(self) -> list[Any] | None:
        """The same: they are sure."""
        return self.classes

    @property
    def share_read(self) -> float | None:
        """How far the reading is, from 0 to 1."""
        return self._read / max(1, len(self.data.y))

    def blocks(self) -> Iterator[Block]:
        """The rows in their order."""
        self._read = 0
        for block in self.data.blocks(BLOCK_ROWS):
            self._read += len(block.y)
            yield block


class Files:
    """Files or standard input, read once for all who learn; named features share their numbers."""

    def __init__(
        self,
        paths: Sequence[str],
        how: StreamFormat | None = None,
        *,
        regression: bool | None = None,
        dtype: str = "float32",
        noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.paths, self.how, self.dtype = list(paths), how or StreamFormat(), dtype
        self.name = ", ".join(os.path.basename(source_name(path)) for path in self.paths)
        self.order = "the order of the file" if len(self.paths) == 1 else "the files as listed"
        self.source = ", ".join(source_name(path) for path in self.paths)
        self.noise, self.seed = noise, seed
        self.classes = None
        self.names = _core.Names()
        self.listed: list[str] = []
        self.skipped = 0
        self.complaints: list[str] = []
        self._sizes = [os.path.getsize(p) if os.path.isfile(p) else None for p in self.paths]
        self._finished = 0
        self._file: Any = None
        self._opened: Iterator[Block] | None = None
        self._said = regression

    @property
    def can_be_read_again(self) -> bool:
        """Whether a second pass is possible."""
        try:
            check_passes(self.paths, 2)
        except ParameterError:
            return False
        return True

    @property
    def is_regression(self) -> bool:
        """As was said; else whether the labels of the first block have fractions."""
        if self._said is None:
            labels = self._first_labels
            self._said = labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any())
        return self._said

    @property
    def probable_classes(self) -> list[Any] | None:
        """The classes of the first block, where others would be found out by reading again."""
        if self.is_regression or self.noise or not self.can_be_read_again:
            return None
        return list(np.unique(self._first_labels).tolist())

    @functools.cached_property
    def _first_labels(self) -> Array:
        rows = self._read()
        first = next(rows, None)
        self._opened = rows if first is None else itertools.chain([first], rows)
        return np.zeros(0) if first is None else first.y

    @property
    def share_read(self) -> float | None:
        """How far the reading is, from 0 to 1; None where nobody can know."""
        if None in self._sizes:
            return None
        at = position(self._file) if self._file is not None else 0
        return min(1.0, (self._finished + (at or 0)) / max(1, sum(s or 0 for s in self._sizes)))

    def blocks(self) -> Iterator[Block]:
        """The rows in their order."""
        rows, self._opened = self._opened or self._read(), None
        return noisy(rows, self.noise, self.seed) if self.noise else rows

    def _read(self) -> Iterator[Block]:
        self._finished, self.skipped, self.complaints = 0, 0, []
        known: dict[str, Any] | None = None
        for path, size in zip(self.paths, self._sizes, strict=True):
            how = self.how.remembering(known)
            format = how.of(path)
            with errors_named(path, format), opened(path) as file:
                self._file = file
                reader: Any
                found: dict[str, Any]
                if format in TEXT_FORMATS:
                    reader = text_reader(
                        file, format, how, dtype=self.dtype, block_bytes=BLOCK_BYTES
                    )
                    yield from self._text(reader, how)
                    found = {"index_base": int(reader.index_base)} if format == "svmlight" else {}
                else:
                    if not how.table.get("label"):
                        raise ParameterError(f"Say which column of {path} is the label.")
                    reader = TableReader(path, file, format, how, dtype=self.dtype)
                    yield from self._table(reader)
                    found = {"kinds": reader.kinds}
                known = (known or {}) | how.described(format, **found)
            self.skipped += reader.skipped
            named = [with_name(source_name(path), c) for c in reader.complaints]
            self.complaints = (self.complaints + named)[:_COMPLAINTS_KEPT]
            self._finished, self._file = self._finished + (size or 0), None

    def _text(self, reader: Any, how: StreamFormat) -> Iterator[Block]:
        width = 0
        while (rows := reader.next_rows(self.names)) is not None:
            indices = rows["indices"]
            width = max(width, 1, len(self.names), int(indices.max(initial=-1)) + 1)
            labels, weights = rows["labels"], rows["weights"]
            bad = _bad_rows(labels, weights)
            y = _label_array(labels)
            block = self._block(rows["values"], indices, rows["begins"], width, y, weights)
            yield self._without(block, bad, rows["lines"], how) if len(bad) else block

    def _table(self, reader: TableReader) -> Iterator[Block]:
        for rows in reader:
            numbers = np.asarray(self.names.resolve(rows.names))
            values = rows.values.astype(self.dtype)
            y = _label_array(rows.labels)
            indices = numbers[rows.indices].astype(np.int32)
            width = len(self.names)
            yield self._block(values, indices, rows.indptr, width, y, rows.weights)

    def _block(
        self, values: Array, indices: Array, begins: Array, width: int, y: Array, weights: Any
    ) -> Block:
        from scipy.sparse import csr_array

        if weights is not None and (weights == 1).all():
            weights = None
        if len(self.listed) < len(self.names):
            self.listed += self.names.since(len(self.listed))
        # scipy gives both arrays one type, and the core takes indices of 32 bits as they are.
        X = csr_array((values, indices, begins.astype(np.int32)), shape=(len(y), width))
        X.has_canonical_format = False  # the order of values in a row is the file's
        return Block(X, y, None, weights, list(self.listed) if self.listed else None)

    def _without(self, block: Block, bad: Array, lines: Array, how: StreamFormat) -> Block:
        """Leave out rows that cannot be learned, or stop there."""
        for place in bad.tolist():
            negative = block.weights is not None and not block.weights[place] >= 0
            what = "the weight of the row is negative" if negative else "the row has no label"
            complaint = f"line {lines[place]}: {what}"
            if how.on_error != "skip":
                raise DataError(complaint)
            self.skipped += 1
            self.complaints = [*self.complaints, complaint][:_COMPLAINTS_KEPT]
        keep = np.setdiff1d(np.arange(len(block.y)), bad)
        weights = None if block.weights is None else block.weights[keep]
        y = block.y[keep]
        y = _label_array(y.tolist()) if y.dtype == object else y
        return Block(block.X[keep], y, None, weights, block.names)


def _bad_rows(labels: Any, weights: Array) -> Array:
    if isinstance(labels, list):
        missing = np.array([label is None for label in labels], np.bool_)
    else:
        missing = np.isnan(labels)
    return np.flatnonzero(missing | ~(weights >= 0))


def _label_array(labels: Any) -> Array:
    """Labels of one kind as an array of it, else as objects."""
    if not isinstance(labels, list):
        return np.asarray(labels)
    kinds = {isinstance(label, str) for label in labels}
    plain = len(kinds) == 1 and None not in labels
    return np.array(labels) if plain else np.array(labels, dtype=object)


def noisy(blocks: Iterable[Block], share: float, seed: int) -> Iterator[Block]:
    """Replace each label with probability `share` by another one of those that have appeared.

    A stream does not know its classes beforehand, so that the first rows may keep their labels.
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"The noise must be in [0, 1]. Got {share!r} instead.")
    random = np.random.default_rng((seed, 1))
    seen: list[Any] = []
    for block in blocks:
        if block.y.dtype.kind == "f" and (block.y != np.floor(block.y)).any():
            raise ParameterError("Label noise is for classes, and these labels have fractions.")
        _, first, places = np.unique(block.y, return_index=True, return_inverse=True)
        seen += [label for label in block.y[np.sort(first)].tolist() if label not in seen]
        number = {label: i for i, label in enumerate(seen)}
        which = np.array([number[label] for label in block.y[first].tolist()])[places.reshape(-1)]
        replaced = random.random(len(which)) < share
        away = random.integers(1, max(2, len(seen)), len(which))
        y = _label_array([seen[i] for i in np.where(replaced, which + away, which) % len(seen)])
        yield Block(block.X, y, block.y, block.weights, block.names)
