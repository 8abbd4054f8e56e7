"""Tables as streams of named rows: CSV, JSON lines and Parquet."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, Literal, cast

from yarrow._core import LONGEST_LINE
from yarrow.data.named_rows import Label, NamedRows, block_of
from yarrow.errors import DataError, ParameterError, check_choice, check_value, needing
from yarrow.io.arrow_columns import TEXT_TYPES, rows_of
from yarrow.io.columns import (
    BatchProblems,
    Roles,
    TextFunction,
    WhenMissing,
    as_label,
    as_weight,
    row_features,
    word_ngrams,
)
from yarrow.io.compressed import Source, lines_of, open_bytes, source_name
from yarrow.io.csv_table import BLOCK, read_csv
from yarrow.io.formats import SUFFIXES, TABLE_FORMATS
from yarrow.io.kinds import (
    FirstRecords,
    Kind,
    as_learned,
    how_read,
    kind_of_type,
    kind_of_value,
    value_as_learned,
    warn_of_texts,
)
from yarrow.lazy import np

Format = Literal["csv", "jsonl", "parquet"]

Batches = Generator[tuple[BatchProblems, NamedRows]]

_JSON_ROWS = 4096
_PARQUET_ROWS = 16384
_ERRORS_KEPT = 10

_OBJECTS = (
    "each line must hold an object, as pandas writes by to_json(orient='records', lines=True)"
)


def read_table(
    source: Source,
    *,
    format: Format | None = None,
    label: str | None = None,
    weight: str | None = None,
    features: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    text: Iterable[str] | Mapping[str, TextFunction] = (),
    ngrams: int = 1,
    categories: Iterable[str] = (),
    numeric: Iterable[str] = (),
    delimiter: str | None = None,
    columns: Iterable[str] | None = None,
    missing: Iterable[str] = ("",),
    when_missing: WhenMissing = "ignore",
    tells_missing: bool = False,
    quotes: bool = True,
    passed: Iterable[str] = (),
    known: Mapping[str, Kind] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    longest_line: int = LONGEST_LINE,
) -> Table:
    r"""Read a table as batches of named rows, in bounded memory.

    `yarrow.io.columns` says which features each type of value makes.

    Parameters
    ----------
    source : a path, "-" for standard input, or a binary file; compressed or not
    format : "csv", "jsonl" (an object per line) or "parquet"; by default from the file's name
    label, weight : columns that are not features; a row without its label or weight is an error
    features : only these columns make features; by default all others do
    drop : columns that make no features; one that a CSV or Parquet file does not have is a
        `ReadingWarning`, but where something is `known` of an earlier file
    text : columns that are read as words; a mapping gives each its own function from text to
        a mapping from names to values
    ngrams : of text columns that are read as words, also count sequences of up to so many
    categories : columns whose values are names, even where they look like numbers (post codes)
    numeric : columns of a CSV file that hold numbers, whatever the first rows look like
    delimiter : what separates the cells of a CSV file; "," or, in a file named .tsv, a tab
    columns : names for the columns of a CSV file that has no header line
    missing : texts that mean that there is no value, in all columns; in a column of a CSV file
        that holds numbers, dates, or true and false, the usual marks mean it, too: NA, null, ?...
    when_missing : what becomes of a missing value. "ignore": no feature, which a linear model
        cannot tell from 0; "indicate": the feature `column is missing`, with 1; "error": refused
    tells_missing : a number that is missing has the value NaN, for a learner to which it is no 0
    quotes : cells of a CSV file may stand in double quotes, and then hold delimiters and line
        ends; False where a quote is a character like any other, as in most files with tabs
    passed : columns whose cells go along with the rows as they are (`NamedRows.passed`), whether or
        not they make features
    known : what columns of an earlier CSV file were (`Table.kinds`), so that this one, whose cells
        may look different, is read alike; what is declared above comes first. One that lacks some
        of them is a `ReadingWarning`
    on_error : "raise" stops at the first bad row, "skip" leaves bad rows out and counts them
    longest_line : how many bytes a line of JSON or a row of a CSV file may have, to bound memory

    Notes
    -----
    JSON and Parquet state the type of each value. CSV does not: a column that is not declared by
    one of the options above is numeric, or boolean, or holds dates, if all its cells in the first
    2 MiB do, and holds categories otherwise. A later cell that does not fit is an error which names
    the option to set, so that what a column means never depends on where a batch ends. Labels of a
    CSV file are numbers where they look like it, one by one. Its lines without any value are
    ignored. A column that may not be meant as it was read is a `ReadingWarning`.

    Examples
    --------
    >>> import io
    >>> cells = b"label,age,town\nspam,31,Oslo\nham,,Rome\n"
    >>> for rows in read_table(io.BytesIO(cells), format="csv", label="label"):
    ...     print(list(zip(rows.dicts(), rows.labels)))
    [({'age': 31.0, 'town=Oslo': 1.0}, 'spam'), ({'town=Rome': 1.0}, 'ham')]
    """
    suffixes = [suffix.lower() for suffix in PurePath(source_name(source)).suffixes]
    format = format or _format_of(source, suffixes)
    check_choice("format", format, ("csv", "jsonl", "parquet"))
    check_choice("on_error", on_error, ("raise", "skip"))
    if delimiter is None:
        delimiter = "\t" if {".tsv", ".tab"} & set(suffixes) else ","
    is_one = len(delimiter.encode()) == 1 and delimiter not in '"\r\n'
    check_value(is_one, "delimiter", delimiter, "one ASCII character")
    check_choice("when_missing", when_missing, ("ignore", "indicate", "error"))
    marks = _names("missing", missing)
    roles = roles_of(label, weight, features, drop, text, categories, marks, when_missing, ngrams)
    roles = dataclasses.replace(
        roles,
        passed=tuple(_names("passed", passed)),
        tells_missing=tells_missing,
        expected=tuple(_names("drop", drop)) if known is None else (),
        learned=tuple(filter(roles.is_plain, known or ())),
    )
    read: Callable[[], Batches]
    kinds: dict[str, Kind] = dict(known or {})
    if format == "csv":
        read = partial(
            read_csv,
            source,
            roles,
            delimiter=delimiter,
            columns=None if columns is None else _names("columns", columns),
            missing=marks,
            numeric=_names("numeric", numeric),
            quotes=quotes,
            kinds=kinds,
            longest_line=longest_line,
        )
    elif format == "jsonl":
        read = partial(_read_json_lines, source, roles, kinds, longest_line, known is None)
    else:
        read = partial(_read_parquet, source, roles, kinds)
    return Table(read, on_error == "skip", kinds, roles)


def roles_of(
    label: str | None = None,
    weight: str | None = None,
    features: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    text: Iterable[str] | Mapping[str, TextFunction] = (),
    categories: Iterable[str] = (),
    missing: Iterable[str] = ("",),
    when_missing: WhenMissing = "ignore",
    ngrams: int = 1,
) -> Roles:
    """What options of `read_table` say about columns."""
    return Roles(
        label=label,
        weight=weight,
        features=None if features is None else frozenset(_names("features", features)),
        drop=frozenset(name for name in (*_names("drop", drop), label, weight) if name is not None),
        text=text
        if isinstance(text, Mapping)
        else dict.fromkeys(_names("text", text), word_ngrams(ngrams)),
        categories=frozenset(_names("categories", categories)),
        missing=frozenset(missing),
        when_missing=when_missing,
    )


def with_learned(roles: Roles, kinds: Mapping[str, Kind]) -> Roles:
    """The same, with the columns as categories of which a model has learned that they are texts."""
    names = {name for name, kind in kinds.items() if kind == "text"} - roles.text.keys()
    return dataclasses.replace(roles, categories=roles.categories | names)


class Table:
    """The batches of a table: iterating over it reads it.

    Attributes
    ----------
    n_rows, n_skipped : how many rows were given and left out so far
    first_errors : what was wrong with the first rows left out
    kinds : of the columns read so far: "number", "boolean", "date" or "text"
    """

    def __init__(
        self, read: Callable[[], Batches], skip: bool, kinds: dict[str, Kind], roles: Roles
    ) -> None:
        self._read, self._skip, self.kinds, self._roles = read, skip, kinds, roles
        self.n_rows = self.n_skipped = 0
        self.first_errors: list[DataError] = []

    @property
    def described(self) -> dict[str, str]:
        """How each column was read so far, in words."""
        return {name: how_read(self._roles, name, kind) for name, kind in self.kinds.items()}

    def __iter__(self) -> Iterator[NamedRows]:
        self.n_rows = self.n_skipped = 0
        self.first_errors = []
        with contextlib.closing(self._read()) as batches:
            for batch, rows in batches:
                errors = batch.errors_in_order()
                if errors and not self._skip:
                    raise errors[0]
                self.n_rows += len(rows)
                self.n_skipped += len(errors)
                self.first_errors += errors[: _ERRORS_KEPT - len(self.first_errors)]
                if len(rows):
                    yield rows


def _json_chunks(lines: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Lines with something on them, some at a time."""
    chunk: list[tuple[int, bytes]] = []
    size = 0
    for number, line in lines:
        if line.isspace():
            continue
        chunk.append((number, line))
        size += len(line)
        if len(chunk) == _JSON_ROWS or size >= BLOCK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _read_json_lines(
    source: Source, roles: Roles, kinds: dict[str, Kind], longest_line: int, is_first: bool
) -> Batches:
    name, known = source_name(source), dict(kinds)
    roles = with_learned(roles, known)
    seen = FirstRecords(roles) if is_first else None
    with open_bytes(source) as file:
        for chunk in _json_chunks(lines_of(file, name, longest_line)):
            batch = BatchProblems(name, "line", [number for number, _ in chunk])
            parsed: list[tuple[dict[str, float], Label, float, tuple[Any, ...]]] = []
            for _, line in chunk:
                try:
                    parsed.append(_parse_row(roles, kinds, known, line, seen))
                except DataError as error:
                    batch.fail(len(parsed), error.field, error.problem)
                    parsed.append(({}, 0, 0.0, ()))
            if seen is not None:
                seen.warn(name)
            seen = None
            features, labels, weights, passed = zip(*parsed, strict=True)
            batch.passed = list(passed) if roles.passed else None
            yield (
                batch,
                batch.rows(
                    [block_of(features)],
                    None if roles.label is None else list(labels),
                    None if roles.weight is None else np.array(weights),
                    may_miss=roles.tells_missing,
                ),
            )


