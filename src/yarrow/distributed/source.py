"""Rows of Spark as a learner takes them: a frame, or files that Spark reads.

Frames and tables are read as `features.Columns` reads a frame of the same columns; lines of
svmlight and VW go to the core's own parser. A vector of MLlib is read as the array of its numbers.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from yarrow._core import copy_lines
from yarrow.data.arrays import feature_names
from yarrow.errors import DataError, MissingDependencyError, ParameterError, YarrowError
from yarrow.io.formats import TEXT_FORMATS, StreamFormat
from yarrow.io.row_reader import rows_for
from yarrow.lazy import np

_VECTOR = ["type", "size", "indices", "values"]  #: the fields of a vector of MLlib
_READERS = {"csv": "csv", "tsv": "csv", "jsonl": "json", "parquet": "parquet"}


def spark_module(name: str) -> Any:
    """A module of PySpark."""
    import importlib

    try:
        return importlib.import_module(f"pyspark.{name}")
    except ImportError:
        raise MissingDependencyError(
            "Spark is not installed: pip install 'yarrow-learn[spark]'"
        ) from None


@contextlib.contextmanager
def reading_files() -> Iterator[None]:
    """Say of a file that Spark cannot read which one it is, in one sentence."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except (spark_module("errors").PySparkException, Py4JJavaError) as error:
        found = re.search(r"\[(?:FAILED_READ_FILE|MALFORMED|PATH_NOT_FOUND)[^\n]*", str(error))
        if found is None:
            raise
        raise DataError(f"Spark cannot read it: {found[0].strip()}") from error


@dataclass(frozen=True)
class Rows:
    """How the batches of a frame are learned: as lines of a text format, or else by columns."""

    stream_format: StreamFormat
    is_text: bool = False

    @property
    def table(self) -> Mapping[str, Any]:
        """Options of `yarrow.io.read_table`: label, weight, text, categories, drop..."""
        return self.stream_format.table

    def keep_stream(self, model: Any) -> Any:
        """The same model, which remembers how its rows are read."""
        if not self.is_text and model._stream is None:
            model._stream = {"format": "parquet", "table": dict(self.table)}
        return model

    def learn(self, model: Any, batches: Iterable[Any]) -> int:
        """Teach a model the rows of Arrow batches or tables, in order; how many there were."""
        if self.is_text:
            return self._learn_lines(model, batches)
        rows = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            try:
                X, y, w = self.split(batch)
                model.learn_many(X, y, w)
            except YarrowError as error:
                raise type(error)(f"after {rows} rows: {error}") from None
            rows += batch.num_rows
        return rows

    def learn_pieces(self, table: Any, pieces: Iterable[tuple[Any, int, int]]) -> None:
        """Teach models of the same kind the rows of a table from one place to another.

        Columns of numbers are read once for all of them.
        """
        X, y, w = self.split(table)
        read: Any = None
        for model, begin, end in pieces:
            piece = slice(begin, end)
            weights = None if w is None else w[piece]
            if read is None:
                read = rows_for(model, X.slice(0, 1), model._by_core)
                if not read.is_sparse:
                    read = rows_for(model, X, model._by_core)
            if read.is_sparse:
                model.learn_many(X.slice(begin, end - begin), y[piece], weights)
            else:
                rows = replace(read, values=read.values[piece], n_rows=end - begin)
                model._learn_named(rows, feature_names(X, rows), y[piece], weights)

    def split(self, batch: Any) -> tuple[Any, Any, Any]:
        """Features, labels and weights of a batch."""
        import pyarrow as pa

        table = pa.table(batch) if isinstance(batch, pa.RecordBatch) else batch
        label, weight = self.table.get("label", "label"), self.table.get("weight")
        if table[label].null_count:
            raise DataError("a row has no label", field=label)
        numeric = pa.types.is_integer(table[label].type) or pa.types.is_floating(table[label].type)
        y = table[label].to_numpy() if numeric else np.array(table[label].to_pylist())
        return self.features(table), y, None if weight is None else table[weight].to_numpy()

    def features(self, table: Any) -> Any:
        """What a learner reads of a table."""
        import pyarrow as pa

        others = [self.table.get(role) for role in ("label", "weight")]
        table = table.drop_columns([name for name in others if name in table.column_names])
        for place, field in enumerate(table.schema):
            if pa.types.is_struct(field.type) and field.type.names == _VECTOR:
                table = table.set_column(place, field.name, of_vectors(table[place]))
        return table

    def _learn_lines(self, model: Any, batches: Iterable[Any]) -> int:
        from yarrow.online.driver import learn_files

        lines, before = _Lines(batches), _rows_of(model)
        try:
            for _ in learn_files(model, [lines], self.stream_format):  # type: ignore[list-item]
                pass
        except DataError:
            if lines.count:
                raise
            return 0
        return _rows_of(model) - before


def _rows_of(model: Any) -> int:
    return int(model.t_) if "_model" in model.__dict__ else 0


_PARTITION = "the partition"  #: the source of its lines in errors


class _Lines(io.RawIOBase):
    """The lines of Arrow batches as a file, copied once."""

    name = _PARTITION

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches, self.count = iter(batches), 0
        self._texts: Any = None
        self._place: list[int] = [0, 0]  #: the next text of the batch, and its next byte

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._texts is not None:
                ends, content = self._texts
                text, byte = self._place
                copied, *self._place = copy_lines(ends, content, text, byte, buffer)
                if copied:
                    return int(copied)
            batch = next(self._batches, None)
            if batch is None:
                return 0
            self.count += batch.num_rows
            self._texts, self._place = _texts(batch.column(0)), [0, 0]


