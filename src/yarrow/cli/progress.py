"""How far a stream or a race is: live on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import click

from yarrow.errors import counted

if TYPE_CHECKING:
    from yarrow.compare.race import Race
    from yarrow.online.ledger import Progress

_PATIENCE = 0.5  # seconds before anything is shown; most work is done by then
_PLAIN_EVERY = 10.0
_MOST_SETTINGS = 8  # in the live table of a race


def error_words(judged: int, mistakes: float, squared_error: float, wrong: str) -> str:
    """The error of some rows, each predicted before it was learned; `wrong` is its name."""
    if wrong == "RMSE":
        return f"RMSE {(squared_error / max(1, judged)) ** 0.5:.4g}"
    return f"{wrong} {100 * mistakes / max(1, judged):.2f} %"


def passes_said(errors: Sequence[str], wrong: str) -> str:
    """The errors of all passes, which name them once."""
    return ", then ".join([*errors[:1], *(word.removeprefix(f"{wrong} ") for word in errors[1:])])


def wrong_of(estimator: Any) -> str:
    """What a learner's error is called: that of classes, `RMSE` for values, or its own name."""
    is_regression = learns_labels(estimator) and estimator.regression
    return "RMSE" if is_regression else str(getattr(estimator, "wrong", "error"))


def learns_labels(estimator: Any) -> bool:
    """Whether the rows of a learner have labels."""
    return bool(getattr(estimator, "learns_labels", True))


def learned_words(estimator: Any) -> str:
    """How much a learner has changed, and how large it is now."""
    counts = (("n_updates_", "update"), ("n_nonzero_", "nonzero"), ("n_support_", "row"))
    there = [(name, what) for name, what in counts if hasattr(estimator, name)]
    words = [counted(getattr(estimator, name), what) for name, what in there]
    return ", ".join(words) + (" kept" if hasattr(estimator, "n_support_") else "")


def rate(amount: float, seconds: float) -> str:
    """An amount a second."""
    per_second = amount / max(seconds, 1e-9)
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.1f}"


class _Display:
    """Shows how work stands each time it is told, unless it is to be quiet."""

    def __init__(self, passes: int, quiet: bool) -> None:
        self.passes, self.quiet = passes, quiet
        self.started = time.monotonic()
        self._next_line = self.started + _PLAIN_EVERY
        self._live: Any = None  # what rich shows

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.started

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, state: Any) -> None:
        """Say how it stands."""
        if self.quiet or self.seconds < _PATIENCE:
            return
        if sys.stderr.isatty():
            self._show_live(state)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _PLAIN_EVERY
            click.echo(self._line(state), err=True)

    def _show_live(self, state: Any) -> None:
        raise NotImplementedError

    def _line(self, state: Any) -> str:
        raise NotImplementedError


