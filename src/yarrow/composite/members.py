"""One way to use any learner: Yarrow's, scikit-learn's with partial_fit, river's with learn_one.

Estimators that are made of other learners read the rows of a call once (`Block`) and hand them to
each learner in the form that it takes (`member_of`). Classes are numbered in the order of their
appearance; -1 stands for nothing known yet.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Mapping
from typing import Any

from yarrow.errors import DataError, ParameterError
from yarrow.estimator import Estimator
from yarrow.kernel.rows import RowTable
from yarrow.lazy import np
from yarrow.linear_model.base import LinearModel
from yarrow.linear_model.progressive import foretell
from yarrow.stream.arrays import Array, Rows, check_values, exact_array

Codes = Mapping[Any, int]


def fresh(model: Any) -> Any:
    """A learner with the same parameters that has learned nothing."""
    if hasattr(model, "clone"):  # Yarrow's and river's
        return model.clone()
    from sklearn.base import clone

    return clone(model)


def is_regression(model: Any) -> bool:
    """Whether a learner predicts values, not classes."""
    if isinstance(model, LinearModel):
        return not hasattr(type(model), "classes_")
    if isinstance(model, Estimator):
        return "Regressor" in model.river_bases
    if "river.base" in sys.modules and hasattr(model, "learn_one"):
        from river import base, compose

        while isinstance(model, compose.Pipeline):
            model = list(model.steps.values())[-1]
        return isinstance(model, base.Regressor)
    if "sklearn.base" in sys.modules and hasattr(model, "__sklearn_tags__"):
        from sklearn.base import is_regressor

        return bool(is_regressor(model))
    return getattr(model, "_estimator_type", None) == "regressor"


def says_not_fitted(error: Exception) -> bool:
    """Whether an error is that of a model which has learned nothing, of whatever library."""
    return any(cls.__name__ == "NotFittedError" for cls in type(error).__mro__)


@dataclasses.dataclass(frozen=True)
class Block:
    """The rows of one call, read once for all learners: those of an array, or one dict."""

    rows: Rows | None = None
    names: list[Any] = dataclasses.field(default_factory=list)  # of columns; empty: their numbers
    row: dict[Any, Any] | None = None  # instead of rows
    labels: tuple[Array, list[Any]] | None = None  # as the core takes them
    weights: Array | None = None
    classes: list[Any] | None = None  # all that may come, if that was told

    def __len__(self) -> int:
        return 1 if self.rows is None else self.rows.n_rows

    def take(self, places: Array) -> Block:
        """Some of the rows of an array."""
        if self.rows is None:
            return self
        return dataclasses.replace(
            self,
            rows=self.rows.take(places),
            labels=self.labels and (self.labels[0][places], self.labels[1]),
            weights=None if self.weights is None else self.weights[places],
        )

    def one_by_one(self) -> list[Block]:
        """A block a row."""
        return [self.take(np.array([i])) for i in range(len(self))] if self.rows else [self]

    def as_dicts(self) -> list[Block]:
        """A block a row, each a dict."""
        return [
            Block(
                row=row,
                labels=self.labels and (self.labels[0][i : i + 1], self.labels[1]),
                weights=None if self.weights is None else self.weights[i : i + 1],
            )
            for i, row in enumerate(self.dicts)
        ]

    @functools.cached_property
    def truth(self) -> list[Any]:
        """The labels as they were given; values of a regression."""
        assert self.labels is not None
        numbers, names = self.labels
        if names:
            return [names[int(n)] for n in numbers]
        return [int(n) if n.is_integer() else n for n in numbers.tolist()]

    @functools.cached_property
    def values(self) -> Array:
        """The targets of a regression."""
        assert self.labels is not None
        return self.labels[0]

    @property
    def counts(self) -> Array:
        """Which rows are there to be learned: a row of no weight is absent."""
        return np.ones(len(self), bool) if self.weights is None else self.weights > 0

    @functools.cached_property
    def dicts(self) -> list[dict[Any, float]]:
        """The rows as river takes them, without zeros."""
        if self.rows is None:
            return [dict(self.row or {})]
        table = RowTable(self.rows, self.names)
        return [table[i].as_dict() for i in range(self.rows.n_rows)]

    @functools.cached_property
    def matrix(self) -> Any:
        """The rows as scikit-learn takes them."""
        if self.rows is None:
            raise ParameterError("A learner of scikit-learn takes rows of arrays, not dicts.")
        if self.rows.begins is None:
            return self.rows.values
        from scipy.sparse import csr_matrix

        parts = (self.rows.values, self.rows.indices, self.rows.begins)
        return csr_matrix(parts, shape=(self.rows.n_rows, self.rows.n_columns))

    def weight(self, i: int) -> float:
        """The weight of one row."""
        return 1.0 if self.weights is None else float(self.weights[i])


class Member:
    """A learner inside an estimator. What it says is class numbers, or values in a regression."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.regression = is_regression(model)
        self._past: dict[str, Any] | None = None

    def check(self, block: Block) -> None:
        """Refuse rows that it cannot learn, before any learner beside it has learned them."""
        self.check_values(block)

    def check_values(self, block: Block) -> None:
        """Refuse values that are too large for it, naming the place."""

    def _learned(self) -> Any:
        """What it has learned, if that can take a row back: `begin`, `roll_back`, `commit`."""
        return None

    def begin(self) -> None:
        """From here on, what it learns of one row can be taken back."""
        learned = self._learned()
        if learned is None:
            self._past = dict(getattr(self.model, "__dict__", {}))
        else:
            learned.begin()

    def roll_back(self) -> None:
        """Take back what it has learned since."""
        learned, past, self._past = self._learned(), self._past, None
        if past is None:
            learned.roll_back()
        elif learned is not None:  # from this row alone
            self.model.__dict__.clear()
            self.model.__dict__.update(past)

    def __getstate__(self) -> dict[str, Any]:  # a copy has begun nothing
        return vars(self) | {"_past": None}

    def commit(self) -> None:
        """Keep what it has learned since."""
        learned, self._past = self._learned(), None
        if learned is not None:
            learned.commit()

    def foretell(self, block: Block, codes: Codes) -> Array:
        """Predict each row, then learn it."""
        said = []
        for one in block.one_by_one():
            said.append(self.predict(one, codes))
            self.learn(one)
        return np.concatenate(said)

    def predict(self, block: Block, codes: Codes) -> Array:
        """What it says of rows that it does not learn."""
        raise NotImplementedError

    def learn(self, block: Block) -> None:
        """Learn rows that have labels."""
        raise NotImplementedError

    def probabilities(self, block: Block, codes: Codes) -> Array:
        """A column a class; rows of zeros before anything was learned."""
        raise NotImplementedError

    def _numbers(self, said: Any, codes: Codes) -> Array:
        if self.regression:
            return np.array([0.0 if value is None else float(value) for value in said])
        return np.array([codes.get(label, -1) for label in said])

    def _columns(self, shares: Any, classes: Any, codes: Codes) -> Array:
        """Probabilities of a learner's classes as columns of ours."""
        table = np.zeros((len(shares), len(codes)))
        places = [codes[name] for name in classes if name in codes]
        known = [i for i, name in enumerate(classes) if name in codes]
        table[:, places] = np.asarray(shares)[:, known]
        return table

    def _refuse_probabilities(self) -> ParameterError:
        return ParameterError(f"{type(self.model).__name__} does not predict probabilities.")


