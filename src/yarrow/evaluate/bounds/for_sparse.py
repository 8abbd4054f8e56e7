"""Regret of the truncated gradient (Langford, Li & Zhang 2009) and dual averaging (Xiao 2010)."""

from __future__ import annotations

from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.evaluate import comparators
from yarrow.evaluate.bounds.base import Assumption, Bound, follows, solved
from yarrow.evaluate.bounds.for_gradient_descent import regret_bound
from yarrow.evaluate.recorded_run import Run
from yarrow.lazy import np


def truncated_gradient(
    run: Run,
    u: Any = None,
    *,
    loss: str | None = None,
    eta: float | None = None,
    gravity: Any = None,
    theta: float | None = None,
    every: int | None = None,
) -> Bound:
    """The truncated gradient's theorem, summed over the run instead of averaged.

    After each step weights up to theta move towards zero by eta*g_t and stop there. With
    |gradient|^2 <= A*loss + B, any u, and I_t the weights that are within theta after row t:
    (1 - A*eta/2) * sum of L_t(w_t) + sum of g_t*|w_{t+1}|_1 on I_t
    <= eta*B*T/2 + |u|^2/(2*eta) + sum of L_t(u) + sum of g_t*|u|_1 on I_t.
    In the lecture the first penalty lacks its division: it is g_t/(1 - A*eta/2) inside the bracket
    that (1 - A*eta/2) multiplies. What is measured is the left side, so penalties are included.

    Assumes a constant rate eta < 2/A. (A, B) is (0, R^2) for hinge and logistic, (2R^2, 0) for the
    squared losses with a factor 1/2. `gravity` is a number, applied times `every` at each such
    step, or a sequence with one for each row.
    """
    loss = str(run.parameter("loss", loss))
    eta = float(run.parameter("eta0", eta))
    longest = float(run.squared_norms.max())
    if loss in ("hinge", "logistic"):
        A, B = 0.0, longest
    elif loss in ("squared", "squared_hinge"):
        A, B = 2 * longest, 0.0
    else:
        raise ParameterError(f"For the loss {loss!r} there are no A and B.")
    limit = float(run.parameter("theta", theta, np.inf))
    pulls = _gravities(run, gravity, run.parameter("every", every, 1))
    slopes = run.slopes(loss)
    # For theta = infinity this is the penalty of all weights; else a guess, which any u may be.
    prices = pulls.sum() * run.penalised
    best = solved(u, run, lambda: comparators.least_loss(run, loss, prices))
    penalties = [0.0, 0.0]
    free = run.penalised == 0

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        w[places] += eta * slopes[t] * values
        near = (np.abs(w) <= limit) & ~free
        w[near] = np.sign(w[near]) * np.maximum(0, np.abs(w[near]) - eta * pulls[t])
        penalties[0] += pulls[t] * float(np.abs(w[near]).sum())
        penalties[1] += pulls[t] * float(np.abs(best[near]).sum())

    steps = follows(run, learn, "updates are truncated gradient steps at a constant rate")
    share = 1 - A * eta / 2
    of_u = run.losses(loss, run.signed_rows @ best) + penalties[1]
    made = run.losses(loss, run.margins)
    of_zero = run.losses(loss, np.zeros(run.n_rows))
    return Bound(
        theorem="Langford, Li & Zhang (2009), Theorem 3.1",
        statement="(1 - A eta/2) loss + penalty <= eta B T/2 + |u|^2/(2 eta) + those of u",
        quantity="loss",
        measured=share * made + penalties[0],
        promised=eta * B * run.n_rows / 2 + float(best @ best) / (2 * eta) + of_u,
        trivial=share * of_zero,
        assumptions=(
            steps,
            Assumption(
                "the rate is constant",
                float(run.parameters.get("power", 0.0)) == 0,
                f"power is {run.parameters.get('power')}",
            ),
            Assumption("eta is below 2/A", share > 0, f"1 - A*eta/2 is {share:.4g}"),
        ),
        parts={"eta": eta, "A": A, "B": B, "|u|": float(np.linalg.norm(best)), "those of u": of_u},
        comparator=best,
    )


