"""Events from anything that can write a line: a file of JSON lines that grows, or standard input.

A line is an object with a `kind`, and with `resource`, `title`, `application` and `time` (seconds
since 1970, or an ISO 8601 date) as far as they are known. Without a time it happens now. With
`"incognito": true`, as ActivityWatch marks pages, nothing of it is kept: it is like being away.
"""

from __future__ import annotations

import hashlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from yarrow.activity.log.entries import EVENT_FIELDS, Event
from yarrow.activity.log.validation import check_duration, check_moment, read_json
from yarrow.activity.sources.spans import Change, read_time
from yarrow.errors import DataError, YarrowError, did_you_mean

_KEPT = 20  # sentences about lines that are no events
_MOST = 1 << 20  # bytes in one look; the rest is read at the next


def read_line(line: bytes | str, source: str, number: int | None, now: float) -> Event:
    """The event of one line.

    Examples
    --------
    >>> read_line('{"kind": "save", "resource": "/home/me/a.txt"}', "feed", 1, now=60.0)
    Event(time=60.0, kind='save', resource='/home/me/a.txt', title='', application='', duration=0.0)
    >>> read_line('{"kind": "safe"}', "feed.jsonl", 7, now=0.0)
    Traceback (most recent call last):
    yarrow.errors.DataError: feed.jsonl, line 7: field 'kind': there is no kind of event 'safe'
    (did you mean save?)
    """
    try:
        # What a program has cut in the middle of a character is an event all the same.
        text = line if isinstance(line, str) else line.decode("utf-8-sig", "replace")
        record = read_json(text)
        if not isinstance(record, dict) or "kind" not in record:
            raise DataError('a line is an object with a "kind", such as {"kind": "focus"}')
        return _event({"time": now, **record}, now)
    except YarrowError as error:
        raise DataError(str(error), source=source, line=number) from None
    except ValueError as error:
        raise DataError(
            f"is not JSON, or its time is not a date ({error})", source=source, line=number
        ) from None


def _event(record: dict[str, Any], now: float) -> Event:
    if isinstance(record["time"], str):
        record["time"] = read_time(record["time"])
    record["time"] = check_moment(record["time"], now)
    is_private = record.pop("incognito", False)
    if not isinstance(is_private, bool):
        raise DataError(f"must be true or false, not {is_private!r}", field="incognito")
    for name in record:
        if name not in EVENT_FIELDS:
            hint = did_you_mean(name, EVENT_FIELDS)
            raise DataError(f"an event has no such field{hint}", field=name)
    if "duration" in record:
        record["duration"] = check_duration(record["duration"])
    event = Event(**record)
    return Event(event.time, "away") if is_private else event


class _Feed:
    """What all feeds have: sentences about lines that are no events."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.refused: list[str] = []

    def _event(self, line: bytes, source: str, number: int, now: float) -> Event | None:
        if not line.strip():
            return None
        try:
            return read_line(line, source, number, now)
        except DataError as error:
            self.refused.append(str(error))
            del self.refused[:-_KEPT]  # the newest are enough; a broken source may write for years
            return None


class FileFeed(_Feed):
    """Follows a file as it grows, is cut short or is replaced by a new one.

    Where a line stood and what it says is its origin, so it is taken once, whatever is restarted.
    """

    def __init__(self, path: str, now: Callable[[], float]) -> None:
        super().__init__(now)
        self.path = path
        self._identity = self._place = self._line = 0
        self._last = b""  # the line before that place

    def collect(self) -> list[Change]:
        """The lines that are complete since the last look."""
        try:
            with open(self.path, "rb") as file:
                return self._read(file)
        except FileNotFoundError:
            return []  # it may come, or come back
        except OSError as error:
            self.refused = [str(error.strerror)]
            return []

    def _read(self, file: BinaryIO) -> list[Change]:
        about = os.fstat(file.fileno())
        file.seek(max(0, self._place - len(self._last)))
        if about.st_ino != self._identity or file.read(len(self._last)) != self._last:
            self._identity, self._place, self._line, self._last = about.st_ino, 0, 0, b""
            file.seek(0)  # it is another file, though it may have the number of the old one
        found: list[Change] = []
        end = self._place + _MOST
        while self._place < end:
            line = file.readline()
            if not line.endswith(b"\n"):  # it is still being written
                break
            place, self._place = self._place, self._place + len(line)
            self._line, self._last = self._line + 1, line
            event = self._event(line, self.path, self._line, self._now())
            if event is not None:
                # Of what is private the log gets nothing, not even what a guess could be tried on.
                is_private = event.kind == "away" and b"incognito" in line
                told = repr(event).encode() if is_private else line
                content = hashlib.sha256(told).hexdigest()[:16]
                origin = f"feed:{self.path}:{self._identity}:{place}:{content}"
                found.append(Change(event, origin))
        return found


class PipeFeed(_Feed):
    """Takes lines from standard input, in a thread of its own, until it ends."""

    def __init__(self, now: Callable[[], float], stream: Any = None) -> None:
        super().__init__(now)
        self._stream = stream or sys.stdin.buffer
        self._lines: queue.SimpleQueue[tuple[int, bytes, float]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            for number, line in enumerate(self._stream, 1):
                self._lines.put((number, line, self._now()))
        except (OSError, ValueError) as error:
            self.refused.append(f"cannot be read any more ({error})")

    def collect(self) -> list[Change]:
        """The lines that came since the last look."""
        found: list[Change] = []
        while not self._lines.empty():
            number, line, now = self._lines.get()
            event = self._event(line, "standard input", number, now)
            if event is not None:
                found.append(Change(event, ""))
        return found
