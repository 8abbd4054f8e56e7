"""The switch simulation of Shen & Dietterich (2009), section 5.4.

A person who declares every switch is made to forget every fourth. An alarm is right if its activity
is right and it comes within five minutes of the switch. After each alarm the person says what is
true (or, in a variant, often says nothing).
"""

from __future__ import annotations

import bisect
import dataclasses
import random
import time
from operator import attrgetter
from typing import Protocol

from reproduction.activity_lab.generator import Life, Switch
from yarrow.activity.log.entries import Confirm, Correct, Create, Declare, Entry, Event
from yarrow.activity.model.explain import Alarm

RIGHT_WITHIN = 300.0
"""Seconds between a switch and an alarm that is right about it."""
FORGOTTEN = 4
"""Every so many switches one is not declared."""
_FIRST = 1_767_571_200.0  # when short lives begin; it stands for any time


class Watcher(Protocol):
    """Something that raises alarms: the recogniser, or what it is compared with."""

    def feed(self, entry: Entry) -> list[Alarm]:
        """Take the next entry of the log."""

    def tick(self, now: float) -> list[Alarm]:
        """Let time pass."""

    @property
    def declared(self) -> int | None:
        """The activity that it takes for the declared one."""

    def minutes(self) -> list[tuple[float, int]]:
        """When each information vector ended, and what it is taken for in the end."""


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of a simulation."""

    alarms: int
    right: int
    undeclared: int
    vectors: int
    minutes_right: float
    """The share of vectors that end up under the right activity."""
    seconds: float
    """The time it took, from events to answers."""

    @property
    def precision(self) -> float:
        """Right alarms among all; 1 without any."""
        return self.right / self.alarms if self.alarms else 1.0

    @property
    def recall(self) -> float:
        """Right alarms among undeclared switches."""
        return self.right / self.undeclared if self.undeclared else 0.0


def simulate(life: Life, watcher: Watcher, *, answered: float = 1.0, seed: int = 0) -> Outcome:
    """Let a watcher live through a life; a share of its alarms is answered."""
    started = time.perf_counter()
    person = _Person(life, watcher, answered, random.Random(seed))
    log: list[Event | Switch] = [*life.events, *life.switches]
    for entry in sorted(log, key=attrgetter("time")):
        person.pass_time(entry.time)
        if isinstance(entry, Event):
            for alarm in watcher.feed(entry):
                person.answer(alarm)
        else:
            person.switch(entry)
    seconds = time.perf_counter() - started
    minutes = watcher.minutes()
    times = [switch.time for switch in life.switches]
    agreed = sum(
        activity == person.numbers.get(_activity_at(life, times, end)) for end, activity in minutes
    )
    return Outcome(
        person.alarms,
        person.right,
        person.undeclared,
        len(minutes),
        agreed / max(len(minutes), 1),
        seconds,
    )


def _activity_at(life: Life, times: list[float], end: float) -> int:
    return life.switches[max(bisect.bisect_left(times, end) - 1, 0)].activity


def short_life(
    seed: int, *, activities: int = 2, stretch: float = 200.0, resources: int = 3
) -> Life:
    """Activities with nothing in common, in turns; the last switch is the one not declared.

    It leads back to the first of them. Two have been at the desk twice, and four once, for so many
    seconds when it comes: a person's first quarter of an hour, when each minute that counts for
    the wrong activity is a large part of all.
    """
    chance = random.Random(f"yarrow short life {seed}")
    names = ("Harbour", "Violin", "Glacier", "Orchard")[:activities]
    events: list[Event] = []
    switches = [
        Switch(_FIRST + turn * stretch, turn % activities, turn % activities)
        for turn in range(FORGOTTEN + 1)
    ]
    for switch in switches:
        end = switch.time + (RIGHT_WITHIN if switch is switches[-1] else stretch)
        now = switch.time
        while now < end:
            name, number = names[switch.activity], chance.randrange(resources)
            paper = "abcdefgh"[number] * 4
            events.append(Event(now, "focus", f"/{name}/{paper}", f"{name} {paper}", "editor"))
            now += max(2.0, 24.0 * chance.lognormvariate(0.0, 1.0))
    events.append(Event(switches[-1].time + RIGHT_WITHIN, "away"))
    return Life(names, tuple(e for e in events if e.time <= events[-1].time), tuple(switches))


class _Person:
    def __init__(
        self, life: Life, watcher: Watcher, answered: float, chance: random.Random
    ) -> None:
        self.names = life.names
        self.watcher = watcher
        self.answered = answered
        self.chance = chance
        self.numbers: dict[int, int] = {}  # activities begin when they are first told of
        self.now = life.events[0].time
        self.truth = -1
        self.since = 0.0
        self.unnoticed = False  # an undeclared switch that no alarm was right about so far
        self.switches = self.alarms = self.right = self.undeclared = 0

    def pass_time(self, to: float) -> None:
        """Minute by minute, so that each alarm is answered before the next vector."""
        while self.now < to:
            self.now = min(self.now + 60, to)
            for alarm in self.watcher.tick(self.now):
                self.answer(alarm)

    def switch(self, switch: Switch) -> None:
        self.truth, self.since = switch.activity, switch.time
        self.unnoticed = False
        if self.switches and self.switches % FORGOTTEN == 0:
            self.undeclared += 1
            self.unnoticed = True
        else:
            self.watcher.feed(Declare(switch.time, self.number(switch.activity)))
        self.switches += 1

    def answer(self, alarm: Alarm) -> None:
        self.alarms += 1
        if alarm.activity == self.numbers.get(self.truth) and self.unnoticed:
            if alarm.time - self.since <= RIGHT_WITHIN:
                self.right += 1
            self.unnoticed = False
        if self.answered < 1 and self.chance.random() >= self.answered:
            return
        if self.watcher.declared == self.numbers.get(self.truth):
            self.watcher.feed(Confirm(self.now))
        else:
            self.watcher.feed(Correct(self.now, self.number(self.truth), self.since))
            self.unnoticed = False

    def number(self, activity: int) -> int:
        if activity not in self.numbers:
            self.numbers[activity] = number = len(self.numbers)
            self.watcher.feed(Create(self.now, number, self.names[activity]))
        return self.numbers[activity]
