"""One way to use any learner: Yarrow's, scikit-learn's with partial_fit, river's with learn_one.

Rows come as a `Batch`, which each learner gets in the form that it takes. Estimators made of other
learners number classes in the order of their appearance; -1 stands for nothing known yet.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any

from yarrow.data.arrays import Array, check_values, exact_array
from yarrow.data.frames import is_dicts
from yarrow.data.labels import Codes, check_alike, distinct, numbered
from yarrow.errors import DataError, ParameterError
from yarrow.estimator import Estimator
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.learners import (
    by_arrays,
    by_dicts,
    is_core,
    is_regression,
    says_not_fitted,
    takes_lists_of_dicts,
)
from yarrow.online.progressive import core_result
from yarrow.online.results import ProgressiveResult, Wanted


class Adapter:
    """A learner in use. What it says is class numbers, or values in a regression; or `answers`."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.regression = is_regression(model)
        self._past: dict[str, Any] | None = None

    def check(self, batch: Batch) -> None:
        """Refuse rows that it cannot learn, before any learner beside it has learned them."""
        self.check_values(batch)

    def check_values(self, batch: Batch) -> None:
        """Refuse values that are too large for it, naming the place."""

    def check_weights(self, batch: Batch) -> None:
        """Refuse weights that it does not take."""

    def ready(self, batch: Batch) -> Batch:
        """A whole table with all that it must be told before the first row."""
        return batch

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

    def progressive(self, batch: Batch, codes: Codes) -> Array:
        """Predict each row, then learn it."""
        said: list[Any] = []
        for i in range(len(batch)):
            said += self.predictions(batch, slice(i, i + 1))
            self.learn(batch, np.array([i]))
        return self._numbers(said, codes)

    def predict(self, batch: Batch, codes: Codes) -> Array:
        """What it says of rows that it does not learn."""
        return self._numbers(self.predictions(batch), codes)

    def learn(self, batch: Batch, places: Array | None = None) -> None:
        """Learn rows that have labels: all, or those at some places."""
        raise NotImplementedError

    def probabilities(self, batch: Batch, codes: Codes) -> Array:
        """A column a class; rows of zeros before anything was learned."""
        return self.table(batch, codes, "probabilities")

    def table(self, batch: Batch, codes: Codes, wanted: Wanted) -> Array:
        """The same of scores, or of probabilities."""
        classes, shares = self._table_of(batch, wanted)
        table = np.zeros((len(batch), len(codes)))
        known = [i for i, name in enumerate(classes) if name in codes]
        table[:, [codes[classes[i]] for i in known]] = np.nan_to_num(shares[:, known])
        return table

    def predictions(self, batch: Batch, part: slice | None = None) -> list[Any]:
        """A label or value of all rows or of some; None where nothing is known."""
        raise NotImplementedError

    def answers(
        self, batch: Batch, wanted: Wanted = "predictions", part: slice | None = None
    ) -> ProgressiveResult:
        """The same with scores or probabilities where they are wanted."""
        some = batch if part is None else batch.take(part)
        said = self.predictions(some)
        if wanted == "predictions" or all(label is None for label in said):
            return self.result(said)
        classes, table = self._table_of(some, wanted)
        likely = table if wanted == "probabilities" else None
        return dataclasses.replace(
            self.result(said), scores=table, classes=exact_array(classes), probabilities=likely
        )

    def result(self, said: list[Any]) -> ProgressiveResult:
        """Predictions alone; where there is none a regression says 0, and a classifier nothing."""
        column: Array
        if self.regression:
            column = np.array([0.0 if value is None else value for value in said], dtype=np.float64)
        else:
            column = np.empty(len(said), dtype=object)
            column[:] = said
        return ProgressiveResult(column, np.full((len(said), 0), np.nan), exact_array([]))

    def _table_of(self, batch: Batch, wanted: Wanted) -> tuple[Sequence[Any], Array]:
        """Classes, and what is wanted of them."""
        raise NotImplementedError

    def _numbers(self, said: Any, codes: Codes) -> Array:
        if self.regression:
            return np.array([0.0 if value is None else float(value) for value in said])
        return numbered(said, codes)

    def _has_no(self, wanted: str) -> ParameterError:
        return ParameterError(f"{type(self.model).__name__} does not predict {wanted}.")


