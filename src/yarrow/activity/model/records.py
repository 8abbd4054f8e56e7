"""Plain records of the recogniser."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from yarrow.activity.model.explain import Alarm
from yarrow.activity.model.features import Features


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
    activity: int,
    spent: Mapping[str, float],
    owners: Mapping[str, int],
    titles: Mapping[str, tuple[str, float]],
) -> list[Resource]:
    """The resources of an activity, the last used first.

    `spent` are its seconds at each, `owners` what a person gave away; `titles` tells title and last
    use.
    """
    explicit = {resource for resource, owner in owners.items() if owner == activity}
    found = []
    for resource in explicit | spent.keys():
        if owners.get(resource, activity) == activity:
            title, used = titles.get(resource, ("", 0.0))
            seconds = spent.get(resource, 0.0)
            found.append(Resource(resource, title, used, seconds, resource in explicit))
    return sorted(found, key=lambda one: (-one.last_used, one.resource))
