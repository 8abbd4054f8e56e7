"""The bounds of SGFT and of frequency-aware dual averaging (Oiwa, Matsushima & Nakagawa)."""

from __future__ import annotations

import dataclasses
from typing import Any

from scipy.special import zeta

from yarrow.data.arrays import Array
from yarrow.evaluate import comparators
from yarrow.evaluate.bounds.base import Assumption, Bound, follows, solved
from yarrow.evaluate.bounds.for_gradient_descent import regret_bound
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np

PAPER = "Oiwa, Matsushima & Nakagawa (2011)"


@dataclasses.dataclass
class _Path:
    """What SGFT went through, by its textbook form: every weight is pulled after every row."""

    loss: str
    c: float
    l1: float
    p: float
    cap: float
    steps: Assumption
    gradient: float  # G, the largest
    slope: float  # the largest |r_t'| = l1 * |H_t|
    summed_frequencies: Array  # sum of H_t over all rows
    last_frequencies: Array
    weights: Array  # before each row

    @property
    def largest_weights(self) -> Array:
        return np.asarray(np.abs(self.weights).max(axis=0))


def _follow(
    run: Run,
    loss: str | None,
    c: float | None,
    l1: float | None,
    p: float | None,
    cap: float | None,
) -> _Path:
    loss = str(run.parameter("loss", loss))
    c, l1 = float(run.parameter("eta0", c)), float(run.parameter("l1", l1))
    p = float(run.parameter("p", p))
    limit = float(run.parameter("cap", cap, np.inf)) if p <= 2 else np.inf
    slopes = run.slopes(loss)
    size = run.n_weights
    powers, summed = np.zeros(size), np.zeros(size)
    last = np.zeros(size)
    seen = np.empty((run.n_rows, size))
    steepest = [0.0]
    penalised = run.penalised

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        seen[t] = w
        rate = c / np.sqrt(t + 1)
        step = rate * slopes[t] * values
        w[places] += step
        if np.isinf(p):
            powers[places] = np.maximum(powers[places], np.abs(step))
            frequencies = powers
        else:
            powers[places] += np.abs(step) ** p
            frequencies = powers ** (1 / p)
        last[...] = np.minimum(frequencies, limit) * penalised
        summed[...] += last
        steepest[0] = max(steepest[0], l1 * float(np.linalg.norm(last)))
        w[...] = np.sign(w) * np.maximum(0, np.abs(w) - rate * l1 * last)

    steps = follows(run, learn, "updates are those of SGFT with the rate c / sqrt(t)")
    gradient = run.steepest(slopes)
    return _Path(loss, c, l1, p, limit, steps, gradient, steepest[0], summed, last, seen)


def sgft_penalty(
    run: Run,
    *,
    loss: str | None = None,
    c: float | None = None,
    l1: float | None = None,
    p: float | None = None,
    cap: float | None = None,
) -> Bound:
    """Lemma 1: the slope of the penalty r_t(w) = l1*|H_t w|_1 stays bounded for ever.

    With rates c/sqrt(t) and gradients up to G it is at most l1*c*G*zeta(p/2)^(1/p)*sqrt(d) for
    p > 2 (l1*c*G*sqrt(d) for p = infinity), and with the cap V l1*V*sqrt(d) for p <= 2.

    Assumes a cap where p <= 2; without one the slope grows with the stream.
    """
    path = _follow(run, loss, c, l1, p, cap)
    d = float(run.penalised.sum())
    if path.p <= 2:
        one = path.cap
    elif np.isinf(path.p):
        one = path.c * path.gradient
    else:
        one = path.c * path.gradient * float(zeta(path.p / 2)) ** (1 / path.p)
    return Bound(
        theorem=f"{PAPER}, Lemma 1",
        statement="|dr_t| <= l1 sqrt(d) min(V, c G zeta(p/2)^(1/p))",
        quantity="slope of the penalty",
        measured=path.slope,
        promised=path.l1 * np.sqrt(d) * one,
        trivial=np.inf,
        assumptions=(path.steps, _capped(path)),
        parts={"c": path.c, "G": path.gradient, "p": path.p, "V": path.cap, "d": d},
    )


def _capped(path: _Path) -> Assumption:
    return Assumption("frequencies are capped where p <= 2", path.p > 2 or np.isfinite(path.cap))


def sgft(
    run: Run,
    u: Any = None,
    *,
    loss: str | None = None,
    c: float | None = None,
    l1: float | None = None,
    p: float | None = None,
    cap: float | None = None,
) -> Bound:
    """Theorem 1: the regret of SGFT, penalty r_t included on both sides, grows as sqrt(T).

    regret <= U*|W| + (D^2/(2c) + 8*U^2*c) * sqrt(T): U bounds the slopes of loss and penalty, D
    bounds |w_t - u|, and W holds the largest size of each weight on the way.
    In (10) the first term is 2*U*D. Its proof takes one weight vector out of a sum over all rows in
    (29), but the penalty of each weight grows while that weight is large, and different weights may
    be large at different times: sum over t of (r_t - r_{t-1})(w_t) <= U*|W|, and |W| can be up to
    sqrt(d) times the longest w_t. The part `sharper` is what the proof can give:
    l1*H_T.W + (D^2/(2c) + c*G^2) * sqrt(T), because an implicit step never overshoots.

    Assumes a convex loss, and a cap where p <= 2.
    """
    path = _follow(run, loss, c, l1, p, cap)
    pulls = path.l1 * path.summed_frequencies
    best = solved(u, run, lambda: comparators.least_loss(run, path.loss, pulls))
    D = float(np.linalg.norm(path.weights - best, axis=1).max())
    U, W, c = max(path.gradient, path.slope), path.largest_weights, path.c
    root = np.sqrt(run.n_rows)
    usual = (D**2 / (2 * c) + 8 * U**2 * c) * root
    first = path.l1 * float(path.last_frequencies @ W)
    return regret_bound(
        run,
        path.loss,
        best,
        theorem=f"{PAPER}, Theorem 1",
        statement="regret <= U |W| + (D^2/(2 c) + 8 U^2 c) sqrt(T)",
        promised=U * float(np.linalg.norm(W)) + usual,
        assumptions=(path.steps, _capped(path)),
        parts={
            "U": U,
            "D": D,
            "|W|": float(np.linalg.norm(W)),
            "as printed": 2 * U * D + usual,
            "sharper": first + (D**2 / (2 * c) + path.gradient**2 * c) * root,
        },
        penalties=_penalties(run, path),
        penalty_of_u=float(pulls @ np.abs(best)),
    )


