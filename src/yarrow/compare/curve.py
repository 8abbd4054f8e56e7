"""The error of rows, and how it came down."""

from __future__ import annotations

from yarrow.data.arrays import Array
from yarrow.lazy import np

#: places of a curve that are spaced evenly; powers of two come to them
PLACES = 200


def error_of(wrong: Array) -> float:
    """The share of mistakes, or the root of the mean of squared errors."""
    if not len(wrong):
        return float("nan")
    mean = float(np.mean(wrong))
    return mean if wrong.dtype == np.bool_ else mean**0.5


def curve_of(wrong: Array) -> list[tuple[int, float]]:
    """(rows, error so far) at powers of two and about 200 places that are spaced evenly."""
    n = len(wrong)
    if n == 0:
        return []
    evenly = np.linspace(1, n, min(n, PLACES)).round().astype(np.int64)
    powers = 2 ** np.arange(int(np.log2(n)) + 1)
    places = np.union1d(evenly, powers)
    means = np.cumsum(wrong, dtype=np.float64)[places - 1] / places
    errors = means if wrong.dtype == np.bool_ else np.sqrt(means)
    return list(zip(places.tolist(), errors.tolist(), strict=True))
