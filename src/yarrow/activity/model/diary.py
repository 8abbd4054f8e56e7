"""The diary: what each minute was, by whom it was said, and what the recogniser thought of it."""

from __future__ import annotations

import bisect
import dataclasses
from array import array
from typing import Any, Literal

Source = Literal["unknown", "declared", "recognised", "corrected"]
SOURCES: tuple[Source, ...] = ("unknown", "declared", "recognised", "corrected")
NOTHING = -1
"""The number of no activity."""


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
        self.start, self.end = array("d"), array("d")
        self.activity, self.source = array("q"), array("b")
        self.thought, self.certainty = array("q"), array("d")

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

    def state_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name).tolist() for name in _COLUMNS}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from plain data."""
        for name in _COLUMNS:
            setattr(self, name, array(getattr(self, name).typecode, state[name]))


_COLUMNS = ("start", "end", "activity", "source", "thought", "certainty")
