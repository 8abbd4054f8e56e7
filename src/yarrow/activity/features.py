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
EVERY = ""
"""A word that every vector has, so that it counts vectors. No title has it."""
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
    of_every: NDArray[np.float64]
    """What a word that every vector has would say. That much of a word says nothing."""

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

    def contributions(self, activity: int) -> list[tuple[str, float]]:
        """What each known word adds to the feature of one activity.

        A word that is everywhere as frequent as here adds nothing: DF falls with it as |S| does.
        """
        if activity >= self.of_words.shape[1]:
            return []
        values = self.frequencies * (self.of_words[:, activity] - self.of_every[activity])
        return list(zip(self.words, values.tolist(), strict=True))


def no_features() -> Features:
    """What is there before the first vector."""
    nothing = np.zeros((len(ACTIVITY_FEATURES), 0))
    switch, empty = np.zeros(len(SWITCH_FEATURES)), np.zeros(0)
    return Features(nothing, switch, [], empty, np.zeros((0, 0)), empty)


class Knowledge:
    """What was seen of each activity: words, time at resources, folders, and what was said."""

    def __init__(self) -> None:
        self.activities = 0
        """How many there are."""
        self.words = Table()
        """How many vectors of an activity have a word."""
        self.words.add(EVERY, 0, 0)
        self.seconds = Table()
        """Time at a resource by activity: the implicit association."""
        self.folders = FolderUses()
        self.explicit: dict[str, int] = {}
        """The activity that a person gave a resource to."""

    def vectors(self, activity: int) -> int:
        """How many vectors an activity has."""
        return int(self.words.at(EVERY, activity))

    def give(self, resource: str, activity: int | None) -> None:
        """A resource belongs to this activity, or (None) to none in particular."""
        if activity is None:
            self.explicit.pop(resource, None)
        else:
            self.explicit[resource] = activity

    def credit(self, vector: InformationVector, activity: int, times: int = 1) -> None:
        """Count a vector for an activity, or with `times=-1` take it back."""
        self.words.add_all((EVERY, *vector.words), times, activity)
        for resource, seconds in vector.active.items():
            self.seconds.add(resource, times * seconds, activity)
        for folder in vector.folders:
            self.folders.use(folder, activity, times)

    def merge(self, activity: int, into: int) -> None:
        """Give everything of an activity to another."""
        self.words.merge(activity, into)
        self.seconds.merge(activity, into)
        self.folders.merge(activity, into)
        for resource, owner in self.explicit.items():
            if owner == activity:
                self.explicit[resource] = into

    # -- features --------------------------------------------------------------------------------

    def features(
        self, vector: InformationVector, since_switch: float = 0.0, declared: int = -1
    ) -> Features:
        """Return F_A for all activities and F_S, for this declared activity (-1: none)."""
        values = np.zeros((len(ACTIVITY_FEATURES), self.activities))
        explicit, implicit, opened = values[:3]
        seconds = vector.seconds() or 1.0
        active = {resource: SCALE * spent / seconds for resource, spent in vector.active.items()}
        self._associate(active, explicit, implicit)
        if vector.open:
            share = SCALE / len(vector.open)
            self._associate(dict.fromkeys(vector.open, share), opened, opened)
        if declared >= 0:
            values[4, declared] = SCALE
        return Features(
            values,
            _switch_features(vector, since_switch),
            *self._speak(vector.words, values[3]),
        )

    def _associate(
        self,
        shares: dict[str, float],
        explicit: NDArray[np.float64],
        implicit: NDArray[np.float64],
    ) -> None:
        """Add each resource's share to its owner, or to its activities by the time spent there.

        What a person said about a resource stands; time spent there says nothing beside it.
        """
        owners, known = self.explicit, self.seconds.rows
        if owners:
            for resource in [resource for resource in shares if resource in owners]:
                explicit[owners[resource]] += shares.pop(resource)
        rows = [known[resource] for resource in shares if resource in known]
        kept = [share for resource, share in shares.items() if resource in known]
        self.seconds.amounts.add_shares(rows, kept, HALF_KNOWN, implicit)

    def _speak(
        self, said: dict[str, float], total: NDArray[np.float64]
    ) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Add up log(|S-bar|/DF(x, S-bar)) over words; return what `Features` keeps of them.

        S-bar are the vectors of all other activities. Each count is one larger than it is, so that
        a word that no other activity has (DF = 0) has a value. What is common to all activities is
        left out, and log |S-bar| is then what the word that every vector has says, less of it.
        """
        known = self.words.rows
        words = [word for word in said if word in known]
        rows = [known[EVERY], *[known[word] for word in words]]
        every = -WORD_SCALE * sum(said.values())
        frequencies = [every, *[WORD_SCALE * said[word] for word in words]]
        of_words = np.zeros((len(rows), self.activities))
        self.words.amounts.add_rarities(rows, frequencies, of_words, total)
        return words, np.array(frequencies[1:]), of_words[1:], of_words[0]

    def strength(self, resource: str, activity: int) -> float:
        """How strongly a resource belongs to an activity, from 0 to 1."""
        owner = self.explicit.get(resource)
        if owner is not None:
            return float(owner == activity)
        return self.seconds.at(resource, activity) / (self.seconds.total(resource) + HALF_KNOWN)

    # -- plain data ------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "activities": self.activities,
            "words": self.words.state_dict(),
            "seconds": self.seconds.state_dict(),
            "folders": self.folders.state_dict(),
            "explicit": self.explicit.copy(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from plain data."""
        self.activities = state["activities"]
        self.words.load_state_dict(state["words"])
        self.seconds.load_state_dict(state["seconds"])
        self.folders.load_state_dict(state["folders"])
        self.explicit = dict(state["explicit"])


def _switch_features(vector: InformationVector, since_switch: float) -> NDArray[np.float64]:
    used = vector.used / len(vector.open) if vector.open else 0.0
    closed = min(vector.closed / MANY_CLOSED, 1.0)
    since = min(since_switch / LONG_SINCE, 1.0)
    return np.array([SCALE, SCALE * closed, SCALE * used, SCALE * since])
