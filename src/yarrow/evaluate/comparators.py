"""The best fixed weights in hindsight, by batch solvers: what theorems compare a run with.

Every theorem here holds for *any* comparator; a good one only makes its bound small. So a solver
that stops early costs tightness, never truth.
"""

from __future__ import annotations

from typing import Any

from scipy import sparse
from scipy.optimize import Bounds, linprog, minimize, nnls

from yarrow.data.arrays import Array
from yarrow.evaluate import losses
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np


def separator(z: Any) -> Array | None:
    """The shortest u with z.u >= 1 on all rows; None where the rows cannot be separated.

    As a problem of least distance, which is one of non-negative least squares (Lawson & Hanson
    1974, chapter 23). It takes a dense copy of the rows.
    """
    dense = sparse.csr_matrix(z).toarray().T
    n = dense.shape[1]
    system = np.vstack([dense, np.ones(n)])
    goal = np.zeros(len(system))
    goal[-1] = 1
    shares, residual = nnls(system, goal, maxiter=30 * max(system.shape))
    if residual < 1e-7:
        return None
    rest = system @ shares - goal
    u = -rest[:-1] / rest[-1]
    least = float((dense.T @ u).min())
    return u / least if least > 0 else None


def support_vector(z: Any, price: float, start: Array) -> Array:
    """The u that minimises |u|^2/2 + price/2 * sum of max(0, 1 - z.u)^2."""

    def total(u: Array) -> tuple[float, Array]:
        short = np.maximum(0, 1 - z @ u)
        return float(u @ u + price * short @ short) / 2, u - price * (z.T @ short)

    return np.asarray(minimize(total, start, jac=True, method="L-BFGS-B").x)


def path(z: Any) -> list[Array]:
    """Comparators from short with much loss to long with little, for bounds that weigh both."""
    found = [np.zeros(z.shape[1])]
    largest = max(float(z.multiply(z).sum(axis=1).max()), 1e-300)
    for price in np.logspace(-3, 3, 9) / largest:
        found.append(support_vector(z, price, found[-1]))
    return found


def least_loss(run: Run, loss: str, pull: Array | None = None, ridge: float = 0.0) -> Array:
    """The u that minimises the run's summed loss plus the sum of pull * |u| + ridge/2 * u^2.

    Where many do (rows that can be separated) a tiny pull prefers a small one.
    """
    z, targets = run.signed_rows, run.targets
    prices = np.maximum(1e-3, 0.0 if pull is None else pull) * np.ones(z.shape[1])
    if loss == "hinge" and ridge == 0:
        return _least_hinge_loss(z, targets, prices)
    return _least_smooth_loss(z, targets, loss, prices, ridge)


def _least_hinge_loss(z: Any, targets: Array, prices: Array) -> Array:
    """As a linear programme in u = p - q and each row's loss."""
    n, d = z.shape
    found = linprog(
        np.concatenate([prices, prices, np.ones(n)]),
        A_ub=sparse.hstack([-z, z, -sparse.identity(n)], format="csr"),
        b_ub=-targets,
        bounds=(0, None),
        method="highs",
    )
    return np.asarray(found.x[:d] - found.x[d : 2 * d])


def _least_smooth_loss(z: Any, targets: Array, loss: str, prices: Array, ridge: float) -> Array:
    d = z.shape[1]

    def total(halves: Array) -> tuple[float, Array]:
        u = halves[:d] - halves[d:]
        margins = z @ u
        summed = float(losses.value(loss, margins, targets).sum() + ridge / 2 * (u @ u))
        gradient = ridge * u - z.T @ losses.slope(loss, margins, targets)
        pulls = float(prices @ (halves[:d] + halves[d:]))
        return summed + pulls, np.concatenate([prices + gradient, prices - gradient])

    found = minimize(
        total,
        np.zeros(2 * d),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(0, np.inf),
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-13, "gtol": 1e-8},
    )
    return np.asarray(found.x[:d] - found.x[d:])
