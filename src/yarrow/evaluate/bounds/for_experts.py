"""Bounds of learning from experts: against the best one, or the best sequence of them.

None of them assumes anything about the rows, the labels or the experts, which may be anything.
What they assume is the method: weights are replayed by its textbook form, one row after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from yarrow.data.arrays import Array
from yarrow.errors import ParameterError
from yarrow.evaluate.bounds.base import Assumption, Bound, every
from yarrow.lazy import np

if TYPE_CHECKING:
    from yarrow.experts.base import ExpertRun

#: what parameters of a bound may be
_WITHIN: dict[str, Callable[[Any], bool]] = {
    "beta": lambda beta: 0 < beta < 1,
    "eta": lambda eta: eta > 0,
    "share": lambda share: 0 <= share < 1,
}

#: the weights for the next row, from those of this one, the losses and the number of the row
Step = Callable[[Array, Array, int], Array]


def _replayed(run: ExpertRun, step: Step, what: str) -> Assumption:
    weights = np.full(run.n_experts, 1.0 / run.n_experts)
    for t in range(run.n_rows):
        if not np.allclose(run.weights[t], weights, rtol=1e-6, atol=1e-9):
            return Assumption(what, False, f"violated at row {t}")
        weights = step(weights, run.losses[t], t)
        weights = weights / weights.sum()
    return Assumption(what, True)


def _in_unit(run: ExpertRun) -> Assumption:
    inside = ((run.losses >= 0) & (run.losses <= 1)).all(axis=1)
    return every("losses are within [0, 1]", inside)


def _combined(run: ExpertRun, text: str) -> Assumption:
    """That all experts predict together, and not the leader alone."""
    return Assumption(text, run.parameters.get("combine", "vote") == "vote", "by the leader")


def _of_a_mean(run: ExpertRun) -> list[Assumption]:
    """What a bound of a regression's own loss assumes besides."""
    if not run.learner.endswith("Regressor"):
        return []
    known = run.parameters.get("low") is not None and run.parameters.get("high") is not None
    return [
        Assumption("the range of targets is known", known, "it was taken from the targets"),
        _combined(run, "predictions are the mean"),
    ]


def _multiplied(eta: float) -> Step:
    return lambda weights, losses, t: weights * np.exp(-eta * losses)


def _parameter(run: ExpertRun, name: str, given: Any) -> Any:
    if given is None and name not in run.parameters:
        raise ParameterError(f"The run does not say what {name!r} was: pass {name}=...")
    value = run.parameters[name] if given is None else given
    if name in _WITHIN and not _WITHIN[name](value):
        raise ParameterError(f"The {name!r} of a bound is not possible: {value!r}.")
    return value


def weighted_majority(run: ExpertRun, u: Any = None, *, beta: float | None = None) -> Bound:
    """Littlestone & Warmuth (1994): mistakes <= (m ln(1/beta) + ln N) / ln(2 / (1 + beta)).

    m are the mistakes of the best expert. Also for many classes: where the vote is wrong, at most
    half of the weight was on the class that came. The other half is multiplied by beta.

    Assumes votes, and weights that nothing but mistakes has moved.
    """
    kept = float(_parameter(run, "beta", beta))
    best = run.best_loss()
    promised = (best * np.log(1 / kept) + np.log(run.n_experts)) / np.log(2 / (1 + kept))
    binary = every("a loss is 0 or 1", np.isin(run.losses, (0.0, 1.0)).all(axis=1))
    replayed = _replayed(
        run,
        _multiplied(-np.log(kept)),
        "a mistake multiplies a weight by beta, nothing else does",
    )
    return Bound(
        theorem="Littlestone & Warmuth (1994)",
        statement="mistakes <= (m ln(1/beta) + ln N) / ln(2 / (1 + beta))",
        quantity="mistakes",
        measured=run.own_losses.sum(),
        promised=promised,
        trivial=run.n_rows,
        assumptions=(binary, _combined(run, "predictions are votes"), replayed),
        parts={"m": best, "N": run.n_experts, "beta": kept},
    )


