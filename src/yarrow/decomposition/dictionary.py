"""Online dictionary learning (Mairal, Bach, Ponce and Sapiro, 2009 and 2010)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from yarrow.decomposition.base import LARGEST, Blockwise, Floats, dense
from yarrow.decomposition.saved_state import numbers
from yarrow.errors import ModelFileError, needing
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import integer, number
from yarrow.saving import schema

_UNUSED = 1e-6  # an atom whose codes' squares sum to less than this a row explains nothing


@estimator
class OnlineDictionaryLearning(Blockwise):
    """Learn a dictionary of atoms, so that a few atoms of it add up to each row.

    Use it for patches of images, sounds and other signals where a row is made of few parts out of
    many: there may be more atoms than features. Use `OnlineSVD` where few directions explain all
    rows: it is much faster. Take off the mean of each row first if it does not matter (patches).

    A block of rows is coded with the atoms there are, by least squares with the sum of absolute
    codes times `alpha` (the lasso, by scikit-learn, which must be installed). What the atoms need
    to know of all rows so far is two sums, of codes with codes and of rows with codes; they are
    improved one after the other, never longer than 1 (Mairal et al. 2010, Algorithms 1 and 2). An
    atom that explains nothing is replaced by a row of the block, likelier one that is explained
    badly.

    The result is the same by any chunking: see `block_size`. Memory does not grow with the stream.

    Examples
    --------
    >>> rows = [[2.0, 0.0, 0.0], [0.0, 3.0, 3.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]] * 20
    >>> model = OnlineDictionaryLearning(n_components=2, alpha=0.1, block_size=4).fit(rows)
    >>> model.components_.round(2) + 0.0
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.71, 0.71]])
    """

    n_components: int = integer(default=10, doc="Atoms of the dictionary.", at_least=1)
    alpha: float = number(
        default=1.0, doc="How much a code costs: more makes them sparser.", above=0
    )
    block_size: int = integer(default=256, doc="Rows gathered for one update.", at_least=1)
    forgetting: float = number(
        default=1.0,
        doc="How fast the past fades: its sums are multiplied by (1 - 1/t) to this power in "
        "block t. 0 forgets nothing.",
        at_least=0,
    )
    max_sweeps: int = integer(
        default=5, doc="Maximum rounds over all atoms after a block.", at_least=1, at_most=10_000
    )
    seed: int = integer(default=0, doc="Seed of the rows that replace unused atoms.", at_least=0)

    @property
    def components_(self) -> Floats:
        """The atoms, a row each, none longer than 1."""
        return self._now()._atoms

    def objective(self, X: Any) -> float:
        """Mean of half the squared error and `alpha` times the sum of absolute codes of a row."""
        now = self._now()
        rows = dense(now._read(X)[0])
        codes = now._code(rows)
        error = rows - codes @ now._atoms
        return float(((error**2).sum() / 2 + self.alpha * np.abs(codes).sum()) / len(rows))

    # -- learning --------------------------------------------------------------------------------

    def _begin(self, n_features: int) -> None:
        self._atoms = np.zeros((self.n_components, n_features))
        self._with_codes = np.zeros((self.n_components, self.n_components))
        self._with_rows = np.zeros((self.n_components, n_features))

    def _learn_block(self, rows: Any) -> None:
        rows = dense(rows)
        if self._n_blocks == 1:
            self._atoms = self._first_atoms(rows)
        codes = _lasso(rows, self._atoms, self.alpha)
        fade = (1 - 1 / self._n_blocks) ** self.forgetting
        self._with_codes = fade * self._with_codes + codes.T @ codes
        self._with_rows = fade * self._with_rows + codes.T @ rows
        errors = ((rows - codes @ self._atoms) ** 2).sum(axis=1)
        self._improve()
        self._replace_unused(rows, errors)

    def _first_atoms(self, rows: Floats) -> Floats:
        """Rows of the first block, and directions at random where there are too few."""
        rng = np.random.default_rng(self.seed)
        atoms = rng.standard_normal(self._atoms.shape)
        some = rows[np.linalg.norm(rows, axis=1) > 0][: len(atoms)]
        atoms[: len(some)] = some
        atoms /= np.linalg.norm(atoms, axis=1)[:, None]
        return atoms

    def _improve(self) -> None:
        """Improve one atom after the other, given the sums."""
        atoms, usage = self._atoms.copy(), np.diagonal(self._with_codes)
        used = np.flatnonzero(usage > _UNUSED * self._n_rows)
        for _ in range(self.max_sweeps):
            before = atoms.copy()
            for j in used:
                atom = atoms[j] + (self._with_rows[j] - self._with_codes[j] @ atoms) / usage[j]
                atoms[j] = atom / max(1.0, float(np.linalg.norm(atom)))
            if np.abs(atoms - before).max() < 1e-4:
                break
        self._atoms = atoms

    def _replace_unused(self, rows: Floats, errors: Floats) -> None:
        """Put rows of the block in the place of unused atoms, likelier those explained badly."""
        kept = np.diagonal(self._with_codes) > _UNUSED * self._n_rows
        if kept.all() or not errors.any():
            return
        rng = np.random.default_rng([self.seed, self._n_blocks])
        chosen = rows[rng.choice(len(rows), size=int((~kept).sum()), p=errors / errors.sum())]
        self._atoms[~kept] = chosen / np.linalg.norm(chosen, axis=1)[:, None]
        # What little the sums hold of the old atom is not the new one's.
        self._with_codes = self._with_codes * np.outer(kept, kept)
        self._with_rows = self._with_rows * kept[:, None]

    def _expected(self) -> dict[str, schema.Schema]:
        atoms, most = self.n_components, LARGEST**2.5  # of sums of squares
        return super()._expected() | {
            "_atoms": numbers((atoms, "features"), -2, 2),
            "_with_codes": schema.Array("f8", (atoms, atoms), -most, most),
            "_with_rows": schema.Array("f8", (atoms, "features"), -most, most),
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not (np.linalg.norm(state["_atoms"], axis=1) <= 1 + 1e-6).all():
            raise ModelFileError("an atom is longer than 1")
        # No sum of products is larger than the sums of squares allow (Cauchy and Schwarz).
        squares = np.diagonal(state["_with_codes"])
        if not (squares >= 0).all():
            raise ModelFileError("a sum of squares is negative")
        codes = np.sqrt(squares)
        rows = LARGEST * np.sqrt(state["_n_rows"])
        for sums, most in (("_with_codes", np.outer(codes, codes)), ("_with_rows", codes * rows)):
            most = most.reshape(len(codes), -1) * (1 + 1e-6) + 1e-30
            if not (np.abs(state[sums]) <= most).all():
                raise ModelFileError("its sums do not belong to codes of rows")

    # -- using it --------------------------------------------------------------------------------

    @property
    def _n_codes(self) -> int:
        return self.n_components

    def _code(self, rows: Any) -> Floats:
        return _lasso(dense(rows), self._atoms, self.alpha)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows that codes stand for."""
        return self._decoded(X, self.components_)


def _lasso(rows: Floats, atoms: Floats, alpha: float) -> Floats:
    with needing("scikit-learn", "Coding with a dictionary", "compat"):
        from sklearn.decomposition import sparse_encode
    with warnings.catch_warnings():
        # After so many rounds a code is near enough to the best one.
        warnings.filterwarnings("ignore", message="Objective did not converge")
        codes: Floats = sparse_encode(
            rows, atoms, algorithm="lasso_cd", alpha=alpha, max_iter=1000, check_input=False
        )
    return codes
