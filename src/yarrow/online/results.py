"""What learners said of rows before they learned them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

from yarrow.data.arrays import Array, exact_array
from yarrow.data.labels import in_order
from yarrow.lazy import np

Wanted = Literal["predictions", "scores", "probabilities"]


@dataclasses.dataclass(frozen=True)
class ProgressiveResult:
    """What a learner said of rows before it learned them."""

    #: a label a row, None where no class was known yet; the values of a regression
    predictions: Array
    #: a column a class in the order of `classes`, NaN before a class appeared; one column for a
    #: regression and for two declared classes, where it speaks for the second and is NaN before
    #: both have appeared
    scores: Array
    #: all classes known at the end, sorted; None for a regression
    classes: Array | None = None
    #: if they were asked for: a column a class, NaN as in `scores`
    probabilities: Array | None = None
    #: what the rows are labelled, where a file says so; None for a row that is not
    labels: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.predictions)

    def only(self, rows: Array) -> ProgressiveResult:
        """What was said of some of the rows."""
        likely = None if self.probabilities is None else self.probabilities[rows]
        return dataclasses.replace(
            self, predictions=self.predictions[rows], scores=self.scores[rows], probabilities=likely
        )

    def table(self, wanted: Wanted) -> Array | None:
        """Scores or probabilities with a column a class, if they are wanted and there are any."""
        found = self.probabilities if wanted == "probabilities" else self.scores
        if wanted == "predictions" or self.classes is None or found is None:
            return None
        table = np.asarray(found, dtype=np.float64)
        if table.ndim == 1 or (table.shape[1] == 1 and len(self.classes) == 2):
            column = table.reshape(-1)  # which speaks for the second
            table = np.column_stack([-column, column])
        return table if table.shape[1] == len(self.classes) else None


def joined(parts: Sequence[ProgressiveResult], wanted: Wanted) -> ProgressiveResult:
    """What was said of rows that follow one another, as one; of many classes what is wanted.

    A class that was not known has the score NaN, and so has one that was alone, which says nothing.
    """
    predictions = [part.predictions for part in parts]
    if len({column.dtype.kind for column in predictions}) > 1:
        predictions = [column.astype(object) for column in predictions]
    tables = [part.table(wanted) for part in parts]
    known = [[] if part.classes is None else part.classes.tolist() for part in parts]
    names = {n: None for t, ns in zip(tables, known, strict=True) if t is not None for n in ns}
    ordered = in_order(names)
    place = {name: i for i, name in enumerate(ordered)}
    whole = np.full((sum(map(len, parts)), len(ordered)), np.nan)
    begin = 0
    for part, table, classes in zip(parts, tables, known, strict=True):
        if table is not None:
            whole[begin : begin + len(part), [place[name] for name in classes]] = table
        begin += len(part)
    if len(ordered):
        whole[np.count_nonzero(~np.isnan(whole), axis=1) < 2] = np.nan
    column = np.concatenate(predictions) if predictions else np.zeros(0)
    labels = [label for part in parts for label in part.labels or ()]
    likely = whole if wanted == "probabilities" else None
    return ProgressiveResult(column, whole, exact_array(ordered), likely, labels or None)
