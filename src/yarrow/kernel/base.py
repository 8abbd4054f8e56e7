"""What all kernel classifiers share: parameters, both interfaces, saving.

A subclass says how a row changes the functions of all classes (`_update`).
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from yarrow.base.state_estimator import StateEstimator
from yarrow.data.arrays import (
    Array,
    Rows,
    check_values,
    read_weights,
)
from yarrow.data.dict_rows import Row, row_of_dict
from yarrow.data.labels import array_of, class_labels, in_order, is_class_list, named, order_of
from yarrow.errors import DataError, ParameterError
from yarrow.estimator import (
    ClassifierMixin,
    estimator,
    uninterrupted,
)
from yarrow.io.taught import as_taught, rows_as_taught
from yarrow.kernel.expansion import Expansion, RowTable, about_row
from yarrow.kernel.kernels import NAMES, closed_form, of_pairs
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.delay import steps
from yarrow.online.results import ProgressiveResult
from yarrow.parameters import anything, flag, integer, most_classes, number
from yarrow.saving import schema
from yarrow.saving.codec import Objects


@dataclasses.dataclass(frozen=True)
class Example:
    """A row as a rule sees it, by kernel values; signs and margins have a column a class."""

    row: Row
    values: Array  # K(row i, x) of every kept row i
    square: float  # K(x, x)
    signs: Array  # +1 for the row's class, -1 for all others
    margins: Array  # the signs times the scores
    weight: float


@estimator
class KernelClassifier(ClassifierMixin, StateEstimator):
    """Base of the kernel classifiers: a function a class, each against the rest.

    A row costs what the kept rows cost, so an endless stream needs a `budget`.
    """

    _: dataclasses.KW_ONLY
    kernel: Any = anything(
        default="rbf",
        allowed=f"one of {', '.join(map(repr, NAMES))}, or a function of two rows",
        accepts=lambda v: callable(v) or (isinstance(v, str) and v in NAMES),
        doc="x.s, (gamma*x.s + coef0)**degree, exp(-gamma*|x - s|**2), or a function of two dicts.",
    )
    gamma: float = number(default=1.0, doc="Scale inside the kernel.", above=0)
    degree: int = integer(default=3, doc="Power of the polynomial kernel.", at_least=1)
    coef0: float = number(default=1.0, doc="Constant of the polynomial kernel.", at_least=0)
    budget: int | None = integer(
        default=None, doc="The most rows that are kept; None: no limit.", at_least=1
    )
    fit_intercept: bool = flag(default=True, doc="Add a constant to the kernel.")
    intercept_scaling: float = number(default=1.0, doc="The square root of that constant.", above=0)
    max_iter: int = integer(
        default=5, doc="Passes over the data in `fit`; `partial_fit` makes one.", at_least=1
    )
    shuffle: bool = flag(
        default=True, doc="Visit the rows in a new random order in each pass of `fit`."
    )
    random_state: int = integer(default=0, doc="Seed of the shuffling in `fit`.", at_least=0)
    max_classes: int = most_classes()
    classes: Any = anything(
        default=None,
        allowed="None or a list of classes",
        accepts=lambda v: v is None or is_class_list(v),
        doc="The classes that may appear; others are refused.",
    )

    #: for the tables of comparisons
    family = "kernel"
    #: what holds the functions learned
    _expansion: ClassVar[type[Expansion]] = Expansion

    #: in the docstrings of those that show none of their own
    example: ClassVar[str] = """>>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
