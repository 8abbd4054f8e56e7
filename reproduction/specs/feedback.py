"""Labels that must be asked for, and predictions that say how sure they are."""

from __future__ import annotations

from typing import Any

from reproduction.decided import Numbers, above_zero, in_words
from reproduction.findings import Claim, Curve, Curves, Finding, Table
from reproduction.results import Results
from reproduction.spec import Data, Learner, Reproduction, Study
from yarrow.lazy import np

RULES = {
    "margin": (0.003, 0.01, 0.03, 0.1, 0.3),
    "variance": (0.003, 0.01, 0.03, 0.1, 0.3),
    "random": (0.03, 0.06, 0.12, 0.25, 0.5),
}
COVERAGE = 0.9
_AROW = Learner("AROW", "AROWClassifier", {}, {"r": (0.1, 1.0, 10.0)})
_FIXED = Learner("AROW", "AROWClassifier", {"r": 1.0})
_FORGETTING = Learner("AROW with forgetting", "ForgettingAROWClassifier", {"r": 1.0})
_NOISE = (0.0, 0.1, 0.3)


def _asked(rows: int) -> tuple[Data, ...]:
    names = (("adult", "a9a"), ("Enron spam", "enron-spam"), ("MNIST", "mnist"))
    found = tuple(Data(label, name, rows=rows) for label, name in names)
    return (*found, Data("20 Newsgroups", "20newsgroups", rows=rows))


def _still(rows: int) -> tuple[Data, ...]:
    return (Data("MNIST", "mnist", rows=rows), Data("20 Newsgroups", "20newsgroups", rows=rows))


def _streams(rows: int) -> tuple[Data, ...]:
    return (
        Data("electricity", "electricity", rows=rows),
        Data("drifting spam", "spam-corpus-drift", rows=rows),
        Data("usenet1", "usenet1"),
    )


def findings(results: Results) -> list[Finding]:
    """Curves of asking, and tables of coverage."""
    return [
        *_asking(results.where(protocol="asking")),
        *_coverage(results.where(protocol="coverage")),
    ]


def _at(points: Any, share: float) -> float:
    """The error of a rule at a share of labels, between the shares measured."""
    asked, errors = np.array(points).T
    order = np.argsort(asked)
    return float(np.interp(share, asked[order], errors[order]))


def _asking(results: Results) -> list[Finding]:
    sets = results.each("data")
    figures: list[Finding] = []
    rows = []
    gains: dict[str, list[Numbers]] = {"margin": [], "variance": []}
    for name in sets:
        part = results.where(data=name)
        mean = {rule: np.mean(part.values(rule), axis=0) for rule in RULES}
        curves = [
            Curve(rule, tuple(points[:, 0].tolist()), tuple(points[:, 1].tolist()))
            for rule, points in mean.items()
        ]
        told = part.mean("told")
        reach = [max(p[0, 0] for p in mean.values()), min(p[-1, 0] for p in mean.values())]
        curves.append(Curve("all labels", (reach[0], reach[1]), (told, told)))
        figures.append(
            Curves(
                f"asking-{name.split()[-1].lower()}",
                f"{name}: error against labels asked for",
                "share of labels asked for",
                "error",
                tuple(curves),
                percent=True,
                log_x=True,
                marks=True,
            )
        )
        errors = {rule: 100 * _at(points, 0.25) for rule, points in mean.items()}
        each = {
            rule: 100 * np.array([_at(points, 0.25) for points in part.values(rule)])
            for rule in RULES
        }
        for rule in gains:
            gains[rule].append(each["random"] - each[rule])
        rows.append((name, *(errors[rule] for rule in RULES), 100 * told))
    return [
        *(
            above_zero(
                f"At a quarter of the labels, asking by {rule} errs less than asking at random, on "
                "each set.",
                less,
                "; ".join(
                    f"{name} by {in_words(one)} points"
                    for name, one in zip(sets, less, strict=True)
                ),
                trials=f"{len(less[0])} orders of {len(sets)} sets",
            )
            for rule, less in gains.items()
        ),
        *figures,
        Table(
            "Error % at a quarter of the labels",
            ("set", *RULES, "all labels"),
            tuple(rows),
            "Read off the curves above; mean of the orders.",
        ),
    ]


