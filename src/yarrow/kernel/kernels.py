"""Kernels: how alike two rows are, from their inner product or from the rows themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yarrow.errors import DataError, ParameterError
from yarrow.lazy import np
from yarrow.stream.arrays import Array

#: the value of a kernel for one row and many, from x.s, |x|^2 and each |s|^2
Closed = Callable[[Array, float, Array], Array]
NAMES = ("linear", "polynomial", "rbf")


def closed_form(name: str, gamma: float, degree: int, coef0: float) -> Closed:
    """A kernel that needs inner products only.

    >>> import numpy as np
    >>> rbf = closed_form("rbf", gamma=0.5, degree=3, coef0=1.0)
    >>> rbf(np.array([1.0, 0.0]), 1.0, np.array([1.0, 1.0])).round(4).tolist()
    [1.0, 0.3679]
    """
    if name == "linear":
        return lambda products, xx, ss: products
    if name == "polynomial":
        return lambda products, xx, ss: (gamma * products + coef0) ** degree
    if name == "rbf":
        # Rounding must not make a distance negative.
        return lambda products, xx, ss: np.exp(-gamma * np.maximum(xx + ss - 2 * products, 0))
    raise ParameterError(f"There is no kernel {name!r}; there are {', '.join(NAMES)}.")


def of_pairs(function: Callable[[dict[Any, float], dict[Any, float]], float]) -> Any:
    """A user's function of two rows, each a dict of its features, as one of a row and many."""

    def values(x: dict[Any, float], supports: list[dict[Any, float]]) -> Array:
        found = np.array([float(function(x, s)) for s in supports])
        if not np.isfinite(found).all():
            raise DataError("The kernel returned a number that is not finite.")
        return found

    return values
