"""Regret bounds of online gradient descent (Zinkevich 2003) and of SG-L1 (Duchi & Singer 2009)."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array
from yarrow.evaluate import comparators
from yarrow.evaluate.bounds.base import Assumption, Bound, follows, solved
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np


def gradient_descent(
    run: Run,
    u: Any = None,
    *,
    loss: str | None = None,
    eta0: float | None = None,
    power: float | None = None,
    radius: float | None = None,
) -> Bound:
    """Regret of w <- w + eta_t * slope * z against any fixed u, with eta_t = eta0 / t^power.

    sum of f_t(w_t) - f_t(u) <= D^2/(2*eta_T) + G^2/2 * sum of eta_t, where D bounds |w_t - u| and
    G the gradients, both as they were in this run. With power 1/2 that is at most
    (D^2/(2*eta0) + eta0*G^2) * sqrt(T); with a constant rate D is |u|.

    Assumes a convex loss and, with a projection on the ball of `radius`, a u inside it.
    """
    radius = run.parameters.get("radius") if radius is None else radius
    return _descent(run, u, loss, eta0, power, 0.0, radius, "Zinkevich (2003)")


def soft_pull(
    run: Run,
    u: Any = None,
    *,
    loss: str | None = None,
    eta0: float | None = None,
    power: float | None = None,
    l1: float | None = None,
) -> Bound:
    """Regret of SG-L1 (FOBOS), penalty l1*|w|_1 included on both sides.

    The bound is that of gradient descent: the pull towards zero costs nothing, because
    it is an implicit step, which never overshoots.

    Assumes a convex loss.
    """
    penalty = float(run.parameter("l1", l1))
    return _descent(run, u, loss, eta0, power, penalty, None, "Duchi & Singer (2009)")


def _descent(
    run: Run,
    u: Any,
    loss: str | None,
    eta0: float | None,
    power: float | None,
    l1: float,
    radius: float | None,
    theorem: str,
) -> Bound:
    loss = str(run.parameter("loss", loss, "squared"))
    first = float(run.parameter("eta0", eta0))
    power = float(run.parameter("power", power))
    rates = first / np.arange(1, run.n_rows + 1) ** power
    pulled = l1 * run.penalised

    def within(w: Array) -> Array:
        """The nearest weights in the ball."""
        length = max(float(np.linalg.norm(w)), 1e-300)
        return w if radius is None else w * min(1.0, radius / length)

    best = solved(u, run, lambda: within(comparators.least_loss(run, loss, run.n_rows * pulled)))
    slopes = run.slopes(loss)
    far, penalties = [], []

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        far.append(float(np.linalg.norm(w - best)))
        penalties.append(float(pulled @ np.abs(w)))
        w[places] += rates[t] * slopes[t] * values
        if l1 > 0:
            w[...] = np.sign(w) * np.maximum(0, np.abs(w) - rates[t] * pulled)
        w[...] = within(w)

    steps = follows(run, learn, "updates are steps along the gradient with the rates told")
    length = float(np.linalg.norm(best))
    D = length if power == 0 else max(far)
    G = run.steepest(slopes)
    return regret_bound(
        run,
        loss,
        best,
        theorem=theorem,
        statement="regret <= D^2 / (2 eta_T) + G^2/2 sum of eta_t",
        promised=D**2 / (2 * rates[-1]) + G**2 / 2 * float(rates.sum()),
        assumptions=(steps,)
        if radius is None
        else (steps, Assumption("u lies in the ball", length <= radius * (1 + 1e-9))),
        parts={"D": D, "G": G, "|u|": length, "eta_T": float(rates[-1])},
        penalties=float(np.sum(penalties)),
        penalty_of_u=run.n_rows * float(pulled @ np.abs(best)),
    )


def regret_bound(
    run: Run,
    loss: str,
    u: Array,
    *,
    theorem: str,
    statement: str,
    promised: float,
    assumptions: tuple[Assumption, ...],
    parts: dict[str, float],
    penalties: float = 0.0,
    penalty_of_u: float = 0.0,
) -> Bound:
    """A bound on the run's losses and penalties less those of u.

    What is true without a theorem is the regret of the zero vector.
    """
    made = run.losses(loss, run.margins) + penalties
    of_u = run.losses(loss, run.signed_rows @ u) + penalty_of_u
    of_zero = run.losses(loss, np.zeros(run.n_rows))
    return Bound(
        theorem=theorem,
        statement=statement,
        quantity="regret",
        measured=made - of_u,
        promised=promised,
        trivial=of_zero - of_u,
        assumptions=assumptions,
        parts={"loss of the run": made, "loss of u": of_u, **parts},
        comparator=u,
    )
