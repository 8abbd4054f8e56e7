"""Two learners on the same stream: how far apart they are, and how sure that is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import DataError, ParameterError
from yarrow.lazy import np

_MOST_BLOCKS = 10_000  # in one resample
_AT_ONCE = 1 << 21  # numbers drawn


@dataclasses.dataclass(frozen=True)
class Interval:
    """A mean over a stream with its confidence interval."""

    mean: float
    low: float
    high: float
    level: float
    #: chance of a mean this far from 0, or farther, if it were 0
    p: float
    rows: int
    block: int


def block_length(values: Any) -> int:
    """The length of blocks that suits a stream: longer, the longer its rows depend on each other.

    The automatic choice of Politis & White (2004), corrected by Patton, Politis & White (2009),
    for the circular bootstrap.

    >>> import numpy as np
    >>> chance = np.random.default_rng(0)
    >>> independent, dependent = chance.normal(size=1000), np.repeat(chance.normal(size=50), 20)
    >>> block_length(independent) < block_length(dependent)
    True
    """
    d = np.asarray(values, dtype=np.float64)
    n = len(d)
    centred = d - d.mean() if n else d
    if n < 8 or not np.any(centred):
        return 1
    run = max(5, math.ceil(math.sqrt(math.log10(n))))
    most = min(math.ceil(math.sqrt(n)) + run, n - 1)
    # Autocovariances, by a Fourier transform with enough zeros behind.
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size)) ** 2
    covariance = np.fft.irfft(power, size)[: most + 1] / n
    small = np.abs(covariance[1:] / covariance[0]) < 2 * math.sqrt(math.log10(n) / n)
    # The first lag after which `run` correlations in a row, or all that are left, mean nothing.
    lag = next(m for m in range(len(small) + 1) if small[m : m + run].all())
    width = min(max(2 * lag, 1), most)
    lags = np.arange(-width, width + 1)
    window = np.clip(2 * (1 - np.abs(lags) / width), 0, 1)
    weighted = window * covariance[np.abs(lags)]
    total = float(weighted.sum())
    if total <= 0:
        return 1
    g = float((np.abs(lags) * weighted).sum())
    length = (2 * g**2 / (4 / 3 * total**2)) ** (1 / 3) * n ** (1 / 3)
    return int(min(max(1, math.ceil(length)), math.ceil(min(3 * math.sqrt(n), n / 3))))


def bootstrap(
    values: Any,
    *,
    level: float = 0.95,
    block: int | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean of a stream's values, with an interval by the circular block bootstrap.

    Rows of a stream depend on their neighbours, so whole blocks of rows are drawn, from a stream
    that is closed to a circle (Politis & Romano 1992). `block` is chosen by `block_length` if it
    is not given, and is at least a ten-thousandth of the rows.

    >>> found = bootstrap([0.0, 1.0] * 50, block=1)
    >>> found.mean, found.low < 0.45 < 0.55 < found.high
    (0.5, True)
    """
    d = np.asarray(values, dtype=np.float64)
    n = len(d)
    if d.ndim != 1 or not n:
        raise DataError(f"A bootstrap needs one value a row. Got the shape {d.shape} instead.")
    if not np.isfinite(d).all():
        raise DataError("The value is not finite", row=int(np.argmin(np.isfinite(d))))
    if not 0 < level < 1 or resamples < 1 or (block is not None and not 1 <= block <= n):
        raise ParameterError(
            f"A bootstrap needs 0 < level < 1, a resample at least, and blocks of 1 to {n} rows. "
            f"Got level={level!r}, resamples={resamples!r}, block={block!r}."
        )
    length = max(block_length(d), math.ceil(n / _MOST_BLOCKS)) if block is None else block
    means = _resampled(d, length, resamples, np.random.default_rng(seed))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    mean = float(d.mean())
    farther = np.abs(means - mean) >= abs(mean) * (1 - 1e-12)
    return Interval(
        mean=mean,
        low=float(low),
        high=float(high),
        level=level,
        p=float((1 + farther.sum()) / (1 + resamples)),
        rows=n,
        block=length,
    )


