"""The past: the diary, what was seen in it, and what that says about each activity."""

from __future__ import annotations

from collections import deque

from yarrow.activity.model.diary import NOTHING, Diary, Source
from yarrow.activity.model.features import Knowledge
from yarrow.activity.model.vectors import InformationVector

REMEMBERED = 14 * 86400.0
"""Corrections move words and time at resources that are not older than this."""


class History:
    """Keeps diary and knowledge together: whatever is said about a minute changes both.

    The diary has each minute at once. What was seen in it counts for its activity only when the
    minute is settled: by what the person says, or by time. If it counted at once, then a switch
    that was not declared would teach from its first minute on that the new resources belong to the
    old activity, and what was not noticed in this minute would hardly be noticed in the next.
    """

    def __init__(self) -> None:
        self.diary = Diary()
        self.knowledge = Knowledge()
        self.vectors: deque[InformationVector] = deque()
        """Those of the last lines of the diary."""
        self.held: deque[int] = deque()
        """Lines of the diary that do not count yet."""
        self.titles: dict[str, tuple[str, float]] = {}
        """The last title of a resource, and when it was used."""

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

    def spent(self, activity: int) -> dict[str, float]:
        """Seconds at each resource of an activity, of minutes that do not count yet too."""
        found = dict(self.knowledge.seconds.of(activity))
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
