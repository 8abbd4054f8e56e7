"""Accuracy and sparseness after many passes, by folds: 004's protocol.

For each fold and each setting (lambda), `passes` passes over the other folds. The fold's own
setting is chosen by cross-validation within those other folds: the rows of the fold play no part.
Each pair of neighbouring folds (up to `inner` places apart, in a circle) is left out together, and
its model predicts either of them for the choice of the other: so each fold chooses by twice `inner`
others, for the price of `inner` models. `by_setting` has the folds' results of every setting, so
that the best in hindsight, which the paper may mean, can be told, too. The sparseness is the share
of zeros among the weights of all features that occur in the rows learned, times the classes.
"""

from __future__ import annotations

from typing import Any

from reproduction.protocols.prepare import FOLDS, random, rows_of, true_labels
from reproduction.spec import Cell, Learner
from yarrow.datasets import Dataset
from yarrow.lazy import np

REVISION = 2


def run(cell: Cell) -> dict[str, Any]:
    """Measure one learner by all folds."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    n_folds, passes = cell.options["folds"], cell.options["passes"]
    order = random(cell.seed, FOLDS).permutation(len(rows))
    parts = np.array_split(order, n_folds)
    settings = cell.learner.settings()

    def learned_without(setting: dict[str, Any], *folds: int) -> tuple[Any, Dataset]:
        others = [part for place, part in enumerate(parts) if place not in folds]
        learned = rows.take(np.concatenate(others))
        return _learned(cell.learner, setting, learned, passes, rows.classes), learned

    inner = np.zeros((len(settings), n_folds))  # sums of accuracies, by the fold they choose for
    by_setting: list[list[tuple[float, float]]] = [[] for _ in settings]
    pairs = neighbours(n_folds, cell.options.get("inner", 1))
    for place, setting in enumerate(settings):
        for one, other in pairs:
            model, _ = learned_without(setting, one, other)
            inner[place, one] += _accuracy(model, rows.X, rows.y, parts[other])
            inner[place, other] += _accuracy(model, rows.X, rows.y, parts[one])
        for fold, test in enumerate(parts):
            model, learned = learned_without(setting, fold)
            accuracy = _accuracy(model, rows.X, true_labels(rows), test)
            by_setting[place].append((accuracy, sparseness(model, learned.X)))
    chosen = inner.argmax(axis=0).tolist()
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


def neighbours(folds: int, distance: int) -> list[tuple[int, int]]:
    """Return all pairs of folds that are at most so many places apart in a circle.

    >>> neighbours(4, 1)
    [(0, 1), (0, 3), (1, 2), (2, 3)]
    """
    found = {
        tuple(sorted((fold, (fold + step) % folds)))
        for fold in range(folds)
        for step in range(1, distance + 1)
    }
    return sorted((one, other) for one, other in found if one != other)


def _accuracy(model: Any, X: Any, y: Any, places: Any) -> float:
    return float(np.mean(model.predict(X[places]) == y[places]))


def sparseness(model: Any, X: Any) -> float:
    """Return the share of zeros among the weights of all features that occur in X."""
    seen = np.diff(X.tocsc().indptr) > 0
    weights = model._fitted.plane(0)[0][1:][seen]  # slot 0 is the intercept; a column a class
    return float(np.mean(weights == 0))
