"""Columns of Arrow (CSV, Parquet, frames) as named features; `yarrow.io.columns` says which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from yarrow.data.named_rows import ColumnValues, Label, NamedRows, block_of
from yarrow.errors import DataError
from yarrow.io.columns import (
    NEGATIVE,
    NO_VALUE,
    NO_WEIGHT,
    BatchProblems,
    Roles,
    add_value,
    as_label,
    category,
    indicator,
)
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT_TYPES = ("string", "large_string", "string_view")

_NO_TEXT = "the value is not UTF-8"


def rows_of(
    batch: BatchProblems,
    roles: Roles,
    columns: Mapping[str, Any],
    label_values: Callable[[Any], list[Any]],
) -> NamedRows:
    """Make rows of Arrow arrays; `label_values` turns one of distinct labels into Python values."""
    blocks = [
        block
        for name, array in columns.items()
        for block in _column_blocks(batch, roles, name, array)
    ]
    label, weight = roles.label, roles.weight
    labels = None if label is None else _labels(batch, label, columns[label], label_values)
    weights = None if weight is None else _weights(batch, weight, columns[weight])
    return batch.rows(blocks, labels, weights, may_miss=roles.tells_missing)


def _column_blocks(
    batch: BatchProblems, roles: Roles, path: str, array: Any, kept: bool = False
) -> Iterator[ColumnValues]:
    """Yield the features of an Arrow array, one value per row of `batch`."""
    import pyarrow as pa

    kept = roles.keeps(path, kept)
    if path in roles.drop:
        return
    is_category = path in roles.categories or pa.types.is_dictionary(array.type)
    array = _texts(batch, path, array)
    kind = array.type
    if pa.types.is_struct(kind):
        for name, member in zip(kind.names, array.flatten(), strict=True):
            yield from _column_blocks(batch, roles, f"{path}.{name}", member, kept)
    elif not kept:
        return
    elif path in roles.text or pa.types.is_nested(kind):
        yield _numbers_by_name(roles, path, array) or _block_by_rows(batch, roles, path, array)
    elif str(kind) in TEXT_TYPES or is_category:
        array = _without_marks(roles, array)
        yield from _missing(batch, roles, path, present(array))
        yield _categories(path, array)
    elif pa.types.is_null(kind):
        yield from _missing(batch, roles, path, present(array))
    elif is_number_type(kind):
        values, stated = _numbers(batch, path, array)
        yield from _missing(batch, roles, path, stated)
        if roles.tells_missing and not stated.all():
            told = np.full(len(stated), np.nan)
            told[stated] = values
            values, stated = told, np.ones(len(stated), np.bool_)
        yield ColumnValues([path], stated.astype(np.int64), np.zeros(len(values), np.int64), values)
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        yield from _missing(batch, roles, path, present(array))
        for part, numbers in _parts_of(array).items():
            yield _categories(f"{path}.{part}", numbers)
    else:
        raise DataError(
            f"a column of type {kind} cannot be a feature; drop it", source=batch.source, field=path
        )


def _categories(path: str, array: Any) -> ColumnValues:
    encoded = array.dictionary_encode()
    indices = values_of(encoded.indices).astype(np.int64)
    names = [category(path, value) for value in encoded.dictionary.to_pylist()]
    return ColumnValues(names, present(array).astype(np.int64), indices, np.ones(len(indices)))


def _without_marks(roles: Roles, array: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if str(array.type) not in TEXT_TYPES or not roles.missing:
        return array
    marked = pc.is_in(array, pa.array(sorted(roles.missing), array.type))
    return (
        pc.if_else(marked, pa.scalar(None, array.type), array) if pc.any(marked).as_py() else array
    )


def _missing(
    batch: BatchProblems, roles: Roles, path: str, stated: NDArray[np.bool_]
) -> Iterator[ColumnValues]:
    """What rows without a value of a column add, if anything."""
    if roles.when_missing == "ignore" or stated.all():
        return
    if roles.when_missing == "error":
        for row in np.flatnonzero(~stated).tolist():
            batch.fail(row, path, NO_VALUE)
        return
    n = int((~stated).sum())
    counts = (~stated).astype(np.int64)
    yield ColumnValues([indicator(path)], counts, np.zeros(n, np.int64), np.ones(n))


def _parts_of(array: Any) -> dict[str, Any]:
    """The same as `_parts`, of an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s"))
    parts = {
        "year": pc.year(array),
        "month": pc.month(array),
        "weekday": pc.day_of_week(array, count_from_zero=False, week_start=1),
    }
    times = [pc.hour(array), pc.minute(array), pc.second(array)]
    at_midnight = pc.equal(pc.add(pc.add(*times[:2]), times[2]), 0)
    parts["hour"] = pc.if_else(at_midnight, pa.scalar(None, pa.int64()), times[0])
    return parts


