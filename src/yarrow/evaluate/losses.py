"""Losses of a margin m and the target asked for: their values and minus their slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.special import expit

from yarrow.data.arrays import Array
from yarrow.errors import check_choice
from yarrow.lazy import np

#: of the margin, and of what it lacks: the loss, and minus its derivative in the margin
_LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "hinge": (lambda m, short: np.maximum(0, short), lambda m, short: (short > 0).astype(float)),
    "squared_hinge": (
        lambda m, short: np.maximum(0, short) ** 2 / 2,
        lambda m, short: np.maximum(0, short),
    ),
    "logistic": (lambda m, short: np.logaddexp(0, -m), lambda m, short: expit(-m)),
    "squared": (lambda m, short: short**2 / 2, lambda m, short: short),
    "exponential": (lambda m, short: np.exp(-m), lambda m, short: np.exp(-m)),
}
NAMES = tuple(_LOSSES)


def value(loss: str, margin: Any, target: Any = 1.0) -> Array:
    """The loss; the two squared ones have a factor 1/2, as the learners' own."""
    return _applied(loss, 0, margin, target)


def slope(loss: str, margin: Any, target: Any = 1.0) -> Array:
    """Minus the derivative in the margin: a gradient step is rate * slope * z."""
    return _applied(loss, 1, margin, target)


def _applied(loss: str, which: int, margin: Any, target: Any) -> Array:
    check_choice("loss", loss, NAMES)
    m = np.asarray(margin, dtype=float)
    return np.asarray(_LOSSES[loss][which](m, np.asarray(target - m)))
