"""A batch of sparse rows whose features have names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Label = int | float | str


@dataclass(frozen=True)
class NamedRows:
    """A batch of rows in CSR form, with names of its own for the columns.

    Row `i` has the values `values[indptr[i]:indptr[i + 1]]` of the features numbered by `indices`
    at the same places, and `names[j]` is the name of feature `j` in this batch: a learner looks
    up each name once per batch instead of once per value. Values are finite and not zero, a
    feature occurs at most once in a row, and its place is that of its column.

    `labels` and `weights` have one entry per row, or are None where none were asked for. `lines`
    says where each row came from: its first line in a text file, counted from 1, or its row in a
    Parquet file, counted from 0. `passed` has the cells of columns that were to go along.
    """

    names: list[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    labels: list[Label] | None
    weights: NDArray[np.float64] | None
    lines: NDArray[np.int64]
    passed: list[tuple[Any, ...]] | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def dicts(self) -> Iterator[dict[str, float]]:
        """Return each row as a dict from name to value, as `learn_one` takes it."""
        names = [self.names[index] for index in self.indices]
        values = self.values.tolist()
        for start, end in zip(self.indptr, self.indptr[1:], strict=False):
            yield dict(zip(names[start:end], values[start:end], strict=True))


class ColumnValues(NamedTuple):
    """What one column adds to a batch: to row `i` its next `counts[i]` values."""

    names: list[str]
    counts: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]


def assemble(
    blocks: Sequence[ColumnValues],
    keep: NDArray[np.bool_],
    labels: list[Label] | None,
    weights: NDArray[np.float64] | None,
    lines: NDArray[np.int64],
    passed: list[tuple[Any, ...]] | None = None,
) -> NamedRows:
    """Join the blocks of all columns, in their order, into the rows where `keep` is true."""
    names, counts = [], np.zeros(len(keep), np.int64)
    for block in blocks:
        names += block.names
        counts += block.counts
    ends = np.cumsum(counts)
    indices, values = np.empty(counts.sum(), np.int64), np.empty(counts.sum())
    free, first_name = ends - counts, 0  # where each row's next value goes
    for block in blocks:
        starts = np.cumsum(block.counts) - block.counts
        places = np.arange(len(block.values)) + np.repeat(free - starts, block.counts)
        indices[places] = block.indices + first_name
        values[places] = block.values
        free += block.counts
        first_name += len(block.names)

    rows = np.repeat(np.arange(len(keep)), counts)
    if len(set(names)) < len(names):
        names, rows, indices, values = _summed(names, rows, indices, values)
    used = keep[rows] & (values != 0)
    counts = np.bincount(rows[used], minlength=len(keep))[keep]
    return NamedRows(
        names=names,
        indptr=np.concatenate(([0], np.cumsum(counts))),
        indices=indices[used].astype(np.int32),
        values=values[used],
        labels=only(labels, keep),
        weights=None if weights is None else weights[keep],
        lines=lines[keep],
        passed=only(passed, keep),
    )


def only(items: list[Any] | None, keep: NDArray[np.bool_]) -> list[Any] | None:
    """Those of the rows that are kept."""
    return None if items is None else [items[i] for i in np.flatnonzero(keep)]


def _summed(
    names: list[str],
    rows: NDArray[np.int64],
    indices: NDArray[np.int64],
    values: NDArray[np.float64],
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Give every name one number, and add up its values within a row at the first one's place."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    indices = np.array([numbers[name] for name in names], np.int64)[indices]
    keys = rows * len(numbers) + indices
    _, first, groups = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.zeros(len(first))
    np.add.at(sums, groups, values)
    order = np.argsort(first)
    places = first[order]
    return list(numbers), rows[places], indices[places], sums[order]


def block_of(rows: Iterable[Mapping[str, float]]) -> ColumnValues:
    """Make a block of rows that are mappings from name to value."""
    numbers: dict[str, int] = {}
    counts: list[int] = []
    indices: list[int] = []
    values: list[float] = []
    for row in rows:
        counts.append(len(row))
        indices += [numbers.setdefault(name, len(numbers)) for name in row]
        values += row.values()
    return ColumnValues(
        list(numbers),
        np.array(counts, np.int64),
        np.array(indices, np.int64),
        np.array(values, float),
    )
