"""From typed columns to named features: the one place that says what becomes what.

| value                     | features                                                          |
| ------------------------- | ----------------------------------------------------------------- |
| number                    | `column`, with that value                                         |
| true, false               | `column`, with 1 or 0                                             |
| text                      | `column=text`, with 1: a category                                 |
| text of a text column     | `column=word` for each lowercased word, with its count            |
| object                    | each member as the column `column.member`                         |
| list of texts             | `column=text` for each, with its count                            |
| list of numbers           | `column.0`, `column.1`, ...                                       |
| date, with or without     | `column.year=2024`, `column.month=5`, `column.weekday=1` (Monday) |
| a time                    | and, but at midnight, `column.hour=13`, with 1                    |
| missing                   | none, which a linear model cannot tell from 0, unless             |
|                           | `when_missing` says otherwise                                     |

Missing are None, null, NaN, NaT, and the empty text or other marks that were declared.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from yarrow.data.labels import kept
from yarrow.data.named_rows import ColumnValues, Label, NamedRows, assemble, block_of
from yarrow.errors import DataError
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD = re.compile(r"\w+")
"""What a word is: letters, digits and underscores of any script."""

_NO_WEIGHT = "the weight is missing"
_NEGATIVE = "a weight must not be negative"
_NO_TEXT = "the value is not UTF-8"
_NO_VALUE = "the value is missing"

TEXT_TYPES = ("string", "large_string", "string_view")

WhenMissing = Literal["ignore", "indicate", "error"]
TextFunction = Callable[[str], Mapping[str, float]]


def word_counts(text: str) -> Mapping[str, float]:
    """Count the lowercased words of `text`."""
    return Counter(WORD.findall(text.lower()))


def word_ngrams(longest: int) -> TextFunction:
    """What counts the sequences of up to so many words: "buy", "buy now"."""
    if longest == 1:
        return word_counts

    def counts(text: str) -> Mapping[str, float]:
        words = WORD.findall(text.lower())
        return Counter(
            " ".join(words[start : start + length])
            for length in range(1, longest + 1)
            for start in range(len(words) - length + 1)
        )

    return counts


@dataclass(frozen=True)
class Roles:
    """What the user said about the columns. A member of an object is named `object.member`."""

    label: str | None = None
    weight: str | None = None
    features: frozenset[str] | None = None
    drop: frozenset[str] = frozenset()  # the label and the weight among them
    text: Mapping[str, TextFunction] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset({""})  # texts that mean that there is no value
    when_missing: WhenMissing = "ignore"

    def check(self, names: Iterable[str], source: str | None) -> None:
        """Refuse a column that was asked for and is not there."""
        names = list(names)
        there = set(names)
        asked = [self.label, self.weight, *self.text, *self.categories, *(self.features or ())]
        for path in asked:
            if path is not None and not {path, path.split(".")[0]} & there:
                columns = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
                raise DataError(f"no such column; it has {columns}", source=source, field=path)

    def reads(self, column: str) -> bool:
        """Whether anything of a whole column is needed."""
        if column in (self.label, self.weight):
            return True
        return column not in self.drop and (self.features is None or column in self._with_features)

    def is_plain(self, column: str) -> bool:
        """Whether a column makes features and nothing special was said about it."""
        return column not in self._special and (self.features is None or column in self.features)

    @functools.cached_property
    def _with_features(self) -> frozenset[str]:
        """The columns that make features, and the objects that they are members of."""
        paths = [path.split(".") for path in self.features or ()]
        return frozenset(".".join(path[: n + 1]) for path in paths for n in range(len(path)))

    @functools.cached_property
    def _special(self) -> frozenset[str]:
        return self.drop | self.categories | self.text.keys()

    def keeps(self, path: str, inside_kept: bool) -> bool:
        """Whether a column makes features if it is not dropped: alone or as a member of one."""
        return inside_kept or self.features is None or path in self.features


class BatchProblems:
    """The rows of a batch while they are read: where each came from and what is wrong with it."""

    def __init__(self, source: str | None, unit: str, places: Iterable[int]) -> None:
        self.source, self.unit = source, unit
        self.places = np.fromiter(places, np.int64)
        self.keep = np.ones(len(self.places), np.bool_)
        self.errors: list[DataError] = []

    def fail(self, row: int, column: str | int | None, problem: str) -> None:
        """Leave out `row`, for the first problem that it has."""
        if self.keep[row]:
            self.keep[row] = False
            place: dict[str, Any] = {self.unit: int(self.places[row]), "field": column}
            self.errors.append(DataError(problem, source=self.source, **place))

    def errors_in_order(self) -> list[DataError]:
        """Return the errors as they come in the file."""
        return sorted(self.errors, key=lambda error: error.line or error.row or 0)

    def rows(
        self,
        blocks: list[ColumnValues],
        labels: list[Label] | None,
        weights: NDArray[np.float64] | None,
    ) -> NamedRows:
        """Join the features of the rows that did not fail."""
        for block in blocks:
            for place in np.flatnonzero(~np.isfinite(block.values)):  # a sum, or a text's function
                row = int(np.searchsorted(np.cumsum(block.counts), place, side="right"))
                name = block.names[block.indices[place]]
                self.fail(row, name, f"{block.values[place]} is not a finite number")
        return assemble(blocks, self.keep, labels, weights, self.places)


# Rows of plain Python values (JSON)


def row_features(roles: Roles, record: Mapping[str, Any]) -> dict[str, float]:
    """Return the features of one record; a value that has none is a `DataError` with its field."""
    row: dict[str, float] = {}
    for name, value in record.items():
        kind = type(value)
        if kind is str and value not in roles.missing and roles.is_plain(name):
            name, value = f"{name}={value}", 1.0  # most values, in a hurry
        elif kind is not float or not math.isfinite(value) or not roles.is_plain(name):
            _add(row, roles, name, value, False)
            continue
        row[name] = row[name] + value if name in row else value
    return row


def _add(row: dict[str, float], roles: Roles, path: str, value: Any, kept: bool) -> None:
    kept = roles.keeps(path, kept)
    if path in roles.drop:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            _add(row, roles, f"{path}.{name}", member, kept)
    elif not kept:
        return
    elif _is_missing(roles, value):
        if roles.when_missing == "error":
            raise DataError(_NO_VALUE, field=path)
        if roles.when_missing == "indicate":
            _increase(row, indicator(path), 1.0)
    elif path in roles.text:
        if not isinstance(value, str):
            raise DataError(f"{value!r} is not text", field=path)
        for name, count in roles.text[path](value).items():
            _increase(row, f"{path}={name}", count)
    elif isinstance(value, list):
        _add_list(row, path, value)
    elif isinstance(value, str) or path in roles.categories:
        _increase(row, category(path, value), 1.0)
    elif isinstance(value, date):
        for part, number in _parts(value).items():
            _increase(row, category(f"{path}.{part}", number), 1.0)
    else:
        _increase(row, path, as_number(path, value))


def _is_missing(roles: Roles, value: Any) -> bool:
    """Whether there is no value: None, NaN, NaT, NA of pandas, or a text that means it."""
    if value is None or isinstance(value, str):
        return value is None or value in roles.missing
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def indicator(path: str) -> str:
    """The feature that says that a column has no value."""
    return f"{path} is missing"


def _parts(value: date) -> dict[str, int]:
    """What a linear model can learn of a date; a time of exactly midnight is none."""
    parts = {"year": value.year, "month": value.month, "weekday": value.isoweekday()}
    if isinstance(value, datetime) and (value.hour, value.minute, value.second) != (0, 0, 0):
        parts["hour"] = value.hour
    return parts


def _add_list(row: dict[str, float], path: str, items: list[Any]) -> None:
    stated = [(position, item) for position, item in enumerate(items) if item is not None]
    if all(isinstance(item, str) for _, item in stated):
        for _, item in stated:
            _increase(row, category(path, item), 1.0)
    elif all(isinstance(item, int | float) for _, item in stated):
        for position, item in stated:
            _increase(row, f"{path}.{position}", as_number(path, item))
    else:
        raise DataError("a list must hold only texts or only numbers", field=path)


def _increase(row: dict[str, float], name: str, value: float) -> None:
    row[name] = row.get(name, 0.0) + value


def category(path: str, value: Any) -> str:
    """Name the feature of one category; 3 and 3.0 are the same one, as are true and "true"."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{path}={value}"


