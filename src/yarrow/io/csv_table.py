"""CSV as a stream of named rows: cells are read as text, then typed column by column."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO, Literal

from yarrow.data.frames import TWO_OF_A_NAME
from yarrow.data.named_rows import NamedRows
from yarrow.errors import DataError, counted, needing
from yarrow.io.arrow_columns import cast, present, rows_of, values_of
from yarrow.io.columns import BatchProblems, Roles
from yarrow.io.compressed import Source, lines_of, open_bytes, source_name, too_long
from yarrow.io.kinds import Kind, declared_kind, kind_of_cells, typed, warn_of_texts, warn_of_zeros
from yarrow.lazy import np

BLOCK = 1 << 21
"""How many bytes make a batch, and how many of the first decide what type a column has."""

_TO_UTF8 = "convert the file, as by iconv -f LATIN1 -t UTF-8"
_INTEGER = re.compile(r"[+-]?[0-9]+")


def read_csv(
    source: Source,
    roles: Roles,
    *,
    delimiter: str,
    columns: list[str] | None,
    missing: list[str],
    numeric: list[str],
    quotes: bool,
    kinds: dict[str, Kind],
    longest_line: int,
) -> Generator[tuple[BatchProblems, NamedRows]]:
    """Yield batches of rows; the parameters are those of `read_table`.

    `kinds` holds types of columns that are known from before, and gets those found out here.
    """
    with needing("pyarrow", "Reading CSV"):
        import pyarrow as pa
    name = source_name(source)
    with open_bytes(source) as file:
        header, line = columns or [], 1
        if not columns:
            header, line = _header(file, name, delimiter, quotes, longest_line)
        _check_header(header, roles, numeric, name)
        try:
            for block in _blocks(file, delimiter, quotes, longest_line):
                cells, broken = _parse(block, header, delimiter, missing, quotes)
                batch = _batch(name, line, cells, broken, b'"' in block)
                yield batch, _rows(batch, roles, cells, kinds, numeric)
                line += block.count(b"\n")
        except pa.ArrowInvalid as error:
            raise DataError(f"not readable as CSV: {error}", source=name, line=line) from None
        except _EndlessRow as error:
            raise DataError(str(error), source=name, line=line) from None


def _header(
    file: BinaryIO, name: str, delimiter: str, quotes: bool, longest: int
) -> tuple[list[str], int]:
    """Return the names of the columns, and the line of the first row: quoted names span lines."""
    lines, start = 0, b""

    def texts() -> Iterator[str]:
        nonlocal lines, start
        for lines, line in lines_of(file, name, longest):
            start = start or line[:4]
            yield line.decode("utf-8-sig" if lines == 1 else "utf-8")
        if lines:  # asked for more than there is
            raise DataError("the header never ends; is a quote left open?", source=name, line=1)

    text = texts()
    try:
        first = next(text, "")
        if not first.strip():
            raise DataError("there is no header with the names of the columns", source=name, line=1)
        if "\r" in first.rstrip("\r\n") and "\n" not in first:
            problem = "lines end with a carriage return alone; end them with a line feed"
            raise DataError(problem, source=name, line=1)
        return cells_of(first, delimiter, quotes, text), lines + 1
    except UnicodeDecodeError:
        raise DataError(
            f"the header is not UTF-8; {_not_text(start)}", source=name, line=1
        ) from None


def _not_text(start: bytes) -> str:
    """What a file may be instead, by its first bytes, and what to do."""
    if start.startswith((b"PK\3\4", b"\xd0\xcf\x11\xe0")):
        return "it is a sheet of Excel, or an archive: save it as CSV"
    if start.startswith(b"PAR1"):
        return "it is Parquet: say format='parquet'"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16: convert it, as by iconv -f UTF-16 -t UTF-8"
    return _TO_UTF8


def cells_of(line: str, delimiter: str, quotes: bool, more: Iterable[str] = ()) -> list[str]:
    """The cells of one line, and of as many `more` as a quoted cell spans."""
    if quotes:
        try:
            return next(csv.reader(itertools.chain([line], more), delimiter=delimiter))
        except csv.Error as error:  # a carriage return, or a cell without end
            raise DataError(f"the cells of the first line cannot be read: {error}") from None
    return line.rstrip("\r\n").split(delimiter)


def _check_header(header: list[str], roles: Roles, numeric: list[str], name: str) -> None:
    try:
        roles.check(header, name)
    except DataError as error:
        mark = next((mark for mark in ";\t|," if mark in header[0]), None)
        if len(header) > 1 or mark is None:
            raise
        problem = f"{error.problem}; if {mark!r} separates its cells, say delimiter={mark!r}"
        raise DataError(problem, source=name, field=error.field) from None
    Roles(categories=frozenset(numeric)).check(header, name)
    seen: set[str] = set()
    for column in header:
        if column in seen:
            raise DataError(TWO_OF_A_NAME, source=name, field=column)
        seen.add(column)
        if not column and roles.reads(column):  # as a rule, row numbers that were saved by mistake
            raise DataError(
                "a column without a name is no feature; drop ''", source=name, field=column
            )


class _EndlessRow(Exception):
    """A row that is too long, or is not over where the file is, in words."""


def _blocks(file: BinaryIO, delimiter: str, quotes: bool, longest: int) -> Iterator[bytes]:
    """Cut a file into blocks of whole rows.

    Arrow could do that as well, but it calls Python files from threads that outlive the reader.
    """
    quoted_cell = re.compile(
        rb'(?<![^%b\r\n])"(?:[^"]|"")*+(?:(?P<close>")|\Z)' % re.escape(delimiter.encode())
        if quotes
        else rb"(?!)"  # which nothing matches
    )
    rest = b""
    while chunk := file.read(max(BLOCK, len(rest))):
        block = rest + chunk
        if len(block) > longest:
            start = _long_row(block, quoted_cell, longest)
            if start is not None:
                if start:
                    yield block[:start]
                problem = too_long("row that starts here", longest)
                raise _EndlessRow(f"{problem}; is a quote left open?")
        end = _last_row_end(block, quoted_cell)
        if end:
            yield block[:end]
        rest = block[end:]
    if any(not match["close"] for match in quoted_cell.finditer(rest)):
        raise _EndlessRow("the row that starts here never ends; is a quote left open?")
    if rest:
        yield rest


def _last_row_end(block: bytes, quoted_cell: re.Pattern[bytes]) -> int:
    """Return the place after the last newline that is not inside a quoted cell."""
    spans = [match.span() for match in quoted_cell.finditer(block)] if b'"' in block else []
    end = len(block)
    for start, stop in reversed(spans):
        if newline := block.rfind(b"\n", stop, end) + 1:
            return newline
        end = start
    return block.rfind(b"\n", 0, end) + 1


def _long_row(block: bytes, quoted_cell: re.Pattern[bytes], longest: int) -> int | None:
    """Return where the first row of more than `longest` bytes starts; its end may be to come."""
    newlines = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    spans = np.array([match.span() for match in quoted_cell.finditer(block)]).reshape(-1, 2)
    opened = np.searchsorted(spans[:, 0], newlines)
    closed = np.searchsorted(spans[:, 1], newlines, side="right")
    starts = np.concatenate([[0], newlines[opened == closed] + 1])
    long = starts[np.diff(starts, append=len(block) + 1) - 1 > longest]  # the newline apart
    return int(long[0]) if len(long) else None


def _parse(
    block: bytes, header: list[str], delimiter: str, missing: list[str], quotes: bool
) -> tuple[dict[str, Any], list[Any]]:
    """Return the cells of a block as columns of bytes, and the rows with too few or too many."""
    try:
        block.isascii() or block.decode()
        return _parse_cells(block, header, delimiter, missing, quotes)
    except UnicodeDecodeError:
        # Arrow tells a broken row as text: every byte becomes a character of its own, and then
        # again a byte.
        marks = [mark.encode().decode("latin-1") for mark in missing]
        text = block.decode("latin-1").encode()
        cells, broken = _parse_cells(text, header, delimiter, marks, quotes)
    return (
        {name: _bytes_again(column) for name, column in cells.items()},
        [row._replace(text=row.text.encode("latin-1").decode(errors="replace")) for row in broken],
    )


def _bytes_again(column: Any) -> Any:
    import pyarrow as pa

    cells = [None if c is None else c.decode().encode("latin-1") for c in column.to_pylist()]
    return pa.array(cells, pa.binary())


def _parse_cells(
    block: bytes, header: list[str], delimiter: str, missing: list[str], quotes: bool
) -> tuple[dict[str, Any], list[Any]]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    broken: list[Any] = []

    def skip(row: Any) -> str:
        broken.append(row)
        return "skip"

    table = arrow_csv.read_csv(
        pa.BufferReader(block),
        arrow_csv.ReadOptions(column_names=header, block_size=len(block) + 1, use_threads=False),
        arrow_csv.ParseOptions(
            delimiter=delimiter,
            quote_char='"' if quotes else False,
            newlines_in_values=quotes,
            ignore_empty_lines=False,  # or the lines after one could not be counted
            invalid_row_handler=skip,
        ),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.binary()),
            null_values=missing,
            strings_can_be_null=True,
        ),
    )
    columns = [pa.concat_arrays(column.chunks) for column in table.columns]
    return dict(zip(header, columns, strict=True)), broken


def _batch(
    source: str, line: int, cells: dict[str, Any], broken: list[Any], quoted: bool
) -> BatchProblems:
    """Start a batch whose first row is on `line`; rows may span lines, broken ones too."""
    import pyarrow.compute as pc

    spans = np.ones(len(next(iter(cells.values()))), np.int64)
    for column in cells.values() if quoted else ():
        spans[present(column)] += values_of(pc.count_substring(column, "\n"))
    places = np.array([row.number - 1 for row in broken], np.int64)
    is_broken = np.zeros(len(spans) + len(broken), np.bool_)
    is_broken[places] = True
    all_spans = np.empty(len(is_broken), np.int64)
    all_spans[~is_broken] = spans
    all_spans[places] = [row.text.count("\n") + 1 for row in broken]
    lines = line + np.cumsum(all_spans) - all_spans

    batch = BatchProblems(source, "line", lines[~is_broken])
    for row, at in zip(broken, lines[places].tolist(), strict=True):
        found = counted(row.actual_columns, "cell")
        problem = f"{found} instead of {row.expected_columns}: {row.text[:60]!r}"
        batch.errors.append(DataError(problem, source=source, line=at))
    return batch


def _rows(
    batch: BatchProblems,
    roles: Roles,
    cells: dict[str, Any],
    kinds: dict[str, Kind],
    numeric: list[str],
) -> NamedRows:
    import pyarrow as pa

    if all(column.null_count for column in cells.values()):  # else no row is without any value
        blank = np.ones(len(batch.keep), np.bool_)
        for column in cells.values():
            blank &= ~present(column)
        batch.keep &= ~blank

    def why(name: str) -> Literal["said", "learned", "seen"]:
        return "said" if name in numeric else "learned" if name in roles.learned else "seen"

    columns, passed = {}, {}
    for name, column in cells.items():
        if not roles.reads(name) and name not in roles.passed:
            continue
        not_utf8 = partial(batch.fail, column=name, problem=f"the cell is not UTF-8; {_TO_UTF8}")
        text = cast(column, pa.string(), not_utf8)
        if name in roles.passed:
            passed[name] = text.to_pylist()
        if roles.reads(name):
            kind = declared_kind(roles, name, numeric) or kinds.get(name)
            if kind is None:
                kind = kind_of_cells(text)
                if kind == "text":
                    warn_of_texts(batch.source, name, text)
                elif kind == "number":
                    warn_of_zeros(batch.source, name, text)
            kinds[name] = kind
            columns[name] = typed(batch, name, text, kind, why(name))
    batch.pass_on(roles, passed)
    return rows_of(batch, roles, columns, _label_values)


def _label_values(text: Any) -> list[Any]:
    """Return cells as labels: as numbers where they look like it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = cast(pc.utf8_trim_whitespace(text), pa.float64(), lambda _: None).to_pylist()
    return [_label(cell, number) for cell, number in zip(text.to_pylist(), numbers, strict=True)]


def _label(cell: Any, number: float | None) -> Any:
    if number is None:
        return cell
    if abs(number) >= 2**53 and _INTEGER.fullmatch(cell.strip()):
        return int(cell)  # a float would not keep it
    return number
