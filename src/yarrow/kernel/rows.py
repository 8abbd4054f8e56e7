"""Rows of arrays and dicts as kernel learners keep them: names and values, zeros left out."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

from yarrow.data.arrays import Rows, is_unicode
from yarrow.errors import DataError
from yarrow.kernel.support import Row, squared_norm
from yarrow.lazy import np


class RowTable:
    """The rows of an array, one at a time; columns are called by `names`, or by their numbers."""

    def __init__(self, rows: Rows, names: list[Any]) -> None:
        self.rows, self.names = rows, names or range(rows.n_columns)

    def __getitem__(self, i: int) -> Row:
        columns, values = self.rows.cells(i)
        return Row(self.names, columns, values, squared_norm(values))


def row_of_dict(x: Any) -> Row:
    """One row of features by name. A string as value makes the feature `name=value`."""
    there = features_of(x)
    values = np.array(list(there.values()), dtype=np.float64)
    return Row(list(there), None, values, squared_norm(values))


def features_of(x: Any) -> dict[Any, float]:
    """The names and values of such a row, zeros left out; what is no row is refused."""
    if not isinstance(x, Mapping):
        raise DataError(f"A row must be a dict of features, not {x!r}.")
    found: dict[Any, float] = {}
    for name, value in x.items():
        # Nearly all are of these types, and need no closer look.
        plain = type(name) is str and type(value) is float
        if not (plain and name.isascii() and math.isfinite(value)):
            name, value = _feature(name, value)
        found[name] = found.get(name, 0.0) + value
    return {name: value for name, value in found.items() if value}


def _feature(name: Any, value: Any) -> tuple[str | int, float]:
    """A name that model files can hold, as the linear learners ask for, and a finite value."""
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise DataError(f"A feature name must be a string or an integer, not {name!r}.")
    if isinstance(value, str):
        name, value = f"{name}={value}", 1.0
    if isinstance(name, str):
        if not is_unicode(name):
            raise DataError(f"The text {name!r} in a row is not valid Unicode.")
    elif not -(2**63) <= name < 2**63:
        raise DataError(f"The feature name {name} does not fit into 64 bits.")
    if not isinstance(value, (numbers.Real, np.bool_)):
        raise DataError(f"The value of feature {name!r} is neither a number nor a text.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        what = "NaN" if math.isnan(number) else "infinite"
        raise DataError(f"The value of feature {name!r} is {what}.")
    return name, number


class about_row:
    """Say which row an error is about. (As a generator it would take as long as a rule.)"""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, DataError):
            raise DataError(f"Row {self.place}: {error}") from None
