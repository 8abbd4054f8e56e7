"""What an alarm means that nobody answered."""

from __future__ import annotations

from typing import Literal, get_args

from yarrow.activity.log.plain import Stateful
from yarrow.activity.model.explain import Alarm
from yarrow.errors import ParameterError

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
        if setting not in get_args(Setting):
            raise ParameterError(
                f"'without_feedback' must be one of {', '.join(get_args(Setting))}, "
                f"not {setting!r}."
            )
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
