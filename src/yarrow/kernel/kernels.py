"""Kernels: how alike two rows are, from their inner product or from the rows themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from yarrow.data.arrays import Array
from yarrow.errors import DataError, ParameterError
from yarrow.lazy import np

NAMES = ("linear", "polynomial", "rbf")


class Closed(NamedTuple):
    """A kernel that needs inner products only."""

    values: Callable[[Array, float, Array], Array]
    """Of one row and many, from x.s, |x|^2 and each |s|^2."""
    square: Callable[[float], float]
    """Of a row and itself, from |x|^2."""


def closed_form(name: str, gamma: float, degree: int, coef0: float) -> Closed:
    """A kernel by its name.

    >>> import numpy as np
    >>> rbf = closed_form("rbf", gamma=0.5, degree=3, coef0=1.0)
    >>> rbf.values(np.array([1.0, 0.0]), 1.0, np.array([1.0, 1.0])).round(4).tolist()
    [1.0, 0.3679]
    """
    if name == "linear":
        return Closed(lambda products, xx, ss: products, lambda xx: xx)
    if name == "polynomial":
        # numpy's power also for one number: Python's would raise where it overflows.
        return Closed(
            lambda products, xx, ss: (gamma * products + coef0) ** degree,
            lambda xx: float(np.float64(gamma * xx + coef0) ** degree),
        )
    if name == "rbf":
        return Closed(lambda products, xx, ss: _rbf(gamma, products, xx, ss), lambda xx: 1.0)
    raise ParameterError(f"There is no kernel {name!r}; there are {', '.join(NAMES)}.")


def _rbf(gamma: float, products: Array, xx: float, ss: Array) -> Array:
    values = xx + ss
    values -= 2 * products
    np.maximum(values, 0, out=values)  # rounding must not make a distance negative
    values *= -gamma
    np.exp(values, out=values)
    return values


def of_pairs(function: Callable[[dict[Any, float], dict[Any, float]], float]) -> Any:
    """A user's function of two rows, each a dict of its features, as one of a row and many."""

    def values(x: dict[Any, float], supports: list[dict[Any, float]]) -> Array:
        found = np.array([float(function(x, s)) for s in supports])
        if not np.isfinite(found).all():
            raise DataError("The kernel returned a number that is not finite.")
        return found

    return values