def _resampled(d: Array, length: int, resamples: int, chance: Any) -> Array:
    """Means of streams put together from blocks; the last block is cut to the stream's length."""
    n = len(d)
    whole, rest = divmod(n, length)
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([d, d[:length]]))])
    of_block = sums[length : length + n] - sums[:n]
    of_rest = sums[rest : rest + n] - sums[:n]
    means = np.empty(resamples)
    step = max(1, _AT_ONCE // max(1, whole))
    for begin in range(0, resamples, step):
        part = means[begin : begin + step]
        starts = chance.integers(0, n, (len(part), whole + 1))
        part[:] = of_block[starts[:, 1:]].sum(axis=1) + of_rest[starts[:, 0]]
    return means / n


def mcnemar(one: Any, other: Any) -> float:
    """McNemar's exact p: the chance that mistakes only one of two makes fall so unevenly.

    It takes rows for independent, which those of a stream are not quite: prefer
    `paired_comparison` there.

    >>> mcnemar([True] * 8 + [False] * 2, [False] * 10)
    0.0078125
    """
    first, second = _mistakes(one), _mistakes(other)
    if first.shape != second.shape:
        raise DataError(f"The rows differ in number: {len(first)} and {len(second)}.")
    from scipy.stats import binomtest

    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    if only_first + only_second == 0:
        return 1.0
    return float(binomtest(only_first, only_first + only_second).pvalue)


def _mistakes(wrong: Any) -> Array:
    array = np.asarray(wrong)
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        raise DataError("Mistakes must be one truth value a row.")
    return array.astype(bool)


@dataclasses.dataclass(frozen=True)
class PairedComparison:
    """The difference of two learners' losses on the same rows: first less second."""

    names: tuple[str, str]
    means: tuple[float, float]
    difference: float
    low: float
    high: float
    level: float
    p: float
    rows: int
    block: int
    #: rows that only the first, or only the second, predicted wrongly; None for other losses
    only: tuple[int, int] | None
    mcnemar_p: float | None

    @property
    def differ(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        first, second = self.names
        verdict = (
            f"{first if self.difference < 0 else second} is better"
            if self.differ
            else "no significant difference"
        )
        return (
            f"{first} {self.means[0]:.4g}, {second} {self.means[1]:.4g}: difference "
            f"{self.difference:+.4g}, {100 * self.level:g} % interval {self.low:+.4g} to "
            f"{self.high:+.4g}; {verdict}"
        )


def paired_comparison(
    one: Any,
    other: Any,
    *,
    names: tuple[str, str] = ("the first", "the second"),
    level: float = 0.95,
    block: int | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> PairedComparison:
    """Compare two learners by their losses on each row: mistakes (`Progressive.wrong`) or others.

    The interval is that of `bootstrap`, of the differences row by row: what is hard for both does
    not blur it.

    >>> import numpy as np
    >>> chance = np.random.default_rng(0)
    >>> one, other = chance.random(2000) < 0.2, chance.random(2000) < 0.3
    >>> print(paired_comparison(one, other, names=("A", "B")))
    A 0.2095, B 0.297: difference -0.0875, 95 % interval -0.114 to -0.0615; A is better
    """
    first, second = np.asarray(one), np.asarray(other)
    if first.ndim != 1 or first.shape != second.shape:
        raise DataError(f"The losses differ in shape: {first.shape} and {second.shape}.")
    found = bootstrap(
        first.astype(float) - second.astype(float),
        level=level,
        block=block,
        resamples=resamples,
        seed=seed,
    )
    are_mistakes = first.dtype == bool and second.dtype == bool
    return PairedComparison(
        names=names,
        means=(float(first.mean()), float(second.mean())),
        difference=found.mean,
        low=found.low,
        high=found.high,
        level=level,
        p=found.p,
        rows=found.rows,
        block=found.block,
        only=(int((first & ~second).sum()), int((~first & second).sum())) if are_mistakes else None,
        mcnemar_p=mcnemar(first, second) if are_mistakes else None,
    )


@dataclasses.dataclass(frozen=True)
class Scatter:
    """A point a task: one learner's error against another's, as Crammer et al. plot them."""

    names: tuple[str, str]
    tasks: list[str]
    points: list[tuple[float, float]]

    @property
    def wins(self) -> tuple[int, int, int]:
        """Tasks on which the first is better, both are equal, the second is better."""
        signs = [(one > other) - (one < other) for one, other in self.points]
        return signs.count(-1), signs.count(0), signs.count(1)


def paired_scatter(errors: Mapping[str, Mapping[str, float]], first: str, second: str) -> Scatter:
    """The errors of two learners on all tasks that both have.

    >>> errors = {"usps": {"A": 0.1, "B": 0.2}, "mnist": {"A": 0.3, "B": 0.25}, "sms": {"A": 0.1}}
    >>> paired_scatter(errors, "A", "B").wins
    (1, 0, 1)
    """
    shared = [task for task, found in errors.items() if first in found and second in found]
    points = [(float(errors[task][first]), float(errors[task][second])) for task in shared]
    return Scatter((first, second), shared, points)
