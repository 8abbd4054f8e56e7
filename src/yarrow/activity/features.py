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
from yarrow.activity.table import Table
from yarrow.activity.vectors import InformationVector
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACTIVITY_FEATURES = ("explicit", "implicit", "open", "words", "declared")
SWITCH_FEATURES = ("constant", "closed", "used", "since switch")

HALF_KNOWN = 60.0
"""Seconds at a resource after which it counts half of what it would count after many hours."""
MANY_CLOSED = 5.0
"""So many resources closed in one vector and more are all the same."""
LONG_SINCE = 3600.0
"""So many seconds since the last declared switch and more are all the same."""
SCALE = 0.01
"""What all features are multiplied with. The slack of Lemma 5.1 for C = 10 is 0.05; beside it the
square of an example is then small, and a lesson moves the weights a little. With features of about
1, each odd minute would overturn them."""
WORD_SCALE = 0.1 * SCALE
"""The same for the sum over words, which is larger."""


@dataclasses.dataclass(slots=True)
class Features:
    """The features of one information vector."""

    of_activities: NDArray[np.float64]
    """F_A: a row for each feature, a column for each activity."""
    of_switch: NDArray[np.float64]
    """F_S."""
    words: list[str]
    """The words of the titles that were known,"""
    frequencies: NDArray[np.float64]
    """how often each was there,"""
    of_words: NDArray[np.float64]
    """and what it says for each activity when it is there once: a row for each word."""

    def column(self, activity: int) -> NDArray[np.float64]:
        """F_A of one activity; zeros for one that was created later."""
        if activity < self.of_activities.shape[1]:
            return self.of_activities[:, activity]
        return np.zeros(len(ACTIVITY_FEATURES))

    def word_values(self, activity: int) -> list[tuple[str, float]]:
        """What each word says for one activity, if it says anything."""
        if activity >= self.of_words.shape[1]:
            return []
        values = (self.frequencies * self.of_words[:, activity]).tolist()
        return [(word, value) for word, value in zip(self.words, values, strict=True) if value]


def no_features() -> Features:
    """What is there before the first vector."""
    nothing = np.zeros((len(ACTIVITY_FEATURES), 0))
    return Features(nothing, np.zeros(len(SWITCH_FEATURES)), [], np.zeros(0), np.zeros((0, 0)))


