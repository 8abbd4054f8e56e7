"""Rows of arrays and dicts as kernel learners keep them: names and values, zeros left out."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from typing import Any

from yarrow.errors import DataError
from yarrow.kernel.support import Row
from yarrow.lazy import np
from yarrow.stream.arrays import Rows


def check_values(rows: Rows) -> None:
    """Refuse what is not finite, and sparse rows that are damaged, naming the place."""
    if rows.begins is not None:
        _check_sparse(rows)
    bad = ~np.isfinite(rows.values)
    if not bad.any():
        return
    place = int(np.flatnonzero(bad)[0])
    if rows.begins is None or rows.indices is None:
        row, column = divmod(place, rows.n_columns)
    else:
        row = int(np.searchsorted(rows.begins, place, side="right")) - 1
        column = int(rows.indices[place])
    value = rows.values.flat[place] if rows.begins is None else rows.values[place]
    what = "NaN" if math.isnan(value) else "infinity"
    raise DataError(f"Input X contains {what} at row {row}, column {column}.")


def _check_sparse(rows: Rows) -> None:
    begins, indices = rows.begins, rows.indices
    assert begins is not None
    assert indices is not None
    if indices.dtype.kind not in "iu":
        raise DataError("Input X is damaged: its indices must be int32 or int64.")
    if begins[0] != 0 or (np.diff(begins) < 0).any() or begins[-1] > len(indices):
        raise DataError("Input X is damaged: it does not say where each row begins and ends.")
    if len(rows.values) < begins[-1]:
        raise DataError("Input X is damaged: values are missing.")
    used = indices[: begins[-1]]
    if used.size and (used.min() < 0 or used.max() >= rows.n_columns):
        place = int(np.flatnonzero((used < 0) | (used >= rows.n_columns))[0])
        row = int(np.searchsorted(begins, place, side="right")) - 1
        raise DataError(f"Input X has the index {used[place]} at row {row}: no such column.")


def rows_of(rows: Rows, names: list[Any]) -> Iterator[Row]:
    """Each row; columns are called by `names`, or by their numbers."""
    for i in range(rows.n_rows):
        if rows.begins is None or rows.indices is None:
            values = rows.values[i].astype(np.float64)
            columns = np.arange(rows.n_columns)
        else:
            begin, end = rows.begins[i], rows.begins[i + 1]
            columns, values = rows.indices[begin:end], rows.values[begin:end].astype(np.float64)
            if len(np.unique(columns)) < len(columns):  # a column twice is their sum
                columns, place = np.unique(columns, return_inverse=True)
                values = np.bincount(place, weights=values)
        there = np.flatnonzero(values)
        chosen = columns[there].tolist()
        yield Row([names[j] for j in chosen] if names else chosen, values[there])


def row_of_dict(x: Any) -> Row:
    """One row of features by name. A string as value makes the feature `name=value`."""
    if not isinstance(x, Mapping):
        raise DataError(f"A row must be a dict of features, not {x!r}.")
    found: dict[Any, float] = {}
    for name, value in x.items():
        if isinstance(name, np.generic):
            name = name.item()
        if isinstance(name, bool) or not isinstance(name, (str, int)):
            raise DataError(f"A feature name must be a string or an integer, not {name!r}.")
        if isinstance(value, str):
            name, value = f"{name}={value}", 1.0
        if not isinstance(value, (numbers.Real, np.bool_)):
            raise DataError(f"The value of feature {name!r} is neither a number nor a text.")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            what = "NaN" if math.isnan(number) else "infinite"
            raise DataError(f"The value of feature {name!r} is {what}.")
        found[name] = found.get(name, 0.0) + number
    there = {name: value for name, value in found.items() if value}
    return Row(list(there), np.array(list(there.values())))
