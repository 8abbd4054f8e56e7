"""A mixture of the probabilities of experts, whose loss is the logarithm of what they gave."""

from __future__ import annotations

from typing import ClassVar

from yarrow.composite.base import State
from yarrow.composite.supervised import CompositeClassifier, CompositeProbabilities
from yarrow.data.arrays import Array
from yarrow.data.draws import normalised
from yarrow.estimator import estimator
from yarrow.experts.base import Experts, exponential, shared
from yarrow.lazy import np
from yarrow.online.adapters import ArrayAdapter
from yarrow.online.batch import Batch
from yarrow.parameters import number

#: a probability below this counts as this much, so that one surprise does not end an expert
FLOOR = 1e-6


@estimator
class MixtureClassifier(CompositeProbabilities, CompositeClassifier, Experts):
    """The mixture of the probabilities of classifiers, weighed by their likelihood (Vovk 1990).

    Weights are products of what the experts gave to the classes that came, as in Bayes' rule. The
    log loss exceeds that of the best of N experts by at most ln N in sum, however many rows there
    are, without any rate to choose (`yarrow.evaluate.bounds.mixture`). With a `share` the best
    expert may change. All learners must predict probabilities; rows are learned one by one, and so
    more slowly than by a vote.
    Use it for calibrated probabilities of several learners. Instead: `HedgeClassifier`, where only
    mistakes count.

    >>> from yarrow import AROWClassifier
    >>> model = MixtureClassifier([AROWClassifier(r) for r in (0.1, 10.0)])
    >>> for _ in range(20):
    ...     model.learn_one({"cheap": 1, "pills": 1}, "spam")
    ...     model.learn_one({"lunch": 1, "today": 1}, "ham")
    >>> likely = model.predict_proba_one({"pills": 1})
    >>> likely["spam"] > 0.9
    True
    """

    share: float = number(
        default=0.0,
        doc="Share of the weights redistributed over all experts after each row.",
        at_least=0,
        below=1,
    )

    row_costs: ClassVar[str] = "what its learners cost, row by row in Python"

    def _shares(self, state: State, batch: Batch) -> Array:
        """Of each expert the probabilities of all classes: rows x experts x classes."""
        told = [member.probabilities(batch, state.codes) for member in state.members]
        table = normalised(np.stack(told, axis=1))
        return np.asarray((1 - FLOOR) * table + FLOOR * (1.0 / max(1, table.shape[2])))

    def _follow(self, state: State, batch: Batch) -> tuple[Array, Array, Array, Array]:
        by_dict = not any(isinstance(member, ArrayAdapter) for member in state.members)
        # Columns that are zero so far are unknown as features of dicts: one way for all rows.
        rows = batch.as_dicts() if by_dict else batch.one_by_one()
        parts = [self._follow_one(state, one) for one in rows]
        said, own, losses, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return said, own, losses, weights

    def _follow_one(self, state: State, batch: Batch) -> tuple[Array, Array, Array, Array]:
        known = len(state.codes)
        truth = state.meet(batch)
        counts = bool(batch.counts[0])
        table = self._shares(state, batch)
        weights = state.tensors["weights"][None].copy()
        mixed = self._mixed(weights, table)
        said = np.array([int(mixed[0, :known].argmax()) if known else -1])
        for member in state.members:
            member.learn(batch)
        losses = -np.log(table[:, :, truth[0]]) if counts else np.zeros_like(weights)
        own = -np.log(mixed[:, truth[0]]) if counts else np.zeros(1)
        if batch.weights is not None:
            losses = losses * batch.weights[:, None]
        if counts:
            state.tensors["weights"] = self._weights(state, losses)[-1]
        return said, own, losses, weights

    def _mixed(self, weights: Array, table: Array) -> Array:
        if self.combine == "leader":
            return np.asarray(table[np.arange(len(table)), weights.argmax(axis=1)])
        return np.asarray((weights[:, :, None] * table).sum(axis=1))

    def _weights(self, state: State, losses: Array) -> Array:
        if self.share:
            return shared(state, losses, 1.0, self.share)
        return exponential(state, losses, np.ones(len(losses) + 1))

    def _probabilities(self, state: State, batch: Batch) -> Array:
        table = self._shares(state, batch)
        weights = np.broadcast_to(state.tensors["weights"], table.shape[:2])
        return self._mixed(weights, table)

    def _said(self, state: State, batch: Batch) -> Array:
        return np.asarray(self._probabilities(state, batch).argmax(axis=1))
