"""DUOL: learning a row and correcting the one kept row that it contradicts most."""

from __future__ import annotations

from typing import ClassVar

from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.kernel.base import Example, KernelClassifier
from yarrow.kernel.expansion import Expansion, check_steps
from yarrow.lazy import np
from yarrow.parameters import number
from yarrow.saving import schema

#: an update often makes a margin 1, but for rounding, which must not decide who is corrected
_ROUNDING = 1e-9


class _WithMargins(Expansion):
    """Also the label of every kept row and its margin, in every column that has learned it.

    In the other columns both are 0: there the row is nobody's rival.
    """

    per_place: ClassVar[tuple[str, ...]] = ("coefficients", "signs", "margins")

    def expected(self) -> schema.Fields:
        signs = schema.Array("f8", ("places", "columns"), -1, 1)
        return schema.Fields({**super().expected().fields, "signs": signs}, closed=True)

    @property
    def signs(self) -> Array:
        return self._tables["signs"][: len(self.supports)]

    @property
    def margins(self) -> Array:
        return self._tables["margins"][: len(self.supports)]


@estimator
class DUOLClassifier(KernelClassifier):
    """Double updating online learning (Zhao, Hoi & Jin 2011).

    A row whose margin is below 1 is kept. Among the rows that its class has kept and whose margin
    is not above 1, the one that contradicts it most, y*y'*K(x, x') <= -rho, has its coefficient
    changed at the same time: both by the exact solution of the dual problem in these two, each
    coefficient between 0 and C.
    Use it where a few rows must say much. A sample weight multiplies C.
    Instead: `KernelPassiveAggressiveClassifier`, which is cheaper; its margins are not corrected.

    >>> import numpy as np
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> DUOLClassifier(gamma=2.0, rho=0.1).fit(X, y).predict(X).tolist()
    [0, 1, 1, 0]
    """

    C: float = number(default=1.0, doc="The largest coefficient of a row.", above=0)
    rho: float = number(
        default=0.0, doc="Conflict above which the support vector is updated, too.", at_least=0
    )

    _expansion: ClassVar[type[Expansion]] = _WithMargins

    def _update(self, state: _WithMargins, x: Example) -> bool:
        wants = x.margins < 1
        if x.square <= 0 or not self._is_kept(state, wants):
            return False
        short = np.flatnonzero(wants)
        price = self.C * x.weight
        new = np.zeros(len(x.signs))  # the row's own coefficients, without their signs
        changes: list[tuple[int, int, float]] = []  # (place, column, change of the coefficient)
        for c in short.tolist():
            partner = self._conflict(state, x.values, float(x.signs[c]), c)
            if partner is None:
                new[c] = min(price, float(1 - x.margins[c]) / x.square)
                continue
            other = float(state.coefficients[partner, c] * state.signs[partner, c])
            new[c], change = best_pair(
                losses=(1 - float(x.margins[c]), 1 - float(state.margins[partner, c])),
                squares=(x.square, state.square_at(partner)),
                product=float(x.signs[c] * state.signs[partner, c] * x.values[partner]),
                limits=(price, -other, max(self.C, other) - other),
            )
            changes.append((partner, c, change * float(state.signs[partner, c])))
        check_steps(new)
        step = new * x.signs
        own = x.margins + x.signs * step * x.square
        rows = {place: state.kernel_row_at(place) for place, _, _ in changes}
        oldest = state.next_place
        if state.is_full and oldest not in rows:
            rows[oldest] = state.kernel_row_at(oldest)
        state.margins[:] += state.signs * np.outer(x.values, step)
        for place, c, change in changes:
            state.coefficients[place, c] += change
            state.margins[:, c] += state.signs[:, c] * change * rows[place]
            own[c] += x.signs[c] * change * x.values[place]
        if state.is_full:  # it goes, and all margins lose what it gave
            gone = state.coefficients[oldest]
            state.margins[:] -= state.signs * np.outer(rows[oldest], gone)
            own -= x.signs * gone * x.values[oldest]
        state.keep(x.row, oldest, coefficients=step, signs=wants * x.signs, margins=wants * own)
        state.column_updates += wants
        return bool(wants[:-1].any())

    def _conflict(self, state: _WithMargins, values: Array, sign: float, c: int) -> int | None:
        """The kept row that contradicts the new one most, if one does."""
        products = sign * state.signs[:, c] * values
        products[state.margins[:, c] > 1 + _ROUNDING] = np.inf
        if not len(products):
            return None
        place = int(np.argmin(products))
        return place if products[place] <= -self.rho and products[place] < 0 else None


def best_pair(
    *,
    losses: tuple[float, float],
    squares: tuple[float, float],
    product: float,
    limits: tuple[float, float, float],
) -> tuple[float, float]:
    """The coefficient g of a new row and the change d of an old one that raise the dual most.

    max g*l_1 + d*l_2 - (k_1*g^2 + k_2*d^2)/2 - w*g*d  over  0 <= g <= limits[0] and
    limits[1] <= d <= limits[2]: a concave function of two numbers over a rectangle, whose highest
    point is where its gradient vanishes, or the highest on one of the four sides.

    >>> best_pair(losses=(1, 1), squares=(1, 1), product=-0.5, limits=(9, 0, 9))
    (2.0, 2.0)
    >>> best_pair(losses=(1, 1), squares=(1, 1), product=-0.5, limits=(1, 0, 1))
    (1.0, 1.0)
    """
    (l1, l2), (k1, k2), w = losses, squares, product
    top, low, high = limits
    determinant = k1 * k2 - w * w
    if determinant > 0:
        g, d = (k2 * l1 - w * l2) / determinant, (k1 * l2 - w * l1) / determinant
        if 0 <= g <= top and low <= d <= high:
            return float(g), float(d)

    def value(point: tuple[float, float]) -> float:
        g, d = point
        return g * l1 + d * l2 - (k1 * g * g + k2 * d * d) / 2 - w * g * d

    sides = [(g, min(max((l2 - w * g) / k2, low), high)) for g in (0.0, top) if k2 > 0]
    sides += [(min(max((l1 - w * d) / k1, 0.0), top), d) for d in (low, high) if k1 > 0]
    g, d = max(sides, key=value)
    return float(g), float(d)
