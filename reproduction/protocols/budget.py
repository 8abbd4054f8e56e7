"""Kernel learners that may keep so many rows (`budget`), on a stream that drifts or on one pass.

With a drifting stream (`drawn`) this is the protocol `drift`: settings by the mistakes on the first
half, the result by those on the second. Otherwise the rows are taken once in a random order, each
predicted before it is learned; the setting is the one with the fewest mistakes on `tuning` rows of
another order, and the final model predicts the set's own test part.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from reproduction.protocols import drift
from reproduction.protocols.online import TUNING_SEED
from reproduction.protocols.prepare import ORDER, random, rows_of, test_part
from reproduction.spec import Cell, Learner
from yarrow.datasets import Dataset
from yarrow.lazy import np

REVISION = 2


def run(cell: Cell) -> dict[str, Any]:
    """Measure one learner with one budget."""
    fixed = {**cell.learner.parameters, "budget": cell.options["budget"]}
    learner = dataclasses.replace(cell.learner, parameters=fixed)
    if cell.data.drawn:
        return drift.run(dataclasses.replace(cell, learner=learner))
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    setting = _best_setting(learner, rows, cell.options["tuning"])
    model = learner.make(setting)
    wrong = drift.mistakes(model, _in_order(rows, cell.seed), rows.classes)
    test = test_part(rows)
    return {
        "setting": setting,
        "error": float(wrong.mean()),
        "test_error": float(np.mean(model.predict(test.X) != test.y)),
        "kept": int(model.n_support_),
    }


def _in_order(rows: Dataset, seed: int) -> Dataset:
    return rows.take(random(seed, ORDER).permutation(len(rows)))


def _best_setting(learner: Learner, rows: Dataset, count: int) -> dict[str, Any]:
    settings = learner.settings()
    if len(settings) == 1:
        return settings[0]
    part = _in_order(rows, TUNING_SEED).take(slice(None, count))
    found = [drift.mistakes(learner.make(one), part, rows.classes).sum() for one in settings]
    return settings[int(np.argmin(found))]