def _parse_row(
    roles: Roles,
    kinds: dict[str, Kind],
    known: Mapping[str, Kind],
    line: bytes,
    seen: FirstRecords | None,
) -> tuple[dict[str, float], Label, float, tuple[Any, ...]]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
        if b"\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()  # half a character has no UTF-8
        if not isinstance(record, dict):
            raise DataError(f"not a JSON object; {_OBJECTS}")
        passed = tuple(record.get(name) for name in roles.passed)
        if known:
            record = {n: value_as_learned(roles, n, value, known) for n, value in record.items()}
        if not record.keys() <= kinds.keys():
            stated = {name: one for name, one in record.items() if one is not None}
            kinds |= {name: kind_of_value(value) for name, value in stated.items()} | kinds
        if seen is not None:
            seen.look_at(record)
        label, weight = roles.label, roles.weight
        return (
            row_features(roles, record),
            0 if label is None else as_label(label, record.get(label)),
            1.0 if weight is None else as_weight(weight, record.get(weight)),
            passed,
        )
    except DataError:
        raise
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at column {error.pos + 1}; {_OBJECTS}"
        raise DataError(problem) from None
    except (ValueError, RecursionError) as error:  # nested too deep, or not UTF-8
        raise DataError(f"not JSON: {error}") from None


