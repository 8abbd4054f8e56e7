"""Entries of the log as rows of a table, and back; a row that is none is told, and never taken."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import Any

from yarrow.activity import said
from yarrow.activity.events import Event
from yarrow.activity.outside import typed, whole
from yarrow.errors import DataError, ParameterError

__all__ = ["as_pattern", "from_row", "to_row"]


def to_row(entry: said.Entry) -> tuple[Any, ...]:
    """Time, kind, resource, title, application, duration, and in JSON what else was said."""
    if isinstance(entry, Event):
        return (entry.time, entry.kind, entry.resource, entry.title, entry.application,
                entry.duration, None)  # fmt: skip
    record = dataclasses.asdict(entry)
    at, resource = record.pop("time"), whole(record.pop("resource", ""))
    return at, _NAMES[type(entry)], resource, "", "", 0.0, json.dumps(record)


def from_row(
    source: str, number: int, at: Any, kind: Any, resource: Any, title: Any, application: Any,
    duration: Any, told: Any,
) -> said.Entry:  # fmt: skip
    """The entry of a row, whatever a damaged file has there; an error names the entry."""
    try:
        if told is None:
            return Event(at, kind, resource, title, application, duration)
        fields = {name: _checked(name, value) for name, value in json.loads(told).items()}
        if kind == "associate":
            fields["resource"] = whole(resource)
        entry: said.Entry = _SAID[kind](time=at, **fields)
        return entry
    except Exception as error:
        what = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        raise DataError(
            f"entry {number} is damaged, or was written by a later Yarrow ({what})", source=source
        ) from None


#: what entries are called in logs; they keep these names, whatever becomes of the classes
_SAID: dict[str, type[Any]] = {
    "archive": said.Archive,
    "associate": said.Associate,
    "confirm": said.Confirm,
    "correct": said.Correct,
    "create": said.Create,
    "declare": said.Declare,
    "merge": said.Merge,
    "rename": said.Rename,
}
_NAMES = {cls: name for name, cls in _SAID.items()}
_NUMBERS = ("activity", "into")


def _checked(name: str, value: Any) -> Any:
    """A field of what was said, if it is of its type."""
    if name == "name" and isinstance(value, str):
        return whole(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if (
        (name in _NUMBERS and is_number)
        or (name in ("activity", "until") and value is None)
        or (name == "archived" and isinstance(value, bool))
        or (name in ("since", "until") and (is_number or isinstance(value, float))
            and math.isfinite(value))
    ):  # fmt: skip
        return value
    raise TypeError(f"{name!r} cannot be {value!r}")


def as_pattern(text: Any) -> re.Pattern[str]:
    """A regular expression, for any case; a sentence if it is none."""
    if not isinstance(text, str):
        raise ParameterError(f"{text!r} is no regular expression.")
    try:
        return re.compile(typed(text, "the pattern"), re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise ParameterError(f"{text!r} is no regular expression: {error}.") from None