class CoreMember(Member):
    """One of Yarrow's linear learners: an array is one call of the core."""

    def check_values(self, block: Block) -> None:
        if block.rows is not None:
            check_values(block.rows, self.model.dtype)

    def _learned(self) -> Any:
        return self.model.__dict__.get("_model")

    def foretell(self, block: Block, codes: Codes) -> Array:
        if block.rows is None or block.labels is None:
            return super().foretell(block, codes)
        with self.model._learning_of(block.classes) as core:
            said = foretell(
                core, block.rows, block.names, block.labels, block.weights, wants_scores=False
            ).predictions
            return said if self.regression else self._table(core, codes)[said.astype(np.int64)]

    @staticmethod
    def _table(core: Any, codes: Codes) -> Array:
        """Our numbers of the core's classes; the last place is for none."""
        return np.array([*(codes.get(name, -1) for name in core.classes), -1])

    def predict(self, block: Block, codes: Codes) -> Array:
        core = self.model.__dict__.get("_model")
        if core is None:
            return np.zeros(len(block)) if self.regression else np.full(len(block), -1)
        if block.rows is None:
            return self._numbers([self.model.predict_one(block.row)], codes)
        scores = self.scores(block)[0]
        return scores[:, 0] if self.regression else self._table(core, codes)[scores.argmax(axis=1)]

    def scores(self, block: Block) -> tuple[Array, Array]:
        """Scores and their variances, a column a class in the order of the core."""
        core = self.model._fitted
        if block.rows is not None:
            return self.model._score_rows(core, block.rows, block.names)  # type: ignore[no-any-return]
        scores, variances = core.score_one(block.row)
        return np.array([scores]), np.array([variances])

    def learn(self, block: Block) -> None:
        if block.rows is None:
            self.model.learn_one(block.row, block.truth[0], block.weight(0))
            return
        with self.model._learning_of(block.classes) as core:
            self.model._learn(core, block.rows, block.names, block.labels, block.weights)

    def probabilities(self, block: Block, codes: Codes) -> Array:
        if not hasattr(self.model, "predict_proba"):
            raise self._refuse_probabilities()
        core = self.model.__dict__.get("_model")
        if core is None:
            return np.zeros((len(block), len(codes)))
        table = self.model._probabilities(*self.scores(block))
        return self._columns(table, core.classes[: table.shape[1]], codes)


