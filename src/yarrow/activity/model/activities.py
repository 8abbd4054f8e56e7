"""The activities, and whether an entry of the log can be said of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from yarrow.activity.log.entries import Correct, Create, Merge, Said
from yarrow.activity.log.validation import check_time, typed
from yarrow.errors import DataError, ParameterError

NOTHING = -1
"""The number of no activity."""
LATEST = 300.0
"""An entry may be so many seconds older than the newest; it is taken as happening now."""
FARTHEST = 1000
"""How many numbers a new activity may leave out."""
LONGEST_NAME = 200
"""How many characters a name may have that is given now; one in an old log is read as it is."""


@dataclasses.dataclass(slots=True)
class Activity:
    """Something a person works at."""

    id: int
    name: str
    archived: bool = False
    merged_into: int | None = None


def check_late(time: float, now: float) -> None:
    """Raise an error if an entry is too old."""
    if time < now - LATEST:
        raise DataError(
            f"the entry is {now - time:.0f} seconds older than the newest one, and at most "
            f"{LATEST:.0f} are taken",
            field="time",
        )


def check_name(name: str) -> None:
    """Raise an error if a new name is too long to be shown anywhere."""
    if len(name) > LONGEST_NAME:
        raise ParameterError(
            f"a name may have {LONGEST_NAME} characters, and this one has {len(name)}: "
            f"{name[:40]!r}..."
        )


def check_said(entry: Said, now: float, activities: Mapping[int, Activity], new: int) -> None:
    """Raise an error if what a person says cannot be; `new` is the next number of an activity."""
    check_time(entry.time, "time")
    check_late(entry.time, now)
    for field in ("name", "resource"):
        typed(getattr(entry, field, ""), repr(field))
    if isinstance(entry, Create):
        if not (new <= entry.activity <= new + FARTHEST and entry.name.strip()):
            raise DataError(
                f"a new activity needs a name and the next number, {new}, not {entry.name!r} "
                f"and {entry.activity!r}",
                field="activity",
            )
        return
    for field in ("activity", "into"):
        number = getattr(entry, field, None)
        if number is not None and number not in activities:
            raise DataError(f"there is no activity {number!r}", field=field)
    if isinstance(entry, Merge):
        if final(entry.activity, activities) == final(entry.into, activities):
            raise DataError(f"activity {entry.activity} cannot be merged into itself", field="into")
    elif isinstance(entry, Correct):
        check_time(entry.since, "since")
        until = entry.time if entry.until is None else entry.until
        if not entry.since <= until:
            raise DataError("a correction must not end before it begins", field="since")


def final(activity: int, activities: Mapping[int, Activity]) -> int:
    """The activity that this one was merged into, or itself."""
    if activity not in activities:
        raise DataError(f"there is no activity {activity!r}", field="activity")
    while (into := activities[activity].merged_into) is not None:
        activity = into
    return activity
