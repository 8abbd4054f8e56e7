"""What an update of a singular value decomposition is made of."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from yarrow.decomposition.base import Floats, flipped
from yarrow.lazy import np

_DRIFT = 1e-12  # how far from orthonormal the basis may get before it is made so again


class Factors(NamedTuple):
    """The rows learned so far are left @ diag(values) @ basis, up to what was cut off."""

    basis: Floats  # a right singular vector a row
    values: Floats
    left: Floats | None  # a row of left singular vectors for each row, if they are kept
    mean: Floats
    n_rows: int
    cut: float  # sum of the squares of all singular values cut off


def fill(rows: Floats, missing: NDArray[np.bool_], factors: Factors) -> None:
    """Fill in what is missing, from the subspace where it is nearest in the values known."""
    if len(factors.values) == 0:
        known = np.maximum((~missing).sum(axis=0), 1)
        means = np.where(missing, 0.0, rows).sum(axis=0) / known
        rows[missing] = np.broadcast_to(means, rows.shape)[missing]
        return
    scaled = factors.basis * factors.values[:, None]
    for row, gaps in zip(rows, missing, strict=True):
        if gaps.any():
            # Of the rows equally near, the one that is the least unusual for the stream.
            share, *_ = np.linalg.lstsq(
                scaled[:, ~gaps].T, row[~gaps] - factors.mean[~gaps], rcond=1e-10
            )
            row[gaps] = factors.mean[gaps] + share @ scaled[:, gaps]


def by_squares(
    basis: Floats, values: Floats, rows: Floats, inside: Floats
) -> tuple[Floats, Floats, Floats, float] | None:
    """Do what `_extended` does at the ceiling, by a third of the work and with half of the digits.

    The eigenvalues of all inner products are the squares of the singular values. That is good
    enough where the ceiling cuts off directions anyway; None where the kept ones are too unequal.
    """
    rank, size = len(basis), len(basis) + len(rows)
    products = np.zeros((size, size))
    np.fill_diagonal(products[:rank, :rank], values**2)
    products[rank:, :rank] = inside * values  # the lower triangle is all that eigh reads
    products[rank:, rank:] = rows @ rows.T
    total = float(np.trace(products))
    squares, turn = np.linalg.eigh(products)
    squares, turn = squares[: -rank - 1 : -1], turn[:, : -rank - 1 : -1]
    if squares[-1] <= 1e-8 * squares[0]:
        return None
    new_values = np.sqrt(squares)
    rotation = turn.T / new_values[:, None]
    new_basis = (rotation[:, :rank] * values) @ basis + rotation[:, rank:] @ rows
    new_basis, signs = flipped(new_basis)
    result = orthonormal(new_basis, new_values, turn * signs)
    return *result, max(total - float((result[1] ** 2).sum()), 0.0)


def orthonormal(basis: Floats, values: Floats, turn: Floats) -> tuple[Floats, Floats, Floats]:
    """Undo the drift of a basis away from orthonormal rows, once there is any."""
    overlap = basis @ basis.T
    overlap[np.diag_indices_from(overlap)] -= 1
    if np.abs(overlap).max(initial=0.0) < _DRIFT:
        return basis, values, turn
    q, triangle = np.linalg.qr(basis.T)
    rotation_left, values, rotation = np.linalg.svd(values[:, None] * triangle.T)
    signs = np.sign(np.diagonal(rotation_left))  # nearly the identity: keep the signs there were
    return (q @ (rotation.T * signs)).T, values, turn @ (rotation_left * signs)
