"""Cross-validation, and choosing among settings: on a stream, its first half, or held-out rows."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from yarrow import metrics as known_metrics
from yarrow.data.arrays import Array, exact_array
from yarrow.data.labels import distinct
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate.progressive import progressive
from yarrow.lazy import np
from yarrow.metrics import Metric
from yarrow.online.adapters import adapter_for
from yarrow.online.batch import Batch, length, table_of, taken
from yarrow.online.driver import tested
from yarrow.online.learners import fresh, is_regression


def folds_of(
    y: Any, folds: int = 10, *, seed: int = 0, stratified: bool = False
) -> Iterator[tuple[Array, Array]]:
    """Rows to learn, in a random order, and rows to test, for each of k folds.

    Stratified folds have each class in the same share, as nearly as whole rows allow.

    >>> [test.tolist() for _, test in folds_of([0, 0, 0, 1, 1, 1], 3, stratified=True)]
    [[2, 3], [0, 5], [1, 4]]
    """
    labels = exact_array(y)
    n = len(labels)
    if not isinstance(folds, (int, np.integer)) or not 2 <= folds <= n:
        raise ParameterError(f"The folds must be from 2 to the {n} rows. Got {folds!r} instead.")
    chance = np.random.default_rng(seed)
    order = chance.permutation(n)
    if stratified:
        order = _by_class(order, labels)
    fold = np.empty(n, dtype=np.int64)
    fold[order] = np.arange(n) % folds
    for k in range(folds):
        yield chance.permutation(np.flatnonzero(fold != k)), np.flatnonzero(fold == k)


def _by_class(order: Array, labels: Array) -> Array:
    """Rows by their classes, and within a class in the order given."""
    by_class: Array = order[np.argsort(distinct(labels)[2][order], kind="stable")]
    return by_class


@dataclasses.dataclass(frozen=True)
class CrossValidation:
    """The metrics of each fold."""

    values: dict[str, list[float]]

    def mean(self, name: str) -> float:
        """Mean over the folds."""
        return float(np.mean(self.values[name]))

    def deviation(self, name: str) -> float:
        """Standard deviation over the folds."""
        return float(np.std(self.values[name], ddof=1))

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {self.mean(name):.6g} ± {self.deviation(name):.2g}" for name in self.values
        )


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    passes: int = 1,
    seed: int = 0,
    stratified: bool = False,
    metrics: Sequence[Metric | str] | None = None,
) -> CrossValidation:
    """Learn all folds but one, `passes` times in a new random order, and test on that one.

    The folds and the orders come from the seed alone, so all learners see the same. `model` itself
    learns nothing.

    >>> from yarrow import AROWClassifier
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 20, ["a", "b"] * 20
    >>> print(cross_validate(AROWClassifier(), X, y, folds=5))
    error 0 ± 0
    """
    X, labels = _checked(X, y)
    asked = known_metrics.chosen(metrics, is_regression(model))
    values: dict[str, list[float]] = {metric.name: [] for metric in asked}
    for k, (train, test) in enumerate(folds_of(labels, folds, seed=seed, stratified=stratified)):
        one = fresh(model)
        for _ in _passes(one, X, labels, train, passes, (seed, k)):
            pass
        for name, value in _tested(one, X, labels, test, asked).items():
            values[name].append(value)
    return CrossValidation(values)


def _checked(X: Any, y: Any) -> tuple[Any, Array]:
    X, labels = table_of(X), exact_array(y)
    if labels.shape != (length(X),):
        raise DataError(f"X has {length(X)} rows, but y has the shape {labels.shape}.")
    return X, labels


def _passes(
    model: Any, X: Any, y: Array, rows: Array, passes: int, seed: tuple[int, ...]
) -> Iterator[int]:
    """Learn rows in the order given, then in random orders; the number of passes made."""
    if passes < 1:
        raise ParameterError(f"The 'passes' parameter must be at least 1. Got {passes!r} instead.")
    chance = np.random.default_rng(seed)
    batch = Batch(X=X, y=y)
    adapter = adapter_for(model, batch)
    batch = adapter.ready(batch)
    for number in range(1, passes + 1):
        adapter.learn(batch.take(rows if number == 1 else chance.permutation(rows)))
        yield number


def _tested(model: Any, X: Any, y: Array, rows: Array, asked: Sequence[Metric]) -> dict[str, float]:
    return tested(model, Batch(X=taken(X, rows), y=y[rows]), asked)


def grid(model: Any, values: Mapping[str, Sequence[Any]]) -> list[Any]:
    """A fresh model for each combination of parameters.

    >>> from yarrow import AROWClassifier
    >>> grid(AROWClassifier(), {"r": [0.1, 10.0]})
    [AROWClassifier(r=0.1), AROWClassifier(r=10.0)]
    """
    found = []
    for combination in itertools.product(*values.values()):
        chosen = dict(zip(values, combination, strict=True))
        if hasattr(model, "clone"):
            found.append(model.clone(chosen))
        else:
            found.append(fresh(model).set_params(**chosen))
    return found


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What came of a choice among candidates."""

    #: the best candidate, which has learned: all rows, or the first half if that was asked for
    model: Any
    #: its place among the candidates; of equal ones the first
    best: int
    #: the metric of each candidate; where passes were chosen too, at its best number of them
    values: list[float]
    #: passes that each candidate did best with
    passes: list[int]
    candidates: list[Any]
    metric: str
    #: how the choice was made, in a sentence
    protocol: str