def as_number(path: str | None, value: Any) -> float:
    """Return `value` as a finite number, or raise a `DataError`."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DataError(f"{value!r} is not a finite number", field=path)
    return number


def as_label(path: str, value: Any) -> Label:
    """Return a label: text, or a number, as an integer where it is one."""
    if value is None:
        raise DataError("the label is missing", field=path)
    if isinstance(value, str):
        return value
    number = as_number(path, value)
    return int(value) if isinstance(value, int) else kept(number)


def as_weight(path: str, value: Any) -> float:
    """Return the weight of a row: a finite number that is not negative."""
    if value is None:
        raise DataError(_NO_WEIGHT, field=path)
    weight = as_number(path, value)
    if weight < 0:
        raise DataError(_NEGATIVE, field=path)
    return weight


# Columns (CSV, Parquet)


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
    return batch.rows(blocks, labels, weights)


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
        yield _block_by_rows(batch, roles, path, array)
    elif str(kind) in TEXT_TYPES or is_category:
        array = _without_marks(roles, array)
        yield from _missing(batch, roles, path, present(array))
        yield _categories(path, array)
    elif pa.types.is_null(kind):
        yield from _missing(batch, roles, path, present(array))
    elif is_number_type(kind):
        values, stated = _numbers(batch, path, array)
        yield from _missing(batch, roles, path, stated)
        yield ColumnValues([path], stated.astype(np.int64), np.zeros(len(values), np.int64), values)
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        yield from _missing(batch, roles, path, present(array))
        for part, numbers in _parts_of(array).items():
            yield _categories(f"{path}.{part}", numbers)
    else:
        raise DataError(
            f"a column of type {kind} makes no features; drop it", source=batch.source, field=path
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
            batch.fail(row, path, _NO_VALUE)
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


def _block_by_rows(batch: BatchProblems, roles: Roles, path: str, array: Any) -> ColumnValues:
    import pyarrow as pa

    is_map = pa.types.is_map(array.type)
    rows = []
    for number in range(len(array)):
        row: dict[str, float] = {}
        try:
            value = array[number].as_py()
            _add(row, roles, path, dict(value) if is_map and value else value, True)
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
        batch.fail(row, path, _NEGATIVE if stated[row] else _NO_WEIGHT)
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
