"""Predictions of learners that are not of the core, a block of a file at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yarrow.cli.late import only_present
from yarrow.errors import ParameterError
from yarrow.lazy import np
from yarrow.linear_model.file_blocks import FileBlocks
from yarrow.linear_model.stream_prediction import Predictions
from yarrow.stream.arrays import Array


def predicted_blocks(
    model: Any, source: str, how: Any, proba: bool, scores: bool, progress: Any
) -> Iterator[Predictions]:
    """Predict all rows of a source in order; `progress` is kept up to date."""
    for asked, method in ((proba, "predict_proba"), (scores, "decision_function")):
        if asked and not hasattr(model, method):
            what = "probabilities" if proba else "scores"
            raise ParameterError(f"{type(model).__name__} has no {what}.")
    known = model.__dict__.get("_stream")
    files = FileBlocks([source], how, dtype="float64", known=known, labels=False)
    for rows, y, _, names, _ in files.read():
        columns: list[Any] = []
        if names:
            present, rows = only_present(rows)
            columns = [names[place] for place in present]
        told = model._probability_table if proba else getattr(model, "_score_table", None)
        table = told(rows, columns) if told is not None and (scores or proba) else None
        labels = [None if label != label else label for label in y.tolist()]
        progress.rows += len(y)
        nothing: Array = np.zeros((len(y), 0))
        yield Predictions(
            model._predict_rows(rows, columns),
            nothing if table is None or proba else table,
            table if proba else None,
            labels,
        )
        progress.source, progress.position = files.reading, files.position
    progress.skipped, progress.complaints = files.skipped, files.complaints
    progress.done = True
