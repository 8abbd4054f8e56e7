"""k-fold cross-validation of settings on a stream, in bounded memory: all folds side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from yarrow.base.linear import LinearModel
from yarrow.compare.entrant import Entrant
from yarrow.compare.race_batch import Classes, RaceBatch
from yarrow.data.arrays import Array
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate.curves import error_of
from yarrow.lazy import np
from yarrow.online.adapters import adapter_of
from yarrow.online.learners import has_learned


def cross_validate(
    source: Any, entrants: Sequence[Entrant], folds: int, *, passes: int, seed: int, threads: int
) -> list[dict[str, Any]]:
    """The error of each entrant on each fold, by a model that learned the other folds.

    Each row belongs to a fold drawn at random. The rows of the other folds are learned in their
    order; then one more pass predicts.
    """
    if folds < 2:
        raise ParameterError(f"The number of folds must be at least 2. Got {folds} instead.")
    classes = None if source.is_regression else Classes()
    runs = [
        _FoldRun(entrant, fold, classes)
        for entrant in entrants
        if isinstance(entrant.model, LinearModel)
        for fold in range(folds)
    ]
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(passes):
            for batch, fold_of in _with_folds(source, classes, folds, seed):
                list(pool.map(lambda run, b=batch, f=fold_of: run.learn(b, f), runs))
        for batch, fold_of in _with_folds(source, classes, folds, seed):
            list(pool.map(lambda run, b=batch, f=fold_of: run.predict(b, f), runs))
    return [{"fold": run.fold + 1, "learner": run.learner, "error": run.error()} for run in runs]


def _with_folds(
    source: Any, classes: Classes | None, folds: int, seed: int
) -> Iterator[tuple[RaceBatch, Array]]:
    random = np.random.default_rng((seed, 2))
    for block in source.blocks():
        fold_of = random.integers(0, folds, len(block.y))
        if len(block.y):
            yield RaceBatch.of(block, classes, clean=True), fold_of


class _FoldRun:
    """One setting without one fold."""

    def __init__(self, entrant: Entrant, fold: int, classes: Classes | None) -> None:
        self.learner, self.fold, self.classes = type(entrant.model).__name__, fold, classes
        self.adapter = adapter_of(entrant.model.clone())
        self._wrong: list[Array] = []

    def learn(self, batch: RaceBatch, fold_of: Array) -> None:
        places = np.flatnonzero(fold_of != self.fold)
        if len(places):
            self.adapter.learn(batch, places)

    def predict(self, batch: RaceBatch, fold_of: Array) -> None:
        places = np.flatnonzero(fold_of == self.fold)
        if not has_learned(self.adapter.model):
            raise DataError("A fold has no row to learn from: there are too few rows.")
        if len(places):
            codes = {} if self.classes is None else self.classes.codes
            said, truth = self.adapter.predict(batch.take(places), codes), batch.truth_numbers
            gap = said - truth[places]
            self._wrong.append(gap**2 if self.classes is None else gap != 0)

    def error(self) -> float:
        return error_of(np.concatenate(self._wrong)) if self._wrong else float("nan")