def _gravities(run: Run, gravity: Any, every: int) -> Array:
    given = np.asarray(run.parameter("gravity", gravity), dtype=float)
    if given.ndim:
        return given
    at = np.arange(1, run.n_rows + 1) % every == 0
    return np.where(at, every * given, 0.0)


def dual_averaging(
    run: Run,
    u: Any = None,
    *,
    loss: str | None = None,
    l1: float | None = None,
    gamma: float | None = None,
    rho: float | None = None,
    l2: float | None = None,
) -> Bound:
    """Regret of regularized dual averaging, penalty Psi included on both sides.

    With Psi(w) = l1*|w|_1 + l2/2*|w|^2, h(w) = |w|^2/2 + rho*|w|_1, beta_t = gamma*sqrt(t) and
    gradients up to G, for any u:
    regret <= beta_T*h(u) + G^2/2 * sum over s < T of 1/(l2*s + beta_s), with beta_0 = beta_1.
    Without l2 that is at most (gamma*h(u) + G^2/gamma) * sqrt(T). With l2 > 0 and gamma = 0 it is
    (6 + ln T)*G^2/(2*l2): it is Psi that must be strongly convex for the logarithm, not h.

    Assumes a convex loss; with an intercept, which is not penalised, l2 counts as 0 in the sum.
    """
    loss = str(run.parameter("loss", loss))
    l1 = float(run.parameter("l1", l1))
    gamma = float(run.parameter("gamma", gamma))
    rho = float(run.parameter("rho", rho, 0.0))
    l2 = float(run.parameter("l2", l2, 0.0))
    penalised = run.penalised
    counts = np.arange(run.n_rows + 1)
    betas = gamma * np.sqrt(counts)
    betas[0] = gamma
    slopes = run.slopes(loss)
    prices, ridge = run.n_rows * l1 * penalised, run.n_rows * l2
    best = solved(u, run, lambda: comparators.least_loss(run, loss, prices, ridge))
    total = np.zeros(run.n_weights)
    penalties = [0.0]

    def psi(w: Array) -> float:
        return l1 * float(penalised @ np.abs(w)) + l2 / 2 * float(penalised @ w**2)

    def learn(t: int, places: Array, values: Array, margin: float, w: Array) -> None:
        penalties[0] += psi(w)
        total[places] += slopes[t] * values
        n = t + 1
        cut = (l1 + betas[n] * rho / n) * penalised
        scale = l2 * penalised + betas[n] / n
        w[...] = np.sign(total) * np.maximum(0, np.abs(total) / n - cut) / np.maximum(scale, 1e-30)

    steps = follows(run, learn, "weights are those of dual averaging")
    G = run.steepest(slopes)
    convexity = 0.0 if run.has_intercept else l2
    if gamma > 0:
        h = float(best @ best) / 2 + rho * float(penalised @ np.abs(best))
        promised = betas[-1] * h + G**2 / 2 * float(
            np.sum(1 / (convexity * counts[:-1] + betas[:-1]))
        )
        statement = "regret <= beta_T h(u) + G^2/2 sum of 1/(l2 s + beta_s)"
    else:
        promised = (6 + np.log(run.n_rows)) * G**2 / (2 * convexity) if convexity else np.inf
        statement = "regret <= (6 + ln T) G^2 / (2 l2)"
    return regret_bound(
        run,
        loss,
        best,
        theorem="Xiao (2010)",
        statement=statement,
        promised=promised,
        assumptions=(
            steps,
            Assumption(
                "something is strongly convex in all weights",
                gamma > 0 or convexity > 0,
                "gamma is 0, and l2 is 0 or does not reach the intercept",
            ),
        ),
        parts={"G": G, "|u|": float(np.linalg.norm(best)), "gamma": gamma, "l2": l2},
        penalties=penalties[0],
        penalty_of_u=run.n_rows * psi(best),
    )
