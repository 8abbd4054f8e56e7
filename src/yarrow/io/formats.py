"""What a stream looks like and how it is opened: text for the core, tables for pyarrow."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from yarrow._core import LONGEST_LINE, TextReaderF32, TextReaderF64
from yarrow.errors import DataError, ParameterError, check_choice, first_of
from yarrow.io.compressed import (
    COMPRESSORS,
    Source,
    is_compressed,
    lines_of,
    open_bytes,
    source_name,
)
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from yarrow.data.named_rows import NamedRows

TEXT_FORMATS = ("svmlight", "vw")
TABLE_FORMATS = ("csv", "tsv", "jsonl", "parquet")
FORMATS = TEXT_FORMATS + TABLE_FORMATS
LAST_INDEX = 2**31 - 2

SUFFIXES = {
    "svm": "svmlight", "svmlight": "svmlight", "libsvm": "svmlight", "dat": "svmlight",
    "vw": "vw",
    "csv": "csv", "tsv": "tsv", "tab": "tsv",
    "jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl",
    "parquet": "parquet", "pq": "parquet",
}  # fmt: skip


def format_of_name(name: str) -> str | None:
    """The format that a file's name tells, whether compressed or not."""
    parts = os.path.basename(name).lower().split(".")[1:]
    while parts and f".{parts[-1]}" in COMPRESSORS:
        parts.pop()
    return SUFFIXES.get(parts[-1]) if parts else None