class Knowledge:
    """What was seen of each activity: words, time at resources, folders, and what was said."""

    def __init__(self) -> None:
        self.words = Table(whole=True)
        """How many vectors of an activity have a word."""
        self.seconds = Table()
        """Time at a resource by activity: the implicit association."""
        self.folders = FolderUses()
        self.explicit: dict[str, int] = {}
        """The activity that a person gave a resource to."""
        self.vectors = np.zeros(0, np.intp)
        """How many vectors each activity has."""
        self.total = 0
        """How many vectors there are."""

    def add_activity(self) -> None:
        """Make room for one more activity."""
        self.vectors = np.append(self.vectors, 0)

    def credit(self, vector: InformationVector, activity: int, times: int = 1) -> None:
        """Count a vector for an activity, or with `times=-1` take it back."""
        self.words.add([(word, times) for word in vector.words], activity)
        spent = [(resource, times * seconds) for resource, seconds in vector.active.items()]
        self.seconds.add(spent, activity)
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
        self.vectors[activity] = 0

    # -- features --------------------------------------------------------------------------------

    def features(
        self, vector: InformationVector, since_switch: float = 0.0, declared: int = -1
    ) -> Features:
        """Return F_A for all activities and F_S, for this declared activity (-1: none)."""
        values = np.zeros((len(ACTIVITY_FEATURES), len(self.vectors)))
        self._associations(vector, values)
        words = [word for word in vector.words if word in self.words.rows]
        frequencies = np.array([WORD_SCALE * vector.words[word] for word in words])
        of_words = self._word_values(words)
        # |S-bar| depends on the activity alone: one logarithm for all words.
        logarithms = _logarithms(self.total + 2)
        others = logarithms.take(self.total + 1 - self.vectors)
        others -= logarithms[self.total + 1]
        others *= WORD_SCALE * sum(vector.words.values())
        values[3] = frequencies @ of_words
        values[3] += others
        if declared >= 0:
            values[4, declared] = SCALE
        switch = _switch_features(vector, since_switch)
        return Features(values, switch, words, frequencies, of_words)

    def _associations(self, vector: InformationVector, values: NDArray[np.float64]) -> None:
        """The explicit and implicit association of active resources, and the share of open ones.

        What a person said about a resource stands; time spent there says nothing beside it.
        """
        explicit, implicit, opened = values[:3]
        seconds = vector.seconds() or 1.0
        active = [(resource, SCALE * spent / seconds) for resource, spent in vector.active.items()]
        self._associate(active, explicit, implicit)
        if vector.open:
            share = SCALE / len(vector.open)
            self._associate([(resource, share) for resource in vector.open], opened, opened)

    def _associate(
        self,
        shares: list[tuple[str, float]],
        explicit: NDArray[np.float64],
        implicit: NDArray[np.float64],
    ) -> None:
        """Add each resource's share to its owner, or to its activities by the time spent there."""
        few: dict[int, float] = {}
        rows, owners = self.seconds.rows, self.explicit
        for resource, share in shares:
            if owners and resource in owners:
                explicit[owners[resource]] += share
                continue
            row = rows.get(resource)
            if row is None:
                continue
            weight = share / (row.total + HALF_KNOWN)
            if row.dense is None:
                for activity, amount in row.amounts.items():
                    few[activity] = few.get(activity, 0.0) + weight * amount
            else:
                known = row.dense[: len(implicit)]
                implicit[: len(known)] += weight * known
        for activity, amount in few.items():
            implicit[activity] += amount

    def _word_values(self, words: list[str]) -> NDArray[np.float64]:
        """log(|S-bar|/DF(x, S-bar)) without its common part, for each word and activity.

        S-bar are the vectors of all other activities. Each count is one larger than it is, so that
        a word that no other activity has (DF = 0) has a value. Counts are whole numbers, so their
        logarithms come from a table.
        """
        rows = [self.words.rows[word] for word in words]
        counts = np.zeros((len(rows), len(self.vectors)), np.intp)
        for row, array in zip(rows, counts, strict=True):
            row.into(array)
        everywhere = np.array([[int(row.total) + 1] for row in rows], np.intp).reshape(-1, 1)
        logarithms = _logarithms(self.total + 2)
        values: NDArray[np.float64] = logarithms[everywhere] - logarithms.take(everywhere - counts)
        return values

    def strength(self, resource: str, activity: int) -> float:
        """How strongly a resource belongs to an activity, from 0 to 1."""
        owner = self.explicit.get(resource)
        if owner is not None:
            return float(owner == activity)
        row = self.seconds.rows.get(resource)
        return 0.0 if row is None else row.amounts.get(activity, 0.0) / (row.total + HALF_KNOWN)

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
        self.vectors = np.array(state["vectors"], np.intp)
        self.total = state["total"]


_logarithms_known: list[NDArray[np.float64]] = []


def _logarithms(count: int) -> NDArray[np.float64]:
    """The logarithms of 0, 1, 2, ... at least up to `count` (of 0, which is never used, 0)."""
    if not _logarithms_known or len(_logarithms_known[0]) < count:
        table = np.log(np.arange(2.0 * count).clip(1))
        _logarithms_known[:] = [table]
    return _logarithms_known[0]


def _switch_features(vector: InformationVector, since_switch: float) -> NDArray[np.float64]:
    used = vector.used / len(vector.open) if vector.open else 0.0
    return SCALE * np.array(
        [
            1.0,
            min(vector.closed / MANY_CLOSED, 1.0),
            used,
            min(since_switch / LONG_SINCE, 1.0),
        ]
    )
