"""What a stream looks like, and how it is opened: text for the core's parser, tables for pyarrow."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Literal

from yarrow import _core
from yarrow.errors import DataError, ParameterError
from yarrow.stream.compressed import Source, is_compressed, open_bytes, source_name
from yarrow.stream.tabular import Table, read_table

TEXT_FORMATS = ("svmlight", "vw")
TABLE_FORMATS = ("csv", "jsonl", "parquet")
FORMATS = TEXT_FORMATS + TABLE_FORMATS
LAST_INDEX = 2**31 - 2

_SUFFIXES = {
    "svm": "svmlight", "svmlight": "svmlight", "libsvm": "svmlight", "dat": "svmlight",
    "vw": "vw",
    "csv": "csv", "tsv": "csv", "tab": "csv",
    "jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl",
    "parquet": "parquet", "pq": "parquet",
}  # fmt: skip
COMPRESSED = ("gz", "zst", "xz", "bz2")


def format_of_name(name: str) -> str | None:
    """The format that a file's name tells, whether compressed or not."""
    parts = os.path.basename(name).lower().split(".")[1:]
    while parts and parts[-1] in COMPRESSED:
        parts.pop()
    return _SUFFIXES.get(parts[-1]) if parts else None


@dataclasses.dataclass(frozen=True)
class StreamFormat:
    """How to read a stream: what `yarrow train` takes as options.

    Without `format` the file's name decides, and `otherwise` where that tells nothing. `table`
    holds the options of `yarrow.stream.read_table` (label, weight, text, ...), and `header`: False
    for a CSV file whose columns are to be called 1, 2, 3...
    """

    format: str | None = None
    otherwise: str = "svmlight"
    threads: int = 0  # 0: one for each core
    index_base: Literal["auto", 0, 1] = "auto"
    interactions: tuple[tuple[str, str], ...] = ()
    on_error: Literal["raise", "skip"] = "raise"
    table: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise ParameterError(
                f"The 'format' must be one of {', '.join(FORMATS)}. Got {self.format!r} instead."
            )

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
            otherwise=stream["format"],
            index_base=base if self.index_base == "auto" and base is not None else self.index_base,
            interactions=self.interactions or tuple(map(tuple, stream.get("interactions", ()))),
            table={**stream.get("table", {}), **self.table},
        )

    def described(self, format: str, index_base: int | None) -> dict[str, Any]:
        """What a model remembers of its stream, so that the next one is read alike."""
        known: dict[str, Any] = {"format": format}
        if index_base is not None:
            known["index_base"] = index_base
        if self.interactions:
            known["interactions"] = [list(pair) for pair in self.interactions]
        if self.table:
            known["table"] = dict(self.table)
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


def position(file: BinaryIO) -> int | None:
    """How many bytes have been read of the file itself, compressed or not; None for a pipe."""
    try:
        return os.lseek(file.fileno(), 0, os.SEEK_CUR)
    except (AttributeError, OSError):
        return None


def text_reader(
    file: BinaryIO,
    format: str,
    how: StreamFormat,
    *,
    dtype: str = "float64",
    max_index: int = LAST_INDEX,
    hash_bits: int = 0,
    labels_optional: bool = False,
) -> Any:
    """A parallel parser of svmlight or VW text, in order."""
    place = position(file)
    data: int | BinaryIO
    if place is not None and place == file.tell() and not _is_compressed_at(file, place):
        data = file.fileno()  # which the core reads without Python
    else:
        data = open_bytes(file)
    reader_type = _core.TextReaderF32 if dtype == "float32" else _core.TextReaderF64
    return reader_type(
        data,
        format,
        threads=how.threads or os.cpu_count() or 1,
        index_base=-1 if how.index_base == "auto" else how.index_base,
        max_index=max_index,
        labels_optional=labels_optional,
        skip_errors=how.on_error == "skip",
        hash_bits=hash_bits,
        interactions=list(how.interactions),
        block_bytes=1 << 18,
    )


def _is_compressed_at(file: BinaryIO, place: int) -> bool:
    return is_compressed(os.pread(file.fileno(), 6, place))


class Counted:
    """A file that counts what is read from it; `start` comes first."""

    def __init__(self, file: BinaryIO, name: str, start: bytes = b"") -> None:
        self.file, self.name, self.start, self.count = file, name, start, 0

    def read(self, size: int = -1) -> bytes:
        """Read as a file does, but at most what is there."""
        if self.start:
            data = self.start if size < 0 else self.start[:size]
            self.start = self.start[len(data) :]
        else:
            data = getattr(self.file, "read1", self.file.read)(size)
        self.count += len(data)
        return data


def table_reader(
    source: Source, file: BinaryIO, format: str, how: StreamFormat, *, labels: bool
) -> tuple[Table, Counted]:
    """The batches of a table, and a count of the bytes that went into them.

    Without `labels` the columns of the label and the weight are left out and need not be there.
    """
    name = source_name(source)
    options = dict(how.table)
    header = options.pop("header", True)
    if not labels:
        special = [options.pop(role, None) for role in ("label", "weight")]
        options["drop"] = [*options.get("drop", ()), *(column for column in special if column)]
    if format == "parquet":  # which is read from its end
        return read_table(source, format=format, on_error=how.on_error, **options), Counted(file, name)
    data = Counted(open_bytes(file), name)
    if format == "csv" and not header and not options.get("columns"):
        data.start = data.file.readline()
        is_tabbed = bool({"tsv", "tab"} & set(name.lower().split(".")))
        options["delimiter"] = options.get("delimiter") or ("\t" if is_tabbed else ",")
        options["columns"] = _numbered_columns(data.start, options["delimiter"], name)
    return read_table(data, format=format, on_error=how.on_error, **options), data  # type: ignore[arg-type]


def _numbered_columns(line: bytes, delimiter: str, name: str) -> list[str]:
    """As many names as the first line has cells: 1, 2, 3..."""
    if not line.strip():
        raise DataError("the first line is empty", source=name, line=1)
    cells = next(csv.reader([line.decode("utf-8", "replace")], delimiter=delimiter))
    return [str(number) for number in range(1, len(cells) + 1)]
