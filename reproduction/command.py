"""What `yarrow reproduce` does: measures what was asked for, and says what came of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from reproduction import contents, engine, pages, specs
from reproduction.results import Measured, Results
from reproduction.spec import Reproduction
from yarrow.report.numbers import duration

_PLAIN_EVERY = 10.0  # seconds between lines where there is no terminal
_FAILURES_SHOWN = 5


def show_list() -> None:
    """Name all that can be measured, with its budget."""
    for name in specs.NAMES + specs.OTHERS:
        one = specs.named(name)
        about = [f"{name}: {one.title}", one.paper, one.budget]
        click.echo("\n  ".join(line for line in about if line))


def run(
    names: Sequence[str], *, output: Path, quiet: bool = False, reduced: bool = False, **how: Any
) -> bool:
    """Measure these, or all papers' if there are none, and write their pages; `how` as in `engine`.

    Returns whether anything failed.
    """
    chosen = [specs.named(name) for name in names or specs.NAMES]
    started = time.monotonic()
    failed = written = False
    for one in chosen:
        display = _Display(one.name, quiet)
        try:
            results = engine.reproduce(one, reduced=reduced, on_progress=display.show, **how)
        finally:
            display.close()
        if results.failures:
            failed = True
            _tell_failures(one.name, results)
            continue
        page = pages.write(one, results, output, reduced=reduced)
        written = True
        _tell(one, page)
    if written and not reduced:
        contents.write(output)
    if not names:
        click.echo(f"all: {duration(time.monotonic() - started)} by the clock")
    return failed


def _tell(one: Reproduction, page: Any) -> None:
    held = sum(claim.holds for claim in page.claims)
    click.echo(f"{one.name}: {held} of {len(page.claims)} claims hold; see {page.page}")
    for claim in page.claims:
        click.echo(f"  {'yes' if claim.holds else 'no':3}  {claim.sentence} {claim.measured}")


def _tell_failures(name: str, results: Results) -> None:
    failures = results.failures
    click.echo(
        f"{name}: {len(failures)} of {len(results)} cells failed; no page is written", err=True
    )
    for failure in failures[:_FAILURES_SHOWN]:
        click.echo(f"  {failure.failure}", err=True)
    if len(failures) > _FAILURES_SHOWN:
        click.echo(f"  and {len(failures) - _FAILURES_SHOWN} more", err=True)


class _Display:
    """A bar on a terminal, now and then a plain line elsewhere."""

    def __init__(self, name: str, quiet: bool) -> None:
        self.name, self.quiet = name, quiet
        self._bar: Any = None
        self._next_line = time.monotonic() + _PLAIN_EVERY

    def show(self, done: int, total: int, measured: Measured) -> None:
        """Show how many cells are done, and which was the last."""
        if self.quiet or measured.cached:
            return
        if sys.stderr.isatty():
            self._show_live(done, total, measured)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _PLAIN_EVERY
            click.echo(f"{self.name}: {done:,} of {total:,} cells, {measured.cell}", err=True)

    def _show_live(self, done: int, total: int, measured: Measured) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
            from rich.progress import TimeRemainingColumn as Left

            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                Left(),
                TextColumn("{task.fields[cell]}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._bar.add_task(self.name, total=total, cell="")
        self._bar.update(self._bar.task_ids[0], completed=done, cell=str(measured.cell))

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
