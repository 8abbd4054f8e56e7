"""Losses of a margin m and the target asked for: their values and minus their slopes."""

from __future__ import annotations

from typing import Any

from scipy.special import expit

from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.lazy import np

NAMES = ("hinge", "squared_hinge", "logistic", "squared", "exponential")


def value(loss: str, margin: Any, target: Any = 1.0) -> Array:
    """The loss; the two squared ones have a factor 1/2, as the learners' own."""
    m: Array = np.asarray(margin, dtype=float)
    short: Array = np.asarray(target - m)
    if loss == "hinge":
        return np.asarray(np.maximum(0, short))
    if loss == "squared_hinge":
        return np.asarray(np.maximum(0, short) ** 2 / 2)
    if loss == "logistic":
        return np.asarray(np.logaddexp(0, -m))
    if loss == "squared":
        return np.asarray(short**2 / 2)
    if loss == "exponential":
        return np.asarray(np.exp(-m))
    raise ParameterError(f"The loss must be one of {', '.join(NAMES)}. Got {loss!r} instead.")


def slope(loss: str, margin: Any, target: Any = 1.0) -> Array:
    """Minus the derivative in the margin: a gradient step is rate * slope * z."""
    m: Array = np.asarray(margin, dtype=float)
    short: Array = np.asarray(target - m)
    if loss == "hinge":
        return np.asarray((short > 0).astype(float))
    if loss == "squared_hinge":
        return np.asarray(np.maximum(0, short))
    if loss == "logistic":
        return np.asarray(expit(-m))
    if loss == "squared":
        return np.asarray(short)
    if loss == "exponential":
        return np.asarray(np.exp(-m))
    raise ParameterError(f"The loss must be one of {', '.join(NAMES)}. Got {loss!r} instead.")
