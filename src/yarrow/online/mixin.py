"""`progressive`: each row of an array predicted, then learned, in one call."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Rows
from yarrow.errors import DataError
from yarrow.online.batch import Batch
from yarrow.online.results import ProgressiveResult


class ProgressiveMixin:
    """`progressive`, for learners whose rows have labels."""

    def progressive(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        delay: int = 0,
        probabilities: bool = False,
    ) -> ProgressiveResult:
        """Predict each row, then learn it; all or nothing, and a second call goes on from there.

        With a `delay` a row is learned after so many rows that follow it were predicted; at the end
        of the call all rows are learned. To the bit what `predict` and `partial_fit` of one row at
        a time would say; `probabilities` adds what `predict_proba` would. A row of weight 0 is
        predicted and not learned.

        >>> from yarrow import Perceptron
        >>> model = Perceptron()
        >>> model.progressive([[1, 0], [0, 1], [1, 0]], ["a", "b", "a"]).predictions.tolist()
        [None, 'a', 'a']
        """
        from yarrow.online.delay import check_delay

        check_delay(delay)
        rows, names = self._read_named(X)
        if y is None:
            raise DataError("This estimator requires y to be passed, but the target y is None.")
        batch = Batch(rows, names, y=y, weights=sample_weight, classes=classes)
        return self._progressive(batch, int(delay), probabilities)

    def _read_named(self, X: Any) -> tuple[Rows, list[Any]]:
        """The rows of `X` and the names of its columns, checked against those seen before."""
        raise NotImplementedError

    def _progressive(
        self: Any, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        """Rows of an array, whose columns are kept; by a copy that takes the place of this one."""

        def change(twin: Any) -> ProgressiveResult:
            told: ProgressiveResult = twin._predict_then_learn(batch, delay, probabilities)
            twin._keep_columns(batch.rows)
            return told

        return self._change(change)  # type: ignore[no-any-return]

    def _predict_then_learn(
        self, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        """All rows or none; their columns may differ from call to call."""
        raise NotImplementedError
