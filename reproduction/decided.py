"""Claims decided with their uncertainty: by intervals of paired differences, not by two means.

A claim says that some differences are above zero: of a rival's error and ours in the same trials,
say. It holds if each of them is, with 95 % confidence (Student's t over the trials). It is
contradicted if one of them is not, with 95 % confidence for all of them together
(Bonferroni). Otherwise the trials do not tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reproduction.findings import FINDING, POWER, Claim
from yarrow.lazy import np

Numbers = Any
"""A number a trial: a sequence or an array."""
_DOUBT = 0.025  # on either side


def interval(differences: Numbers, looks: int = 1) -> tuple[float, float]:
    """Return the interval of the mean of paired differences; one trial alone says nothing.

    >>> low, high = interval([1.0, 2.0, 3.0])
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    from scipy.stats import t

    values = np.asarray(differences, float)
    mean = float(values.mean())
    if len(values) < 2:
        return -math.inf, math.inf
    error = float(values.std(ddof=1)) / float(np.sqrt(len(values)))
    half = float(t.ppf(1 - _DOUBT / looks, len(values) - 1)) * error
    return mean - half, mean + half


def in_words(differences: Numbers, scale: float = 1.0, digits: int = 2) -> str:
    """Return mean and interval as the pages write them.

    >>> in_words([1.0, 2.0, 3.0])
    '2.00 [-0.48, 4.48]'
    >>> in_words([2.0])
    '2.00 [unknown]'
    """
    low, high = (scale * end for end in interval(differences))
    ends = f"{low:.{digits}f}, {high:.{digits}f}" if math.isfinite(low) else "unknown"
    return f"{scale * float(np.mean(differences)):.{digits}f} [{ends}]"


def how_many(number: int, what: str, several: str = "") -> str:
    """Return how many trials decide a claim.

    >>> how_many(1, "life", "lives"), how_many(5, "trial")
    ('1 life', '5 trials')
    """
    return f"{number} {what if number == 1 else several or what + 's'}"


def above_zero(
    sentence: str,
    differences: Sequence[Numbers],
    measured: str,
    *,
    trials: str,
    otherwise: str = FINDING,
    stable: bool = False,
) -> Claim:
    """Return the claim that each of these differences is above zero, each a number a trial."""
    holds = all(interval(each)[0] > 0 for each in differences)
    against = any(interval(each, len(differences))[1] <= 0 for each in differences)
    why = "" if holds else otherwise if against else POWER
    return Claim(sentence, holds, measured, trials, why, stable)


def within(
    sentence: str,
    differences: Sequence[Numbers],
    room: float,
    measured: str,
    *,
    trials: str,
    otherwise: str = FINDING,
    stable: bool = False,
) -> Claim:
    """Return the claim that none of these differences is further from zero than `room`."""
    sides = [[room - sign * value for value in each] for each in differences for sign in (1, -1)]
    return above_zero(sentence, sides, measured, trials=trials, otherwise=otherwise, stable=stable)
