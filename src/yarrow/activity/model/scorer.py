"""Scores pairs of activities, and learns which pair was right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yarrow import _core
from yarrow.activity.model.diary import NOTHING
from yarrow.activity.model.features import Features
from yarrow.activity.model.learning import Learner, Pair, Weights, best_rival
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scores = tuple["NDArray[np.float64]", "NDArray[np.float64]", float]


class Scorer:
    """The weights, what changes them, and which activities are judged at all."""

    def __init__(self, weights: Weights, learner: Learner) -> None:
        self.weights = weights
        self.learner = learner
        self.count = 0
        """How many numbers of activities there are,"""
        self.out: list[int] = []
        """and those that cannot be recognised."""

    def scores(self, before: Features, now: Features) -> Scores:
        """L1.F_A of all activities at two vectors, and what a switch between them costs."""
        first = self.weights.scores(before, self.count)
        second = self.weights.scores(now, self.count)
        if self.out:
            first, second = first.copy(), second.copy()
            first[self.out] = second[self.out] = -np.inf
        return first, second, self.weights.penalty(before, now)

    def endings(self, before: Features, now: Features) -> tuple[NDArray[np.float64], int, float]:
        """The score of the best pair that ends in each activity, the best one, and its lead.

        The lead is infinite if there is no other.
        """
        first, second, penalty = self.scores(before, now)
        found = np.empty(len(first))
        unit = self.weights.unit() or 1.0
        best, lead = _core.best_endings(first, second, penalty, unit, found)
        return found, best, lead

    def teach(
        self,
        before: Features,
        now: Features,
        right: Pair,
        time: float,
        *,
        wrong: Pair | None = None,
        importance: float = 1.0,
    ) -> None:
        """Learn the right pair against a wrong one, which is by default the best rival."""
        if NOTHING in right:
            return
        if wrong is None:
            wrong = best_rival(*self.scores(before, now), right)
        if wrong is not None:
            example = self.weights.example(before, now, right, wrong)
            example.time = time
            self.learner.learn(self.weights, example, importance)
