"""Amounts by key and activity, kept sparse: most words and resources meet few activities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from yarrow import _core


class Table:
    """An amount for each key and activity; what many keys say is summed up by the core.

    Counts are whole numbers, and seconds since 1970 are multiples of 2^-22, as exact as doubles of
    that size are. So sums are exact: what is taken back leaves nothing, after months too.
    """

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        """The row of each key in"""
        self.amounts = _core.Amounts()
        """these, which have a column for each activity."""

    def add(self, key: str, amount: float, activity: int) -> None:
        """Add to the amount of an activity at a key; amounts do not fall below zero."""
        self.amounts.add(self.rows.setdefault(key, len(self.rows)), activity, amount)

    def add_all(self, keys: Iterable[str], amount: float, activity: int) -> None:
        """Add the same to the amounts of an activity at some keys."""
        rows = self.rows
        self.amounts.add_all([rows.setdefault(key, len(rows)) for key in keys], activity, amount)

    def total(self, key: str) -> float:
        """The amount of all activities."""
        return self.amounts.total(self.rows[key]) if key in self.rows else 0.0

    def at(self, key: str, activity: int) -> float:
        """The amount of one activity."""
        return self.amounts.at(self.rows[key], activity) if key in self.rows else 0.0

    def of(self, activity: int) -> Iterator[tuple[str, float]]:
        """Yield the keys that have an amount of this activity."""
        for key, row in self.rows.items():
            if (amount := self.amounts.at(row, activity)) > 0:
                yield key, amount

    def merge(self, activity: int, into: int) -> None:
        """Move all amounts of an activity to another."""
        self.amounts.merge(activity, into)

    def state_dict(self) -> list[Any]:
        """Return plain data."""
        return [[key, self.amounts.entries(row)] for key, row in self.rows.items()]

    def load_state_dict(self, state: Iterable[Any]) -> None:
        """Go on from plain data."""
        self.rows, self.amounts = {}, _core.Amounts()
        for key, amounts in state:
            self.add(key, 0.0, 0)  # keys stay in their order, those without an amount too
            for activity, amount in amounts:
                self.add(key, amount, activity)
