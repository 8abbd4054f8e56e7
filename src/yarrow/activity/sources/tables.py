"""A table of windows (CSV), as other programs write it: which column tells what.

Columns are known by their names, or told by their role. What is read as what, and what is not used,
is told in a sentence: a column of durations that nobody reads makes other hours out of a day.
"""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from yarrow.activity.log.validation import check_duration, check_moment
from yarrow.activity.sources.spans import Span, read_time
from yarrow.errors import DataError, ParameterError, did_you_mean

#: what a column may be called, by what it tells; the first that is there is read. Names are in
#: small letters, with _ for all that is neither letter nor digit; a + joins a date and a clock.
ROLES = {
    "time": ("timestamp", "start_date+start_time", "date+start_time", "date+time", "time", "start",
             "date", "datetime", "start_time", "started_at", "started", "start_date", "begin",
             "from"),
    "end": ("end_date+end_time", "date+end_time", "end", "end_time", "ended_at", "ended",
            "end_date", "finish", "finished_at", "stop", "stopped_at", "to", "until"),
    "duration": ("duration", "time_spent", "elapsed", "dwell", "length"),
    "application": ("app", "application", "process", "program", "app_name", "process_name",
                    "window_class_name"),
    "title": ("title", "window_title", "window", "name", "window_name", "description"),
    "url": ("url", "address"),
    "activity": ("activity", "category", "task", "task_label", "project", "label"),
}  # fmt: skip
_UNITS = {
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "decimal"), 3600.0),
}
_UNIT_NAMES = {0.001: "milliseconds", 1.0: "seconds", 60.0: "minutes", 3600.0: "hours"}
_ASSUMED = 300.0  # seconds: how long a window stays in front at most, if nothing tells
_AGREE = 60.0  # seconds by which two columns may differ about one row: some are rounded
_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d*)?)")


class Table(NamedTuple):
    """What a table tells."""

    spans: list[Span]
    has_labels: bool
    """Whether a column says what was done."""
    told: str
    """Which columns were read as what, and which were not."""


class _Column(NamedTuple):
    """One column, or a date and a clock that make up a time."""

    name: str
    places: tuple[int, ...]
    unit: float = 1.0

    def cell(self, row: Sequence[str]) -> str:
        *date, text = (row[place].strip() for place in self.places)
        return " ".join([*date, text]) if date and re.match(r"\d\d?:\d", text) else text


def read_table(path: str, text: str, columns: Mapping[str, str]) -> Table:
    """What a CSV file tells; `columns` are its columns by their role, where names do not tell."""
    rows, now = csv.reader(io.StringIO(text), strict=True), time.time()
    try:
        header = next(rows, [])
        found = _columns(path, header, columns)
        events = [_event(path, rows.line_num, row, len(header), found, now) for row in rows if row]
    except csv.Error as error:
        raise DataError(str(error), source=path, line=rows.line_num) from None
    events.sort(key=lambda event: event[0])
    spans = list(_as_spans(path, events, now))
    return Table(spans, "activity" in found, _told(path, header, found))


# -- which column is what ------------------------------------------------------------------------


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def _unit(name: str) -> float | None:
    """The unit of a column of durations, by its plain name; None if it is none.

    >>> _unit("duration_sec"), _unit("time_spent_seconds"), _unit("minutes"), _unit("title")
    (1.0, 1.0, 60.0, None)
    """
    base, _, unit = name.rpartition("_")
    if name in ROLES["duration"]:
        return 1.0
    if base in ROLES["duration"] or name in _UNIT_NAMES.values():
        return _UNITS.get(unit)
    return None


def _columns(
    path: str, header: Sequence[str], columns: Mapping[str, str]
) -> dict[str, list[_Column]]:
    """The columns of each role; only for durations there may be several."""
    known: dict[str, int] = {}
    for place, name in enumerate(header):
        known.setdefault(_plain(name), place)
    found: dict[str, list[_Column]] = {}
    for role, name in columns.items():
        unit = None if role in ROLES else _unit(_plain(role))
        if role not in ROLES and unit is None:
            raise ParameterError(
                f"a column is one of {', '.join(ROLES)} (also duration_ms, duration_min and "
                f"duration_h), not {role!r}."
            )
        if _plain(name) not in known:
            hint = did_you_mean(name, header)
            raise DataError(f"has no column {name!r}{hint}", source=path, line=1)
        by_name = _unit(_plain(name)) if role == "duration" else None
        column = _Column(name, (known[_plain(name)],), unit or by_name or 1.0)
        found.setdefault("duration" if unit else role, []).append(column)
    taken = {place for chosen in found.values() for column in chosen for place in column.places}
    free = {name: place for name, place in known.items() if place not in taken}
    length_told = "end" in found or "duration" in found
    for role, names in ROLES.items():
        if role in found or (length_told and role in ("end", "duration")):
            continue
        if role == "duration":
            units = {name: _unit(name) for name in free}
            chosen = [_Column(header[free[n]], (free[n],), u) for n, u in units.items() if u]
        else:
            parts = (name.split("+") for name in names)
            first = next((part for part in parts if free.keys() >= set(part)), [])
            places = tuple(free[part] for part in first)
            name = " and ".join(header[place] for place in places)
            chosen = [_Column(name, places)] if places else []
        if chosen:
            found[role] = chosen
    if "time" not in found or not {"title", "url"} & found.keys():
        raise DataError(
            "needs a column of times and one of titles or addresses; say which by --column",
            source=path,
            line=1,
        )
    return found


