"""What a kernel learner has learned: one function a class, each a sum over the kept rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from yarrow.errors import DataError
from yarrow.kernel.kernels import Closed
from yarrow.kernel.support import Row, SupportSet
from yarrow.lazy import np
from yarrow.stream.arrays import Array


class Expansion:
    """f_c(x) = sum over places i of coefficients[i, c] * K(row i, x), for every class c.

    The last column is that of "none of the classes seen", which a new class copies: then classes
    that appear late are learned as if they had been known from the beginning.
    """

    #: numbers a column that a file keeps
    per_column: ClassVar[tuple[str, ...]] = ("squared_norms", "memory", "column_updates")

    def __init__(self, closed: Closed | None, pairs: Any, constant: float) -> None:
        self.closed, self.pairs, self.constant = closed, pairs, constant
        self.supports = SupportSet()
        self.classes: list[Any] = []
        self.coefficients = np.zeros((0, 1))
        self.squared_norms = np.zeros(1)  # |f_c|^2
        self.memory = np.zeros(1)  # what a rule keeps for itself
        self.column_updates = np.zeros(1)
        self.t = self.updates = self.mistakes = 0

    @property
    def n_columns(self) -> int:
        return int(self.coefficients.shape[1])

    def add_class(self, label: Any) -> None:
        """A class that was not seen before has so far been none of those seen."""
        self.classes.append(label)
        self.coefficients = np.insert(self.coefficients, -1, self.coefficients[:, -1], axis=1)
        for name in self.per_column:
            values = getattr(self, name)
            setattr(self, name, np.insert(values, -1, values[-1], axis=0))

    # -- scoring ---------------------------------------------------------------------------------

    def kernel_row(self, row: Row) -> Array:
        """K(row i, x) for every place i."""
        if self.closed is not None:
            supports = self.supports
            with np.errstate(over="ignore", invalid="ignore"):
                values = self.closed(supports.products(row), row.square, supports.squares)
        else:
            values = self.pairs(row.as_dict(), [s.as_dict() for s in self.supports.rows])
        if not np.isfinite(values).all():
            raise DataError("The kernel of this row is too large a number.")
        return values + self.constant

    def square(self, row: Row) -> float:
        """K(x, x)."""
        if self.closed is None:
            value = float(self.pairs(row.as_dict(), [row.as_dict()])[0])
        else:
            square = np.array([row.square])
            with np.errstate(over="ignore", invalid="ignore"):
                value = float(self.closed(square, row.square, square)[0])
        if not np.isfinite(value):
            raise DataError("The kernel of this row is too large a number.")
        return value + self.constant

    def scores(self, values: Array) -> Array:
        """The score of every column, from the kernel with every place."""
        found: Array = values @ self.coefficients
        return found

    def at_place(self, place: int) -> tuple[float, Array, Array]:
        """K(s, s), K(row i, s) for every place i, and every column's score, of a kept row s."""
        row = self.supports.rows[place]
        values = self.kernel_row(row)
        return self.square(row), values, self.scores(values)

    # -- changing --------------------------------------------------------------------------------

    def append(self, row: Row, coefficients: Array) -> None:
        """Keep a row, with a coefficient in every column."""
        self.supports.append(row)
        self.coefficients = np.vstack([self.coefficients, coefficients])

    def remove(self, place: int) -> None:
        """Let a row go, whatever that does to the functions."""
        last = self.supports.remove(place)
        self.coefficients[place] = self.coefficients[last]
        self.coefficients = self.coefficients[:last]

    # -- files -----------------------------------------------------------------------------------

    def tensors(self) -> dict[str, Array]:
        """Everything learned, as arrays."""
        rows = self.supports.rows
        ids: dict[Any, int] = {}
        features = [ids.setdefault(name, len(ids)) for row in rows for name in row.names]
        names = [json.dumps(name, ensure_ascii=False).encode() for name in ids]
        return {
            "features": np.array(features, dtype=np.int64),
            "values": np.concatenate([row.values for row in rows]) if rows else np.zeros(0),
            "ends": np.cumsum([len(row.names) for row in rows], dtype=np.int64),
            "name_bytes": np.frombuffer(b"".join(names), dtype=np.uint8),
            "name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
            "ages": np.array(self.supports.ages, dtype=np.int64),
            "room": np.array(self.supports.room, dtype=np.int64),
            "coefficients": self.coefficients,
            "counts": np.array([self.t, self.updates, self.mistakes], dtype=np.int64),
            **{name: getattr(self, name) for name in self.per_column},
        }

    def restore(self, tensors: Mapping[str, Array], classes: list[Any]) -> None:
        """Take back what `tensors` gave."""
        text, ends = tensors["name_bytes"].tobytes(), tensors["name_ends"].tolist()
        begins = [0, *ends[:-1]] if ends else []
        names = [json.loads(text[a:b]) for a, b in zip(begins, ends, strict=True)]
        features, values = tensors["features"].tolist(), np.array(tensors["values"])
        self.supports = SupportSet(*tensors["room"].tolist())
        begin = 0
        for end in tensors["ends"].tolist():
            self.supports.append(Row([names[i] for i in features[begin:end]], values[begin:end]))
            begin = end
        self.supports.ages = tensors["ages"].tolist()
        self.classes = list(classes)
        self.t, self.updates, self.mistakes = tensors["counts"].tolist()
        for name in ("coefficients", *self.per_column):
            setattr(self, name, np.array(tensors[name]))
        if self.coefficients.shape != (len(self.supports), len(classes) + 1):
            raise ValueError("its coefficients do not fit its rows and classes")

    @property
    def nbytes(self) -> int:
        """Memory of all numbers kept."""
        arrays = [getattr(self, name) for name in ("coefficients", *self.per_column)]
        return self.supports.nbytes + sum(int(array.nbytes) for array in arrays)
