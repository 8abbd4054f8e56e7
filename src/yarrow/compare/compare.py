"""Compare learners and their settings on a stream, and say which to take."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from yarrow import __version__
from yarrow.base.linear import LinearModel
from yarrow.compare.calibration import calibrate
from yarrow.compare.comparison import Comparison, Outcome
from yarrow.compare.entrant import Entrant, Ready, as_it_is
from yarrow.compare.grids import entrants_of
from yarrow.compare.race import NoRows, OnProgress, Race
from yarrow.compare.race_batch import Classes, OneMoreClass, RaceBatch
from yarrow.compare.recommend import (
    calibration_words,
    mark_best,
    ranks_of,
    ranks_over_stretches,
    recommend,
    scaled_python,
)
from yarrow.compare.sources import Files, Named, in_memory
from yarrow.composite.scaled import scaled
from yarrow.data.arrays import Array
from yarrow.data.frames import is_texts
from yarrow.datasets import Dataset
from yarrow.errors import DataError, ParameterError, check_choice
from yarrow.evaluate.curves import error_of
from yarrow.lazy import np
from yarrow.online.adapters import adapter_of
from yarrow.online.learners import has_learned
from yarrow.parameters import PREFERENCES

Source = Named | Files


def compare(
    data: Any,
    learners: Any = "all",
    grid: str | Mapping[str, Any] = "default",
    *,
    y: Any = None,
    scale: bool = False,
    normalize: bool = False,
    passes: int = 1,
    folds: int = 0,
    noise: float = 0.0,
    seed: int = 0,
    prefer: str = "accurate",
    threads: int | None = None,
    command: str = "",
    on_progress: OnProgress | None = None,
    on_slow: Callable[[list[str]], None] | None = None,
) -> Comparison:
    """Race all settings over the rows in one pass, and recommend a learner with its evidence.

    `data` is a Dataset, the names of files, or an array, a frame or a list of dicts with its labels
    `y`: `compare(X, y)`. With `scale` and `normalize` each learner gets rows brought to one scale
    (`yarrow.composite.ScaledClassifier`). `learners` is `all`, names or families as one text or a
    list, or a list of entrants. `noise` replaces that share of the labels, and mistakes count
    against the old ones. Of learners that the rows cannot tell apart, `prefer` takes the usually
    most "accurate", a "fast" one, or a "small" one.

    >>> from yarrow.datasets import load
    >>> found = compare(load("synthetic/gaussian", rows=300), "arow,perceptron")
    >>> sorted({outcome.family for outcome in found.outcomes})
    ['affine', 'baseline', 'confidence']
    """
    started = time.monotonic()
    check_choice("prefer", prefer, PREFERENCES)
    of_rows = not isinstance(data, (str, Dataset, Named, Files)) and not is_texts(data)
    if y is None and of_rows:
        if isinstance(learners, str):
            raise ParameterError("Rows in memory need their labels: compare(X, y).")
        y, learners = learners, "all"
    if is_texts(learners):
        learners = ",".join(learners)
    source = as_source(data if y is None else in_memory(data, y), noise, seed)
    if (passes > 1 or folds) and not source.can_be_read_again:
        raise ParameterError(f"{source.name} can be read only once: passes and folds need files.")
    entrants, slow = list(learners), list[str]()
    if isinstance(learners, str):
        entrants, slow = entrants_of(learners, grid, regression=source.is_regression)

    def after_a_block(race: Race) -> None:
        """Who was left out is told when rows have been read: not before an error about them."""
        if slow and on_slow is not None:
            on_slow(slow.copy())
            slow.clear()
        if on_progress is not None:
            on_progress(race)

    ready = functools.partial(scaled, scale=scale, normalize=normalize)
    race = _raced(source, entrants, passes, threads, after_a_block, ready)
    outcomes = race.outcomes()
    mark_best(outcomes, seed)
    comparison = Comparison(
        data=_described(source, race, outcomes[-1]),
        command=command,
        seed=seed,
        yarrow=__version__,
        protocol=_protocol(passes, noise),
        outcomes=outcomes,
        recommendation=recommend(outcomes, seed, prefer),
        ranks=ranks_over_stretches(outcomes),
    )
    if (scale or normalize) and "python" in comparison.recommendation:
        name = comparison.recommendation["name"]
        words = scaled_python(name, source.is_regression, scale, normalize)
        comparison.recommendation["python"] = words
    calibrate(source, outcomes, comparison.recommendation.get("name"))
    comparison.recommendation["evidence"] += calibration_words(comparison)
    if folds:
        by_name = {entrant.name: entrant for entrant in entrants}
        chosen = [by_name[o.name] for o in outcomes if o.best and o.name in by_name]
        comparison.folds = cross_validate(
            source, chosen, folds, passes=passes, seed=seed, threads=race.threads, ready=ready
        )
        comparison.ranks = _ranks_over_folds(comparison.folds, folds) or comparison.ranks
    comparison.seconds = time.monotonic() - started
    return comparison


def _raced(
    source: Source,
    entrants: Sequence[Entrant],
    passes: int,
    threads: int | None,
    on_progress: OnProgress | None,
    ready: Ready,
) -> Race:
    """All passes. Two classes are faster if they are known, so a file's first rows are believed.

    Where they were wrong, the race starts again; results are the same by either way.
    """
    for classes in (source.probable_classes, source.classes):
        race = Race(
            entrants, regression=source.is_regression, classes=classes, threads=threads, ready=ready
        )
        try:
            for _ in range(passes):
                race.run(source.blocks(), on_progress)
        except OneMoreClass:
            continue
        except NoRows as error:
            raise DataError(error.problem, source=source.source) from None
        break
    return race


def as_source(data: Dataset | Source | Sequence[str], noise: float = 0.0, seed: int = 0) -> Source:
    """Rows to compare on; noise is for data that have not been made a source yet."""
    if isinstance(data, (Named, Files)):
        return data
    if isinstance(data, Dataset):
        return Named(data, noise, seed)
    return Files([data] if isinstance(data, str) else data, noise=noise, seed=seed)


def _described(source: Source, race: Race, any_outcome: Outcome) -> dict[str, Any]:
    return {
        "name": source.name,
        "task": "regression" if source.is_regression else "classification",
        "rows": any_outcome.rows,
        "skipped": source.skipped,
        "features": race.columns,
        "classes": None if race.classes is None else sorted(map(str, race.classes.names)),
        "order": source.order,
        "source": source.source,
        "values_per_row": race.values / max(1, race.rows),
        "noise": source.noise,
    }


def _protocol(passes: int, noise: float) -> str:
    words = "Each row is predicted before it is learned, in the order of the stream"
    words += "; the error is that of the first pass" if passes > 1 else ""
    if noise:
        words += f"; {100 * noise:g} % of the labels were replaced, and mistakes count against "
        words += "those before"
    return (
        f"{words}. Each learner's setting is chosen by its error on the first half of the rows, "
        "and learners are compared on the second half."
    )


def _ranks_over_folds(folds: list[dict[str, Any]], n: int) -> dict[str, Any] | None:
    learners = list(dict.fromkeys(item["learner"] for item in folds))
    if len(learners) < 2:
        return None
    errors = {(item["fold"], item["learner"]): item["error"] for item in folds}
    table = [[errors[fold, learner] for learner in learners] for fold in range(1, n + 1)]
    return ranks_of(learners, np.array(table), f"{n} folds")


def cross_validate(
    source: Any,
    entrants: Sequence[Entrant],
    folds: int,
    *,
    passes: int,
    seed: int,
    threads: int,
    ready: Ready = as_it_is,
) -> list[dict[str, Any]]:
    """The error of each entrant on each fold, by a model that learned the other folds.

    Each row belongs to a fold drawn at random. The rows of the other folds are learned in their
    order; then one more pass predicts.
    """
    if folds < 2:
        raise ParameterError(f"The number of folds must be at least 2. Got {folds} instead.")
    classes = None if source.is_regression else Classes()
    runs = [
        _FoldRun(entrant, fold, classes, ready)
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

    def __init__(self, entrant: Entrant, fold: int, classes: Classes | None, ready: Ready) -> None:
        self.learner, self.fold, self.classes = type(entrant.model).__name__, fold, classes
        self.adapter = adapter_of(ready(entrant.model.clone()))
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
