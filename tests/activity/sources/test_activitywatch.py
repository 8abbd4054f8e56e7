"""A real ActivityWatch server, fed with heartbeats: what the program makes of it."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from activity.support import MORNING, Client, HandClock, asked_until, program, session_at, work
from activity.watching import AFK, SERVER, WEB, WINDOW, Watched, activitywatch, free_port
from click.testing import CliRunner

from yarrow.activity.app.runner import Runner
from yarrow.activity.app.session import Session
from yarrow.activity.log.store import Store
from yarrow.activity.sources.activitywatch import ActivityWatch, Collector, Unreachable, event_of
from yarrow.activity.sources.spans import read_time
from yarrow.cli import main
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
    assert runner.sources() == [{"ok": True, "sentence": "Reading ActivityWatch"}]
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


def test_an_incognito_page_is_neither_stored_nor_learned(watched: Watched, tmp_path: Path) -> None:
    """As aw-watcher-web marks them; its heartbeats come a little after the window's."""
    clock = HandClock(MORNING)
    path = tmp_path / "a.sqlite"
    session, runner = desk(watched, clock, path)
    session.declare("Tax return")
    firefox = {"app": "firefox"}
    for second in range(0, 300, 3):
        at = MORNING + second
        is_secret = 60 <= second < 240
        name = "Divorce lawyer" if is_secret else "Tax office"
        watched.beat(WINDOW, at, title=f"{name} - Mozilla Firefox", **firefox)
        if second % 15 == 9:  # the window is known for some seconds before its page is
            page = {"url": f"https://{name.split()[1]}.example/", "title": name}
            watched.beat(WEB, at, audible=False, incognito=is_secret, tabCount=2, **page)
        clock.at = at + 1
        look(runner)
    assert set(logged_titles(session)) == {"Tax office", "Tax office - Mozilla Firefox"}
    kept = logged_events(session)
    assert (60.0, "away", "") in kept
    assert [at for at, _, name in kept if name][-1] > 240
    assert "awyer" not in repr(list(session.store.entries()))
    assert not session.store.knows("https://lawyer.example/")
    session.tick()
    assert "lawyer" not in json.dumps(session.recogniser.state_dict())
    session.close()
    assert b"awyer" not in b"".join(one.read_bytes() for one in tmp_path.glob("a.sqlite*"))


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
        assert "its window watcher is not" in runner.sources()[0]["sentence"]
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
    with pytest.raises(ParameterError, match="not an ActivityWatch address"):
        ActivityWatch("localhost:5600")


def test_the_program_reads_a_running_activitywatch(watched: Watched, tmp_path: Path) -> None:
    now = time.time()
    watched.beats(WINDOW, now - 30, now, app="kate", title="plan.txt - Kate")
    command = ("run", "--activitywatch", watched.server.address, "--no-notify")
    with program(*command, "--database", tmp_path / "a.sqlite", "--port", "0") as (_, link):
        client = Client(link)
        state = asked_until(
            lambda: client.ask("/api/state").body, lambda state: state["sources"][0]["ok"]
        )
        assert state["sources"][0]["sentence"] == "Reading ActivityWatch"
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


def label(start: float, seconds: float, name: str) -> dict[str, Any]:
    return event_of(MORNING + start, MORNING + start + seconds, {"label": name})


def held(watched: Watched, bucket: str) -> list[tuple[float, float, str]]:
    told = watched.server._ask(f"buckets/{bucket}/events?limit=-1")
    return sorted(
        (round(read_time(one["timestamp"]) - MORNING, 3), one["duration"], one["data"]["label"])
        for one in told
    )


def test_a_part_that_is_written_leaves_the_rest_as_it_was(watched: Watched) -> None:
    bucket, kind = "yarrow-activity_test", "yarrow.activity"
    old = [label(100.0 * n, 90, f"old {n}") for n in range(6)]
    assert watched.server.write(bucket, kind, old) == 0
    numbers = {one["id"] for one in watched.server._ask(f"buckets/{bucket}/events?limit=-1")}
    new = [label(250, 40, "new a"), label(300, 80, "new b")]
    for left in (4, 5):  # the part of the event across the edge is one more the second time
        got = watched.server.write(bucket, kind, new, MORNING + 250, MORNING + 400)
        assert got == left
        assert held(watched, bucket) == [
            (0.0, 90, "old 0"), (100.0, 90, "old 1"), (200.0, 50, "old 2"), (250.0, 40, "new a"),
            (300.0, 80, "new b"), (400.0, 90, "old 4"), (500.0, 90, "old 5"),
        ]  # fmt: skip
    after = {one["id"] for one in watched.server._ask(f"buckets/{bucket}/events?limit=-1")}
    assert len(numbers & after) == 4  # these were not touched at all
    assert watched.server.write(bucket, kind, new) == 0  # without a span: all of it
    assert [name for _, _, name in held(watched, bucket)] == ["new a", "new b"]


def test_an_event_around_the_written_part_is_cut_out(watched: Watched) -> None:
    bucket, kind = "yarrow-activity_test", "yarrow.activity"
    watched.server.write(bucket, kind, [label(0, 1000, "old")])
    watched.server.write(bucket, kind, [], MORNING + 300, MORNING + 400)
    assert held(watched, bucket) == [(0.0, 300, "old"), (400.0, 600, "old")]


def test_export_since_keeps_what_the_bucket_held_before(watched: Watched, tmp_path: Path) -> None:
    database = tmp_path / "a.sqlite"
    clock = HandClock()
    session = session_at(clock, database)
    for turn in range(6):
        session.declare(("Tax return", "Garden")[turn % 2])
        work(session, ("Tax return", "Garden")[turn % 2], 10)
    session.close()
    command = ["activity", "export", "bucket", "--database", str(database),
               "--activitywatch", watched.server.address]  # fmt: skip
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    bucket = next(name for name in watched.server.buckets() if name.startswith("yarrow-activity"))
    before = held(watched, bucket)
    since = datetime.datetime.fromtimestamp(MORNING + 2400).isoformat()
    done = CliRunner().invoke(main, [*command, "--since", since])
    assert done.exit_code == 0, done.output
    assert "outside of that time left as they were" in done.output
    assert held(watched, bucket) == before
    assert len(before) > 4
    done = CliRunner().invoke(main, [*command, "--since", since, "--until", "2026-03-01"])
    assert done.exit_code == 2
    assert "--since is later than --until" in done.output