>>> {name}(gamma=2.0).fit(X, y).predict(X).tolist()
[0, 1, 1, 0]"""

    # -- what a subclass says ---------------------------------------------------------------------

    def _update(self, state: Any, x: Example) -> bool:
        """Change the functions for a row, and tell whether that of a class seen has changed."""
        raise NotImplementedError

    def _is_kept(self, state: Any, wants: Array) -> bool:
        """Whether a row is kept, given the columns that want it.

        If only "none of the classes seen" does, it is kept for a class that may come, and only
        without a budget: there it takes no other row's place.
        """
        if wants[:-1].any():
            return True
        may_come = self.classes is None or len(state.classes) < len({*self.classes})
        return bool(wants[-1]) and may_come and self.budget is None

    # -- learning ---------------------------------------------------------------------------------

    def _new_state(self) -> Any:
        self._check_parameters()
        constant = self.intercept_scaling**2 if self.fit_intercept else 0.0
        if callable(self.kernel):
            return self._expansion(None, of_pairs(self.kernel), constant, self.budget)
        closed = closed_form(self.kernel, self.gamma, self.degree, self.coef0)
        return self._expansion(closed, None, constant, self.budget)

    def _learn_row(self, state: Any, row: Row, values: Array, label: Any, weight: float) -> None:
        """Learn one row, given its kernel with all kept rows; an error changes nothing."""
        square = state.square(row)
        scores = state.scores(values)
        if not np.isfinite(scores).all():
            raise DataError("A score of this row is too large a number.")
        before = state.before_row()
        is_new = label not in state.classes
        was_right = not is_new and state.classes[int(np.argmax(scores[:-1]))] == label
        if is_new:
            if self.classes is not None and label not in list(self.classes):
                declared = ", ".join(map(repr, self.classes))
                raise DataError(f"The class {label!r} is not one of the declared {declared}.")
            self._check_new_class(label, len(state.classes))
            state.add_class(label)
            scores = state.scores(values)
        signs = np.full(state.n_columns, -1.0)
        signs[state.classes.index(label)] = 1.0
        state.t += 1
        state.mistakes += not was_right
        example = Example(row, values, square, signs, signs * scores, weight)
        try:
            state.updates += self._update(state, example)
        except DataError:  # nothing that is kept has changed, but the row has been counted
            vars(state).update(before)
            raise

    def _learn_rows(
        self, state: Any, rows: Rows, names: list[Any], y: Any, weight: Any, order: Any = None
    ) -> None:
        labels = class_labels(y, rows.n_rows)
        weights = read_weights(weight, rows.n_rows)
        check_values(rows)
        table = RowTable(rows, names)
        for i in range(rows.n_rows) if order is None else order:
            share = 1.0 if weights is None else float(weights[i])
            if share > 0:  # a row of no weight is absent
                row = table[i]
                with about_row(i):
                    self._learn_row(state, row, state.kernel_row(row), labels[i], share)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn `max_iter` passes over the rows."""
        rows = rows_as_taught(self, X, fresh=True)
        state = self._new_state()
        random = np.random.default_rng(self.random_state)
        for _ in range(self.max_iter):
            order = random.permutation(rows.n_rows) if self.shuffle else None
            self._learn_rows(state, rows, rows.names or [], y, sample_weight, order)
        self._keep_fitted(state, rows, self.max_iter)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rows of `X` in order, once. `classes` is there for scikit-learn."""
        rows = self._read(X)
        self._change(lambda twin: twin._learn_array(rows, y, sample_weight))
        return self

    def _learn_array(self, rows: Rows, y: Any, weight: Any) -> None:
        self._learn_named(rows, self._names_of(rows), y, weight)
        self._keep_columns(rows)

    def _learn_named(self, rows: Rows, names: list[Any], y: Any, weight: Any) -> None:
        """All rows or none."""
        state = self.__dict__.get("_state")
        if state is not None and rows.n_rows == 1:
            with uninterrupted():  # a single row changes nothing before it is sure to succeed
                self._learn_rows(state, rows, names, y, weight)
            return
        fresh = self._new_state() if state is None else state.copy()
        self._learn_rows(fresh, rows, names, y, weight)
        if fresh.t:
            self._state = fresh

    # -- predict, then learn: a row's kernel is computed once for both ----------------------------

    def _progressive_rows(
        self, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        if probabilities:
            raise ParameterError(f"{type(self).__name__} has no probabilities.")
        rows = batch.rows
        assert rows is not None
        labels, weights = (
            class_labels(batch.y, rows.n_rows),
            read_weights(batch.weights, rows.n_rows),
        )
        check_values(rows)
        known = self.__dict__.get("_state")
        state = self._new_state() if known is None else known.copy()
        told = self._walk(state, RowTable(rows, batch.names), labels, weights, delay)
        if state.t:
            self._state = state
        return _named_result(told, state.classes)

    def _walk(
        self, state: Any, table: RowTable, labels: list[Any], weights: Any, delay: int
    ) -> list[Array]:
        """The scores of the classes known at each row."""
        told: list[Array] = []
        for begin, end, due in steps(len(labels), delay=delay):
            for i in range(begin, end):
                with about_row(i):
                    values = state.kernel_row(table[i])
                told.append(state.scores(values)[:-1])
            for place, i in enumerate(due.tolist()):
                share = 1.0 if weights is None else float(weights[i])
                if share > 0:
                    with about_row(i):
                        row = table[i]
                        if place or i < end - 1:  # else nothing was learned since
                            values = state.kernel_row(row)
                        self._learn_row(state, row, values, labels[i], share)
        return told

    # -- scikit-learn -----------------------------------------------------------------------------

    def _text_name(self) -> str | None:
        """A feature that is called by a text, if a row that is kept has one."""
        state = self.__dict__.get("_state")
        names = () if state is None else state.supports.features
        return next((name for name in names if isinstance(name, str)), None)

    def _scores(self, rows: Rows, names: list[Any]) -> Array:
        """A column a class in the order of their appearance."""
        check_values(rows)
        with self._lock:
            state = self._fitted
            table = RowTable(rows, names)
            scores = [state.scores(state.kernel_row(table[i])) for i in range(rows.n_rows)]
        return np.array(scores)[:, :-1]

    def _class_order(self) -> Array:
        return order_of(self._fitted.classes)

    @property
    def classes_(self) -> Array:
        """The classes seen, sorted."""
        return array_of(in_order(self._fitted.classes))

    def decision_function(self, X: Any) -> Array:
        """Scores: of the second class where there are two, else a column a class."""
        self._fitted  # noqa: B018  (raises before anything was learned)
        rows = self._read(X)
        return self._decision(self._score_table(rows, self._names_of(rows)), mirrored=True)

    def predict(self, X: Any) -> Array:
        """The class with the highest score; ties go to the class seen first."""
        self._fitted  # noqa: B018
        rows = self._read(X)
        return self._predict_rows(rows, self._names_of(rows))

    def _score_table(self, rows: Rows, names: list[Any]) -> Array:
        """A column a class in the order of `classes_`; of rows of any columns."""
        with self._lock:  # another thread may bring a class before and after
            return self._scores(rows, names)[:, self._class_order()]

    def _predict_rows(self, rows: Rows, names: list[Any]) -> Array:
        with self._lock:
            return self._best(self._scores(rows, names))

    def _best(self, scores: Array) -> Array:
        best: Array = array_of(self._fitted.classes)[np.argmax(scores, axis=1)]
        return best

    # -- river ------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row: features by name. A string as value makes the feature `name=value`."""
        row = row_of_dict(as_taught(self, x))
        label = class_labels([y], 1)[0]
        weights = read_weights([w], 1)
        assert weights is not None
        with self._lock, uninterrupted():
            state = self.__dict__.get("_state") or self._new_state()
            if weights[0] > 0:
                self._learn_row(state, row, state.kernel_row(row), label, float(weights[0]))
                self._state = state

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class of one row; None before any row was learned."""
        row = row_of_dict(as_taught(self, x))
        with self._lock:
            state = self.__dict__.get("_state")
            if state is None:
                return None
            return state.classes[int(np.argmax(state.scores(state.kernel_row(row))[:-1]))]

    # -- what was learned -------------------------------------------------------------------------

    @property
    def n_support_(self) -> int:
        """Rows that the functions of the classes seen are made of."""
        return len(self._support_places())

    @property
    def support_vectors_(self) -> list[dict[Any, float]]:
        """These rows, as dicts of their features."""
        supports = self._fitted.supports
        return [dict(supports.dict_at(place)) for place in self._support_places().tolist()]

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of these rows: a line of them for each class of `classes_`."""
        table = self._fitted.coefficients[self._support_places(), :-1]
        by_class: Array = table.T[self._class_order()]
        return by_class

    def _support_places(self) -> Array:
        """Places with a coefficient of a class seen; others wait for a class that may come."""
        return np.flatnonzero(self._fitted.coefficients[:, :-1].any(axis=1))

    @property
    def n_updates_(self) -> int:
        """Rows that changed the function of a class seen."""
        return int(self._fitted.updates)

    @property
    def n_mistakes_(self) -> int:
        """Rows that were predicted wrongly before they were learned."""
        return int(self._fitted.mistakes)

    @property
    def _raw_memory_usage(self) -> int:
        state = self.__dict__.get("_state")
        return super()._raw_memory_usage + (0 if state is None else state.nbytes)

    # -- files ------------------------------------------------------------------------------------

    _fields: ClassVar[Mapping[str, schema.Schema]] = {
        "classes": schema.ListOf(schema.Label(), unique=True)
    }

    def _pack(self) -> tuple[dict[str, Array], dict[str, Any]]:
        state = self._fitted
        return state.tensors(), {"classes": state.classes}

    @classmethod
    def _made(cls, tensors: Any, metadata: Mapping[str, Any], objects: Objects) -> Self:
        settings = metadata["parameters"]
        if settings.get("kernel", "") is None:  # so older files say that it was a function
            settings = settings | {"kernel": {"unstorable": "a function"}}
        return super()._made(tensors, {"parameters": settings}, objects)

    def _unpack(
        self, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
    ) -> None:
        state = self._new_state()
        schema.check(state.expected(), tensors, columns=len(metadata["classes"]) + 1)
        state.restore(tensors, metadata["classes"])
        self._state = state

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:  # copies: other threads may learn while these are written
            kept = self._contents()
            state = kept.pop("_state", None)
            if state is not None:
                learned = state.tensors(), state.classes
                kept["_learned"] = copy.deepcopy(learned)
            return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        learned = kept.pop("_learned", None)
        self.__dict__.update(kept)
        if learned is not None:
            state = self._new_state()
            state.restore(*learned)
            self._state = state


def _named_result(told: list[Array], classes: list[Any]) -> ProgressiveResult:
    """What was said of the classes known at each time, as one table sorted by class."""
    scores = np.full((len(told), len(classes)), np.nan)
    for line, said in zip(scores, told, strict=True):
        line[: len(said)] = said
    best = np.array([np.argmax(said) if len(said) else -1 for said in told], dtype=np.int64)
    labels, in_table = named(best, classes), scores[:, order_of(classes)]
    return ProgressiveResult(labels, in_table, array_of(in_order(classes)))
