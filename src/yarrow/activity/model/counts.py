"""Amounts by name and activity, kept sparse: most words and resources meet few activities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from yarrow import _core


class Counts:
    """An amount for each name and activity; `amounts` of the core adds up what many names say.

    Counts are whole numbers, and seconds since 1970 are multiples of 2^-22, as exact as doubles of
    that size are. So sums are exact: what is taken back leaves nothing, after months too.
    """

    def __init__(self) -> None:
        self.amounts = _core.Amounts()

    def of(self, activity: int) -> Iterator[tuple[str, float]]:
        """Yield the names that have an amount of this activity, and it."""
        for name in self.amounts.rows:
            if (amount := self.amounts.at(name, activity)) > 0:
                yield name, amount

    def state_dict(self) -> list[Any]:
        """Return plain data."""
        return [[name, self.amounts.entries(name)] for name in self.amounts.rows]

    def load_state_dict(self, state: Iterable[Any]) -> None:
        """Go on from plain data."""
        self.amounts = _core.Amounts()
        for name, amounts in state:
            self.amounts.add(name, 0, 0)  # names stay in their order, those without an amount too
            for activity, amount in amounts:
                self.amounts.add(name, activity, amount)
