"""What all estimators made of other learners share: both interfaces, whole calls, saving.

A subclass says which learners it is made of (`_learners`) and what a batch of rows does to them
(`_walk`): predict each row, then learn it; `partial_fit` is `progressive` without its answer. Rows
are read once, and each learner gets its own form of them. Learners that are given as parameters are
never changed; fresh ones with the same parameters learn. Arrays are learned by a copy; one row by
the state itself, whose members can take it back (`State.attempt`). Kernel learners inside and those
of other libraries cannot, if one after them refuses the row.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

from yarrow.base.hyperparameters import passes, seed, shuffling
from yarrow.base.state_estimator import StateEstimator
from yarrow.composite import saved_state
from yarrow.data.arrays import Array
from yarrow.data.dict_rows import features_of, without_missing
from yarrow.data.labels import UNKNOWN, numbered
from yarrow.estimator import estimator, uninterrupted
from yarrow.lazy import np
from yarrow.online.adapters import Adapter, adapter_of
from yarrow.online.batch import Batch
from yarrow.online.learners import check_task, fresh
from yarrow.saving import schema
from yarrow.saving.codec import Objects


@dataclasses.dataclass
class State:
    """What an estimator made of learners has learned; `tensors` are arrays of its own."""

    members: list[Adapter]
    codes: dict[Any, int] = dataclasses.field(default_factory=dict)  # classes by appearance
    t: int = 0
    tensors: dict[str, Array] = dataclasses.field(default_factory=dict)
    #: whatever else JSON can hold
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: what was there at `begin`, if that can still be taken back
    past: dict[str, Any] | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def nbytes(self) -> int:
        """What the members take."""
        return sum(int(getattr(one.model, "_raw_memory_usage", 0)) for one in self.members)

    @property
    def classes(self) -> list[Any]:
        """The classes in the order of their appearance."""
        return list(self.codes)

    @property
    def learning(self) -> list[Adapter]:
        """The members that learn; others only predict."""
        return self.members

    def copy(self) -> Self:
        """The same, apart from this one."""
        return copy.deepcopy(self)

    def check(self, batch: Batch) -> None:
        """Refuse rows that a member cannot learn."""
        for member in self.learning:
            member.check(batch)

    def check_values(self, batch: Batch) -> None:
        """Refuse rows with a value that is too large for a member."""
        for member in self.members:
            member.check_values(batch)

    def attempt(self, change: Callable[[], Any]) -> Any:
        """Change this very state by one row; an error leaves it as it was.

        Kernel learners and those of other libraries cannot take a row back: they leave no trace of
        a row that they refuse themselves, but keep one that a learner after them refuses.
        """
        if self.past is not None:
            return change()  # who has begun takes back
        with uninterrupted():
            self.begin()
            try:
                answer = change()
            except BaseException:
                self.roll_back()
                raise
            self.commit()
        return answer

    def begin(self) -> None:
        """From here on, what is learned of one row can be taken back."""
        for member in self.learning:
            member.begin()
        # Arrays are replaced, never changed, and classes are only added.
        past = vars(self).copy()
        for name in ("members", "tensors", "notes"):
            past[name] = past[name].copy()
        past["n_codes"] = len(self.codes)
        self.past = past

    def roll_back(self) -> None:
        """Be what was there at `begin`."""
        past = self.past
        assert past is not None
        for _ in range(past.pop("n_codes"), len(self.codes)):
            self.codes.popitem()  # the newest
        vars(self).update(past)
        for member in self.learning:
            member.roll_back()

    def __getstate__(self) -> dict[str, Any]:  # a copy has begun nothing
        return vars(self) | {"past": None}

    def commit(self) -> None:
        """Keep what was learned since `begin`."""
        self.past = None
        for member in self.learning:
            member.commit()

    def meet(self, batch: Batch) -> Array:
        """Number the classes of a batch; the labels as numbers."""
        counts = zip(batch.truth, batch.counts.tolist(), strict=True)
        numbered([label for label, counted in counts if counted], self.codes, add=True)
        return numbered(batch.truth, self.codes, unknown=UNKNOWN)


@estimator
class Composite(StateEstimator):
    """Base of the estimators that are made of other learners."""

    _: dataclasses.KW_ONLY
    max_iter: int = passes(default=1)
    shuffle: bool = shuffling()
    random_state: int = seed(", and of draws")

    #: where comparisons put it, and what a row costs there
    family: ClassVar[str] = ""
    row_costs: ClassVar[str] = "what its learners cost"
    learns_labels: ClassVar[bool] = True
    _state_type: ClassVar[type[State]] = State

    # -- what a subclass says --------------------------------------------------------------------

    def _learners(self) -> Sequence[Any]:
        """The learners that it is made of, as its parameters say; by default one, AROW."""
        from yarrow.linear_model import AROWClassifier

        learner = getattr(self, "learner", None)
        return [AROWClassifier() if learner is None else learner]

    def _begin(self, state: State) -> None:
        """Fill in what a fresh state has beside its members."""

    # -- learning --------------------------------------------------------------------------------

    def _check_batch(self, batch: Batch) -> None:
        """Refuse values that are too large for a learner inside, where this is one itself."""
        (self.__dict__.get("_state") or self._new_state()).check_values(batch)

    def _new_state(self) -> State:
        self._check_parameters()
        members = [adapter_of(fresh(learner)) for learner in self._learners()]
        for member in members:
            check_task(member.model, self.regression)
        state = self._state_type(members)
        self._begin(state)
        return state

    def _text_name(self) -> str | None:
        """A feature that is called by a text, if a learner inside knows one."""
        state = self.__dict__.get("_state")
        for member in [] if state is None else state.members:
            name: str | None = getattr(member.model, "_text_name", lambda: None)()
            if name is not None:
                return name
        return None

    def _one(self, x: Any, y: Any = None, w: float | None = None) -> Batch:
        batch = super()._one(x, y, w)
        features_of(batch.row)  # refuses what is no row, before any learner sees it
        return dataclasses.replace(batch, row=without_missing(batch.row or {}))

    # -- looking inside --------------------------------------------------------------------------

    @property
    def learners_(self) -> list[Any]:
        """The learners inside, as they are now."""
        return [member.model for member in self._fitted.members]

    @property
    def n_nonzero_(self) -> int:
        """Weights that are not zero, of all learners inside that have weights."""
        fitted = [one for one in self.learners_ if one.__dict__.get("_model") is not None]
        return sum(int(one.n_nonzero_) for one in fitted)

    # -- files -----------------------------------------------------------------------------------

    _fields: ClassVar[Mapping[str, schema.Schema]] = saved_state.FIELDS

    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return saved_state.pack(self)

    def _unpack(
        self, tensors: Mapping[str, Any], metadata: Mapping[str, Any], objects: Objects
    ) -> None:
        saved_state.unpack(self, tensors, metadata)

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        """What `_pack_state` makes, arrays and notes, of so many `members` and `classes`."""
        return {}, {}

    def _pack_state(self, state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a state has beside its members and classes: arrays, and what JSON can hold."""
        return state.tensors, state.notes

    def _unpack_state(
        self, codes: dict[Any, int], t: int, tensors: dict[str, Any], notes: Mapping[str, Any]
    ) -> State:
        arrays = {name: np.array(array) for name, array in tensors.items()}
        return self._state_type([], codes, t, arrays, dict(notes))
