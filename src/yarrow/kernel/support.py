"""The rows that a kernel learner keeps, and the kernel of a new row with all of them at once."""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.lazy import np
from yarrow.stream.arrays import Array

#: a table of features by supports is kept dense up to this size
MOST_DENSE_BYTES = 2**26


@dataclasses.dataclass(frozen=True)
class Row:
    """One row: the names of its features and their values, none of them zero."""

    names: list[Any]
    values: Array

    @property
    def square(self) -> float:
        """|x|^2."""
        return float(self.values @ self.values)

    def as_dict(self) -> dict[Any, float]:
        return dict(zip(self.names, self.values.tolist(), strict=True))


class SupportSet:
    """Rows at places 0, 1, 2, ..., and their inner products with any other row.

    Products come from a table with a line a feature, so that a row gathers the lines of its own
    features and one call of BLAS multiplies them with its values. A table that would be large and
    mostly empty (words) is replaced by lists: each place keeps its features and their values.
    """

    def __init__(self, is_dense: int = 1, lines: int = 16, places: int = 16) -> None:
        self.rows: list[Row] = []
        self.ages: list[int] = []  # the smallest is the oldest
        self.squares = np.zeros(0)
        self._lines: dict[Any, int] = {}  # where each feature is
        self._users: dict[Any, int] = {}  # how many places have it
        self._free: list[int] = []
        self.layout: _Table | _Lists = (_Table if is_dense else _Lists)(lines, places)

    def __len__(self) -> int:
        return len(self.rows)

    def products(self, row: Row) -> Array:
        """The inner products of a row with all places."""
        known = [i for i, name in enumerate(row.names) if name in self._lines]
        lines = [self._lines[row.names[i]] for i in known]
        return self.layout.products(lines, row.values[known], len(self))

    def append(self, row: Row) -> int:
        """Keep a row at a new last place, and tell which that is."""
        place = len(self)
        for name in row.names:
            if name not in self._lines:
                self._lines[name] = self._free.pop() if self._free else len(self._lines)
                self._users[name] = 0
            self._users[name] += 1
        lines = [self._lines[name] for name in row.names]
        if isinstance(self.layout, _Table):
            height = len(self._lines) + len(self._free)
            if not self.layout.has_room(height, place + 1):
                self.layout = self._in_lists()
        self.layout.put(place, lines, row.values)
        self.ages.append(1 + max(self.ages, default=0))
        self.rows.append(row)
        self.squares = np.append(self.squares, row.square)
        return place

    def remove(self, place: int) -> int:
        """Let a place go; the last one moves into it. Returns the place that moved."""
        last = len(self) - 1
        row = self.rows[place]
        self.layout.clear(place, [self._lines[name] for name in row.names])
        for name in row.names:
            self._users[name] -= 1
        if place != last:
            moved = self.rows[last]
            lines = [self._lines[name] for name in moved.names]
            self.layout.clear(last, lines)
            self.layout.put(place, lines, moved.values)
            self.rows[place], self.ages[place] = moved, self.ages[last]
            self.squares[place] = self.squares[last]
        self.rows.pop()
        self.ages.pop()
        self.squares = self.squares[:last]
        for name in row.names:
            if not self._users[name]:
                del self._users[name]
                self._free.append(self._lines.pop(name))
        return last

    @property
    def room(self) -> tuple[int, int, int]:
        """How the inner products are kept, which decides their last bits."""
        return isinstance(self.layout, _Table), *self.layout.values.shape

    @property
    def oldest(self) -> int:
        """The place that was filled first."""
        return int(np.argmin(self.ages))

    def _in_lists(self) -> _Lists:
        lists = _Lists(16, 16)
        for place, row in enumerate(self.rows):
            lists.put(place, [self._lines[name] for name in row.names], row.values)
        return lists

    @property
    def nbytes(self) -> int:
        """Memory of the numbers kept."""
        return self.layout.nbytes + sum(row.values.nbytes for row in self.rows)


class _Table:
    """A line a feature, a column a place."""

    def __init__(self, lines: int, places: int) -> None:
        self.values = np.zeros((lines, places))

    def has_room(self, height: int, width: int) -> bool:
        """Whether so many features and places fit, after growing if need be."""
        rows, columns = self.values.shape
        while rows < height:
            rows *= 2
        while columns < width:
            columns *= 2
        if (rows, columns) != self.values.shape:
            if rows * columns * 8 > MOST_DENSE_BYTES:
                return False
            grown = np.zeros((rows, columns))
            grown[: self.values.shape[0], : self.values.shape[1]] = self.values
            self.values = grown
        return True

    def products(self, lines: list[int], values: Array, n: int) -> Array:
        # Over the whole width, used or not: the same call gives the same bits after a save.
        found: Array = (values @ self.values[lines])[:n]
        return found

    def put(self, place: int, lines: list[int], values: Array) -> None:
        self.values[lines, place] = values

    def clear(self, place: int, lines: list[int]) -> None:
        self.values[lines, place] = 0

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)


class _Lists:
    """A line a place: which features it has, and their values, filled up with zeros."""

    def __init__(self, places: int, width: int) -> None:
        self.lines = np.zeros((places, width), dtype=np.int64)
        self.values = np.zeros((places, width))

    def products(self, lines: list[int], values: Array, n: int) -> Array:
        whole = np.zeros(1 + max(int(self.lines.max()), *lines, 0))
        whole[lines] = values
        found: Array = np.einsum("ij,ij->i", self.values[:n], whole[self.lines[:n]])
        return found

    def put(self, place: int, lines: list[int], values: Array) -> None:
        rows, columns = self.values.shape
        while rows <= place:
            rows *= 2
        while columns < len(lines):
            columns *= 2
        if (rows, columns) != self.values.shape:
            self.values = _grown(self.values, rows, columns)
            self.lines = _grown(self.lines, rows, columns)
        self.lines[place, : len(lines)] = lines
        self.values[place, : len(lines)] = values

    def clear(self, place: int, lines: list[int]) -> None:
        self.lines[place] = 0
        self.values[place] = 0

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.lines.nbytes)


def _grown(array: Array, rows: int, columns: int) -> Array:
    grown = np.zeros((rows, columns), dtype=array.dtype)
    grown[: array.shape[0], : array.shape[1]] = array
    return grown
