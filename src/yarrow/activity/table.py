"""Amounts by key and activity, kept sparse: most words and resources meet few activities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DENSE_FROM = 12
"""A row with so many activities is also kept as an array, which is then quicker to add up."""


class Row:
    """The amount of each activity at one key."""

    __slots__ = ("amounts", "dense", "total")

    def __init__(self) -> None:
        self.amounts: dict[int, float] = {}
        self.total = 0.0
        self.dense: NDArray[Any] | None = None
        """The amounts as an array, long enough for the activities met, if they are many."""

    def add(self, activity: int, amount: float, kind: type = float) -> None:
        """Add to the amount of an activity; amounts do not fall below zero."""
        old = self.amounts.get(activity, 0.0)
        new = old + amount
        if new < 0:
            new = 0.0
        self.amounts[activity] = new
        self.total += new - old
        dense = self.dense
        if dense is None:
            if len(self.amounts) < DENSE_FROM:
                return
            dense = self.dense = np.zeros(2 * max(self.amounts) + 1, kind)
            for known, known_amount in self.amounts.items():
                dense[known] = known_amount
        elif activity >= len(dense):
            dense = self.dense = np.concatenate((dense, np.zeros(activity + 1, kind)))
        dense[activity] = new

    def into(self, array: NDArray[Any]) -> None:
        """Write the amounts into an array of zeros, one for each activity."""
        if self.dense is None:
            for activity, amount in self.amounts.items():
                array[activity] = amount
        else:
            known = self.dense[: len(array)]
            array[: len(known)] = known


class Table:
    """A `Row` for each key; its amounts may be whole numbers."""

    def __init__(self, *, whole: bool = False) -> None:
        self._kind = int if whole else float
        self.rows: dict[str, Row] = {}

    def add(self, key: str, activity: int, amount: float) -> None:
        """Add to the amount of an activity at a key."""
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row()
        row.add(activity, amount, self._kind)

    def of(self, activity: int) -> Iterator[tuple[str, float]]:
        """Yield the keys that have an amount of this activity."""
        for key, row in self.rows.items():
            amount = row.amounts.get(activity, 0.0)
            if amount > 0:
                yield key, amount

    def merge(self, activity: int, into: int) -> None:
        """Move all amounts of an activity to another."""
        for key, amount in list(self.of(activity)):
            self.add(key, activity, -amount)
            self.add(key, into, amount)

    def state_dict(self) -> list[Any]:
        """Return plain data."""
        return [[key, row.total, list(row.amounts.items())] for key, row in self.rows.items()]

    def load_state_dict(self, state: Iterable[Any]) -> None:
        """Go on from plain data."""
        self.rows = {}
        for key, total, amounts in state:
            row = self.rows[key] = Row()
            for activity, amount in amounts:
                row.add(activity, amount, self._kind)
            row.total = total
