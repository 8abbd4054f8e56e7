"""Learning from files: text parsed by the core in parallel, tables through pyarrow."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np

from yarrow import _core
from yarrow.errors import DataError, ParameterError
from yarrow.stream.compressed import Source, is_compressed, open_bytes, source_name
from yarrow.stream.tabular import Table, read_table

if TYPE_CHECKING:
    from yarrow.linear_model.base import LinearModel
    from yarrow.stream.arrays import Array

TEXT_FORMATS = ("svmlight", "vw")
TABLE_FORMATS = ("csv", "jsonl", "parquet")
_SUFFIXES = {
    "svm": "svmlight", "svmlight": "svmlight", "libsvm": "svmlight", "dat": "svmlight",
    "vw": "vw", "csv": "csv", "tsv": "csv", "jsonl": "jsonl", "ndjson": "jsonl",
    "parquet": "parquet", "pq": "parquet",
}  # fmt: skip
_COMPRESSED = {"gz", "zst", "xz", "bz2"}


@dataclasses.dataclass(frozen=True)
class StreamFormat:
    """How to read a stream: what `yarrow train` takes as options.

    `table` holds the options of `yarrow.stream.read_table` (label, weight, text, ...).
    """

    format: str | None = None  # by the file's name if not given; svmlight if that tells nothing
    threads: int = 0  # 0: one for each core
    index_base: Literal["auto", 0, 1] = "auto"
    interactions: tuple[tuple[str, str], ...] = ()
    on_error: Literal["raise", "skip"] = "raise"
    table: dict[str, Any] = dataclasses.field(default_factory=dict)

    def of(self, source: Source) -> str:
        """The format of a source."""
        if self.format is not None:
            if self.format not in TEXT_FORMATS + TABLE_FORMATS:
                raise ParameterError(
                    f"The 'format' must be one of {', '.join(TEXT_FORMATS + TABLE_FORMATS)}. "
                    f"Got {self.format!r} instead."
                )
            return self.format
        parts = os.path.basename(source_name(source)).lower().split(".")[1:]
        while parts and parts[-1] in _COMPRESSED:
            parts.pop()
        return _SUFFIXES.get(parts[-1] if parts else "", "svmlight")


@dataclasses.dataclass
class Progress:
    """Where a stream stands. Mistakes were counted before each row was learned."""

    rows: int = 0
    mistakes: int = 0
    squared_error: float = 0.0
    features: int = 0
    skipped: int = 0
    complaints: list[str] = dataclasses.field(default_factory=list)
    bytes: int = 0
    done: bool = False
    #: (rows, mistakes, squared error, label, prediction, features) at powers of two, since last time
    checkpoints: list[tuple[Any, ...]] = dataclasses.field(default_factory=list)
    #: labels and predictions since last time, as class numbers or values, if they were asked for
    results: tuple[Array, Array] | None = None


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[int | BinaryIO]:
    """A file descriptor where the bytes are plain, else a file object that decompresses."""
    if isinstance(source, (str, os.PathLike)) and source != "-":
        with open(source, "rb", buffering=0) as file:
            start = os.pread(file.fileno(), 6, 0) if file.seekable() else None
            if start is not None and not is_compressed(start):
                yield file.fileno()
                return
    with open_bytes(source) as stream:
        yield stream


def open_reader(
    file: int | BinaryIO, name: str, how: StreamFormat, model: LinearModel, *, labels_optional: bool
) -> Any:
    """A reader of text in the model's own number type."""
    base = model.__dict__.get("_stream", {}).get("index_base", how.index_base)
    if how.index_base != "auto":
        base = how.index_base
    limit = 2**31 - 2
    if model.max_features is not None and model.when_full == "error" and not model.hash_bits:
        limit = min(limit, model.max_features - 1 + (base == 1))
    reader_type = _core.TextReaderF32 if model.dtype == "float32" else _core.TextReaderF64
    return reader_type(
        file,
        how.of(name),
        threads=how.threads or os.cpu_count() or 1,
        index_base=-1 if base == "auto" else base,
        max_index=limit,
        labels_optional=labels_optional,
        skip_errors=how.on_error == "skip",
        hash_bits=model.hash_bits or 0,
        interactions=list(how.interactions),
        block_bytes=1 << 18,
    )


