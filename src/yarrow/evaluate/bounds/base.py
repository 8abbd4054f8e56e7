"""What a bound says: the number, what was measured, and whether the theorem may speak at all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from yarrow.data.arrays import Array
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate.recorded_run import Learn, Run
from yarrow.lazy import np


@dataclasses.dataclass(frozen=True)
class Assumption:
    """One thing that a theorem asks for, and whether the run gives it."""

    text: str
    holds: bool
    found: str = ""  # what was seen instead

    def __str__(self) -> str:
        return self.text if self.holds or not self.found else f"{self.text}: {self.found}"


@dataclasses.dataclass(frozen=True)
class Bound:
    """A theorem, applied to a run. Without its assumptions it promises nothing: infinity."""

    theorem: str
    statement: str
    quantity: str  # what is bounded: mistakes, regret...
    measured: float
    promised: float  # by the formula, whether or not its assumptions hold
    trivial: float  # what is true without any theorem
    assumptions: tuple[Assumption, ...]
    parts: Mapping[str, float]  # the numbers in the formula
    comparator: Array | None = dataclasses.field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("measured", "promised", "trivial"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def applies(self) -> bool:
        """Whether all assumptions hold."""
        return all(a.holds for a in self.assumptions)

    @property
    def value(self) -> float:
        """The bound."""
        return self.promised if self.applies and np.isfinite(self.promised) else float("inf")

    @property
    def slack(self) -> float:
        """How much more the bound allows than was measured."""
        return self.value - self.measured

    @property
    def holds(self) -> bool:
        """Whether the measured quantity keeps to the bound, up to rounding."""
        return self.measured <= self.value + 1e-6 * (1 + abs(self.value))

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound says no more than what is true anyway."""
        return not self.value < self.trivial


def mistakes_of(run: Run) -> Run:
    """The run, if it is one that can make mistakes."""
    if run.task == "regression":
        raise ParameterError("This bound counts mistakes: it is about classification.")
    return run


def follows(run: Run, learn: Learn, what: str) -> Assumption:
    """Whether the run's margins are those of the textbook method."""
    away = ~(run.replay(learn) <= run.tolerance)
    return Assumption(what, not away.any(), f"violated at row {int(np.argmax(away))}")


def every(text: str, holds: Any, rows: Sequence[int] | Array | None = None) -> Assumption:
    """An assumption about rows, naming the first that breaks it."""
    flags = np.atleast_1d(np.asarray(holds, dtype=bool))
    if flags.all():
        return Assumption(text, True)
    place = int(np.argmin(flags))
    return Assumption(text, False, f"violated at row {place if rows is None else int(rows[place])}")


def sequence(u: Any, run: Run) -> Array:
    """A comparator as one vector, or as one before each row and one after the last."""
    array = np.asarray(u, dtype=float)
    if array.shape not in ((run.n_weights,), (run.n_rows + 1, run.n_weights)):
        raise DataError(
            f"The comparator has the shape {array.shape}; it must be ({run.n_weights},) or, if it "
            f"moves, ({run.n_rows + 1}, {run.n_weights})."
        )
    return array


def fixed(u: Any, run: Run) -> Array:
    """A comparator that does not move."""
    array = sequence(u, run)
    if array.ndim != 1:
        raise DataError("This theorem compares with one fixed vector.")
    return array


def solved(u: Any, run: Run, solve: Callable[[], Array]) -> Array:
    """A comparator that does not move: the one given, or what a batch solver finds."""
    return solve() if u is None else fixed(u, run)


def agreements(u: Array, run: Run) -> Array:
    """z_t . u_t for each row."""
    z = run.signed_rows
    if u.ndim == 1:
        return np.asarray(z @ u)
    return np.asarray(z.multiply(u[:-1]).sum(axis=1)).ravel()
