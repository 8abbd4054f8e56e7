"""The table at the end of a comparison, in the width there is."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from yarrow.compare.curve import error_of
from yarrow.compare.holdout import judged
from yarrow.report import comparison_queries as queries
from yarrow.report.numbers import duration

if TYPE_CHECKING:
    from yarrow.compare import Comparison, Outcome


def width() -> int:
    """Of the terminal; 100 in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 100


def learner_table(comparison: Comparison) -> list[str]:
    """A line for the chosen setting of each learner, the lowest error of the second half first."""
    return _lines(comparison, queries.contenders(comparison), "learner")


def setting_table(comparison: Comparison) -> list[str]:
    """A line for each setting, the lowest error over all rows first."""
    came = [o for o in comparison.outcomes if o.wrong is not None and o.failure is None]
    return _lines(comparison, sorted(came, key=lambda o: error_of(o.wrong)), "setting")


def failure_lines(comparison: Comparison) -> list[str]:
    """A sentence for each setting that failed."""
    return [f"{o.name} is out: {o.failure}" for o in comparison.outcomes if o.failure]


def _lines(comparison: Comparison, outcomes: list[Outcome], first: str) -> list[str]:
    regression = queries.is_regression(comparison)
    passes = max((len(o.pass_errors) for o in outcomes), default=1)
    word, unit = queries.error_word(regression), "" if regression else " %"
    header = [first, f"{word}{unit}", f"2nd half{unit} (95 %)", "updates", "nonzeros", "time"]
    header[2:2] = [f"pass {number}" for number in range(2, passes + 1)]
    rows = [[_named(o), *_figures(o, comparison.seed, passes)] for o in outcomes]
    if not any("(" in row[-4] for row in rows):
        header[-4] = f"2nd half{unit}"  # too few rows for an interval
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
    regression = outcome.wrong.dtype != bool
    found = outcome.judged or judged(outcome.wrong, seed)

    def show(error: float | None) -> str:
        if error is None:
            return ""
        return f"{error:.4g}" if regression else f"{100 * error:.2f}"

    later = [show(error) for error in outcome.pass_errors[1:]]
    ends = f" ({show(found['low'])}-{show(found['high'])})" if found["low"] is not None else ""
    learns = not queries.is_baseline(outcome)
    return [
        show(error_of(outcome.wrong)),
        *later,
        *["-"] * (passes - 1 - len(later)),
        show(found["error"]) + ends,
        f"{outcome.updates:,}" if learns else "-",
        f"{outcome.nonzeros:,}" if learns else "-",
        duration(outcome.seconds) if learns else "-",
    ]


def _named(outcome: Outcome) -> str:
    """`AROW r=0.1`: short, since the setting is what matters."""
    name = queries.short_name(outcome.learner)
    return name if queries.is_baseline(outcome) else f"{name} {queries.settings(outcome)}"


def _line(cells: list[str], widths: list[int]) -> str:
    first, *rest = cells
    shown = first if len(first) <= widths[0] else first[: widths[0] - 1] + "…"
    numbers = "".join(f"  {cell:>{w}}" for cell, w in zip(rest, widths[1:], strict=True))
    return f"{shown:<{widths[0]}}{numbers}"
