"""What of a loop's numbers adds up over parts, and how the sums become numbers of a loop again.

Each of these reads planes of a saved state, `slots x columns` numbers in double, as sums (`read`):
of two parts that learned apart from a common base, sums minus the base's add. `finish` makes planes
of the base's sums and what was added.

mixing       weights times how often the column moved: one division gives their mean (iterative
             parameter mixing: McDonald, Hall & Mann 2010)
gaussian     precision, and precision times mean: the product of Gaussians, the prior counted once
sums         gradients (and squares of them) as dual averaging keeps them: exact
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from yarrow.lazy import np

Sums = dict[str, Any]
#: sums that change their sign in the mirror column of a class
SIGNED = ("weight", "past", "evidence", "gradient")


@dataclasses.dataclass(frozen=True)
class State:
    """What a loop reads: a saved state, and whether it averages."""

    arrays: Mapping[str, Any]
    average: bool

    def plane(self, number: int) -> Any:
        """One plane, in double."""
        return np.asarray(self.arrays["blocks"], dtype=np.float64)[:, number, :]

    def column(self, name: str) -> Any:
        """A number a column."""
        return np.asarray(self.arrays[name])

    @property
    def t(self) -> float:
        """Rows learned."""
        return float(np.asarray(self.arrays["scalars"])[0])


@dataclasses.dataclass(frozen=True)
class LoopSums:
    """How one kind of loop is read and written. `mixed`: its weights are a mean, not a sum."""

    read: Callable[[State], Sums]
    #: planes of these sums, with t rows; `average`: the last plane too
    write: Callable[[Sums, float, bool], list[Any]]
    mixed: bool = False


def _read_affine(state: State) -> Sums:
    stored, found = state.plane(0), {}
    found["weight"] = state.column("scale") * stored
    if state.average:  # of all past weights
        found["past"] = state.column("scale_sum") * stored - state.plane(1)
    return found


def _write_affine(sums: Sums, t: float, average: bool) -> list[Any]:
    return [sums["weight"], *([-sums["past"]] if average else [])]


def _read_gaussian(state: State) -> Sums:
    mean, precision = state.plane(0), 1 / state.plane(1)
    found = {"precision": precision, "evidence": precision * mean}
    if state.average:
        found["past"] = state.t * mean - state.plane(2)
    return found


def _write_gaussian(sums: Sums, t: float, average: bool) -> list[Any]:
    mean = sums["evidence"] / sums["precision"]
    return [mean, 1 / sums["precision"], *([t * mean - sums["past"]] if average else [])]


def _read_whitened(state: State) -> Sums:
    return {"gradient": state.plane(0), "precision": 1 / state.plane(1)}


def _write_whitened(sums: Sums, t: float, average: bool) -> list[Any]:
    return [sums["gradient"], 1 / sums["precision"]]


def _read_dual(state: State) -> Sums:
    return {"gradient": state.plane(0)}


def _write_dual(sums: Sums, t: float, average: bool) -> list[Any]:
    return [sums["gradient"]]


def _read_adaptive(state: State) -> Sums:
    return {"gradient": state.plane(0), "squares": np.square(state.plane(1))}


def _write_adaptive(sums: Sums, t: float, average: bool) -> list[Any]:
    return [sums["gradient"], np.sqrt(sums["squares"])]


_AFFINE = LoopSums(_read_affine, _write_affine, mixed=True)
_GAUSSIAN = LoopSums(_read_gaussian, _write_gaussian)
_ADAPTIVE = LoopSums(_read_adaptive, _write_adaptive)

LOOPS = {
    "affine": _AFFINE,
    "diagonal": _GAUSSIAN,
    "projected": _GAUSSIAN,
    "herded": _GAUSSIAN,
    "whitened": LoopSums(_read_whitened, _write_whitened),
    "dual_averaging": LoopSums(_read_dual, _write_dual),
    "adagrad_dual": _ADAPTIVE,
    "ftrl_proximal": _ADAPTIVE,
}
#: rules whose memory is no count that adds up
KEEPING = ("norma_nu", "one_class")
