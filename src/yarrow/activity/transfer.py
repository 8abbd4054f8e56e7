"""Years of history in, what was learned out: ActivityWatch's exports, its categories, and CSV."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import re
import socket
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from yarrow.activity import said
from yarrow.activity.categories import Categories, Category
from yarrow.activity.events import Event
from yarrow.activity.outside import check_duration, check_moment, read_json, whole
from yarrow.activity.session import Session
from yarrow.activity.spans import GAP, Span, changes, read_spans, read_time
from yarrow.activity.store import Store
from yarrow.activity.vectors import words_of
from yarrow.errors import DataError, ParameterError, did_you_mean

__all__ = ["ROLES", "History", "as_bucket", "as_categories", "import_history", "read_history"]

BUCKET_KIND = "yarrow.activity"
#: what a column of a CSV file may be called, by what it tells
ROLES = {
    "time": ("timestamp", "time", "start", "date", "datetime", "start_time"),
    "duration": ("duration", "seconds"),
    "application": ("app", "application", "process", "program"),
    "title": ("title", "window_title", "window", "name"),
    "url": ("url", "address"),
    "activity": ("activity", "category", "$category", "task", "task_label", "project", "label"),
}
_ASSUMED = 300.0  # seconds: how long a window stays in front at most, if no duration is told
_SETTLED = 60.0  # seconds that a category must last before it is taken for a switch
_LEVELS = " > "  # between the names of a category and of what it is a part of
_TELLING = 0.9  # share of a word's events that must be of one activity
_INTERRUPTED = 30.0  # seconds of another category that are none

Name = Callable[[Span], str | None]  # the activity of a span, if it is known


class History(NamedTuple):
    """What a file tells: spans of windows and pages and idle times, and names of activities."""

    bucket: str
    window: list[Span]
    web: list[Span]
    afk: list[Span]
    name: Name
    settled: float
    """How many seconds an activity lasts before it counts as a switch."""


class Imported(NamedTuple):
    """What an import did."""

    entries: int
    new: int
    switches: int
    activities: list[str]


# -- reading -----------------------------------------------------------------------------------


def read_history(
    path: str, columns: Mapping[str, str] | None = None, categories: str | None = None
) -> list[History]:
    """What a file of ActivityWatch (JSON) or a table (CSV) tells, a history for each machine.

    Parameters
    ----------
    path : ending in .json or .csv, and .gz behind it if it is packed
    columns : the columns of a CSV file by their role, where their names do not tell
    categories : ActivityWatch's file of categories, which become activities
    """
    name = _by_category(Categories() if categories is None else _categories(categories))
    if path.removesuffix(".gz").endswith(".csv"):
        return [_read_csv(path, columns or {}, name)]
    if columns:
        raise ParameterError(f"{path}: only a CSV file has columns.")
    told = _json(path)
    buckets = told.get("buckets", told) if isinstance(told, dict) else None
    if isinstance(buckets, dict) and "events" in buckets:
        buckets = {str(buckets.get("id", "bucket")): buckets}
    if not isinstance(buckets, dict) or not all(
        isinstance(one, dict) and isinstance(one.get("events"), list) for one in buckets.values()
    ):
        raise DataError("is no export of ActivityWatch: it has no buckets of events", source=path)
    return list(_histories(path, buckets, name))


def _histories(path: str, buckets: dict[str, Any], name: Name) -> Iterator[History]:
    now = time.time()

    def spans(kind: str, host: str | None) -> list[Span]:
        found = [
            event
            for about in buckets.values()
            if about.get("type") == kind and host in (None, about.get("hostname"))
            for event in about["events"]
        ]
        return read_spans(found, path, now)

    windows = [key for key, about in buckets.items() if about.get("type") == "currentwindow"]
    if not windows:
        raise DataError("has no bucket of windows (type currentwindow)", source=path)
    hosts = {str(buckets[key].get("hostname")) for key in windows}
    for key in windows:
        host = buckets[key].get("hostname")
        # A browser's watcher does not know its machine; with several machines it cannot be told.
        web = spans("web.tab.current", None if len(hosts) == 1 else host)
        window = read_spans(buckets[key]["events"], path, now)
        yield History(key, window, web, spans("afkstatus", host), name, _SETTLED)


def _text_of(path: str) -> str:
    opened: Any = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            return str(file.read().decode("utf-8-sig"))
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError("is no text in UTF-8", source=path) from None


def _json(path: str) -> Any:
    try:
        return read_json(_text_of(path))
    except json.JSONDecodeError as error:
        raise DataError(f"is no JSON ({error.msg})", source=path, line=error.lineno) from None
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"is no JSON ({error})", source=path) from None


def _read_csv(path: str, columns: Mapping[str, str], name: Name) -> History:
    rows, now = csv.reader(io.StringIO(_text_of(path)), strict=True), time.time()
    try:
        header = next(rows, [])
        places = _places(path, header, columns)
        events: list[tuple[float, float | None, dict[str, str]]] = []
        for row in rows:
            if row:
                events.append(_event(path, rows.line_num, row, len(header), places, now))
    except csv.Error as error:
        raise DataError(str(error), source=path, line=rows.line_num) from None
    events.sort(key=lambda event: event[0])
    window = list(_as_spans(events, now))
    web = [span for span in window if span.data["url"]]
    has_labels = "activity" in places
    return History(
        f"csv:{path.rsplit('/', 1)[-1]}",
        window,
        web,
        [],
        _labelled if has_labels else name,
        0.0 if has_labels else _SETTLED,
    )


def _labelled(span: Span) -> str | None:
    """What the file itself says."""
    return whole(span.data["activity"].strip()) or None


def _places(path: str, header: Sequence[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Where the column of each role stands."""
    known = {name.strip().casefold(): place for place, name in enumerate(header)}
    places: dict[str, int] = {}
    for role, names in ROLES.items():
        if role in columns:
            wanted = columns[role].casefold()
            if wanted not in known:
                hint = did_you_mean(wanted, known)
                raise DataError(f"has no column {columns[role]!r}{hint}", source=path, line=1)
            places[role] = known[wanted]
        else:
            found = [known[name] for name in names if name in known]
            if found:
                places[role] = found[0]
    for role in columns:
        if role not in ROLES:
            raise ParameterError(f"a column is one of {', '.join(ROLES)}, not {role!r}.")
    if "time" not in places or not {"title", "url"} & places.keys():
        raise DataError(
            "needs a column of times and one of titles or addresses; say which by --column",
            source=path,
            line=1,
        )
    return places


