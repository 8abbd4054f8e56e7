"""A real ActivityWatch server, fed with heartbeats: what the program makes of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from activity.support import MORNING, Client, HandClock, program, session_at
from activity.watching import AFK, SERVER, WEB, WINDOW, Watched, activitywatch, free_port

from yarrow.activity.activitywatch import ActivityWatch, Collector, Unreachable
from yarrow.activity.runner import Runner
from yarrow.activity.session import Session
from yarrow.activity.store import Store
from yarrow.errors import ParameterError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SERVER is None, reason="needs aw-server"),
]


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with activitywatch(tmp_path_factory.mktemp("aw")) as watched:
        yield watched


@pytest.fixture
def watched(one_server: Watched) -> Watched:
    """The server, with empty buckets."""
    for bucket in one_server.server.buckets():
        one_server.server._ask(f"buckets/{bucket}?force=1", method="DELETE")
    for bucket in (WINDOW, WEB, AFK):
        one_server.create(bucket)
    return one_server


def desk(
    watched: Watched, clock: HandClock, path: str | Path = ":memory:"
) -> tuple[Session, Runner]:
    session = session_at(clock, path, lag=20.0)
    return session, Runner(session, Collector(watched.server, clock), {})


def look(runner: Runner) -> None:
    """Ask now, however recently it was asked."""
    runner._ask_at = 0.0
    runner.step()


def logged(session: Session) -> list[tuple[float, str, str]]:
    return [
        (round(entry.time - MORNING, 2), entry.kind, entry.resource or entry.title)  # type: ignore[union-attr]
        for _, entry in session.store.entries()
    ]


def test_windows_pages_and_an_idle_keyboard(watched: Watched) -> None:
    watched.beats(AFK, MORNING, MORNING + 100, status="not-afk")
    watched.beats(WINDOW, MORNING, MORNING + 40, app="kate", title="plan.txt - Kate")
    watched.beats(WINDOW, MORNING + 45, MORNING + 110, app="firefox", title="Soil - Firefox")
    watched.beats(WEB, MORNING + 45, MORNING + 100, url="https://soil.example/", title="Soil")
    clock = HandClock(MORNING + 110)
    session, runner = desk(watched, clock)
    look(runner)
    first = [
        (0.0, "back", ""),
        (0.0, "focus", "window:kate/plan.txt"),
        (45.0, "navigate", "https://soil.example/"),
    ]
    assert logged(session) == first
    assert runner.sources() == [{"ok": True, "sentence": "ActivityWatch is read"}]
    # The watcher of the keyboard says late that nobody has been there.
    watched.beats(WINDOW, MORNING + 110, MORNING + 400, app="firefox", title="Soil - Firefox")
    watched.beats(AFK, MORNING + 100.5, MORNING + 400, status="afk")
    clock.at = MORNING + 405
    look(runner)
    assert (100.5, "away", "") in logged(session)
    watched.beats(AFK, MORNING + 410, MORNING + 420, status="not-afk")
    watched.beats(WINDOW, MORNING + 410, MORNING + 420, app="kate", title="plan.txt - Kate")
    clock.at = MORNING + 425
    look(runner)
    assert logged(session)[-2:] == [(410.0, "back", ""), (410.0, "focus", "window:kate/plan.txt")]
    before = logged(session)
    for _ in range(3):
        look(runner)
    assert logged(session) == before


def test_heartbeats_twice_late_and_over_each_other(watched: Watched) -> None:
    for _ in range(2):
        watched.beats(WINDOW, MORNING, MORNING + 60, app="kate", title="a")
    watched.beats(WINDOW, MORNING + 30, MORNING + 90, app="kate", title="b")  # while a went on
    watched.beat(WINDOW, MORNING + 80, app="kate", title="c")
    watched.beat(WINDOW, MORNING + 80, app="kate", title="c")
    clock = HandClock(MORNING + 100)
    session, runner = desk(watched, clock)
    for _ in range(3):
        look(runner)
    names = [name for _, kind, name in logged(session) if kind == "focus"]
    assert set(names) == {"window:kate/a", "window:kate/b", "window:kate/c"}
    times = [at for at, kind, _ in logged(session) if kind == "focus"]
    assert len(set(times)) == len(times)
    assert times == sorted(times)


def test_a_machine_that_slept_was_left(watched: Watched) -> None:
    watched.beats(WINDOW, MORNING, MORNING + 50, app="kate", title="a")
    clock = HandClock(MORNING + 50)
    session, runner = desk(watched, clock)
    look(runner)
    night = 9 * 3600.0
    watched.beats(WINDOW, MORNING + night, MORNING + night + 20, app="kate", title="a")
    clock.at = MORNING + night + 20
    look(runner)
    assert logged(session)[2:] == [
        (50.0, "away", ""),
        (night, "back", ""),
        (night, "focus", "window:kate/a"),
    ]


def test_a_watcher_that_died_is_being_away(watched: Watched) -> None:
    watched.beats(WINDOW, MORNING, MORNING + 50, app="kate", title="a")
    clock = HandClock(MORNING + 50)
    session, runner = desk(watched, clock)
    for _ in range(20):
        look(runner)
        clock.at += 30.0
    assert logged(session)[-1] == (50.0, "away", "")


def test_a_clock_that_was_set_back(watched: Watched) -> None:
    """An hour back: what happens now still comes after what happened before."""
    clock = HandClock(MORNING + 3600)
    watched.beats(WINDOW, MORNING + 3500, MORNING + 3600, app="kate", title="before")
    session, runner = desk(watched, clock)
    look(runner)
    session.declare("Tax return")
    clock.at = MORNING + 10.0
    watched.beats(WINDOW, MORNING + 10, MORNING + 40, app="kate", title="after")
    look(runner)
    clock.at = MORNING + 40.0
    look(runner)
    session.declare("Garden")
    told = logged_titles(session)
    assert told[-1] == "after"
    assert session.recogniser.thought().declared == 1
    assert session.clock.now() == pytest.approx(MORNING + 3630, abs=1)


def logged_titles(session: Session) -> list[str]:
    return [e.title for _, e in session.store.entries() if getattr(e, "title", "")]  # type: ignore[union-attr]


def test_restarts_of_either_side_neither_lose_nor_double(tmp_path: Path) -> None:
    port, clock = free_port(), HandClock(MORNING + 60)
    database = tmp_path / "a.sqlite"

    def history(watched: Watched, until: float) -> None:
        """What watchers deliver, all of it, since the server keeps nothing."""
        for bucket in (WINDOW, AFK):
            watched.create(bucket)
        watched.beats(WINDOW, MORNING, MORNING + 50, app="kate", title="a")
        if until > 60:
            watched.beats(WINDOW, MORNING + 50.5, MORNING + 900, every=50, app="kate", title="b")
            watched.beats(WINDOW, MORNING + 900.5, until, app="kate", title="c")

    with activitywatch(tmp_path, port) as watched:
        history(watched, MORNING + 50)
        session, runner = desk(watched, clock, database)
        look(runner)
        first = logged(session)
    clock.at = MORNING + 600
    look(runner)  # nobody answers: nothing is lost, and nobody is taken to be away
    assert logged(session) == first
    assert "does not answer" in runner.sources()[0]["sentence"]
    session.declare("Tax return")  # the page goes on
    session.close()
    clock.at = MORNING + 960
    again = Session(Store(database), clock, lag=20.0)
    with activitywatch(tmp_path, port) as watched:
        runner = Runner(again, Collector(watched.server, clock, MORNING + 50), {})
        look(runner)  # the watchers have not come back yet
        assert "no watcher of windows" in runner.sources()[0]["sentence"]
        history(watched, MORNING + 950)
        for _ in range(3):
            look(runner)
        assert runner.sources()[0]["ok"]
    told = [(at, kind, name) for at, kind, name in logged_events(again)]
    assert told[:2] == [(0.0, "back", ""), (0.0, "focus", "window:kate/a")]
    assert [name for _, _, name in told].count("window:kate/a") == 1
    assert [at for at, _, name in told if name == "window:kate/b"] == [50.5, 300.0, 600.0]
    assert told[-1] == (900.5, "focus", "window:kate/c")
    assert "away" not in [kind for _, kind, _ in told]


def logged_events(session: Session) -> list[tuple[float, str, str]]:
    return [
        (round(e.time - MORNING, 2), e.kind, e.resource)
        for _, e in session.store.entries()
        if hasattr(e, "kind")
    ]


def test_what_is_no_activitywatch_is_told() -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Collector(ActivityWatch(f"http://127.0.0.1:{free_port()}"), HandClock()).collect()
    with pytest.raises(ParameterError, match="no address of ActivityWatch"):
        ActivityWatch("localhost:5600")


def test_the_program_reads_a_running_activitywatch(watched: Watched, tmp_path: Path) -> None:
    now = time.time()
    watched.beats(WINDOW, now - 30, now, app="kate", title="plan.txt - Kate")
    command = ("run", "--activitywatch", watched.server.address, "--no-notify")
    with program(*command, "--database", tmp_path / "a.sqlite", "--port", "0") as (_, link):
        client = Client(link)
        for _ in range(100):
            state = client.ask("/api/state").body
            if state["sources"][0]["ok"]:
                break
            time.sleep(0.1)
        assert state["sources"][0]["sentence"] == "ActivityWatch is read"
        client.ask("/api/declare", {"name": "Tax return"})
        client.ask("/api/associate", {"resource": "window:kate/plan.txt", "name": "Tax return"})
        found = client.ask("/api/resources?activity=0").body
        assert [one["resource"] for one in found] == ["window:kate/plan.txt"]


def test_what_is_written_to_activitywatch_is_there(watched: Watched) -> None:
    stamp = "2026-03-02T09:00:00+00:00"
    events = [{"timestamp": stamp, "duration": 60, "data": {"label": "Tax return"}}]
    for _ in range(2):  # written twice, it is there once
        watched.server.write("yarrow-activity_test", "yarrow.activity", events)
    told = watched.server.events("yarrow-activity_test", MORNING - 10, MORNING + 100)
    assert [json.dumps(one["data"]) for one in told] == ['{"label": "Tax return"}']
