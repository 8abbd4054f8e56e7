"""Snapshots: model files, each after an event, from which the log is replayed.

One is taken when replaying what came since the last would take longer than writing one, and never
for more than a twentieth of the writer's time, which all models share; a model that is put to rest
does not wait for its turn. Older ones are thinned so that their distances grow with their age: undo
is cheap near the present and possible far back, and their number grows with the logarithm of the
log's length. A row in the log's table `snapshots` makes a file count: an undo takes the rows away
in the same transaction that changes the labels.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yarrow
from yarrow.errors import NotFittedError, YarrowError
from yarrow.serve.log import Log, Reader

SHARE = 0.05  # of the writer's time
_WAIT = 10.0  # seconds until another one is tried where one failed
AT_LEAST = 0.25  # seconds of replay that a snapshot must save


class Pace:
    """When the writer may take the next snapshot, of whichever model."""

    def __init__(self) -> None:
        self.next = time.monotonic()


class Snapshots:
    """The snapshots of one version of a model."""

    def __init__(self, folder: Path, log: Log, version: int, pace: Pace) -> None:
        self.folder, self.log, self.version, self.pace = folder / str(version), log, version, pace
        self._took = 0.005  # seconds that the last one took, about
        self.since = 0.0  # seconds that it would take to replay what came since

    def path(self, event: int) -> Path:
        """The file after an event."""
        return self.folder / f"{event}.yarrow"

    def nearest(self, reader: Reader, upto: int) -> tuple[Any, int, int, float] | None:
        """The newest model that loads, at an event or before: it, its event, rows and loss."""
        for event, rows, loss in reader.snapshots(self.version, upto):
            with contextlib.suppress(YarrowError, OSError):
                return yarrow.load(self.path(event)), event, rows, loss
        return None

    def is_due(self) -> bool:
        """Whether it is time for one."""
        return self.since > max(self._took, AT_LEAST) and time.monotonic() >= self.pace.next

    def saves_time(self) -> bool:
        """Whether a replay without one would take longer than taking it."""
        return self.since > self._took

    def take(self, model: Any, event: int, rows: int, loss: float, oldest: int) -> bool:
        """Write a snapshot, durably; the log's events first, so that none is ahead of the log."""
        began = time.monotonic()
        self.pace.next = began + _WAIT  # if it fails
        self.log.sync()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            model.save(self.path(event))
        except NotFittedError:
            return False
        gone = thinned([event, *(old for old, *_ in self.log.snapshots(self.version))], oldest)
        with self.log.transaction():
            self.log.put_snapshot(self.version, event, rows, loss)
            for old in gone:
                self.log.remove_snapshots(self.version, old, old)
        for old in gone:
            self.path(old).unlink(missing_ok=True)
        self._took, self.since = time.monotonic() - began, 0.0
        self.pace.next = time.monotonic() + self._took * (1 / SHARE - 1)
        return True

    def remove_unlisted(self) -> None:
        """Remove files that no longer count, or that a process has left that was killed."""
        known = {self.path(event) for event, *_ in self.log.snapshots(self.version)}
        for path in self.folder.glob("*"):
            if path not in known:
                path.unlink(missing_ok=True)


def thinned(events: Sequence[int], keep: int) -> list[int]:
    """Which of the snapshots, newest first, can go: where a gap stays within half of its distance.

    >>> taken = list(range(1000, 0, -10))
    >>> gone = set(thinned(taken, keep=10))
    >>> [1000 - event for event in taken if event not in gone]
    [0, 10, 20, 30, 40, 60, 90, 130, 190, 280, 420, 630, 940, 990]
    """
    gone, newest = [], events[0]
    kept = [newest]
    for event, older in itertools.pairwise(events[1:]):
        if event != keep and 2 * (kept[-1] - older) <= newest - kept[-1]:
            gone.append(event)
        else:
            kept.append(event)
    return gone
