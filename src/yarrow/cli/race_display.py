"""How a race stands: a live table on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from yarrow.cli.progress import counted

if TYPE_CHECKING:
    from yarrow.compare.race import Race

_LIVE_EVERY, _PLAIN_EVERY, _PATIENCE = 0.2, 10.0, 0.3
SHOWN = 8  # settings in the live table


class RaceDisplay:
    """Shows a race each time it is told about it, if enough time has passed."""

    def __init__(self, source: Any, passes: int, quiet: bool) -> None:
        self.source, self.passes, self.quiet = source, passes, quiet
        self.started = time.monotonic()
        self._next = self.started + _PATIENCE
        self._live: Any = None

    def __enter__(self) -> RaceDisplay:
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, race: Race) -> None:
        """Say how it stands."""
        now = time.monotonic()
        if self.quiet or now < self._next:
            return
        is_live = sys.stderr.isatty()
        self._next = now + (_LIVE_EVERY if is_live else _PLAIN_EVERY)
        if is_live:
            self._show_live(race)
        elif now - self.started >= _PLAIN_EVERY:
            click.echo(self._line(race), err=True)

    def _share(self, race: Race) -> float | None:
        share = self.source.share_read
        return None if share is None else (race.pass_number - 1 + share) / self.passes

    def _line(self, race: Race) -> str:
        share = self._share(race)
        done = "" if share is None else f"{100 * share:.0f} %, "
        leaders = [f"{name} {error}" for name, error, _ in standings(race)[:3]]
        return f"{done}{counted(race.rows, 'row')}: {', '.join(leaders)}"

    def _show_live(self, race: Race) -> None:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        if self._live is None:
            console = Console(stderr=True)
            self._live = Live(console=console, transient=True, auto_refresh=False)
            self._live.start()
        width = min(self._live.console.width, 100)
        seconds = time.monotonic() - self.started
        speed = f"{race.rows / max(seconds, 1e-9):,.0f} rows/s"
        which = f"pass {race.pass_number} of {self.passes}, " if self.passes > 1 else ""
        settings = counted(len(race.runs) - 2, "setting")
        head = f"{which}{counted(race.rows, 'row')}, {speed}, {settings}"
        table = Table(box=None, padding=(0, 2, 0, 0), width=width)
        table.add_column("best so far", ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column("error", justify="right")
        table.add_column("seconds", justify="right")
        for name, error, time_of in standings(race)[:SHOWN]:
            table.add_row(Text(name), error, f"{time_of:.1f}")
        share = self._share(race)
        bar = Table.grid()  # a line of its own, which a bar alone does not end
        if share is not None:
            bar.add_row(ProgressBar(1.0, share, width=width))
        self._live.update(Group(Text(head), bar, table), refresh=True)


def standings(race: Race) -> list[tuple[str, str, float]]:
    """Names, errors so far and seconds of those that are still in the race, the best first."""
    found = []
    for run in race.runs:
        o = run.outcome
        if o.failure is None and o.rows:
            lost = o.mistakes if race.classes is not None else o.squared_error
            found.append((lost / o.rows, o.name, o.seconds))
    found.sort()
    if race.classes is None:
        return [(name, f"{error**0.5:.4g}", seconds) for error, name, seconds in found]
    return [(name, f"{100 * error:.2f} %", seconds) for error, name, seconds in found]
