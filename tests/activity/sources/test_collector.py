"""However often one looks, and however late watchers tell, the same day is in the log."""

from __future__ import annotations

import datetime
import random
import socket
import sqlite3
from collections.abc import Iterable
from typing import Any

import pytest
from activity.support import MORNING, HandClock, session_at

from yarrow.activity.app.runner import Runner
from yarrow.activity.log.entries import Event
from yarrow.activity.sources.activitywatch import Collector
from yarrow.activity.sources.spans import changes, read_spans

_BUCKETS = {"window": "currentwindow", "web": "web.tab.current", "afk": "afkstatus"}


class Remembered:
    """What a server would answer at a time: spans known by then, cut to what is asked for."""

    address = "remembered"

    def __init__(self) -> None:
        self.now = MORNING
        self.spans: dict[str, list[tuple[float, float, dict[str, str], float]]] = {
            name: [] for name in _BUCKETS
        }

    def buckets(self) -> dict[str, Any]:
        here = socket.gethostname()
        return {name: {"type": kind, "hostname": here} for name, kind in _BUCKETS.items()}

    def events(self, bucket: str, start: float, end: float) -> list[dict[str, Any]]:
        found = []
        for begin, finish, data, known in self.spans[bucket]:
            until = min(finish, max(self.now, begin))
            if known <= self.now and until >= start and begin <= end:
                at = max(begin, start)  # ActivityWatch cuts there
                stamp = datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat()
                found.append({"timestamp": stamp, "duration": until - at, "data": data})
        return found


def test_what_could_not_be_written_is_written_later(monkeypatch: pytest.MonkeyPatch) -> None:
    told, clock = Remembered(), HandClock(MORNING + 30)
    told.spans["window"].append((MORNING, MORNING + 30, {"app": "kate", "title": "a"}, MORNING))
    told.now = clock.at
    session = session_at(clock)
    runner = Runner(session, Collector(told, clock), {})  # type: ignore[arg-type]
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        patch.setattr(session.store, "append", full)
        runner.step()
        sentence = "the log cannot be written (database or disk is full)"
        assert {"ok": False, "sentence": sentence} in runner.sources()
    assert len(session.store) == 0
    runner._ask_at = 0.0
    runner.step()
    assert [one["ok"] for one in runner.sources()] == [True]
    assert [entry.kind for _, entry in session.store.entries()] == ["back", "focus"]  # type: ignore[union-attr]


def test_a_switch_is_noticed_by_windows_alone() -> None:
    told, clock = Remembered(), HandClock(MORNING)
    session = session_at(clock, lag=20.0)
    runner = Runner(session, Collector(told, clock), {})  # type: ignore[arg-type]

    def minutes(name: str, count: int) -> None:
        for minute in range(count):
            title = f"{name} {'plan' if minute % 2 else 'notes'}.txt - Kate"
            start, data = clock.at, {"app": "kate", "title": title}
            told.spans["window"].append((start, start + 60.0, data, start + 7.0))
            for _ in range(6):
                clock.at += 10.0
                told.now, runner._ask_at = clock.at, 0.0
                runner.step()

    for name in ("Tax", "Garden", "Tax", "Garden"):
        session.declare(name)
        minutes(name, 12)
    assert session.alarm() is None
    switched = clock.at
    minutes("Tax", 4)  # and did not say so
    alarm = session.alarm()
    assert alarm is not None
    assert alarm.activity == 0
    assert alarm.since == pytest.approx(switched, abs=60)
    session.answer(alarm.id, right=True)
    minutes("Tax", 10)
    assert session.alarm() is None


def a_day(rng: random.Random) -> tuple[Remembered, float]:
    """Windows, pages and idle times of four hours; what is known of them comes late."""
    told, at = Remembered(), MORNING
    while at < MORNING + 4 * 3600:
        length = rng.choice([3, 20, 60, 400, 1500])
        application, title = rng.choice(["kate", "firefox"]), f"title {rng.randrange(5)}"
        data = {"app": application, "title": title}
        told.spans["window"].append((at, at + length, data, at + rng.uniform(0, 8)))
        if application == "firefox":
            page = {"url": f"https://example.org/{rng.randrange(4)}", "title": "page"}
            begin = at + rng.uniform(0, 3)
            told.spans["web"].append((begin, at + length, page, begin + rng.uniform(0, 5)))
        at += length + (rng.choice([30, 100, 500, 4000]) if rng.random() < 0.1 else 0)
    end, at, idle = at, MORNING, False
    while at < end:
        length = rng.uniform(200, 1500)
        data = {"status": "afk" if idle else "not-afk"}
        told.spans["afk"].append((at, at + length, data, at + (185 if idle else 3)))
        at, idle = at + length, not idle
    return told, end


def moments(events: Iterable[Event], end: float) -> list[tuple[str, str] | None]:
    """What was in front every ten seconds; None: nobody was there."""
    shown: list[tuple[str, str] | None] = []
    front: tuple[str, str] | None = None
    there = False
    pending = sorted(events, key=lambda event: event.time)
    at, place = MORNING + 5.0, 0
    while at < end:
        while place < len(pending) and pending[place].time <= at:
            event = pending[place]
            there = event.kind != "away"
            if event.kind in ("focus", "navigate"):
                front = (event.resource, event.title)
            place += 1
        shown.append(front if there else None)
        at += 10.0
    return shown


@pytest.mark.parametrize("seed", range(12))
def test_looking_often_is_looking_once(seed: int) -> None:
    rng = random.Random(seed)
    told, end = a_day(rng)
    clock = HandClock(MORNING)
    session = session_at(clock, lag=20.0, checkpoint_after=1e9)
    runner = Runner(session, Collector(told, clock), {})  # type: ignore[arg-type]
    session._replay = lambda since: None  # type: ignore[method-assign]  # only the log matters here
    while clock.at < end + 2000:
        told.now = clock.at
        runner._ask_at = 0.0
        runner._ask(runner._collector)  # type: ignore[arg-type]
        clock.at += rng.choice([5, 5, 5, 60])
    logged = [entry for _, entry in session.store.entries() if isinstance(entry, Event)]
    once = changes(
        *(read_spans(told.events(name, 0.0, 1e12), name) for name in _BUCKETS),
        bucket="window", now=clock.at, has_web=True,
    )  # fmt: skip
    expected = moments([change.event for change in once], end)
    found = moments(logged, end)
    assert expected.count(None) > 50
    different = [place for place, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b]
    assert len(different) <= 0.005 * len(expected)
    assert len(logged) < 3 * len(once)
