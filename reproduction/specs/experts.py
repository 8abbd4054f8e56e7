"""Several settings at once: what it costs not to know the best, and what drift makes of it."""

from __future__ import annotations

from reproduction.findings import Claim, Curve, Curves, Finding, Table
from reproduction.results import Results
from reproduction.spec import Data, Learner, Reproduction, Study
from yarrow.lazy import np

_EXPERTS = Learner(
    "AROW with and without forgetting",
    "ForgettingAROWClassifier",
    {},
    {"r": (0.1, 1.0, 10.0), "memory": (0.99, 1.0)},
)
_USES = tuple(
    Learner(f"PA, {use}", "OnlineToBatchClassifier", {"use": use})
    for use in ("last", "average", "best")
)
_EXACT = Learner("PA, exact average", "PassiveAggressiveClassifier", {"average": True})
_NOISE = (0.0, 0.1, 0.3)


def _streams(rows: int | None) -> tuple[Data, ...]:
    return (
        Data("electricity", "electricity", rows=rows),
        Data("drifting spam", "spam-corpus-drift", rows=rows),
        Data("usenet1", "usenet1", rows=rows),
        Data("SMS spam", "sms-spam", rows=rows),
        Data("adult", "a9a", rows=rows),
        Data("20 Newsgroups", "20newsgroups", rows=rows and min(rows, 11_314)),
    )


def _batch(rows: int | None) -> tuple[Data, ...]:
    return (
        Data("USPS", "usps", rows=rows),
        Data("MNIST 3/5", "mnist", classes=(3, 5), rows=rows),
    )


def findings(results: Results) -> list[Finding]:
    """Ways to learn from experts, then models to keep."""
    return [
        *_ways(results.where(protocol="experts")),
        *_kept(results.where(protocol="online")),
    ]


def _ways(results: Results) -> list[Finding]:
    rows = []
    gaps: dict[str, list[float]] = {}
    kept = True
    for one in results:
        outcome = one.outcome
        last = 100 * np.array(outcome["experts"][-1])
        ways = {name: 100 * curve[-1] for name, curve in outcome["ways"].items()}
        kept &= outcome["draw"] <= outcome["promised"]
        for name, error in ways.items():
            gaps.setdefault(name, []).append(error - last.min())
        rows.append(
            (
                one.data,
                float(last.min()),
                float(last.mean()),
                float(last.max()),
                *ways.values(),
                100 * outcome["draw"],
                100 * outcome["promised"],
            )
        )
    worst = {name: max(values) for name, values in gaps.items()}
    columns = ("set", "best expert", "mean", "worst", *gaps, "draw", "promised")
    drifting = results.where(data="electricity")
    return [
        Claim(
            "Hedge and fixed share err at most one point more than the best expert in hindsight.",
            max(worst["Hedge"], worst["fixed share"]) <= 1,
            ", ".join(f"{name} {value:+.2f} at worst" for name, value in worst.items()),
            f"{len(rows)} streams",
        ),
        Claim(
            "An expert drawn by Hedge's weights errs no more than its theorem promises.",
            kept,
            "; ".join(f"{row[0]} {row[-2]:.2f} of {row[-1]:.2f}" for row in rows),
            f"{len(rows)} streams",
            stable=True,
        ),
        *(_figure(one.outcome) for one in drifting),
        Table(
            "Six settings of AROW as experts: error %",
            columns,
            tuple(rows),
            "Draw: the mean error of an expert drawn by Hedge's weights; promised: what its "
            "theorem allows.",
        ),
    ]


def _figure(outcome: dict[str, list[list[float]]]) -> Finding:
    points = tuple(float(row) for row in outcome["rows"])  # type: ignore[arg-type]
    table = np.array(outcome["experts"])
    best, worst = int(table[-1].argmin()), int(table[-1].argmax())
    ways: dict[str, list[float]] = outcome["ways"]  # type: ignore[assignment]
    curves = [
        Curve("best expert", points, tuple(table[:, best].tolist())),
        Curve("worst expert", points, tuple(table[:, worst].tolist())),
        *(Curve(name, points, tuple(ways[name])) for name in ("Hedge", "fixed share")),
    ]
    return Curves(
        "electricity",
        "Electricity: error so far of six experts and those who follow them",
        "rows",
        "error so far",
        tuple(curves),
        percent=True,
    )


def _kept(results: Results) -> list[Finding]:
    labels = results.each("learner")
    rows = []
    steady = True
    for name in results.each("data"):
        for noise in results.each("noise"):
            errors = {
                label: 100 * results.where(data=name, noise=noise, learner=label).mean("test_error")
                for label in labels
            }
            if noise:
                steady &= min(errors["PA, average"], errors["PA, best"]) < errors["PA, last"]
            rows.append((f"{name}, noise {noise:g}", *errors.values()))
    return [
        Claim(
            "With noisy labels, the average or the best copy errs less than the last.",
            steady,
            "; ".join(f"{row[0]}: {row[1]:.1f}, {row[2]:.1f}, {row[3]:.1f}" for row in rows),
            f"{len(rows)} sets and levels of noise",
        ),
        Table("Online to batch: error % on the test part", ("set", *labels), tuple(rows)),
    ]


REPRODUCTION = Reproduction(
    name="experts",
    title="Learning from several learners",
    paper="",
    protocol="""
Experts: AROW with three r, each with and without forgetting, on streams in their own order, each
row predicted before it is learned; above them weighted majority, Hedge and fixed share with their
default settings. Online to batch: PA over the training part once, five random orders, labels with
noise; the test part is predicted by the last model, by the vote of copies, by the best copy, and
by the exact average of all weights.
""",
    full=(
        Study("experts", _streams(None), (_EXPERTS,)),
        Study("online", _batch(None), (*_USES, _EXACT), noise=_NOISE, seeds=5),
    ),
    reduced=(
        Study("experts", _streams(800)[:3], (_EXPERTS,)),
        Study("online", _batch(800), (*_USES, _EXACT), noise=(0.0, 0.3)),
    ),
    budget="6 streams x 4 ways x 6 experts, and 120 runs of PA with copies: 5 minutes of processor "
    "time.",
    findings=findings,
    differences="""
Not knowing the best setting costs a few tenths of a point. Fixed share is made for a best expert
that changes; here one setting with forgetting follows each stream by itself, so that it gains
little or loses a little. A vote of copies or the best copy is steadier than the last model; the
exact average of all weights, which linear learners offer as average=True, is better than both.
""",
)
