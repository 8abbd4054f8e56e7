"""Cross-validation, and choosing among settings: on a stream, its first half, or held-out rows."""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from yarrow import metrics as known_metrics
from yarrow.data.arrays import Array, exact_array
from yarrow.data.labels import distinct
from yarrow.errors import DataError, ParameterError, check_value
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
    check_value(passes >= 1, "passes", passes, "at least 1")
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
    tried = _Candidates(
        candidates[0], X, y, by, metric, delay, share, folds, passes, seed, stratified
    )
    for candidate in candidates:
        tried.add(candidate)
    return tried.result()


def line_search(
    model: Any, X: Any, y: Any, *, parameter: str = "eta0", factor: float = 2.0, **how: Any
) -> Tuning:
    """Choose a learning rate, or another number above 0, by a line search (Bottou 2010).

    From the model's own value it goes up by `factor` as long as that is better, or else down; what
    cannot be learned with counts as no better. `how` as in `tune`: take a metric without steps,
    such as "log_loss" or "rmse", since counted mistakes have many small valleys. For a rate the
    first 1,000 rows or so are enough: search there, and learn all rows with what was found.

    >>> from yarrow import OGDRegressor
    >>> X = [[1.0, 0.5], [0.5, -1.0], [-1.0, 0.2]] * 20
    >>> found = line_search(OGDRegressor(eta0=0.001), X, [2.0, -0.5, -1.4] * 20)
    >>> found.model.eta0
    0.512
    """
    start = getattr(model, parameter, None)
    if isinstance(start, bool) or not isinstance(start, (int, float)) or not start > 0:
        raise ParameterError(
            f"A line search needs a number above 0 to begin at. {parameter!r} is {start!r}."
        )
    check_value(1 < factor < math.inf, "factor", factor, "> 1")
    tried = _Candidates(model, X, y, **how)
    tried.add(model)
    for direction in (factor, 1 / factor):
        value, place = float(start), 0
        while tried.best() == place:
            value *= direction
            if not 1e-100 < value < 1e100:
                break
            [candidate] = grid(model, {parameter: [value]})
            tried.add(candidate, may_fail=True)
            place = len(tried.values) - 1
        if tried.best() > 0:  # up was better: there is no need to go down
            break
    return tried.result()


@dataclasses.dataclass
class _Candidates:
    """Candidates, each tried on the same rows."""

    example: Any
    X: Any
    y: Any
    by: By = "progressive"
    metric: Any = None
    delay: int = 0
    share: float = 0.2
    folds: int = 10
    passes: int = 1
    seed: int = 0
    stratified: bool = False

    def __post_init__(self) -> None:
        by, ways = self.by, ("progressive", "first_half", "validation", "folds")
        check_value(by in ways, "by", by, "progressive, first_half, validation or folds")
        self.X, self.y = _checked(self.X, self.y)
        self.metric = known_metrics.chosen(self.metric, is_regression(self.example))[0]
        self.candidates: list[Any] = []
        self.values: list[float] = []
        self.best_passes: list[int] = []
        self.models: list[Any] = []
        if by == "validation":
            self.train, self.test = self._held_out()

    def add(self, candidate: Any, *, may_fail: bool = False) -> None:
        """Add a candidate's value; of one that may fail, and does, it is NaN."""
        try:
            with warnings.catch_warnings():
                if may_fail:
                    warnings.simplefilter("ignore", RuntimeWarning)  # that it diverges
                value, passes, model = self._value_of(candidate)
        except (DataError, ParameterError):
            if not may_fail:
                raise
            value, passes, model = math.nan, 1, None
        self.candidates.append(candidate)
        self.values.append(value)
        self.best_passes.append(passes)
        self.models.append(model)

    def best(self) -> int:
        """Which is the best so far; of equal ones the first."""
        return _best(self.values, self.metric)

    def result(self) -> Tuning:
        """The best candidate, which has learned."""
        best = self.best()
        model = self.models[best]
        if model is None:
            model = fresh(self.candidates[best])
            order = np.random.default_rng(self.seed).permutation(len(self.y))
            rounds = self.best_passes[best]
            for _ in _passes(model, self.X, self.y, order, rounds, (self.seed, 1)):
                pass
        return Tuning(
            model, best, self.values, self.best_passes, self.candidates, self.metric.name,
            self._protocol(),
        )  # fmt: skip

    def _value_of(self, candidate: Any) -> tuple[float, int, Any]:
        """The metric, at which number of passes, and the model if it has learned what it shall."""
        metric = self.metric
        if self.by in ("progressive", "first_half"):
            rows, model = self._n_progressive(), fresh(candidate)
            part, truth = taken(self.X, slice(0, rows)), self.y[:rows]
            run = progressive(model, part, truth, delay=self.delay, metrics=[metric])
            return run.metrics[metric.name].value, 1, model
        if self.by == "folds":
            found = cross_validate(
                candidate, self.X, self.y, folds=self.folds, passes=self.passes, seed=self.seed,
                stratified=self.stratified, metrics=[metric],
            )  # fmt: skip
            return found.mean(metric.name), self.passes, None
        model = fresh(candidate)
        values = [
            _tested(model, self.X, self.y, self.test, [metric])[metric.name]
            for _ in _passes(model, self.X, self.y, self.train, self.passes, (self.seed, 0))
        ]
        place = _best(values, metric)
        return values[place], place + 1, None

    def _n_progressive(self) -> int:
        return len(self.y) if self.by == "progressive" else len(self.y) // 2

    def _held_out(self) -> tuple[Array, Array]:
        """Rows to learn, in a random order, and rows to test."""
        n, share = len(self.y), self.share
        check_value(0 < share < 1, "share", share, "between 0 and 1")
        order = np.random.default_rng(self.seed).permutation(n)
        if self.stratified:
            order = _by_class(order, self.y)
        # Every so many rows one is held out, so that sorted classes keep their share.
        held = np.diff(np.floor(np.arange(n + 1) * share)) > 0
        test, rest = order[held], order[~held]
        if not len(test) or not len(rest):
            raise DataError(f"{n} rows are too few to hold out {100 * share:g} % of them.")
        return np.random.default_rng((self.seed, 2)).permutation(rest), test

    def _protocol(self) -> str:
        name, n = self.metric.name, len(self.y)
        if self.by == "folds":
            return f"mean {name} of {self.folds} folds, passes {self.passes}, seed {self.seed}"
        if self.by == "validation":
            return (
                f"{name} on {100 * self.share:g} % of the rows held out, up to {self.passes} "
                f"passes over the others, seed {self.seed}"
            )
        late = f", labels {self.delay} rows late" if self.delay else ""
        return f"progressive {name} over the first {self._n_progressive():,} of {n:,} rows{late}"


def _best(values: Sequence[float], metric: Metric) -> int:
    """The first of the best; NaN is never the best if there is another."""
    array = np.asarray(values, dtype=np.float64)
    array = -array if metric.higher_is_better else array
    return int(np.argmin(np.where(np.isnan(array), np.inf, array)))
