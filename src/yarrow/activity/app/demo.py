"""A simulated working day, so that a newcomer sees the program at work within a minute.

A simulated user works on a few things at a time, and does not always say when they change. The week
before is in the log when the page opens. Questions that nobody answers are answered by the user.
"""

from __future__ import annotations

import datetime
import random
import time
import tomllib
from collections.abc import Iterator
from typing import Any

from yarrow.activity.app.runner import Rounds
from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Create, Declare, Entry, Event
from yarrow.activity.sources.clock import FastClock
from yarrow.activity.sources.spans import Change
from yarrow.errors import ParameterError
from yarrow.lazy import resource as text_of

SPEED = 200.0
_ANSWER_AFTER = 7.0  # real seconds that the newcomer has to answer
_SEED = 7
_HOME = "/home/ada"


_TOLD = tomllib.loads(text_of("yarrow.activity.app", "demo.toml"))
NEW = _TOLD["new"]
NEW_WORK = _TOLD["work"].pop(NEW)
WORK: dict[str, list[list[str]]] = _TOLD["work"]
DAY = [(hour, name or None, says) for hour, name, says in _TOLD["day"]]


def nothing_is_opened(resource: str) -> None:
    """The demo's files do not exist, and its pages are nobody's."""
    raise ParameterError("nothing is opened in the demo.")


def _hour(day: datetime.date, hour: float) -> float:
    midnight = datetime.datetime(day.year, day.month, day.day)
    return (midnight + datetime.timedelta(hours=hour)).timestamp()


def _stretch(rng: random.Random, name: str, start: float, end: float) -> Iterator[Event]:
    """What happens on the screen during work at one thing."""
    things = NEW_WORK if name == NEW else WORK[name]
    opened: set[str] = set()
    now = start
    while now < end:
        shared = now > start and rng.random() < 0.12
        thing = rng.choice(_TOLD["everywhere"] if shared else things)
        resource = thing[0]
        kind = "navigate" if resource.startswith("https") else "focus"
        if resource.startswith(_HOME) and resource not in opened:
            opened.add(resource)
            kind = "open"
        yield Event(now, kind, *thing)
        now += rng.uniform(25.0, 150.0)
        if kind != "navigate" and resource.startswith(_HOME) and rng.random() < 0.3:
            yield Event(min(now - 5.0, end), "save", *thing)
    for resource in sorted(opened):
        if rng.random() < 0.6:
            yield Event(end, "close", resource)


def last_week(today: datetime.date) -> list[Entry]:
    """Five working days on which every switch was declared."""
    rng = random.Random(_SEED)
    names = list(WORK)
    entries: list[Entry] = []
    for back in range(5, 0, -1):
        day = today - datetime.timedelta(days=back)
        hour = 9.0
        while hour < 16.0:
            name, length = rng.choice(names), rng.uniform(0.4, 1.1)
            start, end = _hour(day, hour), _hour(day, hour + length)
            entries.append(Declare(start, names.index(name)))
            entries += _stretch(rng, name, start, end)
            hour += length
        entries.append(Event(_hour(day, hour), "away"))
    first = min(entry.time for entry in entries)
    created = [Create(first, number, name) for number, name in enumerate(names)]
    return [*created, *sorted(entries, key=lambda entry: entry.time)]


class DemoDay(Rounds):
    """Lets the day happen in a session, at the speed of its clock."""

    every = 0.05  # real seconds

    def __init__(self, session: Session, clock: FastClock, today: datetime.date) -> None:
        super().__init__()
        self.session, self.clock = session, clock
        self._today = today
        self._switches = [(_hour(today, hour), name, says) for hour, name, says in DAY]
        self._events = self._all_events()
        self._waits = False  # for an answer
        self._current: str | None = None  # what is really worked at
        self.is_over = False

    @staticmethod
    def starts(today: datetime.date) -> float:
        """A minute before work begins."""
        return _hour(today, DAY[0][0]) - 60.0

    def _all_events(self) -> list[Event]:
        rng = random.Random(_SEED + 1)
        away, back = (_hour(self._today, hour) for hour in _TOLD["lunch"])
        events: list[Event] = []
        for (start, name, _), (end, _, _) in zip(self._switches, self._switches[1:], strict=False):
            if name is not None:
                events += _stretch(rng, name, start, end)
        events = [event for event in events if not away <= event.time < back]
        events += [Event(away, "away"), Event(back, "back"), Event(self._switches[-1][0], "away")]
        return sorted(events, key=lambda event: event.time)

    def pause(self) -> None:
        """Stop, or go on; what the page's button does."""
        self.clock.paused = not self.clock.paused
        self.clock.run(not self.clock.paused)
        self.session.notify()

    def sources(self) -> list[dict[str, Any]]:
        """The page's first line."""
        if self.is_over:
            sentence = "The simulated day is over; look around, correct, review"
        elif self._waits:
            sentence = "Answer the question, or the simulated user will in a few seconds"
        else:
            sentence = f"A simulated day, {self.clock.speed:g} times as fast"
        return [{"ok": True, "sentence": sentence}]

    def start(self) -> None:
        """Let the clock run."""
        self.clock.run(True)
        super().start()

    def step(self) -> None:
        """Let happen what is due."""
        now = self.clock.now()
        for at, name, says in [switch for switch in self._switches if switch[0] <= now]:
            self._record_until(at)
            self._switches.remove((at, name, says))
            self._current = name
            if says and name is not None:
                self.session.declare(name)
        self._record_until(now)
        self.session.tick()
        self.is_over = not self._events
        if self.is_over:
            self.stop()
            self.clock.run(False)
            self.session.notify()
        elif self.session.alarm() is not None and self.clock.running:
            self._wait_for_an_answer()

    def _record_until(self, now: float) -> None:
        due = [event for event in self._events if event.time <= now]
        self._events = self._events[len(due) :]
        self.session.record([Change(event, "") for event in due])

    def _wait_for_an_answer(self) -> None:
        """The newcomer may answer; time stands still."""
        self.clock.run(False)
        self._waits = True
        self.session.notify()
        until = time.monotonic() + _ANSWER_AFTER
        while time.monotonic() < until or self.clock.paused:
            if self._stopped.wait(self.every) or self.session.alarm() is None:
                break
        alarm = self.session.alarm()
        if alarm is not None and self._current is not None and not self._stopped.is_set():
            name = self._current
            known = {one.id: one.name for one in self.session.activities()}
            if known.get(alarm.activity) == name:
                self.session.answer(alarm.id, right=True)
            elif alarm.declared is not None and known[alarm.declared] == name:
                self.session.answer(alarm.id, right=False)
            else:
                self.session.correct(name, alarm.since)
        self._waits = False
        self.clock.run(not self.clock.paused)
