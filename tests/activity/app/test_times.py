"""Times that cannot be: refused where they come in, and repaired in logs of older versions."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from activity.sources.test_collector import Remembered
from activity.support import MORNING, Client, HandClock, session_at, titles

from yarrow.activity.app.runner import Runner
from yarrow.activity.app.session import Session
from yarrow.activity.app.transfer import import_history, read_history
from yarrow.activity.log.entries import Create, Declare, Event
from yarrow.activity.log.store import Store
from yarrow.activity.log.validation import AHEAD, LONGEST
from yarrow.activity.sources.activitywatch import Collector
from yarrow.activity.sources.feed import FileFeed, read_line
from yarrow.activity.sources.spans import Change, read_spans
from yarrow.errors import DataError

IMPOSSIBLE = ["1794834939055", "1e15", "1e300", "-62135596801", "-1e300", "-1", '"9999-12-31"',
              "1" + "0" * 400, '"0001-01-01"']  # fmt: skip


# -- times -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stamp", IMPOSSIBLE)
def test_a_line_of_a_time_that_cannot_be_is_named(stamp: str) -> None:
    with pytest.raises(DataError, match="feed, line 3: ") as error:
        read_line(f'{{"kind": "focus", "time": {stamp}}}', "feed", 3, now=MORNING)
    assert len(str(error.value)) < 250


def test_clocks_may_differ_a_little() -> None:
    line = '{{"kind": "focus", "time": {}}}'.format
    assert read_line(line(MORNING + AHEAD), "feed", 1, now=MORNING).time == MORNING + AHEAD
    with pytest.raises(DataError, match=r"field 'time': .* more than 10 minutes ahead of now"):
        read_line(line(MORNING + AHEAD + 1), "feed", 1, now=MORNING)
    assert read_line(line(0), "feed", 1, now=MORNING).time == 0.0


@pytest.mark.parametrize("length", ["1e300", "-1", "1" + "0" * 400, "NaN", "true", "31622401"])
def test_nothing_lasts_longer_than_a_year(length: str) -> None:
    with pytest.raises(DataError, match="field 'duration': must be a number of seconds"):
        read_line(f'{{"kind": "focus", "duration": {length}}}', "feed", 3, now=MORNING)


def test_the_clock_is_not_frozen_by_a_line(tmp_path: Path) -> None:
    feed, clock = tmp_path / "events.jsonl", HandClock()
    session = session_at(clock, tmp_path / "a.sqlite")
    runner = Runner(session, None, {"feed": FileFeed(str(feed), clock.now)})
    bad = [f'{{"kind": "focus", "time": {one}, "title": "t"}}\n' for one in IMPOSSIBLE]
    feed.write_text("".join(bad) + '{"kind": "focus", "title": "good"}\n')
    runner.step()
    assert titles(session) == ["good"]
    assert session.now() == MORNING
    (source,) = runner.sources()
    assert not source["ok"]
    assert f"line {len(bad)}" in source["sentence"]


def event(stamp: str, duration: Any = 10.0) -> dict[str, Any]:
    return {"timestamp": stamp, "duration": duration, "data": {"app": "a", "title": "t"}}


GOOD = event("2026-03-02T09:00:00+00:00")
NO_EVENTS = [
    event("9999-12-31T23:59:59"), event("2036-01-01T00:00:00Z"), event("1969-12-31T00:00:00Z"),
    event("0001-01-01"), event("soon"), event("2026-03-02T09:00:00Z", 1e300), [], None, "x", {},
    event("2026-03-02T09:00:00Z", 10**400), event("2026-03-02T09:00:00Z", "long"),
]  # fmt: skip


@pytest.mark.parametrize("bad", NO_EVENTS)
def test_an_event_of_activitywatch_that_is_none_is_left_out_and_named(bad: Any) -> None:
    class Server(Remembered):
        def events(self, bucket: str, start: float, end: float) -> list[Any]:
            return {"window": [bad, GOOD], "web": [bad], "afk": [bad]}[bucket]

    clock = HandClock(MORNING + 10)
    session = session_at(clock)
    runner = Runner(session, Collector(Server(), clock), {})  # type: ignore[arg-type]
    runner.step()
    assert titles(session) == ["t"]
    (source,) = runner.sources()
    assert not source["ok"]
    assert source["sentence"].startswith("Reading ActivityWatch; skipped: ")
    with pytest.raises(DataError, match="bucket: "):
        read_spans([GOOD, bad], "bucket", MORNING)


def test_what_lasts_into_the_future_is_cut_there(tmp_path: Path) -> None:
    (span,) = read_spans([event("2026-03-02T09:00:00Z", LONGEST)], "w", MORNING + 60)
    assert span[:2] == (MORNING, MORNING + 60)
    now = time.time()
    table = tmp_path / "log.csv"
    table.write_text(f"time,title,duration\n{now - 5},a,{LONGEST}\n")
    store = Store(tmp_path / "a.sqlite")
    import_history(store, read_history(str(table)))
    assert len(store) < 10
    assert store.last()[0] <= time.time() + AHEAD


@pytest.mark.parametrize("stamp", ["1794834939055", "9" * 400, "9999-12-31", "1969-12-01T00:00Z"])
def test_a_file_with_a_time_that_cannot_be_is_refused(tmp_path: Path, stamp: str) -> None:
    table = tmp_path / "log.csv"
    table.write_text(f"time,title\n{MORNING},a\n{stamp},b\n")
    with pytest.raises(DataError, match=r"log\.csv, line 3: no time"):
        read_history(str(table))
    export = tmp_path / "export.json"
    events = [GOOD, event(stamp)]
    export.write_text(json.dumps({"b": {"type": "currentwindow", "events": events}}))
    with pytest.raises(DataError, match=r"export\.json: .* event"):
        read_history(str(export))


@pytest.mark.parametrize("since", [-1, 1e300, 1794834939055, -1e300, 10**400])
def test_a_correction_is_of_a_time_that_can_be(
    client: Client, session: Session, since: float
) -> None:
    client.ask("/api/declare", {"name": "first"})
    before = len(session.store)
    answer = client.ask("/api/correct", {"activity": 0, "since": since})
    assert (answer.status, len(session.store)) == (400, before)
    answer = client.ask("/api/correct", {"activity": 0, "since": 1, "until": since})
    assert (answer.status, len(session.store)) == (400, before)


# -- logs of older versions ------------------------------------------------------------------------


@pytest.mark.parametrize("at", [MORNING + 400 * 86400.0, 1794834939055.0, 1e15, 1e18, 1e300])
def test_a_log_that_is_ahead_comes_back(tmp_path: Path, at: float) -> None:
    path = tmp_path / "a.sqlite"
    store = Store(path)
    store.append([Create(MORNING, 0, "Tax"), Event(MORNING, "focus", "/tax"),
                  Event(at, "focus", "/f"), Create(at, 1, "Garden"),
                  Declare(at, 1)])  # fmt: skip
    clock = HandClock(MORNING + 60)
    session = Session(store, clock)
    session.tick()
    assert "from the future (3)" in store.out_of_time(clock.at)
    since = MORNING + 60 + 86400.0
    assert Store(path).forget(start=since, now=clock.at) == 2  # as 'yarrow activity forget' does
    session.tick()
    assert session.now() == pytest.approx(MORNING + 60)
    assert store.out_of_time(clock.at) == ""
    assert [one.name for one in session.activities()] == ["Tax", "Garden"]
    session.declare("Garden")
    clock.at += 60.0
    session.record([Change(Event(clock.at, "focus", "/beds"), "")])
    session.tick()
    assert session.store.last()[0] == clock.at
    assert (session.recogniser.thought().declared, session.refused) == (1, "")
    again = Session(Store(path), HandClock(clock.at))
    assert again.now() == clock.at


@pytest.mark.parametrize("at", [MORNING + 400 * 86400.0, 1e15])
def test_the_page_can_forget_the_future(client: Client, session: Session, at: float) -> None:
    session.store.append([Create(MORNING, 0, "Tax"), Event(at, "focus", "/f")])
    session.store._seen = -1  # as if another process had written
    session.tick()
    body = {"start": MORNING + 1, "end": 1e300}
    assert client.ask("/api/forget", body).body == {"forgotten": 1}
    assert session.now() == MORNING


@pytest.mark.parametrize("at", [-1.0, -62135596801.0, -1e300])
def test_a_log_from_before_1970_is_repaired(tmp_path: Path, at: float) -> None:
    store = Store(tmp_path / "a.sqlite")
    store.append([Event(at, "focus", "/f"), Create(at, 0, "Tax"), Declare(MORNING, 0)])
    assert "from before 1970 (2)" in store.out_of_time(MORNING)
    assert store.forget(end=86400.0, now=MORNING) == 1
    session = Session(store, HandClock())
    assert (session.recogniser.thought().declared, session.refused) == (0, "")
    assert store.out_of_time(MORNING) == ""


def test_a_clock_that_was_set_back_an_hour_is_no_trouble(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    store.append([Event(MORNING + 3600, "focus", "/f")])
    assert store.out_of_time(MORNING) == ""
