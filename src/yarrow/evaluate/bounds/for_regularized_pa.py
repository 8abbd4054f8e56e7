"""Mistake bounds of the regularized Passive-Aggressive family (Shen & Dietterich 2009).

All five follow one argument: D_t = |w_t - u_t|^2 falls by at least some gain at each mistake, and
it starts at |u_0|^2. What is stated here differs from the paper in three ways.

*Updates that are no mistakes.* The proofs of Theorems 3.1, 3.3 and 5.1 (and of 3.2, 3.4 where the
comparator moves) use a loss of at least 1 at every update, which is so only where updates are
mistakes. The algorithms as stated also update where the margin is between 0 and 1, and then the
printed bound can fail. Here each such row t enters with its own gain c_t, which may be negative:
mistakes <= (|u|^2 - sum of c_t over those rows) / g. Without such rows it is the printed bound.

*The comparator.* It may move only at rows where the learner updates, else D_t changes at rows that
no term of the proof sees. Its length may change: the squared lengths telescope, so that the last
|u|^2 stands in the numerator and the largest one (D) in g. u_0 = 0 is impossible, because a zero
vector has a loss on the first row.

*Theorem 3.3.* The comparator moves before the small weights are removed, so what must be bounded
there is the length before the removal: sqrt(beta^2 + sigma) instead of beta.
"""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array
from yarrow.evaluate import comparators
from yarrow.evaluate.bounds.base import (
    Assumption,
    Bound,
    agreements,
    every,
    fixed,
    follows,
    mistakes_of,
    sequence,
)
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np

PAPER = "Shen & Dietterich (2009)"
_ROUNDING = 1e-6


def _comparator(run: Run, u: Any) -> Array:
    """The one given, or the shortest that has no loss (at least on the updated rows), or zero."""
    if u is not None:
        return sequence(u, run)
    for rows in (run.signed_rows, run.signed_rows[np.asarray(run.updated)]):
        best = comparators.separator(rows)
        if best is not None:
            return best
    return np.zeros(run.n_weights)


def _about_comparator(run: Run, u: Array) -> tuple[Assumption, Assumption]:
    """It has no loss where the learner updates, and rests where the learner rests."""
    loss_free = agreements(u, run) >= 1 - 1e-6
    rests = np.ones(run.n_rows, dtype=bool)
    if u.ndim == 2:
        rests = ~np.any(u[1:] != u[:-1], axis=1)
    updated = np.asarray(run.updated)
    return (
        every("u has no loss on any updated row", loss_free | ~updated),
        every("u moves only where the learner updates", rests | updated),
    )


def _movement(u: Array, order: float) -> float:
    """mu: the largest move of the comparator."""
    if u.ndim == 1 or len(u) < 2:
        return 0.0
    return float(np.linalg.norm(np.diff(u, axis=0), ord=order, axis=1).max(initial=0.0))


def _bound(
    run: Run,
    u: Array,
    theorem: str,
    statement: str,
    gain: float,
    gains: Array,
    assumptions: list[Assumption],
    parts: dict[str, float],
    losses_of_u: float = 0.0,
) -> Bound:
    """(|u|^2 + losses - gains of updates without mistake) / gain of a mistake."""
    wasted = np.asarray(run.updated) & ~run.mistakes
    last = u if u.ndim == 1 else u[-1]
    start = float(last @ last) + losses_of_u
    return Bound(
        theorem=f"{PAPER}, {theorem}",
        statement=statement,
        quantity="mistakes",
        measured=run.n_mistakes,
        promised=(start - float(gains[wasted].sum())) / gain if gain > 0 else np.inf,
        trivial=run.n_rows,
        assumptions=(
            every("every mistake is updated", np.asarray(run.updated) | ~run.mistakes),
            *assumptions,
            Assumption("the gain of a mistake is positive", gain > 0, f"it is {gain:.4g}"),
        ),
        parts={
            "gain": gain,
            "as printed": start / gain if gain > 0 else np.inf,
            "updates that were no mistakes": float(wasted.sum()),
            **parts,
        },
        comparator=u,
    )


def _lengths(u: Array) -> Array:
    return np.asarray(np.linalg.norm(np.atleast_2d(u), axis=1))


def objective_regularised(run: Run, u: Any = None, *, alpha: float | None = None) -> Bound:
    """Theorem 3.1: the objective-regularized algorithm, w <- (w + tau*z) / (1 + alpha).

    mistakes <= |u|^2 / g with g = (1 - alpha^2)/R^2 - 2(1 + alpha)*mu*beta - alpha*D^2/(2 + alpha):
    R bounds the rows, beta the weights, D the comparator and mu its moves. An update without a
    mistake has the gain (l^2 - alpha^2)/|z|^2 and the same two terms off; see the module.

    Assumes a comparator without loss on the updated rows that moves only there, and g > 0.
    """
    alpha = float(run.parameter("alpha", alpha))
    best = _comparator(mistakes_of(run), u)
    lengths = [0.0]

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        if run.updated[t]:
            w[places] += (max(0.0, 1 - margin) + alpha) / float(values @ values) * values
            w /= 1 + alpha
            lengths.append(float(np.linalg.norm(w)))

    steps = follows(run, learn, "updates are those of Lemma 3.1")
    return _objective(run, best, alpha, max(lengths), 0.0, [steps], "Theorem 3.1")


