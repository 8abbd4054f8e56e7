"""Predict each row, then learn it: a row's kernel is computed once for both."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array, check_values, read_weights
from yarrow.data.labels import array_of, class_labels, in_order, named, order_of
from yarrow.errors import ParameterError
from yarrow.kernel.rows import RowTable, about_row
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.delay import steps
from yarrow.online.mixin import ProgressiveMixin
from yarrow.online.results import ProgressiveResult


class KernelProgressive(ProgressiveMixin):
    """`progressive`, for kernel classifiers; `classes` is there for scikit-learn's way of calling.

    >>> from yarrow.kernel import KernelPerceptron
    >>> model = KernelPerceptron()
    >>> model.progressive([[1, 0], [0, 1], [1, 0]], ["a", "b", "a"]).predictions.tolist()
    [None, 'a', 'a']
    """

    def _predict_then_learn(
        self: Any, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        if probabilities:
            raise ParameterError(f"{type(self).__name__} has no probabilities.")
        rows = batch.rows
        assert rows is not None
        labels, weights = (
            class_labels(batch.y, rows.n_rows),
            read_weights(batch.weights, rows.n_rows),
        )
        check_values(rows)
        known = self.__dict__.get("_state")
        state = self._new_state() if known is None else known.copy()
        told = self._walk(state, RowTable(rows, batch.names), labels, weights, delay)
        if state.t:
            self._state = state
        return _named_result(told, state.classes)

    def _walk(
        self: Any, state: Any, table: RowTable, labels: list[Any], weights: Any, delay: int
    ) -> list[Array]:
        """The scores of the classes known at each row."""
        told: list[Array] = []
        for begin, end, due in steps(len(labels), delay=delay):
            for i in range(begin, end):
                with about_row(i):
                    values = state.kernel_row(table[i])
                told.append(state.scores(values)[:-1])
            for place, i in enumerate(due.tolist()):
                share = 1.0 if weights is None else float(weights[i])
                if share > 0:
                    with about_row(i):
                        row = table[i]
                        if place or i < end - 1:  # else nothing was learned since
                            values = state.kernel_row(row)
                        self._learn_row(state, row, values, labels[i], share)
        return told


def _named_result(told: list[Array], classes: list[Any]) -> ProgressiveResult:
    """What was said of the classes known at each time, as one table sorted by class."""
    scores = np.full((len(told), len(classes)), np.nan)
    for line, said in zip(scores, told, strict=True):
        line[: len(said)] = said
    best = np.array([np.argmax(said) if len(said) else -1 for said in told], dtype=np.int64)
    labels, in_table = named(best, classes), scores[:, order_of(classes)]
    return ProgressiveResult(labels, in_table, array_of(in_order(classes)))
