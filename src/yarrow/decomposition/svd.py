"""Online singular value decomposition (Brand, 2002 and 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from yarrow.data.arrays import check_finite, place_of
from yarrow.decomposition.base import (
    LARGEST,
    Decomposition,
    Floats,
    dense,
    flipped,
    is_orthonormal,
)
from yarrow.decomposition.factors import Factors, by_squares, fill, orthonormal
from yarrow.decomposition.saved_state import numbers
from yarrow.errors import DataError, ModelFileError, ParameterError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.parameters import flag, integer, number
from yarrow.saving import schema

#: a file may claim any number of rows that hold no number, and learning makes room for each
_MOST_EMPTY = 10**6
#: numbers of a block that a file holds as a whole; of larger ones it has the rows that wait
_MOST_WRITTEN = 1 << 22


@estimator
class OnlineSVD(Decomposition):
    """The singular value decomposition of all rows so far, kept up to date as rows arrive.

    Use it to compress a stream of numeric rows to few numbers each (with `center=True` this is
    principal component analysis), to see which directions a stream varies in, or to fill in
    missing values (NaN). Use `OnlinePCA` where the stream may be chosen by an adversary and a
    guarantee is asked for, `OnlineDictionaryLearning` where few atoms of many should explain each
    row, and `OnlineLDA` for counts of words.

    A block of new rows is projected on the basis; what is left over extends the basis, a small
    matrix is decomposed, and the basis is rotated (Brand 2006). Directions whose singular value is
    below `threshold` times the largest are not kept, and no more than `rank` (and `guard`) ever
    are. While that ceiling is not reached the result is the singular value decomposition itself.

    Rows are gathered to blocks of `block_size` whichever way they come, so all chunkings give the
    same result; asking for a result never changes what is learned. With `block_size=1` each row is
    an update of its own. Memory is (rank + guard + block_size) rows, unless `keep_left` is set.

    A value that is NaN is filled in by the row of the current subspace that is nearest in the
    values that are known (before there is a subspace, by the mean of the block).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> svd = OnlineSVD(rank=2).fit(X)
    >>> svd.singular_values_
    array([3., 2.])
    >>> svd.inverse_transform(svd.transform([[1.0, 1.0]]))
    array([[1., 1.]])
    """

    rank: int = integer(default=10, doc="Maximum number of components.", at_least=1)
    center: bool = flag(default=False, doc="Subtract the mean so far, as PCA does.")
    threshold: float = number(
        default=1e-12,
        doc="Directions with a singular value below this part of the largest are dropped.",
        at_least=0,
        below=1,
    )
    guard: int = integer(
        default=10, doc="Components kept beyond that number, to lose less.", at_least=0
    )
    block_size: int = integer(default=100, doc="Rows gathered for one update.", at_least=1)
    keep_left: bool = flag(
        default=False, doc="Keep the left vectors, a row for each row learned: for `add_columns`."
    )

    _takes_new_columns: ClassVar[bool] = True
    _takes_missing: ClassVar[bool] = True
    sklearn_tags: ClassVar[dict[str, Any]] = {"input_tags.allow_nan": True}
    _not_saved: ClassVar[tuple[str, ...]] = ("_seen",)

    # -- what has been learned -------------------------------------------------------------------

    @property
    def components_(self) -> Floats:
        """Right singular vectors, a row each, the most important first."""
        return self._factors().basis[: self.rank]

    @property
    def singular_values_(self) -> Floats:
        """Singular values, the largest first."""
        return self._factors().values[: self.rank]

    @property
    def left_(self) -> Floats:
        """Left singular vectors, a row for each row learned; needs `keep_left`."""
        left = self._factors().left
        if left is None:
            raise ParameterError("The left singular vectors are kept with keep_left=True only.")
        return left[:, : self.rank]

    @property
    def mean_(self) -> Floats:
        """Mean of each feature, with `center`; else zeros."""
        return self._factors().mean

    @property
    def explained_variance_(self) -> Floats:
        """Variance of the rows along each direction."""
        return self.singular_values_**2 / max(self.n_rows_ - 1, 1)

    @property
    def n_rows_(self) -> int:
        """Rows learned, less those forgotten."""
        return self._factors().n_rows

    @property
    def truncation_error_(self) -> float:
        """Root of the sum of squares of what was cut off: the rows are not reconstructed worse."""
        factors = self._factors()
        return math.sqrt(factors.cut + float((factors.values[self.rank :] ** 2).sum()))

    # -- learning --------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.center and self.keep_left:
            raise ParameterError(
                "keep_left needs center=False: a new mean changes all left vectors."
            )

    def _start(self, n_features: int) -> None:
        self._basis, self._values = np.zeros((0, n_features)), np.zeros(0)
        self._left = np.zeros((0, 0))
        self._mean, self._cut, self._n_rows = np.zeros(n_features), 0.0, 0
        self._begin_block(n_features)
        self._seen: list[Factors] = []  # the waiting rows learned, for those who ask

    def _begin_block(self, n_features: int) -> None:
        """For the rows of the next update: places beyond those that wait may be written at will."""
        self._waiting = np.zeros((0, n_features))
        self._missing = np.zeros((0, n_features), bool)
        self._n_waiting = 0

    def _make_room(self, n_rows: int) -> None:
        room = len(self._waiting)
        if n_rows > room:
            more = [(0, max(n_rows, min(2 * room, self.block_size)) - room), (0, 0)]
            self._waiting, self._missing = np.pad(self._waiting, more), np.pad(self._missing, more)

    def _widen(self, n_features: int) -> None:
        more = [(0, 0), (0, n_features - len(self._mean))]
        self._basis, self._waiting = np.pad(self._basis, more), np.pad(self._waiting, more)
        self._missing = np.pad(self._missing, more)
        self._mean = np.pad(self._mean, more[1])

    def _learn(self, rows: Any) -> None:
        if self._n_waiting >= self.block_size:  # the parameter was changed
            self._settle()
        done = 0
        while done < rows.shape[0]:
            count = min(rows.shape[0] - done, self.block_size - self._n_waiting)
            places = slice(self._n_waiting, self._n_waiting + count)
            self._make_room(places.stop)
            block = dense(rows[done : done + count])
            self._missing[places] = np.isnan(block)
            self._waiting[places] = np.where(self._missing[places], 0.0, block)
            self._n_waiting += count
            done += count
            self._seen = []
            if self._n_waiting == self.block_size:
                self._settle()

    def _settle(self, factors: Factors | None = None) -> None:
        """Learn the waiting rows for good, or take what these factors make of all rows."""
        factors = factors or self._factors()
        self._basis, self._values, self._mean = factors.basis, factors.values, factors.mean
        self._n_rows, self._cut = factors.n_rows, factors.cut
        if factors.left is not None:
            self._left = factors.left
        self._begin_block(len(self._mean))
        self._seen = []

    def _factors(self) -> Factors:
        """All that is known, the rows that wait among it, as of one moment."""
        return self._now()._all_factors()

    def _all_factors(self) -> Factors:
        left = self._left if self.keep_left else None
        old = Factors(self._basis, self._values, left, self._mean, self._n_rows, self._cut)
        if self._n_waiting == 0:
            return old
        seen = self._seen
        if not seen:
            rows = self._waiting[: self._n_waiting].copy()
            missing = self._missing[: self._n_waiting]
            if missing.any():
                fill(rows, missing, old)
            seen.append(self._with_rows(old, rows))
        return seen[0]

    def _with_rows(self, old: Factors, rows: Floats) -> Factors:
        """Add rows to the decomposition."""
        n_rows, mean = old.n_rows + len(rows), old.mean
        if self.center:
            # The scatter of both together is that of each, and a row for the means' distance.
            own = rows.mean(axis=0)
            shift = math.sqrt(old.n_rows * len(rows) / n_rows) * (own - old.mean)
            mean = old.mean + (own - old.mean) * (len(rows) / n_rows)
            rows = np.vstack([rows - own, shift])
        left = None
        if old.left is not None:
            left = np.zeros((n_rows, old.left.shape[1] + len(rows)))
            left[: old.n_rows, : old.left.shape[1]] = old.left
            left[old.n_rows :, old.left.shape[1] :] = np.eye(len(rows))
        basis, values, turn, cut = self._extended(old.basis, old.values, rows)
        if left is not None:
            left = left @ turn
        return Factors(basis, values, left, mean, n_rows, old.cut + cut)

    def _extended(
        self, basis: Floats, values: Floats, rows: Floats
    ) -> tuple[Floats, Floats, Floats, float]:
        """Decompose diag(values) @ basis with rows below it.

        Returns the new basis and singular values, how the left vectors turn, and the sum of the
        squares of the singular values that are cut off.
        """
        from scipy.linalg import qr, svd

        rank = len(basis)
        inside = rows @ basis.T
        at_ceiling = rank == self.rank + self.guard and rank + len(rows) <= rows.shape[1]
        if at_ceiling and (found := by_squares(basis, values, rows, inside)) is not None:
            return found
        outside = rows - inside @ basis
        again = outside @ basis.T  # rounding leaves some of the basis in it: once more is enough
        inside += again
        outside -= again @ basis
        new, triangle = qr(outside.T, mode="economic", overwrite_a=True, check_finite=False)
        small = np.zeros((rank + len(rows), rank + new.shape[1]))
        np.fill_diagonal(small[:rank, :rank], values)
        small[rank:, :rank], small[rank:, rank:] = inside, triangle.T
        turn, all_values, rotation = svd(small, full_matrices=False, check_finite=False)
        kept = min(
            int((all_values > self.threshold * max(all_values[0], 0)).sum()),
            self.rank + self.guard,
            rows.shape[1],  # what is beyond that is made of rounding errors
        )
        turn, new_values, rotation = turn[:, :kept], all_values[:kept], rotation[:kept]
        new_basis = rotation[:, :rank] @ basis + rotation[:, rank:] @ new.T
        new_basis, signs = flipped(new_basis)
        new_basis, new_values, turn = orthonormal(new_basis, new_values, turn * signs)
        return new_basis, new_values, turn, float((all_values[kept:] ** 2).sum())

    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        tensors, metadata = super()._pack()
        if self.__sklearn_is_fitted__():
            n, cells = self._n_waiting, self.block_size * len(self._mean)
            room = self.block_size if cells <= _MOST_WRITTEN else n  # as the format began
            for name in ("_waiting", "_missing"):
                waiting = tensors[name][:n]
                tensors[name] = np.pad(waiting, [(0, max(room - n, 0)), (0, 0)])
        return tensors, metadata

    def _expected(self) -> dict[str, schema.Schema]:
        return super()._expected() | {
            "_basis": numbers(("rank", "features"), -2, 2),
            "_values": numbers(("rank",), at_least=0),
            "_left": numbers((None, None), -2, 2),
            "_mean": numbers(("features",)),
            "_waiting": numbers(("room", "features"), -LARGEST, LARGEST),
            "_missing": schema.Array("b1", ("room", "features")),
            "_n_waiting": schema.Whole(),
            "_n_rows": schema.Whole(at_most=2**53),
            "_cut": schema.Number(at_least=0),
        }

    def _check_state(self, state: Mapping[str, Any], sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if state["_n_waiting"] > sizes["room"]:
            raise ModelFileError("more rows wait than there is room for")
        if not is_orthonormal(state["_basis"]):
            raise ModelFileError("its basis is not orthonormal")
        if not sizes["features"] and sizes["room"] > _MOST_EMPTY:
            raise ModelFileError("too many rows without a feature wait")
        if self.keep_left:
            left, n_rows = state["_left"], state["_n_rows"]
            if left.shape != (n_rows, sizes["rank"]) or not is_orthonormal(left.T):
                raise ModelFileError("its left vectors are not those of its rows")
            if not sizes["rank"] and n_rows > _MOST_EMPTY:
                raise ModelFileError("it has too many rows of zeros")

    # -- changing what has been learned ----------------------------------------------------------

    def add_columns(self, C: Any) -> Self:
        """Give all rows learned so far new features: a row of `C` for each of them, in order.

        Needs `keep_left`. The features are named by numbers that follow those there are.
        """
        if not self.keep_left:
            raise ParameterError("add_columns needs keep_left=True.")
        self._change(lambda twin: twin._add_columns(C))
        return self

    def _add_columns(self, C: Any) -> None:
        factors = self._factors()
        columns = np.asarray(C, dtype=np.float64)
        if columns.ndim != 2 or len(columns) != factors.n_rows:
            raise DataError(
                f"add_columns needs a row for each of the {factors.n_rows} rows learned, "
                f"got an array of shape {columns.shape}"
            )
        check_finite(columns, "Input C")
        self._settle()
        # The transpose has rows for columns: the same update with the two sides exchanged.
        left, values, turn, cut = self._extended(self._left.T, self._values, columns.T)
        rank = len(self._values)
        new = np.zeros((rank + columns.shape[1], self._basis.shape[1] + columns.shape[1]))
        new[:rank, : self._basis.shape[1]] = self._basis
        new[rank:, self._basis.shape[1] :] = np.eye(columns.shape[1])
        self._widen(new.shape[1])
        self._basis, self._values, self._left = turn.T @ new, values, np.ascontiguousarray(left.T)
        self._cut += cut
        names = dict(self._columns)
        for _ in range(columns.shape[1]):
            name = len(names)
            while name in names:
                name += 1
            names[name] = len(names)
        self._columns, self.n_features_in_, self._names = names, len(names), None

    def forget(self, X: Any) -> Self:
        """Take rows out again that were learned before (a downdate): all of them or none.

        What had been cut off cannot be taken out exactly. Not with `keep_left`.
        """
        if self.keep_left:
            raise ParameterError("forget needs keep_left=False.")
        self._change(lambda twin: twin._forget(X))
        return self

    def _forget(self, X: Any) -> None:
        factors = self._factors()
        rows = dense(self._read(X)[0])
        if np.isnan(rows).any():
            where = place_of(np.isnan(rows))
            raise DataError(f"A row with missing values cannot be forgotten: NaN in X {where}.")
        if len(rows) > factors.n_rows:
            raise DataError(f"{len(rows)} rows cannot be forgotten: {factors.n_rows} were learned.")
        for place, row in enumerate(rows):
            factors = self._without_row(factors, row, place)
        self._settle(factors)

    def _without_row(self, old: Factors, row: Floats, place: int) -> Factors:
        if old.n_rows == 1:
            return old._replace(
                basis=old.basis[:0], values=old.values[:0], mean=0 * old.mean, n_rows=0
            )
        n_rows, mean = old.n_rows - 1, old.mean
        centred = row
        if self.center:
            centred = (row - mean) * math.sqrt(old.n_rows / n_rows)
            mean = mean - (row - mean) / n_rows
        share = old.basis @ centred  # the row of left vectors that belongs to it
        share = np.divide(share, old.values, out=np.zeros_like(share), where=old.values > 0)
        length = float(np.linalg.norm(share))
        if length > 1 + 1e-6:
            raise DataError("it is not among the rows learned", row=place)
        if length < 1e-15:
            return old._replace(mean=mean, n_rows=n_rows)
        unit = share / length
        shrink = 1 - math.sqrt(max(1 - length * length, 0.0))
        small = np.diag(old.values) - shrink * np.outer(unit, unit * old.values)
        _, values, rotation = np.linalg.svd(small)
        # A row's direction that nothing else has leaves a singular value of rounding errors.
        kept = values > max(self.threshold, 1e-7 if shrink > 1 - 1e-7 else 0.0) * values[0]
        if values[0] <= 1e-14 * old.values[0]:
            kept[:] = False
        return old._replace(
            basis=flipped(rotation[kept] @ old.basis)[0],
            values=values[kept],
            mean=mean,
            n_rows=n_rows,
        )

    # -- using it --------------------------------------------------------------------------------

    @property
    def _n_codes(self) -> int:
        return len(self.singular_values_)

    def _code(self, rows: Any) -> Floats:
        factors = self._factors()
        basis = factors.basis[: self.rank]
        if not isinstance(rows, np.ndarray) and not np.isnan(rows.data).any():
            codes: Floats = rows @ basis.T - factors.mean @ basis.T
            return codes
        rows = dense(rows)
        missing = np.isnan(rows)
        if missing.any():
            rows = np.where(missing, 0.0, rows)
            fill(rows, missing, factors)
        codes = (rows - factors.mean) @ basis.T
        return codes

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows that the numbers from `transform` stand for."""
        factors = self._factors()
        return self._decoded(X, factors.basis[: self.rank]) + factors.mean