def _objective(
    run: Run,
    u: Array,
    alpha: float,
    beta: float,
    sigma: float,
    assumptions: list[Assumption],
    theorem: str,
) -> Bound:
    longest, D, mu = float(run.squared_norms.max()), float(_lengths(u).max()), _movement(u, 2)
    off = (
        2 * (1 + alpha) * mu * np.sqrt(beta**2 + sigma)
        + alpha * D**2 / (2 + alpha)
        + 2 * np.sqrt(sigma) * D
    )
    loss = np.maximum(0, 1 - np.asarray(run.margins))
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = (loss**2 - alpha**2) / run.squared_norms - off
    return _bound(
        run,
        u,
        theorem,
        "mistakes <= (|u|^2 - gains of other updates) / gain",
        (1 - alpha**2) / longest - off,
        gains,
        [
            *assumptions,
            *_about_comparator(run, u),
            Assumption("alpha is at most 1", alpha <= 1, f"it is {alpha:.4g}"),
        ],
        {"R": longest**0.5, "D": D, "mu": mu, "beta": beta, "alpha": alpha, "sigma": sigma},
    )


def objective_regularised_pruned(
    run: Run, u: Any = None, *, alpha: float | None = None, sigma: float | None = None
) -> Bound:
    """Theorem 3.3: the same, where each update ends by removing the smallest weights for good.

    What is removed has a sum of squares below sigma, which costs 2*sqrt(sigma)*D of every gain.

    Assumes what Theorem 3.1 assumes, and needs all weights (`keep_weights=True`).
    """
    alpha = float(run.parameter("alpha", alpha))
    sigma = float(run.parameter("sigma", sigma))
    best = _comparator(mistakes_of(run), u)
    weights = run.kept_weights
    before = _before_removal(run, alpha)
    steps = _removals(run, before, weights[1:], sigma)
    beta = float(np.linalg.norm(weights, axis=1).max())
    return _objective(run, best, alpha, beta, sigma, [steps], "Theorem 3.3")


def _before_removal(run: Run, alpha: float) -> Array:
    """What Lemma 3.1 makes of the weights before each row."""
    z, norms = run.signed_rows, np.where(run.squared_norms > 0, run.squared_norms, 1.0)
    steps = (np.maximum(0, 1 - np.asarray(run.margins)) + alpha) / norms
    moved = run.kept_weights[:-1] + z.multiply(steps[:, None]).toarray()
    return np.where(np.asarray(run.updated)[:, None], moved / (1 + alpha), run.kept_weights[:-1])


def _removals(run: Run, before: Array, after: Array, sigma: float) -> Assumption:
    """Whether only small weights are missing afterwards, and nothing else has changed."""
    missing = before - after
    scale = run.tolerance * (1 + np.abs(before).max(axis=1, keepdims=True))
    clean = np.all((np.abs(missing) <= scale) | (np.abs(after) <= scale), axis=1)
    small = np.sum(missing**2, axis=1) <= sigma + scale[:, 0]
    resting = ~np.asarray(run.updated) & (np.abs(missing).max(axis=1) > scale[:, 0])
    return every(
        "updates are the paper's, less weights of squares below sigma", clean & small & ~resting
    )


def norm_constrained(run: Run, u: Any = None, *, beta: float | None = None, norm: int = 2) -> Bound:
    """Theorem 3.2: the nearest weights that give the row its margin and have a norm up to beta.

    mistakes <= |u|^2 / (1/R^2 - 2*mu*beta), with mu the largest move of the comparator: of its
    Euclidean length for norm=2, of any one weight for norm=1. An update without a mistake has the
    gain l^2/|z|^2 - 2*mu*beta; so with a comparator at rest the printed bound always holds. For
    norm=1 the paper has the L1 norm of u in the numerator; its Euclidean length is enough.

    Assumes a comparator within the norm, without loss on the updated rows, that moves only there;
    needs all weights (`keep_weights=True`).
    """
    return _constrained(run, u, beta, norm, 0.0, "Theorem 3.2")


def norm_constrained_pruned(
    run: Run,
    u: Any = None,
    *,
    beta: float | None = None,
    sigma: float | None = None,
    norm: int = 2,
) -> Bound:
    """Theorem 3.4: the same, where each update ends by removing the smallest weights for good.

    What is removed has a sum of squares below sigma, which costs 2*sqrt(sigma)*D of every gain.

    Assumes what Theorem 3.2 assumes, and needs all weights (`keep_weights=True`).
    """
    return _constrained(run, u, beta, norm, float(run.parameter("sigma", sigma)), "Theorem 3.4")


