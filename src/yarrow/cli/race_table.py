"""What a comparison prints: its data, a table in the width there is, and what failed."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from yarrow.cli.progress import counted
from yarrow.compare.curve import error_of
from yarrow.compare.holdout import judged
from yarrow.report import comparison_queries as queries
from yarrow.report.numbers import duration
from yarrow.report.tables import Cell, Table

if TYPE_CHECKING:
    from yarrow.compare import Comparison, Outcome


def width() -> int:
    """Of the terminal; 100 in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 100


def about(comparison: Comparison) -> str:
    """One line about the data and the race."""
    data = comparison.data
    n = sum(o.family != "baseline" for o in comparison.outcomes)
    k = data["classes"] and len(data["classes"])
    classes = f"{k:,} {'class' if k == 1 else 'classes'}" if k else "a regression"
    return (
        f"{data['name']}: {counted(data['rows'], 'row')}, {counted(data['features'], 'feature')}, "
        f"{classes}; {counted(n, 'setting')} in {comparison.seconds:.2f} s"
    )


def learner_table(comparison: Comparison) -> str:
    """A line for the chosen setting of each learner, the lowest error of the second half first."""
    return _table(comparison, queries.contenders(comparison), "learner")


def setting_table(comparison: Comparison) -> str:
    """A line for each setting, the lowest error over all rows first."""
    came = [o for o in comparison.outcomes if o.wrong is not None and o.failure is None]
    return _table(comparison, sorted(came, key=lambda o: error_of(o.wrong)), "setting")


def failures(comparison: Comparison) -> list[str]:
    """A sentence for each setting that failed."""
    return [f"{o.name} is out: {o.failure}" for o in comparison.outcomes if o.failure]


def _table(comparison: Comparison, outcomes: list[Outcome], first: str) -> str:
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
    cells = [[Cell(name), *(Cell(text, 0) for text in figures)] for name, *figures in rows]
    return Table(header, cells).text(width() - 1)


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
