"""Rows brought to one scale before a learner gets them: columns, rows, or both.

What the columns have shown so far is learned with the rows and belongs to the model, so whoever
predicts gives it rows as they come: Python, files, or a service.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from yarrow.base.probabilities import SometimesProbabilities
from yarrow.base.state_estimator import ScoringClassifier
from yarrow.composite.base import Composite, State
from yarrow.composite.supervised import (
    CompositeClassifier,
    CompositeProbabilities,
    CompositeRegressor,
)
from yarrow.data.arrays import Array, Rows
from yarrow.data.dict_rows import features_of
from yarrow.errors import DataError, ParameterError, about_row
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.online.learners import is_core, is_learner
from yarrow.online.results import ProgressiveResult
from yarrow.parameters import anything, flag
from yarrow.saving import schema
from yarrow.saving.codec import NAME_FIELDS, pack_names, unpack_names


@dataclasses.dataclass
class ScaledState(State):
    """With what the columns have shown, and what takes rows learned since `begin` back."""

    scaler: Any = None
    taken: list[Callable[[], None]] = dataclasses.field(default_factory=list, repr=False)

    def begin(self) -> None:
        super().begin()
        self.taken = []

    def roll_back(self) -> None:
        for take_back in reversed(self.taken):
            take_back()
        super().roll_back()

    def commit(self) -> None:
        super().commit()
        self.taken = []

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"taken": []}


@estimator
class Scaled(Composite):
    """Base of both forms."""

    learner: Any = anything(
        default=None,
        allowed="None or a learner",
        accepts=lambda v: v is None or is_learner(v),
        doc="The learner of the rows; None: AROW.",
    )
    _: dataclasses.KW_ONLY
    scale: bool = flag(
        default=True, doc="Divide each feature by its standard deviation so far, the row included."
    )
    normalize: bool = flag(default=False, doc="Then divide each row by its length.")

    row_costs: ClassVar[str] = "what its learner costs, and scaling in Python"
    _state_type: ClassVar[type[State]] = ScaledState

    def _learners(self) -> Sequence[Any]:
        if self.learner is not None or not self.regression:
            return super()._learners()
        from yarrow.linear_model import AROWRegressor

        return [AROWRegressor()]

    def _begin(self, state: State) -> None:
        from yarrow.features.scaling import OnlineStandardScaler

        state.notes = {"scale": self.scale, "normalize": self.normalize}
        state.scaler = OnlineStandardScaler()  # type: ignore[attr-defined]
        state.scaler._start()  # type: ignore[attr-defined]

    # -- rows ------------------------------------------------------------------------------------

    def _walk(self, state: State, batch: Batch) -> Array:
        if not self.regression:
            state.meet(batch)
        ready = self._ready(state, batch, batch.counts)
        said = state.members[0].progressive(ready, state.codes)
        state.t += int(np.count_nonzero(batch.counts))
        return said

    def _progressive_rows(
        self, batch: Batch, delay: int = 0, probabilities: bool = False
    ) -> ProgressiveResult:
        if delay or not is_core(self._learners()[0]):
            return super()._progressive_rows(batch, delay, probabilities)
        assert batch.rows is not None
        known = self._batch(batch.rows, batch.names, batch.y, batch.weights, batch.classes)
        with self._lock:
            state = self.__dict__.get("_state")
            working = self._new_state() if state is None else state.copy()
            working.check(known)
            if not self.regression:
                working.meet(known)
            ready = dataclasses.replace(self._ready(working, known, known.counts), y=batch.y)
            told = working.members[0].model._progressive_rows(ready, probabilities=probabilities)
            working.t += int(np.count_nonzero(known.counts))
            if working.t:
                self._state = working
        return told  # type: ignore[no-any-return]

    def _said(self, state: State, batch: Batch) -> Array:
        return state.members[0].predict(self._asked(state, batch), state.codes)

    def _asked(self, state: State, batch: Batch) -> Batch:
        """Rows as they would be learned, of which nothing is kept."""
        return self._ready(state, batch, np.zeros(len(batch), bool))

    def _ready(self, state: Any, batch: Batch, learned: Array) -> Batch:
        """The rows as the learner gets them, where some count for those after them."""
        if batch.row is not None:
            there = features_of(batch.row)
            values = np.array(list(there.values()), dtype=np.float64)
            self._check_row(state, list(there), values)
            values = self._ready_row(state, list(there), values, bool(learned[0]))
            row = {name: value for name, value in zip(there, values.tolist(), strict=True) if value}
            return dataclasses.replace(batch, row=row)
        rows, names = batch.rows, batch.names
        assert rows is not None
        kept: list[Array] = []
        indices: list[Array] = []
        for i, counts in enumerate(learned.tolist()):
            columns, cells = rows.cells(i)
            numbers = columns.tolist()
            named = [names[j] for j in numbers] if names else numbers
            with about_row(i):
                cells = self._ready_row(state, named, cells, counts)
            there = cells != 0
            kept.append(cells[there])
            indices.append(columns[there])
        begins = np.cumsum([0, *map(len, kept)])
        cells, columns = np.concatenate(kept), np.concatenate(indices).astype(np.int32)
        ready = Rows(cells, columns, begins, rows.n_rows, rows.n_columns, rows.names)
        return dataclasses.replace(batch, rows=ready)

    @staticmethod
    def _check_row(state: State, names: list[Any], values: Array) -> None:
        """Refuse what is refused of an array: the learner gets other values, and cannot."""
        try:
            rows = Rows(values[None], None, None, 1, len(names), list(map(str, names)))
            state.check_values(Batch(rows=rows))
        except DataError as error:
            raise DataError(error.problem.replace(" at row 0, column", " for")) from None

    @staticmethod
    def _ready_row(state: Any, names: list[Any], values: Array, counts: bool) -> Array:
        if state.notes["scale"]:
            values, keep = state.scaler.scale_next(names, values)
            if counts:
                take_back = keep()
                if state.past is not None:
                    state.taken.append(take_back)
        if state.notes["normalize"]:
            from yarrow.features.normalizing import RowNormalizer

            values = values / RowNormalizer().lengths(values, np.zeros(len(values), np.int64), 1)
        return values

    # -- files -----------------------------------------------------------------------------------

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        columns = schema.Array("f8", ("names", 3))
        flags: schema.Parts = dict.fromkeys(("scale", "normalize"), schema.Flag())
        return {"columns": columns, **NAME_FIELDS}, flags

    def _pack_state(self, state: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        scaler = state.scaler
        return {"columns": scaler._known, **pack_names(scaler.feature_names_)}, state.notes

    def _unpack_state(
        self, codes: dict[Any, int], t: int, tensors: dict[str, Any], notes: Mapping[str, Any]
    ) -> State:
        columns = np.array(tensors.pop("columns"))
        names = unpack_names(tensors)
        state: Any = super()._unpack_state(codes, t, {}, notes)
        self._begin(state)
        state.notes = dict(notes)
        state.scaler._take(names, columns, t if notes["scale"] else 0)
        return state  # type: ignore[no-any-return]


def scaled(learner: Any, scale: bool, normalize: bool) -> Any:
    """The learner, or one of rows that are brought to one scale for it."""
    if not (scale or normalize):
        return learner
    if not learner.learns_labels:
        raise ParameterError(
            f"{type(learner).__name__} learns without labels, so its rows cannot be scaled while "
            "it learns: scale them beforehand."
        )
    cls = ScaledRegressor if learner.regression else ScaledClassifier
    return cls(learner, scale=scale, normalize=normalize)


@estimator
class ScaledClassifier(
    SometimesProbabilities, CompositeProbabilities, CompositeClassifier, ScoringClassifier, Scaled
):
    """A classifier of features brought to one scale, while they are learned (Welford 1962).

    Each feature is divided by its standard deviation over the rows so far, the row itself included:
    a feature that is absent is 0, and one that has always been the same becomes 0. So a stream is
    learned in one pass, and raw rows are predicted. A sample weight is that of the learner.
    Use it where features have different units and the learner does not see to that by itself, or,
    with `scale=False, normalize=True`, for texts of very different lengths.
    Instead: `YarrowClassifier`, which has one scale for all features by itself and is much faster;
    words need no scale, since it makes the rare ones large.

    >>> from yarrow import PassiveAggressiveClassifier
    >>> model = ScaledClassifier(PassiveAggressiveClassifier())
    >>> for i in range(50):
    ...     model.learn_one({"meters": 0.001 * (i % 2), "grams": 1000.0 * (i % 3)}, i % 2)
    >>> model.predict_one({"meters": 0.001, "grams": 2000.0})
    1
    """

    expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_decision_proba_consistency": "AROW's probabilities do not follow scores alone"
    }

    def _lacks_probabilities(self) -> str | None:
        learner = self._learners()[0]
        there = hasattr(learner, "predict_proba")
        return None if there else f"{type(learner).__name__} has no predict_proba"

    def _scores(self, state: State, batch: Batch) -> Array:
        return state.members[0].table(self._asked(state, batch), state.codes, "scores")

    def _probabilities(self, state: State, batch: Batch) -> Array:
        return state.members[0].probabilities(self._asked(state, batch), state.codes)


@estimator
class ScaledRegressor(CompositeRegressor, Scaled):
    """A regressor of features brought to one scale, while they are learned (Welford 1962).

    As `ScaledClassifier`; what is predicted has its own scale and keeps it.
    Use it where features have different units and the learner does not see to that by itself.
    Instead: `YarrowRegressor`, which has one scale for all features by itself and is much faster.

    >>> model = ScaledRegressor()
    >>> for i in range(60):
    ...     model.learn_one({"meters": 0.001 * (i % 3)}, 2.0 * (i % 3))
    >>> round(model.predict_one({"meters": 0.002}))
    4
    """
