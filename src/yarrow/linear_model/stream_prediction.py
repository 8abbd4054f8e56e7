"""Predicting the rows of files, with models that learn and with exported ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from yarrow.errors import ParameterError
from yarrow.linear_model.exported import ExportedModel
from yarrow.linear_model.streaming import Progress, errors_named, with_name
from yarrow.stream.compressed import Source, source_name
from yarrow.stream.format import (
    TEXT_FORMATS,
    StreamFormat,
    TableReader,
    opened,
    position,
    text_reader,
)

if TYPE_CHECKING:
    from yarrow.linear_model.base import LinearModel
    from yarrow.stream.arrays import Array


@dataclasses.dataclass(frozen=True)
class Predictions:
    """What a model says of a block of rows."""

    chosen: Array  # the classes, or the values of a regression
    scores: Array  # a column a class in the order of `classes_`; one column for a regression
    probabilities: Array | None
    labels: list[Any]  # None where a row has none


def stream_of(model: LinearModel | ExportedModel) -> dict[str, Any] | None:
    """What a model remembers of the stream it learned."""
    if isinstance(model, ExportedModel):
        return model.metadata.get("stream")
    return model.__dict__.get("_stream")


def predict_stream(
    model: LinearModel | ExportedModel,
    source: Source,
    how: StreamFormat | None = None,
    *,
    probabilities: bool = False,
    progress: Progress | None = None,
) -> Iterator[Predictions]:
    """Predict all rows of a source in order, block by block; `progress` is kept up to date.

    The labels of a table are read only if `how` itself says which column they are in.
    """
    if probabilities and not hasattr(model, "predict_proba"):
        raise ParameterError(f"{model!r} has no probabilities, only scores.")
    how = how or StreamFormat()
    labels = bool(how.table.get("label"))
    how = how.remembering(stream_of(model))
    learner: Any = model._inner if isinstance(model, ExportedModel) else model
    format = how.of(source)
    progress = progress or Progress()
    progress.source = source_name(source)
    with errors_named(source, format), opened(source) as file:
        if format in TEXT_FORMATS:
            blocks = _text_blocks(learner, file, format, how, progress)
        else:
            blocks = _table_blocks(learner, source, file, format, how, labels, progress)
        for scores, variances, row_labels in blocks:
            progress.rows += len(row_labels)
            progress.position = position(file)
            yield _predictions(learner, scores, variances, row_labels, probabilities)
    progress.done = True


Block = tuple[Any, Any, list[Any]]  # scores and variances by appearance of the classes, labels


def _text_blocks(
    model: Any, file: BinaryIO, format: str, how: StreamFormat, progress: Progress
) -> Iterator[Block]:
    reader = text_reader(
        file, format, how, labels_optional=True, dtype=model.dtype, hash_bits=model.hash_bits or 0
    )
    while (block := model._fitted.predict_from(reader)) is not None:
        _note(progress, reader)
        yield block[:3]
    _note(progress, reader)


def _table_blocks(
    model: Any,
    source: Source,
    file: BinaryIO,
    format: str,
    how: StreamFormat,
    labels: bool,
    progress: Progress,
) -> Iterator[Block]:
    reader = TableReader(source, file, format, how, dtype=model.dtype, labels=labels)
    for rows in reader:
        _note(progress, reader)
        scores, variances = model._fitted.predict_sparse(
            rows.indptr, rows.indices, rows.values, len(rows.names), rows.names
        )
        yield scores, variances, [None] * len(rows) if rows.labels is None else list(rows.labels)
    _note(progress, reader)


def _note(progress: Progress, reader: Any) -> None:
    progress.bytes, progress.skipped = reader.bytes, reader.skipped
    progress.complaints = [with_name(progress.source, text) for text in reader.complaints]


def _predictions(
    model: Any, scores: Array, variances: Array, labels: list[Any], probabilities: bool
) -> Predictions:
    if not hasattr(model, "classes_"):
        return Predictions(model._chosen(scores, variances), scores, None, labels)
    chosen = model._best_names(scores)
    likely = model._probabilities(scores, variances) if probabilities else None
    in_order = model._in_class_order
    return Predictions(
        chosen, in_order(scores), None if likely is None else in_order(likely), labels
    )
