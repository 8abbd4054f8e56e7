"""A stream whose second half is about something else: 000's protocol.

The setting is the one with the fewest mistakes on the first half, each row predicted before it is
learned. With it, the first half is learned, and the second half predicted row by row and learned:
its mistakes so far are the result; where several settings have the fewest, the mean of theirs.
`in_hindsight` has the errors of all settings on the second half.
"""

from __future__ import annotations

import time
from typing import Any

from reproduction.protocols.prepare import fewest, middle, rows_of
from reproduction.spec import Cell, Learner
from yarrow.datasets import Dataset
from yarrow.lazy import np

REVISION = 3
_POINTS = 80


def run(cell: Cell) -> dict[str, Any]:
    """Measure one learner on one draw of the stream."""
    first, second, classes = halves(rows_of(cell.data, noise=cell.noise, seed=cell.seed))
    settings, runs, seconds = cell.learner.settings(), [], []
    for setting in settings:
        model, started = cell.learner.make(setting), time.process_time()
        runs.append((mistakes(model, first, classes), mistakes(model, second, classes)))
        seconds.append(time.process_time() - started)
    best = fewest([before.sum() for before, _ in runs])
    wrong = np.mean([runs[place][1] for place in best], axis=0)
    points = np.unique(np.linspace(0, len(wrong), _POINTS + 1).astype(int)[1:])
    return {
        "setting": settings[middle(best)],
        "rows": points.tolist(),
        "mistakes": np.cumsum(wrong)[points - 1].tolist(),
        "error": float(wrong.mean()),
        "in_hindsight": [float(after.mean()) for _, after in runs],
        "features": int(np.count_nonzero(np.diff(first.X.tocsc().indptr))),
        "seconds": float(np.mean([seconds[place] for place in best])),
    }


def halves(rows: Dataset) -> tuple[Dataset, Dataset, list[Any]]:
    """Return the first half, the second, and the classes of both."""
    half = len(rows) // 2
    return rows.take(slice(None, half)), rows.take(slice(half, None)), rows.classes


def mistakes(model: Any, rows: Dataset, classes: list[Any]) -> Any:
    """Predict each row, then learn it; return which predictions were wrong."""
    predictions = model.progressive(rows.X, rows.y, classes=classes).predictions
    return np.asarray(predictions) != rows.y


def tuned(learner: Learner, rows: Dataset, classes: list[Any]) -> tuple[dict[str, Any], Any]:
    """Return the setting with the fewest mistakes on these rows (the middle one), and its model."""
    settings = learner.settings()
    models = [learner.make(setting) for setting in settings]
    best = middle(fewest([mistakes(model, rows, classes).sum() for model in models]))
    return settings[best], models[best]
