"""Mistake bounds of AROW with the squared hinge loss (Crammer, Kulesza & Dredze 2013).

In the paper's (38) and (57) the second root covers log det + U, and - U stands outside it; in (57)
g_t has the wrong sign, (53) is right; in (41) - U stands outside the root as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yarrow.data.arrays import Array
from yarrow.evaluate import comparators
from yarrow.evaluate.bounds.base import Assumption, Bound, every, follows, mistakes_of, solved
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np

PAPER = "Crammer, Kulesza & Dredze (2013)"
STEPS = "updates are AROW's with a full covariance over all weights"
#: above this many weights the run is not replayed with a covariance of their square
MOST_WEIGHTS = 2000


def _steps(run: Run, r: float, variance: float) -> Assumption:
    if run.n_weights > MOST_WEIGHTS:
        settings = run.parameters
        full = settings.get("covariance") in ("full", "joint")
        one_price = settings.get("confidence_r") in (None, r)
        return Assumption(STEPS, full and one_price, "there are too many weights to check")
    covariance = variance * np.eye(run.n_weights)

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        if not run.updated[t]:
            return
        spread = covariance[:, places] @ values
        shrink = 1 / (float(values @ spread[places]) + r)
        w += max(0.0, 1 - margin) * shrink * spread
        covariance[...] -= shrink * np.outer(spread, spread)

    return follows(run, learn, STEPS)


def _hinge(run: Run, u: Array) -> Array:
    """max(0, 1 - (score of the true class - the best other score)) of u on each row."""
    if run.task == "binary":
        return np.asarray(np.maximum(0, 1 - run.signed_rows @ u))
    scores = np.asarray(run.rows @ u.reshape(run.n_classes, -1).T)
    here = np.arange(run.n_rows), np.asarray(run.labels)
    true = scores[here].copy()
    scores[here] = -np.inf
    return np.asarray(np.maximum(0, 1 + scores.max(axis=1) - true))


class _Active:
    """The updated rows: mistakes, others (U), and the spectrum of their outer products."""

    def __init__(self, run: Run, r: float | None, variance: float | None) -> None:
        self.run = mistakes_of(run)
        self.r = float(run.parameter("r", r))
        self.variance = float(run.parameter("initial_variance", variance, 1.0))
        self.rows = np.flatnonzero(run.updated)
        self.z = run.signed_rows[self.rows]
        self.others = int(np.sum(np.asarray(run.updated) & ~run.mistakes))
        small = self.z.T @ self.z if self.z.shape[0] > self.z.shape[1] else self.z @ self.z.T
        dense = small.toarray()
        self.spectrum = np.maximum(0, np.linalg.eigvalsh(dense)) if dense.size else np.zeros(0)

    def loss(self, u: Array) -> float:
        return float(_hinge(self.run, u)[self.rows].sum())

    def best(self, bound: Callable[[Array], float]) -> Array:
        """Of a path of comparators, the one with the least bound, if all rows' losses counted.

        With losses on the updated rows only, u = 0 would bound the mistakes by themselves.
        """
        path = comparators.path(self.run.signed_rows)
        return min(path, key=lambda v: bound(v) - self.loss(v) + _hinge(self.run, v).sum())

    def trivial(self, u: Array) -> float:
        """M <= T - U is always true. As only the updated rows' losses count, the others' go off."""
        elsewhere = float(_hinge(self.run, u).sum()) - self.loss(u)
        return self.run.n_rows - self.others - elsewhere

    def assumptions(self) -> tuple[Assumption, ...]:
        """What both theorems ask for."""
        updated = np.asarray(self.run.updated) | (self.run.squared_norms == 0)
        mistakes = every("every mistake is updated", updated | ~self.run.mistakes)
        return _steps(self.run, self.r, self.variance), mistakes


def arow(
    run: Run, u: Any = None, *, r: float | None = None, variance: float | None = None
) -> Bound:
    """Theorem 1 (two classes) and Theorem 2 (many, by the best rival).

    M <= sum of g + sqrt(r*|u|^2/s + u'Xu) * sqrt(log det(I + s*X/r) + U) - U, for any u, where X
    sums z z' over the updated rows, U counts those that were no mistakes, g is u's hinge loss on
    updated rows and s the initial variance (1 in the paper).

    Assumes a full covariance (over the weights of all classes), the squared hinge loss, and that
    every mistake is updated. The diagonal form has no such theorem. Theorem 2 asks for one
    covariance over the weights of all classes: `AROWClassifier(covariance="joint")` with
    `multiclass="top1"`, or `StructuredClassifier` with `block_map`; "full" keeps one for each.
    Without u, the best of a path of support vector machines.
    """
    active = _Active(run, r, variance)
    r, s = active.r, active.variance
    volume = float(np.log1p(s * active.spectrum / r).sum())

    def bound(v: Array) -> float:
        along = float(np.sum((active.z @ v) ** 2))
        first = np.sqrt(r * float(v @ v) / s + along)
        return active.loss(v) + float(first * np.sqrt(volume + active.others)) - active.others

    best = solved(u, run, lambda: active.best(bound))
    return Bound(
        theorem=f"{PAPER}, Theorem {1 if run.task == 'binary' else 2}",
        statement="mistakes <= L + sqrt(r |u|^2 + u'Xu) sqrt(log det(I + X/r) + U) - U",
        quantity="mistakes",
        measured=run.n_mistakes,
        promised=bound(best),
        trivial=active.trivial(best),
        assumptions=active.assumptions(),
        parts={
            "L": active.loss(best),
            "|u|": float(np.linalg.norm(best)),
            "log det": volume,
            "U": active.others,
            "r": r,
        },
        comparator=best,
    )


def arow_as_perceptron(
    run: Run, u: Any = None, *, r: float | None = None, variance: float | None = None
) -> Bound:
    """Remark 6: Theorem 1 in the shape of the Perceptron's bound, its limit as r grows.

    M <= L + k*a^2/2 + (sqrt(k)*a/2) * sqrt(4L + k*a^2 + 4*q*U/R^2) - U, with a = R*|u|, q = r/s.
    The paper's (41) is this with k = 1, which is true only in the limit, because (39) drops u'Xu
    beside r*|u|^2. For any r it is true with k = 1 + lambda/q, lambda the largest eigenvalue
    of X. Where only mistakes are updated (U = 0) and r grows it becomes the Perceptron's bound.

    Assumes what Theorem 1 assumes.
    """
    active = _Active(run, r, variance)
    q = active.r / active.variance
    k = 1 + float(active.spectrum.max(initial=0.0)) / q
    longest = float(run.squared_norms.max())

    def bound(v: Array, factor: float) -> float:
        loss, a = active.loss(v), np.sqrt(factor * longest * float(v @ v))
        inside = 4 * loss + a * a + 4 * q * active.others / longest
        return float(loss + a * a / 2 + a / 2 * np.sqrt(inside) - active.others)

    best = solved(u, run, lambda: active.best(lambda v: bound(v, k)))
    return Bound(
        theorem=f"{PAPER}, Remark 6",
        statement="mistakes <= L + k a^2/2 + (sqrt(k) a/2) sqrt(4 L + k a^2 + 4 r U/R^2) - U",
        quantity="mistakes",
        measured=run.n_mistakes,
        promised=bound(best, k),
        trivial=active.trivial(best),
        assumptions=active.assumptions(),
        parts={
            "L": active.loss(best),
            "R": longest**0.5,
            "|u|": float(np.linalg.norm(best)),
            "U": active.others,
            "k": k,
            "(41), the limit": bound(best, 1.0),
        },
        comparator=best,
    )