def _event(
    path: str, line: int, row: list[str], width: int, places: dict[str, int], now: float
) -> tuple[float, float | None, dict[str, str]]:
    if len(row) != width:
        raise DataError(f"has {len(row)} cells, not {width}", source=path, line=line)
    cells = {role: row[place] for role, place in places.items()}
    try:
        stamp = cells["time"].strip()
        number = re.fullmatch(r"\d+(\.\d*)?", stamp)
        at = check_moment(float(stamp) if number else read_time(stamp), now, None)
        duration = float(cells["duration"]) if cells.get("duration", "").strip() else None
        if duration is not None:
            check_duration(duration, None)
    except ValueError as error:
        raise DataError(f"no time ({error})", source=path, line=line) from None
    names = {"application": "app", "title": "title", "url": "url", "activity": "activity"}
    return at, duration, {key: cells.get(role, "") for role, key in names.items()}


def _as_spans(
    events: list[tuple[float, float | None, dict[str, str]]], now: float
) -> Iterator[Span]:
    for place, (start, duration, data) in enumerate(events):
        following = events[place + 1][0] if place + 1 < len(events) else max(start, now)
        length = _ASSUMED if duration is None else duration
        yield Span(start, min(start + length, following), data)


# -- categories --------------------------------------------------------------------------------


def _categories(path: str) -> Categories:
    """ActivityWatch's file of categories."""
    told = _json(path)
    records = told.get("categories") if isinstance(told, dict) else told
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        raise DataError("is no export of categories: it has no list of them", source=path)
    try:
        return Categories.read(records)
    except DataError as error:
        raise DataError(str(error), source=path) from None


def _by_category(categories: Categories) -> Name:
    """The activity of a span is its category."""

    def name(span: Span) -> str | None:
        texts = (value for value in span.data.values() if isinstance(value, str))
        found = categories.of(*texts)
        return None if found is None else _LEVELS.join(found)

    return name


# -- into the log ------------------------------------------------------------------------------


