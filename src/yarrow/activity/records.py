"""Plain records of the recogniser."""

from __future__ import annotations

import dataclasses

from yarrow.activity.features import Features, Knowledge
from yarrow.activity.thoughts import Alarm


@dataclasses.dataclass(slots=True)
class Activity:
    """Something a person works at."""

    id: int
    name: str
    archived: bool = False
    merged_into: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Resource:
    """A resource of an activity."""

    resource: str
    title: str
    last_used: float
    seconds: float
    explicit: bool


@dataclasses.dataclass(slots=True)
class Question:
    """An alarm and the two vectors that raised it, until it is answered."""

    alarm: Alarm
    before: Features
    now: Features
    line: int
    """Of the diary, of the second vector."""


def resources_of(
    activity: int, knowledge: Knowledge, titles: dict[str, tuple[str, float]]
) -> list[Resource]:
    """The resources of an activity, the last used first; `titles` tells title and last use."""
    explicit = {r for r, owner in knowledge.explicit.items() if owner == activity}
    spent = dict(knowledge.seconds.of(activity))
    found = []
    for resource in explicit | spent.keys():
        if knowledge.explicit.get(resource, activity) == activity:
            title, used = titles.get(resource, ("", 0.0))
            seconds = spent.get(resource, 0.0)
            found.append(Resource(resource, title, used, seconds, resource in explicit))
    return sorted(found, key=lambda one: (-one.last_used, one.resource))
