"""What a person says about activities: as much a part of the log as what happens.

Activities have numbers, which stay, and names, which may change. Times are seconds since 1970 in
UTC.
"""

from __future__ import annotations

import dataclasses

from yarrow.activity.log.events import Event


@dataclasses.dataclass(frozen=True, slots=True)
class Declare:
    """From now on I work at this activity."""

    time: float
    activity: int


@dataclasses.dataclass(frozen=True, slots=True)
class Correct:
    """It has been this activity since then; also the answer to an alarm that was right.

    Without `until` it still is, and becomes the declared activity; with it only the past changes.
    """

    time: float
    activity: int
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
class Create:
    """A new activity; its number is the next one."""

    time: float
    activity: int
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Rename:
    """Another name for an activity."""

    time: float
    activity: int
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Merge:
    """Two activities are one: all that belongs to `activity` now belongs to `into`."""

    time: float
    activity: int
    into: int


@dataclasses.dataclass(frozen=True, slots=True)
class Archive:
    """An activity is over and is not recognised any more, or (`archived=False`) is not over."""

    time: float
    activity: int
    archived: bool = True


Said = Declare | Correct | Confirm | Associate | Create | Rename | Merge | Archive
Entry = Event | Said
