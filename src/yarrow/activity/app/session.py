"""The recogniser and its log, kept equal: what is told goes to the disk first, then to the model.

All threads (the collector's, and one for each request of the page) come through here, one at a
time. The recogniser is fed in the log's order. An entry that is late, as ActivityWatch's often are,
goes to its place in the log; then the recogniser goes back to a checkpoint before it and takes the
log from there. So the state is always what a replay of the whole log would give.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import marshal
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from yarrow import __version__
from yarrow.activity.log.entries import Confirm, Correct, Create, Declare, Entry, Event
from yarrow.activity.log.store import BEGINNING, Place, Store
from yarrow.activity.model.activities import Activity, check_name
from yarrow.activity.model.explain import Alarm
from yarrow.activity.model.recogniser import Recogniser
from yarrow.activity.sources.clock import Clock
from yarrow.activity.sources.spans import Change
from yarrow.errors import ParameterError, YarrowError, did_you_mean

_JUST_NOW = 2.0  # seconds: the least that sources may be late
_CHECKPOINTS = 4
_KEEP_AFTER = 50_000  # entries of a long replay
_TELL_AFTER = 20.0  # seconds of the log's time: pages show that time passes
_SNAPSHOT_AFTER = 4 * 3600.0  # seconds of the log's time between snapshots on the disk


class Session:
    """What the program knows, safe to use from many threads.

    Parameters
    ----------
    store : the log
    clock : tells the time
    lag : seconds that the recogniser stays behind the clock, so that sources may be late; what
        happened less than that before something was said counts as happening then
    checkpoint_after : seconds of the log's time between checkpoints in memory
    settings : of the recogniser
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        lag: float = 0.0,
        checkpoint_after: float = 900.0,
        **settings: Any,
    ) -> None:
        self.store, self.clock, self.lag = store, clock, lag
        self._checkpoint_after = checkpoint_after
        self._settings = settings
        self._made_by = json.dumps([__version__, sorted(settings.items())])
        self.changed = threading.Condition(threading.RLock())
        self._told = float("-inf")
        self.version = 0  # grows with every change that a page would show
        self._checkpoints: list[tuple[Place, bytes]] = []  # in memory only, so marshal is safe
        self._newest: Entry | None = None  # the last entry that the recogniser has taken
        self._place = BEGINNING  # and where it stands
        self._seen = float("-inf")  # the time of the last event that it has taken
        self.refused = ""  # a sentence, if the recogniser could not take an entry
        self._saved = float("-inf")  # the time of the newest snapshot on the disk
        self._replay(BEGINNING[0])

    # -- the fold -------------------------------------------------------------------------------

    def _replay(self, since: float) -> None:
        """Make the recogniser anew, from the newest state in which nothing since then took part."""
        self._checkpoints = [kept for kept in self._checkpoints if kept[0][0] < since]
        self.recogniser = Recogniser(**self._settings)
        self._place, self._newest = BEGINNING, None
        self._ticked = self._seen = float("-inf")
        if self._checkpoints:
            self._place, state = self._checkpoints[-1]
            self.recogniser.load_state_dict(marshal.loads(state))
        elif (kept := self.store.snapshot(self._made_by)) is not None:
            try:
                digest, packed = kept[1][:32], kept[1][32:]
                if hashlib.sha256(packed).digest() != digest:
                    raise ValueError("it is not as it was saved")
                (at, number), state = json.loads(zlib.decompress(packed))
                self.recogniser.load_state_dict(state)
                if kept[0] != (at, number):
                    raise ValueError("it stands at another place")
                self._place, self._saved = (at, number), max(self._saved, at)
            except Exception:  # of another version, or damaged; the log itself has it all
                self.recogniser = Recogniser(**self._settings)
        self._seen = self._place[0]
        if self._place == BEGINNING:
            self.refused = ""
        self._take()

    def _take(self) -> None:
        """Feed what the log has behind the last entry taken."""
        entries = self.store.entries(self._place, self._leave_out)
        for number, (place, entry) in enumerate(entries, 1):
            try:
                self.recogniser.feed(entry)
            except Exception as error:  # a later entry may not depend on it
                self._leave_out(error)
            self._place, self._newest = place, entry
            if isinstance(entry, Event):
                self._seen = entry.time
            if number % _KEEP_AFTER == 0:  # years of history need not be learned again
                self._keep_checkpoint()
        self._keep_checkpoint()

    def _leave_out(self, error: Exception) -> None:
        self.refused = f"an entry of the log was skipped: {in_words(error)}"

    def _keep_checkpoint(self) -> None:
        newest = self._place[0]
        last = self._checkpoints[-1][0][0] if self._checkpoints else BEGINNING[0]
        if self._place == BEGINNING or newest < last + self._checkpoint_after:
            return
        if self._ticked > newest:  # what comes late would find its time already judged
            return
        state = self.recogniser.state_dict()
        self._checkpoints.append((self._place, marshal.dumps(state)))
        del self._checkpoints[:-_CHECKPOINTS]
        if newest >= self._saved + _SNAPSHOT_AFTER:
            self._save(self._place, state)

    def _save(self, place: Place, state: dict[str, Any]) -> None:
        packed = zlib.compress(json.dumps([place, state]).encode(), level=1)
        self.store.add_snapshot(place, self._made_by, hashlib.sha256(packed).digest() + packed)
        self._saved = place[0]

    def close(self) -> None:
        """Leave a snapshot, so that the next start is quick; nothing is lost without it."""
        with self.changed:
            if self._checkpoints and self._checkpoints[-1][0][0] > self._saved:
                place, state = self._checkpoints[-1]
                self._save(place, marshal.loads(state))
            self.store.close()

    def record(self, changes: Iterable[Change], settings: Mapping[str, str] | None = None) -> int:
        """Take what sources told; return how much of it is new.

        If this returns, all is on the disk but for what cannot be stored; `refused` names that.
        """
        with self.changed:
            last, just_now = self._place[0], max(_JUST_NOW, self.lag)
            found: list[tuple[Entry, str | None]] = []
            for event, origin in changes:
                if last - just_now <= event.time < last and event.time >= self._seen:
                    event = dataclasses.replace(event, time=last)  # only what was said is newer
                found.append((event, origin or None))
            return self._append(found, settings) if found or settings else 0

    def _append(
        self, entries: list[tuple[Entry, str | None]], settings: Mapping[str, str] | None = None
    ) -> int:
        new = self._store(entries, settings)
        if new:
            earliest = min(new)
            try:
                if earliest < self._place or earliest[0] < self._ticked:
                    self._replay(earliest[0])
                else:
                    self._take()
            except (YarrowError, sqlite3.Error) as error:  # the entries are safe; they stay there
                self.refused = f"the log cannot be read: {in_words(error)}"
            self.notify()
        return len(new)

    def _store(
        self, entries: list[tuple[Entry, str | None]], settings: Mapping[str, str] | None
    ) -> list[Place]:
        """Append all; or, where one of many cannot be stored, the others."""
        try:
            return self.store.append(*_columns(entries), settings)
        except Exception as error:
            if _of_disk(error) or not all(isinstance(entry, Event) for entry, _ in entries):
                raise
        new = self.store.append([], [], settings)
        for one in entries:
            try:
                new += self.store.append(*_columns([one]))
            except Exception as error:
                if _of_disk(error):
                    raise
                self.refused = f"an event was skipped: {in_words(error)}"
        return new

    def tick(self) -> None:
        """Let time pass, and notice what another process wrote to the log."""
        with self.changed:
            if self.store.changed_elsewhere():
                self._start_over()
            if isinstance(self._newest, Event) and self._newest.kind == "away":
                self.clock.settle(self._place[0])
            self._ticked = max(self._ticked, self.clock.now() - self.lag)
            alarms = self.recogniser.tick(self._ticked)
            if alarms or self._ticked >= self._told + _TELL_AFTER:
                self._told = self._ticked
                self.notify()

    def notify(self) -> None:
        """Tell pages that something has changed."""
        with self.changed:
            self.version += 1
            self.changed.notify_all()

    # -- what the person says -------------------------------------------------------------------

    def now(self) -> float:
        """The time of what is said now: behind all that is in the log."""
        return max(self.clock.now(), self._place[0], self._ticked)

    def say(self, kind: type[Any], *fields: Any) -> None:
        """Put what the person says into the log; when this returns it is on the disk."""
        with self.changed:
            entry = kind(self.now(), *fields)
            check_name(getattr(entry, "name", ""))
            self.recogniser.check(entry)
            self._append([(entry, None)])

    def activity(self, which: int | str) -> int:
        """The number of an activity, told by its number or its name; a new name makes one."""
        with self.changed:
            known = self.activities()
            if isinstance(which, str):
                name = " ".join(which.split())
                for one in known:
                    if one.name.casefold() == name.casefold():
                        return one.id
                if not name:
                    raise ParameterError("an activity needs a name.")
                number = self.store.next_activity()
                self.say(Create, number, name)
                return number
            if not any(one.id == which for one in known):
                names = {str(one.id) for one in known}
                raise ParameterError(
                    f"there is no activity number {which}{did_you_mean(str(which), names)}."
                )
            return which

    def declare(self, activity: int | str) -> None:
        """I work at this from now on."""
        with self.changed:
            self.say(Declare, self.activity(activity))

    def correct(self, activity: int | str, since: float, until: float | None = None) -> None:
        """It has been this since then (or only until then)."""
        with self.changed:
            until = None if until is None else min(until, self.now())
            self.say(Correct, self.activity(activity), min(since, self.now()), until)

    def answer(self, alarm: int, *, right: bool) -> None:
        """Answer an alarm; one that is no longer asked is refused, so that no key hits another."""
        with self.changed:
            asked = self.alarm()
            if asked is None or asked.id != alarm:
                raise ParameterError("this question is no longer open.")
            if right:
                self.say(Correct, asked.activity, asked.since)
            else:
                self.say(Confirm)

    def forget(self, **what: Any) -> int:
        """Remove from the log, and by replay from the model; see `Store.forget`."""
        with self.changed:
            removed = self.store.forget(**what, now=self.clock.wall())
            self._start_over()
            return removed

    def _start_over(self) -> None:
        """Learn the log anew; if what it had of the future is gone, the clock goes back."""
        self._checkpoints = []
        self._saved = self._told = BEGINNING[0]
        self._replay(BEGINNING[0])
        self.clock.go_back(self._place[0])
        self.notify()

    # -- what can be asked ----------------------------------------------------------------------

    def alarm(self) -> Alarm | None:
        """The newest alarm that nobody has answered."""
        return self.recogniser.unanswered()

    def activities(self) -> list[Activity]:
        """All activities that were not merged into others."""
        with self.changed:
            return [one for one in self.recogniser.activities() if one.merged_into is None]


def _columns(pairs: list[tuple[Entry, str | None]]) -> tuple[list[Entry], list[str | None]]:
    return [entry for entry, _ in pairs], [origin for _, origin in pairs]


def _of_disk(error: Exception) -> bool:
    """Whether it is no fault of what was to be written, and may be over later."""
    return type(error) in (sqlite3.OperationalError, sqlite3.DatabaseError)


def in_words(error: Exception) -> str:
    """An error as a sentence; of one that nobody expected, its kind too."""
    known = isinstance(error, YarrowError | sqlite3.Error)
    return str(error) if known else f"{type(error).__name__}: {error}"
