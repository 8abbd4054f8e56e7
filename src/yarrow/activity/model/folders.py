"""Which folder is likely next, by the folders that an activity has used."""

from __future__ import annotations

from collections.abc import Mapping

from yarrow.activity.log.plain import Stateful

FADING = 0.9
"""What a use still counts when its activity has used one more folder."""
ELSEWHERE = 0.5
"""How many uses the folders of all activities together are worth beside an activity's own."""


class FolderUses(Stateful):
    """How often each activity used each folder, old uses counting less."""

    _uses: dict[int, dict[str, float]]

    def __init__(self) -> None:
        self._uses = {}

    def use(self, folder: str, activity: int, times: float = 1.0) -> None:
        """An activity uses a folder; a use that is taken back (`times=-1`) fades nothing."""
        uses = self._uses.setdefault(activity, {})
        if times > 0:
            for known in uses:
                uses[known] *= FADING
        uses[folder] = max(uses.get(folder, 0.0) + times, 0.0)
        if uses[folder] == 0:
            del uses[folder]

    def merge(self, activity: int, into: int) -> None:
        """Give the uses of an activity to another."""
        uses = self._uses.setdefault(into, {})
        for folder, times in self._uses.pop(activity, {}).items():
            uses[folder] = uses.get(folder, 0.0) + times

    def likely(self, beliefs: Mapping[int, float]) -> list[tuple[str, float]]:
        """Folders and their probabilities, likely ones first.

        `beliefs` are the probabilities of activities. An activity that has used few folders is
        helped by what all activities use.
        """
        everywhere: dict[str, float] = {}
        for uses in self._uses.values():
            for folder, times in uses.items():
                everywhere[folder] = everywhere.get(folder, 0.0) + times
        total = sum(everywhere.values())
        if total == 0:
            return []
        found = dict.fromkeys(everywhere, 0.0)
        for activity, belief in beliefs.items():
            uses = self._uses.get(activity, {})
            known = sum(uses.values()) + ELSEWHERE
            for folder, times in everywhere.items():
                own = uses.get(folder, 0.0)
                found[folder] += belief * (own + ELSEWHERE * times / total) / known
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))
