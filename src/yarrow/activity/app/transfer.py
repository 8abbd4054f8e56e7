"""Years of history in, what was learned out: ActivityWatch's exports, its categories, and CSV."""

from __future__ import annotations

import datetime
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from yarrow.activity.app.category_rules import LEVELS, Rule
from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Create, Declare, Entry, Rename
from yarrow.activity.log.store import Store
from yarrow.activity.log.validation import read_json, whole
from yarrow.activity.model.activities import check_name
from yarrow.activity.sources.activitywatch import event_of
from yarrow.activity.sources.categories import Categories
from yarrow.activity.sources.spans import GAP, Span, changes, read_spans
from yarrow.activity.sources.tables import read_table
from yarrow.errors import DataError, ParameterError
from yarrow.io.compressed import open_bytes

BUCKET_KIND = "yarrow.activity"
_SETTLED = 60.0  # seconds that a category must last before it is taken for a switch
_INTERRUPTED = 30.0  # seconds of another category that are none

Name = Callable[[Span], str | None]  # the activity of a span, if it is known


class Recording(NamedTuple):
    """What a file tells: spans of windows and pages and idle times, and names of activities."""

    bucket: str
    window: list[Span]
    web: list[Span]
    afk: list[Span]
    name: Name
    settled: float
    """How many seconds an activity lasts before it counts as a switch."""
    told: str = ""
    """A sentence about the columns of a table."""


class Imported(NamedTuple):
    """What an import did."""

    entries: int
    new: int
    switches: int
    activities: list[str]


# -- reading -----------------------------------------------------------------------------------


def read_history(
    path: str, columns: Mapping[str, str] | None = None, categories: str | None = None
) -> list[Recording]:
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
        raise DataError("is not an ActivityWatch export: it has no buckets of events", source=path)
    return list(_histories(path, buckets, name))


def _histories(path: str, buckets: dict[str, Any], name: Name) -> Iterator[Recording]:
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
        yield Recording(key, window, web, spans("afkstatus", host), name, _SETTLED)


def _text_of(path: str) -> str:
    try:
        with open_bytes(path) as file:
            return file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("is not text in UTF-8", source=path) from None


def _json(path: str) -> Any:
    text = _text_of(path)
    try:
        return read_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise DataError(f"is not JSON ({error})", source=path, line=line) from None


def _read_csv(path: str, columns: Mapping[str, str], name: Name) -> Recording:
    table = read_table(path, _text_of(path), columns)
    return Recording(
        f"csv:{path.rsplit('/', 1)[-1]}",
        table.spans,
        [span for span in table.spans if span.data["url"]],
        [],
        _labelled if table.has_labels else name,
        0.0 if table.has_labels else _SETTLED,
        table.told,
    )


def _labelled(span: Span) -> str | None:
    """What the file itself says."""
    return whole(span.data["activity"].strip()) or None


# -- categories --------------------------------------------------------------------------------


def _categories(path: str) -> Categories:
    """ActivityWatch's file of categories."""
    told = _json(path)
    records = told.get("categories") if isinstance(told, dict) else told
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        raise DataError("is not an export of categories: it has no list of them", source=path)
    try:
        return Categories.read(records)
    except DataError as error:
        raise DataError(str(error), source=path) from None


def _by_category(categories: Categories) -> Name:
    """The activity of a span is its category."""

    def name(span: Span) -> str | None:
        texts = (value for value in span.data.values() if isinstance(value, str))
        found = categories.of(*texts)
        return None if found is None else LEVELS.join(found)

    return name


# -- into the log ------------------------------------------------------------------------------


def import_history(store: Store, histories: Iterable[Recording]) -> Imported:
    """Append what a history tells to the log; what is there already is not doubled."""
    numbers = {
        entry.name.casefold(): entry.activity
        for _, entry in store.entries()
        if isinstance(entry, Create | Rename)
    }
    entries: list[tuple[Entry, str | None]] = []
    created: list[str] = []
    switches = 0
    for history in histories:
        end = max((span.end for span in history.window), default=0.0) + 2 * GAP
        switched = list(_switches(history))
        switches += len(switched)
        for at, name in switched:
            key = name.casefold()
            if key not in numbers:
                try:
                    check_name(name)
                except ParameterError as error:
                    raise DataError(str(error), source=history.bucket) from None
                numbers[key] = max(store.next_activity(), max(numbers.values(), default=-1) + 1)
                created.append(name)
            origin = f"{history.bucket}@switch:{at:.3f}"
            entries.append((Declare(at, numbers[key]), origin))
        entries += changes(history.window, history.web, history.afk, bucket=history.bucket, now=end)
    entries.sort(key=lambda one: one[0].time)  # at one moment, switches are first
    first = entries[0][0].time if switches else None
    entries = [
        *((Create(entries[0][0].time, numbers[name.casefold()], name), None) for name in created),
        *entries,
    ]
    new = store.append(
        [entry for entry, _ in entries], [origin for _, origin in entries], created_by=first
    )
    return Imported(len(entries), len(new), switches, created)


def _switches(history: Recording) -> Iterator[tuple[float, str]]:
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
        event_of(
            one.start,
            one.end,
            {
                "label": names[one.activity],
                "source": one.source,
                "certainty": round(one.certainty, 3),
            },
        )
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


def written(rules: Iterable[Rule]) -> dict[str, Any]:
    """Rules as ActivityWatch imports them."""
    found = [rule.category for rule in rules if rule.category is not None]
    return {"categories": Categories(found).write()}
