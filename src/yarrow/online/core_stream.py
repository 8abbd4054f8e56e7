"""Learning and predicting from files, row by row and in order, whatever the number of threads."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from typing import Any, BinaryIO

from yarrow._core import Account, StreamLearnerF32, StreamLearnerF64
from yarrow.errors import DataError, ParameterError
from yarrow.io.compressed import Source, source_name
from yarrow.io.formats import (
    LAST_INDEX,
    TEXT_FORMATS,
    StreamFormat,
    TableReader,
    label_needed,
    opened,
    position,
    text_reader,
)
from yarrow.online.ledger import COMPLAINTS_KEPT, Checkpoint, Progress

#: The largest index of svmlight rows unless `max_features` is given: beyond it a file is more
#: likely broken than that long.
MOST_FEATURES = 2**26


def learn_stream(
    model: Any,
    sources: Source | Sequence[Source],
    stream_format: StreamFormat | None = None,
    *,
    passes: int = 1,
    seconds: float = 0.1,
    keep_results: bool = False,
) -> Iterator[Progress]:
    """Learn all rows of some sources in order, and say every so often how far it is.

    There is one account of all sources and passes. A new model that fails on its first source is
    as if it had learned nothing; one that had learned before keeps the rows up to the error.
    """
    listed: list[Source] = list(sources) if isinstance(sources, (list, tuple)) else [sources]  # type: ignore[list-item]
    check_passes(listed, passes)
    learning = model._stream_learning()(
        model, stream_format or StreamFormat(), seconds, keep_results
    )
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
    shown = [source_name(source) for source in sources[:3]]
    return ", ".join([*shown, "..."] if len(sources) > 3 else shown)


def check_passes(sources: Sequence[Any], passes: int) -> None:
    """Refuse several passes over what can be read only once."""
    for source in sources if passes > 1 else ():
        is_path = isinstance(source, (str, os.PathLike)) and source != "-"
        if not is_path or (os.path.exists(source) and stat.S_ISFIFO(os.stat(source).st_mode)):
            raise ParameterError(
                f"{source_name(source)} can be read only once: several passes need files."
            )


def most_index(model: Any, stream_format: StreamFormat) -> int:
    """The largest index of svmlight rows that a model takes."""
    if model.max_features is None:
        return MOST_FEATURES
    if model.when_full != "error":
        return LAST_INDEX
    return min(LAST_INDEX, int(model.max_features) - (stream_format.index_base == 0))


class Learning:
    """Learns sources one after the other into a model, with one account of them all."""

    def __init__(
        self, model: Any, stream_format: StreamFormat, seconds: float, keep_results: bool
    ) -> None:
        self.model, self.stream_format = model, stream_format
        self.seconds, self.keep_results = seconds, keep_results
        self.core: Any = model.__dict__.get("_model")
        if self.core is None:
            self.core = model._new_model(model._declared() if hasattr(model, "_declared") else [])
        is_single = model.dtype == "float32"
        learner_type = StreamLearnerF32 if is_single else StreamLearnerF64
        self.learner = learner_type(self.core, stream_format.on_error == "skip", keep_results)
        self.account = Account()
        self.progress = self.before = Progress()
        self.account_complaints = 0

    def learn(self, source: Source) -> Iterator[Progress]:
        """Learn one source to its end."""
        stream_format = self.stream_format.remembering(self.model.__dict__.get("_stream"))
        format = stream_format.of(source)
        progress, self.format = self.progress, format
        progress.source, progress.done = source_name(source), False
        # What the account counts, it counts over all sources; a reader knows its own.
        self.before = dataclasses.replace(
            progress, skipped=progress.skipped - int(self.account.skipped)
        )
        self.account_complaints = len(self.account.complaints)
        with errors_named(source, format), opened(source) as file:
            learn = self._learn_text if format in TEXT_FORMATS else self._learn_table
            found = yield from learn(source, file, format, stream_format)
            if progress.rows > 0 and "_model" not in self.model.__dict__:
                self.model._model, self.model._made_with = (
                    self.core,
                    self.model.get_params(deep=False),
                )
            if "_model" in self.model.__dict__:
                known = self.model.__dict__.get("_stream") or {}
                self.model.__dict__["_stream"] = known | stream_format.described(format, **found)
        progress.done = True
        progress.checkpoints, progress.results = [], None
        yield dataclasses.replace(progress)

    def _reader(
        self,
        file: BinaryIO,
        format: str,
        stream_format: StreamFormat,
        *,
        dtype: str,
        hash_bits: int,
    ) -> Any:
        """A reader of text that refuses indices beyond what the model takes."""
        return text_reader(
            file,
            format,
            stream_format,
            dtype=dtype,
            max_index=most_index(self.model, stream_format),
            hash_bits=hash_bits,
            labels_optional=not self.model.learns_labels,
        )

    def _learn_text(
        self, source: Source, file: BinaryIO, format: str, stream_format: StreamFormat
    ) -> Generator[Progress, None, dict[str, Any]]:
        model = self.model
        reader = self._reader(
            file, format, stream_format, dtype=model.dtype, hash_bits=model.hash_bits or 0
        )
        at_end = False
        while not at_end:
            at_end = self.core.learn_from(reader, self.learner, self.account, self.seconds)
            self._advance(file, reader)
            yield dataclasses.replace(self.progress)
        return {"index_base": int(reader.index_base)} if format == "svmlight" else {}

    def _learn_table(
        self, source: Source, file: BinaryIO, format: str, stream_format: StreamFormat
    ) -> Generator[Progress, None, dict[str, Any]]:
        has_labels = bool(stream_format.table.get("label"))
        if self.model.learns_labels and not has_labels:
            raise label_needed(source, file, format, stream_format)
        reader = TableReader(
            source, file, format, stream_format, dtype=self.model.dtype, labels=has_labels
        )
        for rows in reader:
            self.core.learn_named(
                self.learner, self.account, rows.names,
                rows.indptr.tolist(), rows.indices.tolist(), rows.values.tolist(),
                [1.0] * len(rows) if rows.labels is None else rows.labels,
                [] if rows.weights is None else rows.weights.tolist(), rows.lines.tolist(),
            )  # fmt: skip
            self._advance(file, reader)
            yield dataclasses.replace(self.progress)
        self._advance(file, reader)
        yield dataclasses.replace(self.progress)
        return {"kinds": reader.kinds}

    def _advance(self, file: BinaryIO, reader: Any) -> None:
        progress, account, before = self.progress, self.account, self.before
        progress.rows = progress.judged = int(account.rows)
        progress.mistakes = int(account.mistakes)
        progress.squared_error = account.squared_error
        progress.features = account.features
        progress.bytes = before.bytes + reader.bytes
        progress.position = position(file)
        progress.skipped = before.skipped + reader.skipped + int(account.skipped)
        new = reader.complaints + account.complaints[self.account_complaints :]
        named = [with_name(progress.source, _in_units(self.format, text)) for text in new]
        progress.complaints = (before.complaints + named)[:COMPLAINTS_KEPT]
        progress.checkpoints = [self._checkpoint(*c) for c in account.take_checkpoints()]
        if self.keep_results:
            progress.results, progress.classes = account.take_results(), self.core.classes

    def _checkpoint(
        self, rows: float, mistakes: float, squared: float, label: Any, prediction: Any, n: int
    ) -> Checkpoint:
        if hasattr(type(self.model), "classes_"):
            names = self.core.classes
            label = names[int(label)]
            prediction = None if prediction < 0 else names[int(prediction)]
        elif not self.model.learns_labels:
            label, prediction = None, int(prediction)
        return Checkpoint(int(rows), int(rows), int(mistakes), squared, label, prediction, n)


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
