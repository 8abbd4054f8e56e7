"""Comparisons to show: like real ones in shape, of any size, and with hostile names."""

from __future__ import annotations

import numpy as np

from yarrow.compare import Comparison, Outcome

HOSTILE = "<script>alert(1)</script>\"'&\x00\x1b|`*]]>--><b>"


def comparison(
    learners: int = 6, classes: int = 2, rows: int = 5_000, *, prefix: str = "Learner"
) -> Comparison:
    """`learners` with two settings each, and the two baselines; `classes` 0 for a regression."""
    random = np.random.default_rng(learners + classes)
    labels = [f"{prefix} class {i}" for i in range(classes)]
    outcomes = []
    for i in range(learners):
        error = 0.05 + 0.3 * random.random() ** 2
        for setting in (0.1, 1.0):
            outcomes.append(_outcome(f"{prefix}{i}Classifier", i, setting, error, rows, labels))
            outcomes[-1].best = setting == 1.0
            error *= 0.9
    for name, error in (("repeat the last label", 0.5), ("majority class so far", 0.45)):
        outcome = _outcome(name, 0, 0.0, error, rows, labels)
        outcome.family, outcome.parameters, outcome.nonzeros, outcome.best = "baseline", {}, 0, True
        outcomes.append(outcome)
    outcomes.append(Outcome("broken", "BrokenClassifier", "affine", failure="row 3: not finite."))
    best = sorted((o for o in outcomes if o.best), key=lambda o: o.mistakes + o.squared_error)
    rivals = [
        {"name": o.learner, "difference": 0.01 * i, "low": 0.01 * i - 0.015, "high": 0.05}
        for i, o in enumerate(best[1:5], start=1)
    ]
    ranks = np.sort(1 + random.random(len(best)) * (len(best) - 1))
    return Comparison(
        {
            "name": f"{prefix} data",
            "rows": rows,
            "features": 1_234_567,
            "classes": labels or None,
            "order": "file order",
            "source": "made up",
            "values_per_row": 12.3,
            "noise": 0.1,
        },
        command=f"yarrow compare {prefix}",
        yarrow="0.1.0",
        protocol="Each row is predicted, then learned.",
        seconds=12.0,
        outcomes=outcomes,
        ranks={
            "learners": [o.learner for o in best],
            "mean_ranks": ranks.tolist(),
            "critical_difference": 2.0,
            "over": "10 folds",
        },
        recommendation={
            "learner": best[0].learner,
            "parameters": best[0].parameters,
            "sentence": f"{prefix} is best: 5.00 % errors.",
            "evidence": [f"{prefix} evidence."],
            "rivals": rivals,
        },
    )


def _outcome(
    learner: str, i: int, setting: float, error: float, rows: int, labels: list[str]
) -> Outcome:
    random = np.random.default_rng(i)
    places = np.unique(np.linspace(1, rows, 100).astype(int))
    curve = [(int(at), float(min(1.0, error + 0.3 / at**0.5))) for at in places[:-1]]
    mistakes = int(error * rows) if labels else 0
    curve.append((rows, mistakes / rows if labels else error))
    counts = random.poisson(20 * error, size=(len(labels), len(labels)))
    np.fill_diagonal(counts, rows // max(1, len(labels)))
    return Outcome(
        f"{learner}(r={setting})",
        learner,
        ("affine", "confidence", "proximal")[i % 3],
        {"r": setting},
        rows=rows,
        mistakes=mistakes,
        squared_error=0.0 if labels else error**2 * rows,
        updates=rows // 3,
        nonzeros=int(10 ** (1 + 5 * random.random())),
        seconds=float(10 ** (-2 + 2 * random.random())),
        curve=curve,
        confusion={"labels": labels, "counts": counts.tolist()} if labels else None,
    )
