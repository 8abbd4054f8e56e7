"""How well a learner does on the rows that had no part in choosing its setting, and how sure.

Settings are chosen on the first half of the rows and judged on the second. Intervals come from a
block bootstrap, and are never narrower than exact ones.
"""

from __future__ import annotations

from statistics import NormalDist

from yarrow.data.arrays import Array
from yarrow.evaluate.curves import error_of
from yarrow.evaluate.paired import bootstrap
from yarrow.lazy import np

LEVEL = 0.95
#: rows to judge by: with fewer, a 95 % interval of an error reaches up to 10 % to either side,
#: which is more than good learners differ by
ENOUGH = 100


def first_half(wrong: Array) -> Array:
    """The rows by which settings are chosen."""
    return wrong[: len(wrong) // 2] if len(wrong) > 1 else wrong


def second_half(wrong: Array) -> Array:
    """The rows by which the chosen settings are judged."""
    return wrong[len(wrong) // 2 :]


def judged(wrong: Array, seed: int) -> dict[str, float | None]:
    """The error on the second half from low to high; without these where its rows are too few."""
    half = second_half(wrong)
    low, high = interval(half, seed) if len(half) >= ENOUGH else (None, None)
    return {"error": error_of(half), "low": low, "high": high}


def interval(wrong: Array, seed: int, level: float = LEVEL) -> tuple[float, float]:
    """The error of rows, from low to high, by the block bootstrap.

    Mistakes get at least the width that independent rows would have (Clopper & Pearson 1934): the
    bootstrap of a few mistakes, or of none, knows nothing of those it has not seen.
    """
    found = bootstrap(wrong, level=level, block=_block(wrong), seed=seed)
    if wrong.dtype != np.bool_:
        return max(found.low, 0.0) ** 0.5, found.high**0.5
    low, high = _exact(int(wrong.sum()), len(wrong), level)
    return max(0.0, min(found.low, low)), min(1.0, max(found.high, high))


def difference(
    one: Array, other: Array, seed: int, among: int = 1, resamples: int = 2000
) -> dict[str, float]:
    """How much larger the error of `one` is on the same rows: interval and standard error.

    Of `among` comparisons all intervals are right together with 95 % (Bonferroni). As above, they
    are at least as wide as if the rows on which only one is wrong were independent.
    """
    level = 1 - (1 - LEVEL) / among
    gaps = one.astype(np.float64) - other
    found = bootstrap(gaps, level=level, block=_block(gaps), resamples=resamples, seed=seed)
    low, high = found.low, found.high
    deviation = (high - low) / (2 * NormalDist().inv_cdf((1 + level) / 2))
    unit = 1.0
    if one.dtype == np.bool_:
        n, apart = len(gaps), int(np.count_nonzero(gaps))
        ends = _exact_difference(int((gaps > 0).sum()), apart, n, level)
        low, high = min(low, ends[0]), max(high, ends[1])
        deviation = max(deviation, apart**0.5 / n)
    else:  # a difference of mean squares is one of roots times their sum
        unit = max(error_of(one) + error_of(other), 1e-300)
    return {
        "difference": found.mean / unit,
        "low": low / unit,
        "high": high / unit,
        "deviation": deviation / unit,
    }


def _exact_difference(more: int, apart: int, n: int, level: float) -> tuple[float, float]:
    """The interval of a difference of shares if `more` of `apart` rows in n are one's own."""
    if not apart:
        reach = _exact(0, n, level)[1]
        return -reach, reach
    low, high = _exact(more, apart, level)
    return (2 * low - 1) * apart / n, (2 * high - 1) * apart / n


def _exact(count: int, n: int, level: float) -> tuple[float, float]:
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = betaincinv(count, n - count + 1, tail) if count else 0.0
    high = betaincinv(count + 1, n - count, 1 - tail) if count < n else 1.0
    return float(low), float(high)


def _block(values: Array) -> int | None:
    """On long streams hundreds of long blocks are enough, and need no search for a length."""
    return len(values) // 300 if len(values) > 100_000 else None
