"""Predicting the rows of files, with models that learn and with exported ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.io.compressed import Source, source_name
from yarrow.io.formats import OpenedSource, StreamFormat, reading
from yarrow.lazy import np
from yarrow.online.learners import is_core
from yarrow.online.ledger import Progress
from yarrow.online.results import ProgressiveResult, Wanted


def stream_of(model: Any) -> dict[str, Any] | None:
    """What a model, saved or exported, remembers of the stream it learned."""
    stream: dict[str, Any] | None = getattr(model, "_inner", model)._stream
    return stream


def predict_files(
    model: Any,
    source: str,
    stream_format: StreamFormat,
    *,
    wanted: Wanted = "predictions",
    progress: Progress | None = None,
) -> Iterator[ProgressiveResult]:
    """Predict all rows of a source in order, part by part; `progress` is kept up to date.

    From the parser itself where the core can, else a batch at a time. The labels of a table are
    read only if `stream_format` itself says which column they are in.
    """
    if is_core(getattr(model, "_inner", model)):
        if hasattr(model, "predicts_by_rows") and model.predicts_by_rows(wanted):
            return _predict_batches(model, source, stream_format, wanted, progress or Progress())
        proba = wanted == "probabilities"
        return predict_stream(model, source, stream_format, probabilities=proba, progress=progress)
    return _predict_batches(model, source, stream_format, wanted, progress or Progress())


def predict_stream(
    model: Any,
    source: Source,
    stream_format: StreamFormat | None = None,
    *,
    probabilities: bool = False,
    progress: Progress | None = None,
) -> Iterator[ProgressiveResult]:
    """The same of models of the core, saved or exported."""
    if probabilities and not hasattr(model, "predict_proba"):
        raise ParameterError(f"{model!r} has no probabilities, only scores.")
    asked = stream_format or StreamFormat()
    learner: Any = getattr(model, "_inner", model)  # of an exported one
    progress = progress or Progress()
    progress.source = source_name(source)
    with reading(
        source,
        asked.remembering(stream_of(model)),
        labels=bool(asked.table.get("label")),
        dtype=learner.dtype,
        hash_bits=learner.hash_bits or 0,
    ) as opened:
        parts = _text_parts if opened.is_text else _table_parts
        sure = probabilities or not hasattr(learner, "classes_")
        for scores, variances, labels in parts(learner._fitted, opened.reader, sure):
            progress.rows += len(labels)
            progress.position = opened.position
            _note(progress, opened)
            yield _named_result(learner, scores, variances, labels, probabilities)
        _note(progress, opened)
    progress.done = True


Part = tuple[Any, Any, list[Any]]  # scores and variances by appearance of the classes, labels


def _text_parts(core: Any, reader: Any, variances: bool) -> Iterator[Part]:
    while (part := core.predict_from(reader, variances)) is not None:
        yield part[:3]


def _table_parts(core: Any, reader: Any, variances: bool) -> Iterator[Part]:
    for rows in reader:
        cells = (rows.values, rows.indices, rows.indptr, len(rows.names), rows.names)
        yield *core.predict_rows(*cells, variances), list(rows.labels or [None] * len(rows))


def _note(progress: Progress, opened: OpenedSource) -> None:
    progress.bytes, progress.skipped = opened.reader.bytes, opened.reader.skipped
    progress.complaints = opened.complaints


def _named_result(
    model: Any, scores: Array, variances: Array, labels: list[Any], probabilities: bool
) -> ProgressiveResult:
    if not hasattr(model, "classes_"):
        return ProgressiveResult(model._chosen(scores, variances), scores, labels=labels)
    chosen = model._predicted(scores)
    in_order = model._in_class_order
    likely = in_order(model._probabilities(scores, variances)) if probabilities else None
    classes = model._class_table(scores.shape[1])[0]
    return ProgressiveResult(chosen, in_order(scores), classes, likely, labels)


def _predict_batches(
    model: Any, source: str, stream_format: StreamFormat, wanted: Wanted, progress: Progress
) -> Iterator[ProgressiveResult]:
    for kind, method in (("probabilities", "predict_proba"), ("scores", "decision_function")):
        if wanted == kind and not hasattr(model, method):
            raise ParameterError(f"{type(model).__name__} has no {wanted}.")
    from yarrow.online.files import FileBatches

    known = stream_of(model)
    files = FileBatches([source], stream_format, dtype="float64", known=known, labels=False)
    for batch in files.read():
        known_columns = batch.only_present() if batch.names else batch
        asked = known_columns.rows, known_columns.names
        progress.rows += len(batch)
        nothing: Array = np.zeros((len(batch), 0))
        yield ProgressiveResult(
            model._predict_rows(*asked),
            model._score_table(*asked) if wanted == "scores" else nothing,
            getattr(model, "classes_", None),
            model._probability_table(*asked) if wanted == "probabilities" else None,
            [None if label != label else label for label in batch.y.tolist()],
        )
        progress.source, progress.position = files.reading, files.position
    progress.skipped, progress.complaints = files.skipped, files.complaints
    progress.done = True