def _read_parquet(source: Source, roles: Roles, kinds: dict[str, Kind]) -> Batches:
    with needing("pyarrow", "Reading Parquet"):
        import pyarrow as pa
        import pyarrow.parquet as parquet
    name = source_name(source)
    known = dict(kinds)
    if source == "-":
        raise DataError("Parquet is read from its end and needs a file", source=name)
    try:
        with parquet.ParquetFile(source) as file:
            names = file.schema_arrow.names
            roles.check(names, name)
            roles = with_learned(roles, known)
            wanted = [name for name in names if roles.reads(name) or name in roles.passed]
            row = 0
            threads = isinstance(source, str | os.PathLike)  # which may not call a Python file
            for table in file.iter_batches(_PARQUET_ROWS, columns=wanted, use_threads=threads):
                batch = BatchProblems(name, "row", range(row, row + len(table)))
                columns = dict(zip(table.schema.names, table.columns, strict=True))
                batch.pass_on(roles, {name: columns[name].to_pylist() for name in roles.passed})
                columns = {name: cells for name, cells in columns.items() if roles.reads(name)}
                if not row:
                    note_kinds(kinds, roles, columns, name)
                columns = as_learned(batch, columns, known)
                yield batch, rows_of(batch, roles, columns, lambda labels: labels.to_pylist())
                row += len(table)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"not readable as Parquet: {error}", source=name) from None


def note_kinds(
    kinds: dict[str, Kind],
    roles: Roles,
    columns: Mapping[str, Any],
    source: str | None,
    warns: bool = True,
) -> None:
    """Add what typed columns hold, and warn of texts that may not be meant as categories."""
    for name, column in columns.items():
        if name not in kinds:
            kinds[name] = kind_of_type(column.type)
            if warns and str(column.type) in TEXT_TYPES and roles.is_plain(name):
                warn_of_texts(source, name, column)


def _format_of(source: Source, suffixes: list[str]) -> Format:
    formats = (SUFFIXES.get(suffix.removeprefix(".")) for suffix in suffixes)
    known = [found for found in formats if found in TABLE_FORMATS]
    if not known:
        raise ParameterError(
            f"The format of {source_name(source)} cannot be told from its name: "
            "pass format='csv', 'jsonl' or 'parquet'."
        )
    return cast("Format", "csv" if known[-1] == "tsv" else known[-1])


def _names(parameter: str, names: Iterable[str]) -> list[str]:
    check_value(not isinstance(names, str), parameter, names, "a list of names")
    return list(names)