def _told(path: str, header: Sequence[str], found: Mapping[str, list[_Column]]) -> str:
    """A sentence about all columns."""
    read: list[str] = []
    used: set[int] = set()
    for role in ROLES:
        for column in found.get(role, ()):
            unit = f" in {_UNIT_NAMES[column.unit]}" if role == "duration" else ""
            read.append(f"{role}{unit} from {column.name!r}")
            used.update(column.places)
    rest = [repr(name) for place, name in enumerate(header) if place not in used]
    told = f"{path}: read {', '.join(read)}"
    if not {"end", "duration"} & found.keys():
        told += (
            f"; no column of durations or ends: a row lasts to the next, {_ASSUMED:.0f} s at most"
        )
    return told + (f"; not used: {', '.join(rest)}" if rest else "")


# -- rows ----------------------------------------------------------------------------------------


_Event = tuple[float, float | None, dict[str, str]]  # start, duration, what a window shows


def _event(
    path: str,
    line: int,
    row: list[str],
    width: int,
    columns: Mapping[str, list[_Column]],
    now: float,
) -> _Event:
    if len(row) != width:
        raise DataError(f"has {len(row)} cells, not {width}", source=path, line=line)
    cells = {role: column.cell(row) for role, (column, *_) in columns.items()}
    try:
        at = check_moment(_moment(cells["time"]), now, None)
        lengths = list(_lengths(row, at, columns))
    except ValueError as error:
        raise DataError(f"no time ({error})", source=path, line=line) from None
    for name, length in lengths:
        first_name, first = lengths[0]
        if abs(length - first) > max(_AGREE, 0.05 * max(length, first)):
            raise DataError(
                f"lasts {first:g} s by {first_name!r} and {length:g} s by {name!r}; say which one "
                "counts by --column duration=NAME or --column end=NAME",
                source=path,
                line=line,
            )
    names = {"application": "app", "title": "title", "url": "url", "activity": "activity"}
    data = {key: cells.get(role, "") for role, key in names.items()}
    return at, lengths[0][1] if lengths else None, data


def _moment(stamp: str) -> float:
    if re.fullmatch(r"\d+(\.\d*)?", stamp):
        return float(stamp)
    try:
        return read_time(stamp)
    except ValueError:
        raise ValueError(
            f"{stamp[:40]!r} is neither a time such as 2026-03-02T14:30:00 nor seconds since 1970"
        ) from None


def _lengths(
    row: Sequence[str], at: float, columns: Mapping[str, list[_Column]]
) -> Iterator[tuple[str, float]]:
    """How long a row lasted, by each column that tells; ends are first, since they have no unit."""
    for column in columns.get("end", ()):
        if column.cell(row):
            end = _moment(column.cell(row))
            if end < at:
                raise ValueError(f"it ends at {column.cell(row)!r}, before it begins")
            yield column.name, check_duration(end - at, None)
    for column in columns.get("duration", ()):
        if column.cell(row):
            yield column.name, check_duration(_duration(column.cell(row), column.unit), None)


def _duration(text: str, unit: float) -> float:
    """Seconds, of a number of units or of hours, minutes and seconds."""
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = clock.groups()
        return 3600.0 * int(hours) + 60.0 * int(minutes) + float(seconds)
    if ":" in text:
        raise ValueError(
            f"{text[:40]!r} is not a duration such as 1:05:00 (hours, minutes, seconds)"
        )
    return unit * float(text)


def _as_spans(path: str, events: list[_Event], now: float) -> Iterator[Span]:
    told = left = 0.0
    for place, (start, duration, data) in enumerate(events):
        following = events[place + 1][0] if place + 1 < len(events) else max(start, now)
        length = _ASSUMED if duration is None else min(duration, max(now - start, 0.0))
        span = Span(start, min(start + length, following), data)
        if duration is not None:
            told += length
            left += span.end - span.start
        yield span
    if told > 2 * left + _AGREE:
        raise DataError(
            f"the rows last {told / 3600:.2f} hours together, but one window is in front at a "
            f"time, which leaves {left / 3600:.2f}; name the unit of the durations, such as "
            "--column duration_ms=NAME, or leave out rows that lie over others",
            source=path,
        )