@dataclasses.dataclass(frozen=True)
class StreamFormat:
    """How to read a stream: what `yarrow train` takes as options.

    Without `format` the file's name decides, and `otherwise` where that tells nothing. `table`
    holds the options of `yarrow.io.read_table` (label, weight, text, ...), and `header`: False
    for a CSV file whose columns are to be called 1, 2, 3...
    """

    format: str | None = None
    otherwise: str = "svmlight"
    threads: int = 0  # 0: one for each core
    index_base: Literal["auto"] | int = "auto"  # or 0 or 1
    interactions: tuple[tuple[str, str], ...] = ()
    on_error: Literal["raise", "skip"] = "raise"
    longest_line: int = LONGEST_LINE  # in bytes; a longer line, or row of a CSV file, is refused
    table: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    is_first: bool = True  # whether nothing is remembered of an earlier stream
    #: is told, once a table, its name and how each of its columns was read
    on_columns: Callable[[str, Mapping[str, str]], None] | None = None

    def __post_init__(self) -> None:
        if self.format is not None:
            check_choice("format", self.format, FORMATS)

    def of(self, source: Source) -> str:
        """The format of a source."""
        return self.format or format_of_name(source_name(source)) or self.otherwise

    def remembering(self, stream: Mapping[str, Any] | None) -> StreamFormat:
        """The same, but where nothing is said, as in the stream that `described` returned."""
        if not stream:
            return self
        base = stream.get("index_base")
        return dataclasses.replace(
            self,
            is_first=False,
            otherwise=stream["format"],
            index_base=base if self.index_base == "auto" and base is not None else self.index_base,
            interactions=self.interactions or tuple(map(tuple, stream.get("interactions", ()))),
            table={**stream.get("table", {}), **self.table},
        )

    def described(
        self,
        format: str,
        *,
        index_base: int | None = None,
        kinds: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """What a model remembers of its stream, so that the next one is read alike.

        `kinds` says what the columns of a CSV file turned out to be.
        """
        known: dict[str, Any] = {"format": format}
        if index_base is not None:
            known["index_base"] = index_base
        if self.interactions:
            known["interactions"] = [list(pair) for pair in self.interactions]
        if self.table:
            known["table"] = dict(self.table)
        if kinds:
            known.setdefault("table", {})["known"] = dict(kinds)
        return known


def parse_interactions(pairs: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """VW's `-q ab`, or `-q first,second` for whole names."""
    parsed = []
    for pair in pairs:
        names = tuple(pair.split(",") if "," in pair else pair)
        if len(names) != 2 or not all(names):
            raise ParameterError(
                "An interaction is two letters, or two names with a comma between. "
                f"Got {pair!r} instead."
            )
        parsed.append((names[0], names[1]))
    return tuple(parsed)


@contextlib.contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """A source as a file. It is opened once, as a pipe gives its bytes to one reader only."""
    if not isinstance(source, (str, os.PathLike)):
        yield source
    elif source == "-":
        yield sys.stdin.buffer
    else:
        with open(source, "rb") as file:
            yield file


@dataclasses.dataclass(frozen=True)
class OpenedSource:
    """A source that is being read: its file, and the reader of its format."""

    name: str
    format: str
    file: BinaryIO
    reader: Any  # the core's `TextReader`, or a `TableReader`
    stream_format: StreamFormat

    @property
    def is_text(self) -> bool:
        """Whether the core parses it."""
        return self.format in TEXT_FORMATS

    @property
    def position(self) -> int | None:
        """How many bytes have been read of the file itself; None for a pipe."""
        return position(self.file)

    @property
    def complaints(self) -> list[str]:
        """What was wrong with the first rows that were skipped."""
        return [self.named(complaint) for complaint in self.reader.complaints]

    def named(self, complaint: str) -> str:
        """A complaint about a row that names its source."""
        return with_name(self.name, _in_units(self.format, complaint))

    def described(self) -> dict[str, Any]:
        """What a model remembers of a source that was read to its end."""
        if not self.is_text:
            return self.stream_format.described(self.format, kinds=self.reader.kinds)
        base = int(self.reader.index_base) if self.format == "svmlight" else None
        return self.stream_format.described(self.format, index_base=base)


@contextlib.contextmanager
def reading(
    source: Source,
    stream_format: StreamFormat,
    *,
    labels: bool | None = None,
    dtype: str = "float64",
    hash_bits: int = 0,
    tells_missing: bool = False,
    **of_text: Any,
) -> Iterator[OpenedSource]:
    """Open a source once, with the reader of its format; errors about rows name the source.

    `labels` says whether a table's label and weight are read, and lets rows of text be without a
    label; None: every row must have one. `tells_missing` is that of `read_table`. `of_text` are
    further settings of `text_reader`.
    """
    format = stream_format.of(source)
    with errors_named(source, format), opened(source) as file:
        reader: Any
        if format in TEXT_FORMATS:
            of_text |= {"hash_bits": hash_bits, "labels_optional": labels is not None}
            reader = text_reader(file, format, stream_format, dtype=dtype, **of_text)
        else:
            if labels is None and not stream_format.table.get("label"):
                raise label_needed(source, file, format, stream_format)
            has_labels = labels is not False
            settings: dict[str, Any] = {"labels": has_labels, "tells_missing": tells_missing}
            reader = TableReader(source, file, format, stream_format, dtype=dtype, **settings)
        yield OpenedSource(source_name(source), format, file, reader, stream_format)


@contextlib.contextmanager
def errors_named(source: Source, format: str) -> Iterator[None]:
    """Let errors about rows name their source."""
    try:
        yield
    except DataError as error:
        text = _in_units(format, str(error))
        raise DataError(with_name(source_name(source), text)) from None


def _in_units(format: str, complaint: str) -> str:
    """The core speaks of lines; a Parquet file has rows. Text of VW is known by its bar."""
    if format == "parquet" and complaint.startswith("line "):
        return "row " + complaint.removeprefix("line ")
    if format == "svmlight" and ", '|" in complaint:
        return f"{complaint}; if this is VW text, say --format vw"
    return complaint


def with_name(name: str, complaint: str) -> str:
    """A complaint that names its source."""
    if complaint.startswith(name):
        return complaint
    return f"{name}{', ' if complaint.startswith(('line ', 'row ', 'field ')) else ': '}{complaint}"


def position(file: BinaryIO) -> int | None:
    """How many bytes have been read of the file itself, compressed or not; None for a pipe."""
    try:
        return os.lseek(file.fileno(), 0, os.SEEK_CUR)
    except (AttributeError, OSError):
        return None


def text_reader(
    file: BinaryIO,
    format: str,
    stream_format: StreamFormat,
    *,
    dtype: str = "float64",
    max_index: int = LAST_INDEX,
    hash_bits: int = 0,
    labels_optional: bool = False,
    block_bytes: int = 1 << 18,
) -> Any:
    """A parallel parser of svmlight or VW text, in order."""
    place = position(file)
    data: int | BinaryIO
    is_at = place is not None and place == file.tell()
    if is_at and not is_compressed(os.pread(file.fileno(), 6, file.tell())):
        data = file.fileno()  # which the core reads without Python
    else:
        data = open_bytes(file)
    reader_type = TextReaderF32 if dtype == "float32" else TextReaderF64
    return reader_type(
        data,
        format,
        threads=stream_format.threads or cores(),
        index_base=-1 if stream_format.index_base == "auto" else stream_format.index_base,
        max_index=max_index,
        labels_optional=labels_optional,
        skip_errors=stream_format.on_error == "skip",
        hash_bits=hash_bits,
        interactions=list(stream_format.interactions),
        block_bytes=block_bytes,
        longest_line=stream_format.longest_line,
    )


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class TableReader:
    """The batches of a table, with the same account as a reader of text.

    Values that are finite but not so in `dtype` are errors here. Without `labels` the columns of
    the label and the weight are left out and need not be there.
    """

    def __init__(
        self,
        source: Source,
        file: BinaryIO,
        format: str,
        stream_format: StreamFormat,
        *,
        dtype: str = "float64",
        labels: bool = True,
        tells_missing: bool = False,
    ) -> None:
        from yarrow.io.tables import read_table

        self._dtype, self._skip = dtype, stream_format.on_error == "skip"
        self._unit = "row" if format == "parquet" else "line"
        self._too_large = 0
        self._complaints: list[str] = []
        self._format, self._on_columns = format, stream_format.on_columns
        options = dict(stream_format.table)
        header = options.pop("header", True)
        if not stream_format.is_first:
            options.setdefault("known", {})
        if not labels:
            special = [options.pop(role, None) for role in ("label", "weight")]
            options["drop"] = [*options.get("drop", ()), *(column for column in special if column)]
        self._data = _Counted(file, source_name(source))
        if format != "parquet":  # which is read from its end, by its name
            self._data.file = open_bytes(file)
            source = self._data  # type: ignore[assignment]
        if format in ("csv", "tsv"):
            options.setdefault("delimiter", "\t" if format == "tsv" else ",")
            if not header and not options.get("columns"):
                options["columns"] = self._numbered_columns(
                    options["delimiter"], options.get("quotes", True), stream_format.longest_line
                )
            format = "csv"
        self._table = read_table(
            source,
            format=format,  # type: ignore[arg-type]
            on_error=stream_format.on_error,
            longest_line=stream_format.longest_line,
            tells_missing=tells_missing,
            **options,
        )

    def _numbered_columns(self, delimiter: str, quotes: bool, longest: int) -> list[str]:
        """As many names as the first line has cells: 1, 2, 3..."""
        from yarrow.io.csv_table import cells_of

        def texts() -> Iterator[str]:  # more than one if a quoted cell goes on in the next
            for _, line in lines_of(self._data.file, self._data.name, longest):
                self._data.start += line
                yield line.decode("utf-8", "replace")

        lines = texts()
        first = next(lines, "")
        if not first.strip():
            raise DataError("the first line is empty", source=self._data.name, line=1)
        cells = cells_of(first, delimiter, quotes, lines)
        return [str(number) for number in range(1, len(cells) + 1)]

    @property
    def kinds(self) -> dict[str, Any]:
        """What the columns turned out to be; of JSON, whose values say it one by one, nothing."""
        known = {} if self._format == "jsonl" else self._table.kinds
        return {name: kind for name, kind in known.items() if kind != "nested"}

    @property
    def bytes(self) -> int:
        """How much was read, decompressed."""
        return self._data.count

    @property
    def skipped(self) -> int:
        """How many rows were left out."""
        return self._table.n_skipped + self._too_large

    @property
    def complaints(self) -> list[str]:
        """What was wrong with the first of them."""
        return [str(error) for error in self._table.first_errors] + self._complaints

    def __iter__(self) -> Iterator[NamedRows]:
        for rows in self._table:
            if self._on_columns is not None:
                self._on_columns(self._data.name, self._table.described)
                self._on_columns = None
            with np.errstate(over="ignore"):
                places = np.flatnonzero(np.isinf(rows.values.astype(self._dtype)))
            yield self._without(rows, places) if len(places) else rows

    def _without(self, rows: NamedRows, places: NDArray[np.int64]) -> NamedRows:
        """Leave out the rows of the values at `places`, which are too large."""
        from yarrow.data.named_rows import ColumnValues, assemble

        lengths = np.diff(rows.indptr)
        row_of = np.repeat(np.arange(len(rows)), lengths)
        for place in places.tolist():
            at: dict[str, Any] = {self._unit: int(rows.lines[row_of[place]])}
            problem = f"{rows.values[place]:g} is too large for {self._dtype}"
            name = rows.names[rows.indices[place]]
            error = DataError(problem, source=self._data.name, field=name, **at)
            if not self._skip:
                raise error
            self._complaints.append(str(error))
        keep = np.ones(len(rows), np.bool_)
        keep[row_of[places]] = False
        self._too_large += int((~keep).sum())
        cells = ColumnValues(rows.names, lengths, rows.indices.astype(np.int64), rows.values)
        return assemble([cells], keep, rows.labels, rows.weights, rows.lines, rows.passed)


def label_needed(
    source: Source, file: BinaryIO, format: str, stream_format: StreamFormat
) -> ParameterError:
    """The error that asks for the column of the label, and lists those that there are."""
    try:
        columns = _columns(source, file, format, stream_format)
    except (ValueError, OSError, ImportError):  # the list is only a help
        columns = []
    it_has = f": it has {first_of(columns)}" if columns else ""
    return ParameterError(
        f"Say which column of {source_name(source)} is the label (--label COLUMN){it_has}."
    )


def _columns(source: Source, file: BinaryIO, format: str, stream_format: StreamFormat) -> list[str]:
    if format == "parquet":
        import pyarrow.parquet as parquet

        return list(parquet.read_schema(source).names)
    numbered = lines_of(open_bytes(file), source_name(source), stream_format.longest_line)
    lines = (line.decode("utf-8-sig") for _, line in numbered)
    line = next(lines, "")
    if format == "jsonl":
        return list(json.loads(line))
    from yarrow.io.csv_table import cells_of

    quotes = stream_format.table.get("quotes", True)
    delimiter = stream_format.table.get("delimiter") or ("\t" if format == "tsv" else ",")
    cells = cells_of(line, delimiter, quotes, lines)
    if not stream_format.table.get("header", True):
        cells = [str(number) for number in range(1, len(cells) + 1)]
    return list(stream_format.table.get("columns") or cells)


class _Counted:
    """A file that counts what is read from it; `start` comes first."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file, self.name, self.start, self.count = file, name, b"", 0

    def read(self, size: int = -1) -> bytes:
        """Read at most what is there without waiting."""
        if self.start:
            data = self.start if size < 0 else self.start[:size]
            self.start = self.start[len(data) :]
        else:
            data = getattr(self.file, "read1", self.file.read)(size)
        self.count += len(data)
        return data
