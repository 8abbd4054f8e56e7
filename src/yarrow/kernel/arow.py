"""AROW in the space of a kernel."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from yarrow._core import rules
from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.kernel.base import Example, KernelClassifier
from yarrow.kernel.expansion import Expansion
from yarrow.kernel.support import Row
from yarrow.lazy import np
from yarrow.parameters import choice, number
from yarrow.stream.arrays import Array


class _Gaussian(Expansion):
    """Also a matrix M a column: the covariance is I - sum_ij M[i, j] * phi(row i) phi(row j)'.

    M is the inverse of R + K over the rows that the column has learned, with R = diag(r) and K
    their kernel (Crammer, Kulesza & Dredze 2013, section 5), and zero elsewhere.
    """

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.matrices = np.zeros((1, 0, 0))

    def add_class(self, label: Any) -> None:
        super().add_class(label)
        self.matrices = np.insert(self.matrices, -1, self.matrices[-1], axis=0)

    def append(self, row: Row, coefficients: Array) -> None:
        super().append(row, coefficients)
        self.matrices = np.pad(self.matrices, ((0, 0), (0, 1), (0, 1)))

    def remove(self, place: int) -> None:
        """Let a row go as if its confidence had never been counted: a smaller R + K.

        What it said is said by the other rows as well as they can (Csato & Opper 2002): the best
        image of phi(row) among theirs, by ridge regression, stands in the same line of M.
        """
        last = len(self.supports) - 1
        line = self.matrices[:, place]
        own = line[:, place].copy()
        shares = line / np.where(own > 0, own, 1.0)[:, None]
        gone = self.coefficients[place].copy()
        self.coefficients = self.coefficients - (shares * gone[:, None]).T
        super().remove(place)
        self.matrices = self.matrices - shares[:, :, None] * line[:, None, :]
        self.matrices[:, place], self.matrices[:, :, place] = (
            self.matrices[:, last].copy(),
            self.matrices[:, :, last].copy(),
        )
        if place != last:
            self.matrices[:, place, place] = self.matrices[:, last, last]
        self.matrices = np.ascontiguousarray(self.matrices[:, :last, :last])

    def tensors(self) -> dict[str, Array]:
        return super().tensors() | {"matrices": self.matrices}

    def restore(self, tensors: Any, classes: list[Any]) -> None:
        super().restore(tensors, classes)
        self.matrices = np.array(tensors["matrices"])

    @property
    def nbytes(self) -> int:
        return super().nbytes + int(self.matrices.nbytes)


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

    r: float = number(default=1.0, doc="Caution: how little one row may change.", above=0)
    loss: Literal["squared_hinge", "hinge"] = choice(
        default="squared_hinge",
        options=("squared_hinge", "hinge"),
        doc="What a short margin costs.",
    )

    _expansion: ClassVar[type[Expansion]] = _Gaussian

    def _update(self, state: _Gaussian, x: Example) -> bool:
        short = np.flatnonzero(x.margins < 1)
        if not len(short):
            return False
        spread = state.matrices[short] @ x.values  # M k, a line a column
        told = np.ones((len(short), 9))  # margin, target, zz, ww, v, weight, t, updates, memory
        told[:, 0], told[:, 2] = x.margins[short], x.square
        told[:, 4] = np.maximum(x.square - spread @ x.values, 0)
        told[:, 5], told[:, 6] = x.weight, state.t
        rule = {"squared_hinge": rules.arow, "hinge": rules.arow_hinge}[self.loss]
        alpha, kappa, _ = np.asarray(rule.steps(told, [self.r])).T
        if not (np.isfinite(alpha).all() and np.isfinite(kappa).all()):
            raise DataError("The step for this row is too large a number.")
        if not alpha.any():
            return False
        direction = np.column_stack([-spread, np.ones(len(short))])  # Sigma phi(x)
        state.append(x.row, np.zeros(len(x.signs)))
        state.coefficients[:, short] += alpha * x.signs[short] * direction.T
        shrink = kappa / (1 + kappa * told[:, 4])
        for line, c, share in zip(direction, short.tolist(), shrink.tolist(), strict=True):
            if share:
                state.matrices[c] += share * np.outer(line, line)
        state.column_updates[short] += alpha != 0
        if self.budget is not None and len(state.supports) > self.budget:
            state.remove(state.supports.oldest)
        return True
