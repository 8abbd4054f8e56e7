"""What a reproduction is: data, learners, noise and seeds under a protocol, all plain data."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from yarrow.errors import ParameterError

if TYPE_CHECKING:
    from reproduction.findings import Finding
    from reproduction.results import Results


@dataclasses.dataclass(frozen=True)
class Data:
    """Rows to learn: a set of `yarrow.datasets`, or a part of it."""

    label: str
    """What the pages call it."""
    name: str
    """The name of a set for `yarrow.datasets.load`."""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Options of that set."""
    classes: tuple[Any, ...] = ()
    """Take only rows of these classes; none given: all rows."""
    against_rest: Any = None
    """Tell this class from all others."""
    rows: int | None = None
    """Take at most so many rows, drawn at random."""
    per_class: int | None = None
    """Take at most so many rows of each class, drawn at random."""
    drawn: bool = False
    """A generator, which makes other rows for each seed."""


@dataclasses.dataclass(frozen=True)
class Learner:
    """A learner with fixed parameters and a grid of those that are tuned."""

    label: str
    """What the pages call it."""
    estimator: str
    """The name of a class in `yarrow`, `yarrow.kernel` or their like, or of a function in
    `reproduction.candidates` or `peers`."""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)

    def settings(self) -> list[dict[str, Any]]:
        """All combinations of the grid, each a dict; one empty dict without a grid.

        >>> Learner("PA", "PassiveAggressiveClassifier", grid={"C": (0.1, 1.0)}).settings()
        [{'C': 0.1}, {'C': 1.0}]
        """
        values = itertools.product(*self.grid.values())
        return [dict(zip(self.grid, chosen, strict=True)) for chosen in values]

    def make(self, setting: Mapping[str, Any]) -> Any:
        """Return a fresh model."""
        import yarrow
        from reproduction import candidates, peers, regression_peers
        from yarrow import bandit, experts, feedback, kernel

        for place in (
            yarrow,
            kernel,
            bandit,
            experts,
            feedback,
            candidates,
            peers,
            regression_peers,
        ):
            if hasattr(place, self.estimator):
                return getattr(place, self.estimator)(**{**self.parameters, **setting})
        raise ParameterError(f"There is no learner {self.estimator!r}.")


@dataclasses.dataclass(frozen=True)
class Cell:
    """The smallest piece of work: one learner on one set of data with one seed."""

    protocol: str
    data: Data
    learner: Learner
    noise: float
    seed: int
    options: Mapping[str, Any]
    """Options of the protocol."""

    def key(self, stamp: str) -> str:
        """Name the content of the cell: it changes with whatever may change the result.

        Labels are words for people and play no part.
        """
        content = dataclasses.asdict(self)
        del content["data"]["label"], content["learner"]["label"]
        text = json.dumps([stamp, content], sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def __str__(self) -> str:
        noise = f", noise {self.noise:g}" if self.noise else ""
        return (
            f"{self.protocol}: {self.learner.label} on {self.data.label}{noise}, seed {self.seed}"
        )


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is no plain data and cannot be part of a specification")


@dataclasses.dataclass(frozen=True)
class Study:
    """Every learner on every set of data, with every noise and every seed, by one protocol."""

    protocol: str
    data: tuple[Data, ...]
    learners: tuple[Learner, ...]
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    noise: tuple[float, ...] = (0.0,)
    seeds: int = 1

    def cells(self) -> Iterator[Cell]:
        """Yield the cells, those on the same data together."""
        for data, noise, seed, learner in itertools.product(
            self.data, self.noise, range(self.seeds), self.learners
        ):
            yield Cell(self.protocol, data, learner, noise, seed, self.options)


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """A part of a paper to be measured again, at full size and at a reduced one for tests."""

    name: str
    title: str
    paper: str
    protocol: str
    """How it was done here, for the page: a few sentences."""
    full: tuple[Study, ...]
    reduced: tuple[Study, ...]
    budget: str
    """The work at full size, written down before it was run."""
    findings: Callable[[Results], list[Finding]]
    """What the page shows: tables and figures as plain data, and claims that hold or do not."""
    further: Callable[[Results], tuple[Study, ...]] | None = None
    """Studies that can be named only when the others are done, as one of the settings chosen."""
    differences: str = ""
    """Where paper and measurement differ, and why; written by a person who saw the full run."""

    def cells(self, *, reduced: bool = False) -> list[Cell]:
        """Return all cells of one size, each once."""
        return _each_once(self.reduced if reduced else self.full)

    def further_cells(self, results: Results) -> list[Cell]:
        """Return the cells that follow from what was measured and were not measured yet."""
        if self.further is None:
            return []
        measured = {one.cell.key("") for one in results}
        return [one for one in _each_once(self.further(results)) if one.key("") not in measured]


def _each_once(studies: Iterable[Study]) -> list[Cell]:
    found = {cell.key(""): cell for study in studies for cell in study.cells()}
    return list(found.values())
