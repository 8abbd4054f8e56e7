"""What all learners from bandit feedback share: choosing, exploring, both interfaces, saving.

A learner says how its weights change when a class was shown and turned out right or wrong
(`_update`). Where labels are given (`fit`, `partial_fit`, `learn_one`), a class is drawn as it
would be for a user, and of the label only that is used: whether the class drawn was right.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from yarrow.bandit.choice import (
    LABELS,
    Choice,
    plain_labels,
    row_of_choice,
)
from yarrow.bandit.table import LEAST_SCALE, Table
from yarrow.base.hyperparameters import passes
from yarrow.base.state_estimator import ScoringClassifier
from yarrow.composite.base import State
from yarrow.composite.supervised import CompositeClassifier
from yarrow.data.arrays import Array, Rows, check_size
from yarrow.data.dict_rows import Row, read_weight, row_of_dict
from yarrow.data.draws import uniform
from yarrow.data.labels import check_declared, check_known, plain
from yarrow.errors import DataError, ModelFileError, ParameterError
from yarrow.estimator import estimator
from yarrow.io.row_reader import row_for
from yarrow.lazy import np
from yarrow.online.batch import Batch
from yarrow.parameters import anything, flag, most_classes, number
from yarrow.saving import schema
from yarrow.saving.codec import NAME_FIELDS, pack_names, unpack_names

#: values whose squares, added up and divided by small probabilities, are still finite
LARGEST = 1e100

#: steps of weights whose sums, multiplied by such values, are still finite, and these sums
LARGEST_STEP = 1e150
LARGEST_WEIGHT = 1e200


@dataclasses.dataclass
class BanditState(State):
    """Weights, and how many classes were drawn."""

    table: Table = dataclasses.field(default_factory=Table)
    draws: int = 0
    mistakes: int = 0

    @property
    def nbytes(self) -> int:
        """What the weights take."""
        return self.table.nbytes

    def begin(self) -> None:
        super().begin()
        assert self.past is not None
        self.past["n_features"] = len(self.table.places)
        self.table.begin()

    def commit(self) -> None:
        """Keep what was learned since `begin`."""
        super().commit()
        self.table.commit()

    def roll_back(self) -> None:
        """Be what was there at `begin`: without new features and classes, steps, and a draw."""
        assert self.past is not None
        table = self.table
        table.roll_back()
        for _ in range(self.past.pop("n_features"), len(table.places)):
            table.places.popitem()  # the newest
        super().roll_back()
        table.weights = np.ascontiguousarray(table.weights[:, : len(self.codes)])


@estimator
class BanditClassifier(ScoringClassifier, CompositeClassifier):
    """Base of the learners from bandit feedback."""

    _: dataclasses.KW_ONLY
    gamma: float = number(
        default=0.1,
        doc="Probability, at the first row, of exploring: of drawing the class uniformly.",
        above=0,
        at_most=1,
    )
    decay: float = number(
        default=0.0,
        doc="At row t the probability is gamma / t**decay; 0: constant, 1/3: as the bound assumes.",
        at_least=0,
        at_most=1,
    )
    max_classes: int = most_classes()
    classes: Any = anything(
        default=None,
        allowed=f"None or {LABELS}",
        accepts=lambda v: (
            v is None or (isinstance(v, (list, tuple, np.ndarray)) and bool(plain_labels(v)))
        ),
        doc="The classes that can be shown; needed where labels are never seen.",
    )
    fit_intercept: bool = flag(default=True, doc="Learn a constant term as one more feature.")
    intercept_scaling: float = number(default=1.0, doc="Value of the constant feature.", above=0)
    max_iter: int = passes()

    family: ClassVar[str] = "bandit"
    _mirrored = False
    row_costs: ClassVar[str] = "O(nnz) for each class, row by row in Python"

    # -- what a learner says ---------------------------------------------------------------------

    def _update(
        self, table: Table, lines: Array, values: Array, drawn: int, best: int,
        probability: float, right: bool, weight: float,
    ) -> tuple[float, dict[int, Array]]:  # fmt: skip
        """Class `drawn` was shown, which had this probability: a factor of all weights, and steps.

        The steps are added to the weights of the row's features, by class, after the factor.
        """
        raise NotImplementedError

    # -- choosing and learning -------------------------------------------------------------------

    def choose_one(self, x: dict[Any, Any]) -> Choice:
        """Draw a class to show for one row: mostly the best, sometimes any."""
        row = row_of_dict(row_for(self, x))
        with self._lock:
            state = self._ready()
            scores = state.table.scores(*self._one_row(state.table, row, adds=False))
            drawn, best, probability = self._draw(state, scores)
            self._state = state
            classes = list(state.codes)
        pairs = [list(pair) for pair in row.as_dict().items()]
        return Choice(classes[drawn], pairs, classes[best], probability)

    def choose(self, X: Any) -> list[Choice]:
        """Draw a class for each row of an array."""
        rows = self._read(X)
        batch = self._batch(rows, self._names_of(rows))
        return [self.choose_one(x) for x in batch.dicts]

    def learn(self, choice: Choice, right: bool, weight: float = 1.0) -> None:
        """Learn whether the class that was shown was right; now, later, or in any order."""
        if right not in (True, False):
            raise ParameterError(f"The outcome of a choice must be True or False. Got {right!r}.")
        share, row = read_weight(weight), row_of_choice(choice)
        with self._lock:
            state = self._ready()
            for label in (choice.label, choice.best):
                may_be = isinstance(label, (str, int, float, np.generic))
                if not may_be or label not in state.codes:
                    raise DataError(f"The class {label!r} is not one that can be shown.")
            if share == 0:  # a row of no weight is absent
                return
            drawn, best = state.codes[choice.label], state.codes[choice.best]
            likely = float(choice.probability)

            def learn() -> None:
                places = self._one_row(state.table, row, adds=True)
                self._learn_choice(state, *places, drawn, best, likely, bool(right), share)

            state.attempt(learn)
            self._state = state

    def _ready(self) -> BanditState:
        """The state, which needs classes to choose from; a new one is not kept yet."""
        if "_state" in self.__dict__:
            return self._state  # type: ignore[no-any-return]
        state = self._new_state()
        if not state.codes:
            raise ParameterError("There is no class to choose from: give them by classes=...")
        return state

    def _learn_choice(
        self, state: BanditState, lines: Array, values: Array, drawn: int, best: int,
        probability: float, right: bool, weight: float,
    ) -> None:  # fmt: skip
        table = state.table
        if not np.abs(values).max(initial=0.0) < LARGEST:  # before anything is changed
            raise DataError("The row's values are too large: a weight would not be finite.")
        told = (drawn, best, probability, right, weight)
        with np.errstate(over="ignore", invalid="ignore"):
            factor, steps = self._update(table, lines, values, *told)
            is_small = all(step @ step < LARGEST_STEP**2 for step in steps.values())
        if not is_small:
            raise DataError("The step for this row is too large: a weight would not be finite.")
        table.shrink(factor)
        for column, step in steps.items():
            table.add(lines, column, step)
        state.t += 1
        state.mistakes += not right

    def _draw(self, state: BanditState, scores: Array) -> tuple[int, int, float]:
        """The class drawn, the best one, and the probability of the class drawn."""
        state.draws += 1
        gamma = self.gamma / state.draws**self.decay
        best, n = int(np.argmax(scores)), len(scores)
        chance = uniform(self.random_state, state.draws)
        drawn = best if chance >= gamma else min(n - 1, int(chance / gamma * n))
        return drawn, best, float(gamma / n + (1 - gamma) * (drawn == best))

    # -- rows ------------------------------------------------------------------------------------

    @property
    def _constant(self) -> float:
        return self.intercept_scaling if self.fit_intercept else 0.0

    def _one_row(self, table: Table, row: Row, adds: bool) -> tuple[Array, Array]:
        """Lines of a row's features and their values, the intercept last."""
        lines = table.lines(row.names, adds)
        values = np.where(lines < 0, 0.0, row.values)
        return np.append(np.maximum(lines, 0), 0), np.append(values, self._constant)

    def _rows(self, table: Table, batch: Batch, adds: bool) -> Iterator[tuple[Array, Array]]:
        """The same for all rows of a batch; features are looked up once for all."""
        if batch.rows is None:
            yield self._one_row(table, row_of_dict(batch.row), adds)
            return
        from scipy.sparse import csr_matrix

        csr = csr_matrix(batch.matrix, dtype=np.float64, copy=True)
        csr.sum_duplicates()
        csr.eliminate_zeros()
        line_of = np.zeros(csr.shape[1], dtype=np.int64)
        used = np.flatnonzero(np.bincount(csr.indices, minlength=len(line_of)))
        names = [batch.names[j] for j in used] if batch.names else used.tolist()
        line_of[used] = table.lines(names, adds)
        lines = np.insert(line_of[csr.indices], csr.indptr[1:], 0)
        values = np.insert(csr.data, csr.indptr[1:], self._constant)
        values, lines = np.where(lines < 0, 0.0, values), np.maximum(lines, 0)
        begins = csr.indptr + np.arange(len(csr.indptr))
        for begin, end in itertools.pairwise(begins.tolist()):
            yield lines[begin:end], values[begin:end]

    # -- where labels stand in -------------------------------------------------------------------

    def _learners(self) -> Sequence[Any]:
        return []

    def _new_state(self) -> BanditState:
        self._check_parameters()
        state = BanditState([])
        for label in self._declared:
            self._add_class(state, label)
        return state

    @property
    def _declared(self) -> list[Any]:
        return [] if self.classes is None else plain_labels(self.classes)

    def _batch(
        self, rows: Rows, names: list[Any], y: Any = None, weight: Any = None, classes: Any = None
    ) -> Batch:
        batch = super()._batch(rows, names, y, weight)
        check_size(rows.values, LARGEST, "Input X", rows)
        return batch if classes is None else dataclasses.replace(batch, classes=self._told(classes))

    def _told(self, classes: Any) -> list[Any]:
        """All classes that may come, as a call tells them; they must agree with those known."""
        self._check_parameters()
        told, declared = plain_labels(classes), self._declared
        if not told:
            raise ParameterError(
                f"The 'classes' parameter must be None or {LABELS}. Got {classes!r} instead."
            )
        if declared:
            check_declared(classes, declared)
        else:
            check_known(classes, told, self._classes_seen())
        return told

    def _add_class(self, state: BanditState, label: Any) -> None:
        label = plain(label)
        if label not in state.codes:
            self._check_new_class(label, len(state.codes))
            state.codes[label] = len(state.codes)
            state.table.add_class()

    def _walk(self, state: Any, batch: Batch) -> Array:
        for label in (batch.classes or ()) if self.classes is None else ():
            self._add_class(state, label)
        said = np.full(len(batch), -1)
        table = state.table
        all_known = self.classes is not None or batch.classes is not None
        for i, row in enumerate(self._rows(table, batch, adds=True)):
            truth, weight = batch.truth[i], batch.weight(i)
            if weight == 0:
                if state.codes:
                    said[i] = np.argmax(table.scores(*row))
                continue
            if all_known and truth not in state.codes:
                raise DataError(f"The class {truth!r} is not one of the declared.", row=i)
            if truth not in state.codes:
                self._check_new_class(truth, len(state.codes))
            if state.codes:
                drawn, best, probability = self._draw(state, table.scores(*row))
                right = state.codes.get(truth) == drawn
                self._learn_choice(state, *row, drawn, best, probability, right, weight)
                said[i] = drawn
            else:  # the first row of all: there was nothing to show
                state.t += 1
                state.mistakes += 1
            self._add_class(state, truth)
        return said

    def _said(self, state: Any, batch: Batch) -> Array:
        return np.asarray(self._scores(state, batch).argmax(axis=1))

    def _scores(self, state: Any, batch: Batch) -> Array:
        table = state.table
        return np.array([table.scores(*row) for row in self._rows(table, batch, adds=False)])

    # -- looking inside, files -------------------------------------------------------------------

    @property
    def n_mistakes_(self) -> int:
        """Classes that were shown and were wrong."""
        return int(self._fitted.mistakes)

    @property
    def n_nonzero_(self) -> int:
        """Weights that are not zero, without the intercept's."""
        return int(np.count_nonzero(self._fitted.table.weights[1:]))

    @property
    def gamma_(self) -> float:
        """The probability with which the next row explores."""
        return self.gamma / float((self._fitted.draws + 1) ** self.decay)

    def _pack_state(self, state: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        table = state.table
        names = list(table.places)
        tensors = {"weights": table.weights[: len(names) + 1], **pack_names(names)}
        return tensors, {"scale": table.scale, "draws": state.draws, "mistakes": state.mistakes}

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        weights = schema.Array("f8", (None, "classes"), -LARGEST_WEIGHT, LARGEST_WEIGHT)
        arrays: schema.Parts = {"weights": weights, **NAME_FIELDS}
        scale = schema.Number(at_least=LEAST_SCALE, at_most=1e9)
        notes: schema.Parts = {"scale": scale, "draws": schema.Whole(), "mistakes": schema.Whole()}
        return arrays, notes

    def _unpack_state(
        self, codes: dict[Any, int], t: int, tensors: dict[str, Any], notes: Mapping[str, Any]
    ) -> BanditState:
        state = BanditState([], codes, t, draws=notes["draws"], mistakes=notes["mistakes"])
        names, weights = unpack_names(tensors), np.array(tensors["weights"])
        if len(weights) != len(names) + 1:
            raise ModelFileError("its weights do not belong to its features")
        state.table.places = {name: place for place, name in enumerate(names, start=1)}
        state.table.weights, state.table.scale = weights, float(notes["scale"])
        return state
