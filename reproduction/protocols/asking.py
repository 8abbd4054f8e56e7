"""Selective sampling: error against the share of labels asked for, by each rule and at random.

The learner's setting is the one with the fewest mistakes when it is told every label, on another
order of the rows. Every row is predicted; its label is learned only if it was asked for.
"""

from __future__ import annotations

from typing import Any

from reproduction.protocols import online
from reproduction.protocols.prepare import ORDER, random, rows_of
from reproduction.spec import Cell
from yarrow.feedback import SelectiveClassifier
from yarrow.lazy import np

REVISION = 1


def run(cell: Cell) -> dict[str, Any]:
    """Measure all rules on one order of the rows."""
    setting = online.best_setting(cell)
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    rows = rows.take(random(cell.seed, ORDER).permutation(len(rows)))
    told = cell.learner.make(setting).progressive(rows.X, rows.y).predictions
    outcome: dict[str, Any] = {"setting": setting, "told": float(np.mean(told != rows.clean))}
    for rule, values in cell.options["rules"].items():
        outcome[rule] = []
        for b in values:
            model = SelectiveClassifier(
                cell.learner.make(setting), ask=rule, b=b, random_state=cell.seed
            )
            said = model.progressive(rows.X, rows.y).predictions
            error = float(np.mean(said != rows.clean))
            outcome[rule].append([model.n_asked_ / len(rows), error])
    return outcome
