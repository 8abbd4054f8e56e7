"""Choosing p of SGFT while learning: 004's second open question.

Every setting of the grid (p and lambda) is an expert of `yarrow.experts.HedgeClassifier` with
eta = sqrt(8 ln(settings) / rows), over the rows once in a random order. `vote` predicts by the
weighted vote; `leader` by the setting with the fewest mistakes so far, which is a single sparse
model at any time; `draw` is the mean error of a setting drawn by the weights, and `promised` what
Hedge's theorem allows it.
"""

from __future__ import annotations

from typing import Any

from reproduction.protocols.prepare import ORDER, random, rows_of
from reproduction.spec import Cell
from yarrow.evaluate import bounds
from yarrow.experts import HedgeClassifier
from yarrow.lazy import np

REVISION = 2


def run(cell: Cell) -> dict[str, Any]:
    """Measure the choice on one order of the rows."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    rows = rows.take(random(cell.seed, ORDER).permutation(len(rows)))
    settings = cell.learner.settings()
    eta = float(np.sqrt(8 * np.log(len(settings)) / len(rows)))
    made = HedgeClassifier([cell.learner.make(setting) for setting in settings], eta=eta).record(
        rows.X, rows.y
    )
    bound = bounds.hedge(made)
    leader = made.losses[np.arange(len(rows)), made.weights.argmax(axis=1)]
    return {
        "settings": settings,
        "errors": made.losses.mean(axis=0).tolist(),
        "vote": float(made.own_losses.mean()),
        "leader": float(leader.mean()),
        "draw": bound.measured / len(rows),
        "promised": bound.value / len(rows),
        "weights": made.model.weights_.tolist(),
        "rows": len(rows),
    }