class CoreAdapter(Adapter):
    """One of Yarrow's linear learners: an array is one call of the core."""

    def check_values(self, batch: Batch) -> None:
        if batch.rows is not None:
            check_values(batch.rows, self.model.dtype)

    def _learned(self) -> Any:
        return self.model.__dict__.get("_model")

    def progressive(self, batch: Batch, codes: Codes) -> Array:
        if batch.rows is None or batch.labels is None:
            said = self.predict(batch, codes)
            self.learn(batch)
            return said
        with self.model._learning_of(batch.classes) as core:
            said = np.asarray(core_result(core, batch, wants_scores=False).predictions)
            return said if self.regression else self._table(core, codes)[said.astype(np.int64)]

    @staticmethod
    def _table(core: Any, codes: Codes) -> Array:
        """Our numbers of the core's classes; the last place is for none."""
        return np.append(numbered(core.classes, codes), -1)

    def predict(self, batch: Batch, codes: Codes) -> Array:
        core = self.model.__dict__.get("_model")
        if core is None:
            return np.zeros(len(batch)) if self.regression else np.full(len(batch), -1)
        if batch.rows is None:
            return self._numbers([core.predict_one(batch.row)], codes)
        scores = self.scores(batch)[0]
        return scores[:, 0] if self.regression else self._table(core, codes)[scores.argmax(axis=1)]

    def scores(self, batch: Batch) -> tuple[Array, Array]:
        """Scores and their variances, a column a class in the order of the core."""
        core = self.model._fitted
        if batch.rows is not None:
            return self.model._score_rows(core, batch.rows, batch.names)  # type: ignore[no-any-return]
        scores, variances = core.score_one(batch.row)
        return np.array([scores]), np.array([variances])

    def learn(self, batch: Batch, places: Array | None = None) -> None:
        if batch.rows is None:
            self.model.learn_one(batch.row, batch.truth[0], batch.weight(0))
            return
        batch = batch if places is None else batch.take(places)
        with self.model._learning_of(batch.classes) as core:
            self.model._learn(core, batch.rows, batch.names, batch.labels, batch.weights)

    def _table_of(self, batch: Batch, wanted: Wanted) -> tuple[Sequence[Any], Array]:
        if wanted == "probabilities" and not hasattr(self.model, "predict_proba"):
            raise self._has_no(wanted)
        core = self.model.__dict__.get("_model")
        if core is None:
            return [], np.zeros((len(batch), 0))
        scores, variances = self.scores(batch)
        table = scores if wanted == "scores" else self.model._probabilities(scores, variances)
        return core.classes[: table.shape[1]], table


class DictAdapter(Adapter):
    """A learner of dicts, river's or one of Yarrow's own in Python: row by row."""

    def ready(self, batch: Batch) -> Batch:
        return dataclasses.replace(batch, X=batch.dicts)  # made once

    def predictions(self, batch: Batch, part: slice | None = None) -> list[Any]:
        predict = self.model.predict_one
        return [predict(x) for x in (batch.dicts if part is None else batch.dicts[part])]

    def _table_of(self, batch: Batch, wanted: Wanted) -> tuple[Sequence[Any], Array]:
        try:
            told = [self.model.predict_proba_one(x) for x in batch.dicts]
        except NotImplementedError:
            name = type(self.model).__name__
            raise ParameterError(f"{name} has no probabilities for rows that are dicts.") from None
        classes = list({name: None for likely in told for name in likely})
        lines = [[likely.get(name, np.nan) for name in classes] for likely in told]
        return classes, np.array(lines, dtype=np.float64).reshape(len(told), len(classes))

    def check_values(self, batch: Batch) -> None:
        if hasattr(self.model, "_check_batch"):  # made of learners itself
            self.model._check_batch(batch)

    def _learned(self) -> Any:
        made_of_learners = hasattr(self.model, "_check_batch")
        return self.model.__dict__.get("_state") if made_of_learners else None

    def check(self, batch: Batch) -> None:
        super().check(batch)
        self.check_weights(batch)

    def check_weights(self, batch: Batch) -> None:
        if batch.weights is None:
            return
        if "w" not in inspect.signature(self.model.learn_one).parameters:
            raise ParameterError(f"{type(self.model).__name__}.learn_one takes no weights.")

    def learn(self, batch: Batch, places: Array | None = None) -> None:
        rows, labels = batch.dicts, batch.targets if self.regression else batch.truth
        for i in range(len(rows)) if places is None else places.tolist():
            if batch.weights is None:
                self.model.learn_one(rows[i], labels[i])
            elif batch.weights[i] > 0:
                self.model.learn_one(rows[i], labels[i], w=batch.weight(i))


