"""AROW in the space of a kernel."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from yarrow._core import rules
from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.kernel.base import Example, KernelClassifier
from yarrow.kernel.expansion import Expansion
from yarrow.lazy import np
from yarrow.parameters import choice, number
from yarrow.saving import schema


class _Gaussian(Expansion):
    """Also a matrix M a column: the covariance is I - sum_ij M[i, j] * phi(row i) phi(row j)'.

    M is the inverse of R + K over the rows that the column has learned, with R = diag(r) and K
    their kernel (Crammer, Kulesza & Dredze 2013, section 5), and zero elsewhere.
    """

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self._room = np.zeros((1, 16, 16))  # the matrices, with room for more places

    @property
    def matrices(self) -> Array:
        """M of every column. Change it in place."""
        n = len(self.supports)
        return self._room[:, :n, :n]

    def add_class(self, label: Any) -> None:
        super().add_class(label)
        self._room = np.insert(self._room, -1, self._room[-1], axis=0)

    def make_room(self) -> int:
        """Make sure that one more row fits, and tell how many do."""
        size = _capacity(len(self.supports) + 1, self.budget)
        if self._room.shape[1] < size:
            more = size - self._room.shape[1]
            self._room = np.pad(self._room, ((0, 0), (0, more), (0, more)))
        return size

    def add(self, c: int, line: Array, sign: float) -> None:
        """M of a column += sign * line line', in one pass of BLAS."""
        from scipy.linalg.blas import dger

        # BLAS counts by columns; for a symmetric matrix that is the same.
        dger(sign, line, line, a=self._room[c].T, overwrite_a=True)

    def learn(self, c: int, place: int, line: Array, step: float, share: float) -> float:
        """f += step * line, M += share * line line', over the rows kept and a new one of entry 1.

        The new row comes in at `place`; a row that is there goes, as if its confidence had never
        been counted: a smaller R + K. What it said is said by the other rows as well as they can
        (Csato & Opper 2002): the best image of phi(row) among theirs, by ridge regression, stands
        in its line of M. Returns the new row's coefficient.
        """
        n = len(self.supports)
        self.coefficients[:, c] += step * line[:n]
        own, gone = 0.0, line
        if place < n:
            gone = self._room[c, place] + share * line[place] * line
            own, gone[place] = float(gone[place]), share * line[place]
            self._room[c, place], self._room[c, :, place] = 0, 0
        line[place] = 1
        if share:
            self.add(c, math.sqrt(share) * line, 1.0)
        if own <= 0:  # nobody goes, or one that this column has never learned
            return step
        said = float(self.coefficients[place, c]) / own
        self.coefficients[:, c] -= said * gone[:n]
        self.add(c, gone / math.sqrt(own), -1.0)
        return step - said * float(gone[place])

    def tensors(self) -> dict[str, Array]:
        return super().tensors() | {"matrices": self.matrices}

    def expected(self) -> schema.Fields:
        matrices = schema.Array("f8", ("columns", "places", "places"))
        return schema.Fields({**super().expected().fields, "matrices": matrices}, closed=True)

    def restore(self, tensors: Any, classes: list[Any]) -> None:
        super().restore(tensors, classes)
        n, columns = len(self.supports), len(classes) + 1
        size = _capacity(n, self.budget)
        self._room = np.zeros((columns, size, size))
        self._room[:, :n, :n] = tensors["matrices"]

    @property
    def nbytes(self) -> int:
        return super().nbytes + int(self._room.nbytes)


def _capacity(places: int, budget: int | None) -> int:
    """Room for so many places: twice as much whenever it is full, up to the budget.

    A multiple of 16 that follows from the places alone: BLAS then does the same after a save.
    """
    size = 16
    while size < places:
        size *= 2
    return size if budget is None else max(16, min(size, -(-budget // 16) * 16))


@estimator
class KernelAROWClassifier(KernelClassifier):
    """AROW with a kernel (Crammer, Kulesza & Dredze 2013, by their representer theorem).

    Beside its function, each class keeps the confidence in it, as a matrix over the rows kept: a
    row costs the *square* of their number, so give it a `budget` of some hundreds. Beyond it the
    oldest row goes, and with it the confidence that it gave. A sample weight divides r.
    Use it where classes bend around each other and labels are noisy.
    Instead: `KernelPassiveAggressiveClassifier` for more rows; `AROWClassifier` without a kernel.

    >>> import numpy as np
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> KernelAROWClassifier(gamma=2.0, r=0.1).fit(X, y).predict(X).tolist()
    [0, 1, 1, 0]
    """

    r: float = number(default=1.0, doc="Caution: the larger, the smaller each update.", above=0)
    loss: Literal["squared_hinge", "hinge"] = choice(
        default="squared_hinge",
        options=("squared_hinge", "hinge"),
        doc="Loss function of the margin.",
    )

    _expansion: ClassVar[type[Expansion]] = _Gaussian

    def _update(self, state: _Gaussian, x: Example) -> bool:
        short = np.flatnonzero(x.margins < 1)
        if not len(short):
            return False
        # M k, a line a column; all at once would first copy the matrices.
        spread = np.array([state.matrices[c] @ x.values for c in short.tolist()])
        variances = np.maximum(x.square - spread @ x.values, 0)
        rule = {"squared_hinge": rules.arow, "hinge": rules.arow_hinge}[self.loss]
        told = {0: x.margins[short], 4: variances}
        alpha, kappa, _ = self._steps(rule, [self.r], state.t, x, told).T
        wants = np.zeros(len(x.signs), dtype=bool)
        wants[short] = alpha != 0
        if not self._is_kept(state, wants):
            return False
        place = state.next_place
        lines = np.zeros((len(x.signs), state.make_room()))  # Sigma phi(x), but for x itself
        lines[short, : len(state.supports)] = -spread
        steps, shares = np.zeros(len(x.signs)), np.zeros(len(x.signs))
        steps[short] = alpha * x.signs[short]
        shares[short] = kappa / (1 + kappa * variances)
        own = [
            state.learn(c, place, lines[c], float(steps[c]), float(shares[c]))
            for c in range(len(x.signs))
        ]
        state.column_updates += wants
        state.keep(x.row, place, coefficients=np.array(own))
        return bool(wants[:-1].any())
