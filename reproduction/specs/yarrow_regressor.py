"""The regressor without settings beside other libraries' settings, chosen in hindsight."""

from __future__ import annotations

import math
from typing import Any

from reproduction.findings import Claim, Finding, Table
from reproduction.regression_streams import SOURCES
from reproduction.results import Results
from reproduction.spec import Data, Learner, Reproduction, Study
from yarrow.lazy import np

OURS = "YarrowRegressor"
PARTS = (
    "splines", "least squares", "drift", "stack", "aggregation", "a limit of errors",
    "a limit of values",
)  # fmt: skip
NUMBERS = Learner(
    "other numbers",
    "yarrow_regressor_of",
    {},
    {
        "most_errors": (5.0, 10.0, 20.0),
        "covariance_r": (0.01, 0.03, 0.1),
        "drift": (1e-4, 1e-3),
        "stack_r": (1.0, 10.0),
    },
)
"""Of these the numbers were chosen; leaving a source out shows what choosing is worth there."""
VOWPAL = (
    *(
        f"{kind} {rate}".strip()
        for kind in ("", "--loss_function quantile --quantile_tau 0.5", "-q ::")
        for rate in ("-l 0.05", "-l 0.5", "-l 2", "-l 0.5 --power_t 0", "-l 0.05 --power_t 0")
    ),
    "--coin",
    "--coin -q ::",
)
LIBRARIES = {
    "river": (
        Learner("river", "RiverRegressor", {}, {"rate": (0.001, 0.003, 0.01, 0.03, 0.1)}),
        Learner(
            "river", "RiverRegressor", {"optimizer": "AdaGrad"}, {"rate": (0.03, 0.1, 0.3, 1.0)}
        ),
        Learner("river", "RiverRegressor", {"optimizer": "Adam"}, {"rate": (0.001, 0.01, 0.1)}),
        Learner("river", "RiverRegressor", {"optimizer": "RMSProp"}, {"rate": (0.01, 0.1)}),
        Learner("river", "RiverRegressor", {"loss": "Huber"}, {"rate": (0.01, 0.1)}),
    ),
    "scikit-learn": (
        Learner("scikit-learn", "ScikitRegressor", {}, {"eta0": (0.03, 0.1, 0.3)}),
        Learner(
            "scikit-learn",
            "ScikitRegressor",
            {"learning_rate": "constant"},
            {"eta0": (0.01, 0.1)},
        ),
        Learner("scikit-learn", "ScikitRegressor", {"loss": "huber"}, {"eta0": (0.1, 0.3)}),
        Learner(
            "scikit-learn",
            "ScikitRegressor",
            {"learning_rate": "pa1", "eta0": 1.0, "loss": "epsilon_insensitive"},
        ),
    ),
    "Vowpal Wabbit": (
        Learner(
            "Vowpal Wabbit",
            "VowpalRegressor",
            {},
            {"arguments": VOWPAL},
        ),
    ),
}
TREE = Learner("Hoeffding tree", "RiverTree")
LEARNERS = (
    Learner(OURS, OURS),
    *(Learner(f"without {part}", "yarrow_regressor_without", {"part": part}) for part in PARTS),
    NUMBERS,
    *(learner for those in LIBRARIES.values() for learner in those),
    TREE,
)
SETTINGS = sum(len(one.settings()) for those in LIBRARIES.values() for one in those)
STREAMS = {
    make.__name__.replace("_", " "): source for source, makes in SOURCES.items() for make in makes
}
FIRST = 3000


def studies(streams: tuple[str, ...], first: int) -> tuple[Study, ...]:
    """All learners on the first rows of each stream."""
    data = tuple(Data(name, name.replace(" ", "_")) for name in streams)
    return (Study("regression", data, LEARNERS, {"first": first}),)