def import_history(store: Store, histories: Iterable[History]) -> Imported:
    """Append what a history tells to the log; what is there already is not doubled."""
    numbers = {
        entry.name.casefold(): entry.activity
        for _, entry in store.entries()
        if isinstance(entry, said.Create | said.Rename)
    }
    entries: list[tuple[said.Entry, str | None]] = []
    created: list[str] = []
    switches = 0
    for history in histories:
        end = max((span.end for span in history.window), default=0.0) + 2 * GAP
        switched = list(_switches(history))
        switches += len(switched)
        for at, name in switched:
            key = name.casefold()
            if key not in numbers:
                numbers[key] = max(store.next_activity(), max(numbers.values(), default=-1) + 1)
                created.append(name)
            origin = f"{history.bucket}@switch:{at:.3f}"
            entries.append((said.Declare(at, numbers[key]), origin))
        entries += changes(history.window, history.web, history.afk, bucket=history.bucket, now=end)
    entries.sort(key=lambda one: one[0].time)  # at one moment, switches are first
    first = entries[0][0].time if switches else None
    entries = [
        *(
            (said.Create(entries[0][0].time, numbers[name.casefold()], name), None)
            for name in created
        ),
        *entries,
    ]
    new = store.append(
        [entry for entry, _ in entries], [origin for _, origin in entries], created_by=first
    )
    return Imported(len(entries), len(new), switches, created)


def _switches(history: History) -> Iterator[tuple[float, str]]:
    """When an activity begins that is another than the last, and lasts."""
    runs: list[tuple[float, float, str]] = []
    for span in history.window:
        name = history.name(span)
        if name is None or span.end - span.start < min(_INTERRUPTED, history.settled):
            continue
        if runs and runs[-1][2] == name and span.start - runs[-1][1] <= GAP:
            runs[-1] = (runs[-1][0], span.end, name)
        else:
            runs.append((span.start, span.end, name))
    current: str | None = None
    for start, end, name in runs:
        if name != current and end - start >= history.settled:
            yield start, name
            current = name


# -- out of the log ----------------------------------------------------------------------------


def as_bucket(session: Session, start: float, end: float) -> dict[str, Any]:
    """The stretches of a time as a bucket of ActivityWatch."""
    names = {one.id: one.name for one in session.recogniser.activities()}
    events = [
        {
            "timestamp": datetime.datetime.fromtimestamp(one.start, datetime.UTC).isoformat(),
            "duration": round(one.end - one.start, 3),
            "data": {
                "label": names[one.activity],
                "source": one.source,
                "certainty": round(one.certainty, 3),
            },
        }
        for one in session.recogniser.stretches(start, end)
        if one.activity is not None
    ]
    host = socket.gethostname()
    created = datetime.datetime.fromtimestamp(session.now(), datetime.UTC).isoformat()
    return {
        "id": f"yarrow-activity_{host}",
        "created": created,
        "name": None,
        "type": BUCKET_KIND,
        "client": "yarrow",
        "hostname": host,
        "events": events,
    }


def as_categories(session: Session, most: int = 12) -> dict[str, Any]:
    """What was learned as ActivityWatch's categories: words that tell activities apart."""
    seen = _words_seen(session)
    found: list[Category] = []
    for one in session.activities():
        telling = [
            (counts[one.id], word)
            for word, counts in seen.items()
            if counts[one.id] >= _TELLING * sum(counts.values()) and counts[one.id] > 1
        ]
        words = [word for _, word in sorted(telling, key=lambda pair: (-pair[0], pair[1]))[:most]]
        if one.archived or not words:
            continue
        pattern = rf"\b({'|'.join(map(re.escape, words))})\b"
        name = tuple(one.name.split(_LEVELS))
        found.append(Category(name, re.compile(pattern, re.IGNORECASE)))
    return {"categories": Categories(found).write()}


def _words_seen(session: Session) -> dict[str, Counter[int]]:
    """How many events of each activity have a word in their title, by the corrected diary."""
    stretches = session.recogniser.stretches(0.0, session.now())
    seen: dict[str, Counter[int]] = {}
    place = 0
    for _, entry in session.store.entries(refused=lambda _: None):  # the session has told of it
        if not isinstance(entry, Event) or not entry.title:
            continue
        while place < len(stretches) and stretches[place].end <= entry.time:
            place += 1
        if place == len(stretches):
            break
        activity = stretches[place].activity
        if stretches[place].start <= entry.time and activity is not None:
            for word in set(words_of(entry.title, entry.application)):
                seen.setdefault(word, Counter())[activity] += 1
    return seen
