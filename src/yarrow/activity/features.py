"""What speaks for each activity (F_A) and for a switch (F_S), by what was seen before.

All activities are scored at once. A word or a resource has met few of them, so only their values
are computed; for the rest a feature has one common value, which is taken as zero. (Adding the same
number to a feature of all activities changes no difference of scores, and scores are only ever
compared.)
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from yarrow.activity.folders import FolderUses
from yarrow.activity.table import Row, Table
from yarrow.activity.vectors import InformationVector
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACTIVITY_FEATURES = ("explicit", "implicit", "open", "words")
SWITCH_FEATURES = ("constant", "closed", "used", "since switch")

HALF_KNOWN = 60.0
"""Seconds at a resource after which it counts half of what it would count after many hours."""
MANY_CLOSED = 5.0
"""So many resources closed in one vector and more are all the same."""
LONG_SINCE = 3600.0
"""So many seconds since the last declared switch and more are all the same."""
WORD_SCALE = 0.1
"""Makes the sum over words about as large as the other features."""


@dataclasses.dataclass(slots=True)
class Voices:
    """What each word (or resource) says for each activity it has met, one after another."""

    keys: list[str]
    lengths: list[int]
    """How many activities each key has met."""
    activities: NDArray[np.intp]
    values: NDArray[np.float64]

    def of(self, activity: int) -> list[tuple[str, float]]:
        """What each key says for one activity."""
        found = np.flatnonzero(self.activities == activity)
        ends = np.cumsum(self.lengths)
        places = np.searchsorted(ends, found, side="right")
        return [
            (self.keys[place], float(self.values[i]))
            for place, i in zip(places, found, strict=True)
        ]


@dataclasses.dataclass(slots=True)
class Features:
    """The features of one information vector."""

    of_activities: NDArray[np.float64]
    """F_A: a row for each feature, a column for each activity."""
    of_switch: NDArray[np.float64]
    """F_S."""
    words: Voices

    def column(self, activity: int) -> NDArray[np.float64]:
        """F_A of one activity; zeros for one that was created later."""
        if activity < self.of_activities.shape[1]:
            return self.of_activities[:, activity]
        return np.zeros(len(ACTIVITY_FEATURES))


def no_features() -> Features:
    """What is there before the first vector."""
    nothing = Voices([], [], np.zeros(0, np.intp), np.zeros(0))
    return Features(np.zeros((len(ACTIVITY_FEATURES), 0)), np.zeros(len(SWITCH_FEATURES)), nothing)


class Knowledge:
    """What was seen of each activity: words, time at resources, folders, and what was said."""

    def __init__(self) -> None:
        self.words = Table()
        """How many vectors of an activity have a word."""
        self.seconds = Table()
        """Time at a resource by activity: the implicit association."""
        self.folders = FolderUses()
        self.explicit: dict[str, int] = {}
        """The activity that a person gave a resource to."""
        self.vectors = np.zeros(0)
        """How many vectors each activity has."""
        self.total = 0.0
        """How many vectors there are."""

    def add_activity(self) -> None:
        """Make room for one more activity."""
        self.vectors = np.append(self.vectors, 0.0)

    def credit(self, vector: InformationVector, activity: int, times: float = 1.0) -> None:
        """Count a vector for an activity, or with `times=-1` take it back."""
        for word in vector.words:
            self.words.add(word, activity, times)
        for resource, seconds in vector.active.items():
            self.seconds.add(resource, activity, times * seconds)
        for folder in vector.folders:
            self.folders.use(folder, activity, times)
        self.vectors[activity] += times
        self.total += times

    def merge(self, activity: int, into: int) -> None:
        """Give everything of an activity to another."""
        self.words.merge(activity, into)
        self.seconds.merge(activity, into)
        self.folders.merge(activity, into)
        for resource, owner in self.explicit.items():
            if owner == activity:
                self.explicit[resource] = into
        self.vectors[into] += self.vectors[activity]
        self.vectors[activity] = 0.0

    # -- features --------------------------------------------------------------------------------

    def features(self, vector: InformationVector, since_switch: float) -> Features:
        """Return F_A for all activities and F_S."""
        values = np.zeros((len(ACTIVITY_FEATURES), len(self.vectors)))
        self._associations(vector, values)
        words = self._word_voices(vector)
        summed = np.bincount(words.activities, words.values, len(self.vectors))
        # |S-bar| depends on the activity: one logarithm for all words.
        frequency = sum(vector.words.values())
        others = (self.total - self.vectors + 1.0) / (self.total + 1.0)
        values[3] = summed + (frequency * WORD_SCALE) * np.log(others)
        return Features(values, _switch_features(vector, since_switch), words)

    def _associations(self, vector: InformationVector, values: NDArray[np.float64]) -> None:
        """The explicit and implicit association of active resources, and the share of open ones.

        What a person said about a resource stands; time spent there says nothing beside it.
        """
        seconds = vector.seconds() or 1.0
        each_open = 1.0 / len(vector.open) if vector.open else 0.0
        weights = {resource: [spent / seconds, 0.0] for resource, spent in vector.active.items()}
        for resource in vector.open:
            weights.setdefault(resource, [0.0, 0.0])[1] = each_open
        rows: list[Row] = []
        shares: list[list[float]] = []
        for resource, (active, opened) in weights.items():
            owner = self.explicit.get(resource)
            if owner is not None:
                values[0, owner] += active
                values[2, owner] += opened
            elif (row := self.seconds.rows.get(resource)) is not None and row.total > 0:
                known = row.total + HALF_KNOWN
                rows.append(row)
                shares.append([active / known, opened / known])
        if rows:
            activities = np.concatenate([row.activities for row in rows])
            amounts = np.concatenate([row.amounts for row in rows])
            lengths = [len(row.activities) for row in rows]
            active_open = np.repeat(np.array(shares), lengths, axis=0)
            count = len(self.vectors)
            values[1] = np.bincount(activities, amounts * active_open[:, 0], count)
            values[2] += np.bincount(activities, amounts * active_open[:, 1], count)

    def _word_voices(self, vector: InformationVector) -> Voices:
        """TF(x) * log(|S-bar|/DF(x, S-bar)) without its common part, for activities that met x.

        S-bar are the vectors of all other activities. Each count is one larger than it is, so that
        a word that no other activity has (DF = 0) has a value.
        """
        keys, rows, frequencies = [], [], []
        for word, frequency in vector.words.items():
            row = self.words.rows.get(word)
            if row is not None:
                keys.append(word)
                rows.append(row)
                frequencies.append(frequency)
        if not rows:
            return Voices([], [], np.zeros(0, np.intp), np.zeros(0))
        lengths = [len(row.activities) for row in rows]
        activities = np.concatenate([row.activities for row in rows])
        counts = np.concatenate([row.amounts for row in rows])
        scalars = np.array([[row.total + 1.0 for row in rows], frequencies])
        spread = np.repeat(scalars, lengths, axis=1)
        everywhere, frequency = spread
        values = (WORD_SCALE * frequency) * np.log(everywhere / (everywhere - counts))
        return Voices(keys, lengths, activities, values)

    def strength(self, resource: str, activity: int) -> float:
        """How strongly a resource belongs to an activity, from 0 to 1."""
        owner = self.explicit.get(resource)
        if owner is not None:
            return float(owner == activity)
        row = self.seconds.rows.get(resource)
        return 0.0 if row is None else row.amount(activity) / (row.total + HALF_KNOWN)

    # -- plain data ------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "words": self.words.state_dict(),
            "seconds": self.seconds.state_dict(),
            "folders": self.folders.state_dict(),
            "explicit": self.explicit.copy(),
            "vectors": self.vectors.tolist(),
            "total": self.total,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from plain data."""
        self.words.load_state_dict(state["words"])
        self.seconds.load_state_dict(state["seconds"])
        self.folders.load_state_dict(state["folders"])
        self.explicit = dict(state["explicit"])
        self.vectors = np.array(state["vectors"], float)
        self.total = state["total"]


def _switch_features(vector: InformationVector, since_switch: float) -> NDArray[np.float64]:
    used = vector.used / len(vector.open) if vector.open else 0.0
    return np.array(
        [
            1.0,
            min(vector.closed / MANY_CLOSED, 1.0),
            used,
            min(since_switch / LONG_SINCE, 1.0),
        ]
    )