def _penalties(run: Run, path: _Path) -> float:
    """The sum of r_t(w_t): frequencies grow row by row, so they are made once more."""
    slopes = run.slopes(path.loss)
    rates = path.c / np.sqrt(np.arange(1, run.n_rows + 1))
    steps = np.abs(run.signed_rows.multiply((rates * slopes)[:, None]).toarray())
    if np.isinf(path.p):
        frequencies = np.maximum.accumulate(steps, axis=0)
    else:
        frequencies = np.cumsum(steps**path.p, axis=0) ** (1 / path.p)
    frequencies = np.minimum(frequencies, path.cap) * run.penalised
    return path.l1 * float(np.sum(frequencies * np.abs(path.weights)))


def frequency_dual_averaging(
    run: Run,
    u: Any = None,
    *,
    loss: str | None = None,
    l1: float | None = None,
    gamma: float | None = None,
    p: float | None = None,
    cap: float | None = None,
) -> Bound:
    """The losses of `FrequencyRDAClassifier`, the outlook of the paper; ours, by follow the leader.

    For any u, with h_T the norms at the end and g_t the gradients:
    losses <= those of u + l1*T*|H_T u|_1 + gamma*sqrt(T)/2*|u|^2
              + sum of |g_t|^2 / (2*gamma*sqrt(max(t - 1, 1))).
    Proof: w_t minimises the linearised losses before row t and Psi_{t-1}, where Psi_n(w) =
    l1*n*|H_n w|_1 + beta_n/2*|w|^2, beta_n = gamma*sqrt(n). Psi grows with n for every w, since h
    does. So with d_t = w_t - w_{t+1} the sum of g_t.(w_t - u) is at most
    Psi_T(u) + sum of [g_t.d_t - beta_{t-1}/2*|d_t|^2], and each bracket at most
    |g_t|^2/(2*beta_{t-1}); for t = 1 the parabola is that of Psi_1.

    The learner's own penalty is left out on the left. With it there is no such bound: one gradient
    may lift n*h_n, and with it the penalty of all rows before, by nearly n times its own size,
    which no step of size 1/sqrt(n) could foresee.

    Assumes a convex loss.
    """
    loss = str(run.parameter("loss", loss))
    l1, gamma = float(run.parameter("l1", l1)), float(run.parameter("gamma", gamma))
    p = float(run.parameter("p", p))
    limit = float(run.parameter("cap", cap, np.inf)) if p <= 2 else np.inf
    slopes, penalised = run.slopes(loss), run.penalised
    total, norms = np.zeros(run.n_weights), np.zeros(run.n_weights)

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        n = t + 1
        step = slopes[t] * values
        total[places] += step
        worth = np.abs(step) / (gamma * np.sqrt(n))
        if np.isinf(p):
            norms[places] = np.maximum(norms[places], worth)
        else:
            norms[places] = (norms[places] ** p + worth**p) ** (1 / p)
        cut = l1 * n * np.minimum(norms, limit) * penalised
        w[...] = np.sign(total) * np.maximum(0, np.abs(total) - cut) / (gamma * np.sqrt(n))

    steps = follows(run, learn, "weights are those of frequency-aware dual averaging")
    pulls = l1 * run.n_rows * np.minimum(norms, limit) * penalised
    end = gamma * float(np.sqrt(run.n_rows))
    best = solved(u, run, lambda: comparators.least_loss(run, loss, pulls, end))
    betas = gamma * np.sqrt(np.maximum(1, np.arange(run.n_rows)))
    moved = float(np.sum(slopes**2 * run.squared_norms / (2 * betas)))
    of_u = run.losses(loss, run.signed_rows @ best)
    return Bound(
        theorem=f"after {PAPER}",
        statement="losses <= those of u + l1 T |H u|_1 + beta_T/2 |u|^2 + sum of |g|^2/(2 beta)",
        quantity="loss",
        measured=run.losses(loss, run.margins),
        promised=of_u + float(pulls @ np.abs(best)) + end / 2 * float(best @ best) + moved,
        trivial=run.losses(loss, np.zeros(run.n_rows)),
        assumptions=(steps,),
        parts={
            "those of u": of_u,
            "|u|": float(np.linalg.norm(best)),
            "penalty of u": float(pulls @ np.abs(best)),
            "of the steps": moved,
        },
        comparator=best,
    )
