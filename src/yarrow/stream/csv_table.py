"""CSV as a stream of named rows: cells are read as text, then typed column by column."""

from __future__ import annotations

import csv
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from yarrow.errors import DataError, missing_dependency
from yarrow.stream.columns import Batch, Roles, present, rows_of, values_of
from yarrow.stream.compressed import Source, open_bytes, source_name
from yarrow.stream.named_rows import NamedRows

BLOCK = 1 << 21
"""How many bytes make a batch, and how many of the first decide what type a column has."""


def read_csv(
    source: Source,
    roles: Roles,
    *,
    delimiter: str,
    columns: list[str] | None,
    missing: list[str],
    numeric: list[str],
) -> Generator[tuple[Batch, NamedRows]]:
    """Yield batches of rows; the parameters are those of `read_table`."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError:
        missing_dependency("pyarrow", "Reading CSV")
    name = source_name(source)
    with open_bytes(source) as file:
        header = columns or _header(file, name, delimiter)
        _check_header(header, roles, numeric, name)
        if not file.peek(1):  # type: ignore[attr-defined]
            return
        lines = _Lines(first=1 if columns else 2)
        read = arrow_csv.ReadOptions(column_names=header, block_size=BLOCK, use_threads=False)
        parse = arrow_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            ignore_empty_lines=False,  # or the lines after one could not be counted
            invalid_row_handler=lines.skip,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.binary()),
            null_values=missing,
            strings_can_be_null=True,
        )
        kinds: dict[str, Any] = {}
        try:
            for table in arrow_csv.open_csv(file, read, parse, convert):
                cells = dict(zip(header, table.columns, strict=True))
                batch = lines.batch(name, _newlines(table))
                yield batch, _rows(batch, roles, cells, kinds, numeric)
        except pa.ArrowInvalid as error:
            raise DataError(
                f"not readable as CSV from here on: {error}", source=name, line=lines.line
            ) from None
        batch = lines.batch(name, np.zeros(0, np.int64))  # broken rows at the very end
        yield batch, batch.rows([], None, None)


def _header(file: BinaryIO, name: str, delimiter: str) -> list[str]:
    line = file.readline()
    if not line.strip():
        raise DataError("there is no header with the names of the columns", source=name, line=1)
    try:
        return next(csv.reader([line.decode("utf-8-sig")], delimiter=delimiter))
    except ValueError:
        raise DataError("the header is not UTF-8", source=name, line=1) from None


def _check_header(header: list[str], roles: Roles, numeric: list[str], name: str) -> None:
    roles.check(header, name)
    Roles(categories=frozenset(numeric)).check(header, name)
    for column in header:
        if header.count(column) > 1:
            raise DataError("two columns have this name", source=name, field=column)
        if not column and roles.reads(column):  # as a rule, row numbers that were saved by mistake
            raise DataError(
                "a column without a name is no feature; drop ''", source=name, field=column
            )


class _Lines:
    """Knows on which line a row starts, though rows span lines and broken ones are not given."""

    def __init__(self, first: int) -> None:
        self.line, self._record = first, 1
        self._broken: dict[int, Any] = {}

    def skip(self, row: Any) -> str:
        """Note a row that has too few or too many cells, as the parser meets it."""
        self._broken[row.number] = row
        return "skip"

    def batch(self, source: str, newlines: NDArray[np.int64]) -> Batch:
        """Start a batch of rows that have that many newlines inside them."""
        spans, broken, problems = newlines + 1, np.zeros(len(newlines), np.bool_), []
        while self._broken and (at := next(iter(self._broken)) - self._record) <= len(spans):
            row = self._broken.pop(at + self._record)
            spans = np.insert(spans, at, row.text.count("\n") + 1)
            broken = np.insert(broken, at, True)
            problems.append(
                f"{row.actual_columns} cells instead of {row.expected_columns}: {row.text[:60]!r}"
            )
        starts = self.line + np.cumsum(spans) - spans
        self.line += int(spans.sum())
        self._record += len(spans)
        batch = Batch(source, "line", starts[~broken])
        batch.errors += [
            DataError(problem, source=source, line=int(line))
            for problem, line in zip(problems, starts[broken], strict=True)
        ]
        return batch


def _newlines(table: Any) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    total = np.zeros(len(table), np.int64)
    for cells in table.columns:
        total[present(cells)] += values_of(pc.count_substring(cells, "\n"))
    return total


def _rows(
    batch: Batch, roles: Roles, cells: dict[str, Any], kinds: dict[str, Any], numeric: list[str]
) -> NamedRows:
    import pyarrow as pa

    blank = np.ones(len(batch.keep), np.bool_)
    for column in cells.values():
        blank &= ~present(column)
    batch.keep &= ~blank

    typed = {}
    for name, column in cells.items():
        if roles.reads(name):
            not_utf8 = partial(batch.fail, column=name, problem="the cell is not UTF-8")
            text = _cast(column, pa.string(), not_utf8)
            if name not in kinds:
                kinds[name] = _kind(roles, name, text, numeric)
            typed[name] = _typed(batch, name, text, kinds[name])
    return rows_of(batch, roles, typed, _label_values)


def _kind(roles: Roles, name: str, text: Any, numeric: list[str]) -> Any:
    """Return the type of a column: the one declared, or that of all its cells so far."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name == roles.label or name in roles.text or name in roles.categories:
        return pa.string()
    if name == roles.weight or name in numeric:
        return pa.float64()
    trimmed = pc.utf8_trim_whitespace(text)
    for kind in (pa.float64(), pa.bool_()):
        try:
            trimmed.cast(kind)
        except pa.ArrowInvalid:
            continue
        return kind
    return pa.string()


def _typed(batch: Batch, name: str, text: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == pa.string():
        return text

    def fail(row: int) -> None:
        expected = "a number" if kind == pa.float64() else "true or false"
        batch.fail(
            row,
            name,
            f"{text[row].as_py()!r} is not {expected}, as the column's first cells are; put the "
            "column among the 'categories', or this mark among the 'missing' ones",
        )

    return _cast(pc.utf8_trim_whitespace(text), kind, fail)


def _cast(array: Any, kind: Any, fail: Callable[[int], None], first: int = 0) -> Any:
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
        return pa.concat_arrays([_cast(part, kind, fail, start) for part, start in parts])


def _label_values(text: Any) -> list[Any]:
    """Return cells as labels: as numbers where they look like it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = _cast(pc.utf8_trim_whitespace(text), pa.float64(), lambda _: None).to_pylist()
    return [
        cell if number is None else number
        for cell, number in zip(text.to_pylist(), numbers, strict=True)
    ]
