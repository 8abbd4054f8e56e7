"""The state is what a replay of the log gives, whatever came late, twice, or from elsewhere."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from activity.support import MORNING, WORK, HandClock, focus, session_at, work

from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Associate, Create, Declare, Event, Merge, Rename
from yarrow.activity.log.store import Store
from yarrow.activity.model.explain import Alarm
from yarrow.activity.model.recogniser import Recogniser
from yarrow.activity.sources.spans import Change
from yarrow.errors import DataError, ParameterError


def replayed(session: Session, now: float | None = None) -> dict[str, Any]:
    """The state that the whole log gives, without a clock, a checkpoint or a late entry."""
    recogniser = Recogniser()
    for _, entry in session.store.entries():
        recogniser.feed(entry)
    if now is not None:
        recogniser.tick(now)
    return recogniser.state_dict()


def learned(session: Session) -> dict[str, Any]:
    """The state, with time let pass to where the replay has it."""
    return session.recogniser.state_dict()


def asking() -> tuple[Session, Alarm]:
    """A session whose question is open: of a switch that nobody declared."""
    session = session_at(HandClock())
    for name in ("Tax return", "Garden", "Tax return"):
        session.declare(name)
        work(session, name, 12)
    work(session, "Garden", 6)
    alarm = session.alarm()
    assert alarm is not None
    return session, alarm


def test_a_day_with_ticks_is_the_day_of_its_log() -> None:
    session, alarm = asking()
    session.answer(alarm.id, right=True)
    assert learned(session) == replayed(session, session._ticked)


@pytest.mark.parametrize("seed", range(3))
def test_late_events_end_in_the_state_of_events_in_time(seed: int) -> None:
    rng = random.Random(seed)
    clock = HandClock()
    session = session_at(clock)
    late: list[tuple[float, Change]] = []
    for minute in range(100):
        clock.at = MORNING + 60.0 * minute
        if minute % 25 == 0:
            session.declare(rng.choice(list(WORK)))
        name = rng.choice(list(WORK))
        event = focus(clock.at - rng.random(), WORK[name][minute % 2], f"{name} {minute}")
        told_at = clock.at + rng.choice([0.0, 0.0, 3.0, 100.0, 2000.0])
        late.append((told_at, Change(event, f"w@{event.time}")))
        due = [change for at, change in late if at <= clock.at]
        late = [(at, change) for at, change in late if at > clock.at]
        session.record(due)
        session.record(due[:1])  # and some of it twice
        session.tick()
    assert learned(session) == replayed(session, session._ticked)
    assert len(session.store) == len({place for place, _ in session.store.entries()})


def test_another_start_goes_on_where_the_first_was(tmp_path: Path) -> None:
    clock = HandClock()
    first = session_at(clock, tmp_path / "a.sqlite")
    for name in ("Tax return", "Garden", "Tax return"):
        first.declare(name)
        work(first, name, 120)
    work(first, "Garden", 4)
    thought, alarm = first.recogniser.thought(), first.alarm()
    assert alarm is not None
    first.close()
    assert Store(first.store.path).snapshot(first._made_by) is not None
    again = session_at(HandClock(clock.at), tmp_path / "a.sqlite")
    again.tick()
    assert again.recogniser.thought() == thought
    assert again.alarm() == alarm
    assert learned(again) == replayed(again, again._ticked)


def test_the_next_start_takes_only_what_came_after_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = session_at(HandClock(), tmp_path / "a.sqlite", checkpoint_after=600.0)
    first.declare("Tax return")
    work(first, "Tax return", 60)
    assert len(first._checkpoints) == 4  # of six: a checkpoint every ten minutes
    (newest, _), behind = first._checkpoints[-1][0], len(first.store)
    first.close()
    fed: list[float] = []
    feed = Recogniser.feed

    def counted(self: Recogniser, entry: Any) -> Any:
        fed.append(entry.time)
        return feed(self, entry)

    monkeypatch.setattr(Recogniser, "feed", counted)
    again = session_at(HandClock(MORNING + 3600), tmp_path / "a.sqlite")
    assert 0 < len(fed) < behind / 2
    assert min(fed) >= newest
    assert learned(again) == replayed(again)


def test_a_late_event_after_a_start_stands_at_its_own_time(tmp_path: Path) -> None:
    first = session_at(HandClock(), tmp_path / "a.sqlite", checkpoint_after=0.0)
    first.record([Change(focus(MORNING + at, f"/{at}"), "") for at in (0, 60)])
    first.close()
    again = session_at(HandClock(MORNING + 61), tmp_path / "a.sqlite")
    again.record([Change(focus(MORNING + 59.5, "/late"), "")])
    times = [entry.time for _, entry in again.store.entries()]
    assert times == [MORNING, MORNING + 59.5, MORNING + 60]


def test_a_snapshot_of_another_version_is_not_used(tmp_path: Path) -> None:
    first = session_at(HandClock(), tmp_path / "a.sqlite")
    first.declare("Tax return")
    work(first, "Tax return", 40)
    first.close()
    store = Store(tmp_path / "a.sqlite")
    found = store.snapshot(first._made_by)
    assert found is not None
    store.add_snapshot(store.last(), first._made_by, b"no snapshot at all")
    again = Session(store, HandClock(MORNING + 3600))
    assert learned(again) == replayed(again)


def test_what_is_forgotten_was_never_learned(tmp_path: Path) -> None:
    clock = HandClock()
    session = session_at(clock, tmp_path / "a.sqlite")
    for name in ("Tax return", "Garden"):
        session.declare(name)
        work(session, name, 30)
    secret = WORK["Garden"][0]
    assert secret in {one.resource for one in session.recogniser.resources(1)}
    assert session.forget(resource=secret) == 15
    assert secret not in {one.resource for one in session.recogniser.resources(1)}
    assert "beds" not in str(session.recogniser.state_dict())
    assert learned(session) == replayed(session)
    session.close()
    for file in tmp_path.iterdir():
        assert b"beds" not in file.read_bytes()


def test_pages_are_told_of_what_is_forgotten() -> None:
    session = session_at(HandClock())
    session.record([Change(focus(MORNING, "/secret"), "")])
    told = session.version
    assert session.forget(resource="/secret") == 1
    assert session.version == told + 1


def test_only_the_question_that_is_open_is_answered() -> None:
    with pytest.raises(ParameterError, match="no longer open"):
        session_at(HandClock()).answer(0, right=True)
    session, alarm = asking()
    with pytest.raises(ParameterError, match="no longer open"):
        session.answer(alarm.id + 1, right=True)
    assert session.alarm() == alarm


def test_an_event_that_cannot_be_stored_is_left_out_and_a_full_disk_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_at(HandClock())
    append = session.store.append
    trouble: Exception = ValueError("it is too long")

    def refusing(entries: Any, *more: Any) -> Any:
        pending = list(entries)
        if any(getattr(entry, "resource", "") == "/bad" for entry in pending):
            raise trouble
        return append(pending, *more)

    monkeypatch.setattr(session.store, "append", refusing)
    told = [Change(focus(MORNING + i, name), "") for i, name in enumerate(("/a", "/bad", "/b"))]
    assert session.record(told) == 2
    assert session.refused == "an event was skipped: ValueError: it is too long"
    trouble = sqlite3.OperationalError("database or disk is full")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        session.record(told)
    trouble = ValueError("it is too long")
    with pytest.raises(ValueError, match="too long"):  # what a person says is not left out
        session.say(Associate, "/bad", None)


def test_a_forgotten_span_leaves_nothing(tmp_path: Path) -> None:
    clock = HandClock()
    session = session_at(clock, tmp_path / "a.sqlite")
    session.declare("Tax return")
    work(session, "Tax return", 30)
    begin = clock.at
    session.declare("Garden")
    work(session, "Garden", 30)
    session.forget(start=begin, end=clock.at)
    assert [one.name for one in session.activities()] == ["Tax return", "Garden"]
    assert session.recogniser.resources(1) == []
    assert session.recogniser.thought().declared == 0


def test_what_another_process_wrote_is_taken_up(tmp_path: Path) -> None:
    clock = HandClock()
    session = session_at(clock, tmp_path / "a.sqlite")
    session.declare("Tax return")
    work(session, "Tax return", 5)
    other = Store(tmp_path / "a.sqlite")
    other.append([Create(clock.at - 100, 1, "Garden")])
    version = session.version
    session.tick()
    assert [one.name for one in session.activities()] == ["Tax return", "Garden"]
    assert session.version > version


def test_what_is_said_stands_behind_all_that_was_told() -> None:
    clock = HandClock()
    session = session_at(clock)
    session.declare("Tax return")
    session.record([Change(focus(MORNING + 500, "/x"), "")])  # a source whose clock is ahead
    session.declare("Garden")
    assert session.recogniser.thought().declared == 1
    assert session.store.last()[0] == MORNING + 500


def test_a_name_is_an_activity_once_whatever_its_case() -> None:
    session = session_at(HandClock())
    session.declare("Tax  return ")
    session.declare("tax return")
    assert [one.name for one in session.activities()] == ["Tax return"]
    with pytest.raises(ParameterError, match="needs a name"):
        session.declare("  ")


def test_a_name_is_short_enough_to_be_shown() -> None:
    session = session_at(HandClock())
    session.declare("x" * 200)
    before = len(session.store)
    for say in (
        lambda: session.declare("y" * 201),
        lambda: session.say(Rename, 0, "z" * 1_000_000),
    ):
        with pytest.raises(ParameterError, match="a name may have 200 characters") as refused:
            say()
        assert len(str(refused.value)) < 200
    assert len(session.store) == before


def test_a_long_name_in_an_old_log_is_read() -> None:
    session = session_at(HandClock())
    entry = Create(session.now(), session.store.next_activity(), "w" * 500)
    session.recogniser.feed(entry)
    assert [one.name for one in session.recogniser.activities()] == ["w" * 500]


def test_what_cannot_be_said_does_not_enter_the_log() -> None:
    session = session_at(HandClock())
    session.declare("Tax return")
    before = len(session.store)
    for kind, fields in ((Merge, (0, 5)), (Declare, (9,)), (Rename, (9, "x"))):
        with pytest.raises(DataError):
            session.say(kind, *fields)
    assert len(session.store) == before


def test_an_entry_that_no_recogniser_takes_does_not_stop_the_program(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    store.append([Declare(MORNING, 5), Create(MORNING + 1, 0, "Tax return")])
    session = Session(store, HandClock(MORNING + 10))
    assert [one.name for one in session.activities()] == ["Tax return"]
    assert "there is no activity 5" in session.refused


def test_away_events_come_late_and_time_is_taken_back() -> None:
    """A watcher says after three minutes that nobody was there."""
    clock = HandClock()
    session = session_at(clock, lag=20.0)
    session.declare("Tax return")
    work(session, "Tax return", 5)
    clock.at += 600.0
    session.tick()
    seconds = sum(one.seconds for one in session.recogniser.resources(0))
    session.record([Change(Event(MORNING + 300, "away"), "w@away")])
    session.tick()
    kept = sum(one.seconds for one in session.recogniser.resources(0))
    assert seconds > 700
    assert kept == pytest.approx(300, abs=1)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_the_state_is_that_of_the_log(seed: int, tmp_path: Path) -> None:
    """Late events, answers, merges, forgetting and restarts in any order."""
    rng = random.Random(seed)
    clock, path = HandClock(), tmp_path / "a.sqlite"
    session = session_at(clock, path, lag=20.0)
    names = ["A", "B", "C", "D"]

    def happen(step: int) -> None:
        number, late = rng.randrange(4), rng.choice([0, 0, 0, 3, 15, 250, 2000])
        kind = rng.choice(["focus", "focus", "open", "save", "close", "navigate", "away", "back"])
        resource = f"/home/me/{number}/{rng.randrange(3)}"
        event = Event(clock.at - late, kind, resource, f"{names[number]} {rng.randrange(3)}")
        session.record([Change(event, f"origin {step}")])

    def answer(step: int) -> None:
        alarm = session.alarm()
        if alarm is not None:
            session.answer(alarm.id, right=rng.random() < 0.5)

    actions: list[tuple[int, Any]] = [
        (12, happen),
        (4, lambda _: session.declare(rng.choice(names))),
        (3, answer),
        (1, lambda _: session.correct(rng.choice(names), clock.at - rng.uniform(0, 2000))),
        (1, lambda _: session.correct(rng.choice(names), clock.at - 900, clock.at - 300)),
        (1, lambda _: session.say(Associate, f"/home/me/{rng.randrange(4)}/1", 0)),
        (1, lambda _: session.say(Merge, rng.randrange(4), rng.randrange(4))),
        (1, lambda _: session.forget(resource=f"/home/me/{rng.randrange(4)}/2")),
        (1, lambda _: session.forget(start=clock.at - 900, end=clock.at - 600)),
    ]
    weights = [weight for weight, _ in actions]
    for step in range(150):
        clock.at += rng.choice([1, 5, 30, 60, 60, 300])
        (_, act) = rng.choices(actions, weights)[0]
        with contextlib.suppress(DataError, ParameterError):  # what cannot be said changes nothing
            act(step)
        if step % 40 == 39:
            session.close()
            session = session_at(clock, path, lag=20.0)
        if rng.random() < 0.7:
            session.tick()
    assert learned(session) == replayed(session, session._ticked)


def test_what_was_seen_at_the_same_moment_counts_when_something_was_said() -> None:
    clock = HandClock()
    session = session_at(clock)
    session.record([Change(focus(MORNING, "/a"), "")])
    clock.at += 1
    session.declare("Tax return")
    session.record([Change(focus(MORNING, "/b"), "")])  # as late as the last event was early
    times = [entry.time for _, entry in session.store.entries() if isinstance(entry, Event)]
    assert times == [MORNING, MORNING + 1]


def test_pages_are_told_that_time_passes_every_twenty_seconds() -> None:
    clock = HandClock()
    session = session_at(clock)
    session.tick()
    told = session.version
    clock.at += 19.9
    session.tick()
    assert session.version == told
    clock.at = MORNING + 20
    session.tick()
    assert session.version == told + 1


def test_a_snapshot_is_kept_every_four_hours() -> None:
    kept = []
    clock = HandClock()
    session = session_at(clock, checkpoint_after=3600.0)
    session.store.add_snapshot = lambda place, *_: kept.append(place[0])  # type: ignore[method-assign]
    for hour in range(10):
        session.record([Change(focus(MORNING + 3600 * hour, f"/{hour}"), "")])
    assert [(at - MORNING) / 3600 for at in kept] == [0, 4, 8]
