"""Which learner to take, how sure that is, and why: what the rows of a race say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yarrow.compare.comparison import Comparison, Outcome
from yarrow.compare.holdout import (
    ENOUGH,
    difference,
    first_half,
    interval,
    judged,
    second_half,
)
from yarrow.data.arrays import Array
from yarrow.errors import counted
from yarrow.evaluate.curves import error_of
from yarrow.evaluate.ranks import mean_ranks
from yarrow.lazy import np

RANKED = 20  # stretches over which learners are ranked
#: of equals the one that stands first here, without Classifier or Regressor behind its name
PREFERRED = (
    "Yarrow",
    "AROW",
    "PassiveAggressive",
    "Perceptron",
    "OGD",
    "SCW",
    "CW",
    "AdaGrad",
    "FTRL",
)
#: another learner must have so many times the weights to be less simple for that
CLEARLY_MORE = 2


def mark_best(outcomes: Sequence[Outcome], seed: int = 0) -> None:
    """Mark each learner's setting of the lowest error in the first half; of equals the defaults.

    The second half then says how well it does: its rows had no part in the choice.
    """
    best: dict[str, tuple[tuple[float, bool], Outcome]] = {}
    for outcome in outcomes:
        outcome.best, outcome.judged = False, None
        if outcome.failure is not None or outcome.wrong is None:
            continue
        place = error_of(first_half(outcome.wrong)), bool(outcome.parameters)
        if outcome.learner not in best or place < best[outcome.learner][0]:
            best[outcome.learner] = (place, outcome)
    for _, outcome in best.values():
        outcome.best, outcome.judged = True, judged(_wrong(outcome), seed)


def recommend(outcomes: Sequence[Outcome], seed: int, prefer: str = "accurate") -> dict[str, Any]:
    """The preferred one of the learners that the second half cannot tell from the best one.

    These are the ones whose error is at most one standard error of the difference above the
    lowest. Of them the first in `PREFERRED` is taken, then the lower error. To prefer "fast" puts
    rows of O(nnz) before that, "small" also clearly fewer nonzero weights (less than half).
    Intervals are 95 % for all rivals together. Fewer rows than tell learners apart recommend the
    usual one.
    """
    chosen = [o for o in outcomes if o.best and o.wrong is not None]
    learners = [o for o in chosen if o.family != "baseline"]
    if not learners:
        return {
            "learner": None,
            "parameters": {},
            "sentence": "Every learner failed, so there is nothing to recommend.",
            "evidence": [],
            "rivals": [],
        }
    halves = {o.name: second_half(_wrong(o)) for o in chosen}
    if len(halves[learners[0].name]) < ENOUGH:
        return _without_enough_rows(learners, prefer)
    leader = min(learners, key=lambda o: (error_of(halves[o.name]), _preference(o)))
    taken, reason = _preferred(leader, learners, halves, seed, prefer)
    rivals = []
    for other in sorted(chosen, key=lambda o: error_of(halves[o.name])):
        if other is not taken:
            found = difference(halves[other.name], halves[taken.name], seed, len(chosen) - 1)
            del found["deviation"]
            rivals.append({"name": other.name, "family": other.family, **found})
    low, high = interval(halves[taken.name], seed)
    return {
        "learner": taken.learner,
        "parameters": taken.parameters,
        "name": taken.name,
        "python": _python(taken.name),
        "error": error_of(halves[taken.name]),
        "low": low,
        "high": high,
        "sentence": _sentence(taken, rivals),
        "evidence": _evidence(taken, leader, reason, outcomes, rivals, halves, seed),
        "rivals": rivals,
    }


def _wrong(outcome: Outcome) -> Array:
    wrong: Array = outcome.wrong
    return wrong


def _python(name: str) -> str:
    return f"model = yarrow.{name}.fit(X, y)"


def scaled_python(name: str, regression: bool, scale: bool, normalize: bool) -> str:
    """The same of rows that are scaled for the learner."""
    kind = "Regressor" if regression else "Classifier"
    return (
        f"model = yarrow.composite.Scaled{kind}(yarrow.{name}, scale={scale}, "
        f"normalize={normalize}).fit(X, y)"
    )


def _without_enough_rows(learners: Sequence[Outcome], prefer: str) -> dict[str, Any]:
    usual = min(learners, key=lambda o: (prefer != "accurate" and _is_dear(o), _preference(o)))
    rows = len(_wrong(usual))
    left = len(second_half(_wrong(usual)))
    return {
        "learner": usual.learner,
        "parameters": {},
        "name": f"{usual.learner}()",
        "python": _python(f"{usual.learner}()"),
        "sentence": f"{_rows(rows)} too few to choose a learner by: take {usual.learner} with its "
        f"defaults, and compare again with {2 * ENOUGH} rows or more.",
        "evidence": [
            f"Settings are chosen on the first half of the rows and judged on the second, where "
            f"{_rows(left)} left; with fewer than {ENOUGH} an error is known only to within some "
            "10 %, and good learners differ by less."
        ],
        "rivals": [],
        "too_few_rows": True,
    }


def _rows(n: int) -> str:
    return f"{n:,} rows are" if n != 1 else "1 row is"


def _preference(outcome: Outcome) -> int:
    name = outcome.learner.removesuffix("Classifier").removesuffix("Regressor")
    return PREFERRED.index(name) if name in PREFERRED else len(PREFERRED)


def _is_dear(outcome: Outcome) -> bool:
    """Whether a row costs more than its values."""
    covariance = getattr(outcome.model, "covariance", "")
    return covariance == "full" or getattr(outcome.model, "is_dear", True)


def _preferred(
    leader: Outcome, learners: Sequence[Outcome], halves: dict[str, Array], seed: int, prefer: str
) -> tuple[Outcome, str]:
    """The preferred one of those that are as good as the leader, and why it was taken instead."""
    near = []
    for other in learners:
        # Two hundred resamples are enough for a standard error.
        gap = difference(halves[other.name], halves[leader.name], seed, resamples=200)
        if other is leader or gap["difference"] <= gap["deviation"]:
            near.append(other)
    if prefer == "small":
        fewest = min(o.nonzeros for o in near)
        near = [o for o in near if o.nonzeros <= CLEARLY_MORE * fewest]

    def key(o: Outcome) -> tuple[bool, int, float, str]:
        dear = prefer != "accurate" and _is_dear(o)
        return dear, _preference(o), error_of(halves[o.name]), o.name

    taken = min(near, key=key)
    if leader not in near:
        return taken, f"has {taken.nonzeros:,} nonzero weights against {leader.nonzeros:,}"
    if key(leader)[0] and not key(taken)[0]:
        return taken, "does less work for a row"
    return taken, f"comes first in the order of preference ({', '.join(PREFERRED[:3])}, …)"


def is_significantly_behind(rival: dict[str, Any]) -> bool:
    """Whether a rival errs more, with 95 % confidence for all rivals together."""
    return bool(rival["low"] > 0)


def _sentence(taken: Outcome, rivals: list[dict[str, Any]]) -> str:
    learners = [r for r in rivals if r["family"] != "baseline"]
    behind = sum(is_significantly_behind(r) for r in learners)
    equal = len(learners) - behind
    if not learners:
        return f"Take {taken.name}."
    if not equal:
        others = f"all {behind} other learners" if behind > 1 else "the other learner"
        return f"Take {taken.name}: significantly better than {others} (95 % confidence)."
    if not behind:
        others = f"the {equal} other learners" if equal > 1 else "the other learner"
        return f"Take {taken.name}, though these rows do not separate it from {others}."
    others = counted(behind, "learner")
    return (
        f"Take {taken.name}: significantly better than {others} (95 % confidence), "
        f"not separable from {equal}."
    )


def _evidence(
    taken: Outcome,
    leader: Outcome,
    reason: str,
    outcomes: Sequence[Outcome],
    rivals: list[dict[str, Any]],
    halves: dict[str, Array],
    seed: int,
) -> list[str]:
    half = halves[taken.name]
    regression = half.dtype != np.bool_
    tried = [o for o in outcomes if o.family != "baseline"]
    low, high = interval(half, seed)
    words = [
        f"Each learner's setting was chosen on the first {len(_wrong(taken)) - len(half):,} rows; "
        f"on the {len(half):,} rows behind them {taken.name} has {error_words(half)} "
        f"(95 % interval {span_words(low, high, regression)}, by a block bootstrap of the stream)."
    ]
    if leader is not taken:
        gap = difference(halves[taken.name], halves[leader.name], seed)["difference"]
        less = _amount(gap, regression).removeprefix("+")
        compared = f"which is less by {less}, within one standard error" if gap else "no less"
        words.append(
            f"{leader.name} has {error_words(halves[leader.name])}, {compared}; "
            f"{taken.name} was taken because it {reason}."
        )
    learners = [r for r in rivals if r["family"] != "baseline"]
    baselines = [r for r in rivals if r["family"] == "baseline"]
    for rival in [r for r in learners if not is_significantly_behind(r)][:1]:
        together = " and ".join(
            counted(len(group), word)
            for group, word in ((learners, "learner"), (baselines, "baseline"))
            if group
        )
        words.append(
            f"The closest rival, {rival['name']}, differs by "
            f"{_amount(rival['difference'], regression)} ({_amount(rival['low'], regression)} to "
            f"{_amount(rival['high'], regression)}, for {together} together)."
        )
    for rival in baselines:
        if not is_significantly_behind(rival):
            words.append(
                f"'{rival['name']}' is not significantly worse: it differs by "
                f"{_amount(rival['difference'], regression)} "
                f"({_amount(rival['low'], regression)} to {_amount(rival['high'], regression)}). "
                "Learning may be of no use here."
            )
    hindsight = min((o for o in tried if o.failure is None), key=lambda o: error_of(_wrong(o)))
    words.append(
        f"In hindsight, of all {len(tried)} settings and over all rows, {hindsight.name} was best "
        f"with {error_words(_wrong(hindsight))}; the best of many settings looks better than it is."
    )
    failed = [o for o in tried if o.failure is not None]
    if failed:
        words.append(f"{len(failed)} of {len(tried)} settings failed and are out.")
    return words


def calibration_words(comparison: Comparison) -> list[str]:
    """How honest the probabilities of the recommended setting are, if it has any."""
    name = comparison.recommendation.get("name")
    found = [o.calibration for o in comparison.outcomes if o.name == name and o.calibration]
    return [
        f"Its probabilities have a Brier score of {of['brier_score']:.4g} and are off by "
        f"{100 * of['calibration_error']:.1f} % on average (expected calibration error)."
        for of in found
    ]


def error_words(wrong: Array) -> str:
    """The error of rows: `error 1.23 %` or `RMSE 0.123`."""
    error = error_of(wrong)
    return f"error {100 * error:.2f} %" if wrong.dtype == np.bool_ else f"RMSE {error:.4g}"


def _amount(difference: float, regression: bool) -> str:
    text = f"{difference:+.3g}" if regression else f"{100 * difference:+.2f} %"
    return text.replace("-", "\N{MINUS SIGN}")


def span_words(low: float, high: float, regression: bool) -> str:
    """From where to where an error reaches."""
    return f"{low:.4g} to {high:.4g}" if regression else f"{100 * low:.2f} to {100 * high:.2f} %"


def ranks_over_stretches(outcomes: Sequence[Outcome]) -> dict[str, Any] | None:
    """Mean ranks of the chosen settings over stretches of the second half."""
    chosen = [o for o in outcomes if o.best and o.family != "baseline" and o.wrong is not None]
    rows = min((len(second_half(_wrong(o))) for o in chosen), default=0)
    stretches = min(RANKED, rows // 10)
    if len(chosen) < 2 or rows < ENOUGH:
        return None
    edges = np.linspace(0, rows, stretches + 1).astype(np.int64)[:-1]
    sums = [np.add.reduceat(second_half(_wrong(o)).astype(np.float64), edges) for o in chosen]
    over = f"{stretches} stretches of the second half"
    return ranks_of([o.learner for o in chosen], np.array(sums).T, over)


def ranks_of(learners: list[str], errors: Array, over: str) -> dict[str, Any]:
    """Mean ranks and their critical difference; a line of errors for each stretch or fold."""
    found = mean_ranks(errors, learners)
    order = np.argsort(found.mean_ranks, kind="stable")
    return {
        "learners": [learners[i] for i in order],
        "mean_ranks": [found.mean_ranks[i] for i in order],
        "critical_difference": found.critical_difference,
        "over": over,
    }
