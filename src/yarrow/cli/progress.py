"""How far a stream is: a live line on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from yarrow.online.ledger import Progress

_PATIENCE = 0.5  # seconds before anything is shown; most work is done by then
_PLAIN_EVERY = 10.0


def error_words(judged: int, mistakes: float, squared_error: float, wrong: str) -> str:
    """The error of some rows, each predicted before it was learned; `wrong` is its name."""
    if wrong == "RMSE":
        return f"RMSE {(squared_error / max(1, judged)) ** 0.5:.4g}"
    return f"{wrong} {100 * mistakes / max(1, judged):.2f} %"


def wrong_of(estimator: Any) -> str:
    """What a learner's error is called: that of classes, `RMSE` for values, or its own name."""
    is_regression = learns_labels(estimator) and not hasattr(type(estimator), "classes_")
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


def counted(number: int, thing: str) -> str:
    """`1 row`, `1,000 rows`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def rate(amount: float, seconds: float) -> str:
    """An amount a second."""
    per_second = amount / max(seconds, 1e-9)
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.1f}"


def _short(number: float) -> str:
    """`1.23M` for 1,234,567."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


class Display:
    """Shows the progress that passes through `watch`, unless it is to be quiet."""

    def __init__(
        self, sources: Sequence[str], *, wrong: str, passes: int = 1, quiet: bool = False
    ) -> None:
        self.wrong, self.passes, self.quiet = wrong, passes, quiet
        self.total = _total_size(sources) * passes
        self.started = time.monotonic()
        self._next_line = self.started + _PLAIN_EVERY
        self._finished_bytes = 0
        self._passes: dict[int, tuple[int, float, float]] = {}
        self._bar: Any = None

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.started

    def watch(self, stream: Iterable[Progress]) -> Progress:
        """Show what comes to its end, and return the last of it."""
        try:
            for progress in stream:
                if not self.quiet:
                    self._show(progress)
                if progress.done:
                    self._finished_bytes += progress.position or 0
                    self._passes[progress.number] = self._account(progress)
        finally:
            if self._bar is not None:
                self._bar.stop()
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
        first, *later = words
        return ", then ".join([first, *(word.removeprefix(f"{self.wrong} ") for word in later)])

    def _show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.started < _PATIENCE:
            return
        if sys.stderr.isatty():
            self._show_live(progress)
        elif now >= self._next_line:
            self._next_line = now + _PLAIN_EVERY
            click.echo(f"{self._place(progress)}: {', '.join(self._words(progress))}", err=True)

    def _place(self, progress: Progress) -> str:
        name = os.path.basename(progress.source)
        return f"{name}, pass {progress.number}" if self.passes > 1 else name

    def _error(self, progress: Progress) -> str:
        return error_words(*self._account(progress), self.wrong)

    def _words(self, progress: Progress) -> list[str]:
        words = [counted(progress.rows, "row"), f"{rate(progress.rows, self.seconds)} rows/s"]
        if progress.bytes:
            words.append(f"{rate(progress.bytes / 1e6, self.seconds)} MB/s")
        return [*words, self._error(progress)]

    def _show_live(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = _new_bar(self.total or None)
        at = self._finished_bytes + (0 if progress.done else progress.position or 0)
        speed = f"{_short(progress.rows / self.seconds)} rows/s"
        volume = f"{_short(progress.bytes / 1e6 / self.seconds)} MB/s" if progress.bytes else ""
        words = [f"{progress.rows:,} rows", speed, volume, self._error(progress)]
        share = [f"{100 * at / self.total:3.0f} %"] if self.total else []
        self._bar.update(
            self._bar.task_ids[0],
            completed=at,
            description=_shortened(self._place(progress), 22),
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


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _total_size(sources: Sequence[str]) -> int:
    """Bytes of all files, 0 if that is not known."""
    size = 0
    for source in sources:
        about = None if source == "-" else os.stat(source)
        if about is None or not stat.S_ISREG(about.st_mode):
            return 0
        size += about.st_size
    return size