class Display(_Display):
    """Shows the progress that passes through `watch`: a bar with words beside it."""

    def __init__(
        self, sources: Sequence[str], *, wrong: str, passes: int = 1, quiet: bool = False
    ) -> None:
        super().__init__(passes, quiet)
        self.wrong = wrong
        self.total = _total_size(sources) * passes
        self._finished_bytes = 0
        self._passes: dict[int, tuple[int, float, float]] = {}

    def watch(self, stream: Iterable[Progress]) -> Progress:
        """Show what comes to its end, and return the last of it."""
        with self:
            for progress in stream:
                self.show(progress)
                if progress.done:
                    self._finished_bytes += progress.position or 0
                    self._passes[progress.number] = self._account(progress)
        return progress

    @staticmethod
    def _account(progress: Progress) -> tuple[int, float, float]:
        return progress.judged, progress.mistakes, progress.squared_error

    def errors(self) -> str:
        """The error of each pass."""
        before: tuple[int, float, float] = (0, 0, 0.0)
        words = []
        for account in self._passes.values():
            judged, mistakes, squared = (
                now - then for now, then in zip(account, before, strict=True)
            )
            words.append(error_words(int(judged), mistakes, squared, self.wrong))
            before = account
        return passes_said(words, self.wrong)

    def _place(self, progress: Progress) -> str:
        name = os.path.basename(progress.source)
        return f"{name}, pass {progress.number}" if self.passes > 1 else name

    def _error(self, progress: Progress) -> str:
        return error_words(*self._account(progress), self.wrong)

    def _line(self, progress: Progress) -> str:
        words = [counted(progress.rows, "row"), f"{rate(progress.rows, self.seconds)} rows/s"]
        if progress.bytes:
            words.append(f"{rate(progress.bytes / 1e6, self.seconds)} MB/s")
        return f"{self._place(progress)}: {', '.join([*words, self._error(progress)])}"

    def _show_live(self, progress: Progress) -> None:
        from yarrow.report.numbers import short, significant

        if self._live is None:
            self._live = _new_bar(self.total or None)
        at = self._finished_bytes + (0 if progress.done else progress.position or 0)
        speed = f"{short(progress.rows / self.seconds)} rows/s"
        megabytes = progress.bytes / 1e6 / self.seconds
        volume = f"{significant(megabytes)} MB/s" if megabytes else ""
        words = [f"{progress.rows:,} rows", speed, volume, self._error(progress)]
        share = [f"{100 * at / self.total:3.0f} %"] if self.total else []
        place = self._place(progress)
        self._live.update(
            self._live.task_ids[0],
            completed=at,
            description=place if len(place) <= 22 else f"{place[:21]}…",
            words="  ".join([*share, *filter(None, words)]),
        )


def _new_bar(total: int | None) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    room = console.width - 80  # what is left beside the words
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        *[BarColumn(bar_width=min(40, room))] * (room >= 10),
        TextColumn("{task.fields[words]}", markup=False),
        console=console,
        transient=True,
    )
    bar.start()
    bar.add_task("", total=total, words="")
    return bar


def _total_size(sources: Sequence[str]) -> int:
    """Bytes of all files, 0 if that is not known."""
    size = 0
    for source in sources:
        about = None if source == "-" else os.stat(source)
        if about is None or not stat.S_ISREG(about.st_mode):
            return 0
        size += about.st_size
    return size


class RaceDisplay(_Display):
    """Shows a race: a table of the best settings so far."""

    def __init__(self, source: Any, passes: int, quiet: bool) -> None:
        super().__init__(passes, quiet)
        self.source = source

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
            self._live = Live(console=console, transient=True)
            self._live.start()
        width = min(self._live.console.width, 100)
        speed = f"{rate(race.rows, self.seconds)} rows/s"
        which = f"pass {race.pass_number} of {self.passes}, " if self.passes > 1 else ""
        settings = counted(len(race.runs) - 2, "setting")
        head = f"{which}{counted(race.rows, 'row')}, {speed}, {settings}"
        table = Table(box=None, padding=(0, 2, 0, 0), width=width)
        table.add_column("best so far", ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column("error", justify="right")
        table.add_column("seconds", justify="right")
        for name, error, time_of in standings(race)[:_MOST_SETTINGS]:
            table.add_row(Text(name), error, f"{time_of:.1f}")
        share = self._share(race)
        bar = Table.grid()  # a line of its own, which a bar alone does not end
        if share is not None:
            bar.add_row(ProgressBar(1.0, share, width=width))
        self._live.update(Group(Text(head), bar, table))


def standings(race: Race) -> list[tuple[str, str, float]]:
    """Names, errors so far and seconds of those that are still in the race, the best first."""
    found = []
    wrong = "RMSE" if race.classes is None else "error"
    for run in race.runs:
        o = run.outcome
        if o.failure is None and o.rows:
            lost = o.mistakes if race.classes is not None else o.squared_error
            text = error_words(o.rows, o.mistakes, o.squared_error, wrong).removeprefix(f"{wrong} ")
            found.append((lost / o.rows, o.name, text, o.seconds))
    return [(name, text, seconds) for _, name, text, seconds in sorted(found)]
