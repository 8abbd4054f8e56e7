"""Maps to numbers and lists of numbers are read at once, as they would be row by row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from yarrow.io import arrow_columns
from yarrow.io.columns import BatchProblems, Roles

MAPS = pa.map_(pa.string(), pa.float64())
ARRAYS = {
    "maps": pa.array([[("a", 1.0), ("b", 0.0)], None, [], [("b", -2.5), ("a", 3.0)]], MAPS),
    "a part of maps": pa.array([[("z", 1.0)], [("a", 1.5)], [("b", 2.0)]], MAPS)[1:],
    "integer keys": pa.array([[(7, 1), (3, 2)], [(3, 4)]], pa.map_(pa.int64(), pa.int32())),
    "lists": pa.array([[1.0, 0.0, 2.0], [], None, [4.0]], pa.list_(pa.float64())),
    "lists of flags": pa.array([[True, False], [True]], pa.list_(pa.bool_())),
    "large lists": pa.array([[1, 2], [3]], pa.large_list(pa.int64())),
    # what only goes row by row
    "twice the same key": pa.array([[("a", 1.0), ("a", 2.0)]], MAPS),
    "no value": pa.array([[("a", None), ("b", 1.0)]], MAPS),
    "not a number": pa.array([[float("nan"), 1.0]], pa.list_(pa.float64())),
    "texts": pa.array([["x", "y"], ["x"]], pa.list_(pa.string())),
}


def read(array, roles):
    batch = BatchProblems(None, "row", range(len(array)))
    rows = arrow_columns.rows_of(batch, roles, {"c": array}, lambda labels: labels.to_pylist())
    return [list(row.items()) for row in rows.dicts()], [str(e) for e in batch.errors_in_order()]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "roles",
    [
        Roles(),
        Roles(drop=frozenset({"c.a"})),
        Roles(categories=frozenset({"c.1"})),
        Roles(when_missing="indicate"),
        Roles(features=frozenset({"c"})),
    ],
    ids=["plain", "drop", "categories", "indicate", "features"],
)
def test_at_once_is_as_row_by_row(name, roles, monkeypatch):
    at_once = read(ARRAYS[name], roles)
    monkeypatch.setattr(arrow_columns, "_numbers_by_name", lambda *_: None)
    assert at_once == read(ARRAYS[name], roles)


def test_it_is_really_at_once(monkeypatch):
    monkeypatch.setattr(arrow_columns, "_block_by_rows", lambda *_: pytest.fail("row by row"))
    for name in list(ARRAYS)[:6]:
        read(ARRAYS[name], Roles())


def test_a_number_that_is_not_finite_is_refused():
    array = pa.array([[1.0], [np.inf]], pa.list_(pa.float64()))
    assert read(array, Roles())[1] == ["row 1, field 'c': inf is not a finite number"]
