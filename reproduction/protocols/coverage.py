"""Prediction sets: how often they hold the label that comes, and what abstaining buys.

Rows come in a random order or, with the option `in_order`, in the order of the stream. Labels are
compared as they come, noise included: that is what the guarantee speaks of.
"""

from __future__ import annotations

import itertools
from typing import Any

from reproduction.protocols.prepare import ORDER, random, rows_of
from reproduction.spec import Cell
from yarrow.feedback import PredictionSetClassifier
from yarrow.lazy import np

REVISION = 2
_WINDOWS = 40


def run(cell: Cell) -> dict[str, Any]:
    """Measure sets that adapt and sets that believe the learner, on one order of the rows."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    if not cell.options.get("in_order"):
        rows = rows.take(random(cell.seed, ORDER).permutation(len(rows)))
    labels = rows.y.tolist()
    outcome: dict[str, Any] = {"rows": len(rows)}
    for name, adapt in (("adaptive", True), ("believing", False)):
        model = PredictionSetClassifier(
            cell.learner.make(cell.learner.settings()[0]),
            coverage=cell.options["coverage"],
            adapt=adapt,
        )
        said, sets = model.progressive_sets(rows.X, rows.y)
        covered = np.array([label in one for label, one in zip(labels, sets, strict=True)])
        answered = np.array([len(one) == 1 for one in sets])
        wrong = np.asarray(said != rows.y)
        ends = np.linspace(0, len(rows), min(_WINDOWS, len(rows)) + 1).astype(int)
        outcome[name] = {
            "coverage": model.coverage_,
            "guaranteed": model.guaranteed_coverage_,
            "size": model.mean_size_,
            "answered": float(answered.mean()),
            "error": float(wrong.mean()),
            "error_answered": float(wrong[answered].mean()) if answered.any() else 0.0,
            "windows": [float(covered[a:b].mean()) for a, b in itertools.pairwise(ends)],
        }
        outcome["ends"] = ends[1:].tolist()
    return outcome
