"""Tune on one randomised run, then learn and test: 001's protocol for its real data.

The setting and the number of passes are those with the lowest error on a held-out fifth of one
random order of the rows, whose labels are as noisy as the others. Then either the set's own test
part is predicted (`folds` 0), or each of `folds` parts by a model of the others. Errors of the test
are counted against labels without noise. Rows are put in a random order once; passes repeat it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
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

REVISION = 1


def run(cell: Cell) -> dict[str, Any]:
    """Measure one learner on one task."""
    rows = rows_of(cell.data, noise=cell.noise, seed=cell.seed)
    options = {"folds": 0, "passes": 10, "tuning_rows": None, **cell.options}
    setting, passes, errors = choose(
        rows, cell.learner, cell.seed, options["passes"], options["tuning_rows"]
    )
    learn = functools.partial(_learned, cell.learner, setting, passes)
    order = random(cell.seed, ORDER).permutation(len(rows))
    if options["folds"]:
        parts = np.array_split(random(cell.seed, FOLDS).permutation(len(rows)), options["folds"])
        wrong = []
        for part in parts:
            model = learn(rows.take(order[~np.isin(order, part)]), rows.classes)
            wrong.append(_error(model, rows.X[part], true_labels(rows)[part]))
    else:
        model = learn(rows.take(order), rows.classes)
        test = test_part(rows)
        wrong = [_error(model, test.X, test.y)]
    return {
        "error": float(np.mean(wrong)),
        "errors": wrong,
        "setting": setting,
        "passes": passes,
        "tuning": errors,
        "rows": len(rows),
        "features": int(rows.X.shape[1]),
    }


def choose(
    rows: Dataset, learner: Learner, seed: int, most_passes: int, most_rows: int | None
) -> tuple[dict[str, Any], int, list[list[float]]]:
    """Return the best setting, its passes, and the errors of all settings after each pass."""
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
    best = int(np.argmin(errors))  # of equal ones the first setting, then the fewest passes
    return learner.settings()[best // most_passes], best % most_passes + 1, errors


def _learned(
    learner: Learner, setting: Mapping[str, Any], passes: int, rows: Dataset, classes: list[Any]
) -> Any:
    model = learner.make(setting)
    for _ in range(passes):
        model.partial_fit(rows.X, rows.y, classes=classes)
    return model


def _error(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) != y))
