"""Online PCA with a regret bound (Warmuth and Kuzmin, 2006 and 2008)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from yarrow.decomposition.base import (
    LARGEST,
    Decomposition,
    Floats,
    dense,
    flipped,
    is_orthonormal,
)
from yarrow.decomposition.saved_state import numbers
from yarrow.errors import DataError, ModelFileError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import integer, number
from yarrow.saving import schema

#: beyond it, what is left of a digit of a logarithm says nothing of an uncertainty
_LARGEST_LOG = 1e12


@estimator
class OnlinePCA(Decomposition):
    """Project rows on few directions, with a guarantee against the best ones in hindsight.

    Use it for streams that nothing is known about, drifting or chosen by an adversary, with up to
    a few hundred features: the compression loss of all rows is bounded by that of the best
    subspace and a term that grows with the root of it. Use `OnlineSVD` where rows are alike over
    time or have many features: here a row costs the cube of their number. Rows are not centred;
    put a scaler with a mean before it if they should be.

    It keeps an uncertainty for each of d orthogonal directions. They sum to 1, and none is above
    1 / (d - k): an average over projections that leave d - k directions out. A row multiplies the
    uncertainty of its direction down (a matrix exponential), and what is above the cap then is
    pushed back to it. `components_` are the k directions of the least uncertainty. The guarantee
    is for a projection drawn at random as `draw` does; `compression_loss_` is the expected loss of
    such draws, each row before it is learned.

    A row longer than `radius` counts as one of that length: the guarantee is for bounded rows.
    Each row is learned by itself, so all chunkings give the same result.

    Examples
    --------
    >>> rows = [[1.0, 0.1], [-0.9, 0.0], [1.0, -0.1]] * 10
    >>> pca = OnlinePCA(n_components=1, radius=2.0, eta=1.0).fit(rows)
    >>> pca.components_.round(1) + 0.0
    array([[1., 0.]])
    """

    n_components: int = integer(default=1, doc="Directions to project on (k).", at_least=1)
    eta: float = number(default=0.5, doc="How much a row changes; see `best_eta`.", above=0)
    radius: float = number(default=1.0, doc="Length of the longest row.", above=0)

    def _start(self, n_features: int) -> None:
        self._directions = np.eye(n_features)  # a column each, the least uncertain first
        self._logs = np.full(n_features, -math.log(n_features))  # of their uncertainties
        self._loss, self._n_rows = 0.0, 0

    # -- what has been learned -------------------------------------------------------------------

    @property
    def components_(self) -> Floats:
        """The directions of the least uncertainty, a row each, the least uncertain first."""
        self._check_fitted()
        return flipped(self._directions[:, : self._n_codes].T)[0]

    @property
    def uncertainties_(self) -> Floats:
        """How uncertain each direction is, in ascending order: the last ones at the cap."""
        self._check_fitted()
        uncertainties: Floats = np.exp(self._logs)
        return uncertainties

    @property
    def compression_loss_(self) -> float:
        """Expected squared length of what the projections left out of the rows as they came."""
        self._check_fitted()
        return self._loss * self.radius**2

    def loss_bound(self, best_loss: float) -> float:
        """The most that `compression_loss_` can be, if the best subspace in hindsight loses this.

        (eta L + (d - k) ln(d / (d - k))) / (1 - exp(-eta)), in units of the radius.
        """
        self._check_fitted()
        loss = best_loss / self.radius**2
        return self.radius**2 * (self.eta * loss + self._start_distance()) / -math.expm1(-self.eta)

    def best_eta(self, best_loss: float) -> float:
        """The `eta` for rows whose best subspace in hindsight loses about `best_loss`."""
        self._check_fitted()
        if best_loss <= 0:
            raise DataError(f"best_loss must be > 0, got {best_loss!r}")
        return math.log1p(math.sqrt(2 * self._start_distance() * self.radius**2 / best_loss))

    def draw(self, seed: int | None = None) -> Floats:
        """Draw the k directions of a projection at random, a row each, as the guarantee asks.

        A direction is left out with its uncertainty times d - k (systematic sampling).
        """
        now = self._now()
        start = np.random.default_rng(seed).random()
        steps = np.cumsum(now.uncertainties_ * now._left_out) + start
        left_out = np.diff(np.floor(steps), prepend=0.0) > 0
        excess = int(left_out.sum()) - now._left_out
        if excess:  # the sum of all is a whole number, but for rounding
            left_out[-1] = excess < 0
        return now._directions[:, ~left_out].T.copy()

    # -- learning --------------------------------------------------------------------------------

    @property
    def _n_codes(self) -> int:
        return min(self.n_components, len(self._logs))

    @property
    def _left_out(self) -> int:
        return len(self._logs) - self._n_codes

    def _start_distance(self) -> float:
        """Relative entropy between the best subspace and the start, times d - k."""
        size, left_out = len(self._logs), self._left_out
        return left_out * math.log(size / left_out) if left_out else 0.0

    def _learn(self, rows: Any) -> None:
        for place in range(rows.shape[0]):
            row = dense(rows[place : place + 1])[0]
            largest = float(np.abs(row).max(initial=0.0))
            # A row that is longer than the radius by far counts by its direction alone.
            self._learn_row(row / (largest if largest / LARGEST > self.radius else self.radius))

    def _learn_row(self, row: Floats) -> None:
        self._n_rows += 1
        if not self._left_out:
            return
        row = row / max(1.0, float(np.linalg.norm(row)))
        self._loss += self._left_out * float(np.exp(self._logs) @ (row @ self._directions) ** 2)
        logs = (self._directions * self._logs) @ self._directions.T
        logs -= self.eta * np.outer(row, row)
        if not np.abs(logs).max(initial=0.0) <= _LARGEST_LOG:
            raise DataError("The step for this row is too large a number: choose a smaller 'eta'.")
        values, self._directions = np.linalg.eigh(logs)
        self._logs = _capped(values, self._left_out)

    def _expected(self) -> dict[str, schema.Schema]:
        return super()._expected() | {
            "_directions": numbers(("features", "features"), -2, 2),
            "_logs": numbers(("features",), at_most=1e-9),
            "_loss": schema.Number(at_least=0),
            "_n_rows": schema.Whole(at_most=2**53),
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not is_orthonormal(state["_directions"]):
            raise ModelFileError("its directions are not orthonormal")
        if sizes["features"] and not abs(np.exp(state["_logs"]).sum() - 1) <= 1e-6:
            raise ModelFileError("its uncertainties do not sum to 1")

    # -- using it --------------------------------------------------------------------------------

    def _code(self, rows: Any) -> Floats:
        codes: Floats = rows @ self.components_.T
        return codes

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows that the numbers from `transform` stand for."""
        return self._decoded(X, self.components_)


def _capped(logs: Floats, parts: int) -> Floats:
    """Return the nearest weights (by relative entropy) that sum to 1, none above 1 / parts.

    Weights are given and returned as logarithms, in ascending order. The largest are set to the
    cap and the others scaled up, until none of these is above it.
    """
    from scipy.special import logsumexp

    cap = -math.log(parts)
    for at_cap in range(parts):
        rest = logs[: len(logs) - at_cap]
        scaled = rest - logsumexp(rest) + math.log1p(-at_cap / parts)
        if scaled[-1] <= cap + 1e-12:
            return np.concatenate([scaled, np.full(at_cap, cap)])
    raise AssertionError("the last one cannot be above the cap")
