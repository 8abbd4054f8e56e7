"""The past: the diary, what was seen in it, and what that says about each activity."""

from __future__ import annotations

from collections import deque

from yarrow.activity.diary import NOTHING, Diary, Source
from yarrow.activity.features import Knowledge
from yarrow.activity.vectors import InformationVector

REMEMBERED = 14 * 86400.0
"""Corrections move words and time at resources that are not older than this."""


class Past:
    """Keeps diary and knowledge together: whatever is said about a minute changes both."""

    def __init__(self) -> None:
        self.diary = Diary()
        self.knowledge = Knowledge()
        self.vectors: deque[InformationVector] = deque()
        """Those of the last lines of the diary."""
        self.titles: dict[str, tuple[str, float]] = {}
        """The last title of a resource, and when it was used."""

    def write(
        self, vector: InformationVector, activity: int, source: Source, thought: int, sure: float
    ) -> None:
        """Write a line for a vector, and count it for its activity."""
        end, vectors = vector.end, self.vectors
        self.diary.add(vector.start, end, activity, source, thought, sure)
        if vectors:
            vectors[-1].open = []  # only the last one's is asked for, and they are long
        vectors.append(vector)
        while vectors[0].end < end - REMEMBERED:
            vectors.popleft()
        for resource, title in vector.titles.items():
            self.titles[resource] = (title, end)
        if activity != NOTHING:
            self.knowledge.credit(vector, activity)

    def relabel(self, since: float, until: float, activity: int, source: Source) -> None:
        """Move what was associated in this time to the right activity."""
        forgotten = len(self.diary) - len(self.vectors)
        for line in self.diary.between(since, until):
            old = self.diary.activity[line]
            if line >= forgotten and old != activity:
                vector = self.vectors[line - forgotten]
                if old != NOTHING:
                    self.knowledge.credit(vector, old, -1)
                self.knowledge.credit(vector, activity)
            self.diary.relabel(line, activity, source)

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
