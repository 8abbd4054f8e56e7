"""Predicting the rows of files, with models that learn and with exported ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

from yarrow.data.labels import places_in_order
from yarrow.errors import ParameterError
from yarrow.io.compressed import Source, source_name
from yarrow.io.formats import TEXT_FORMATS, StreamFormat, reading
from yarrow.io.unknown_features import UnknownFeatures, first_names
from yarrow.lazy import np
from yarrow.online.learners import check_tells, is_core
from yarrow.online.ledger import Progress
from yarrow.online.results import Wanted


class Predicted(NamedTuple):
    """What a model says of some rows of a file: lists, since a command need not load numpy."""

    #: the class of each row, or its value
    predictions: list[Any]
    #: what the rows are labelled; None for a row that is not
    labels: list[Any]
    #: scores or probabilities, if they were wanted: a line a row, a column a class in their order
    table: list[list[float]] | None = None
    #: cells of the columns that go along with the rows, if there are any
    passed: list[tuple[Any, ...]] | None = None


def stream_of(model: Any) -> dict[str, Any] | None:
    """What a model, saved or exported, remembers of the stream it learned."""
    stream: dict[str, Any] | None = getattr(getattr(model, "_inner", model), "_stream", None)
    return stream


def predict_files(
    model: Any,
    source: Source,
    stream_format: StreamFormat | None = None,
    *,
    wanted: Wanted = "predictions",
    progress: Progress | None = None,
) -> Iterator[Predicted]:
    """Predict all rows of a source in order, part by part; `progress` is kept up to date.

    From the parser itself where the core can, else a batch at a time. The labels of a table are
    read only if `stream_format` itself says which column they are in.
    """
    asked = stream_format or StreamFormat()
    format = asked.remembering(stream_of(model)).of(source)
    if asked.table.get("passed") and format in TEXT_FORMATS:
        raise ParameterError(f"{source_name(source)}: {format} has no columns to keep.")
    by_rows = getattr(model, "predicts_by_rows", None)
    by_core = is_core(getattr(model, "_inner", model)) and not (by_rows and by_rows(wanted))
    predict = _predict_by_core if by_core else _predict_batches
    return predict(model, source, asked, wanted, progress or Progress())


def _predict_by_core(
    model: Any, source: Source, asked: StreamFormat, wanted: Wanted, progress: Progress
) -> Iterator[Predicted]:
    if wanted == "probabilities":
        check_tells(model, wanted)
    learner: Any = getattr(model, "_inner", model)  # of an exported one
    progress.source, before = source_name(source), dataclasses.replace(progress)
    with reading(
        source,
        asked.remembering(stream_of(model)),
        labels=bool(asked.table.get("label")),
        dtype=learner.dtype,
        hash_bits=learner.hash_bits or 0,
        tells_missing=getattr(learner, "tells_missing", False),
    ) as opened:
        unknown = UnknownFeatures(learner._fitted)
        if opened.is_text:
            answers = _text_answers(learner, opened.reader, wanted)
        else:
            answers = _table_answers(learner, opened.reader, wanted, unknown)
        said: set[Any] = set()
        for answer in answers:
            said |= {repr(one) for one in answer[0]} if len(said) < 2 else set()
            predictions, labels, scores, variances, *passed = answer
            if hasattr(learner, "_chosen"):
                predictions = learner._chosen(*map(np.asarray, (scores, variances))).tolist()
            progress.rows += len(labels)
            progress.read(opened, before)
            table = _table(learner, scores, variances, wanted)
            yield Predicted(predictions, labels, table, *passed)
        progress.read(opened, before)
        if opened.is_text and len(said) == 1:  # else some of what it says depends on the rows
            unknown.look_at(first_names(source, opened.stream_format, learner.dtype))
        unknown.warn(progress.source)
    progress.done = True


#: predictions, labels; as far as they are wanted, scores and variances; cells that go along
Answer = tuple[Any, ...]


def _text_answers(learner: Any, reader: Any, wanted: Wanted) -> Iterator[Answer]:
    core, sure = learner._fitted, wanted == "probabilities" or hasattr(learner, "_chosen")
    while (answer := core.predict_from(reader, sure or wanted == "scores", sure)) is not None:
        yield answer


def _table_answers(
    learner: Any, reader: Any, wanted: Wanted, unknown: UnknownFeatures
) -> Iterator[Answer]:
    for rows in reader:
        unknown.look_at(rows.names)
        cells = (rows.values, rows.indices, rows.indptr, len(rows.names), True, rows.names)
        scores, variances = learner._fitted.predict_rows(*cells)
        by_class = hasattr(learner, "_predicted")
        predictions = learner._predicted(scores) if by_class else scores[:, 0]
        labels = list(rows.labels or [None] * len(rows))
        yield predictions.tolist(), labels, scores, variances, rows.passed


def _table(learner: Any, scores: Any, variances: Any, wanted: Wanted) -> list[list[float]] | None:
    if wanted == "predictions" or not hasattr(type(learner), "classes_"):
        return None
    if wanted == "probabilities":
        scores = learner._probabilities(np.asarray(scores), np.asarray(variances))
    rows: list[list[float]] = scores.tolist()
    order = places_in_order(learner._fitted.classes[: scores.shape[1]])
    if order == sorted(order):
        return rows
    return [[row[place] for place in order] for row in rows]


def _predict_batches(
    model: Any, source: Source, asked: StreamFormat, wanted: Wanted, progress: Progress
) -> Iterator[Predicted]:
    check_tells(model, wanted)
    from yarrow.online.file_batches import FileBatches

    tells = getattr(getattr(model, "_inner", model), "tells_missing", False)
    settings: dict[str, Any] = {"dtype": "float64", "stream": stream_of(model)}
    files = FileBatches([source], asked, labels=False, tells_missing=tells, **settings)
    inner = getattr(model, "_inner", None)
    unknown = None if inner is None else UnknownFeatures(inner._fitted)
    for batch in files.read():
        some = batch.only_present() if batch.names else batch
        if unknown is not None and some.rows is not None:
            unknown.look_at(some.names or np.unique(np.asarray(some.rows.indices)).tolist())
        rows = some.rows, some.names
        progress.rows += len(batch)
        table = None
        if wanted != "predictions" and not model.regression:
            tell = model._score_table if wanted == "scores" else model._probability_table
            table = tell(*rows).tolist()
        labels = [None if label != label else label for label in batch.y.tolist()]
        yield Predicted(model._predict_rows(*rows).tolist(), labels, table, batch.passed)
        progress.source, progress.position = files.reading, files.position
    progress.skipped, progress.complaints = files.skipped, files.complaints
    if unknown is not None:
        unknown.warn(progress.source)
    progress.done = True
