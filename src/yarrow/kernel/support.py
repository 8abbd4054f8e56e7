"""The rows that a kernel learner keeps, and the inner products of a new row with all of them."""

from __future__ import annotations

import copy
import heapq
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Self

from yarrow.data.arrays import Array
from yarrow.data.dict_rows import Row, squared_norm
from yarrow.errors import ModelFileError
from yarrow.lazy import np
from yarrow.saving import schema

#: a table of features by places is kept dense up to this size
MOST_DENSE_BYTES = 2**26


class Kept:
    """A row that is kept: which lines of the set its features have, and their values."""

    __slots__ = ("lines", "row", "square", "values")

    def __init__(self, lines: Array, row: Row) -> None:
        self.lines, self.values, self.square = lines, row.values, row.square
        self.row: dict[Any, float] | None = None  # made once, if anybody asks for it


class SupportSet:
    """Rows at places 0, 1, 2, ..., each with an age, and their inner products with any other row.

    A feature has a line as long as a kept row has it. Products come from a table with a line a
    feature and a column a place, in one call: of BLAS for a row that has all features, else of
    scipy's product of a sparse row with a dense table. A table that would be large and mostly empty
    (words) is replaced by a sparse matrix with a row a place.
    """

    def __init__(
        self, budget: int | None = None, is_dense: int = 1, lines: int = 16, places: int = 16
    ) -> None:
        self.budget = budget
        self.rows: list[Kept] = []
        self._ages = np.zeros(places, dtype=np.int64)  # the smallest is the oldest
        self._squares = np.zeros(places)
        self.n_kept = 0  # in all, ever: the age of the next row
        self._lines: dict[Any, int] = {}  # where each feature is
        self._names: list[Any] = []  # the feature of each line; None: the line is free
        self._free: list[int] = []  # a heap
        self._users = np.zeros(lines, dtype=np.int64)  # how many places have it
        # Rows of arrays are looked up without names: column j has line _line_of[j], provided that
        # this line belongs to column j.
        self._header: Sequence[Any] | None = None
        self._line_of = np.zeros(0, dtype=np.int64)
        self._column_of = np.full(lines, -1, dtype=np.int64)
        self.layout: _Table | _Lists = _Table(lines, places) if is_dense else _Lists()

    def __len__(self) -> int:
        return len(self.rows)

    def copy(self) -> Self:
        """The same rows, apart from these."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray | list | dict | _Table | _Lists):
                setattr(twin, name, value.copy())
        return twin

    # -- looking ---------------------------------------------------------------------------------

    def products(self, row: Row) -> Array:
        """The inner products of a row with all places."""
        if not self.rows:
            return np.zeros(0)
        lines, values = self._known(row)
        return self.layout.products(lines, values, self.rows, len(self._names))

    def products_at(self, place: int) -> Array:
        """The inner products of a kept row with all places."""
        kept = self.rows[place]
        return self.layout.products(kept.lines, kept.values, self.rows, len(self._names))

    def _known(self, row: Row) -> tuple[Array, Array]:
        """The features of a row that have a line: these lines, and their values."""
        if row.columns is None:
            found = [self._lines.get(name, -1) for name in row.names]
            lines = np.array(found, dtype=np.int64)
            known = lines >= 0
        else:
            self._read_header(row.names)
            lines = self._line_of[row.columns]
            known = self._column_of[lines] == row.columns
        return (lines, row.values) if known.all() else (lines[known], row.values[known])

    def _read_header(self, names: Sequence[Any]) -> None:
        if self._header is names:
            return
        if self._header != names:
            self._line_of = np.array([self._lines.get(name, 0) for name in names], dtype=np.int64)
            self._column_of[:] = -1
            for column, name in enumerate(names):
                if name in self._lines:
                    self._column_of[self._lines[name]] = column
        self._header = names

    @property
    def features(self) -> Collection[Any]:
        """The features that kept rows have."""
        return self._lines.keys()

    @property
    def squares(self) -> Array:
        """|s|^2 of every place."""
        return self._squares[: len(self)]

    @property
    def ages(self) -> Array:
        """When each place was filled, in rows kept."""
        return self._ages[: len(self)]

    @property
    def oldest(self) -> int:
        """The place that was filled first."""
        return int(np.argmin(self.ages))

    @property
    def n_features(self) -> int:
        """Features that some kept row has."""
        return len(self._lines)

    def dict_at(self, place: int) -> dict[Any, float]:
        """A kept row by the names of its features."""
        kept = self.rows[place]
        if kept.row is None:
            names = [self._names[line] for line in kept.lines.tolist()]
            kept.row = dict(zip(names, kept.values.tolist(), strict=True))
        return kept.row

    @property
    def room(self) -> tuple[int, int]:
        """How inner products are kept, which decides their last bits."""
        return self.layout.room

    @property
    def nbytes(self) -> int:
        """Memory of the numbers kept."""
        rows = sum(kept.values.nbytes + kept.lines.nbytes for kept in self.rows)
        return self.layout.nbytes + rows + self._ages.nbytes + self._squares.nbytes

    # -- changing --------------------------------------------------------------------------------

    def put(self, row: Row, place: int) -> None:
        """Keep a row at a new last place, or in the place of another one."""
        if place < len(self):
            self._clear(place)
        else:
            self._grow(place + 1)
        kept = Kept(self._lines_of(row), row)
        self._users[kept.lines] += 1
        self.rows[place : place + 1] = [kept]
        self._squares[place] = row.square
        self._ages[place] = self.n_kept
        self.n_kept += 1
        if isinstance(self.layout, _Table) and not self.layout.has_room(
            len(self._users), len(self._ages)
        ):
            self.layout = _Lists()
        self.layout.put(place, kept)

    def _clear(self, place: int) -> None:
        kept = self.rows[place]
        self.layout.clear(place, kept)
        self._users[kept.lines] -= 1
        for line in kept.lines[self._users[kept.lines] == 0].tolist():
            del self._lines[self._names[line]]
            self._names[line] = None
            heapq.heappush(self._free, line)
            self._column_of[line] = -1

    def _grow(self, places: int) -> None:
        if places > len(self._ages):
            size = 2 * len(self._ages)
            size = size if self.budget is None else max(places, min(size, self.budget))
            self._ages, self._squares = longer(self._ages, size), longer(self._squares, size)

    def _lines_of(self, row: Row) -> Array:
        """The line of each feature of a row; those that have none get one."""
        if row.columns is None:
            self._header = None  # what it says of columns may be wrong after this
            lines = [self._lines.get(name, -1) for name in row.names]
            for i, name in enumerate(row.names):
                if lines[i] < 0:
                    lines[i] = self._new_line(name)
            return np.array(lines, dtype=np.int64)
        self._read_header(row.names)
        unknown = self._column_of[self._line_of[row.columns]] != row.columns
        for column in row.columns[unknown].tolist():
            line = self._new_line(row.names[column])
            self._line_of[column], self._column_of[line] = line, column
        return self._line_of[row.columns]

    def _new_line(self, name: Any) -> int:
        if self._free:
            line = heapq.heappop(self._free)  # the lowest: that does not depend on the past
            self._names[line] = name
        else:
            line = len(self._names)
            self._names.append(name)
            if line == len(self._users):
                self._users = longer(self._users, 2 * line)
                self._column_of = np.append(self._column_of, np.full(line, -1))
        self._lines[name] = line
        return line

    # -- files -----------------------------------------------------------------------------------

    def tensors(self) -> tuple[dict[str, Array], list[Any]]:
        """All rows as arrays, and the name of each line."""
        empty = np.zeros(0, dtype=np.int64)
        return {
            "lines": np.concatenate([empty, *[kept.lines for kept in self.rows]]),
            "values": np.concatenate([np.zeros(0), *[kept.values for kept in self.rows]]),
            "ends": np.cumsum([len(kept.lines) for kept in self.rows], dtype=np.int64),
            "ages": self.ages.copy(),
            "room": np.array(self.room, dtype=np.int64),
        }, self._names

    #: what `tensors` makes, beside the names
    expected: ClassVar[dict[str, schema.Schema]] = {
        "lines": schema.Array("i8", ("values",), at_least=0),
        "values": schema.Array("f8", ("values",)),
        "ends": schema.Array("i8", ("places",), at_least=0),
        "ages": schema.Array("i8", ("places",), at_least=0, at_most=2**62),
        "room": schema.Array("i8", (2,), at_least=0),
    }

    @classmethod
    def restored(cls, tensors: Any, names: list[Any], budget: int | None) -> Self:
        """What `tensors` has told."""
        lines, values, ends = (tensors[name] for name in ("lines", "values", "ends"))
        ages = tensors["ages"].tolist()
        is_dense, places = tensors["room"].tolist()
        if (np.diff(ends, prepend=0) < 0).any() or len(lines) != (ends[-1] if len(ends) else 0):
            raise ModelFileError("its rows do not end where they should")
        if {*lines.tolist()} != {i for i, name in enumerate(names) if name is not None}:
            raise ModelFileError("the features of its rows are not those that have names")
        if len({*ages}) != len(ages):
            raise ModelFileError("not every row has an age of its own")
        room = _doubled(16, len(names))
        fits = not is_dense or len(ends) <= places <= max(16, 2 * len(ends))
        if is_dense > 1 or not fits or 8 * room * places > MOST_DENSE_BYTES:
            raise ModelFileError("its table has no room for its rows, or too much")
        one = cls(budget, is_dense, room, places if is_dense else _doubled(16, len(ends)))
        one._names, one._lines = names, {n: i for i, n in enumerate(names) if n is not None}
        one._free = [line for line, name in enumerate(names) if name is None]
        begin = 0
        for place, end in enumerate(ends.tolist()):
            own = np.array(values[begin:end])
            features = [names[line] for line in lines[begin:end].tolist()]
            if len(set(features)) < len(features):
                raise ModelFileError("a row has a feature twice")
            one.put(Row(features, None, own, squared_norm(own)), place)
            begin = end
        one._ages[: len(ends)] = ages
        one.n_kept = 1 + max(ages, default=-1)
        return one


def _doubled(size: int, needed: int) -> int:
    while size < needed:
        size *= 2
    return size


def longer(array: Array, size: int) -> Array:
    """The array with zeros after it."""
    grown = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


class _Table:
    """A line a feature, a column a place."""

    def __init__(self, lines: int, places: int) -> None:
        self._take(np.zeros((lines, places)))

    def _take(self, values: Array) -> None:
        from scipy.sparse import csr_array

        self.values = values
        self._row = csr_array((1, len(values)))  # the row that is looked at; made once

    def copy(self) -> _Table:
        twin = _Table(0, 0)
        twin._take(self.values.copy())
        return twin

    @property
    def room(self) -> tuple[int, int]:
        return 1, self.values.shape[1]

    def has_room(self, lines: int, places: int) -> bool:
        """Whether so many features and places fit, after growing if need be."""
        if self.values.shape != (lines, places):
            if lines * places * 8 > MOST_DENSE_BYTES:
                return False
            grown = np.zeros((lines, places))
            grown[: self.values.shape[0], : self.values.shape[1]] = self.values
            self._take(grown)
        return True

    def products(self, lines: Array, values: Array, rows: list[Kept], n_lines: int) -> Array:
        # Over the whole width, used or not: the same call gives the same bits after a save.
        found: Array
        if len(lines) == n_lines and (np.diff(lines) == 1).all():
            found = values @ self.values[:n_lines]
        else:
            self._row.data, self._row.indices = values, lines
            self._row.indptr = np.array([0, len(lines)])
            found = (self._row @ self.values)[0]
        return found[: len(rows)]

    def put(self, place: int, kept: Kept) -> None:
        self.values[kept.lines, place] = kept.values

    def clear(self, place: int, kept: Kept) -> None:
        self.values[kept.lines, place] = 0

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)


class _Lists:
    """A sparse matrix with a row a place, made anew when it is asked after a change."""

    room = (0, 0)

    def __init__(self) -> None:
        self._matrix: Any = None
        self._whole = np.zeros(0)  # zeros, but while a row is looked at

    def copy(self) -> _Lists:
        return _Lists()

    def products(self, lines: Array, values: Array, rows: list[Kept], n_lines: int) -> Array:
        if self._matrix is None:
            self._matrix = self._made(rows)
        self._whole[lines] = values
        found: Array = self._matrix @ self._whole
        self._whole[lines] = 0
        return found

    def _made(self, rows: list[Kept]) -> Any:
        from scipy.sparse import csr_array

        lines = np.concatenate([kept.lines for kept in rows])
        values = np.concatenate([kept.values for kept in rows])
        begins = np.cumsum([0, *[len(kept.lines) for kept in rows]])
        width = int(lines.max(initial=0)) + 1
        if width > len(self._whole):
            self._whole = np.zeros(2 * width)
        return csr_array((values, lines, begins), (len(rows), len(self._whole)))

    def put(self, place: int, kept: Kept) -> None:
        self._matrix = None

    def clear(self, place: int, kept: Kept) -> None:
        self._matrix = None

    @property
    def nbytes(self) -> int:
        matrix = self._matrix
        parts = [] if matrix is None else [matrix.data, matrix.indices, matrix.indptr]
        return int(self._whole.nbytes + sum(part.nbytes for part in parts))
