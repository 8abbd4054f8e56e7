"""From spans, as ActivityWatch keeps them, to what changed on the desk.

ActivityWatch has buckets of spans: which window was in front, which page its browser showed, and
whether anybody was there. Heartbeats may come twice, late and overlapping, and the newest span
still grows. The log wants changes: this window from now on, nobody there from now on. Each change
is named after the span that told it (its origin), so that looking at the same spans again adds
nothing. Of a page that a watcher marks as incognito nothing is taken: it is like being away.
"""

from __future__ import annotations

import bisect
import dataclasses
import datetime
import math
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from yarrow.activity.log.entries import Event
from yarrow.activity.log.validation import check_duration, check_moment
from yarrow.errors import DataError

GAP = 120.0  # seconds without a window: the machine slept, or its watcher was off
_STILL = 300.0  # seconds after which a window that stays in front is told again
_PRIVATE = "incognito"
_TOUCHING = 5.0  # seconds between two spans with the same contents that are one
_BROWSERS = re.compile(
    r"firefox|chrom(e|ium)|brave|vivaldi|opera|safari|microsoft.?edge|msedge|librewolf|epiphany|"
    r"\bzen\b|\barc\b|iexplore|falkon|qutebrowser",
    re.IGNORECASE,
)
_CHANGED = re.compile(r"^(?:[*●•]\s*|\(\d+\)\s*|\[\d+\]\s*)+")  # unsaved, or so many new messages
_IN_FOLDER = re.compile(r"^(?P<name>[^/\s][^/]*?)\s[+=-]?\s?\((?P<folder>~?/[^)]*)\)")  # as Vim
_PATH = re.compile(r"(?:^|(?<=[\s:(\[\"']))(?P<path>~?/[^\s:)\]\"'*?<>|]+)")
_SEPARATOR = re.compile(r"\s+[-–—|]\s+")  # noqa: RUF001  # dashes as applications write them


class Span(NamedTuple):
    """What a watcher saw from `start` to `end`."""

    start: float
    end: float
    data: Mapping[str, Any]


class Change(NamedTuple):
    """An event, and the name of what told it."""

    event: Event
    origin: str


def read_spans(
    events: Iterable[Any], source: str, now: float = math.inf, refused: list[str] | None = None
) -> list[Span]:
    """Spans in order of time that do not overlap: a later one ends the one before it.

    Parameters
    ----------
    events : ActivityWatch's events: timestamp (ISO 8601), duration (seconds), data
    source : the bucket's name, for errors
    now : what begins later is no event, but for clocks that differ a little; nothing ends later
    refused : takes a sentence about each that is no event; without it, the first one is an error

    Examples
    --------
    >>> at = "2026-03-02T09:00:{:02}+00:00".format
    >>> seen = [{"timestamp": at(0), "duration": 30, "data": {"title": "a"}},
    ...         {"timestamp": at(10), "duration": 30, "data": {"title": "b"}},
    ...         {"timestamp": at(10), "duration": 20, "data": {"title": "b"}}]
    >>> [(span.end - span.start, span.data["title"]) for span in read_spans(seen, "w")]
    [(10.0, 'a'), (30.0, 'b')]
    """
    found: list[Span] = []
    for event in events:
        try:
            found.append(_span(event, source, now))
        except DataError as error:
            if refused is None:
                raise
            refused.append(str(error))
    spans: list[Span] = []
    for span in sorted(found, key=lambda span: span[:2]):
        if spans:
            last = spans[-1]
            if last.data == span.data and span.start - last.end <= _TOUCHING:
                spans[-1] = last._replace(end=max(last.end, span.end))
                continue
            if last.start == span.start:
                spans.pop()  # two stories of one moment: the one that lasted longer
            else:
                spans[-1] = last._replace(end=min(last.end, span.start))
        spans.append(span)
    return spans


def _span(event: Any, source: str, now: float) -> Span:
    try:
        start = check_moment(read_time(event["timestamp"]), now, None)
        duration = check_duration(max(0.0, float(event.get("duration", 0.0))), None)
        data = event["data"]
        if not isinstance(data, Mapping):
            raise TypeError
        if _is_private(data):
            data = {_PRIVATE: True}  # its address and its title go no further
    except DataError as error:
        raise DataError(f"{error}, in the event {str(event)[:80]}", source=source) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise DataError(
            f"an event needs a timestamp, a duration and data, not {str(event)[:80]}", source=source
        ) from None
    return Span(start, min(start + duration, max(start, now)), data)


