"""What speaks for each activity (F_A) and for a switch (F_S), by what was seen before.

All activities are scored at once. A word or a resource has met few of them, so only their values
are computed; for the rest a feature has one common value, which is taken as zero. (Adding the same
number to a feature of all activities changes no difference of scores, and scores are only ever
compared.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from yarrow import _core
from yarrow.activity.log.plain import Stateful
from yarrow.activity.model.vectors import InformationVector
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACTIVITY_FEATURES = ("explicit", "implicit", "open", "words", "declared", "lately")
SWITCH_FEATURES = ("constant", "closed", "used", "since switch")

HALF_KNOWN = 5.0
"""Seconds at a resource after which it counts half of what it would count after many hours. About
a glance: with a minute, what was at hand for 200 seconds could not outweigh the declaration."""
MANY_CLOSED = 5.0
"""So many resources closed in one vector and more are all the same."""
LATELY = 0.3
"""What the resources of a vector count in the next one, what they count there in the one after
that, and so on."""
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
    of_switch: list[float]
    """F_S."""
    words: dict[str, float]
    """How often each word was in the titles,"""
    of_words: NDArray[np.float64]
    """and what it says for each activity when it is there once. The first row is what a word says
    that every vector has, and behind it there is a row for each word."""

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """How often each word was there, on the scale of the feature."""
        return WORD_SCALE * np.array([*self.words.values()])

    def column(self, activity: int) -> NDArray[np.float64]:
        """F_A of one activity; zeros for one that was created later."""
        if activity < self.of_activities.shape[1]:
            return self.of_activities[:, activity]
        return np.zeros(len(ACTIVITY_FEATURES))

    def word_values(self, activity: int) -> list[tuple[str, float]]:
        """What each word says for one activity, if it says anything."""
        return [(word, value) for word, value in self._spoken(activity, 0.0) if value]

    def contributions(self, activity: int) -> list[tuple[str, float]]:
        """What each word adds to the feature of one activity.

        A word that is as frequent here as everywhere adds nothing.
        """
        return self._spoken(activity, 1.0)

    def _spoken(self, activity: int, less_every: float) -> list[tuple[str, float]]:
        if activity >= self.of_words.shape[1]:
            return []
        said = self.of_words[:, activity]
        values = self.frequencies * (said[1:] - less_every * said[0])
        return list(zip(self.words, values.tolist(), strict=True))


def no_features() -> Features:
    """What is there before the first vector."""
    nothing = np.zeros((len(ACTIVITY_FEATURES), 0))
    return Features(nothing, [0.0] * len(SWITCH_FEATURES), {}, np.zeros((1, 0)))


class Knowledge(Stateful):
    """What was seen of each activity: words, time at resources, folders, and what was said."""

    activities: int = 0
    """How many there are."""
    # Whole numbers, and seconds since 1970 are multiples of 2^-22, as exact as doubles of that size
    # are. So sums are exact: what is taken back leaves nothing, after months too.
    words: _core.Counts
    """How many vectors of an activity have a word."""
    seconds: _core.Counts
    """Time at a resource by activity: the implicit association."""
    folders: FolderUses
    explicit: dict[str, int]
    """The activity that a person gave a resource to."""

    def __init__(self) -> None:
        self.words, self.seconds, self.folders = _core.Counts(), _core.Counts(), FolderUses()
        self.words.add(EVERY, 0, 0)
        self.explicit = {}
        fading = ("explicit", "implicit", "lately")
        self._fading = np.array([LATELY * (feature in fading) for feature in ACTIVITY_FEATURES])

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
        self.words.add(EVERY, activity, times)
        self.words.add_to_each(vector.words, activity, times)
        self.seconds.add_items(vector.active, activity, times)

    def use_folders(self, vector: InformationVector, activity: int, times: int = 1) -> None:
        """The same for folders, which no switch is recognised by."""
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
        self,
        vector: InformationVector,
        since_switch: float = 0.0,
        declared: int = -1,
        before: Features | None = None,
    ) -> Features:
        """Return F_A for all activities and F_S, for this declared activity (-1: none).

        `before` are the features of the vector before this one.
        """
        values = np.zeros((len(ACTIVITY_FEATURES), self.activities))
        explicit, implicit, opened, words, told, lately = values
        self._associate(vector.active, SCALE / (vector.seconds() or 1.0), explicit, implicit)
        if vector.open:
            share = SCALE / len(vector.open)
            self._associate(dict.fromkeys(vector.open, 1.0), share, opened, opened)
        of_words = self._speak(vector.words, words)
        if declared >= 0:
            told[declared] = SCALE
        if before is not None:
            earlier = before.of_activities
            self._fading.dot(earlier, out=lately[: earlier.shape[1]])
        switch = _switch_features(vector, since_switch)
        return Features(values, switch, vector.words, of_words)

    def _associate(
        self,
        shares: dict[str, float],
        factor: float,
        explicit: NDArray[np.float64],
        implicit: NDArray[np.float64],
    ) -> None:
        """Add each resource's share to its owner, or to its activities by the time spent there.

        What a person said about a resource stands; time spent there says nothing beside it.
        """
        owners = self.explicit
        if owners:
            for resource, share in shares.items():
                if resource in owners:
                    explicit[owners[resource]] += factor * share
            shares = {one: share for one, share in shares.items() if one not in owners}
        self.seconds.add_shares(shares, factor, HALF_KNOWN, implicit)

    def _speak(self, words: dict[str, float], out: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up log(|S-bar|/DF(x, S-bar)) over words; return what each says.

        S-bar are the vectors of all other activities. Each count is one larger than it is, so that
        a word that no other activity has (DF = 0) has a value. What is common to all activities is
        left out; then log |S-bar| is what the word says that every vector has, turned around.
        """
        times = {EVERY: -sum(words.values()), **words}
        of_words = np.empty((len(times), self.activities))
        self.words.add_rarities(times, WORD_SCALE, of_words, out)
        return of_words

    def strength(self, resource: str, activity: int) -> float:
        """How strongly a resource belongs to an activity, from 0 to 1."""
        owner = self.explicit.get(resource)
        if owner is not None:
            return float(owner == activity)
        spent, known = self.seconds.at(resource, activity), self.seconds.total(resource)
        return spent / (known + HALF_KNOWN)


