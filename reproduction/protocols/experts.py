"""Learning from experts: the settings of a learner are the experts, over the rows in their order.

Told are the error of each expert, and of each way to learn from all of them at once.
"""

from __future__ import annotations

from typing import Any

from reproduction.protocols.prepare import rows_of
from reproduction.spec import Cell
from yarrow.evaluate import bounds
from yarrow.experts import FixedShareClassifier, HedgeClassifier, WeightedMajorityClassifier
from yarrow.lazy import np

REVISION = 1
_POINTS = 60


def run(cell: Cell) -> dict[str, Any]:
    """Measure all ways on one stream."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    settings = cell.learner.settings()
    experts = [cell.learner.make(setting) for setting in settings]
    points = np.unique(np.linspace(0, len(rows), _POINTS + 1).astype(int)[1:])
    outcome: dict[str, Any] = {"settings": settings, "rows": points.tolist(), "ways": {}}
    for name, model in (
        ("weighted majority", WeightedMajorityClassifier(experts)),
        ("Hedge", HedgeClassifier(experts)),
        ("Hedge, leader", HedgeClassifier(experts, combine="leader")),
        ("fixed share", FixedShareClassifier(experts)),
    ):
        made = model.record(rows.X, rows.y)
        outcome["ways"][name] = (np.cumsum(made.own_losses)[points - 1] / points).tolist()
        outcome["experts"] = (np.cumsum(made.losses, axis=0)[points - 1] / points[:, None]).tolist()
        if name == "Hedge":
            bound = bounds.hedge(made)
            outcome["draw"] = bound.measured / len(rows)
            outcome["promised"] = bound.value / len(rows)
    return outcome
