"""The weights of the features, how pairs of activities are scored, and what feedback changes.

g(<y1, y2>) = L1.F_A(X1, y1) + L1.F_A(X2, y2) - I[y1 != y2] (L2.F_S(X1) + L3.F_S(X2))

The weights are a dozen numbers (and with one weight a word, a number for each word), so they are
kept here in double precision rather than in a model of the core: every vector needs them as one
array for all activities at once, which a model that is asked about one row of features at a time
cannot give in the time there is. A test compares the step with the core's rule.
"""

from __future__ import annotations

import dataclasses
import math
from operator import mul
from typing import TYPE_CHECKING, Any, Protocol

from yarrow import _core
from yarrow.activity.log.plain import Stateful
from yarrow.activity.model.activities import NOTHING
from yarrow.activity.model.features import (
    ACTIVITY_FEATURES,
    SCALE,
    SWITCH_FEATURES,
    Features,
    no_features,
)
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pair = tuple[int, int]

_A, _S = len(ACTIVITY_FEATURES), len(SWITCH_FEATURES)
FIRST_WEIGHTS = tuple(
    weight / SCALE
    for weight in (
        *(4.0, 1.0, 0.15, 1.8, 1.0, 0.8),
        *(0.0, -1.6, 1.0, 0.0),
        *(0.0, 2.0, -1.2, 0.0),
    )
)
"""What is believed before anything was learned: L1, L2, L3. About what a batch learner found in
lives that were used for tuning; that of "lately" was set beside the others in such lives later."""


_FIRST_SIZE = math.sqrt(sum(weight * weight for weight in FIRST_WEIGHTS[1:]))
EACH_WORD = 10.0
"""What single words are multiplied with besides: a word meets few lessons."""


@dataclasses.dataclass(slots=True)
class Example:
    """Z of Lemma 5.1: the features of the right pair minus those of a wrong one."""

    features: NDArray[np.float64]
    words: dict[str, float]
    time: float = 0.0

    def square(self) -> float:
        """The squared length."""
        return float(self.features @ self.features) + sum(v * v for v in self.words.values())


