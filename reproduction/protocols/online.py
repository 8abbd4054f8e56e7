"""Mistakes made on the way: each row is predicted before it is learned, once, in a random order.

Mistakes are counted against the labels without noise, as 001 does. The setting is the one with the
fewest mistakes against the *noisy* labels in a run of its own (another seed, which no measured run
has); where several have them, the middle one of the grid. Where there is a test part, the final
weights predict it.
"""

from __future__ import annotations

import functools
from typing import Any

from reproduction.protocols.prepare import ORDER, fewest, middle, random, rows_of
from reproduction.spec import Cell, Data, Learner
from yarrow.datasets import Dataset
from yarrow.lazy import np

REVISION = 2
TUNING_SEED = 1_000_000
_POINTS = 50


def run(cell: Cell) -> dict[str, Any]:
    """Measure one learner on one order of the rows."""
    setting = best_setting(cell)
    rows = _ordered(cell.data, cell.noise, cell.seed)
    model = cell.learner.make(setting)
    predictions = model.progressive(rows.X, rows.y, classes=rows.classes).predictions
    mistakes = np.cumsum(np.asarray(predictions) != rows.clean)
    points = np.unique(np.linspace(0, len(rows), _POINTS + 1).astype(int)[1:])
    outcome = {
        "setting": setting,
        "rows": points.tolist(),
        "mistakes": mistakes[points - 1].tolist(),
    }
    if rows.test is not None:
        outcome["test_error"] = float(np.mean(model.predict(rows.test.X) != rows.test.y))
    return outcome


def _ordered(data: Data, noise: float, seed: int) -> Dataset:
    rows = rows_of(data, noise=noise, seed=seed)
    return rows.take(random(seed, ORDER).permutation(len(rows)))


def best_setting(cell: Cell) -> dict[str, Any]:
    """Return the setting with the fewest mistakes on an order that no measured run has."""
    return _best_setting(_Frozen(cell))


class _Frozen:
    """What the choice of a setting depends on; cells that differ in the seed share it."""

    def __init__(self, cell: Cell) -> None:
        self.data, self.learner, self.noise = cell.data, cell.learner, cell.noise
        self._key = repr((cell.data, cell.learner, cell.noise))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and self._key == other._key


@functools.lru_cache(maxsize=64)
def _best_setting(of: _Frozen) -> dict[str, Any]:
    settings = of.learner.settings()
    if len(settings) == 1:
        return settings[0]
    rows = _ordered(of.data, of.noise, TUNING_SEED)
    made = [_mistakes(of.learner, setting, rows) for setting in settings]
    return settings[middle(fewest(made))]


def _mistakes(learner: Learner, setting: dict[str, Any], rows: Dataset) -> int:
    model = learner.make(setting)
    predictions = model.progressive(rows.X, rows.y, classes=rows.classes).predictions
    return int(np.count_nonzero(np.asarray(predictions) != rows.y))
