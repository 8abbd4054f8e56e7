"""Where the rows of a comparison come from: files parsed once for all, or a named set."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from yarrow.data.arrays import Array, check_values, exact_array, read_target
from yarrow.data.labels import class_labels, distinct
from yarrow.datasets import Block, Dataset, with_noise
from yarrow.errors import ParameterError
from yarrow.io.compressed import source_name
from yarrow.io.formats import StreamFormat
from yarrow.io.row_reader import rows_for
from yarrow.lazy import np
from yarrow.online.core_stream import check_passes
from yarrow.online.file_batches import FileBatches

BLOCK_ROWS = 2048  # of a set in memory


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


def in_memory(X: Any, y: Any) -> Dataset:
    """Rows of an array, a frame or a list of dicts, in their order, with their labels."""
    from scipy.sparse import csr_array

    rows = rows_for(None, X, fresh=True)
    check_values(rows)
    labels = read_target(y, rows.n_rows)
    regression = labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any())
    if not regression:
        labels = exact_array(class_labels(y, rows.n_rows))
    many = "binary" if len(distinct(labels)[0]) == 2 else "multiclass"
    return Dataset(
        "rows in memory",
        csr_array(rows.matrix, dtype=np.float32),
        labels,
        "regression" if regression else many,  # type: ignore[arg-type]
        "the order of the rows",
        "given by the caller",
        rows.names,
    )


class Files(FileBatches):
    """Files or standard input, read once for all who learn; named features share their numbers."""

    def __init__(
        self,
        paths: Sequence[str],
        stream_format: StreamFormat | None = None,
        *,
        regression: bool | None = None,
        dtype: str = "float32",
        noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(paths, stream_format, dtype=dtype)
        self.name = ", ".join(os.path.basename(source_name(path)) for path in self.paths)
        self.order = "the order of the file" if len(self.paths) == 1 else "the files as listed"
        self.source = ", ".join(source_name(path) for path in self.paths)
        self.noise, self.seed = noise, seed
        self.classes = None
        self._ahead: Iterator[Block] | None = None
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
        return distinct(self._first_labels)[0]

    @functools.cached_property
    def _first_labels(self) -> Array:
        rows = self._matrices()
        first = next(rows, None)
        self._ahead = rows if first is None else itertools.chain([first], rows)
        return np.zeros(0) if first is None else first.y

    def blocks(self) -> Iterator[Block]:
        """The rows in their order."""
        rows, self._ahead = self._ahead or self._matrices(), None
        return noisy(rows, self.noise, self.seed) if self.noise else rows

    def _matrices(self) -> Iterator[Block]:
        from scipy.sparse import csr_array

        for batch in self.read():
            rows: Any = batch.rows
            # scipy gives both arrays one type, and the core takes indices of 32 bits as they are.
            begins = np.asarray(rows.begins, np.int32)
            shape = (rows.n_rows, rows.n_columns)
            X = csr_array((rows.values, rows.indices, begins), shape=shape)
            X.has_canonical_format = False  # the order of values in a row is the file's
            yield Block(X, batch.y, None, batch.weights, list(batch.names) or None)


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
        _, first, places = distinct(block.y)
        seen += [label for label in block.y[np.sort(first)].tolist() if label not in seen]
        number = {label: i for i, label in enumerate(seen)}
        which = np.array([number[label] for label in block.y[first].tolist()])[places]
        replaced = random.random(len(which)) < share
        away = random.integers(1, max(2, len(seen)), len(which))
        y = exact_array([seen[i] for i in np.where(replaced, which + away, which) % len(seen)])
        yield Block(block.X, y, block.y, block.weights, block.names)
