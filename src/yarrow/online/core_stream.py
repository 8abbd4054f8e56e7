"""Learning and predicting from files, row by row and in order, whatever the number of threads."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Iterator, Sequence
from typing import Any

from yarrow._core import Account, StreamLearnerF32, StreamLearnerF64
from yarrow.errors import DataError, ParameterError, first_of
from yarrow.io.compressed import Source, source_name
from yarrow.io.formats import LAST_INDEX, OpenedSource, StreamFormat, reading
from yarrow.io.unknown_features import first_names, warn_of_unknown
from yarrow.online.ledger import Checkpoint, Progress

#: The largest index of svmlight rows unless `max_features` is given: beyond it a file is more
#: likely broken than that long.
MOST_FEATURES = 2**26
#: what it means that a model which goes on to learn knows no feature of the rows
LEARNED_ANEW = "so that what it knows is of no use to them"


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
        raise no_row(learning.progress, listed)


def no_row(progress: Progress, sources: Sequence[Source]) -> DataError:
    """The error of a model that has learned nothing."""
    found = f" ({progress.skipped} were skipped)" if progress.skipped else ""
    first = f": {progress.complaints[0]}" if progress.complaints else ""
    return DataError(
        f"there is no row to learn{found}{first}", source=first_of(map(source_name, sources), 3)
    )


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
        self._goes_on = self.core is not None  # and its first rows are to be looked at
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
        stream = self.model.__dict__.get("_stream") or {}
        stream_format, progress = self.stream_format.remembering(stream), self.progress
        progress.source, progress.done = source_name(source), False
        # What the account counts, it counts over all sources; a reader knows its own.
        self.before = dataclasses.replace(
            progress, skipped=progress.skipped - int(self.account.skipped)
        )
        self.account_complaints = len(self.account.complaints)
        labels = None if self.model.learns_labels else bool(stream_format.table.get("label"))
        most = most_index(self.model, stream_format)
        self._check_format(progress.source, stream_format.of(source))
        with reading(
            source, stream_format, labels=labels, max_index=most, **self._reader_settings()
        ) as opened:
            if opened.is_text and self._goes_on:
                self._look_at(first_names(source, stream_format, self.model.dtype))
            for _ in self._learn_text(opened) if opened.is_text else self._learn_table(opened):
                self._advance(opened)
                yield dataclasses.replace(progress)
            if progress.rows > 0:
                self.model._keep(self.core)
            if "_model" in self.model.__dict__:
                self.model.__dict__["_stream"] = stream | opened.described()
        progress.done = True
        progress.checkpoints, progress.results = [], None
        yield dataclasses.replace(progress)

    def _check_format(self, source: str, format: str) -> None:
        """Refuse a format that cannot be learned."""

    def _reader_settings(self) -> dict[str, Any]:
        return {
            "dtype": self.model.dtype,
            "hash_bits": self.model.hash_bits or 0,
            "tells_missing": self.model.tells_missing,
        }

    def _learn_text(self, opened: OpenedSource) -> Iterator[None]:
        """Learn text to its end; whenever it yields, there is something to tell."""
        at_end = False
        while not at_end:
            at_end = self.core.learn_from(opened.reader, self.learner, self.account, self.seconds)
            yield

    def _learn_table(self, opened: OpenedSource) -> Iterator[None]:
        for rows in opened.reader:
            if self._goes_on:
                self._look_at(rows.names)
            self.core.learn_named(
                self.learner, self.account, rows.names,
                rows.indptr.tolist(), rows.indices.tolist(), rows.values.tolist(),
                [1.0] * len(rows) if rows.labels is None else rows.labels,
                [] if rows.weights is None else rows.weights.tolist(), rows.lines.tolist(),
            )  # fmt: skip
            yield
        yield

    def _look_at(self, names: list[Any]) -> None:
        """The features of the first rows of all: those behind them share what is learned now."""
        warn_of_unknown(self.core, names, self.progress.source, so_that=LEARNED_ANEW)
        self._goes_on = False

    def _advance(self, opened: OpenedSource) -> None:
        progress, account = self.progress, self.account
        progress.rows = progress.judged = int(account.rows)
        progress.mistakes = int(account.mistakes)
        progress.squared_error = account.squared_error
        progress.features, progress.returns = account.features, account.returns
        new = account.complaints[self.account_complaints :]
        progress.read(opened, self.before, int(account.skipped), new)
        progress.checkpoints = [self._checkpoint(*c) for c in account.take_checkpoints()]
        if self.keep_results:
            progress.results, progress.classes = account.take_results(), self.core.classes

    def _checkpoint(
        self, rows: float, mistakes: float, squared: float, label: Any, prediction: Any, n: int
    ) -> Checkpoint:
        if not self.model.regression:
            names = self.core.classes
            label = names[int(label)]
            prediction = None if prediction < 0 else names[int(prediction)]
        elif not self.model.learns_labels:
            label, prediction = None, int(prediction)
        return Checkpoint(int(rows), int(rows), int(mistakes), squared, label, prediction, n)
