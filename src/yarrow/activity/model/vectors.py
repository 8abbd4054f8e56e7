"""Information vectors: what a person did in each minute, or until a declared switch."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import posixpath
import re
import sys

from yarrow.activity.log.entries import Event
from yarrow.activity.log.plain import Stateful

IDLE_AFTER = 900.0
"""Seconds without any event after which nobody is taken to be there, if no source tells."""

IN_FRONT = frozenset(
    ("open", "focus", "navigate", "mail_read", "save", "save_as", "selection", "copy", "paste")
)
"""What a person does, they do at the resource in front; the other kinds leave it as it is."""
OPEN_FOR = 600.0
"""Seconds that a resource stays open after it was last seen, if nobody tells of its closing."""
FORGOTTEN_AFTER = 16 * 3600.0
"""Seconds after which a resource that was opened and not seen again counts as closed."""
_FOLDER_USED = frozenset(("open", "save", "save_as"))


@dataclasses.dataclass(slots=True)
class InformationVector:
    """What happened between `start` and `end`."""

    start: float
    end: float
    active: dict[str, float]
    """Seconds at each resource."""
    words: dict[str, float]
    """How often each word was in the title of the window, titles weighted by their time."""
    open: list[str]
    """The resources open at the end."""
    used: int
    """How many of them were used in this time."""
    closed: int
    """How many resources were closed in this time."""
    titles: dict[str, str]
    """The last title of each active resource."""
    folders: list[str]
    """Folders of files that were opened or saved."""

    def seconds(self) -> float:
        """Time spent at named resources."""
        return sum(self.active.values())


class OpenResources(Stateful):
    """Which resources are open: the one place that says so, for all kinds of source.

    Some sources tell when a resource is opened and closed. Others (ActivityWatch) tell only what is
    in front. So it is decided for each resource by what was told about it:

    - A resource with an `open` event is open until its `close` event. If neither it nor its close
      is seen for `FORGOTTEN_AFTER` seconds, the close was lost (a crash, a restart), and it is
      closed.
    - Any other resource is open while it was seen within the last `OPEN_FOR` seconds, and is closed
      when it has not been seen since.
    """

    # When each was last seen, in that order, so that the oldest are found at once.
    _told: dict[str, float]
    _seen: dict[str, float]

    def __init__(self) -> None:
        self._told, self._seen = {}, {}

    def tell(self, event: Event) -> int:
        """Take note of an event; return how many resources it closed."""
        resource = event.resource
        if not resource:
            return 0
        if event.kind == "close":
            was_open = self._told.pop(resource, None) is not None
            return int(self._seen.pop(resource, None) is not None or was_open)
        self.see(resource, event.time, opened=event.kind == "open")
        return 0

    def see(self, resource: str, time: float, *, opened: bool = False) -> None:
        """A resource is in use at this time."""
        table = self._told if opened or resource in self._told else self._seen
        self._seen.pop(resource, None)
        self._told.pop(resource, None)  # to the end of the order
        table[resource] = time

    def expire(self, time: float) -> int:
        """Close what was not seen for too long; return how many."""
        return _drop(self._seen, time - OPEN_FOR) + _drop(self._told, time - FORGOTTEN_AFTER)

    def names(self) -> list[str]:
        """The open resources."""
        return [*self._told, *self._seen]

    def used_since(self, time: float) -> int:
        """How many open resources were seen since this time."""
        last = (reversed(table.values()) for table in (self._told, self._seen))
        return sum(1 for times in last for _ in itertools.takewhile(lambda at: at >= time, times))


def _drop(table: dict[str, float], before: float) -> int:
    gone = list(itertools.takewhile(lambda resource: table[resource] < before, table))
    for resource in gone:
        del table[resource]
    return len(gone)


class VectorBuilder(Stateful):
    """Turns events into information vectors.

    It has no clock: time passes by the times of events and by `due`. Where the cuts fall depends
    on these times only, not on how often somebody asks.
    """

    opened: OpenResources
    _start: float | None = None  # of the interval under way; None: nobody is there
    _front: tuple[str, str, str] | None = None  # resource, title, application
    _counted_to: float = 0.0  # time spent is summed up to here
    _front_until: float = 0.0  # and will not be beyond this
    _away: bool = False
    _active: dict[str, float]
    _shown: dict[tuple[str, str], float]  # seconds of (title, application)
    _titles: dict[str, str]
    _folders: list[str]
    _closed: int
    _happened: bool

    def __init__(self, interval: float = 60.0) -> None:
        self.interval = interval
        self.opened = OpenResources()
        self._begin()

    def _begin(self) -> None:
        self._active, self._shown, self._titles, self._folders = {}, {}, {}, []
        self._closed, self._happened = 0, False

    def due(self, time: float) -> InformationVector | None:
        """Return the next vector that is complete at this time, and None when there is no more."""
        while self._start is not None and self._start + self.interval <= time:
            end = self._start + self.interval
            vector = self.cut(end)
            if self._front is None or self._front_until <= end:
                self._start = None  # nobody is there until the next event
            if vector is not None:
                return vector
        return None

    def cut(self, end: float) -> InformationVector | None:
        """End the interval here; return its vector, or None if nothing happened in it."""
        if self._start is None:
            return None
        self._spend(end)
        start, self._start = self._start, end
        self._closed += self.opened.expire(end)
        if not (self._happened or self._shown):
            self._closed = 0
            return None
        vector = InformationVector(
            start,
            end,
            self._active,
            self._words(),
            self.opened.names(),
            self.opened.used_since(start),
            self._closed,
            self._titles,
            self._folders,
        )
        self._begin()
        return vector

    def tell(self, event: Event) -> InformationVector | None:
        """Take an event, not earlier than the last; leaving the keyboard completes a vector."""
        kind, time = event.kind, event.time
        if kind == "away":
            vector = self.cut(time)
            self._start, self._away = None, True
            return vector
        if self._start is None:
            self._start = self._counted_to = time
        else:
            self._spend(time)
        if kind == "back" or self._away:  # whatever happens, somebody is there
            self._away = False
            self._front_until = time + IDLE_AFTER
            if kind == "back":
                return None
        self._happened = True
        self._closed += self.opened.tell(event)
        if kind == "focus" and not (event.resource or event.title):
            self._front = None  # something that is nobody's business
        elif kind in IN_FRONT and (event.resource or event.title):
            self._front = (event.resource, event.title, event.application)
            self._front_until = time + (event.duration or IDLE_AFTER)
            if event.resource:
                self._active.setdefault(event.resource, 0.0)
                self._titles[event.resource] = event.title
        elif kind == "close" and self._front is not None and self._front[0] == event.resource:
            self._front = None
        else:
            self._front_until = max(self._front_until, time + IDLE_AFTER)
        if kind in _FOLDER_USED and (folder := folder_of(event.resource)):
            self._folders.append(folder)
        return None

    def _spend(self, to: float) -> None:
        """Add the time up to here to the resource in front."""
        if to <= self._counted_to:
            return
        if self._front is not None:
            seconds = min(to, self._front_until) - self._counted_to
            if seconds > 0:
                resource, title, application = self._front
                if resource:
                    self._active[resource] = self._active.get(resource, 0.0) + seconds
                    self._titles[resource] = title
                    self.opened.see(resource, self._counted_to + seconds)
                shown = (title, application)
                self._shown[shown] = self._shown.get(shown, 0.0) + seconds
        self._counted_to = to

    def _words(self) -> dict[str, float]:
        total = sum(self._shown.values())
        words: dict[str, float] = {}
        for (title, application), seconds in self._shown.items():
            share = seconds / total
            for word in words_of(title, application):
                words[word] = words.get(word, 0.0) + share
        return words


_WORD = re.compile(r"[^\W\d_]\w+")


@functools.lru_cache(maxsize=20_000)
def words_of(title: str, application: str = "") -> tuple[str, ...]:
    """The words of a window's title and application, in small letters; numbers are none.

    >>> words_of("Budget 2026 (draft).ods - LibreOffice Calc")
    ('budget', 'draft', 'ods', 'libreoffice', 'calc')
    """
    words = _WORD.findall(f"{title} {application}".casefold())
    return tuple(map(sys.intern, words))  # a word is looked up often, and then found by identity


def folder_of(resource: str) -> str:
    r"""The folder of a file, and nothing for pages and messages.

    >>> folder_of("/home/ada/reports/may.odt"), folder_of("https://example.org/a/b")
    ('/home/ada/reports', '')
    >>> folder_of("C:\\Users\\ada\\may.docx")
    'C:\\Users\\ada'
    """
    if resource.startswith("/"):
        return posixpath.dirname(resource)
    if re.match(r"[A-Za-z]:[\\/]|\\\\", resource):
        return re.split(r"[\\/][^\\/]*$", resource)[0]
    if resource.startswith("file://"):
        return folder_of(resource[7:])
    return ""
