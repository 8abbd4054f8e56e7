"""Tune on one randomised run, then learn and test: 001's protocol for its real data.

The setting and the number of passes are those with the lowest error on a held-out fifth of one
random order of the rows, whose labels are as noisy as the others. Then either the set's own test
part is predicted (`folds` 0), or each of `folds` parts by a model of the others. Errors of the test
are counted against labels without noise. Rows are put in a random order once; passes repeat it.

On an easy task many settings have the same lowest error. All of them are then tested, and the error
is the mean of theirs: taking the first would favour whoever's grid begins at the better end.
"""

from __future__ import annotations

from typing import Any

from reproduction.protocols.prepare import (
    FOLDS,
    ORDER,
    TUNING,
    random,
    rows_of,
    test_part,
    true_labels,
)
from reproduction.spec import Cell, Learner
from yarrow.datasets import Dataset
from yarrow.lazy import np

REVISION = 2


def run(cell: Cell) -> dict[str, Any]:
    """Measure one learner on one task."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    options = {"folds": 0, "passes": 10, "tuning_rows": None, **cell.options}
    tuning = tuning_errors(rows, cell.learner, cell.seed, options["passes"], options["tuning_rows"])
    chosen = lowest(tuning)
    order = random(cell.seed, ORDER).permutation(len(rows))
    if options["folds"]:
        parts = np.array_split(random(cell.seed, FOLDS).permutation(len(rows)), options["folds"])
        wrong = []
        for part in parts:
            learned = rows.take(order[~np.isin(order, part)])
            X, y = rows.X[part], true_labels(rows)[part]
            wrong.append(_mean_error(cell.learner, chosen, learned, rows.classes, X, y))
    else:
        test = test_part(rows)
        learned = rows.take(order)
        wrong = [_mean_error(cell.learner, chosen, learned, rows.classes, test.X, test.y)]
    settings = cell.learner.settings()
    return {
        "error": float(np.mean(wrong)),
        "errors": wrong,
        "chosen": [[settings[place], passes] for place, passes in chosen.items()],
        "tuning": tuning,
        "rows": len(rows),
        "features": int(rows.X.shape[1]),
    }


def tuning_errors(
    rows: Dataset, learner: Learner, seed: int, most_passes: int, most_rows: int | None
) -> list[list[float]]:
    """Return the errors of all settings on a held-out fifth, after each pass."""
    order = random(seed, TUNING).permutation(len(rows))[:most_rows]
    held = len(order) // 5
    learned, tried = rows.take(order[held:]), rows.take(order[:held])
    errors = []
    for setting in learner.settings():
        model = learner.make(setting)
        after = []
        for _ in range(most_passes):
            model.partial_fit(learned.X, learned.y, classes=rows.classes)
            after.append(_error(model, tried.X, tried.y))
        errors.append(after)
    return errors


def lowest(errors: list[list[float]]) -> dict[int, list[int]]:
    """Return the settings with the lowest error, and after which passes they have it.

    >>> lowest([[0.3, 0.1], [0.2, 0.2], [0.1, 0.1]])
    {0: [2], 2: [1, 2]}
    """
    least = min(map(min, errors))
    passes = [[place for place, error in enumerate(row, 1) if error == least] for row in errors]
    return {place: found for place, found in enumerate(passes) if found}


def _mean_error(
    learner: Learner,
    chosen: dict[int, list[int]],
    rows: Dataset,
    classes: list[Any],
    X: Any,
    y: Any,
) -> float:
    """Return the mean error on X of all chosen settings and passes."""
    settings, errors = learner.settings(), []
    for place, passes in chosen.items():
        model = learner.make(settings[place])
        for done in range(1, max(passes) + 1):
            model.partial_fit(rows.X, rows.y, classes=classes)
            if done in passes:
                errors.append(_error(model, X, y))
    return float(np.mean(errors))


def _error(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) != y))
