"""Metrics of a regression: how far predictions are from the values."""

from __future__ import annotations

import math

from yarrow.data.arrays import Array
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.metrics.base import Metric


class _OfResiduals(Metric):
    """Keeps the weighted sum of some loss of each row."""

    higher_is_better = False
    of_values = True

    def _reset(self) -> None:
        self._loss = self._all = 0.0

    def _add(
        self, labels: Array, predictions: Array | None, scores: Array | None, weights: Array
    ) -> None:
        assert predictions is not None
        values, guesses = _numbers(labels, "value"), _numbers(predictions, "prediction")
        self._add_residuals(values, values - guesses, weights)

    def _add_residuals(self, values: Array, residuals: Array, weights: Array) -> None:
        self._loss += float(weights @ self._losses(residuals))
        self._all += float(weights.sum())

    def _losses(self, residuals: Array) -> Array:
        return residuals**2

    def _scale(self, factor: float) -> None:
        self._loss *= factor
        self._all *= factor

    def _value(self) -> float:
        return self._loss / self._all


def _numbers(values: Array, what: str) -> Array:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"A {what} of a regression must be a number.") from None
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"The {what} is {values[row]}, not a finite number", row=row + 1)
    return numbers


class MSE(_OfResiduals):
    """Mean of the squared errors."""

    name = "MSE"


class RMSE(_OfResiduals):
    """Root of the mean of the squared errors.

    >>> metric = RMSE()
    >>> metric.update_many([1.0, 2.0], [1.0, 4.0])
    >>> round(metric.value, 4)
    1.4142
    """

    name = "RMSE"

    def _value(self) -> float:
        return math.sqrt(super()._value())


class MAE(_OfResiduals):
    """Mean of the absolute errors."""

    name = "MAE"

    def _losses(self, residuals: Array) -> Array:
        return np.abs(residuals)


class R2(_OfResiduals):
    """1 - squared error / squared error of the mean; NaN where all values are equal."""

    name = "R2"
    higher_is_better = True

    def _reset(self) -> None:
        super()._reset()
        # About the first value: sums of large squares would cancel.
        self._first: float | None = None
        self._sum = self._squares = 0.0

    def _add_residuals(self, values: Array, residuals: Array, weights: Array) -> None:
        super()._add_residuals(values, residuals, weights)
        if self._first is None:
            self._first = float(values[0])
        away = values - self._first
        self._sum += float(weights @ away)
        self._squares += float(weights @ away**2)

    def _scale(self, factor: float) -> None:
        super()._scale(factor)
        self._sum *= factor
        self._squares *= factor

    @property
    def spread(self) -> float:
        """The root of the mean squared distance of the values from their mean."""
        self._count_pending()
        mean = self._sum / self._all
        return math.sqrt(max(0.0, self._squares / self._all - mean**2))

    def _value(self) -> float:
        spread = self.spread
        return 1 - super()._value() / spread**2 if spread > 0 else math.nan
