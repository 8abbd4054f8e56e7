"""The simulated day: switches are forgotten, noticed, and answered."""

from __future__ import annotations

import datetime

import pytest

from yarrow.activity.app import demo
from yarrow.activity.app.session import Session
from yarrow.activity.log.store import Store
from yarrow.activity.sources.clock import FastClock

TODAY = datetime.date(2026, 3, 2)


class HandDay(FastClock):
    """A simulated day that a test moves."""

    def __init__(self, at: float) -> None:
        super().__init__(at, demo.SPEED)
        self.at, self.running = at, True

    def now(self) -> float:
        return self.at

    def run(self, running: bool) -> None:
        self.running = running


def test_the_day_tells_of_most_switches_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_ANSWER_AFTER", 0.0)
    store = Store(":memory:")
    store.append(demo.last_week(TODAY))
    clock = HandDay(demo.DemoDay.starts(TODAY))
    session = Session(store, clock, checkpoint_after=float("inf"))
    answers: list[bool] = []
    answer = session.answer

    def counted(alarm: int, *, right: bool) -> None:
        answers.append(right)
        answer(alarm, right=right)

    monkeypatch.setattr(session, "answer", counted)
    day = demo.DemoDay(session, clock, TODAY)
    for _ in range(4000):
        if day.is_over:
            break
        clock.at += 10.0
        day.step()
    assert day.is_over
    forgotten = sum(name is not None and not says for _, name, says in demo.DAY)
    assert answers.count(True) >= forgotten - 2
    assert [one.name for one in session.activities()] == [*demo.WORK, demo.NEW]
    stretches = session.recogniser.stretches(clock.at - 86400, clock.at)
    assert {one.activity for one in stretches} == {0, 1, 2, 3, 4}
    told = day.sources()[0]["sentence"]
    assert told == "The simulated day is over; look around, correct, review"


def test_last_week_is_the_same_each_time() -> None:
    assert demo.last_week(TODAY) == demo.last_week(TODAY)
    times = [entry.time for entry in demo.last_week(TODAY)]
    assert times == sorted(times)