class DictMember(Member):
    """A learner of dicts, river's or one of Yarrow's own in Python: row by row."""

    def predict(self, block: Block, codes: Codes) -> Array:
        return self._numbers([self.model.predict_one(x) for x in block.dicts], codes)

    def check_values(self, block: Block) -> None:
        if hasattr(self.model, "_check_block"):  # made of learners itself
            self.model._check_block(block)

    def _learned(self) -> Any:
        made_of_learners = hasattr(self.model, "_check_block")
        return self.model.__dict__.get("_state") if made_of_learners else None

    def check(self, block: Block) -> None:
        super().check(block)
        if block.weights is None:
            return
        if "w" not in inspect.signature(self.model.learn_one).parameters:
            raise ParameterError(f"{type(self.model).__name__}.learn_one takes no weights.")

    def learn(self, block: Block) -> None:
        labels = block.values.tolist() if self.regression else block.truth
        for i, (x, label) in enumerate(zip(block.dicts, labels, strict=True)):
            if block.weights is None:
                self.model.learn_one(x, label)
            elif block.weights[i] > 0:
                self.model.learn_one(x, label, w=block.weight(i))

    def probabilities(self, block: Block, codes: Codes) -> Array:
        table = np.zeros((len(block), len(codes)))
        for i, x in enumerate(block.dicts):
            try:
                likely = self.model.predict_proba_one(x)
            except NotImplementedError:
                raise self._refuse_probabilities() from None
            for name, share in likely.items():
                if name in codes:
                    table[i, codes[name]] = share
        return table


class ArrayMember(Member):
    """A learner of scikit-learn: row by row, and told all classes beforehand."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._ready = False

    def predict(self, block: Block, codes: Codes) -> Array:
        if not self._ready:
            return np.zeros(len(block)) if self.regression else np.full(len(block), -1)
        return self._numbers(self.model.predict(block.matrix).tolist(), codes)

    def check(self, block: Block) -> None:
        super().check(block)
        if block.rows is None:
            raise ParameterError(
                f"{type(self.model).__name__} of scikit-learn takes rows of arrays, not dicts."
            )
        if self.regression:
            return
        name = type(self.model).__name__
        if not self._ready and block.classes is None and block.counts.any():
            raise DataError(
                f"{name} must be told all classes before its first row: "
                "pass classes=... to partial_fit."
            )
        known = self.model.classes_.tolist() if self._ready else block.classes
        for i in np.flatnonzero(block.counts).tolist():
            if known is not None and block.truth[i] not in known:
                raise DataError(f"{name} was not told of the class {block.truth[i]!r}", row=i)

    def learn(self, block: Block) -> None:
        counts = np.flatnonzero(block.counts)
        if not len(counts):
            return
        some = block if len(counts) == len(block) else block.take(counts)
        more: dict[str, Any] = {} if some.weights is None else {"sample_weight": some.weights}
        if not self._ready and not self.regression:
            more["classes"] = exact_array(block.classes or [])
        y = some.values if self.regression else exact_array(some.truth)
        self.model.partial_fit(some.matrix, y, **more)
        self._ready = True

    def probabilities(self, block: Block, codes: Codes) -> Array:
        if not hasattr(self.model, "predict_proba"):
            raise self._refuse_probabilities()
        if not self._ready:
            return np.zeros((len(block), len(codes)))
        shares = self.model.predict_proba(block.matrix)
        return self._columns(shares, self.model.classes_.tolist(), codes)


def member_of(model: Any) -> Member:
    """A learner in the form that estimators made of learners use."""
    if isinstance(model, LinearModel) and model.learns_labels:
        return CoreMember(model)
    if hasattr(model, "learn_one") and hasattr(model, "predict_one"):
        return DictMember(model)
    if hasattr(model, "partial_fit") and hasattr(model, "predict"):
        return ArrayMember(model)
    raise ParameterError(
        f"{type(model).__name__} has neither partial_fit and predict nor learn_one and "
        "predict_one, so it cannot learn row by row."
    )


def is_learner(value: Any) -> bool:
    """Whether a value can be a member: an object, not a class, that learns row by row."""
    learns = (hasattr(value, "learn_one") and hasattr(value, "predict_one")) or (
        hasattr(value, "partial_fit") and hasattr(value, "predict")
    )
    return learns and not isinstance(value, type)
