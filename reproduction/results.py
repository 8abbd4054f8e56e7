"""What came out of the cells of a reproduction, as plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from reproduction.spec import Cell
from yarrow.lazy import np


@dataclasses.dataclass(frozen=True)
class Measured:
    """A cell and what its protocol returned; or the sentence that says why it failed."""

    cell: Cell
    outcome: dict[str, Any]
    seconds: float
    failure: str | None = None
    cached: bool = False

    @property
    def learner(self) -> str:
        """The learner's label."""
        return self.cell.learner.label

    @property
    def data(self) -> str:
        """The data's label."""
        return self.cell.data.label


@dataclasses.dataclass(frozen=True)
class Results:
    """All measured cells of one reproduction."""

    measured: tuple[Measured, ...]

    def __iter__(self) -> Iterator[Measured]:
        return iter(self.measured)

    def __len__(self) -> int:
        return len(self.measured)

    @property
    def failures(self) -> list[Measured]:
        """The cells that failed."""
        return [one for one in self if one.failure is not None]

    @property
    def seconds(self) -> float:
        """Processor time of all cells, whenever they were run."""
        return sum(one.seconds for one in self)

    def where(self, **wanted: Any) -> Results:
        """Return the cells with this data, learner (labels), noise, seed or protocol."""
        return Results(
            tuple(
                one
                for one in self
                if all(self._of(one, field) == value for field, value in wanted.items())
            )
        )

    @staticmethod
    def _of(one: Measured, field: str) -> Any:
        return getattr(one, field) if field in ("data", "learner") else getattr(one.cell, field)

    def each(self, field: str) -> list[Any]:
        """Return the values of a field (as in `where`) in the order of their appearance."""
        return list(dict.fromkeys(self._of(one, field) for one in self))

    def values(self, measure: str | Callable[[dict[str, Any]], Any]) -> list[Any]:
        """Return one number of each outcome: a name in it, or a function of it."""
        if isinstance(measure, str):
            return [one.outcome[measure] for one in self]
        return [measure(one.outcome) for one in self]

    def mean(self, measure: str | Callable[[dict[str, Any]], Any]) -> float:
        """Return the mean of one number over these cells."""
        return float(np.mean(self.values(measure)))

    def deviation(self, measure: str | Callable[[dict[str, Any]], Any]) -> float:
        """Return the standard deviation of one number over these cells."""
        values = self.values(measure)
        return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

    def mean_curve(self, measure: str) -> list[float]:
        """Return the mean of a list of numbers, place by place, over these cells."""
        curve: list[float] = np.mean(np.asarray(self.values(measure), float), axis=0).tolist()
        return curve


def mean_ranks(errors: Iterable[Iterable[float]]) -> list[float]:
    """Return the mean rank of each column, the lowest error ranked 1; equal ones share a rank.

    >>> mean_ranks([[0.1, 0.2, 0.3], [0.1, 0.1, 0.0]])
    [1.75, 2.25, 2.0]
    """
    ranks: list[float] = np.mean(ranks_by_row(errors), axis=0).tolist()
    return ranks


def ranks_by_row(errors: Iterable[Iterable[float]]) -> list[list[float]]:
    """Return the rank of each column in each row, as `mean_ranks` counts them."""
    from scipy.stats import rankdata

    ranks: list[list[float]] = rankdata(np.array([list(row) for row in errors]), axis=1).tolist()
    return ranks
