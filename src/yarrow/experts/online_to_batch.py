"""Online to batch: one model to keep, out of the many that a stream leaves on its way."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from yarrow.composite.base import Composite, State
from yarrow.composite.supervised import CompositeClassifier, CompositeRegressor
from yarrow.data.arrays import Array
from yarrow.data.labels import UNKNOWN, numbered
from yarrow.errors import ModelFileError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.online.adapters import Adapter
from yarrow.online.batch import Batch
from yarrow.online.learners import is_learner
from yarrow.parameters import anything, choice, integer
from yarrow.saving import schema

#: rows between the first snapshots; doubled whenever there are too many
FIRST_STRIDE = 16
#: how sure the choice of the best snapshot is
DELTA = 0.05


class Snapshots(State):
    """The first member learns; the others are copies of it, which do not."""

    @property
    def learning(self) -> list[Adapter]:
        """The learner itself."""
        return self.members[:1]


@estimator
class OnlineToBatch(Composite):
    """Base of both forms."""

    learner: Any = anything(
        default=None,
        allowed="None or a learner",
        accepts=lambda v: v is None or is_learner(v),
        doc="The learner; None: Passive-Aggressive, whose last weights depend on the last rows.",
    )
    use: Literal["last", "average", "best"] = choice(
        default="average",
        options=("last", "average", "best"),
        doc="Predict with the current learner, with all copies together, or with the best copy.",
    )
    snapshots: int = integer(
        default=8, doc="Maximum number of copies kept, at equal distances.", at_least=2
    )

    family: ClassVar[str] = "experts"
    _state_type: ClassVar[type[State]] = Snapshots

    def _learners(self) -> Sequence[Any]:
        if self.learner is not None:
            return [self.learner]
        from yarrow.linear_model import PassiveAggressiveClassifier, PassiveAggressiveRegressor

        return [PassiveAggressiveRegressor() if self.regression else PassiveAggressiveClassifier()]

    def _begin(self, state: State) -> None:
        state.tensors = {"losses": np.zeros(0), "tests": np.zeros(0)}
        state.notes = {"stride": FIRST_STRIDE, "best": None}

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        each = schema.Array("f8", ("copies",), at_least=0)
        stride, best = schema.Whole(at_least=1, at_most=2**62), schema.Maybe(schema.Whole())
        return {"losses": each, "tests": each}, {"stride": stride, "best": best}

    def _unpack_state(
        self, codes: dict[Any, int], t: int, tensors: dict[str, Any], notes: Mapping[str, Any]
    ) -> State:
        best = notes["best"]
        if best is not None and best >= len(tensors["losses"]):
            raise ModelFileError("the copy that predicts is not there")
        return super()._unpack_state(codes, t, tensors, notes)

    def _walk(self, state: State, batch: Batch) -> Array:
        if self.use == "last" or batch.rows is None:
            return self._part(state, batch)
        said, learned, begin = [], np.cumsum(batch.counts), 0
        while begin < len(batch):  # up to the row after which the next copy is taken
            stride = state.notes["stride"]
            missing = stride - state.t % stride
            before = learned[begin - 1] if begin else 0
            end = min(len(batch), int(np.searchsorted(learned, before + missing)) + 1)
            said.append(self._part(state, batch.take(np.arange(begin, end))))
            begin = end
        return np.concatenate(said)

    def _part(self, state: State, batch: Batch) -> Array:
        if not self.regression:
            state.meet(batch)
        told = self._told_by_copies(state, batch)
        now = state.members[0].progressive(batch, state.codes)
        said = self._together(state, told, now)
        self._score(state, told, batch)
        state.t += int(np.count_nonzero(batch.counts))
        if self.use != "last" and state.t and state.t % state.notes["stride"] == 0:
            self._keep_copy(state)
        return said

    def _together(self, state: State, told: Array, now: Array) -> Array:
        best = state.notes["best"]
        if self.use == "last" or not told.shape[1] or (self.use == "best" and best is None):
            return now
        if self.use == "best":
            return np.asarray(told[:, best])
        everyone = np.column_stack([told, now])
        if self.regression:
            return np.asarray(everyone.mean(axis=1))
        votes = np.stack(
            [(everyone == code).sum(axis=1) for code in range(len(state.codes))], axis=1
        ).astype(float)
        votes[np.arange(len(now)), np.maximum(now, 0)] += 0.5  # a tie goes to the newest
        return np.asarray(votes.argmax(axis=1))

    def _score(self, state: State, told: Array, batch: Batch) -> None:
        """Charge copies for rows that none of them has learned."""
        if self.use != "best" or not told.shape[1]:
            return
        tested = np.flatnonzero(batch.counts)
        if self.regression:
            losses = (told - batch.values[:, None]) ** 2
        else:
            truth = numbered(batch.truth, state.codes, unknown=UNKNOWN)
            losses = (told != truth[:, None]).astype(float)
        for row in tested:  # one by one, so that sums do not depend on how calls are cut
            state.tensors["losses"] = state.tensors["losses"] + losses[row]
        state.tensors["tests"] = state.tensors["tests"] + len(tested)

    def _keep_copy(self, state: State) -> None:
        state.members.append(copy.deepcopy(state.members[0]))
        for name in ("losses", "tests"):
            state.tensors[name] = np.append(state.tensors[name], 0.0)
        if len(state.members) - 1 > self.snapshots:  # every second is enough from now on
            state.notes["stride"] *= 2
            kept = [i for i in range(self.snapshots + 1) if i % 2]
            state.members = [state.members[0], *(state.members[i + 1] for i in kept)]
            for name in ("losses", "tests"):
                state.tensors[name] = state.tensors[name][kept]
        state.notes["best"] = self._best(state)

    def _best(self, state: State) -> int | None:
        """The copy whose loss is least for sure (Cesa-Bianchi, Conconi & Gentile 2004).

        Early copies were tested on more rows, so the mean loss of each is raised by what it may be
        wrong: sqrt(ln(copies / delta) / (2 tests)), in units of the spread of the losses.
        """
        losses, tests = state.tensors["losses"], state.tensors["tests"]
        if not (tests > 0).any():
            return None
        means = np.divide(losses, tests, out=np.full_like(losses, np.inf), where=tests > 0)
        unit = float(means[np.isfinite(means)].max()) if self.regression else 1.0
        doubt = np.sqrt(np.log(len(tests) / DELTA) / (2 * np.maximum(tests, 1)))
        return int(np.argmin(means + unit * doubt))

    def _said(self, state: State, batch: Batch) -> Array:
        told, now = self._told_by_copies(state, batch), state.members[0]
        return self._together(state, told, now.predict(batch, state.codes))

    def _told_by_copies(self, state: State, batch: Batch) -> Array:
        """What the copies say of each row, a column each."""
        copies = [] if self.use == "last" else state.members[1:]
        said = [one.predict(batch, state.codes) for one in copies]
        return np.stack(said, axis=1) if said else np.zeros((len(batch), 0))

    @property
    def chosen_(self) -> Any:
        """The model that predicts, unless all do together."""
        state = self._fitted
        best = state.notes["best"]
        place = 0 if self.use == "last" or best is None else best + 1
        return state.members[place].model


@estimator
class OnlineToBatchClassifier(CompositeClassifier, OnlineToBatch):
    """One classifier to keep, out of those that a stream leaves (Cesa-Bianchi et al. 2004).

    `last` is the learner itself; `average` a vote of copies taken at equal distances; `best` the
    copy with the fewest mistakes on later rows, which it has not learned, raised by how uncertain
    that count is. Memory: `snapshots` + 1 models.
    Use it when a stream ends and one model goes into service, above all with learners that jump
    (Perceptron, PA) or labels that are noisy. Instead: `average=True` of the linear learners, which
    is the exact average of all weights at the price of one more vector; under drift, `last`.

    >>> from yarrow import Perceptron
    >>> model = OnlineToBatchClassifier(Perceptron(), use="best")
    >>> for _ in range(50):
    ...     model.learn_one({"cheap": 1, "pills": 1}, "spam")
    ...     model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"pills": 1})
    'spam'
    """


@estimator
class OnlineToBatchRegressor(CompositeRegressor, OnlineToBatch):
    """One regressor to keep, out of those that a stream leaves (Cesa-Bianchi et al. 2004).

    As `OnlineToBatchClassifier`, with squared errors for mistakes and the mean for the vote.
    Use it when a stream ends and one model goes into service. Instead: under drift, the learner
    alone.

    >>> model = OnlineToBatchRegressor(use="average")
    >>> for i in range(60):
    ...     model.learn_one({"x": i % 3}, 2.0 * (i % 3))
    >>> round(model.predict_one({"x": 2}))
    4
    """