class Weights:
    """L1, L2, L3 in one array; beside them what single words weigh more or less than all do."""

    def __init__(self, each_word: bool = False) -> None:
        self.each_word = each_word
        self._words: dict[str, float] = {}
        self._scale = 1.0  # of all words, so that shrinking them is one multiplication
        self.features = np.array(FIRST_WEIGHTS)

    @property
    def features(self) -> NDArray[np.float64]:
        """L1, L2, L3; only to be set as a whole, and whatever changes a weight sets them."""
        return self._features

    @features.setter
    def features(self, features: NDArray[np.float64]) -> None:
        """Vectors are many and lessons few: what follows from the weights alone is kept here."""
        features.flags.writeable = False
        self._features = features
        self._l1, self._l2_l3 = features[:_A], features[_A:].tolist()
        self._unit = math.sqrt(float(features[1:] @ features[1:])) / _FIRST_SIZE
        self._scored, self._scores = no_features(), np.zeros(0)  # the last vector and its scores

    def word(self, word: str) -> float:
        """What a word weighs beside the weight that all words share."""
        return EACH_WORD * self._scale * self._words.get(word, 0.0)

    def unit(self) -> float:
        """How large the weights are now beside what they were at first.

        Each lesson shrinks all of them by 1/(1 + alpha), which changes no ranking, but would make
        a fixed threshold higher from month to month. So scores are told in this unit. (The weight
        of what is explicit is left out: it learns nothing where nobody says anything.)
        """
        return self._unit

    def margin(self, example: Example) -> float:
        """The score of an example."""
        known = self._words
        words = self._scale * sum(known.get(x, 0.0) * value for x, value in example.words.items())
        return float(self.features @ example.features) + words

    def step(self, shrink: float, size: float, example: Example) -> None:
        """Move to `shrink * weights + size * example`."""
        self._scale *= shrink
        for word, value in example.words.items():
            self._words[word] = self._words.get(word, 0.0) + size * value / self._scale
        if self._scale < 1e-100:
            self._words = {word: self._scale * value for word, value in self._words.items()}
            self._scale = 1.0
        self.features = shrink * self.features + size * example.features

    def scores(self, features: Features, count: int) -> NDArray[np.float64]:
        """L1.F_A for all activities, those that are newer than the features included.

        They are only to be read: a vector is the second of a pair, and then the first of the next.
        """
        if features is not self._scored:
            scores: NDArray[np.float64] = self._l1.dot(features.of_activities)  # quicker than @
            if self.each_word and self._words and features.words:
                weights = np.array([self.word(word) for word in features.words])
                scores += (weights * features.frequencies) @ features.of_words[1:]
            self._scored, self._scores = features, scores
        newer = count - len(self._scores)
        return np.concatenate((self._scores, np.zeros(newer))) if newer > 0 else self._scores

    def penalty(self, before: Features, now: Features) -> float:
        """L2.F_S + L3.F_S: what a switch costs."""
        # for so few numbers quicker than an array
        return math.fsum(map(mul, self._l2_l3, before.of_switch + now.of_switch))

    def example(self, before: Features, now: Features, right: Pair, wrong: Pair) -> Example:
        """Z for two pairs of activities at two successive vectors."""
        switch = float(wrong[0] != wrong[1]) - float(right[0] != right[1])
        features = np.concatenate(
            (
                before.column(right[0])
                + now.column(right[1])
                - before.column(wrong[0])
                - now.column(wrong[1]),
                switch * np.array(before.of_switch),
                switch * np.array(now.of_switch),
            )
        )
        words: dict[str, float] = {}
        if self.each_word:
            for seen, sign, activity in (
                (before, 1.0, right[0]),
                (now, 1.0, right[1]),
                (before, -1.0, wrong[0]),
                (now, -1.0, wrong[1]),
            ):
                for word, value in seen.word_values(activity):
                    words[word] = words.get(word, 0.0) + sign * EACH_WORD * value
        return Example(features, words)

    def state_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "features": self.features.tolist(),
            "words": self._words.copy(),
            "scale": self._scale,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from plain data."""
        self._words, self._scale = dict(state["words"]), state["scale"]
        self.features = np.array(state["features"], float)


class Learner(Protocol):
    """Something that changes the weights after feedback."""

    def learn(self, weights: Weights, example: Example, importance: float = 1.0) -> None:
        """Learn that the right pair should have led by 1."""


@dataclasses.dataclass(slots=True)
class SoftMargin:
    """Lemma 5.1 of Shen & Dietterich (2009): one step in closed form.

    It minimises |L - L_t|^2/2 + C xi^2 + alpha |L|^2/2 under L.Z >= 1 - xi. An example whose margin
    is 1 or more already changes nothing, as in the rest of the paper; taken literally, the
    objective would shrink the weights at each of them. An importance multiplies C.
    """

    C: float = 10.0
    alpha: float = 0.001

    def learn(self, weights: Weights, example: Example, importance: float = 1.0) -> None:
        """Learn that the right pair should have led by 1."""
        margin = weights.margin(example)
        square = example.square()
        if margin >= 1 or square == 0 or importance == 0:
            return
        slack = (1 + self.alpha) / (2 * self.C * importance)
        tau = (1 - margin + self.alpha) / (square + slack)
        weights.step(1 / (1 + self.alpha), tau / (1 + self.alpha), example)


# -- pairs ---------------------------------------------------------------------------------------


def best_rival(
    first: NDArray[np.float64], second: NDArray[np.float64], penalty: float, right: Pair
) -> Pair | None:
    """Return the best pair other than the right one; None if there is only one activity.

    The best pair of two different activities is among the three best of either side, since each
    rules out at most one partner as its equal and one as the right pair.
    """
    stay = [(y, y) for y in _top(first + second, 2)]
    switch = [(a, b) for a in _top(first, 3) for b in _top(second, 3) if a != b]
    scores = {
        (a, b): first[a] + second[b] - (penalty if a != b else 0.0)
        for a, b in stay + switch
        if (a, b) != right
    }
    best = max(scores, key=lambda pair: scores[pair], default=None)
    return None if best is None or scores[best] == -math.inf else best


def _top(scores: NDArray[np.float64], most: int) -> list[int]:
    """The places of the best scores, in their order."""
    if len(scores) <= most:
        return list(range(len(scores)))
    places: list[int] = np.sort(scores.argpartition(len(scores) - most)[-most:]).tolist()
    return places


class Scorer(Stateful):
    """The weights, what changes them, and which activities are judged at all."""

    weights: Weights

    def __init__(self, weights: Weights, learner: Learner) -> None:
        self.weights = weights
        self.learner = learner
        self.count = 0
        """How many numbers of activities there are,"""
        self.out: list[int] = []
        """and those that cannot be recognised."""

    def scores(
        self, before: Features, now: Features
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """L1.F_A of all activities at two vectors, and what a switch between them costs."""
        first = self.weights.scores(before, self.count)
        second = self.weights.scores(now, self.count)
        if self.out:
            first, second = first.copy(), second.copy()
            first[self.out] = second[self.out] = -np.inf
        return first, second, self.weights.penalty(before, now)

    def best_pairs(self, before: Features, now: Features) -> tuple[NDArray[np.float64], int, float]:
        """The score of the best pair that ends in each activity, the best one, and its lead.

        The lead is infinite if there is no other.
        """
        first, second, penalty = self.scores(before, now)
        found = np.empty(len(first))
        unit = self.weights.unit() or 1.0
        best, lead = _core.best_pair(first, second, penalty, unit, found)
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