def _constrained(
    run: Run, u: Any, beta: float | None, norm: int, sigma: float, theorem: str
) -> Bound:
    beta = float(run.parameter("beta", beta))
    best = _comparator(mistakes_of(run), u)
    weights = run.kept_weights
    longest, D = float(run.squared_norms.max()), float(_lengths(best).max())
    mu = _movement(best, 2 if norm == 2 else np.inf)
    off = 2 * mu * beta + 2 * np.sqrt(sigma) * D
    loss = np.maximum(0, 1 - np.asarray(run.margins))
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = loss**2 / run.squared_norms - off
    inside = np.linalg.norm(np.atleast_2d(best), ord=norm, axis=1)
    within = np.linalg.norm(weights, ord=norm, axis=1) <= beta * (1 + run.tolerance)
    return _bound(
        run,
        best,
        theorem,
        "mistakes <= (|u|^2 - gains of other updates) / gain",
        1 / longest - off,
        gains,
        [
            every("the weights' norm is at most beta", within),
            _projections(run, weights, best, sigma),
            *_about_comparator(run, best),
            Assumption(
                "u's norm is at most beta",
                bool(inside.max() <= beta * (1 + _ROUNDING)),
                f"it is {inside.max():.4g}",
            ),
        ],
        {"R": longest**0.5, "D": D, "mu": mu, "beta": beta, "sigma": sigma},
    )


def _projections(run: Run, weights: Array, u: Array, sigma: float) -> Assumption:
    """Whether each update is a projection as far as u can tell.

    That is what the proof uses: an update by w' - w brings w nearer to u by at least |w' - w|^2,
    and on a mistake of loss l it is at least l/|z| long. Removed weights make up for the rest.
    """
    before, after = weights[:-1], weights[1:]
    reference = np.broadcast_to(u if u.ndim == 1 else u[:-1], before.shape)
    nearer = np.sum((before - reference) ** 2 - (after - reference) ** 2, axis=1)
    length = np.sqrt(np.maximum(0, np.sum((after - before) ** 2, axis=1)))
    # Removing v, |v|^2 < sigma, takes at most 2*sqrt(sigma)*|u| of what was gained.
    slack = np.sqrt(sigma)
    far = np.linalg.norm(reference, axis=1)
    shortest = np.maximum(0, length - slack) ** 2
    scale = run.tolerance * (1 + np.sum(before**2, axis=1) + far**2)
    projected = nearer >= shortest - 2 * slack * far - scale
    with np.errstate(divide="ignore", invalid="ignore"):
        asked = np.maximum(0, 1 - np.asarray(run.margins)) / np.sqrt(run.squared_norms)
    enough = length >= np.where(np.isfinite(asked), asked, np.inf) - slack - np.sqrt(scale)
    return every(
        "each update is a projection that gives the row its margin",
        np.where(np.asarray(run.updated), projected & enough, length**2 <= scale),
    )


def soft_margin(
    run: Run, u: Any = None, *, alpha: float | None = None, C: float | None = None
) -> Bound:
    """Theorem 5.1: the soft-margin form, compared with one fixed u that may have losses l*.

    mistakes <= (|u|^2 + sum of l*^2 / s) / h with s = (1 + alpha)/(2C) and
    h = (1 - alpha^2)/(R^2 + s) - alpha/(2 + alpha)*|u|^2. An update without a mistake has the gain
    (l^2 - alpha^2)/(|z|^2 + s) - alpha/(2 + alpha)*|u|^2; see the module.

    Assumes alpha < 1 and h > 0. Without u, the best of a path of support vector machines.
    """
    alpha, C = float(run.parameter("alpha", alpha)), float(run.parameter("C", C))
    slack = (1 + alpha) / (2 * C)

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        if run.updated[t]:
            w[places] += (1 - margin + alpha) / (float(values @ values) + slack) * values
            w /= 1 + alpha

    steps = follows(mistakes_of(run), learn, "updates are those of Lemma 5.1")
    z = run.signed_rows

    def bound(v: Array) -> Bound:
        length = float(v @ v)
        off = alpha / (2 + alpha) * length
        longest = float(run.squared_norms.max())
        gains = (np.maximum(0, 1 - np.asarray(run.margins)) ** 2 - alpha**2) / (
            run.squared_norms + slack
        ) - off
        losses = float(np.sum(np.maximum(0, 1 - z @ v) ** 2))
        return _bound(
            run,
            v,
            "Theorem 5.1",
            "mistakes <= (|u|^2 + 2C/(1+alpha) sum l*^2 - gains of other updates) / gain",
            (1 - alpha**2) / (longest + slack) - off,
            gains,
            [steps, Assumption("alpha is below 1", alpha < 1, f"it is {alpha:.4g}")],
            {"R": longest**0.5, "|u|": length**0.5, "sum l*^2": losses, "alpha": alpha, "C": C},
            losses_of_u=losses / slack,
        )

    tried = comparators.path(z) if u is None else [fixed(u, run)]
    return min((bound(v) for v in tried), key=lambda b: b.value)
