"""What happened in one progressive pass: each row predicted first, then learned."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

from scipy import sparse

from yarrow.base.linear import LinearModel
from yarrow.data.arrays import Array, exact_array, read_rows
from yarrow.data.labels import distinct, in_order, kept
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import losses
from yarrow.experts.base import ExpertRun, Experts
from yarrow.lazy import np
from yarrow.linear_model.structured import StructuredClassifier, block_map

#: changes the weights in place: learn(t, row's places, its values, margin, weights)
Learn = Callable[[int, Array, Array, float, Array], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """The record of one pass. `record` makes it of a model; any learner can fill it in.

    Theorems speak of the *signed row* z and its margin z.w: z = y*x for two classes, x on the true
    class and -x on its best rival for many. An intercept is one more column, the last one. A tie
    (margin 0) counts as a mistake, as it does in the theorems.
    """

    rows: Any  # sparse, a line a row
    labels: Array  # -1 and +1; class numbers (top1); values (regression)
    margins: Array  # before the row was learned; a regression's predictions
    updated: Array  # whether the row changed the weights
    task: Literal["binary", "top1", "regression"] = "binary"
    rivals: Array | None = None  # top1: the best wrong class; -1 where no other was known
    n_classes: int = 2
    weights: Array | None = None  # before each row and at the end; classes one after the other
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    learner: str = ""
    has_intercept: bool = False
    model: Any = None  # as it was at the end

    @property
    def n_rows(self) -> int:
        """Rows in the run."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Features of the rows, without an intercept."""
        return int(self.rows.shape[1]) - self.has_intercept

    @functools.cached_property
    def mistakes(self) -> Array:
        """Rows whose margin was not positive."""
        if self.task == "regression":
            raise ParameterError("A regression makes errors of some size, not mistakes.")
        return np.asarray(self.margins) <= 0

    @property
    def n_mistakes(self) -> int:
        """How many rows had no positive margin."""
        return int(self.mistakes.sum())

    @functools.cached_property
    def signed_rows(self) -> Any:
        """The signed rows z, sparse; for many classes in the space of all classes' weights.

        A row without a rival is empty. A regression's rows are left as they are.
        """
        rows = sparse.csr_matrix(self.rows, dtype=np.float64)
        if self.task == "regression":
            return rows
        if self.task == "binary":
            return sparse.csr_matrix(rows.multiply(np.asarray(self.labels, float)[:, None]))
        assert self.rivals is not None
        parts = []
        for c in range(self.n_classes):
            sign = (self.labels == c).astype(float) - (self.rivals == c)
            sign[self.rivals < 0] = 0
            parts.append(rows.multiply(sign[:, None]))
        whole = sparse.csr_matrix(sparse.hstack(parts, format="csr"))
        whole.eliminate_zeros()
        return whole

    @property
    def has_rival(self) -> Array:
        """Rows that could have been wrong: all but those that came before a second class."""
        return np.ones(self.n_rows, bool) if self.rivals is None else np.asarray(self.rivals) >= 0

    def losses(self, loss: str, margins: Any) -> float:
        """The sum of a loss over the rows that could have been wrong."""
        there = self.has_rival
        return float(losses.value(loss, np.asarray(margins)[there], self.targets[there]).sum())

    def slopes(self, loss: str) -> Array:
        """Minus the derivative of the loss at each margin: a step is rate * slope * z."""
        margins = np.where(self.has_rival, self.margins, self.targets)
        return losses.slope(loss, margins, self.targets)

    @property
    def n_weights(self) -> int:
        """Length of the weight vector that the theorems speak of."""
        return int(self.rows.shape[1]) * (self.n_classes if self.task == "top1" else 1)

    @functools.cached_property
    def squared_norms(self) -> Array:
        """|z|^2 of each row."""
        return np.asarray(self.signed_rows.multiply(self.signed_rows).sum(axis=1)).ravel()

    @property
    def targets(self) -> Array:
        """The margin that a loss asks for: 1, or the value of a regression."""
        values = np.asarray(self.labels, dtype=float)
        return values if self.task == "regression" else np.ones(self.n_rows)

    @property
    def penalised(self) -> Array:
        """Which weights a penalty pulls: all but an intercept's."""
        one = np.ones(self.rows.shape[1])
        if self.has_intercept:
            one[-1] = 0
        return np.tile(one, self.n_weights // len(one))

    @property
    def tolerance(self) -> float:
        """How far rounding may take a margin from what the formulas say, relative to 1."""
        return 1e-3 if self.parameters.get("dtype") == "float32" else 1e-7

    def parameter(self, name: str, given: Any = None, otherwise: Any = None) -> Any:
        """A parameter of the learner, unless it is given; `otherwise` where the run has none."""
        known = self.parameters.get(name) if given is None else given
        known = otherwise if known is None else known
        if known is None:
            raise ParameterError(f"The run does not say what {name!r} was: pass {name}=...")
        return known

    def steepest(self, slopes: Array) -> float:
        """G: the length of the longest gradient, by the slopes of the loss."""
        return float(np.max(np.abs(slopes) * np.sqrt(self.squared_norms)))

    @property
    def kept_weights(self) -> Array:
        """The weights before each row and after the last, or a sentence how to get them."""
        if self.weights is None:
            raise ParameterError("This bound needs all weights: use record(..., keep_weights=True)")
        return self.weights

    def replay(self, learn: Learn) -> Array:
        """How far the recorded margins are from those of a textbook form of the method, by row.

        `learn` is called for every row, updated or not.
        """
        z = self.signed_rows
        weights = np.zeros(z.shape[1])
        away = np.empty(self.n_rows)
        for t, (begin, end) in enumerate(zip(z.indptr, z.indptr[1:], strict=False)):
            places, values = z.indices[begin:end], z.data[begin:end]
            margin = float(values @ weights[places])
            away[t] = abs(margin - self.margins[t]) / (1 + abs(margin)) if end > begin else 0.0
            learn(t, places, values, float(self.margins[t]), weights)
        return away


@overload
def record(
    model: LinearModel | StructuredClassifier, X: Any, y: Any, *, keep_weights: bool = False
) -> Run: ...
@overload
def record(model: Experts, X: Any, y: Any) -> ExpertRun: ...
def record(model: Any, X: Any, y: Any, *, keep_weights: bool = False) -> Run | ExpertRun:
    """Predict and then learn the rows one by one with a fresh copy of `model`; tell what happened.

    `keep_weights` also keeps the weights before every row, which some bounds need; that is rows
    times features numbers. Of many classes, only `multiclass="top1"` is one run; one-versus-rest
    is many runs of two classes each, to be recorded one by one, with y == label. A
    `StructuredClassifier` with `block_map` is one run as well, over the weights of all classes. Of
    experts (`yarrow.experts`) the record is an `ExpertRun`: losses and weights of all experts.

    >>> import numpy as np
    >>> from yarrow import Perceptron
    >>> run = record(Perceptron(), np.eye(3), [1, -1, 1])
    >>> run.margins.tolist(), run.updated.tolist(), run.n_mistakes
    ([0.0, -1.0, 0.0], [True, True, True], 3)
    """
    if isinstance(model, Experts):
        return model.record(X, y)
    if not isinstance(model, LinearModel | StructuredClassifier):
        raise ParameterError(f"`record` takes a linear model, not {model!r}.")
    read_rows(X)
    table = sparse.csr_matrix(X, dtype=np.float64)
    labels = exact_array(y)
    if labels.shape != (table.shape[0],):
        raise DataError(f"y has the shape {labels.shape}, but X has {table.shape[0]} rows.")
    fresh = type(model)(**model.get_params(deep=False))
    watcher = _watcher(fresh, labels)
    updates, kept, margins = 0, [], np.empty(len(labels))
    updated = np.zeros(len(labels), dtype=bool)
    for t in range(len(labels)):
        row = table[t]
        if keep_weights:
            kept.append(watcher.weights(table.shape[1]))
        margins[t] = watcher.margin(t, row) + 0.0  # without minus zeros
        watcher.learn(t, row)
        updated[t] = fresh.n_updates_ > updates
        updates = fresh.n_updates_
    if keep_weights:
        kept.append(watcher.weights(table.shape[1]))
    learner: Any = fresh if isinstance(fresh, LinearModel) else fresh._learner()
    has_intercept = isinstance(fresh, LinearModel) and fresh.fit_intercept
    if has_intercept:
        constant = np.full((len(labels), 1), learner.intercept_scaling)
        table = sparse.csr_matrix(sparse.hstack([table, constant], format="csr"))
    return Run(
        rows=table,
        labels=watcher.numbers,
        margins=margins,
        updated=updated,
        task=watcher.task,
        rivals=watcher.rivals,
        n_classes=watcher.n_classes,
        weights=np.array(kept) if keep_weights else None,
        parameters=learner.get_params(deep=False),
        learner=type(learner).__name__,
        has_intercept=has_intercept,
        model=fresh,
    )


def _watcher(model: Any, labels: Array) -> _Values | _Classes | _Blocks:
    if isinstance(model, StructuredClassifier):
        return _Blocks(model, labels)
    if model.regression:
        return _Values(model, labels)
    names = distinct(labels)[0]
    if len(names) > 2 and model.multiclass != "top1":
        raise ParameterError(
            f"One-versus-rest over {len(names)} classes is {len(names)} runs of two classes: "
            "record each with y == label, or use multiclass='top1'."
        )
    return _Classes(model, labels, names)


class _Values:
    """Watches a regression."""

    task: Literal["binary", "top1", "regression"] = "regression"
    rivals: Array | None = None
    n_classes = 1

    def __init__(self, model: Any, labels: Array) -> None:
        self.model, self.numbers = model, np.asarray(labels, dtype=float)

    def margin(self, t: int, row: Any) -> float:
        return float(self.model.predict(row)[0]) if t else 0.0

    def learn(self, t: int, row: Any) -> None:
        self.model.partial_fit(row, self.numbers[t : t + 1])

    def weights(self, columns: int) -> Array:
        return _all_columns(self.model, columns)[:, 0]


class _Classes:
    """Watches a classifier: two classes with one weight vector, or many by the best rival."""

    def __init__(self, model: Any, labels: Array, names: list[Any]) -> None:
        self.model, self.labels = model, labels
        self.codes = {kept(name): place for place, name in enumerate(names)}
        self.numbers = distinct(labels)[2]
        self.n_classes = len(names)
        self.task: Literal["binary", "top1", "regression"] = "top1"
        self.rivals: Array | None = np.full(len(labels), -1)
        # One class alone is learned as one of two.
        self.declared = names if len(names) > 1 else [*names, _another(names[0])]
        if model.multiclass != "top1":
            self.task, self.rivals, self.n_classes = "binary", None, 2
            self.numbers = np.where(labels == self.declared[1], 1, -1)

    def margin(self, t: int, row: Any) -> float:
        if t == 0:
            return 0.0 if self.task == "binary" else np.inf
        scores = self.model._scores(row)[0][0]
        known = self._known()
        true = known.index(self.labels[t]) if self.labels[t] in known else None
        if self.task == "binary":
            return float(-scores[0] if true is None else scores[true])
        others = [c for c in range(len(scores)) if c != true]
        if not others:
            return np.inf
        rival = max(others, key=lambda c: scores[c])
        assert self.rivals is not None
        self.rivals[t] = self.codes[known[rival]]
        return float((0.0 if true is None else scores[true]) - scores[rival])

    def learn(self, t: int, row: Any) -> None:
        self.model.partial_fit(row, self.labels[t : t + 1], classes=self.declared)

    def weights(self, columns: int) -> Array:
        table = _all_columns(self.model, columns)
        known = self._known()
        if self.task == "binary":
            # The one column speaks for the class that was not seen first.
            return -table[:, 0] if known and known[0] == self.declared[1] else table[:, 0]
        by_class = np.zeros((self.n_classes, len(table)))
        for place, name in enumerate(known):
            by_class[self.codes[name]] = table[:, place]
        return by_class.ravel()

    def _known(self) -> list[Any]:
        model = self.model.__dict__.get("_model")
        return [] if model is None else list(model.classes)


class _Blocks:
    """Watches a structured learner whose outputs are classes with a block of weights each."""

    task: Literal["binary", "top1", "regression"] = "top1"

    def __init__(self, model: StructuredClassifier, labels: Array) -> None:
        outputs = model.labels
        if model.feature_map is not block_map or not isinstance(outputs, (list, tuple)):
            raise ParameterError(
                "A structured run is recorded with feature_map=block_map and a list of labels."
            )
        unknown = in_order(set(labels.tolist()) - set(outputs))
        if unknown:
            raise DataError(f"y has the label {unknown[0]!r}, which is not among the outputs.")
        self.model, self.outputs, self.labels = model, list(outputs), labels.tolist()
        self.numbers = np.array([self.outputs.index(label) for label in self.labels])
        self.n_classes = len(outputs)
        self.rivals: Array | None = np.full(len(labels), -1)

    def _score(self, features: Any) -> float:
        core = self.model.__dict__.get("_model")
        return 0.0 if core is None else float(core.score_one(features)[0][0])

    def margin(self, t: int, row: Any) -> float:
        x, true = _features(row), self.labels[t]
        rival, is_there = self.model._rival(x, true, self._score)
        if not is_there:
            return np.inf
        assert self.rivals is not None
        self.rivals[t] = self.outputs.index(rival)
        return self._score(block_map(x, true)) - self._score(block_map(x, rival))

    def learn(self, t: int, row: Any) -> None:
        self.model.learn_one(_features(row), self.labels[t])

    def weights(self, columns: int) -> Array:
        known = self.model.weights_ if "_model" in self.model.__dict__ else {}
        names = (f"{label}:{j}" for label in self.outputs for j in range(columns))
        return np.array([known.get(name, 0.0) for name in names])


def _features(row: Any) -> dict[int, float]:
    """A row of a sparse matrix as a dict."""
    return dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))


def _another(name: Any) -> Any:
    return str(name) + " not" if isinstance(name, str) else name + 1


def _all_columns(model: Any, columns: int) -> Array:
    """The weights with a line for every column of the rows, the intercept's last."""
    size = columns + bool(model.fit_intercept)
    core = model.__dict__.get("_model")
    if core is None:
        return np.zeros((size, 1))
    table, places = core.plane(0)
    table = np.asarray(table, dtype=float)[:, places]
    whole = np.zeros((size, table.shape[1]))
    whole[: len(table) - 1] = table[1:]
    if model.fit_intercept:
        whole[-1] = table[0]
    return whole
