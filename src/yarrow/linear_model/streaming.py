"""Learning and predicting from files, row by row and in order, whatever the number of threads."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from yarrow import _core
from yarrow.errors import DataError, ParameterError
from yarrow.linear_model.exported import ExportedModel
from yarrow.stream.compressed import Source, source_name
from yarrow.stream.format import (
    LAST_INDEX,
    TEXT_FORMATS,
    StreamFormat,
    opened,
    position,
    table_reader,
    text_reader,
)
from yarrow.stream.named_rows import NamedRows

if TYPE_CHECKING:
    from yarrow.linear_model.base import LinearModel
    from yarrow.stream.arrays import Array

_COMPLAINTS_KEPT = 5


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """The account of a stream at one row: rows, errors so far, and that row."""

    rows: int
    mistakes: int
    squared_error: float
    label: Any
    prediction: Any  # None where no class was known yet
    features: int


@dataclasses.dataclass
class Progress:
    """Where a stream stands. Mistakes were counted before each row was learned."""

    source: str = ""
    number: int = 1  # of the pass
    rows: int = 0
    mistakes: int = 0
    squared_error: float = 0.0
    features: int = 0
    skipped: int = 0
    complaints: list[str] = dataclasses.field(default_factory=list)  # about the first rows skipped
    bytes: int = 0  # of text or table, decompressed
    position: int | None = None  # in the file itself; None for a pipe
    done: bool = False  # with this source
    #: at powers of two, since last time
    checkpoints: list[Checkpoint] = dataclasses.field(default_factory=list)
    #: labels and predictions since last time, as class numbers in the order of their appearance
    #: (-1: none) or values, if they were asked for
    results: tuple[Array, Array] | None = None


def learn_stream(
    model: LinearModel,
    sources: Source | Sequence[Source],
    how: StreamFormat | None = None,
    *,
    passes: int = 1,
    seconds: float = 0.1,
    keep_results: bool = False,
) -> Iterator[Progress]:
    """Learn all rows of some sources in order, and say every so often how far it is.

    There is one account of all sources and passes; the same object is given each time. A new
    model that fails on its first source is as if it had learned nothing; one that had learned
    before keeps the rows up to the error.
    """
    listed = list(sources) if isinstance(sources, (list, tuple)) else [sources]
    _check_passes(listed, passes)
    learning = _Learning(model, how or StreamFormat(), seconds, keep_results)
    for number in range(1, passes + 1):
        for source in listed:
            learning.progress.number = number
            yield from learning.learn(source)
    if "_model" not in model.__dict__:
        progress = learning.progress
        found = f" ({progress.skipped} were skipped)" if progress.skipped else ""
        first = f": {progress.complaints[0]}" if progress.complaints else ""
        raise DataError(f"there is no row to learn{found}{first}", source=_all_names(listed))


def _all_names(sources: Sequence[Source]) -> str:
    return ", ".join(source_name(source) for source in sources)


def _check_passes(sources: Sequence[Any], passes: int) -> None:
    for source in sources if passes > 1 else ():
        is_path = isinstance(source, (str, os.PathLike)) and source != "-"
        if not is_path or (os.path.exists(source) and stat.S_ISFIFO(os.stat(source).st_mode)):
            raise ParameterError(
                f"{source_name(source)} can be read only once: several passes need files."
            )


class _Learning:
    """Learns sources one after the other into a model, with one account of them all."""

    def __init__(
        self, model: LinearModel, how: StreamFormat, seconds: float, keep_results: bool
    ) -> None:
        self.model, self.how = model, how
        self.seconds, self.keep_results = seconds, keep_results
        self.core: Any = model.__dict__.get("_model")
        if self.core is None:
            self.core = model._new_model(model._declared() if hasattr(model, "_declared") else [])
        is_single = model.dtype == "float32"
        learner_type = _core.StreamLearnerF32 if is_single else _core.StreamLearnerF64
        self.learner = learner_type(self.core, how.on_error == "skip", keep_results)
        self.account = _core.Account()
        self.progress = Progress()

    def learn(self, source: Source) -> Iterator[Progress]:
        how = self.how.remembering(self.model.__dict__.get("_stream"))
        format = how.of(source)
        progress = self.progress
        progress.source, progress.done = source_name(source), False
        self._before = (progress.skipped - int(self.account.skipped), progress.bytes)
        self._complaints_before = list(progress.complaints)
        self._account_before = len(self.account.complaints)
        with _errors_named(source, format), opened(source) as file:
            learn = self._learn_text if format in TEXT_FORMATS else self._learn_table
            index_base = yield from learn(source, file, format, how)
            if self.account.rows > 0 or "_model" in self.model.__dict__:
                self.model._model = self.core
                known = self.model.__dict__.get("_stream") or {}
                self.model.__dict__["_stream"] = known | how.described(format, index_base)
            progress.done = True
            yield progress

    def _learn_text(
        self, source: Source, file: BinaryIO, format: str, how: StreamFormat
    ) -> Iterator[Progress]:
        model = self.model
        hash_bits = model.hash_bits or 0
        limit = LAST_INDEX
        if model.max_features is not None and model.when_full == "error" and not hash_bits:
            limit = min(limit, model.max_features - 1 + (how.index_base == 1))
        reader = text_reader(
            file, format, how, dtype=model.dtype, max_index=limit, hash_bits=hash_bits
        )
        at_end = False
        while not at_end:
            at_end = self.core.learn_from(reader, self.learner, self.account, self.seconds)
            self._advance(file, reader.bytes, reader.skipped, reader.complaints)
            yield self.progress
        return reader.index_base if format == "svmlight" else None

    def _learn_table(
        self, source: Source, file: BinaryIO, format: str, how: StreamFormat
    ) -> Iterator[Progress]:
        if not how.table.get("label"):
            raise ParameterError(f"Say which column of {source_name(source)} is the label.")
        table, data = table_reader(source, file, format, how, labels=True)
        unlearnable = _Unlearnable(self.model.dtype, how.on_error == "skip", format)
        for rows in table:
            rows = unlearnable.left_out(rows)
            self.core.learn_named(
                self.learner, self.account, rows.names,
                rows.indptr.tolist(), rows.indices.tolist(), rows.values.tolist(), rows.labels,
                [] if rows.weights is None else rows.weights.tolist(), rows.lines.tolist(),
            )  # fmt: skip
            skipped = table.n_skipped + unlearnable.count
            self._advance(file, data.count, skipped, _texts(table) + unlearnable.complaints)
            yield self.progress
        self._advance(file, data.count, table.n_skipped + unlearnable.count, _texts(table))
        yield self.progress

    def _advance(self, file: BinaryIO, size: int, skipped: int, complaints: list[str]) -> None:
        progress, account = self.progress, self.account
        progress.rows = int(account.rows)
        progress.mistakes = int(account.mistakes)
        progress.squared_error = account.squared_error
        progress.features = account.features
        progress.bytes = self._before[1] + size
        progress.position = position(file)
        progress.skipped = self._before[0] + skipped + int(account.skipped)
        new = complaints + account.complaints[self._account_before :]
        named = [_with_name(progress.source, complaint) for complaint in new]
        progress.complaints = (self._complaints_before + named)[:_COMPLAINTS_KEPT]
        progress.checkpoints = [self._checkpoint(*c) for c in account.take_checkpoints()]
        progress.results = account.take_results() if self.keep_results else None

    def _checkpoint(
        self, rows: float, mistakes: float, squared: float, label: Any, prediction: Any, n: int
    ) -> Checkpoint:
        if hasattr(self.model, "classes_") or hasattr(type(self.model), "classes_"):
            names = self.core.classes
            label = names[int(label)]
            prediction = None if prediction < 0 else names[int(prediction)]
        return Checkpoint(int(rows), int(mistakes), squared, label, prediction, n)


def _texts(table: Any) -> list[str]:
    return [str(error) for error in table.first_errors]


class _Unlearnable:
    """Rows of a table whose values are finite, but not in the model's own type."""

    def __init__(self, dtype: str, skip: bool, format: str) -> None:
        self.dtype, self.skip = dtype, skip
        self.unit = "row" if format == "parquet" else "line"
        self.count, self.complaints = 0, list[str]()

    def left_out(self, rows: NamedRows) -> NamedRows:
        with np.errstate(over="ignore"):
            places = np.flatnonzero(np.isinf(rows.values.astype(self.dtype)))
        if not len(places):
            return rows
        of_row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        for place in places.tolist():
            where: dict[str, Any] = {self.unit: int(rows.lines[of_row[place]])}
            problem = f"the value {rows.values[place]:g} is too large for {self.dtype}"
            error = DataError(problem, field=rows.names[rows.indices[place]], **where)
            if not self.skip:
                raise error
            self.complaints = [*self.complaints, str(error)][:_COMPLAINTS_KEPT]
        keep = np.ones(len(rows), np.bool_)
        keep[of_row[places]] = False
        self.count += int((~keep).sum())
        kept_values = keep[of_row]
        return NamedRows(
            names=rows.names,
            indptr=np.concatenate(([0], np.cumsum(np.diff(rows.indptr)[keep]))),
            indices=rows.indices[kept_values],
            values=rows.values[kept_values],
            labels=None if rows.labels is None else [rows.labels[i] for i in np.flatnonzero(keep)],
            weights=None if rows.weights is None else rows.weights[keep],
            lines=rows.lines[keep],
        )


@contextlib.contextmanager
def errors_named(source: Source, format: str) -> Iterator[None]:
    """Let errors about rows name their source."""
    try:
        yield
    except DataError as error:
        text = str(error)
        if format == "parquet":
            text = text.removeprefix("line ") if text.startswith("row") else text
        raise DataError(with_name(source_name(source), text)) from None


def with_name(name: str, complaint: str) -> str:
    """A complaint that names its source."""
    if complaint.startswith(name):
        return complaint
    return f"{name}{', ' if complaint.startswith(('line ', 'row ', 'field ')) else ': '}{complaint}"
