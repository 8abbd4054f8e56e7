"""What a running ActivityWatch has seen.

Reading it takes two requests, so the standard library makes them: aw-client would bring twenty
packages and a queue on the disk, which only those who write to ActivityWatch need.
"""

from __future__ import annotations

import dataclasses
import datetime
import http.client
import json
import math
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from typing import Any

from yarrow.activity.log.validation import AHEAD, read_json
from yarrow.activity.sources.clock import Clock
from yarrow.activity.sources.spans import Change, Span, changes, read_spans, read_time
from yarrow.errors import ParameterError, YarrowError

ADDRESS = "http://localhost:5600"
_TIMEOUT = 10.0
_LOOK_BACK = 600.0  # seconds: watchers send late, and say only after minutes that nobody was there
_LATE_PAGE = 10.0  # seconds: only with its page it is known whether a browser's window is private
_FIRST = 12 * 3600.0  # what the first look takes in; 'import' reads all of a history
_WINDOW, _WEB, _AFK = "currentwindow", "web.tab.current", "afkstatus"


class Unreachable(YarrowError):
    """ActivityWatch does not answer, or not as ActivityWatch does."""


class ActivityWatch:
    """A server of ActivityWatch at an address."""

    def __init__(self, address: str = ADDRESS) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(f"{address!r} is not an ActivityWatch address, such as {ADDRESS}.")
        self.address = address.rstrip("/")
        # What is on this machine is not asked for by way of a proxy.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def buckets(self) -> dict[str, Mapping[str, Any]]:
        """All buckets by name."""
        found = self._ask("buckets/")
        if not isinstance(found, dict) or not all(isinstance(b, dict) for b in found.values()):
            raise Unreachable(
                f"{self.address}: the program that answers there is not ActivityWatch."
            )
        return found

    def events(self, bucket: str, start: float, end: float) -> list[Any]:
        """What a bucket has between two times."""
        span = {"start": _iso(start), "end": _iso(end), "limit": "-1"}
        name = urllib.parse.quote(bucket, safe="", errors="replace")
        found = self._ask(f"buckets/{name}/events?{urllib.parse.urlencode(span)}")
        if not isinstance(found, list):
            raise Unreachable(
                f"{self.address}: the program that answers there is not ActivityWatch."
            )
        return found

    def write(
        self,
        bucket: str,
        kind: str,
        events: Iterable[Mapping[str, Any]],
        start: float = -math.inf,
        end: float = math.inf,
    ) -> int:
        """Put events into a bucket of our own, in place of what it held from `start` to `end`.

        What lies outside stays as it was, and so does the outer part of an event that lies across
        an edge. What is there already is not written again. Return how many events were left alone.
        """
        name = urllib.parse.quote(bucket, safe="")
        if bucket not in self.buckets():
            about = {"client": "yarrow", "type": kind, "hostname": socket.gethostname()}
            self._ask(f"buckets/{name}", about)
        held = self._ask(f"buckets/{name}/events?limit=-1")  # asked for a span, a server cuts them
        wanted, inside = list(events), []
        for event in held:
            span = _span_of(event)
            outer = _outside(*span, start, end)
            if outer != [span]:
                inside.append(event)
                wanted += [event_of(*part, event["data"]) for part in outer]
        missing = {_content(event): event for event in wanted}
        for event in inside:
            if missing.pop(_content(event), None) is None:
                self._ask(f"buckets/{name}/events/{event['id']}", method="DELETE")
        if missing:
            self._ask(f"buckets/{name}/events", [*missing.values()])
        return len(held) - len(inside)

    def _ask(self, what: str, body: Any = None, method: str | None = None) -> Any:
        request = urllib.request.Request(
            f"{self.address}/api/0/{what}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method,
        )
        try:
            with self._open(request, timeout=_TIMEOUT) as answer:
                text = answer.read()
                return read_json(text) if text.strip() else None
        except (OSError, ValueError, http.client.HTTPException) as error:
            # no connection, an error page, no JSON, no server of pages at all
            reason = getattr(error, "reason", None) or error
            raise Unreachable(
                f"{self.address}: ActivityWatch does not answer ({reason})."
            ) from None


def _iso(time: float) -> str:
    return datetime.datetime.fromtimestamp(time, datetime.UTC).isoformat()


