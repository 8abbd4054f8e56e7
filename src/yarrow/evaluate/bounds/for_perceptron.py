"""Mistake bounds of the Perceptron (Novikoff 1962; Gentile 2003 for rows with losses)."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array
from yarrow.evaluate import comparators
from yarrow.evaluate.bounds.base import Assumption, Bound, fixed, follows, mistakes_of
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np

STEPS = "each update adds the signed row, where the margin is at most the threshold"


def _steps(run: Run, threshold: float) -> Assumption:
    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        if run.updated[t]:
            w[places] += values

    asked = np.asarray(run.margins) <= threshold
    empty = np.diff(run.signed_rows.indptr) == 0
    if np.any(asked[~empty] != np.asarray(run.updated)[~empty]):
        return Assumption(STEPS, False, "other rows were updated")
    return follows(run, learn, STEPS)


def perceptron(run: Run, u: Any = None, *, margin: float | None = None) -> Bound:
    """Novikoff's bound: mistakes <= (R / gamma)^2, however long the stream.

    R is the longest row and gamma the distance of the nearest row from the hyperplane of u. Each
    update adds at least gamma to the weights' part along u, and at most R^2 to their squared
    length. A Perceptron that also updates at margins up to m > 0 adds up to R^2 + 2m, and then
    (R^2 + 2m) / gamma^2 bounds its updates, hence its mistakes.

    Assumes that u (the separator with the largest margin, if not given) separates all rows.
    """
    threshold = run.parameter("margin", margin, 0.0)
    z = mistakes_of(run).signed_rows
    best = comparators.separator(z) if u is None else fixed(u, run)
    length = 0.0 if best is None else float(np.linalg.norm(best))
    gamma = float((z @ best).min()) / length if best is not None and length > 0 else 0.0
    longest = float(run.squared_norms.max())
    return Bound(
        theorem="Novikoff (1962)",
        statement="mistakes <= (R / gamma)^2" + (" + 2 m / gamma^2" if threshold else ""),
        quantity="mistakes",
        measured=run.n_mistakes,
        promised=(longest + 2 * threshold) / gamma**2 if gamma > 0 else np.inf,
        trivial=run.n_rows,
        assumptions=(
            _steps(run, threshold),
            Assumption("u separates all rows", gamma > 0, f"the least margin is {gamma:.4g}"),
        ),
        parts={"R": longest**0.5, "gamma": gamma, "|u|": length},
        comparator=best,
    )


def perceptron_hinge(run: Run, u: Any = None, *, margin: float | None = None) -> Bound:
    """The Perceptron's bound on rows that need not be separable, with the hinge loss of any u.

    With L the sum of max(0, 1 - z.u) over all rows and a = sqrt(R^2 + 2m) * |u|:
    updates <= L + a^2/2 + (a/2) * sqrt(a^2 + 4L). It solves n - L <= sum of z.u = w.u <= a*sqrt(n)
    for the number n of updates; mistakes are among them. The sums of the proof run over updated
    rows only, but with L taken there u = 0 would bound the updates by themselves.

    Assumes nothing about the rows. Without u, the best of a path of support vector machines.
    """
    threshold = run.parameter("margin", margin, 0.0)
    z = mistakes_of(run).signed_rows
    reach = float(run.squared_norms.max()) + 2 * threshold

    def bound(v: Array) -> tuple[float, float]:
        loss = float(np.maximum(0, 1 - z @ v).sum())
        a = float(np.sqrt(reach * (v @ v)))
        return loss + a * a / 2 + a / 2 * np.sqrt(a * a + 4 * loss), loss

    tried = comparators.path(z) if u is None else [fixed(u, run)]
    best = min(tried, key=lambda v: bound(v)[0])
    return Bound(
        theorem="Gentile (2003)",
        statement="mistakes <= L + a^2/2 + (a/2) sqrt(a^2 + 4 L), a = R |u|",
        quantity="mistakes",
        measured=run.n_mistakes,
        promised=bound(best)[0],
        trivial=run.n_rows,
        assumptions=(_steps(run, threshold),),
        parts={"R": reach**0.5, "|u|": float(np.linalg.norm(best)), "L": bound(best)[1]},
        comparator=best,
    )
