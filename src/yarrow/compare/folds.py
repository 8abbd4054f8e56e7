"""k-fold cross-validation of settings on a stream, in bounded memory: all folds side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from yarrow.compare.curve import error_of
from yarrow.compare.entrant import Entrant
from yarrow.data.arrays import Array, read_rows
from yarrow.errors import DataError, ParameterError
from yarrow.lazy import np
from yarrow.linear_model.base import LinearModel


def cross_validate(
    source: Any, entrants: Sequence[Entrant], folds: int, *, passes: int, seed: int, threads: int
) -> list[dict[str, Any]]:
    """The error of each entrant on each fold, by a model that learned the other folds.

    Each row belongs to a fold drawn at random. The rows of the other folds are learned in their
    order; then one more pass predicts.
    """
    if folds < 2:
        raise ParameterError(f"The number of folds must be at least 2. Got {folds} instead.")
    runs = [
        _FoldRun(entrant, fold)
        for entrant in entrants
        if isinstance(entrant.model, LinearModel)
        for fold in range(folds)
    ]
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(passes):
            for block, fold_of in _with_folds(source, folds, seed):
                list(pool.map(lambda run, b=block, f=fold_of: run.learn(b, f), runs))
        for block, fold_of in _with_folds(source, folds, seed):
            list(pool.map(lambda run, b=block, f=fold_of: run.predict(b, f), runs))
    return [{"fold": run.fold + 1, "learner": run.learner, "error": run.error()} for run in runs]


def _with_folds(source: Any, folds: int, seed: int) -> Iterator[tuple[Any, Array]]:
    random = np.random.default_rng((seed, 2))
    for block in source.blocks():
        yield block, random.integers(0, folds, len(block.y))


class _FoldRun:
    """One setting without one fold."""

    def __init__(self, entrant: Entrant, fold: int) -> None:
        self.learner, self.fold = type(entrant.model).__name__, fold
        self.model: Any = entrant.model.clone()
        self._regression = not hasattr(type(entrant.model), "classes_")
        self._wrong: list[Array] = []

    def learn(self, block: Any, fold_of: Array) -> None:
        self._part(block, fold_of != self.fold, learn=True)

    def predict(self, block: Any, fold_of: Array) -> None:
        self._part(block, fold_of == self.fold, learn=False)

    def _part(self, block: Any, keep: Array, learn: bool) -> None:
        places = np.flatnonzero(keep)
        if not len(places):
            return
        rows = read_rows(block.X).take(places)
        names = block.names or []
        y = block.y[places]
        if learn:
            weights = None if block.weights is None else block.weights[places]
            with self.model._learning_of(None) as core:
                labels = self.model._read_labels(y, len(places))
                self.model._learn(core, rows, names, labels, weights)
            return
        if "_model" not in self.model.__dict__:
            raise DataError("A fold has no row to learn from: there are too few rows.")
        core = self.model._model
        scores = self.model._score_rows(core, rows, names)[0]
        truth = y if block.clean is None else block.clean[places]
        if self._regression:
            self._wrong.append((scores[:, 0] - np.asarray(truth, np.float64)) ** 2)
        else:
            known = np.array([*core.classes, None], dtype=object)[:-1]
            self._wrong.append(known[np.argmax(scores, axis=1)] != truth.astype(object))

    def error(self) -> float:
        return error_of(np.concatenate(self._wrong)) if self._wrong else float("nan")