def _switch_features(vector: InformationVector, since_switch: float) -> list[float]:
    used = vector.used / len(vector.open) if vector.open else 0.0
    closed = min(vector.closed / MANY_CLOSED, 1.0)
    since = min(since_switch / LONG_SINCE, 1.0)
    return [SCALE, SCALE * closed, SCALE * used, SCALE * since]


FADING = 0.9
"""What a use still counts when its activity has used one more folder."""
ELSEWHERE = 0.5
"""How many uses the folders of all activities together are worth beside an activity's own."""


class FolderUses(Stateful):
    """How often each activity used each folder, old uses counting less."""

    _uses: dict[int, dict[str, float]]

    def __init__(self) -> None:
        self._uses = {}

    def use(self, folder: str, activity: int, times: float = 1.0) -> None:
        """An activity uses a folder; a use that is taken back (`times=-1`) fades nothing."""
        uses = self._uses.setdefault(activity, {})
        if times > 0:
            for known in uses:
                uses[known] *= FADING
        uses[folder] = max(uses.get(folder, 0.0) + times, 0.0)
        if uses[folder] == 0:
            del uses[folder]

    def merge(self, activity: int, into: int) -> None:
        """Give the uses of an activity to another."""
        uses = self._uses.setdefault(into, {})
        for folder, times in self._uses.pop(activity, {}).items():
            uses[folder] = uses.get(folder, 0.0) + times

    def likely(self, beliefs: Mapping[int, float]) -> list[tuple[str, float]]:
        """Folders and their probabilities, likely ones first.

        `beliefs` are the probabilities of activities. An activity that has used few folders is
        helped by what all activities use.
        """
        everywhere: dict[str, float] = {}
        for uses in self._uses.values():
            for folder, times in uses.items():
                everywhere[folder] = everywhere.get(folder, 0.0) + times
        total = sum(everywhere.values())
        if total == 0:
            return []
        found = dict.fromkeys(everywhere, 0.0)
        for activity, belief in beliefs.items():
            uses = self._uses.get(activity, {})
            known = sum(uses.values()) + ELSEWHERE
            for folder, times in everywhere.items():
                own = uses.get(folder, 0.0)
                found[folder] += belief * (own + ELSEWHERE * times / total) / known
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))
