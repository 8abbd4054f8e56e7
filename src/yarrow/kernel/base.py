"""What all kernel classifiers share: parameters, both interfaces, saving.

A subclass says how a row changes the functions of all classes (`_update`).
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from yarrow import _core
from yarrow.base.hyperparameters import declared_classes, passes, seed, shuffling
from yarrow.base.state_estimator import ScoringClassifier
from yarrow.data.arrays import Array, first_text
from yarrow.data.dict_rows import Row
from yarrow.data.labels import array_of, in_order, named, order_of
from yarrow.errors import DataError, ParameterError, about_row
from yarrow.estimator import estimator
from yarrow.kernel.expansion import Expansion, check_steps, rows_of
from yarrow.kernel.kernels import NAMES, closed_form, of_pairs
from yarrow.lazy import np
from yarrow.online.batch import Batch
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
class KernelClassifier(ScoringClassifier):
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
        default=None, doc="Maximum number of support vectors; None: no limit.", at_least=1
    )
    fit_intercept: bool = flag(default=True, doc="Add a constant to the kernel.")
    intercept_scaling: float = number(default=1.0, doc="The square root of that constant.", above=0)
    max_iter: int = passes()
    shuffle: bool = shuffling()
    random_state: int = seed()
    max_classes: int = most_classes()
    classes: Any = declared_classes()

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

    def _steps(
        self, rule: _core.Rule, settings: list[float], t: int, x: Example, told: dict[int, Array]
    ) -> Array:
        """The step of a rule for each margin: a line of two numbers and what it remembers.

        Rules are told margin, target, zz, ww, v, weight, t, updates and memory, in this order.
        """
        table = np.ones((len(told[0]), 9))
        table[:, 2], table[:, 5], table[:, 6] = x.square, x.weight, t
        for place, column in told.items():
            table[:, place] = column
        steps = np.array(rule.steps(table, settings))
        check_steps(steps)
        return steps

    # -- learning ---------------------------------------------------------------------------------

    def _new_state(self) -> Any:
        self._check_parameters()
        constant = self.intercept_scaling * self.intercept_scaling if self.fit_intercept else 0.0
        if math.isinf(constant):
            allowed = "a number whose square is finite"
            raise ParameterError.of("intercept_scaling", self.intercept_scaling, allowed)
        if callable(self.kernel):
            return self._expansion(None, of_pairs(self.kernel), constant, self.budget)
        closed = closed_form(self.kernel, self.gamma, self.degree, self.coef0)
        return self._expansion(closed, None, constant, self.budget)

    def _walk(self, state: Expansion, batch: Batch) -> list[Array]:
        """The scores of the classes known at each row; its kernel serves both."""
        told: list[Array] = []
        truth, weights = batch.truth, batch.weights
        for i, row in enumerate(rows_of(batch)):
            weight = 1.0 if weights is None else float(weights[i])
            with about_row(None if batch.rows is None else i):
                values = state.kernel_row(row)
                scores = state.scores(values)
                told.append(scores[:-1])
                if weight > 0:  # a row of no weight is absent
                    self._learn_row(state, row, values, scores, truth[i], weight)
        return told

    def _learn_row(
        self, state: Any, row: Row, values: Array, scores: Array, label: Any, weight: float
    ) -> None:
        """Learn one row, given its kernel with all kept rows; an error changes nothing."""
        square = state.square(row)
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

    # -- predicting -------------------------------------------------------------------------------

    def _said(self, state: Expansion, batch: Batch) -> list[Array]:
        return [state.scores(state.kernel_row(row))[:-1] for row in rows_of(batch)]

    def _unsaid(self) -> Array:
        return np.zeros(0)

    def _scores(self, state: Expansion, batch: Batch) -> Array:
        return np.array(self._said(state, batch))

    def _numbers(self, said: Any) -> Any:
        """The class with the highest score; ties go to the class seen first."""
        return [int(one.argmax()) if len(one) else -1 for one in said]

    def _result(self, said: Any) -> ProgressiveResult:
        """What was said of the classes known at each time, as one table sorted by class."""
        classes = self._classes_seen()
        scores = np.full((len(said), len(classes)), np.nan)
        for line, one in zip(scores, said, strict=True):
            line[: len(one)] = one
        in_table = scores[:, order_of(classes)]
        labels = named(np.array(self._numbers(said), np.int64), classes)
        return ProgressiveResult(labels, in_table, array_of(in_order(classes)))

    def _text_name(self) -> str | None:
        """A feature that is called by a text, if a row that is kept has one."""
        state = self.__dict__.get("_state")
        return None if state is None else first_text(state.supports.features)

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
        by_class: Array = table.T[order_of(self._fitted.classes)]
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
