"""What a kernel learner has learned: one function a class, each a sum over the kept rows."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

from yarrow.data.arrays import Array
from yarrow.data.dict_rows import Row, row_of_dict, squared_norm
from yarrow.errors import DataError, ModelFileError
from yarrow.estimator import uninterrupted
from yarrow.kernel.kernels import Closed
from yarrow.kernel.support import SupportSet, longer
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.saving import schema
from yarrow.saving.codec import NAME_FIELDS, pack_names, unpack_names


class Expansion:
    """f_c(x) = sum over places i of coefficients[i, c] * K(row i, x), for every class c.

    The last column is that of "none of the classes seen", which a new class copies: without a
    budget, classes that appear late are then learned as if they had been known from the beginning.
    With one, this column learns only from rows that a class seen keeps too, and never takes a
    place. Within its budget a new row has a new place; beyond it, that of the row that goes.
    """

    #: numbers a column, and a place and column, that a file keeps
    per_column: ClassVar[tuple[str, ...]] = ("squared_norms", "memory", "column_updates")
    per_place: ClassVar[tuple[str, ...]] = ("coefficients",)

    def __init__(
        self, closed: Closed | None, pairs: Any, constant: float, budget: int | None = None
    ) -> None:
        self.closed, self.pairs, self.constant, self.budget = closed, pairs, constant, budget
        self.supports = SupportSet(budget)
        self.classes: list[Any] = []
        self.squared_norms = np.zeros(1)  # |f_c|^2, where a rule asks for it
        self.memory = np.zeros(1)  # what a rule keeps for itself
        self.column_updates = np.zeros(1)
        self.t = self.updates = self.mistakes = 0
        # With room for more places: growing one by one would copy all of them every time.
        self._tables = {name: np.zeros((16, 1)) for name in self.per_place}

    @property
    def coefficients(self) -> Array:
        """A line a place, a column a class. Change it in place."""
        return self._tables["coefficients"][: len(self.supports)]

    @property
    def n_columns(self) -> int:
        return len(self.column_updates)

    @property
    def is_full(self) -> bool:
        """Whether a row must go before another one is kept."""
        return self.budget is not None and len(self.supports) >= self.budget

    def add_class(self, label: Any) -> None:
        """A class that was not seen before has so far been none of those seen."""
        self.classes.append(label)
        for name, table in self._tables.items():
            self._tables[name] = np.insert(table, -1, table[:, -1], axis=1)
        for name in self.per_column:
            values = getattr(self, name)
            setattr(self, name, np.insert(values, -1, values[-1], axis=0))

    def before_row(self) -> dict[str, Any]:
        """What a row changes before its step is known to be finite: classes and counts."""
        return vars(self) | {"classes": [*self.classes], "_tables": {**self._tables}}

    def check(self, batch: Batch) -> None:
        """Nothing is refused beforehand."""

    check_values = check

    def attempt(self, change: Callable[[], Any]) -> Any:
        """Change these very functions by one row, which changes nothing before it must succeed."""
        with uninterrupted():
            return change()

    def copy(self) -> Self:
        """The same functions, apart from these."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray | list | SupportSet):
                setattr(twin, name, value.copy())
        twin._tables = {name: table.copy() for name, table in self._tables.items()}
        return twin

    # -- scoring ---------------------------------------------------------------------------------

    def kernel_row(self, row: Row) -> Array:
        """K(row i, x) for every place i."""
        if self.closed is None:
            return self._of_pairs(row.as_dict())
        return self._from_products(self.supports.products(row), row.square)

    def kernel_row_at(self, place: int) -> Array:
        """K(row i, s) for every place i, of a kept row s."""
        if self.closed is None:
            return self._of_pairs(self.supports.dict_at(place))
        square = float(self.supports.squares[place])
        return self._from_products(self.supports.products_at(place), square)

    def _of_pairs(self, x: dict[Any, float]) -> Array:
        supports = self.supports
        others = [supports.dict_at(place) for place in range(len(supports))]
        values: Array = self.pairs(x, others) + self.constant
        return values

    def _from_products(self, products: Array, square: float) -> Array:
        assert self.closed is not None
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.closed.values(products, square, self.supports.squares)
        if not np.isfinite(values).all():
            raise DataError("The kernel of this row is too large a number.")
        return values + self.constant

    def square(self, row: Row) -> float:
        """K(x, x)."""
        if self.closed is None:
            x = row.as_dict()
            return float(self.pairs(x, [x])[0]) + self.constant
        return self._square(row.square)

    def square_at(self, place: int) -> float:
        """K(s, s) of a kept row s."""
        if self.closed is None:
            x = self.supports.dict_at(place)
            return float(self.pairs(x, [x])[0]) + self.constant
        return self._square(float(self.supports.squares[place]))

    def _square(self, own: float) -> float:
        assert self.closed is not None
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.closed.square(own)
        # A row whose own |x|^2 is too large has no kernel with itself, whatever others have.
        if not (math.isfinite(own) and math.isfinite(value)):
            raise DataError("The kernel of this row is too large a number.")
        return value + self.constant

    def scores(self, values: Array) -> Array:
        """The score of every column, from the kernel with every place."""
        found: Array = values @ self.coefficients
        return found

    # -- changing --------------------------------------------------------------------------------

    @property
    def next_place(self) -> int:
        """Where a new row goes: behind all others, or if the budget is spent to the oldest's."""
        return self.supports.oldest if self.is_full else len(self.supports)

    def keep(self, row: Row, place: int, **columns: Array) -> None:
        """Keep a row, with its numbers a column, at a place."""
        self.supports.put(row, place)
        for name, values in columns.items():
            if place == len(self._tables[name]):
                room = 2 * place if self.budget is None else min(2 * place, self.budget)
                self._tables[name] = longer(self._tables[name], room)
            self._tables[name][place] = values

    # -- files -----------------------------------------------------------------------------------

    def tensors(self) -> dict[str, Array]:
        """Everything learned, as arrays."""
        rows, names = self.supports.tensors()
        return {
            **rows,
            **pack_names(names),
            "counts": np.array([self.t, self.updates, self.mistakes], dtype=np.int64),
            **{name: table[: len(self.supports)] for name, table in self._tables.items()},
            **{name: getattr(self, name) for name in self.per_column},
        }

    def expected(self) -> schema.Fields:
        """What `tensors` makes, of so many `columns`."""
        return schema.Fields(
            {
                **SupportSet.expected,
                **NAME_FIELDS,
                "counts": schema.Array("i8", (3,), at_least=0),
                **dict.fromkeys(self.per_place, _numbers("places", "columns")),
                **dict.fromkeys(self.per_column, _numbers("columns")),
            },
            closed=True,
        )

    def restore(self, tensors: Mapping[str, Array], classes: list[Any]) -> None:
        """Take back what `tensors` gave, which is as `expected` says."""
        names = unpack_names(tensors, with_gaps=True)
        self.supports = SupportSet.restored(tensors, names, self.budget)
        self.classes = list(classes)
        self.t, self.updates, self.mistakes = tensors["counts"].tolist()
        if self.budget is not None and len(self.supports) > self.budget:
            raise ModelFileError(f"it keeps {len(self.supports)} rows, more than its budget")
        for name in self.per_column:
            setattr(self, name, np.array(tensors[name]))
        for name in self.per_place:
            self._tables[name] = longer(tensors[name], max(16, len(self.supports)))

    @property
    def nbytes(self) -> int:
        """Memory of all numbers kept."""
        columns = [getattr(self, name) for name in self.per_column]
        return self.supports.nbytes + sum(
            int(array.nbytes) for array in [*columns, *self._tables.values()]
        )


#: no coefficient is larger, so that products of two are finite
LARGEST = 1e150


def _numbers(*shape: schema.Size) -> schema.Array:
    return schema.Array("f8", shape, -LARGEST, LARGEST)


def check_steps(steps: Array) -> None:
    """Refuse a row that changes coefficients by more than a file may say."""
    if not (np.abs(steps) <= LARGEST).all():  # nor NaN
        raise DataError("The step for this row is too large a number.")


def rows_of(batch: Batch) -> Iterator[Row]:
    """The rows of a batch; columns are called by their names, or by their numbers."""
    if batch.rows is None:
        yield row_of_dict(batch.row)
        return
    names = batch.names or range(batch.rows.n_columns)
    for i in range(batch.rows.n_rows):
        columns, values = batch.rows.cells(i)
        yield Row(names, columns, values, squared_norm(values))
