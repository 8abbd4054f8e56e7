"""What runs all day: ask the sources, record what is new, let time pass, serve the page."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import secrets
import shutil
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from yarrow.activity.app.requests import start
from yarrow.activity.app.session import Session, in_words
from yarrow.activity.log.store import Store
from yarrow.activity.sources.activitywatch import Collector, Unreachable
from yarrow.activity.sources.spans import Change
from yarrow.errors import ParameterError, YarrowError

_ASK_EVERY = 5.0  # seconds between two looks at ActivityWatch
_PATIENCE = 15.0  # seconds at most until a source that did not answer is asked again
_NEWEST = "activitywatch.newest"


class Feed(Protocol):
    """Anything that has events now and then."""

    refused: list[str]

    def collect(self) -> list[Change]:
        """What came since the last look."""


class Rounds:
    """Takes a step again and again, in a thread of its own, until `stop`."""

    every = 1.0
    """Seconds between two steps."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def step(self) -> None:
        """One round."""
        raise NotImplementedError

    def run(self) -> None:
        """Round after round."""
        while not self._stopped.wait(self.every):
            self.step()

    def start(self) -> None:
        """Run in a thread of its own."""
        threading.Thread(target=self.run, daemon=True).start()

    def stop(self) -> None:
        """End after this round."""
        self._stopped.set()


class Runner(Rounds):
    """Carries what sources tell into a session, until `stop`.

    No trouble with a source ends it: the page tells what is wrong, and the source is asked again.
    """

    def __init__(
        self, session: Session, collector: Collector | None, feeds: dict[str, Feed]
    ) -> None:
        super().__init__()
        self.session, self._collector, self._feeds = session, collector, feeds
        self._trouble: str | None = "looking for ActivityWatch" if collector else None
        self._ask_at, self._wait = 0.0, _ASK_EVERY
        self._pending: list[Change] = []  # told by sources and not yet in the log
        self._asked: int | None = None  # the alarm that was last shown on the desktop
        self._failed = ""  # a sentence, if not all of the last round could be done
        self.notify = False

    def step(self) -> None:
        """One round. What fails in it is told, and keeps nothing else from being done."""
        failed: list[str] = []
        if self._collector is not None and time.monotonic() >= self._ask_at:
            self._try(failed, self._ask, self._collector)
        for feed in self._feeds.values():
            self._try(failed, self._read, feed)
        self._try(failed, self.session.tick)
        if self.notify:
            self._try(failed, self._show_alarm)
        before, self._failed = self._failed, "; ".join(dict.fromkeys(failed))
        if self._failed != before:
            self.session.notify()

    def _try(self, failed: list[str], do: Callable[..., None], *what: Any) -> None:
        try:
            do(*what)
        except sqlite3.Error as error:  # a full disk may be emptied
            failed.append(f"the log cannot be written ({error})")
        except YarrowError as error:
            failed.append(str(error))
        except Exception as error:
            sentence = f"an unexpected error ({in_words(error)}); retrying"
            failed.append(sentence)
            if sentence not in self._failed:
                traceback.print_exc()

    def _read(self, feed: Feed) -> None:
        self._record(feed.collect())

    def _record(self, found: list[Change], settings: dict[str, str] | None = None) -> None:
        """Record what sources told; if that fails, it is tried again with what comes next."""
        self._pending += found
        self.session.record(self._pending, settings)
        self._pending = []

    def _ask(self, collector: Collector) -> None:
        before = self._trouble
        try:
            found = collector.collect()
            newest = {} if collector.newest is None else {_NEWEST: repr(collector.newest)}
            self._record(found, newest if found else None)
            refused = collector.refused[-1:]
            self._trouble = f"Reading ActivityWatch; skipped: {refused[0]}" if refused else None
            self._wait = _ASK_EVERY
        except Unreachable as error:
            self._trouble = str(error)
            self._wait = min(2 * self._wait, _PATIENCE)
        finally:
            self._ask_at = time.monotonic() + self._wait
        if self._trouble != before:
            self.session.notify()

    def sources(self) -> list[dict[str, Any]]:
        """A sentence about each source, for the page."""
        told = []
        if self._collector is not None:
            ok = self._trouble is None
            told.append({"ok": ok, "sentence": self._trouble or "Reading ActivityWatch"})
        for name, feed in self._feeds.items():
            refused = feed.refused[-1:]
            sentence = f"{name}: {refused[0]}" if refused else f"Reading {name}"
            told.append({"ok": not refused, "sentence": sentence})
        with self.session.changed:
            strange = self.session.store.out_of_time(self.session.clock.wall())
        for sentence in filter(None, (self.session.refused, strange, self._failed)):
            told.append({"ok": False, "sentence": sentence})
        return told

    def _show_alarm(self) -> None:
        """Tell a person who does not look at the page."""
        alarm = self.session.alarm()
        number = None if alarm is None else alarm.id
        if alarm is not None and number != self._asked:
            names = {one.id: one.name for one in self.session.activities()}
            show_on_desktop(f"Did you switch to {names.get(alarm.activity, 'something else')}?")
        self._asked = number


def show_on_desktop(sentence: str) -> None:
    """A notice of the desktop, where there is a program for it."""
    if shutil.which("notify-send") is not None:
        start("notify-send", "--app-name=Yarrow", "--", "Yarrow", sentence)


def newest_seen(store: Store) -> float | None:
    """How far ActivityWatch was read before this start."""
    with contextlib.suppress(ValueError):
        kept = float(store.setting(_NEWEST))
        return kept if math.isfinite(kept) else None
    return None


def token_of(store: Store) -> str:
    """The lasting key of a log: the same after each start, so that an open page goes on.

    What older versions kept under "token" was sent, printed and kept by browsers: it opens nothing.
    """
    token = store.setting("page.token")
    if not token:
        token = secrets.token_urlsafe(24)
        store.keep("page.token", token)
    return token


def _beside(database: str) -> Path:
    return Path(f"{database}.running")


@contextlib.contextmanager
def alone(database: str, link: str) -> Iterator[None]:
    """Hold the log for one program, and leave its address for the others on this machine.

    The lock goes with the process, however it ends.
    """
    path = _beside(database)
    with open(os.open(path, os.O_CREAT | os.O_RDWR, 0o600), "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ParameterError(
                f"{database}: Yarrow already runs on it; 'yarrow activity open' opens its page."
            ) from None
        file.truncate()
        json.dump({"link": link, "process": os.getpid()}, file)
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def way_to(database: str, link: str) -> Iterator[Path]:
    """A file that leads a browser to the page, as long as the program runs.

    What a program is started with, every user of the machine can see; this file only its owner.
    """
    path = way_of(database)
    path.unlink(missing_ok=True)  # what a killed program left may be open to others
    with open(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">\n')
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def way_of(database: str) -> Path:
    """Where the file is that leads to the page."""
    return Path(f"{database}.html").absolute()


def running_at(database: str) -> dict[str, Any] | None:
    """Where the program runs that holds the log, if one does."""
    try:
        with open(_beside(database)) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None  # nobody holds it: it was left behind
            except BlockingIOError:
                told: dict[str, Any] = json.load(file)
                return told
    except (OSError, ValueError):
        return None


def ask_running(database: str, what: str) -> Any:
    """Ask the program that runs on the log; None if none does, or it is too busy to answer."""
    from yarrow.activity.app.keys import Guest

    told = running_at(database)
    if told is None:
        return None
    with contextlib.suppress(OSError, ValueError, YarrowError):
        return Guest(told["link"]).ask(f"/api/{what}")
    return None
