"""Events from anything that can write a line: a file of JSON lines that grows, or standard input.

A line is an object with a `kind`, and with `resource`, `title`, `application` and `time` (seconds
since 1970, or an ISO 8601 date) as far as they are known. Without a time it happens now.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from yarrow.activity.events import Event
from yarrow.activity.spans import Change, read_time
from yarrow.errors import DataError, YarrowError, did_you_mean

__all__ = ["FileFeed", "PipeFeed", "read_line"]

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
        record = json.loads(line)
        if not isinstance(record, dict) or "kind" not in record:
            raise DataError('a line is an object with a "kind", such as {"kind": "focus"}')
        return _event({"time": now, **record})
    except YarrowError as error:
        raise DataError(str(error), source=source, line=number) from None
    except ValueError as error:
        raise DataError(f"is no JSON, or has no date ({error})", source=source, line=number) from None


def _event(record: dict[str, Any]) -> Event:
    if isinstance(record["time"], str):
        record["time"] = read_time(record["time"])
    known = {field.name for field in dataclasses.fields(Event)}
    for name, value in record.items():
        if name not in known:
            raise DataError(f"an event has no such field{did_you_mean(name, known)}", field=name)
        if name in ("resource", "title", "application") and not isinstance(value, str):
            raise DataError(f"must be text, not {value!r}", field=name)
        if name == "duration" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise DataError(f"must be a number of seconds, not {value!r}", field=name)
    return Event(**record)


class FileFeed:
    """Follows a file as it grows, is cut short or is replaced by a new one.

    Where a line stood and what it says is its origin, so it is taken once, whatever is restarted.
    """

    def __init__(self, path: str, now: Callable[[], float]) -> None:
        self.path, self._now = path, now
        self._file: BinaryIO | None = None
        self._line = 0
        self.refused: list[str] = []  # sentences about lines that are no events

    def collect(self) -> list[Change]:
        """The lines that are complete since the last look."""
        file = self._opened()
        if file is None:
            return []
        found: list[Change] = []
        identity = os.fstat(file.fileno()).st_ino
        read = 0
        while read < _MOST:
            place = file.tell()
            line = file.readline()
            if not line.endswith(b"\n"):  # it is still being written
                file.seek(place)
                break
            self._line += 1
            read += len(line)
            if line.strip():
                try:
                    event = read_line(line, self.path, self._line, self._now())
                except DataError as error:
                    self.refused.append(str(error))
                    continue
                content = hashlib.sha256(line).hexdigest()[:16]
                found.append(Change(event, f"feed:{self.path}:{identity}:{place}:{content}"))
        return found

    def _opened(self) -> BinaryIO | None:
        """The file, from its beginning if it is another one than before."""
        try:
            now_there = os.stat(self.path)
        except OSError:
            return self._file  # it may come back
        if self._file is not None:
            here = os.fstat(self._file.fileno())
            if here.st_ino == now_there.st_ino and self._file.tell() <= now_there.st_size:
                return self._file
            self._file.close()
        self._file, self._line = open(self.path, "rb"), 0  # noqa: SIM115  # it stays open
        return self._file


class PipeFeed:
    """Takes lines from standard input, in a thread of its own, until it ends."""

    def __init__(self, now: Callable[[], float], stream: Any = None) -> None:
        self._now, self._stream = now, stream or sys.stdin.buffer
        self._lines: queue.SimpleQueue[tuple[int, bytes, float]] = queue.SimpleQueue()
        self.refused: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for number, line in enumerate(self._stream, 1):
            self._lines.put((number, line, self._now()))

    def collect(self) -> list[Change]:
        """The lines that came since the last look."""
        found: list[Change] = []
        while not self._lines.empty():
            number, line, now = self._lines.get()
            if line.strip():
                try:
                    found.append(Change(read_line(line, "standard input", number, now), ""))
                except DataError as error:
                    self.refused.append(str(error))
        return found