def _is_private(data: Mapping[str, Any]) -> bool:
    """Whether a page is in a window that leaves no traces; what says neither no nor yes is."""
    return data.get(_PRIVATE, False) not in (False, None)


def read_time(text: str) -> float:
    """Unix time of an ISO 8601 date; without a zone it is local time."""
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except OverflowError as error:  # as local time, the first and the last day can be none
        raise ValueError(str(error)) from None


def changes(
    window: list[Span],
    web: list[Span],
    afk: list[Span],
    *,
    bucket: str,
    now: float,
    after: float = float("-inf"),
    has_web: bool = False,
    late: float = 0.0,
) -> list[Change]:
    """What changed on the desk after a time, in order.

    Parameters
    ----------
    window, web, afk : spans of the three watchers
    bucket : the window watcher's bucket, after which changes are named
    now : spans that ended just before it still go on
    after : earlier changes are known; a span that was cut there by the server is no change
    has_web : whether pages are watched, so that a browser's window needs no name of its own
    late : seconds that a watcher of pages may be late; a browser's window that is newer is told
        when its page is known, or must be known to be none: it may be incognito
    """
    shown = sorted(_focus(window, web, has_web or bool(web), bucket, now - late), key=_time)
    found: list[Change] = []
    at = 0
    front: Event | None = None
    for start, end in _there(window, afk, now):
        while at < len(shown) and _time(shown[at]) < start:
            front = shown[at].event
            found.append(_gone(_time(shown[at]), bucket))
            at += 1
        found.append(Change(Event(start, "back"), f"{bucket}@back:{start:.3f}"))
        if front is not None and not (at < len(shown) and _time(shown[at]) == start):
            again = dataclasses.replace(front, time=start)
            found.append(Change(again, f"{bucket}@again:{start:.3f}"))
        while at < len(shown) and _time(shown[at]) <= end:
            front = shown[at].event
            found.append(shown[at])
            at += 1
        if end < now:
            found.append(_gone(end, bucket))
    found += [_gone(_time(change), bucket) for change in shown[at:]]
    return [change for change in found if _time(change) > after]


def _time(change: Change) -> float:
    return change.event.time


def _gone(time: float, bucket: str) -> Change:
    """Nobody is there; told again when a title changes by itself, as if there were somebody."""
    return Change(Event(time, "away"), f"{bucket}@away:{time:.3f}")


def _focus(
    window: list[Span], web: list[Span], has_web: bool, bucket: str, told_until: float
) -> Iterator[Change]:
    hidden = _Hidden(web)
    pages = iter(web)
    page = next(pages, None)
    for seen in window:
        application, title = _text(seen, "app"), _text(seen, "title")
        while page is not None and page.end <= seen.start:
            page = next(pages, None)
        if not is_browser(application):
            resource = resource_of(application, title)
            yield from _lasting(seen, ("focus", resource, title, application), bucket)
            continue
        is_private = hidden.has(seen)
        begun = seen.end if page is None else min(seen.end, page.start)
        if begun > seen.start or begun == seen.end:  # no page is known yet
            resource = "" if has_web else resource_of(application, title)
            first = seen._replace(end=max(begun, seen.start))
            about = _NOBODYS if is_private else ("focus", resource, title, application)
            if not (has_web and begun == seen.end and seen.start > told_until):
                yield from _lasting(first, about, bucket)
        while page is not None and page.start < seen.end:
            address = _text(page, "url")
            shown = page._replace(start=max(page.start, seen.start), end=min(page.end, seen.end))
            if _is_private(page.data):
                yield from _lasting(shown, _NOBODYS, f"{bucket}+")
            elif is_web_address(address):
                named = _text(page, "title") or ("" if is_private else title)
                yield from _lasting(shown, ("navigate", address, named, application), f"{bucket}+")
            if page.end > seen.end:
                break  # the same page may be in front again
            page = next(pages, None)


_NOBODYS = ("away", "", "", "")  # as what 'never' matches is stored