def _coverage(results: Results) -> list[Finding]:
    rows = []
    kept, missed = [], []
    for name in results.each("data"):
        for noise in results.where(data=name).each("noise"):
            for label in results.where(data=name, noise=noise).each("learner"):
                part = results.where(data=name, noise=noise, learner=label)
                for kind in ("adaptive", "believing"):
                    means = {
                        key: float(np.mean([one.outcome[kind][key] for one in part]))
                        for key in (
                            "coverage", "guaranteed", "size", "answered", "error", "error_answered"
                        )
                    }  # fmt: skip
                    place = f"{name}, {label}" + (f", noise {noise:g}" if noise else "")
                    if kind == "adaptive":
                        kept.append((place, means["coverage"] - means["guaranteed"]))
                    missed.append((kind, place, means["coverage"]))
                    rows.append(
                        (
                            place,
                            kind,
                            *(
                                100 * means[key]
                                for key in ("coverage", "guaranteed", "answered", "error")
                            ),
                            100 * means["error_answered"],
                            means["size"],
                        )
                    )
    low = {
        kind: min((c, place) for k, place, c in missed if k == kind)
        for kind in ("adaptive", "believing")
    }
    columns = (
        "stream", "sets", "coverage %", "guaranteed %", "answered %", "error %",
        "error of answers %", "classes a set",
    )  # fmt: skip
    drifting = next(
        (one for one in results if one.data == "electricity" and one.learner == "AROW"), None
    )
    return [
        Claim(
            "Sets that adapt cover at least what arithmetic guarantees, under noise and drift.",
            all(gap >= 0 for _, gap in kept),
            f"{len(kept)} streams; the closest by {100 * min(gap for _, gap in kept):.2f} points",
            f"{len(kept)} streams",
            stable=True,
        ),
        Claim(
            f"Sets that adapt come within one point of the {100 * COVERAGE:g} % asked for.",
            low["adaptive"][0] >= COVERAGE - 0.01,
            f"the least is {100 * low['adaptive'][0]:.2f} % ({low['adaptive'][1]})",
            f"{len(kept)} streams",
        ),
        Claim(
            "Sets that believe the learner's probabilities do not.",
            low["believing"][0] < COVERAGE - 0.01,
            f"the least is {100 * low['believing'][0]:.2f} % ({low['believing'][1]})",
            f"{len(kept)} streams",
        ),
        *([] if drifting is None else [_over_time(drifting.outcome)]),
        Table(
            f"Prediction sets, {100 * COVERAGE:g} % asked for",
            columns,
            tuple(rows),
            "Labels are compared as they come, noise included. Answered: rows whose set has one "
            "class; on the others it abstains.",
        ),
    ]


def _over_time(outcome: dict[str, Any]) -> Finding:
    curves = [
        Curve(kind, tuple(outcome["ends"]), tuple(outcome[kind]["windows"]))
        for kind in ("adaptive", "believing")
    ]
    curves.append(
        Curve("asked for", (outcome["ends"][0], outcome["ends"][-1]), (COVERAGE, COVERAGE))
    )
    return Curves(
        "coverage-electricity",
        "Electricity: coverage along the stream",
        "rows",
        "share of sets that hold the label",
        tuple(curves),
        percent=True,
        note="Each point is a fortieth of the stream, AROW without forgetting.",
    )


def _coverage_studies(rows: int, seeds: int, noise: tuple[float, ...]) -> tuple[Study, ...]:
    options = {"coverage": COVERAGE}
    return (
        Study("coverage", _still(rows), (_FIXED,), options, noise, seeds),
        Study("coverage", _streams(rows), (_FIXED, _FORGETTING), {**options, "in_order": True}),
    )


REPRODUCTION = Reproduction(
    name="feedback",
    title="Asking for labels, and saying how sure",
    paper="",
    protocol="""
Asking: AROW on 5,000 rows of each set, three random orders; every row is predicted, its label is
learned only if it was asked for. The setting of AROW is the one with the fewest mistakes when all
labels are told, on one more order. Sets: AROW with r = 1 and 90 % coverage asked for; MNIST and 20
Newsgroups in a random order with labels replaced by others at random, and three streams in the
order in which they came.
""",
    full=(
        Study("asking", _asked(5_000), (_AROW,), {"rules": RULES}, seeds=3),
        *_coverage_studies(5_000, 2, _NOISE),
    ),
    reduced=(
        Study("asking", _asked(600)[::2], (_AROW,), {"rules": RULES}, seeds=2),
        *_coverage_studies(600, 1, (0.0, 0.3)),
    ),
    budget="4 sets x 3 orders x 15 curves' points, and 18 runs of two kinds of sets: 5 minutes of "
    "processor time.",
    findings=findings,
    differences="""
Asking where the learner is unsure saves labels on all four sets; measuring the margin in units of
its standard deviation saves more than the plain margin. Sets that adapt keep what was asked for
under noise and under drift; what changes is how many classes they need, and how often there is a
single one to answer with. With 30 % noise no single class can be right 90 % of the time, so there
is hardly ever an answer. Probabilities that are believed cover too much where the stream is calm,
and too little where it is not.
""",
)
