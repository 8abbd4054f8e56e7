"""The Forgetron: a kernel Perceptron on a budget, with a mistake bound."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from yarrow.data.arrays import Array
from yarrow.estimator import estimator
from yarrow.kernel.base import Example, KernelClassifier
from yarrow.kernel.expansion import Expansion
from yarrow.lazy import np


class _Forgetting(Expansion):
    """Also how much harm forgetting has done so far, Q, which its mistake bound pays for."""

    per_column: ClassVar[tuple[str, ...]] = (*Expansion.per_column, "harm")

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.harm = np.zeros(1)  # one number for all columns: they are one function of (x, class)


@estimator
class ForgetronClassifier(KernelClassifier):
    """The self-tuned Forgetron (Dekel, Shalev-Shwartz & Singer 2008).

    A Perceptron that keeps at most `budget` rows: on a mistake beyond it, all coefficients shrink
    just enough for the harm of forgetting the oldest row to stay within 15/32 of the mistakes made,
    which is what its mistake bound asks for. Many classes are one function of row and class, which
    a mistake moves towards the true class and away from the predicted one; with two classes that is
    the paper's form. The bound asks for K(x, x) <= 1 and a budget of at least 83.
    Use it where a stream has no end and a curved boundary. A sample weight has no effect but for 0.
    Instead: `KernelRegularizedPAClassifier`, which asks for margins, under drift.

    >>> import numpy as np
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> model = ForgetronClassifier(gamma=2.0, budget=4).fit(X, y)
    >>> model.predict(X).tolist(), model.n_support_
    ([0, 1, 1, 0], 4)
    """

    _expansion: ClassVar[type[Expansion]] = _Forgetting

    def _update(self, state: _Forgetting, x: Example) -> bool:
        scores, true = (x.signs * x.margins)[:-1], int(np.argmax(x.signs))
        others = np.delete(np.arange(len(scores)), true)
        if not len(others):
            return False  # with a single class there is nothing to be mistaken for
        rival = int(others[np.argmax(scores[others])])
        if scores[true] > scores[rival]:
            return False
        # The signed example (x on the true class, -x on the rival) at the length of x itself.
        example = np.zeros(len(x.signs))
        example[true], example[rival] = math.sqrt(0.5), -math.sqrt(0.5)
        if state.is_full:
            example *= self._forget(state, x.values, example)
        state.column_updates += 1
        state.keep(x.row, state.next_place, coefficients=example)
        return True

    def _forget(self, state: _Forgetting, values: Array, example: Array) -> float:
        """Shrink the function for the oldest row to go, and tell by how much."""
        place = state.supports.oldest
        scores = state.scores(state.kernel_row_at(place)) + example * values[place]
        square, oldest = state.square_at(place), state.coefficients[place]
        size = float(np.linalg.norm(oldest))  # the sigma of the paper
        margin = float(scores @ oldest) / size  # its mu
        mistakes = float(state.column_updates[0]) + 1
        keep = shrinkage(size, margin, square, float(state.harm[0]), mistakes)
        state.harm += harm_of_forgetting(keep * size, keep * margin, square)
        state.coefficients[:] *= keep
        return keep


def harm_of_forgetting(size: float, margin: float, square: float = 1.0) -> float:
    """Psi: how much closer to any competitor the function may have been before a row went."""
    return size * size * square + 2 * size - 2 * size * margin


def shrinkage(size: float, margin: float, square: float, harm: float, mistakes: float) -> float:
    """The largest factor in (0, 1] that keeps all harm within 15/32 of the mistakes.

    Psi(phi*size, phi*margin) + harm <= 15/32 * mistakes is a quadratic in phi that holds at 0.

    >>> shrinkage(1.0, 1.0, 1.0, harm=0.0, mistakes=100)
    1.0
    >>> round(shrinkage(1.0, -1.0, 1.0, harm=0.0, mistakes=2), 4)
    0.3175
    """
    a = size * size * square - 2 * size * margin
    b, c = 2 * size, harm - 15 / 32 * mistakes
    if a + b + c <= 0:
        return 1.0
    # It holds at 0 and not at 1, so it crosses zero in between: the root with a rising slope.
    return -2 * c / (b + math.sqrt(b * b - 4 * a * c))
