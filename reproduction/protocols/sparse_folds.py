"""Accuracy and sparseness after many passes, by folds: 004's protocol.

For each fold and each setting (lambda), `passes` passes over the other folds. The fold's own
setting is chosen by a model of those other folds but one, which it predicts: the rows of the fold
play no part. `by_setting` has the folds' results of every setting, so that the best in hindsight,
which the paper may mean, can be told, too. The sparseness is the share of zeros among the weights
of all features that occur in the rows learned, times the classes.
"""

from __future__ import annotations

from typing import Any

from reproduction.protocols.prepare import FOLDS, random, rows_of, true_labels
from reproduction.spec import Cell, Learner
from yarrow.datasets import Dataset
from yarrow.lazy import np

REVISION = 1


def run(cell: Cell) -> dict[str, Any]:
    """Measure one learner by all folds."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    n_folds, passes = cell.options["folds"], cell.options["passes"]
    tested = cell.options.get("tested", n_folds)
    order = random(cell.seed, FOLDS).permutation(len(rows))
    parts = np.array_split(order, n_folds)
    settings = cell.learner.settings()
    by_setting: list[list[tuple[float, float]]] = [[] for _ in settings]
    chosen = []
    for fold, test in enumerate(parts[:tested]):
        others = [part for place, part in enumerate(parts) if place != fold]
        tuning = []
        for place, setting in enumerate(settings):
            inner = np.concatenate(others[1:])
            model = _learned(cell.learner, setting, rows.take(inner), passes, rows.classes)
            tuning.append(_accuracy(model, rows, others[0]))
            learned = rows.take(np.concatenate(others))
            model = _learned(cell.learner, setting, learned, passes, rows.classes)
            by_setting[place].append((_accuracy(model, rows, test), sparseness(model, learned.X)))
        chosen.append(int(np.argmax(tuning)))
    picked = [by_setting[place][fold] for fold, place in enumerate(chosen)]
    return {
        "accuracies": [accuracy for accuracy, _ in picked],
        "accuracy": float(np.mean([accuracy for accuracy, _ in picked])),
        "deviation": float(np.std([accuracy for accuracy, _ in picked])),
        "sparseness": float(np.mean([zeros for _, zeros in picked])),
        "chosen": [settings[place] for place in chosen],
        "settings": settings,
        "by_setting": [[float(value) for value in np.mean(folds, axis=0)] for folds in by_setting],
        "rows": len(rows),
        "features": int(np.count_nonzero(rows.X.sum(axis=0))),
    }


def _learned(
    learner: Learner, setting: dict[str, Any], rows: Dataset, passes: int, classes: list[Any]
) -> Any:
    model = learner.make(setting)
    for _ in range(passes):
        model.partial_fit(rows.X, rows.y, classes=classes)
    return model


def _accuracy(model: Any, rows: Dataset, places: Any) -> float:
    return float(np.mean(model.predict(rows.X[places]) == true_labels(rows)[places]))


def sparseness(model: Any, X: Any) -> float:
    """Return the share of zeros among the weights of all features that occur in X."""
    seen = np.diff(X.tocsc().indptr) > 0
    weights = model._fitted.plane(0)[0][1:][seen]  # slot 0 is the intercept; a column a class
    return float(np.mean(weights == 0))