def findings(results: Results) -> list[Finding]:
    """Stream by stream, what intervals held, what each part is worth, and the numbers' choice."""
    streams = results.each("data")
    best = {
        name: {library: _best(results, name, library) for library in LIBRARIES} for name in streams
    }
    ours = {name: _best(results, name, OURS) for name in streams}
    ratios = {name: ours[name] / min(best[name].values()) for name in streams}
    held = [
        (name, _held(results, name), results.where(data=name, learner=OURS)) for name in streams
    ]
    worst = max(
        abs(float(shares[level]) - float(level))
        for _, shares, _ in held
        for level in ("0.8", "0.9", "0.95")
    )
    no_worse = sum(ratio <= 1 for ratio in ratios.values())
    trials = f"{len(streams)} streams"
    return [
        Claim(
            f"Its error is no larger than that of the best of {SETTINGS} settings of three "
            "libraries in hindsight on most streams.",
            2 * no_worse > len(streams),
            f"on {no_worse} of {len(streams)}",
            trials,
        ),
        Claim(
            "On none of them it is larger by more than 2 %.",
            max(ratios.values()) <= 1.02,
            f"{100 * (max(ratios.values()) - 1):+.1f} % at worst",
            trials,
        ),
        Claim(
            "Intervals of 80, 90 and 95 % hold the target within two points of that.",
            worst <= 0.02,
            f"{100 * worst:.1f} points off at worst",
            trials,
        ),
        Table(
            "R² stream by stream",
            ("stream", "rows", OURS, *LIBRARIES, TREE.label, "error beside the best"),
            tuple(
                (
                    name,
                    results.where(data=name, learner=OURS).values("rows")[0],
                    *(_r2(results, name, one) for one in (OURS, *LIBRARIES, TREE.label)),
                    f"{100 * (ratios[name] - 1):+.1f} %",
                )
                for name in streams
            ),
            "Each library's best setting in hindsight; the error is the root of the mean square.",
        ),
        Table(
            "How often an interval held the target",
            ("stream", "80 %", "90 %", "95 %"),
            tuple(
                (name, *(f"{100 * float(shares[level]):.1f}" for level in ("0.8", "0.9", "0.95")))
                for name, shares, _ in held
            ),
        ),
        _parts(results, ours),
        _left_out(results, best, ours),
    ]


def _errors(results: Results, stream: str, learner: str) -> list[dict[str, Any]]:
    found = results.where(data=stream, learner=learner)
    return [setting for one in found for setting in one.outcome["settings"]]


def _best(results: Results, stream: str, learner: str) -> float:
    return float(min(one["error"] for one in _errors(results, stream, learner)))


def _r2(results: Results, stream: str, learner: str) -> str:
    return f"{max(one['determination'] for one in _errors(results, stream, learner)):.4f}"


def _held(results: Results, stream: str) -> dict[str, float]:
    shares: dict[str, float] = results.where(data=stream, learner=OURS).values("coverage")[0]
    return shares


def _parts(results: Results, ours: dict[str, float]) -> Table:
    def row(part: str) -> tuple[Any, ...]:
        more = {n: _best(results, n, f"without {part}") / error - 1 for n, error in ours.items()}
        worst = max(more, key=lambda name: more[name])
        mean = math.exp(np.mean([math.log1p(one) for one in more.values()])) - 1
        return part, f"{100 * mean:+.1f} %", f"{100 * more[worst]:+.1f} %", worst

    return Table(
        "What each part is worth",
        ("without", "error", "at worst", "there"),
        tuple(row(part) for part in PARTS),
        "The error without a part beside that with all; geometric mean over the streams.",
    )


def _left_out(results: Results, best: Any, ours: dict[str, float]) -> Table:
    """Each source by the numbers that are best on all others."""
    settings = NUMBERS.settings()
    logs = {
        name: np.log([one["error"] for one in _errors(results, name, NUMBERS.label)])
        for name in ours
    }
    rows = []
    for source in dict.fromkeys(STREAMS.values()):
        inside = [name for name in ours if STREAMS[name] == source]
        others = [name for name in ours if STREAMS[name] != source]
        if not inside or not others:
            continue
        chosen = int(np.argmin(np.mean([logs[name] for name in others], axis=0)))
        for name in inside:
            peer = min(best[name].values())
            rows.append(
                (
                    name,
                    ", ".join(f"{value:g}" for value in settings[chosen].values()),
                    f"{100 * (math.exp(logs[name][chosen]) / peer - 1):+.1f} %",
                    f"{100 * (ours[name] / peer - 1):+.1f} %",
                )
            )
    return Table(
        "Numbers chosen without the source",
        ("stream", ", ".join(NUMBERS.grid), "error beside the best peer", "as it is"),
        tuple(rows),
        f"Of {len(settings)} combinations the best on all other sources.",
    )


REPRODUCTION = Reproduction(
    name="yarrow-regressor",
    title="A regressor without settings",
    paper="",
    protocol=f"""
Streams of eight sources in their own order, at most {FIRST:,} rows each: river's files, prices and
weather, MovieLens by time, scikit-learn's diabetes table, and generated ones (Friedman's surface,
still and drifting; planes over columns of very different size, still, moving, with 2 % of the
targets spoilt and judged by the others; words). Each row is predicted, then learned. Beside
[YarrowRegressor](../yarrow-regressor.md) stand {SETTINGS} settings of river, scikit-learn and
Vowpal Wabbit, the best of each in hindsight; river's and scikit-learn's behind running scalers,
and all with targets brought to scale by their first hundred. `pip install river vowpalwabbit`.
""",
    full=studies(tuple(STREAMS), FIRST),
    reduced=studies(("trump approval", "diabetes"), 100),
    budget="Ten minutes of processor time, nearly all of it scikit-learn's and river's.",
    findings=findings,
    differences="",
)
