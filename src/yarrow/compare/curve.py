"""The error of rows, and how it came down."""

from __future__ import annotations

from yarrow.data.arrays import Array
from yarrow.evaluate.curves import online_curve
from yarrow.lazy import np


def error_of(wrong: Array) -> float:
    """The share of mistakes, or the root of the mean of squared errors."""
    if not len(wrong):
        return float("nan")
    mean = float(np.mean(wrong))
    return mean if wrong.dtype == np.bool_ else mean**0.5


def curve_of(wrong: Array) -> list[tuple[int, float]]:
    """(rows, error so far) at powers of two and about 200 places that are spaced evenly."""
    power = 1.0 if wrong.dtype == np.bool_ else 0.5
    return [(rows, mean**power) for rows, mean in online_curve(wrong)]
