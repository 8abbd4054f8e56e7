"""Selection as a game of two players (Shen & Dietterich, 4.26), solved by a linear program."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from yarrow.errors import DataError, check_value
from yarrow.estimator import estimator
from yarrow.feature_selection.base import Floats, Selector, enlarged, entropy_terms
from yarrow.features.base import Row
from yarrow.lazy import np


def solve_game(rewards: Any, k: int) -> tuple[Floats, float]:
    """Solve max over u, min over v of u.M.v, with 0 <= u, v <= 1 and sum(u) = sum(v) = k.

    This is (4.26) with the integers relaxed. For a given u the other player takes the k smallest
    entries of c = u.M, whose sum is by duality the largest k*a - sum(b) with a - b_j <= c_j and
    b >= 0: which leaves one linear program over u, a and b.

    Returns u and the value of the game.

    >>> u, value = solve_game([[1.0, 0.0], [0.0, 1.0]], k=1)
    >>> u.tolist(), round(value, 6)
    ([0.5, 0.5], 0.5)
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    M = np.asarray(rewards, dtype=np.float64)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or not np.isfinite(M).all():
        raise DataError("The rewards must be a square matrix of finite numbers.")
    d = len(M)
    check_value(1 <= k <= d, "k", k, f"between 1 and {d}")
    reach = hstack([csr_array(-M.T), csr_array(np.ones((d, 1))), -eye_array(d)])
    found = linprog(
        np.concatenate([np.zeros(d), [-k], np.ones(d)]),
        A_ub=reach.tocsr(),
        b_ub=np.zeros(d),
        A_eq=np.concatenate([np.ones(d), np.zeros(d + 1)])[None],
        b_eq=[k],
        bounds=[(0, 1)] * d + [(None, None)] + [(0, None)] * d,
        method="highs",
        options={"presolve": False},  # it finds nothing here, and takes a third of the time
    )
    if found.status != 0:
        raise DataError(f"The linear program has not been solved: {found.message}")
    return np.clip(found.x[:d], 0.0, 1.0), float(-found.fun)


@estimator
class GameSelection(Selector):
    """Keep the k features that do best in the worst case (Shen & Dietterich, section 4.3).

    Two players choose k features each; the reward of a pair is the mutual information I(xi; xj) of
    the features. `scores_` is the learner's strategy u of the relaxed game (`solve_game`), and the
    k features with the largest u are selected. Labels play no part.

    Use it for some hundred features at most: it counts all pairs, and solves a linear program when
    it is asked what is selected. Instead: `InformationGain`, for any number of features. Real
    values count by bins, see `edges`.

    >>> selector = GameSelection(k=2).fit([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]])
    >>> selector.get_support(indices=True).tolist()[-1]  # the first two are the same
    2
    """

    river_bases: ClassVar[tuple[str, ...]] = ("MiniBatchTransformer",)

    def _start(self) -> None:
        self._pairs = np.zeros((0, 0))  # (feature, bin) with (feature, bin); the bin of 0 is empty
        self._n_rows = 0

    def learn_one(self, x: Row) -> None:
        """Count one row."""
        self._begin()
        slots, bins = self._counted(x)
        self._make_room()
        at = slots * self._n_bins + bins
        self._pairs[np.ix_(at, at)] += 1
        self._n_rows += 1

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything, then count all rows."""
        return self._learn_array(X, first=True)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Count all rows."""
        return self._learn_array(X, first=None)

    def _learn_array(self, X: Any, first: bool | None) -> Self:
        from scipy.sparse import csr_array

        self._check_parameters()
        array, names = self._read(X, first)
        if first:
            self.__dict__.pop("_slots", None)
        self._begin()
        rows, slots, bins = self._counted_in(array, names)
        self._make_room()
        shape = (array.shape[0], len(self._pairs))
        held = csr_array((np.ones(len(rows)), (rows, slots * self._n_bins + bins)), shape=shape)
        self._pairs += (held.T @ held).toarray()
        self._n_rows += array.shape[0]
        self._remember(array, names)
        return self

    def _make_room(self) -> None:
        need = len(self._slots) * self._n_bins
        self._pairs = enlarged(self._pairs, need, need)

    def rewards(self) -> Floats:
        """I(xi; xj) of all features in `feature_names_`, in nats."""
        self._check_fitted()
        d, bins, zero = len(self._slots), self._n_bins, self._zero_bin
        pairs = self._pairs[: d * bins, : d * bins]
        alone = np.diagonal(pairs).reshape(d, bins).copy()
        joint = pairs.reshape(d, bins, d, bins).transpose(0, 2, 1, 3).copy()
        # What was not counted is 0: the rest of each feature's values, then of each pair's.
        joint[:, :, zero, :] = alone[None, :, :] - joint.sum(axis=2)
        alone[:, zero] = self._n_rows - alone.sum(axis=1)
        joint[:, :, :, zero] = alone[:, None, :] - joint.sum(axis=3)
        n = float(max(1, self._n_rows))
        single = entropy_terms(alone).sum(axis=1)
        both = entropy_terms(joint).sum(axis=(2, 3))
        shared: Floats = (both - single[:, None] - single[None, :] + n * np.log(n)) / n
        return np.maximum(shared, 0.0)

    def _merits(self) -> Floats:
        d = len(self._slots)
        return solve_game(self.rewards(), min(self.k, d))[0] if d else np.zeros(0)
