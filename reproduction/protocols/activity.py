"""The switch simulation of 000, section 5.4: one watcher through one life, at each threshold.

With the option `answered` only this share of alarms is answered. With the option `sizes` the cell
measures speed instead: the recogniser and the batch learner of the paper in the same process. The
batch learner would be fitted after each feedback, which takes hours; so it lives with one fit a
day, then fits to the first so many of its examples are timed, and the others interpolated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from reproduction.activity_lab.baselines import SOLVERS, BatchLargeMargin, RuleWatcher, Solver
from reproduction.activity_lab.generator import Life, desktop_life
from reproduction.activity_lab.recipe import PaperRecogniser, without_first_weights
from reproduction.activity_lab.simulation import Outcome, Watcher, short_life, simulate
from reproduction.spec import Cell
from yarrow.activity.model.recogniser import Recogniser
from yarrow.activity.model.vectors import VectorBuilder
from yarrow.errors import ParameterError
from yarrow.lazy import np

REVISION = 7
_LIVES: dict[str, Callable[..., Life]] = {"desktop-life": desktop_life, "short-life": short_life}
_RUNS = 5
"""How often a time is measured; the least counts, since other work can only make it longer."""


def run(cell: Cell) -> dict[str, Any]:
    """Return a point of precision and recall for each threshold, or how long things take."""
    life = _LIVES[cell.data.name](cell.seed, **cell.data.options)
    if "sizes" in cell.options:
        return _speed(life, cell)
    points = []
    for setting in cell.learner.settings():
        watcher = _watcher(cell.learner.estimator, {**cell.learner.parameters, **setting})
        outcome = simulate(life, watcher, answered=cell.options.get("answered", 1.0))
        points.append({**setting, **_plain(outcome)})
    return {"points": points}


def _watcher(name: str, parameters: Mapping[str, Any]) -> Watcher:
    rest = dict(parameters)
    own = {key: rest.pop(key) for key in ("C", "retrain", "first_weights") if key in rest}
    if name == "RuleWatcher":
        return RuleWatcher(**rest)
    if name == "Recogniser":
        watcher = Recogniser(repeat=True, **rest)
        if not own.get("first_weights", True):
            without_first_weights(watcher._scorer.weights)
        return watcher
    if name == "BatchLargeMargin":
        return Recogniser(repeat=True, learner=BatchLargeMargin(**own), **rest)
    if name == "PaperRecogniser":
        return PaperRecogniser(**rest)
    if name == "PaperBatch":
        return PaperRecogniser(learner=BatchLargeMargin(scale=1.0, **own), **rest)
    raise ParameterError(f"There is no watcher {name!r}.")


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {
        "precision": outcome.precision,
        "recall": outcome.recall,
        "alarms": outcome.alarms,
        "minutes_right": outcome.minutes_right,
        "vectors": outcome.vectors,
    }


def _speed(life: Life, cell: Cell) -> dict[str, Any]:
    threshold = cell.options["threshold"]
    online = min(_timed(life, Recogniser(repeat=True, threshold=threshold)) for _ in range(_RUNS))
    batch = BatchLargeMargin(retrain="daily")
    watcher = Recogniser(repeat=True, threshold=0.0, learner=batch)
    without_fits = _timed(life, watcher) - batch.fit_seconds
    examples, vectors = batch.examples, len(watcher.minutes())
    sizes = [size for size in cell.options["sizes"] if size < len(examples)] + [len(examples)]
    times = {solver: _fit_times(examples, sizes, solver) for solver in SOLVERS}
    total = {
        solver: without_fits
        + float(np.interp(np.arange(2, len(examples) + 1), sizes, seconds).sum())
        for solver, seconds in times.items()
    }
    return {
        "vectors": vectors,
        "online": online / vectors,
        "intake": min(_intake(life) for _ in range(_RUNS)) / vectors,
        **{solver: seconds / vectors for solver, seconds in total.items()},
        "sizes": sizes,
        "seconds": times,
    }


def _fit_times(examples: list[Any], sizes: list[int], solver: Solver) -> list[float]:
    seconds = []
    for size in sizes:
        machine = BatchLargeMargin(solver=solver, examples=examples[:size])
        machine.fit()
        seconds.append(machine.fit_seconds)
    return seconds


def _intake(life: Life) -> float:
    """The time it takes to make vectors of the events, which all watchers spend."""
    started = time.process_time()
    builder = VectorBuilder()
    for event in life.events:
        while builder.due(event.time) is not None:
            pass
        builder.tell(event)
    return time.process_time() - started


def _timed(life: Life, watcher: Watcher) -> float:
    started = time.process_time()
    simulate(life, watcher)
    return time.process_time() - started
