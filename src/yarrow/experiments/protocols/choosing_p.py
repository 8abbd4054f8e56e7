"""Choosing p of SGFT while learning: 004's second open question.

Every setting of the grid (p and lambda) learns the rows once, in a random order, each row predicted
before it is learned. Hedge weighs them by their mistakes so far, exp(-eta * mistakes) with
eta = sqrt(8 ln(settings) / rows). `vote` predicts by the weighted vote; `leader` by the setting
with the fewest mistakes so far, which is a single sparse model at any time.
"""

from __future__ import annotations

from typing import Any

from yarrow.experiments.protocols.prepare import ORDER, random, rows_of, true_labels
from yarrow.experiments.spec import Cell
from yarrow.lazy import np

REVISION = 1


def run(cell: Cell) -> dict[str, Any]:
    """Measure the choice on one order of the rows."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    rows = rows.take(random(cell.seed, ORDER).permutation(len(rows)))
    settings = cell.learner.settings()
    said = np.array(
        [
            cell.learner.make(setting)
            .progressive(rows.X, rows.y, classes=rows.classes)
            .predictions.astype(str)
            for setting in settings
        ]
    )
    true = true_labels(rows).astype(str)
    wrong = said != true
    before = np.cumsum(wrong, axis=1) - wrong
    rate = np.sqrt(8 * np.log(len(settings)) / len(rows))
    weights = np.exp(-rate * (before - before.min(axis=0)))
    votes = np.stack([(weights * (said == label)).sum(axis=0) for label in np.unique(said)])
    vote = np.unique(said)[votes.argmax(axis=0)]
    leader = said[before.argmin(axis=0), np.arange(len(rows))]
    final = np.exp(-rate * (wrong.sum(axis=1) - wrong.sum(axis=1).min()))
    return {
        "settings": settings,
        "errors": wrong.mean(axis=1).tolist(),
        "vote": float(np.mean(vote != true)),
        "leader": float(np.mean(leader != true)),
        "weights": (final / final.sum()).tolist(),
        "rows": len(rows),
    }
