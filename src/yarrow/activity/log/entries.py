"""The entries of the log: what happens on the desktop, and what a person says about activities.

Activities have numbers, which stay, and names, which may change. Times are seconds since 1970 in
UTC. An entry is a row of the log's table; a row that is none is told, and never taken.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from yarrow.activity.log.plain import forms_of
from yarrow.activity.log.validation import check_time, whole
from yarrow.errors import DataError, did_you_mean

KINDS = (
    "open", "close", "save", "save_as", "focus", "selection", "copy", "paste", "navigate",
    "mail_read", "mail_send", "away", "back",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the desktop.

    Half a character in its texts becomes U+FFFD, since it could not be stored (`validation.whole`).

    >>> Event(1_700_000_000.0, "focus", "/home/ada/budget.ods", "budget.ods - Calc").kind
    'focus'
    >>> Event(1_700_000_000.0, "fokus")
    Traceback (most recent call last):
    yarrow.errors.DataError: field 'kind': there is no kind of event 'fokus' (did you mean focus?)
    """

    time: float
    kind: str
    resource: str = ""
    """A path, an address of a page, `mailto:...`, or nothing where a source knows only titles.
    A focus without resource and title says that something is in front that is nobody's business."""
    title: str = ""
    """Of the window."""
    application: str = ""
    duration: float = 0.0
    """How long it lasted, where the source tells; 0: until something else happens."""

    def __post_init__(self) -> None:
        check_time(self.time, "time")
        for name in ("kind", *EVENT_TEXTS):
            text = getattr(self, name)
            if not isinstance(text, str):
                raise DataError(f"must be text, not {text!r}", field=name)
            if text != (stored := whole(text)):
                object.__setattr__(self, name, stored)
        if self.kind not in _KNOWN:
            hint = did_you_mean(self.kind, KINDS)
            raise DataError(f"there is no kind of event {self.kind!r}{hint}", field="kind")
        if not isinstance(self.duration, int | float) or not 0 <= self.duration < math.inf:
            raise DataError(
                f"must be a number of seconds >= 0, not {self.duration!r}", field="duration"
            )


EVENT_FIELDS = tuple(field.name for field in dataclasses.fields(Event))
"""The columns of the log's table are called so too."""
_KNOWN = frozenset(KINDS)
EVENT_TEXTS = ("resource", "title", "application")


@dataclasses.dataclass(frozen=True, slots=True)
class _OfActivity:
    """What is said about an activity."""

    time: float
    activity: int


class Declare(_OfActivity):
    """From now on I work at this activity."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Correct(_OfActivity):
    """It has been this activity since then; also the answer to an alarm that was right.

    Without `until` it still is, and becomes the declared activity; with it only the past changes.
    """

    since: float
    until: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Confirm:
    """No, I am still at the declared activity; also the answer to an alarm that was wrong."""

    time: float


@dataclasses.dataclass(frozen=True, slots=True)
class Associate:
    """This resource belongs to this activity; without one, to none in particular any more."""

    time: float
    resource: str
    activity: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Create(_OfActivity):
    """A new activity; its number is the next one."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Rename(_OfActivity):
    """Another name for an activity."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Merge(_OfActivity):
    """Two activities are one: all that belongs to `activity` now belongs to `into`."""

    into: int


@dataclasses.dataclass(frozen=True, slots=True)
class Archive(_OfActivity):
    """An activity is over and is not recognised any more, or (`archived=False`) is not over."""

    archived: bool = True


Said = Declare | Correct | Confirm | Associate | Create | Rename | Merge | Archive
Entry = Event | Said


# -- rows of the table ---------------------------------------------------------------------------

_NAMED: dict[str, type[Any]] = {
    "declare": Declare,
    "correct": Correct,
    "confirm": Confirm,
    "associate": Associate,
    "create": Create,
    "rename": Rename,
    "merge": Merge,
    "archive": Archive,
}
"""What was said, by its name in the file: that stays, whatever a class is called."""
_NAMES = {cls: name for name, cls in _NAMED.items()}


def to_row(entry: Entry) -> tuple[Any, ...]:
    """Time, kind, resource, title, application, duration, and in JSON what else was said."""
    if isinstance(entry, Event):
        return (*(getattr(entry, name) for name in EVENT_FIELDS), None)
    record = dataclasses.asdict(entry)
    at, resource = record.pop("time"), whole(record.pop("resource", ""))
    return at, _NAMES[type(entry)], resource, "", "", 0.0, json.dumps(record)


def from_row(source: str, number: int, *row: Any) -> Entry:
    """The entry of a row, whatever a damaged file has there; an error names the entry."""
    *event, told = row
    at, kind, resource, *_ = event
    try:
        if told is None:
            return Event(*event)
        forms = forms_of(_NAMED[kind])
        fields = {name: forms[name].read(value) for name, value in json.loads(told).items()}
        if "resource" in forms:
            fields["resource"] = whole(resource)
        entry: Entry = _NAMED[kind](time=at, **fields)
        return entry
    except Exception as error:
        what = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        raise DataError(
            f"entry {number} is damaged, or was written by a later Yarrow ({what})", source=source
        ) from None
