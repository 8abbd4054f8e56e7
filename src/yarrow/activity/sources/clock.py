"""Time on a desk: never backwards, and faster where a day is only simulated."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Unix time that does not go back when the machine's clock is set back.

    The log is in order of time, so a clock that is set back an hour would put the present among
    what happened an hour ago. Until such an hour has passed, `now` is ahead by `shift` seconds; the
    shift shrinks while the person is away (`settle`), when nobody misses the minutes.

    Examples
    --------
    >>> wall = iter([1000.0, 1001.0, 401.0, 402.0])
    >>> clock = Clock(wall=lambda: next(wall))
    >>> clock.now(), clock.now(), clock.now()
    (1000.0, 1001.0, 1001.0)
    >>> clock.shift, clock.now()
    (600.0, 1002.0)
    """

    speed = 1.0
    _BACKWARDS = 2.0  # seconds; corrections by the network are smaller

    def __init__(self, last: float = float("-inf"), wall: Callable[[], float] = time.time) -> None:
        self._wall, self._last, self.shift = wall, last, 0.0
        self.shifted_at = float("inf")  # what the wall showed just after it went back

    def wall(self) -> float:
        """What the machine's clock shows."""
        return float(self._wall())

    def now(self) -> float:
        """Seconds since 1970, never less than what was said before."""
        wall = self.wall()
        behind = self._last - (wall + self.shift)
        if behind > self._BACKWARDS:
            self.shift += behind
            self.shifted_at = wall
        self._last = max(self._last, wall + self.shift)
        return self._last

    def settle(self, newest: float) -> None:
        """Nobody is there, and nothing in the log is newer than `newest`: shrink the shift."""
        if self.shift:
            self.go_back(newest)

    def go_back(self, newest: float) -> None:
        """What was newer than `newest` is no longer in the log: be ahead no farther than that."""
        wall = self.wall()
        self.shift = max(0.0, min(self.shift, newest - wall))
        self._last = max(newest, wall + self.shift)

    def of_source(self, stamp: float) -> float:
        """The time here of an event that a source on the same machine stamped."""
        return stamp + self.shift if self.shift and stamp >= self.shifted_at else stamp


class FastClock(Clock):
    """A clock of a simulated day, that is `speed` times as fast, and stands still until `run`."""

    def __init__(self, start: float, speed: float) -> None:
        super().__init__()
        self.speed = speed
        self._at, self._since, self.running = start, time.monotonic(), False
        self.paused = False  # by the person who watches

    def now(self) -> float:
        """The simulated time."""
        if not self.running:
            return self._at
        return self._at + (time.monotonic() - self._since) * self.speed

    def run(self, running: bool) -> None:
        """Stop, or go on."""
        self._at, self._since = self.now(), time.monotonic()
        self.running = running