def _texts(column: Any) -> tuple[Any, Any]:
    """Where the texts of a column end, and their bytes."""
    import pyarrow as pa

    column = column.cast(pa.large_string())
    _, ends, content = column.buffers()
    there = slice(column.offset, column.offset + len(column) + 1)
    return np.frombuffer(ends, np.int64)[there], np.frombuffer(content or b"", np.uint8)


def of_vectors(column: Any) -> Any:
    """Vectors of MLlib, dense or sparse, as maps from positions to values."""
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    kinds, _, indices, values = array.flatten()
    sparse = np.asarray(kinds.fill_null(1)) == 0
    sizes = np.asarray(values.value_lengths().fill_null(0))
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    keys = np.arange(ends[-1], dtype=np.int32) - np.repeat(ends[:-1], sizes)
    keys[np.repeat(sparse, sizes)] = np.asarray(indices.flatten())
    return pa.MapArray.from_arrays(pa.array(ends), pa.array(keys), values.flatten())


def columns_format(
    label: str, weight: str | None = None, others: Mapping[str, Any] | None = None
) -> StreamFormat:
    """How columns are read, by options of `yarrow.io.read_table`."""
    given = {"label": label, "weight": weight, **(others or {})}
    return StreamFormat(table={name: value for name, value in given.items() if value is not None})


def opened(data: Any, stream_format: StreamFormat) -> tuple[Any, Rows]:
    """The frame of what a user gave, a frame or paths, and how its rows are learned."""
    sql, table = spark_module("sql"), stream_format.table
    if hasattr(data, "mapInArrow"):
        df = data
    else:
        listed = [data] if isinstance(data, str | os.PathLike) else data
        paths = [os.fspath(path) for path in listed]
        format = stream_format.of(paths[0])
        read = sql.SparkSession.builder.getOrCreate().read
        if format in TEXT_FORMATS:
            with reading_files():
                df = read.text(paths)
            base = stream_format.index_base
            if base == "auto":
                base = _index_base(df) if format == "svmlight" else 1
            return df, Rows(replace(stream_format, format=format, index_base=base, threads=1), True)
        if stream_format.on_error == "skip":
            raise ParameterError("Spark can skip invalid rows of svmlight and VW text alone.")
        options: dict[str, Any] = {}
        if format in ("csv", "tsv"):
            options = {"header": True, "inferSchema": True, "mode": "FAILFAST", "escape": '"'}
            options["sep"] = "\t" if format == "tsv" else table.get("delimiter") or ","
        with reading_files():
            df = read.format(_READERS[format]).options(**options).load(paths)
    check_columns(df, table.get("label", "label"), table.get("weight"))
    return df, Rows(stream_format)


def _index_base(df: Any) -> int:
    """0 if a line of svmlight has that index, else 1; partitions must not guess one by one."""
    return 1 if df.filter(df.value.rlike(r"^[^#]*?\s0:")).isEmpty() else 0


def check_columns(df: Any, *names: str | None) -> None:
    """Refuse columns that are not there, before a job is started."""
    for name in names:
        if name is not None and name not in df.columns:
            raise DataError(f"There is no column {name!r}; the columns are {df.columns}.")


def described(df: Any, rows: Rows, part: int, problem: str) -> str:
    """What is wrong in a partition; of a line of text, the file and its line there."""
    found = re.match(rf"{_PARTITION}, line (\d+)", problem) if rows.is_text else None
    if found is None:
        return f"partition {part}: {problem}"
    path, line = _in_file(df, part, int(found[1]))
    return f"{path}, line {line}{problem[found.end() :]}"


def _in_file(df: Any, part: int, line: int) -> tuple[str, int]:
    """The file of a partition's line, and its number there: a partition has pieces of files."""
    names = ["part", "path", "start", "rows"]

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        pieces: dict[tuple[str, int], int] = {}
        for batch in batches:
            for piece in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                pieces[piece] = pieces.get(piece, 0) + 1
        context: Any = TaskContext.get()
        here = context.partitionId()
        listed = [(here, *piece, rows) for piece, rows in pieces.items()]
        yield pa.RecordBatch.from_pylist([dict(zip(names, of, strict=True)) for of in listed])

    files = df.select("_metadata.file_path", "_metadata.file_block_start")
    schema = "part bigint, path string, start bigint, rows bigint"
    pieces = [tuple(piece) for piece in files.mapInArrow(count, schema).collect()]
    for here, path, start, rows in pieces:
        if here == part:
            if line <= rows:
                before = sum(n for _, of, begin, n in pieces if of == path and begin < start)
                return unquote(re.sub("^file:/+", "/", path)), before + line
            line -= rows
    return _PARTITION, line  # not reached: the files have changed meanwhile


#: what a task hands over: the partition, its rows, a pickled result, or what was wrong
OUTCOME = "part int, rows bigint, content binary, problem string"


def outcomes(work: Callable[[Iterator[Any]], tuple[int, bytes] | None]) -> Any:
    """What `mapInArrow` runs of a function; an error of the data comes back as a sentence.

    So it is told once, without a stack of Java's, and is not tried again as a lost worker is.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        part = context.partitionId() if context else 0
        row: tuple[Any, ...]
        try:
            found = work(batches)
            if found is None:
                return
            row = (part, *found, None)
        except YarrowError as error:
            row = (part, 0, None, str(error))
        schema = pa.schema([("part", pa.int32()), ("rows", pa.int64()),
                            ("content", pa.binary()), ("problem", pa.string())])  # fmt: skip
        columns = [pa.array([value], field.type) for value, field in zip(row, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return run