def event_of(start: float, end: float, data: Mapping[str, Any]) -> dict[str, Any]:
    """An event of ActivityWatch, whose times are whole milliseconds."""
    start = round(start, 3)
    return {"timestamp": _iso(start), "duration": round(end - start, 3), "data": data}


def _span_of(event: Mapping[str, Any]) -> tuple[float, float]:
    start = round(read_time(event["timestamp"]), 3)
    return start, round(start + float(event["duration"]), 3)


def _outside(first: float, last: float, start: float, end: float) -> list[tuple[float, float]]:
    """The parts of a span that do not lie between `start` and `end`."""
    if first == last:
        return [] if start <= first <= end else [(first, last)]
    parts = ((first, min(last, start)), (max(first, end), last))
    return [part for part in parts if part[0] < part[1]]


def _content(event: Mapping[str, Any]) -> str:
    """What makes two events the same."""
    return json.dumps([_span_of(event), event["data"]], sort_keys=True)


class Collector:
    """Reads what is new in ActivityWatch; asked again and again, it tells each change once.

    That a change is told again after a restart does no harm, since the log knows its origin.
    """

    def __init__(self, server: ActivityWatch, clock: Clock, newest: float | None = None) -> None:
        self.server, self._clock = server, clock
        self.newest = newest  # the end of the newest window seen, by ActivityWatch's clock
        self.refused: list[str] = []  # sentences about what the last look left out
        self._told: dict[str, float] = {}
        self._reached_at: float | None = None

    def collect(self) -> list[Change]:
        """What changed since the last look; `Unreachable` if nobody answers."""
        now = self._clock.now() - self._clock.shift
        try:
            found = self._look(now)
        except YarrowError:
            self._reached_at = None
            raise
        new = [change for change in found if change.origin not in self._told]
        self._told.update((change.origin, change.event.time) for change in new)
        edge = now - 2 * _LOOK_BACK
        self._told = {name: time for name, time in self._told.items() if time > edge}
        return [
            Change(dataclasses.replace(event, time=self._clock.of_source(event.time)), origin)
            for event, origin in new
        ]

    def _look(self, now: float) -> list[Change]:
        newest = now - _FIRST + _LOOK_BACK if self.newest is None else self.newest
        start = min(newest, now) - _LOOK_BACK  # a clock that was set back has newest in the future
        kinds = _chosen(self.server.buckets())
        if not kinds[_WINDOW]:
            raise Unreachable(
                f"{self.server.address}: ActivityWatch is running, but its window watcher is not."
            )
        name = kinds[_WINDOW][0]
        self.refused = []
        window = self._spans(name, start, now)
        pages = [page for bucket in kinds[_WEB] for page in self.server.events(bucket, start, now)]
        web = read_spans(pages, "pages", now, self.refused)
        afk = self._spans(kinds[_AFK][0], start, now) if kinds[_AFK] else []
        if window:
            self.newest = max(span.end for span in window)
        if self._reached_at is None:
            self._reached_at = now
        # A watcher that was cut off delivers soon: judge nothing absent that may be on its way.
        seen_until = now if now - self._reached_at > _LOOK_BACK / 4 else self.newest or now
        return changes(
            window,
            web,
            afk,
            bucket=name,
            now=seen_until,
            after=start,
            has_web=bool(kinds[_WEB]),
            late=_LATE_PAGE,
        )

    def _spans(self, bucket: str, start: float, now: float) -> list[Span]:
        told = self.server.events(bucket, start, now + AHEAD)
        return read_spans(told, bucket, now + 1.0, self.refused)  # the server rounds


def _chosen(buckets: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """The buckets of each kind: those of this machine if there are some, the newest first."""
    here = socket.gethostname()
    chosen: dict[str, list[str]] = {}
    for kind in (_WINDOW, _WEB, _AFK):
        found = [name for name, about in buckets.items() if about.get("type") == kind]
        found.sort(key=lambda name: str(buckets[name].get("last_updated", "")), reverse=True)
        if kind != _WEB:  # a browser's watcher does not know where it runs
            found = [n for n in found if buckets[n].get("hostname") == here] or found
        chosen[kind] = found
    return chosen
