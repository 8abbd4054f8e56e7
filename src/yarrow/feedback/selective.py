"""Selective sampling: a label is asked for only where it promises to teach something."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

from yarrow.base.classifier import LinearClassifier
from yarrow.base.probabilities import MarginProbabilities
from yarrow.composite.base import Composite, State
from yarrow.composite.supervised import CompositeClassifier
from yarrow.data.arrays import Array
from yarrow.data.draws import uniform
from yarrow.errors import DataError, ParameterError
from yarrow.estimator import estimator
from yarrow.lazy import np
from yarrow.online.adapters import CoreAdapter
from yarrow.online.batch import Batch
from yarrow.parameters import anything, choice, number
from yarrow.saving import schema


@estimator
class SelectiveClassifier(CompositeClassifier, Composite):
    """Learns only from rows whose label it asks for (Cesa-Bianchi, Gentile & Zaniboni 2006).

    A row with the margin m, that of the best class over the next, is asked about with probability
    b/(b + m) (`margin`); with the margin in units of its standard deviation, m/sqrt(v), where the
    learner knows it (`variance`, confidence family); or with probability min(1, b), which is what
    the others have to beat (`random`). Until two classes are known every row is asked about. Where
    labels are given (`fit`, `partial_fit`, `learn_one`), others are not looked at;
    in a service, `wants_label` says whether to ask, and `learn_asked` learns the answer.
    Use it where labels cost money or patience. Instead: the learner alone, where they are free.

    >>> from yarrow import AROWClassifier
    >>> model = SelectiveClassifier(AROWClassifier(), b=0.1)
    >>> for _ in range(100):
    ...     model.learn_one({"cheap": 1, "pills": 1}, "spam")
    ...     model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> model.predict_one({"pills": 1}), model.n_asked_ < 60
    ('spam', True)
    """

    learner: Any = anything(
        default=None,
        allowed="None or a linear classifier of Yarrow",
        accepts=lambda v: v is None or isinstance(v, LinearClassifier),
        doc="The learner; None: AROW.",
    )
    ask: Literal["margin", "variance", "random"] = choice(
        default="margin",
        options=("margin", "variance", "random"),
        doc="What decides whether a label is asked for.",
    )
    b: float = number(
        default=1.0, doc="The larger, the more labels are asked for; at this margin half of them.",
        above=0,
    )  # fmt: skip
    _: dataclasses.KW_ONLY

    family: ClassVar[str] = "feedback"
    row_costs: ClassVar[str] = "what its learner costs, row by row in Python"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        learner = self._learners()[0]
        if self.ask == "variance" and not _knows_variance(learner):
            raise ParameterError(
                f"The 'ask' parameter must be 'margin' or 'random' with {type(learner).__name__}, "
                "which knows no variance. Got 'variance' instead."
            )

    def _begin(self, state: State) -> None:
        state.notes = {"draws": 0, "asked": 0}

    def _state_schema(self) -> tuple[schema.Parts, schema.Parts]:
        return {}, dict.fromkeys(("draws", "asked"), schema.Whole())

    def _wants(self, state: State, batch: Batch) -> bool:
        """Decide about one row; the next row draws another number."""
        state.notes["draws"] += 1
        member = state.members[0]
        assert isinstance(member, CoreAdapter)
        if len(state.codes) < 2:
            return True
        chance = self.b
        if self.ask != "random":
            margin, deviation = self._margin(member, batch)
            unit = deviation if self.ask == "variance" else 1.0
            chance = self.b * unit / (self.b * unit + margin) if margin > 0 else 1.0
        return uniform(self.random_state, state.notes["draws"]) < chance

    def _margin(self, member: CoreAdapter, batch: Batch) -> tuple[float, float]:
        """How far the best class is ahead, and the standard deviation of that."""
        scores, variances = (table[0] for table in member.scores(batch))
        order = np.argsort(-scores, kind="stable")
        best, second = order[0], order[1]
        if len(scores) == 2 and member.model.multiclass == "ovr":
            return float(scores[best]), float(np.sqrt(variances[best]))
        variance = variances[best] + variances[second]
        return float(scores[best] - scores[second]), float(np.sqrt(variance))

    def _walk(self, state: State, batch: Batch) -> Array:
        said = np.full(len(batch), -1)
        for i, one in enumerate(batch.as_dicts()):
            said[i] = state.members[0].predict(one, state.codes)[0]
            if not one.counts[0]:
                continue
            state.t += 1
            if self._wants(state, one):
                self._learn_asked(state, one)
        return said

    def _learn_asked(self, state: State, batch: Batch) -> None:
        state.meet(batch)
        state.members[0].learn(batch)
        state.notes["asked"] += 1

    def _said(self, state: State, batch: Batch) -> Array:
        return state.members[0].predict(batch, state.codes)

    # -- where somebody can be asked ---------------------------------------------------------------

    def wants_label(self, x: dict[Any, Any]) -> bool:
        """Whether the label of this row should be asked for."""
        batch = self._one(x)
        with self._lock:
            state = self.__dict__.get("_state")
            if state is None:
                return True

            def asked() -> bool:
                state.t += 1
                return self._wants(state, batch)

            return bool(state.attempt(asked))

    def learn_asked(self, x: dict[Any, Any], y: Any) -> None:
        """Learn a label that was asked for."""
        if y is None:
            raise DataError("There is no label to learn: y is None.")
        batch = self._one(x, y)
        with self._lock:
            state = self.__dict__.get("_state") or self._new_state()
            state.attempt(lambda: self._learn_asked(state, batch))
            state.t = max(1, state.t)
            self._state = state

    @property
    def n_asked_(self) -> int:
        """Labels asked for."""
        return int(self._fitted.notes["asked"])


def _knows_variance(learner: Any) -> bool:
    """Whether the core says of a row's score how far off it may be."""
    own_rule = getattr(learner, "loop", None) == "confidence"  # CustomClassifier
    return own_rule or isinstance(learner, MarginProbabilities)
