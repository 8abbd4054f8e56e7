"""Metrics of a regression: how far predictions are from the values."""

from __future__ import annotations

import math

from yarrow.data.arrays import Array
from yarrow.errors import DataError
from yarrow.lazy import np
from yarrow.metrics.base import Mean, Rows


def _residuals(rows: Rows) -> Array:
    assert rows.predictions is not None
    return _numbers(rows.labels, "value") - _numbers(rows.predictions, "prediction")


def _numbers(values: Array, what: str) -> Array:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"A {what} of a regression must be a number.") from None
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"The {what} is {values[row]}, not a finite number", row=row)
    return numbers


class MSE(Mean):
    """Mean of the squared errors."""

    name = "MSE"
    of_values = True

    def _losses(self, rows: Rows) -> Array:
        return _residuals(rows) ** 2


class RMSE(MSE):
    """Root of the mean of the squared errors.

    >>> metric = RMSE()
    >>> metric.update_many([1.0, 2.0], [1.0, 4.0])
    >>> round(metric.value, 4)
    1.4142
    """

    name = "RMSE"

    def _value(self) -> float:
        return math.sqrt(super()._value())


class MAE(Mean):
    """Mean of the absolute errors."""

    name = "MAE"
    of_values = True

    def _losses(self, rows: Rows) -> Array:
        return np.abs(_residuals(rows))


class R2(MSE):
    """1 - squared error / squared error of the mean; NaN where all values are equal."""

    name = "R2"
    higher_is_better = True

    def _reset(self) -> None:
        super()._reset()
        # About the first value: sums of large squares would cancel.
        self._first: float | None = None
        self._away = self._squares = 0.0

    def _add(self, rows: Rows) -> None:
        super()._add(rows)
        values = rows.labels.astype(np.float64)
        if self._first is None:
            self._first = float(values[0])
        away = values - self._first
        self._away += float(rows.weights @ away)
        self._squares += float(rows.weights @ away**2)

    def _scale(self, factor: float) -> None:
        super()._scale(factor)
        self._away *= factor
        self._squares *= factor

    @property
    def spread(self) -> float:
        """The root of the mean squared distance of the values from their mean."""
        self._count_pending()
        mean = self._away / self._all
        return math.sqrt(max(0.0, self._squares / self._all - mean**2))

    def _value(self) -> float:
        spread = self.spread
        return 1 - super()._value() / spread**2 if spread > 0 else math.nan
