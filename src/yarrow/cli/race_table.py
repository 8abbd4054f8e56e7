"""The table at the end of a comparison, in the width there is."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from yarrow.experiments.curve import error_of
from yarrow.experiments.recommend import interval, second_half

if TYPE_CHECKING:
    from yarrow.experiments import Comparison, Outcome


def width() -> int:
    """Of the terminal; 100 in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 100


def learner_table(comparison: Comparison) -> list[str]:
    """A line for the chosen setting of each learner, the lowest error of the second half first."""
    chosen = [o for o in comparison.outcomes if o.best and o.wrong is not None]
    chosen.sort(key=lambda o: error_of(second_half(o.wrong)))
    return _lines(comparison, chosen, "learner")


def setting_table(comparison: Comparison) -> list[str]:
    """A line for each setting, the lowest error over all rows first."""
    came = [o for o in comparison.outcomes if o.wrong is not None and o.failure is None]
    return _lines(comparison, sorted(came, key=lambda o: error_of(o.wrong)), "setting")


def failure_lines(comparison: Comparison) -> list[str]:
    """A sentence for each setting that failed."""
    return [f"{o.name} is out: {o.failure}" for o in comparison.outcomes if o.failure]


def _lines(comparison: Comparison, outcomes: list[Outcome], first: str) -> list[str]:
    regression = comparison.data["classes"] is None
    passes = max((len(o.pass_errors) for o in outcomes), default=1)
    unit = "" if regression else " %"
    header = [first, f"error{unit}", "2nd half (95 %)", "updates", "nonzeros", "seconds"]
    header[2:2] = [f"pass {number}" for number in range(2, passes + 1)]
    rows = [[_named(o), *_figures(o, comparison.seed, passes)] for o in outcomes]
    if width() < 100:
        place = header.index("updates")
        header.pop(place)
        for row in rows:
            row.pop(place)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    spare = width() - 1 - sum(widths[1:]) - 2 * len(widths[1:])
    widths[0] = max(12, min(widths[0], spare))
    return [_line(cells, widths) for cells in [header, *rows]]


def _figures(outcome: Outcome, seed: int, passes: int) -> list[str]:
    half: Any = second_half(outcome.wrong)
    low, high = interval(half, seed)
    regression = half.dtype != bool

    def show(error: float) -> str:
        return f"{error:.4g}" if regression else f"{100 * error:.2f}"

    later = [show(error) for error in outcome.pass_errors[1:]]
    return [
        show(error_of(outcome.wrong)),
        *later,
        *["-"] * (passes - 1 - len(later)),
        f"{show(error_of(half))} ({show(low)}-{show(high)})",
        f"{outcome.updates:,}" if outcome.family != "baseline" else "-",
        f"{outcome.nonzeros:,}" if outcome.family != "baseline" else "-",
        f"{outcome.seconds:.2f}",
    ]


def _named(outcome: Outcome) -> str:
    """`AROW r=0.1`: short, since the setting is what matters."""
    if outcome.family == "baseline":
        return outcome.name
    name = outcome.learner.replace("PassiveAggressive", "PA").removesuffix("Classifier")
    inside = outcome.name.partition("(")[2].removesuffix(")").replace("'", "").replace(", ", " ")
    return f"{name} {inside}".rstrip()


def _line(cells: list[str], widths: list[int]) -> str:
    first, *rest = cells
    shown = first if len(first) <= widths[0] else first[: widths[0] - 1] + "…"
    numbers = "".join(f"  {cell:>{w}}" for cell, w in zip(rest, widths[1:], strict=True))
    return f"{shown:<{widths[0]}}{numbers}"