def _texts(batch: BatchProblems, path: str, array: Any) -> Any:
    """Decode a dictionary; texts that are not UTF-8, which a Parquet file may hold, fail."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if str(array.type) not in TEXT_TYPES:
        return array
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        cells = array.cast(pa.large_binary())
        return cast(cells, pa.large_string(), lambda row: batch.fail(row, path, _NO_TEXT))
    return array


def _numbers_by_name(roles: Roles, path: str, array: Any) -> ColumnValues | None:
    """The same as `_block_by_rows`, of maps to numbers and lists of numbers alone, at once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    is_map = pa.types.is_map(kind)
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not (is_map or is_list) or not roles.is_plain_below(path) or not len(array):
        return None
    if roles.when_missing != "ignore" and array.null_count:
        return None
    items, keys = (array.items, array.keys) if is_map else (array.values, None)
    if not is_number_type(kind.item_type if is_map else kind.value_type):
        return None
    if is_map and not (pa.types.is_integer(kind.key_type) or str(kind.key_type) in TEXT_TYPES):
        return None
    # Parts of an array know of all of its values; those of missing rows are none.
    begins = np.asarray(array.offsets)
    counts = np.where(present(array), np.diff(begins), 0).astype(np.int64)
    if counts.sum() != begins[-1] - begins[0]:
        return None
    inside = slice(int(begins[0]), int(begins[-1]))
    items = items[inside]
    if items.null_count or not pc.all(pc.is_finite(items.cast("float64", safe=False))).as_py():
        return None
    rows = np.repeat(np.arange(len(counts)), counts)
    if keys is not None:
        encoded = keys[inside].dictionary_encode()
        numbers, names = np.asarray(encoded.indices, np.int64), encoded.dictionary.to_pylist()
        cells = np.sort(rows * max(len(names), 1) + numbers)
        if (cells[1:] == cells[:-1]).any():  # a name twice in a row
            return None
    else:
        numbers = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        names = list(range(int(counts.max())))
    values = np.asarray(items.cast("float64", safe=False))
    return ColumnValues([f"{path}.{name}" for name in names], counts, numbers, values)


def _block_by_rows(batch: BatchProblems, roles: Roles, path: str, array: Any) -> ColumnValues:
    import pyarrow as pa

    is_map = pa.types.is_map(array.type)
    rows = []
    for number in range(len(array)):
        row: dict[str, float] = {}
        try:
            value = array[number].as_py()
            add_value(row, roles, path, dict(value) if is_map and value else value, True)
        except DataError as error:
            batch.fail(number, error.field, error.problem)
        except UnicodeDecodeError:
            batch.fail(number, path, _NO_TEXT)
        rows.append(row)
    return block_of(rows)


def present(array: Any) -> NDArray[np.bool_]:
    """Return where an Arrow array is not null."""
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    return np.from_dlpack(array.is_valid().cast("int8")).astype(np.bool_)


def values_of(array: Any) -> NDArray[Any]:
    """Return the values of an Arrow array that are not null (`to_numpy` would import pandas)."""
    return np.from_dlpack(array.drop_null())


def _numbers(
    batch: BatchProblems, path: str, array: Any
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the stated values, and which rows state one; infinite ones fail."""
    stated = present(array)
    values = values_of(array.cast("float64", safe=False))
    if np.isfinite(values).all():
        return values, stated
    there = ~np.isnan(values)
    stated[stated] = there
    values = values[there]
    bad = np.isinf(values)
    for row, value in zip(np.flatnonzero(stated)[bad].tolist(), values[bad], strict=True):
        batch.fail(row, path, f"{value} is not a finite number")
    return np.where(bad, 0.0, values), stated


def _labels(
    batch: BatchProblems, path: str, array: Any, values: Callable[[Any], list[Any]]
) -> list[Label]:
    encoded = _texts(batch, path, array).dictionary_encode()
    labels: dict[int | None, Label] = {}
    problems: dict[int | None, str] = {}
    for index, value in [(None, None), *enumerate(values(encoded.dictionary))]:
        try:
            labels[index] = as_label(path, value)
        except DataError as error:
            labels[index], problems[index] = 0, error.problem
    indices = encoded.indices.to_pylist()
    if problems.keys() & set(indices):
        for row, index in enumerate(indices):
            if index in problems:
                batch.fail(row, path, problems[index])
    return [labels[index] for index in indices]


def _weights(batch: BatchProblems, path: str, array: Any) -> NDArray[np.float64]:
    values, stated = _numbers(batch, path, array)
    weights = np.full(len(stated), np.nan)
    weights[stated] = values
    for row in np.flatnonzero(~(weights >= 0)).tolist():
        batch.fail(row, path, NEGATIVE if stated[row] else NO_WEIGHT)
    return weights


def cast(array: Any, kind: Any, fail: Callable[[int], None], first: int = 0) -> Any:
    """Cast an array; where that fails, halve it until each bad cell is found, and make it null."""
    import pyarrow as pa

    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        if len(array) == 1:
            fail(first)
            return pa.nulls(1, kind)
        half = len(array) // 2
        parts = [(array[:half], first), (array[half:], first + half)]
        return pa.concat_arrays([cast(part, kind, fail, start) for part, start in parts])


def is_number_type(kind: Any) -> bool:
    """Whether the values of an Arrow type are numbers, or true and false."""
    import pyarrow.types as types

    tests = types.is_boolean, types.is_integer, types.is_floating, types.is_decimal
    return any(test(kind) for test in tests)
