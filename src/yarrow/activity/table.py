"""Amounts by key and activity, kept sparse: most words and resources meet few activities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DENSE_FROM = 6
"""A row with so many activities is also kept as an array, which is then quicker to add up."""


class Row:
    """The amount of each activity at one key."""

    __slots__ = ("amounts", "dense", "total")

    def __init__(self) -> None:
        self.amounts: dict[int, float] = {}
        self.total = 0.0
        self.dense: NDArray[Any] | None = None
        """The amounts as an array, long enough for the activities met, if they are many."""

    def make_dense(self, kind: type) -> None:
        """Keep the amounts as an array too."""
        self.dense = np.zeros(2 * max(self.amounts) + 1, kind)
        for activity, amount in self.amounts.items():
            self.dense[activity] = amount

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

    def add(self, items: Iterable[tuple[str, float]], activity: int) -> None:
        """Add to the amounts of an activity at some keys; amounts do not fall below zero."""
        for key, amount in items:
            row = self.rows.get(key)
            if row is None:
                row = self.rows[key] = Row()
            amounts = row.amounts
            old = amounts.get(activity, 0.0)
            new = old + amount if old + amount > 0 else 0.0
            amounts[activity] = new
            row.total += new - old
            dense = row.dense
            if dense is not None and activity < len(dense):
                dense[activity] = new
            elif len(amounts) >= DENSE_FROM:
                row.make_dense(self._kind)

    def of(self, activity: int) -> Iterator[tuple[str, float]]:
        """Yield the keys that have an amount of this activity."""
        for key, row in self.rows.items():
            amount = row.amounts.get(activity, 0.0)
            if amount > 0:
                yield key, amount

    def merge(self, activity: int, into: int) -> None:
        """Move all amounts of an activity to another."""
        moved = list(self.of(activity))
        self.add([(key, -amount) for key, amount in moved], activity)
        self.add(moved, into)

    def state_dict(self) -> list[Any]:
        """Return plain data."""
        return [[key, row.total, list(row.amounts.items())] for key, row in self.rows.items()]

    def load_state_dict(self, state: Iterable[Any]) -> None:
        """Go on from plain data."""
        self.rows = {}
        for key, total, amounts in state:
            row = self.rows[key] = Row()
            row.amounts = dict(amounts)
            row.total = total
            if len(row.amounts) >= DENSE_FROM:
                row.make_dense(self._kind)
