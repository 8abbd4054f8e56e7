"""The past: the diary, what was seen in it, and what that says about each activity."""

from __future__ import annotations

import bisect
import dataclasses
from array import array
from collections import deque
from typing import Any, Literal

from yarrow.activity.log.plain import Stateful
from yarrow.activity.model.activities import NOTHING
from yarrow.activity.model.features import Knowledge
from yarrow.activity.model.vectors import InformationVector

Source = Literal["unknown", "declared", "recognised", "corrected"]
SOURCES: tuple[Source, ...] = ("unknown", "declared", "recognised", "corrected")
REMEMBERED = 14 * 86400.0
"""Corrections move words and time at resources that are not older than this."""


@dataclasses.dataclass(frozen=True, slots=True)
class Stretch:
    """A time at one activity."""

    start: float
    end: float
    activity: int | None
    certainty: float
    """How sure the recogniser is that it was this activity, from 0 to 1."""
    source: Source
    thought: int | None
    """What the recogniser takes it for: where that is another activity, look again."""


class Diary:
    """One line for each information vector, in columns; lines in the order of time."""

    def __init__(self) -> None:
        self.start, self.end, self.certainty = array("d"), array("d"), array("d")
        self.activity, self.source, self.thought = array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self.start)

    def add(
        self, start: float, end: float, activity: int, source: Source, thought: int, sure: float
    ) -> None:
        """Write a line."""
        self.start.append(start)
        self.end.append(end)
        self.activity.append(activity)
        self.source.append(SOURCES.index(source))
        self.thought.append(thought)
        self.certainty.append(sure)

    def between(self, since: float, until: float) -> range:
        """The lines whose middle lies in this time."""
        first = bisect.bisect_left(self.end, since)
        last = bisect.bisect_left(self.start, until)
        inside = [
            i for i in range(first, last) if since <= (self.start[i] + self.end[i]) / 2 < until
        ]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def relabel(self, line: int, activity: int, source: Source) -> None:
        """It was something else."""
        self.activity[line] = activity
        self.source[line] = SOURCES.index(source)

    def merge(self, activity: int, into: int) -> None:
        """Two activities are one."""
        for column in (self.activity, self.thought):
            for line, old in enumerate(column):
                if old == activity:
                    column[line] = into

    def stretches(self, start: float, end: float, longest_gap: float) -> list[Stretch]:
        """The lines from `start` to `end` as stretches.

        Lines belong together that follow each other within `longest_gap` seconds and are the same
        activity, said in the same way, and taken for the same. A thought that lasted a single line
        makes no stretch.
        """
        first = bisect.bisect_right(self.end, start)
        last = bisect.bisect_left(self.start, end)
        found: list[Stretch] = []
        begin, kind, sure = first, None, 0.0
        for line in range(first, last + 1):
            new = self._kind(line, first, last) if line < last else None
            gap = line < last and line > begin and self.start[line] - self.end[line - 1]
            if line > begin and (new != kind or gap > longest_gap):
                assert kind is not None
                activity, source, thought = kind
                found.append(
                    Stretch(
                        max(self.start[begin], start),
                        min(self.end[line - 1], end),
                        None if activity == NOTHING else activity,
                        sure / (line - begin),
                        SOURCES[source],
                        None if thought == NOTHING else thought,
                    )
                )
                begin, sure = line, 0.0
            kind = new
            if line < last:
                sure += self._sure(line)
        return found

    def _sure(self, line: int) -> float:
        """How sure it is that the line is what it says: a thought of something else is a doubt."""
        if self.source[line] == SOURCES.index("corrected"):
            return 1.0  # somebody has looked at it
        agreed = self.thought[line] == self.activity[line]
        return self.certainty[line] if agreed else 1 - self.certainty[line]

    def _kind(self, line: int, first: int, last: int) -> tuple[int, int, int]:
        thought = self.thought[line]
        around = {self.thought[i] for i in (line - 1, line + 1) if first <= i < last}
        if thought not in around and around:
            thought = self.activity[line]
        return self.activity[line], self.source[line], thought

    def state_dict(self) -> dict[str, list[Any]]:
        """Return plain data."""
        return {name: column.tolist() for name, column in vars(self).items()}

    def load_state_dict(self, state: dict[str, list[Any]]) -> None:
        """Go on from plain data."""
        for name, column in vars(self).items():
            setattr(self, name, array(column.typecode, state[name]))