class _Hidden:
    """When a browser's window may have the title of an incognito page.

    Watchers look every few seconds, and not at the same time: a window that came a little before
    the page may be its, and so may all until the next page was seen, or until a watcher that is
    silent must have gone.
    """

    def __init__(self, web: list[Span]) -> None:
        nexts = [page.start for page in web[1:]] + [math.inf]
        hidden = [
            (page.start, min(page.end + GAP, following))
            for page, following in zip(web, nexts, strict=False)
            if _is_private(page.data)
        ]
        self._starts, self._ends = [start for start, _ in hidden], [end for _, end in hidden]

    def has(self, seen: Span) -> bool:
        """Whether a window may have such a title."""
        last = bisect.bisect_right(self._starts, max(seen.end, seen.start + _TOUCHING)) - 1
        return last >= 0 and self._ends[last] > seen.start  # of the earlier ones, all end earlier


def _lasting(span: Span, about: tuple[str, str, str, str], name: str) -> Iterator[Change]:
    """An event, and again every few minutes: who reads for an hour has not left.

    All is named by its own time, not by the span's start: the server cuts what it is asked for.
    """
    yield Change(Event(span.start, *about), f"{name}@{span.start:.3f}")
    again = (span.start // _STILL + 1) * _STILL
    while again < span.end:
        yield Change(Event(again, *about), f"{name}@{again:.3f}")
        again += _STILL


def _text(span: Span, name: str) -> str:
    value = span.data.get(name, "")
    return value if isinstance(value, str) else ""


def _there(window: list[Span], afk: list[Span], now: float) -> Iterator[tuple[float, float]]:
    """When somebody was there: windows were seen, and nobody said that the keyboard is idle."""
    seen: list[list[float]] = []
    for span in window:
        if seen and span.start - seen[-1][1] <= GAP:
            seen[-1][1] = max(seen[-1][1], span.end)
        else:
            seen.append([span.start, span.end])
    if seen and now - seen[-1][1] <= GAP:
        seen[-1][1] = now
    idle = _idle(afk, now)
    for start, end in seen:
        for begins, ends in idle:
            if ends <= start or begins >= end:
                continue
            if begins > start:
                yield start, begins
            start = ends
        if start < end:
            yield start, end


def _idle(afk: list[Span], now: float) -> list[tuple[float, float]]:
    """When the keyboard was idle: from when that was said until the contrary was."""
    idle: list[tuple[float, float]] = []
    since: float | None = None
    for span in afk:
        is_idle = _text(span, "status") == "afk"
        if is_idle and since is None:
            since = span.start
        elif not is_idle and since is not None:
            idle.append((since, span.start))
            since = None
    return idle if since is None else [*idle, (since, max(now, since))]


# -- what a title tells about the thing that is worked on ----------------------------------------
# ActivityWatch knows an application and a title, not a file. One and the same document must get one
# and the same name, whatever its editor writes around it.


def is_browser(application: str) -> bool:
    """Whether an application shows web pages."""
    return bool(_BROWSERS.search(application))


def is_web_address(resource: str) -> bool:
    """Whether a resource is a page that a browser could open."""
    return resource.startswith(("http://", "https://"))


def resource_of(application: str, title: str) -> str:
    """The name of what a window shows: a path where the title has one, else title and application.

    Examples
    --------
    >>> resource_of("gvim", "notes.md + (~/letters) - GVIM")
    '~/letters/notes.md'
    >>> resource_of("Alacritty", "me@desk: ~/src/yarrow")
    '~/src/yarrow'
    >>> resource_of("soffice", "*Budget 2026.ods — LibreOffice Calc")
    'window:soffice/Budget 2026.ods'
    >>> resource_of("thunderbird", "")
    ''
    """
    text = _CHANGED.sub("", title).strip()
    if not text:
        return ""
    in_folder = _IN_FOLDER.match(text)
    if in_folder:
        return posixpath.join(in_folder["folder"], in_folder["name"])
    path = _PATH.search(text)
    if path and len(path["path"]) > 2:
        return path["path"].rstrip(".,/") or "/"
    return f"window:{application or 'unknown'}/{_without_application(text)}"


def _without_application(title: str) -> str:
    """The title without the last part, in which applications name themselves."""
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    end = title.rfind(parts[-1])
    return _SEPARATOR.sub(" - ", title[:end].rstrip(" -–—|"))  # noqa: RUF001