By = Literal["progressive", "first_half", "validation", "folds"]


def tune(
    candidates: Sequence[Any],
    X: Any,
    y: Any,
    *,
    by: By = "progressive",
    metric: Metric | str | None = None,
    delay: int = 0,
    share: float = 0.2,
    folds: int = 10,
    passes: int = 1,
    seed: int = 0,
    stratified: bool = False,
) -> Tuning:
    """Choose the best of some candidates, and let it learn. The candidates learn nothing.

    by : "progressive": one pass over all rows, each predicted before it is learned
        "first_half": the same over the first half of the rows only, so that the second half can
        judge; the model has learned the first half (Shen & Dietterich)
        "validation": learn a random part, test on the `share` that is left, after each of up to
        `passes` passes; then the best learns all rows, with its best number of passes
        "folds": cross-validation with `passes` passes; then the best learns all rows

    >>> from yarrow import AROWClassifier
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 20, ["a", "b"] * 20
    >>> tune(grid(AROWClassifier(), {"r": [0.1, 10.0]}), X, y, by="validation").best
    0
    """
    if not candidates:
        raise ParameterError("There is no candidate to choose.")
    if by not in ("progressive", "first_half", "validation", "folds"):
        raise ParameterError(
            "The 'by' parameter must be progressive, first_half, validation or folds. "
            f"Got {by!r} instead."
        )
    X, labels = _checked(X, y)
    asked = known_metrics.chosen(metric, is_regression(candidates[0]))[0]
    n = len(labels)
    best_passes = [passes] * len(candidates)
    if by in ("progressive", "first_half"):
        rows = n if by == "progressive" else n // 2
        part, truth = taken(X, slice(0, rows)), labels[:rows]
        models = [fresh(candidate) for candidate in candidates]
        runs = [progressive(m, part, truth, delay=delay, metrics=[asked]) for m in models]
        values = [run.metrics[asked.name].value for run in runs]
        best = _best(values, asked)
        late = f", labels {delay} rows late" if delay else ""
        protocol = f"progressive {asked.name} over the first {rows:,} of {n:,} rows{late}"
        return Tuning(
            models[best], best, values, [1] * len(values), list(candidates), asked.name, protocol
        )
    if by == "folds":
        values = []
        for candidate in candidates:
            found = cross_validate(
                candidate, X, labels, folds=folds, passes=passes, seed=seed,
                stratified=stratified, metrics=[asked],
            )  # fmt: skip
            values.append(found.mean(asked.name))
        protocol = f"mean {asked.name} of {folds} folds, passes {passes}, seed {seed}"
    else:
        values, best_passes = _by_validation(
            candidates, X, labels, asked, share, passes, seed, stratified
        )
        protocol = (
            f"{asked.name} on {100 * share:g} % of the rows held out, up to {passes} passes over "
            f"the others, seed {seed}"
        )
    best = _best(values, asked)
    model = fresh(candidates[best])
    order = np.random.default_rng(seed).permutation(n)
    for _ in _passes(model, X, labels, order, best_passes[best], (seed, 1)):
        pass
    return Tuning(model, best, values, best_passes, list(candidates), asked.name, protocol)


def _by_validation(
    candidates: Sequence[Any],
    X: Any,
    y: Array,
    metric: Metric,
    share: float,
    passes: int,
    seed: int,
    stratified: bool,
) -> tuple[list[float], list[int]]:
    if not 0 < share < 1:
        raise ParameterError(f"The 'share' parameter must be between 0 and 1. Got {share!r}.")
    n = len(y)
    order = np.random.default_rng(seed).permutation(n)
    if stratified:
        order = _by_class(order, y)
    # Every so many rows one is held out, so that sorted classes keep their share.
    held = np.diff(np.floor(np.arange(n + 1) * share)) > 0
    test, rest = order[held], order[~held]
    if not len(test) or not len(rest):
        raise DataError(f"{n} rows are too few to hold out {100 * share:g} % of them.")
    train = np.random.default_rng((seed, 2)).permutation(rest)
    values, best_passes = [], []
    for candidate in candidates:
        model = fresh(candidate)
        found = [
            _tested(model, X, y, test, [metric])[metric.name]
            for _ in _passes(model, X, y, train, passes, (seed, 0))
        ]
        place = _best(found, metric)
        values.append(found[place])
        best_passes.append(place + 1)
    return values, best_passes


def _best(values: Sequence[float], metric: Metric) -> int:
    """The first of the best; NaN is never the best if there is another."""
    array = np.asarray(values, dtype=np.float64)
    array = -array if metric.higher_is_better else array
    return int(np.argmin(np.where(np.isnan(array), np.inf, array)))
