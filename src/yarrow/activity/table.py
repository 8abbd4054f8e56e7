"""Amounts by key and activity, kept sparse: a word or a resource meets few activities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Row:
    """The activities of one key and the amount of each, in arrays that grow."""

    __slots__ = ("_activities", "_amounts", "_places", "total")

    def __init__(self) -> None:
        self.total = 0.0
        self._places: dict[int, int] = {}
        self._activities = np.zeros(2, np.intp)
        self._amounts = np.zeros(2)

    def add(self, activity: int, amount: float) -> None:
        """Add to the amount of an activity; amounts do not fall below zero."""
        place = self._places.get(activity)
        if place is None:
            place = self._places[activity] = len(self._places)
            if place == len(self._amounts):
                self._activities = np.concatenate((self._activities, np.zeros(place, np.intp)))
                self._amounts = np.concatenate((self._amounts, np.zeros(place)))
            self._activities[place] = activity
        old = float(self._amounts[place])
        new = max(old + amount, 0.0)
        self._amounts[place] = new
        self.total += new - old

    def amount(self, activity: int) -> float:
        """The amount of an activity."""
        place = self._places.get(activity)
        return 0.0 if place is None else float(self._amounts[place])

    @property
    def activities(self) -> NDArray[np.intp]:
        """The activities that were ever added to, each once."""
        return self._activities[: len(self._places)]

    @property
    def amounts(self) -> NDArray[np.float64]:
        """The amount of each of them."""
        return self._amounts[: len(self._places)]


class Table:
    """A `Row` for each key."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def add(self, key: str, activity: int, amount: float) -> None:
        """Add to the amount of an activity at a key."""
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row()
        row.add(activity, amount)

    def amount(self, key: str, activity: int) -> float:
        """The amount of an activity at a key."""
        row = self.rows.get(key)
        return 0.0 if row is None else row.amount(activity)

    def total(self, key: str) -> float:
        """The amounts of all activities at a key."""
        row = self.rows.get(key)
        return 0.0 if row is None else row.total

    def of(self, activity: int) -> Iterator[tuple[str, float]]:
        """Yield the keys that have an amount of this activity."""
        for key, row in self.rows.items():
            amount = row.amount(activity)
            if amount > 0:
                yield key, amount

    def merge(self, activity: int, into: int) -> None:
        """Move all amounts of an activity to another."""
        for key, amount in list(self.of(activity)):
            self.add(key, activity, -amount)
            self.add(key, into, amount)

    def state_dict(self) -> list[Any]:
        """Return plain data."""
        return [
            [key, row.total, row.activities.tolist(), row.amounts.tolist()]
            for key, row in self.rows.items()
        ]

    def load_state_dict(self, state: Iterable[Any]) -> None:
        """Go on from plain data."""
        self.rows = {}
        for key, total, activities, amounts in state:
            row = self.rows[key] = Row()
            for activity, amount in zip(activities, amounts, strict=True):
                row.add(activity, amount)
            row.total = total