def hedge(run: ExpertRun, u: Any = None, *, eta: float | None = None) -> Bound:
    """Freund & Schapire (1997); Cesa-Bianchi & Lugosi (2006), Theorems 2.2 and 2.3.

    An expert drawn by the weights loses in the mean at most L + ln N / eta + eta T / 8, where L is
    the loss of the best. With the falling rate sqrt(8 ln N / t) it is L + sqrt(2 T ln N) +
    sqrt(ln N / 8). Of a regression the mean itself is measured, whose loss is no larger; the
    squared loss is exp-concave, so for eta <= 1/2 it is L + ln N / eta, whatever T is.

    Assumes losses within [0, 1]; of a regression that the range of its targets was told. What is
    true anyway is the mean loss of all experts.
    """
    n, rows, best = run.n_experts, run.n_rows, run.best_loss()
    rate = eta if eta is not None else run.parameters.get("eta")
    is_mean = run.learner.endswith("Regressor")
    price: float
    if rate is None:
        statement = "loss <= L + sqrt(2 T ln N) + sqrt(ln N / 8)"
        price = float(np.sqrt(2 * rows * np.log(n)) + np.sqrt(np.log(n) / 8))
    elif is_mean and rate <= 0.5:
        statement, price = "loss <= L + ln N / eta", float(np.log(n) / rate)
    else:
        statement = "loss <= L + ln N / eta + eta T / 8"
        price = float(np.log(n) / rate + rate * rows / 8)
    step = _falling(n) if rate is None else _multiplied(rate)
    of_rate = "sqrt(8 ln N / t)" if rate is None else "eta"
    replayed = _replayed(run, step, f"weights are exp(-{of_rate} * losses so far)")
    assumptions = [_in_unit(run), replayed, *_of_a_mean(run)]
    return Bound(
        theorem="Freund & Schapire (1997)",
        statement=statement,
        quantity="loss",
        measured=(run.own_losses if is_mean else run.mixed_losses).sum(),
        promised=best + price,
        trivial=run.losses.mean(axis=1).sum(),
        assumptions=tuple(assumptions),
        parts={"L": best, "N": n} | ({} if rate is None else {"eta": float(rate)}),
    )


def _falling(n_experts: int) -> Step:
    sums = np.zeros(n_experts)

    def step(weights: Array, losses: Array, t: int) -> Array:
        sums[...] += losses
        rate = np.sqrt(8 * np.log(n_experts) / (t + 2))
        return np.asarray(np.exp(-rate * (sums - sums.min())))

    return step


def fixed_share(
    run: ExpertRun,
    u: Any = None,
    *,
    switches: int = 0,
    eta: float | None = None,
    share: float | None = None,
) -> Bound:
    """Herbster & Warmuth (1998); Cesa-Bianchi & Lugosi (2006), Theorem 5.2.

    Against the best sequence of experts with k switches, whose loss is L:
    loss <= L + (ln N + k ln(N / a) + (T - k - 1) ln(1 / (1 - a))) / eta + eta T / 8, where a is the
    share. Of a regression with eta <= 1/2 the last term falls away, as in `hedge`.

    Assumes losses within [0, 1]; of a regression that the range of its targets was told. What is
    true anyway is the mean loss of all experts.
    """
    rate, a = float(_parameter(run, "eta", eta)), float(_parameter(run, "share", share))
    if switches < 0:
        raise ParameterError(f"There cannot be {switches} switches.")
    n, rows, best = run.n_experts, run.n_rows, run.best_loss(switches)
    stays = max(0, rows - switches - 1)
    of_a_switch = np.log(n / a) if a > 0 else np.inf
    price = np.log(n) + (switches and switches * of_a_switch) + stays * np.log(1 / (1 - a))
    is_mean = run.learner.endswith("Regressor")
    more = 0.0 if is_mean and rate <= 0.5 else rate * rows / 8

    def step(weights: Array, losses: Array, t: int) -> Array:
        kept = weights * np.exp(-rate * losses)
        return np.asarray((1 - a) * kept + a * kept.mean())

    assumptions = [
        _in_unit(run),
        _replayed(run, step, "weights are exp(-eta * loss), then each gets its part of the share"),
        *_of_a_mean(run),
    ]
    return Bound(
        theorem="Herbster & Warmuth (1998)",
        statement="loss <= L_k + (ln N + k ln(N/a) + (T-k-1) ln(1/(1-a))) / eta + eta T / 8",
        quantity="loss",
        measured=(run.own_losses if is_mean else run.mixed_losses).sum(),
        promised=best + price / rate + more,
        trivial=run.losses.mean(axis=1).sum(),
        assumptions=tuple(assumptions),
        parts={"L_k": best, "k": switches, "N": n, "eta": rate, "share": a},
    )


def mixture(run: ExpertRun, u: Any = None, *, share: float | None = None) -> Bound:
    """The log loss of a mixture weighed by likelihood is at most that of the best plus ln N.

    With weights as in Bayes' rule, exp(-loss of the mixture) is the mean of exp(-loss) of the
    experts over the whole run, of which the best one's is at least one N-th (Vovk 1990).

    Assumes that nothing is shared out, and that the mixture predicts. What is true anyway is the
    mean loss of all experts.
    """
    shared_out = float(_parameter(run, "share", share))
    best = run.best_loss()
    return Bound(
        theorem="Vovk (1990)",
        statement="log loss <= L + ln N",
        quantity="log loss",
        measured=run.own_losses.sum(),
        promised=best + float(np.log(run.n_experts)),
        trivial=run.losses.mean(axis=1).sum(),
        assumptions=(
            Assumption("nothing is shared out", shared_out == 0, f"a share of {shared_out:g}"),
            _combined(run, "predictions are the mixture"),
            _replayed(run, _multiplied(1.0), "weights are products of the probabilities given"),
        ),
        parts={"L": best, "N": run.n_experts},
    )