@dataclasses.dataclass(frozen=True, slots=True)
class Resource:
    """A resource of an activity."""

    resource: str
    title: str
    last_used: float
    seconds: float
    explicit: bool


class History(Stateful):
    """Keeps diary and knowledge together: whatever is said about a minute changes both.

    The diary has each minute at once. What was seen in it counts for its activity only when the
    minute is settled: by what the person says, or by time. If it counted at once, then a switch
    that was not declared would teach from its first minute on that the new resources belong to the
    old activity, and what was not noticed in this minute would hardly be noticed in the next.
    """

    diary: Diary
    knowledge: Knowledge
    vectors: deque[InformationVector]
    """Those of the last lines of the diary."""
    held: deque[int]
    """Lines of the diary that do not count yet."""
    titles: dict[str, tuple[str, float]]
    """The last title of a resource, and when it was used."""

    def __init__(self) -> None:
        self.diary, self.knowledge = Diary(), Knowledge()
        self.vectors, self.held, self.titles = deque(), deque(), {}

    def write(
        self,
        vector: InformationVector,
        activity: int,
        source: Source,
        thought: int,
        sure: float,
        *,
        hold: bool = False,
    ) -> None:
        """Write a line for a vector, and count it for its activity, or hold it."""
        end, vectors = vector.end, self.vectors
        self.diary.add(vector.start, end, activity, source, thought, sure)
        if vectors:
            vectors[-1].open = []  # only the last one's is asked for, and they are long
        vectors.append(vector)
        for resource, title in vector.titles.items():
            self.titles[resource] = (title, end)
        if activity != NOTHING:
            self.knowledge.use_folders(vector, activity)
        self.held.append(len(self.diary) - 1)
        if not hold:
            self.settle(end)
        while vectors[0].end < end - REMEMBERED:
            vectors.popleft()

    def settle(self, until: float) -> None:
        """Count the lines that ended by then."""
        while self.held and self.diary.end[self.held[0]] <= until:
            line = self.held.popleft()
            activity = self.diary.activity[line]
            if activity != NOTHING:
                self.knowledge.credit(self._vector(line), activity)

    def _vector(self, line: int) -> InformationVector:
        return self.vectors[line - len(self.diary) + len(self.vectors)]

    def relabel(self, since: float, until: float, activity: int, source: Source) -> None:
        """Move what was associated in this time to the right activity."""
        forgotten = len(self.diary) - len(self.vectors)
        for line in self.diary.between(since, until):
            old = self.diary.activity[line]
            if line >= forgotten and old != activity:
                vector, counts = self._vector(line), line not in self.held
                if old != NOTHING:
                    self.knowledge.use_folders(vector, old, -1)
                    if counts:
                        self.knowledge.credit(vector, old, -1)
                self.knowledge.use_folders(vector, activity)
                if counts:
                    self.knowledge.credit(vector, activity)
            self.diary.relabel(line, activity, source)

    def resources(self, activity: int) -> list[Resource]:
        """The resources of an activity, the last used first."""
        owners, spent = self.knowledge.explicit, self._spent(activity)
        explicit = {resource for resource, owner in owners.items() if owner == activity}
        found = []
        for resource in explicit | spent.keys():
            if owners.get(resource, activity) == activity:
                title, used = self.titles.get(resource, ("", 0.0))
                seconds = spent.get(resource, 0.0)
                found.append(Resource(resource, title, used, seconds, resource in explicit))
        return sorted(found, key=lambda one: (-one.last_used, one.resource))

    def _spent(self, activity: int) -> dict[str, float]:
        """Seconds at each resource of an activity, of minutes that do not count yet too."""
        counts = self.knowledge.seconds
        counted = {resource: counts.at(resource, activity) for resource in counts.rows}
        found = {resource: seconds for resource, seconds in counted.items() if seconds > 0}
        for line in self.held:
            if self.diary.activity[line] == activity:
                for resource, seconds in self._vector(line).active.items():
                    found[resource] = found.get(resource, 0.0) + seconds
        return found

    def merge(self, activity: int, into: int) -> None:
        """Two activities are one."""
        self.knowledge.merge(activity, into)
        self.diary.merge(activity, into)

    def since_when(self, activity: int, thought: int) -> float:
        """Since when the last lines were this activity and were taken for that one."""
        diary = self.diary
        first = len(diary) - 1
        while (
            first > 0
            and diary.thought[first - 1] == thought
            and diary.activity[first - 1] == activity
        ):
            first -= 1
        return diary.start[first]
