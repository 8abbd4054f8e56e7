"""Prediction sets and abstention: how sure a prediction is, with a guarantee."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, ClassVar

from yarrow.composite.base import Composite, State
from yarrow.composite.supervised import CompositeClassifier
from yarrow.data.arrays import Array, labels_of
from yarrow.data.draws import normalised
from yarrow.data.labels import named
from yarrow.errors import DataError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.online.adapters import ArrayAdapter
from yarrow.online.batch import Batch
from yarrow.online.learners import is_learner
from yarrow.parameters import anything, flag, number
from yarrow.saving import schema


@estimator
class PredictionSetClassifier(CompositeClassifier, Composite):
    """Predicts sets of classes that hold the true one as often as asked, whatever the stream does.

    A set has the best class and all whose probability is at least 1 - q. After each row q grows by
    rate*(1 - target) if the set missed the class, and falls by rate*target if not, where target =
    1 - coverage (Gibbs & Candès 2021; Angelopoulos, Candès & Tibshirani 2023). So, by arithmetic
    and without any assumption about rows, noise or drift, among T rows of known classes at most
    target*T + (1 + rate)/rate sets miss. A learner that is right more often than asked covers more.
    Where the set has more than one class, `predict_or_abstain` says None; then its wrong answers
    are at most as many. With adapt=False the learner's probabilities are believed: the smallest
    set whose probabilities sum up to the coverage, without a guarantee.
    Use it where a wrong answer costs more than none. Instead: `predict_proba` of the learner, where
    you only want to rank rows.

    >>> from yarrow import AROWClassifier
    >>> model = PredictionSetClassifier(AROWClassifier(), coverage=0.9)
    >>> for _ in range(50):
    ...     model.learn_one({"cheap": 1, "pills": 1}, "spam")
    ...     model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_set_one({"pills": 1}), model.predict_or_abstain_one({"pills": 1})
    (['spam'], 'spam')
    """

    learner: Any = anything(
        default=None,
        allowed="None or a learner that predicts probabilities",
        accepts=lambda v: v is None or is_learner(v),
        doc="The learner; None: AROW.",
    )
    coverage: float = number(
        default=0.9,
        doc="Target coverage: how often a set should contain the true class.",
        above=0,
        below=1,
    )
    rate: float = number(
        default=0.02,
        doc="Learning rate of the threshold: larger under drift, smaller without.",
        above=0,
    )
    adapt: bool = flag(
        default=True, doc="Adapt to the observed coverage, or trust the probabilities."
    )
    _: dataclasses.KW_ONLY

    family: ClassVar[str] = "feedback"
    row_costs: ClassVar[str] = "what its learner costs, row by row in Python"

    def _begin(self, state: State) -> None:
        state.notes = {"threshold": self.coverage, "tested": 0, "covered": 0, "sizes": 0}

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        counts = dict.fromkeys(("tested", "covered", "sizes"), schema.Whole())
        return {}, {"threshold": schema.Number(at_least=0), **counts}

    def _shares(self, state: State, batch: Batch) -> Array:
        return normalised(state.members[0].probabilities(batch, state.codes))

    def _sets(self, state: State, shares: Array) -> Array:
        """Which classes are in the set of each row."""
        best = shares.argmax(axis=1)
        if self.adapt:
            inside = shares >= 1 - state.notes["threshold"]
        else:
            order = np.argsort(-shares, axis=1, kind="stable")
            ranked = np.take_along_axis(shares, order, axis=1)
            before = np.cumsum(ranked, axis=1) - ranked
            inside = np.zeros_like(shares, dtype=bool)
            np.put_along_axis(inside, order, before < self.coverage, axis=1)
        inside[np.arange(len(shares)), best] = True
        return np.asarray(inside)

    def _one_by_one(self, state: State, batch: Batch) -> list[Batch]:
        """A batch a row, each as the learner takes it."""
        by_array = isinstance(state.members[0], ArrayAdapter)
        return batch.one_by_one() if by_array else batch.as_dicts()

    def _walk(self, state: State, batch: Batch) -> Array:
        said = np.full(len(batch), -1)
        for i, one in enumerate(self._one_by_one(state, batch)):
            truth = one.truth[0]
            if state.codes:
                shares = self._shares(state, one)
                said[i] = int(shares[0].argmax())
            if not one.counts[0]:
                continue
            if truth in state.codes:  # a class that nobody knew could not be in a set
                self._follow(state, self._sets(state, shares)[0], state.codes[truth])
            state.meet(one)
            state.members[0].learn(one)
            state.t += 1
        return said

    def _follow(self, state: State, inside: Array, truth: int) -> None:
        missed = not inside[truth]
        notes = state.notes
        notes["tested"] += 1
        notes["covered"] += int(not missed)
        notes["sizes"] += int(inside.sum())
        moved = notes["threshold"] + self.rate * (missed - (1 - self.coverage))
        notes["threshold"] = max(0.0, moved)

    def _said(self, state: State, batch: Batch) -> Array:
        return np.asarray(self._shares(state, batch).argmax(axis=1))

    # -- sets --------------------------------------------------------------------------------------

    def predict_set(self, X: Any) -> list[list[Any]]:
        """The set of each row: its classes, in the order of their appearance."""
        state, batch = self._ask(X)
        with self._lock:
            return self._named_sets(state, batch)

    def predict_set_one(self, x: dict[Any, Any]) -> list[Any]:
        """The set of one row; empty before any row was learned."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            return [] if state is None else self._named_sets(state, batch)[0]

    def _named_sets(self, state: State, batch: Batch) -> list[list[Any]]:
        classes = list(state.codes)
        inside = self._sets(state, self._shares(state, batch))
        return [[classes[j] for j in np.flatnonzero(row)] for row in inside]

    def predict_or_abstain(self, X: Any) -> Array:
        """The class of each row whose set has no other; None for the rest."""
        sets = self.predict_set(X)
        found = np.full(len(sets), None, dtype=object)
        for i, one in enumerate(sets):
            if len(one) == 1:
                found[i] = one[0]
        return found

    def predict_or_abstain_one(self, x: dict[Any, Any]) -> Any:
        """The class of one row if its set has no other, else None."""
        found = self.predict_set_one(x)
        return found[0] if len(found) == 1 else None

    def progressive_sets(
        self, X: Any, y: Any, *, classes: Any = None
    ) -> tuple[Array, list[list[Any]]]:
        """Predict each row and its set, then learn it: predictions and sets.

        `classes` are all that may ever come, which a learner of scikit-learn must be told.
        """
        rows = self._read(X)
        batch = self._batch(rows, self._names_of(rows), labels_of(y), classes=classes)
        return self._change(lambda twin: twin._progressive_sets(batch))  # type: ignore[no-any-return]

    def _progressive_sets(self, batch: Batch) -> tuple[Array, list[list[Any]]]:
        begun = copy.deepcopy(self.__dict__.get("_state")) or self._new_state()
        begun.check(batch)
        if begun.t:
            self._state = begun
        said, sets = [], []
        for one in self._one_by_one(begun, batch):
            state = self.__dict__.get("_state")
            sets.append([] if state is None else self._named_sets(state, one)[0])
            said.append(self._learn_batch(one)[0])
        self._keep_columns(batch.rows)
        return named(np.array(said), self._classes_seen()), sets

    # -- what has been covered ---------------------------------------------------------------------

    @property
    def coverage_(self) -> float:
        """The share of sets that held the true class, of rows whose class was known."""
        notes = self._fitted.notes
        if not notes["tested"]:
            raise DataError("No set has been tested yet: no class has come twice.")
        return float(notes["covered"] / notes["tested"])

    @property
    def guaranteed_coverage_(self) -> float:
        """What `coverage_` cannot be below, after so many rows; 0 without `adapt`."""
        tested = self._fitted.notes["tested"]
        if not tested or not self.adapt:
            return 0.0
        return float(max(0.0, self.coverage - (1 + self.rate) / (self.rate * tested)))

    @property
    def mean_size_(self) -> float:
        """How many classes a set had in the mean."""
        notes = self._fitted.notes
        return float(notes["sizes"] / max(1, notes["tested"]))
