"""Which learner to take, how sure that is, and why: what the rows of a race say together."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from yarrow.evaluate.paired import bootstrap
from yarrow.evaluate.ranks import mean_ranks
from yarrow.experiments.comparison import Outcome
from yarrow.experiments.curve import error_of
from yarrow.lazy import np
from yarrow.stream.arrays import Array

RANKED = 20  # stretches over which learners are ranked
LEVEL = 0.95


def mark_best(outcomes: Sequence[Outcome]) -> None:
    """Mark each learner's setting of the lowest error in the first half of the rows.

    The second half then says how well it does: its rows had no part in the choice.
    """
    best: dict[str, tuple[float, Outcome]] = {}
    for outcome in outcomes:
        outcome.best = False
        if outcome.failure is not None or outcome.wrong is None:
            continue
        error = error_of(first_half(outcome.wrong))
        if outcome.learner not in best or error < best[outcome.learner][0]:
            best[outcome.learner] = (error, outcome)
    for _, outcome in best.values():
        outcome.best = True


def first_half(wrong: Array) -> Array:
    """The rows by which settings are chosen."""
    return wrong[: len(wrong) // 2] if len(wrong) > 1 else wrong


def second_half(wrong: Array) -> Array:
    """The rows by which the chosen settings are judged."""
    return wrong[len(wrong) // 2 :]


def interval(wrong: Array, seed: int, level: float = LEVEL) -> tuple[float, float]:
    """The error of rows, from low to high, by the block bootstrap."""
    found = bootstrap(wrong, level=level, block=_block(wrong), seed=seed)
    if wrong.dtype == np.bool_:
        return max(found.low, 0.0), found.high
    return max(found.low, 0.0) ** 0.5, found.high**0.5


def difference(one: Array, other: Array, seed: int, level: float) -> dict[str, float]:
    """How much larger the error of `one` is on the same rows: interval, p, standard error."""
    gaps = one.astype(np.float64) - other
    found = bootstrap(gaps, level=level, block=_block(gaps), seed=seed)
    # A difference of mean squares is one of roots times their sum.
    unit = 1.0 if one.dtype == np.bool_ else max(error_of(one) + error_of(other), 1e-300)
    normal = NormalDist().inv_cdf((1 + level) / 2)
    return {
        "difference": found.mean / unit,
        "low": found.low / unit,
        "high": found.high / unit,
        "p": found.p,
        "deviation": (found.high - found.low) / (2 * normal * unit),
    }


def _block(values: Array) -> int | None:
    """On long streams hundreds of long blocks are enough, and need no search for a length."""
    return len(values) // 300 if len(values) > 100_000 else None


def recommend(outcomes: Sequence[Outcome], seed: int) -> dict[str, Any]:
    """The simplest of the learners that the second half cannot tell from the best one.

    Simplest: the fewest nonzero weights among those whose error is at most one standard error of
    the difference above the lowest. Intervals are 95 % for all rivals together (Bonferroni).
    """
    chosen = [o for o in outcomes if o.best and o.wrong is not None]
    learners = [o for o in chosen if o.family != "baseline"]
    if not learners:
        return {
            "learner": None,
            "parameters": {},
            "sentence": "No learner came through, so that there is nothing to recommend.",
            "evidence": [],
            "rivals": [],
        }
    halves = {o.name: second_half(_wrong(o)) for o in chosen}
    leader = min(learners, key=lambda o: error_of(halves[o.name]))
    taken = _simplest(leader, learners, halves, seed)
    level = 1 - (1 - LEVEL) / max(1, len(chosen) - 1)
    rivals = []
    for other in sorted(chosen, key=lambda o: error_of(halves[o.name])):
        if other is not taken:
            found = difference(halves[other.name], halves[taken.name], seed, level)
            del found["deviation"]
            rivals.append({"name": other.name, "family": other.family, **found})
    low, high = interval(halves[taken.name], seed)
    return {
        "learner": taken.learner,
        "parameters": taken.parameters,
        "name": taken.name,
        "error": error_of(halves[taken.name]),
        "low": low,
        "high": high,
        "sentence": _sentence(taken, rivals),
        "evidence": _evidence(taken, leader, outcomes, rivals, halves, seed),
        "rivals": rivals,
    }


def _wrong(outcome: Outcome) -> Array:
    wrong: Array = outcome.wrong
    return wrong


def _simplest(
    leader: Outcome, learners: Sequence[Outcome], halves: dict[str, Array], seed: int
) -> Outcome:
    near = []
    for other in learners:
        gap = difference(halves[other.name], halves[leader.name], seed, LEVEL)
        if gap["difference"] <= gap["deviation"]:
            near.append(other)
    fewest = min(o.nonzeros for o in near)
    # A tenth more weights is no reason to take one that errs more often.
    simple = [o for o in near if o.nonzeros <= 1.1 * fewest]
    if leader.nonzeros <= 1.1 * fewest:
        return leader
    return min(simple, key=lambda o: error_of(halves[o.name]))


def _is_surely_behind(rival: dict[str, Any]) -> bool:
    return bool(rival["low"] > 0)


def _sentence(taken: Outcome, rivals: list[dict[str, Any]]) -> str:
    learners = [r for r in rivals if r["family"] != "baseline"]
    behind = sum(_is_surely_behind(r) for r in learners)
    if not learners:
        return f"Take {taken.name}."
    if behind == len(learners):
        others = f"all {behind} others" if behind > 1 else "the other"
        verb = "err" if behind > 1 else "errs"
        return f"Take {taken.name}: {others} {verb} more, with 95 % confidence."
    equal = len(learners) - behind
    verb = "errs" if behind == 1 else "err"
    others = "other" if equal == 1 else "others"
    beaten = f"{behind} {verb} more with 95 % confidence, and " if behind else ""
    return f"Take {taken.name}: {beaten}{equal} {others} cannot be told from it by these rows."


def _evidence(
    taken: Outcome,
    leader: Outcome,
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
        f"(95 % interval {_span(low, high, regression)}, by a block bootstrap of the stream)."
    ]
    if leader is not taken:
        gap = difference(halves[taken.name], halves[leader.name], seed, LEVEL)
        words.append(
            f"{leader.name} has {error_words(halves[leader.name])}, which is less by "
            f"{_amount(gap['difference'], regression)}, within one standard error; "
            f"{taken.name} was taken because it has {taken.nonzeros:,} nonzero weights against "
            f"{leader.nonzeros:,}."
        )
    near = [r for r in rivals if r["family"] != "baseline" and not _is_surely_behind(r)]
    for rival in near[:1]:
        words.append(
            f"The closest rival, {rival['name']}, differs by "
            f"{_amount(rival['difference'], regression)} ({_amount(rival['low'], regression)} to "
            f"{_amount(rival['high'], regression)}, for {len(rivals)} rivals together)."
        )
    for rival in (r for r in rivals if r["family"] == "baseline"):
        if not _is_surely_behind(rival):
            words.append(
                f"'{rival['name']}' is not surely worse: it differs by "
                f"{_amount(rival['difference'], regression)}. Learning may be of no use here."
            )
    hindsight = min((o for o in tried if o.failure is None), key=lambda o: error_of(_wrong(o)))
    words.append(
        f"In hindsight, of all {len(tried)} settings and over all rows, {hindsight.name} was best "
        f"with {error_words(_wrong(hindsight))}; such a best of many looks better than it is."
    )
    failed = [o for o in tried if o.failure is not None]
    if failed:
        words.append(f"{len(failed)} of {len(tried)} settings failed and are out.")
    return words


def error_words(wrong: Array) -> str:
    """The error of rows: `error 1.23 %` or `RMSE 0.123`."""
    error = error_of(wrong)
    return f"error {100 * error:.2f} %" if wrong.dtype == np.bool_ else f"RMSE {error:.4g}"


def _amount(difference: float, regression: bool) -> str:
    return f"{difference:+.3g}" if regression else f"{100 * difference:+.2f} %"


def _span(low: float, high: float, regression: bool) -> str:
    return f"{low:.4g} to {high:.4g}" if regression else f"{100 * low:.2f} to {100 * high:.2f} %"


def ranks_over_stretches(outcomes: Sequence[Outcome]) -> dict[str, Any] | None:
    """Mean ranks of the chosen settings over stretches of the second half."""
    chosen = [o for o in outcomes if o.best and o.family != "baseline" and o.wrong is not None]
    rows = min((len(second_half(_wrong(o))) for o in chosen), default=0)
    stretches = min(RANKED, rows // 10)
    if len(chosen) < 2 or stretches < 2:
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
