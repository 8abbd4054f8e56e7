"""Predict each row, then learn it: all rows of an array in one call."""

from __future__ import annotations

from collections import deque
from typing import Any

from yarrow.data.labels import array_of, class_labels, in_order, named, order_of
from yarrow.errors import ParameterError
from yarrow.kernel.rows import RowTable, about_row
from yarrow.lazy import np
from yarrow.linear_model.progressive import Scores, check_delay
from yarrow.stream.arrays import Array, Rows, check_values, read_weights


class Foretelling:
    """`progressive`, for kernel classifiers: a row's kernel is computed once for both."""

    def progressive(
        self: Any, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None, delay: int = 0
    ) -> Scores:
        """Predict each row, then learn it; all or nothing, and a second call goes on from there.

        With a `delay` a row is learned after so many rows that follow it were predicted; at the end
        of the call all rows are learned. `classes` is there for scikit-learn's way of calling.

        >>> from yarrow.kernel import KernelPerceptron
        >>> model = KernelPerceptron()
        >>> model.progressive([[1, 0], [0, 1], [1, 0]], ["a", "b", "a"]).predictions.tolist()
        [None, 'a', 'a']
        """
        check_delay(delay)
        rows = self._read(X)
        told: Scores = self._change(
            lambda twin: twin._foretell_array(rows, y, sample_weight, delay)
        )
        return told

    def _foretell_array(self: Any, rows: Rows, y: Any, weight: Any, delay: int) -> Scores:
        told: Scores = self._foretell_rows(rows, rows.names or [], y, weight, delay)
        self._keep_columns(rows)
        return told

    def _foretell_rows(
        self: Any,
        rows: Rows,
        names: list[Any],
        y: Any,
        sample_weight: Any = None,
        delay: int = 0,
        *,
        probabilities: bool = False,
    ) -> Scores:
        """All rows or none; their columns may differ from call to call."""
        if probabilities:
            raise ParameterError(f"{type(self).__name__} has no probabilities.")
        labels, weights = class_labels(y, rows.n_rows), read_weights(sample_weight, rows.n_rows)
        check_values(rows)
        known = self.__dict__.get("_state")
        state = self._new_state() if known is None else known.copy()
        told: Scores = self._foretell(state, RowTable(rows, names), labels, weights, delay)
        if state.t:
            self._state = state
        return told

    def _foretell(
        self: Any, state: Any, table: RowTable, labels: list[Any], weights: Any, delay: int
    ) -> Scores:
        told: list[Array] = []
        waiting: deque[int] = deque()

        def learn_next(values: Array | None = None) -> None:
            i = waiting.popleft()
            share = 1.0 if weights is None else float(weights[i])
            if share > 0:
                with about_row(i):
                    row = table[i]
                    values = state.kernel_row(row) if values is None else values
                    self._learn_row(state, row, values, labels[i], share)

        for i in range(len(labels)):
            with about_row(i):
                values = state.kernel_row(table[i])
            told.append(state.scores(values)[:-1])
            waiting.append(i)
            if len(waiting) > delay:
                learn_next(None if delay else values)
        while waiting:
            learn_next()
        return _as_scores(told, state.classes)


def _as_scores(told: list[Array], classes: list[Any]) -> Scores:
    """What was said of the classes known at each time, as one table sorted by class."""
    scores = np.full((len(told), len(classes)), np.nan)
    for line, said in zip(scores, told, strict=True):
        line[: len(said)] = said
    best = np.array([np.argmax(said) if len(said) else -1 for said in told], dtype=np.int64)
    labels, in_table = named(best, classes), scores[:, order_of(classes)]
    return Scores(labels, in_table, array_of(in_order(classes)))
