"""Which resources are open: the one place that says so, for all kinds of source.

Some sources tell when a resource is opened and closed. Others (ActivityWatch) tell only what is in
front. So it is decided for each resource by what was told about it:

- A resource with an `open` event is open until its `close` event. If neither it nor its close is
  seen for `FORGOTTEN_AFTER` seconds, the close was lost (a crash, a restart), and it is closed.
- Any other resource is open while it was seen within the last `OPEN_FOR` seconds, and is closed
  when it has not been seen since.
"""

from __future__ import annotations

from typing import Any

from yarrow.activity.log.events import Event

OPEN_FOR = 600.0
"""Seconds that a resource stays open after it was last seen, if nobody tells of its closing."""
FORGOTTEN_AFTER = 16 * 3600.0
"""Seconds after which a resource that was opened and not seen again counts as closed."""


class OpenResources:
    """The open resources and when each was last seen."""

    def __init__(self) -> None:
        # Two dicts in the order of the last sight, so that the oldest are found at once.
        self._told: dict[str, float] = {}
        self._seen: dict[str, float] = {}

    def tell(self, event: Event) -> int:
        """Take note of an event; return how many resources it closed."""
        resource = event.resource
        if not resource:
            return 0
        if event.kind == "close":
            was_open = self._told.pop(resource, None) is not None
            return int(self._seen.pop(resource, None) is not None or was_open)
        self.see(resource, event.time, opened=event.kind == "open")
        return 0

    def see(self, resource: str, time: float, *, opened: bool = False) -> None:
        """A resource is in use at this time."""
        if opened or resource in self._told:
            self._seen.pop(resource, None)
            self._told.pop(resource, None)  # to the end of the order
            self._told[resource] = time
        else:
            self._seen.pop(resource, None)
            self._seen[resource] = time

    def expire(self, time: float) -> int:
        """Close what was not seen for too long; return how many."""
        return _drop(self._seen, time - OPEN_FOR) + _drop(self._told, time - FORGOTTEN_AFTER)

    def names(self) -> list[str]:
        """The open resources."""
        return [*self._told, *self._seen]

    def used_since(self, time: float) -> int:
        """How many open resources were seen since this time."""
        used = 0
        for table in (self._told, self._seen):
            for last in reversed(table.values()):
                if last < time:
                    break
                used += 1
        return used

    def state_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"told": list(self._told.items()), "seen": list(self._seen.items())}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from plain data."""
        self._told = dict(state["told"])
        self._seen = dict(state["seen"])


def _drop(table: dict[str, float], before: float) -> int:
    gone = []
    for resource, last in table.items():
        if last >= before:
            break
        gone.append(resource)
    for resource in gone:
        del table[resource]
    return len(gone)