def learn_stream(
    model: LinearModel,
    source: Source,
    how: StreamFormat | None = None,
    *,
    seconds: float = 0.1,
    keep_results: bool = False,
) -> Iterator[Progress]:
    """Learn all rows of a source in order, and say every so often how far it is."""
    how = how or StreamFormat()
    name = source_name(source)
    core = model.__dict__.get("_model")
    if core is None:
        core = model._new_model(model._declared() if hasattr(model, "_declared") else [])
    learner_type = _core.StreamLearnerF32 if model.dtype == "float32" else _core.StreamLearnerF64
    learner = learner_type(core, how.on_error == "skip", keep_results)
    account = _core.Account()
    progress = Progress()
    try:
        if how.of(source) in TEXT_FORMATS:
            with _opened(source) as file:
                reader = open_reader(file, name, how, model, labels_optional=False)
                while not progress.done:
                    progress.done = core.learn_from(reader, learner, account, seconds)
                    progress.bytes = reader.bytes
                    progress.skipped = reader.skipped + account.skipped
                    progress.complaints = reader.complaints + account.complaints
                    if progress.done:
                        _finish(model, core, account, how.of(source), reader.index_base)
                    yield _update(progress, account, keep_results)
        else:
            table = open_table(source, how)
            for rows in table:
                core.learn_named(
                    learner, account, rows.names, rows.indptr, rows.indices, rows.values,
                    rows.labels, [] if rows.weights is None else rows.weights, rows.lines,
                )  # fmt: skip
                _skipped(progress, table, account)
                yield _update(progress, account, keep_results)
            _skipped(progress, table, account)
            progress.done = True
            _finish(model, core, account, how.of(source), None)
            yield _update(progress, account, keep_results)
    except DataError as error:
        text = str(error)
        raise DataError(text if text.startswith(name) else f"{name}, {text}") from None


def open_table(source: Source, how: StreamFormat, labels: bool = True) -> Table:
    """The batches of a table, with its label column unless only features are wanted."""
    options = dict(how.table)
    if labels and options.get("label") is None:
        raise ParameterError(f"Say which column of {source_name(source)} is the label.")
    return read_table(source, format=how.of(source), on_error=how.on_error, **options)  # type: ignore[arg-type]


def _skipped(progress: Progress, table: Table, account: _core.Account) -> None:
    progress.skipped = table.n_skipped + account.skipped
    progress.complaints = [str(error) for error in table.first_errors] + account.complaints


def _finish(
    model: LinearModel, core: Any, account: _core.Account, format: str, base: int | None
) -> None:
    if account.rows == 0 and "_model" not in model.__dict__:
        raise DataError("there is no row to learn")
    model._model = core
    if format == "svmlight":
        model._stream = {"format": format, "index_base": base}
    else:
        model._stream = {"format": format}


def _update(progress: Progress, account: _core.Account, keep_results: bool) -> Progress:
    progress.rows = int(account.rows)
    progress.mistakes = int(account.mistakes)
    progress.squared_error = account.squared_error
    progress.features = account.features
    progress.checkpoints = account.take_checkpoints()
    progress.results = account.take_results() if keep_results else None
    return progress


def predict_stream(
    model: LinearModel, source: Source, how: StreamFormat | None = None
) -> Iterator[tuple[Array, Array, list[Any]]]:
    """Scores, variances (classes in order of appearance) and labels, block by block."""
    how = how or StreamFormat()
    name = source_name(source)
    core = model._fitted
    try:
        if how.of(source) in TEXT_FORMATS:
            with _opened(source) as file:
                reader = open_reader(file, name, how, model, labels_optional=True)
                while (block := core.predict_from(reader)) is not None:
                    scores, variances, labels, _tags = block
                    yield scores, variances, labels
        else:
            for rows in open_table(source, how, labels=False):
                scores, variances = core.predict_sparse(
                    rows.indptr, rows.indices, rows.values, len(rows.names), rows.names
                )
                yield scores, variances, rows.labels or [None] * len(rows)
    except DataError as error:
        text = str(error)
        raise DataError(text if text.startswith(name) else f"{name}, {text}") from None


def parse_interactions(pairs: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """VW's `-q ab`, or `-q first,second` for whole names."""
    parsed = []
    for pair in pairs:
        names = tuple(pair.split(",")) if "," in pair else tuple(pair)
        if len(names) != 2:
            raise ParameterError(
                f"An interaction is two letters or two names with a comma between. Got {pair!r}."
            )
        parsed.append(names)
    return tuple(parsed)


def accuracy_of(results: tuple[Array, Array]) -> float:
    """Share of right predictions."""
    labels, predictions = results
    return float(np.mean(labels == predictions))