class ArrayAdapter(Adapter):
    """A learner of scikit-learn: row by row, and told all classes beforehand."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._ready = False

    def predictions(self, batch: Batch, part: slice | None = None) -> list[Any]:
        some = batch if part is None else batch.take(part)
        try:
            return list(self.model.predict(some.matrix).tolist())
        except Exception as error:
            if self._ready or not says_not_fitted(error):
                raise
        return [None] * len(some)

    def _table_of(self, batch: Batch, wanted: Wanted) -> tuple[Sequence[Any], Array]:
        method = getattr(self.model, "predict_proba", None)
        if wanted == "scores":
            method = getattr(self.model, "decision_function", method)
        if method is None:
            raise self._has_no(wanted)
        classes = self.model.classes_
        table = np.asarray(method(batch.matrix), dtype=np.float64)
        if len(classes) == 2 and (table.ndim == 1 or table.shape[1] == 1):
            table = np.column_stack([-table.reshape(-1), table.reshape(-1)])
        return np.asarray(classes).tolist(), table.reshape(len(batch), -1)

    def ready(self, batch: Batch) -> Batch:
        if self.regression or (batch.classes is None and is_core(self.model)):
            return batch
        # scikit-learn must be told all classes before it learns the first row.
        classes = distinct(batch.y)[0] if batch.classes is None else batch.classes
        if not isinstance(self.model, Estimator):
            check_alike(classes, self.model)
        return dataclasses.replace(batch, classes=exact_array(classes))

    def check(self, batch: Batch) -> None:
        super().check(batch)
        if batch.rows is None:
            raise ParameterError(
                f"{type(self.model).__name__} of scikit-learn takes rows of arrays, not dicts."
            )
        if self.regression:
            return
        name = type(self.model).__name__
        if not self._ready and batch.classes is None and batch.counts.any():
            raise DataError(
                f"{name} must be told all classes before its first row: "
                "pass classes=... to partial_fit."
            )
        known = self.model.classes_.tolist() if self._ready else batch.classes
        check_alike([] if known is None else known, self.model)
        for i in np.flatnonzero(batch.counts).tolist():
            if known is not None and batch.truth[i] not in known:
                raise DataError(f"{name} was not told of the class {batch.truth[i]!r}", row=i)

    def learn(self, batch: Batch, places: Array | None = None) -> None:
        some = batch if places is None else batch.take(places)
        if some.weights is not None and not some.counts.all():
            some = some.take(np.flatnonzero(some.counts))
        if not len(some):
            return
        more: dict[str, Any] = {} if some.weights is None else {"sample_weight": some.weights}
        if not (self._ready or self.regression or batch.classes is None):
            more["classes"] = exact_array(batch.classes)
        y = some.y
        if some.labels is not None:
            y = some.values if self.regression else exact_array(some.truth)
        self.model.partial_fit(some.matrix, y, **more)
        self._ready = True

    def table(self, batch: Batch, codes: Codes, wanted: Wanted) -> Array:
        if not self._ready and hasattr(self.model, "predict_proba"):
            return np.zeros((len(batch), len(codes)))
        return super().table(batch, codes, wanted)


def adapter_of(model: Any) -> Adapter:
    """A learner in the form that estimators made of learners use."""
    if is_core(model) and model.learns_labels:
        return CoreAdapter(model)
    return DictAdapter(model) if by_dicts(model) else _of_arrays(model)


def adapter_for(model: Any, batch: Batch) -> ArrayAdapter | DictAdapter:
    """The way to use a model on rows as they were given: arrays and frames as such, if it can."""
    dicts = is_dicts(batch.X) and not takes_lists_of_dicts(model)
    if by_dicts(model) and (dicts or not by_arrays(model)):
        return DictAdapter(model)
    adapter = _of_arrays(model)
    if dicts:
        raise DataError(f"Rows that are dicts need a model with learn_one, not {model!r}.")
    return adapter


def _of_arrays(model: Any) -> ArrayAdapter:
    if by_arrays(model):
        return ArrayAdapter(model)
    raise ParameterError(
        f"{type(model).__name__} has neither partial_fit and predict nor learn_one and "
        "predict_one, so it cannot learn row by row."
    )
