"""What the cells of the evidence say: who had the fewest mistakes, by how much, how sure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from reproduction.results import Measured
from yarrow.compare.comparison import unpacked
from yarrow.compare.holdout import first_half, second_half
from yarrow.data.arrays import Array
from yarrow.evaluate.curves import error_of
from yarrow.evaluate.paired import PairedComparison, paired_comparison
from yarrow.lazy import np

BASELINES = ("repeat the last label", "majority class so far")


@dataclasses.dataclass(frozen=True)
class Tried:
    """One setting of one learner on one set."""

    learner: str
    setting: str
    wrong: Array
    seconds: float

    @property
    def microseconds(self) -> float:
        """Processor time a row."""
        return 1e6 * self.seconds / len(self.wrong)


@dataclasses.dataclass(frozen=True)
class Field:
    """All settings of all learners on the rows of one set."""

    name: str
    rows: int
    columns: int
    classes: int
    values_per_row: float
    tried: dict[str, list[Tried]]
    """By the label of the learner; the two baselines among them."""
    failed: frozenset[tuple[str, str]]
    """Learners and settings whose weights overflowed."""

    @classmethod
    def of(cls, measured: Iterable[Measured]) -> Field:
        """Read the cells of one set."""
        tried: dict[str, list[Tried]] = {}
        failed = set()
        for one in measured:
            for found in one.outcome["settings"]:
                name = found["name"]
                learner = name if name in BASELINES else one.learner
                if found["failure"]:
                    failed.add((learner, name))
                elif name not in BASELINES or name not in tried:
                    made = Tried(learner, name, unpacked(found["wrong"]), found["seconds"])
                    tried.setdefault(learner, []).append(made)
        about = one.outcome
        return cls(
            one.data, about["rows"], about["columns"], about["classes"], about["values_per_row"],
            tried, frozenset(failed),
        )  # fmt: skip

    def of_learners(self, belongs: Callable[[str], bool]) -> list[Tried]:
        """All settings of some learners."""
        return [one for label, those in self.tried.items() if belongs(label) for one in those]

    def in_hindsight(self, belongs: Callable[[str], bool]) -> Tried:
        """The setting with the fewest mistakes."""
        return min(self.of_learners(belongs), key=lambda one: error_of(one.wrong))

    def foreseen(self, belongs: Callable[[str], bool]) -> Tried:
        """The setting with the fewest mistakes in the first half, judged on the second."""
        chosen = min(self.of_learners(belongs), key=lambda one: error_of(first_half(one.wrong)))
        return dataclasses.replace(chosen, wrong=second_half(chosen.wrong))


@dataclasses.dataclass(frozen=True)
class Stream:
    """One set: all settings on its first rows, the best of each library over all of them."""

    tried: Field
    whole: Field

    @property
    def name(self) -> str:
        """The set."""
        return self.tried.name

    @property
    def chosen_on(self) -> int:
        """How many rows a setting is chosen by: those it was tried on, at most half of the set."""
        return min(self.tried.rows, self.whole.rows // 2)

    def choice(self, belongs: Callable[[str], bool]) -> Tried:
        """The setting with the fewest mistakes on the first rows, of those that go on to the end.

        Where the weights of the best overflow later on, the next best takes its place.
        """
        tried = self.tried.of_learners(belongs) or self.whole.of_learners(belongs)
        lasting = [one for one in tried if (one.learner, one.setting) not in self.whole.failed]
        return min(lasting, key=lambda one: error_of(one.wrong[: self.chosen_on]))

    def in_hindsight(self, belongs: Callable[[str], bool]) -> Tried:
        """The setting with the fewest mistakes on the rows on which it was tried."""
        return self.tried.in_hindsight(belongs)

    def foreseen(self, belongs: Callable[[str], bool]) -> Tried:
        """The chosen setting on all rows that had no part in its choice."""
        chosen = self.choice(belongs)
        for one in self.whole.tried[chosen.learner]:
            if one.setting == chosen.setting:
                return dataclasses.replace(one, wrong=one.wrong[self.chosen_on :])
        raise LookupError(f"{chosen.learner}, {chosen.setting}, did not go over all of {self.name}")


def with_interval(found: PairedComparison) -> str:
    """A difference in percent, as `-0.31 (-0.52 to -0.10)`."""
    low, high = 100 * found.low, 100 * found.high
    return f"{100 * found.difference:+.2f} ({low:+.2f} to {high:+.2f})"


def compared(one: Tried, other: Tried) -> PairedComparison:
    """The difference of errors on the same rows, with its 95 % interval."""
    return paired_comparison(one.wrong, other.wrong)


def verdict(found: PairedComparison) -> int:
    """-1: the first errs less, beyond chance; 1: the second does; 0: nobody can tell."""
    return 0 if not found.differ else (-1 if found.difference < 0 else 1)


@dataclasses.dataclass(frozen=True)
class Change:
    """What a value of a parameter changes against the default, over sources of data."""

    factor: str
    value: str
    default: str
    by_source: dict[str, float]
    """The logarithm of the ratio of mistakes, averaged over the sets of a source."""

    @property
    def percent(self) -> float:
        """More mistakes, on average over the sources."""
        return 100 * float(np.expm1(np.mean(list(self.by_source.values()))))

    @property
    def wins(self) -> tuple[int, int]:
        """Sources where it has fewer mistakes, and more."""
        changes = list(self.by_source.values())
        return sum(c < 0 for c in changes), sum(c > 0 for c in changes)


def change(
    factor: str, value: str, default: str, mistakes: Iterable[tuple[str, int, int]]
) -> Change:
    """From the source, the mistakes with the value, and those with the default, of each set."""
    logs: dict[str, list[float]] = {}
    for source, with_value, with_default in mistakes:
        logs.setdefault(source, []).append(float(np.log((with_value + 1) / (with_default + 1))))
    means: dict[str, Any] = {source: float(np.mean(found)) for source, found in logs.items()}
    return Change(factor, value, default, means)
