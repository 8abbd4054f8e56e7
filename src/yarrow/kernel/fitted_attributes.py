"""What a kernel classifier shows of itself: the rows it keeps, and counts."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array
from yarrow.lazy import np


class FittedAttributes:
    """Part of every kernel classifier."""

    _fitted: Any
    _class_order: Any

    @property
    def n_support_(self) -> int:
        """Rows that the functions of the classes seen are made of."""
        return len(self._support_places())

    @property
    def support_vectors_(self) -> list[dict[Any, float]]:
        """These rows, as dicts of their features."""
        supports = self._fitted.supports
        return [dict(supports.dict_at(place)) for place in self._support_places().tolist()]

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of these rows: a line of them for each class of `classes_`."""
        table = self._fitted.coefficients[self._support_places(), :-1]
        by_class: Array = table.T[self._class_order()]
        return by_class

    def _support_places(self) -> Array:
        """Places with a coefficient of a class seen; others wait for a class that may come."""
        return np.flatnonzero(self._fitted.coefficients[:, :-1].any(axis=1))

    @property
    def n_updates_(self) -> int:
        """Rows that changed the function of a class seen."""
        return int(self._fitted.updates)

    @property
    def n_mistakes_(self) -> int:
        """Rows that were predicted wrongly before they were learned."""
        return int(self._fitted.mistakes)
