"""The recipe of Shen & Dietterich (2009), section 5, with nothing of ours added.

Its features only, as large as they are; no first weights; lessons of switches and answers, and none
of the time before a switch; minutes count at once; and an alarm where the score g of the best pair
of activities, not its lead over the declared one, is above the threshold. What the paper leaves
open is as in `Recogniser`: how strongly a resource belongs to an activity, one weight for the sum
of all words, a score that leaves out what is common to all activities.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from yarrow.activity.model.features import SCALE, WORD_SCALE, Features, Knowledge
from yarrow.activity.model.learning import Learner, Scorer, SoftMargin, Weights
from yarrow.activity.model.recogniser import Recogniser
from yarrow.lazy import np

_UNSCALED = np.array([1 / SCALE, 1 / SCALE, 1 / SCALE, 1 / WORD_SCALE, 0.0, 0.0])


class _PaperKnowledge(Knowledge):
    def features(self, *args: Any, **kwargs: Any) -> Features:
        """F_A and F_S without a constant, what is declared, and what was seen before."""
        found = super().features(*args, **kwargs)
        return dataclasses.replace(
            found,
            of_activities=_UNSCALED[:, None] * found.of_activities,
            of_switch=[0.0, *(value / SCALE for value in found.of_switch[1:])],
        )


class _ByScore(Scorer):
    """Everything but the best ending has the score 0, so that its lead is g itself."""

    def best_pairs(self, before: Features, now: Features) -> tuple[Any, int, float]:
        found, best, lead = super().best_pairs(before, now)
        only = np.zeros(len(found))
        only[best] = found[best] * (self.weights.unit() or 1.0)
        return only, best, lead


class PaperRecogniser(Recogniser):
    """The recogniser of the paper, C = 10 and alpha = 0.001; `learner` as in `Recogniser`."""

    _telling: bool = False  # a switch, while it is heard

    def __init__(self, *, learner: Learner | None = None, **parameters: Any) -> None:
        super().__init__(hold=0.0, repeat=True, **parameters)
        self._history.knowledge = _PaperKnowledge()
        self._scorer = _ByScore(without_first_weights(Weights()), learner or SoftMargin())

    def _declare(self, activity: int, time: float) -> None:
        self._telling = True
        super()._declare(activity, time)
        self._telling = False

    def _teach(self, *args: Any, **kwargs: Any) -> None:
        if not self._telling:
            super()._teach(*args, **kwargs)


def without_first_weights(weights: Weights) -> Weights:
    """Let all weights begin at zero."""
    weights.features = np.zeros_like(weights.features)
    return weights
