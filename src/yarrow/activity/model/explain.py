"""What the recogniser thinks and why."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Literal, get_args

from yarrow.activity.log.plain import Stateful
from yarrow.activity.model.features import ACTIVITY_FEATURES, SCALE, Features, Knowledge
from yarrow.activity.model.function_words import FUNCTION_WORDS
from yarrow.activity.model.learning import Weights
from yarrow.activity.model.vectors import InformationVector
from yarrow.errors import check_choice
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """What spoke for an activity, and how loudly (in units of the score)."""

    kind: str
    """`word`, `resource` (in front), `open` (beside it) or `lately` (the resources before)."""
    what: str
    amount: float


@dataclasses.dataclass(frozen=True, slots=True)
class Alarm:
    """The person seems to have switched without saying so."""

    id: int
    time: float
    since: float
    """When the switch seems to have happened."""
    activity: int
    declared: int | None
    score: float
    certainty: float
    reasons: tuple[Reason, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Thought:
    """What the recogniser takes the present activity for."""

    time: float
    declared: int | None
    activity: int | None
    """The likeliest activity; None before there is anything to judge by."""
    certainty: float
    ranked: tuple[tuple[int, float], ...]
    """Activities and their scores, the best first."""
    reasons: tuple[Reason, ...]


def certainty(lead: float) -> float:
    """How sure a lead in score is: 1/2 without a lead, 0.88 for 1, 0.98 for 2.

    >>> certainty(0.0), certainty(float("inf")), certainty(-1e9)
    (0.5, 1.0, 0.0)
    """
    if lead < -300:
        return 0.0
    return 1.0 / (1.0 + math.exp(-2.0 * lead))


def reasons(
    vector: InformationVector,
    features: Features,
    knowledge: Knowledge,
    weights: Weights,
    activity: int,
    most: int = 8,
) -> tuple[Reason, ...]:
    """The words and resources that spoke for an activity, the loudest first.

    A word is as loud as what it adds to the score. (Single words' own weights, where they have one,
    were learned without the part that they share with all words.)
    """
    unit = weights.unit() or 1.0
    explicit, implicit, opened, words, _, lately = weights.features[: len(ACTIVITY_FEATURES)] / unit
    own = dict(features.word_values(activity)) if weights.each_word else {}
    found = [
        Reason("word", word, float(words) * value + weights.word(word) / unit * own.get(word, 0.0))
        for word, value in features.contributions(activity)
        if word not in FUNCTION_WORDS
    ]
    seconds = vector.seconds() or 1.0
    for resource, spent in vector.active.items():
        weight = SCALE * float(explicit if resource in knowledge.explicit else implicit)
        strength = knowledge.strength(resource, activity)
        found.append(Reason("resource", resource, weight * strength * spent / seconds))
    for resource in vector.open:
        if resource not in vector.active:
            share = SCALE / len(vector.open)
            amount = float(opened) * knowledge.strength(resource, activity) * share
            found.append(Reason("open", resource, amount))
    before = float(lately) * float(features.column(activity)[-1])
    found.append(Reason("lately", "the minutes before", before))
    spoke = [reason for reason in found if reason.amount > 0]
    return tuple(sorted(spoke, key=lambda reason: -reason.amount)[:most])


def beliefs(thought: Thought) -> dict[int, float]:
    """How likely the recognised activity is; what is left, the declared one has."""
    found: dict[int, float] = {}
    if thought.activity is not None:
        found[thought.activity] = thought.certainty
    if thought.declared is not None:
        rest = 1.0 - sum(found.values())
        found[thought.declared] = found.get(thought.declared, 0.0) + rest
    return found


def ranking(ending: NDArray[np.float64], most: int = 10) -> tuple[tuple[int, float], ...]:
    """The best activities and their scores."""
    order = ending.argsort(kind="stable")[::-1][:most]
    return tuple((int(a), float(ending[a])) for a in order if math.isfinite(ending[a]))


Setting = Literal["ignore", "right", "wrong", "bandit"]


class Unanswered(Stateful):
    """How likely an unanswered alarm was right, by the setting.

    `ignore` learns nothing from it. `right` and `wrong` take it for that. `bandit` sees, as bandits
    do, only the answers to what it asked: it keeps how often answered alarms of about this
    certainty were right, learns with that weight, and takes over the activity when right is the
    likelier.
    """

    _right: list[float]
    _all: list[float]

    def __init__(self, setting: Setting = "ignore") -> None:
        check_choice("without_feedback", setting, get_args(Setting))
        self.setting = setting
        # One wrong and one right alarm are assumed at each level of certainty.
        self._right = [1.0] * _LEVELS
        self._all = [2.0] * _LEVELS

    def heard(self, alarm: Alarm, right: bool) -> None:
        """Take note of an answer."""
        self._right[_level(alarm)] += right
        self._all[_level(alarm)] += 1

    def belief(self, alarm: Alarm) -> float | None:
        """The probability that an unanswered alarm was right; None: do nothing about it."""
        if self.setting == "ignore":
            return None
        if self.setting == "bandit":
            return self._right[_level(alarm)] / self._all[_level(alarm)]
        return float(self.setting == "right")


_LEVELS = 5


def _level(alarm: Alarm) -> int:
    """Certainties from 1/2 to 1 in five levels."""
    return min(max(int((2 * alarm.certainty - 1) * _LEVELS), 0), _LEVELS - 1)
