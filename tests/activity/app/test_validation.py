"""What comes from outside: half characters, JSON that nobody can read, errors nobody foresaw."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from activity.sources.test_collector import Remembered
from activity.support import MORNING, Client, HandClock, session_at, titles

from yarrow.activity.app.requests import openable
from yarrow.activity.app.runner import Runner
from yarrow.activity.app.server import PageServer
from yarrow.activity.app.session import Session
from yarrow.activity.app.transfer import import_history, read_history
from yarrow.activity.log.entries import Create, Event
from yarrow.activity.log.store import Store
from yarrow.activity.log.validation import read_json, whole
from yarrow.activity.sources.activitywatch import ActivityWatch, Collector, Unreachable
from yarrow.activity.sources.feed import FileFeed, read_line
from yarrow.activity.sources.spans import Change
from yarrow.errors import DataError, ParameterError

HALF = r"\ud83d"  # as JSON has it: one half of an emoji
DEEP = "[" * 50_000 + "]" * 50_000


# -- text ------------------------------------------------------------------------------------------


def test_half_a_character_is_replaced_and_a_whole_one_is_not() -> None:
    assert whole("a\ud83db\udc00\0") == "a\ufffdb\ufffd\ufffd"
    for text in ("", "plain", "Zażółć 🎉", "\ufffd"):
        assert whole(text) is text
    event = Event(1.0, "focus", "/x\udcff", "half \ud83d", "app\0")
    assert (event.resource, event.title, event.application) == (
        "/x\ufffd",
        "half \ufffd",
        "app\ufffd",
    )


def test_an_event_is_not_lost_for_half_a_character(tmp_path: Path) -> None:
    feed = tmp_path / "events.jsonl"
    clock = HandClock()
    session = session_at(clock, tmp_path / "a.sqlite")
    runner = Runner(session, None, {"feed": FileFeed(str(feed), clock.now)})
    with feed.open("wb") as file:
        file.write(b'{"kind": "focus", "resource": "/x", "title": "Party %s"}\n' % HALF.encode())
        file.write(b'{"kind": "focus", "resource": "/y%s", "title": "cut \xf0\x9f"}\n'
                   % HALF.encode())  # fmt: skip
        file.write(b'{"kind": "focus", "resource": "/z", "title": "whole \\ud83c\\udf89"}\n')
    runner.step()
    assert titles(session) == ["Party \ufffd", "cut \ufffd", "whole 🎉"]
    assert [one["ok"] for one in runner.sources()] == [True]
    session.close()
    again = session_at(HandClock(MORNING + 10), tmp_path / "a.sqlite")  # and a restart goes on
    assert titles(again) == ["Party \ufffd", "cut \ufffd", "whole 🎉"]
    assert again.forget(resource="/y\ud83d") == 1  # by either name


def test_activitywatch_tells_half_a_character_too() -> None:
    told, clock = Remembered(), HandClock(MORNING + 30)
    data = {"app": "kate\ud83d", "title": "Party \ud83d"}
    told.spans["window"].append((MORNING, MORNING + 30, data, MORNING))
    told.now = clock.at
    session = session_at(clock)
    runner = Runner(session, Collector(told, clock), {})  # type: ignore[arg-type]
    runner.step()
    assert titles(session) == ["Party \ufffd"]
    assert all(one["ok"] for one in runner.sources())


def test_a_history_with_half_characters_is_imported_once(tmp_path: Path) -> None:
    event = {"timestamp": "2026-03-02T09:00:00+00:00", "duration": 90.0,
             "data": {"app": "kate", "title": "Party \ud83d"}}  # fmt: skip
    bucket = {"type": "currentwindow", "hostname": "desk\ud83d", "events": [event]}
    export, rules = tmp_path / "export.json", tmp_path / "rules.json"
    export.write_text(json.dumps({"buckets": {"window\ud83d": bucket}}))
    rule = {"name": ["Fun \ud83d"], "rule": {"type": "regex", "regex": "Party"}}
    rules.write_text(json.dumps({"categories": [rule]}))
    store = Store(tmp_path / "a.sqlite")
    done = import_history(store, read_history(str(export), categories=str(rules)))
    assert done.activities == ["Fun \ufffd"]
    again = import_history(store, read_history(str(export), categories=str(rules)))
    assert (again.new, again.activities) == (0, [])
    assert Session(store, HandClock(MORNING + 900)).refused == ""


@pytest.mark.parametrize("path", ["declare", "rename", "associate", "open", "forget", "correct"])
def test_what_a_person_types_is_refused(client: Client, session: Session, path: str) -> None:
    client.ask("/api/declare", {"name": "first"})
    before = len(session.store)
    for half in (HALF, r"\u0000"):
        fields = f'"activity": 0, "name": "x{half}", "resource": "x{half}", "since": 1'
        answer = client.ask(f"/api/{path}", f"{{{fields}}}".encode())
        assert answer.status == 400
        assert "has half a character or a NUL in it" in answer.body["error"]
    assert len(session.store) == before


def test_a_name_with_half_a_character_enters_no_log(tmp_path: Path) -> None:
    session = session_at(HandClock())
    for name in ("\ud800", "a\0b"):
        with pytest.raises(ParameterError, match="half a character"):
            session.declare(name)
    assert len(session.store) == 0
    with pytest.raises(ParameterError, match="half a character"):
        session.store.add_never("\udcff")
    with pytest.raises(ParameterError, match="half a character"):
        session.store.forget(matching="\udcff")


def test_a_name_that_an_older_version_let_in_is_repaired(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    store.append([Create(MORNING, 0, "\ud800")])
    assert [entry for _, entry in store.entries()] == [Create(MORNING, 0, "\ufffd")]
    session = Session(store, HandClock())
    assert ([one.name for one in session.activities()], session.refused) == (["\ufffd"], "")


def test_an_origin_may_have_half_a_character(tmp_path: Path) -> None:
    """A feed whose file has a name that is no text."""
    store = Store(tmp_path / "a.sqlite")
    assert len(store.append([Event(1.0, "back")], ["feed:\udcff:1"])) == 1
    assert store.append([Event(1.0, "back")], ["feed:\udcff:1"]) == []


# -- JSON ------------------------------------------------------------------------------------------


def test_what_is_nested_too_deep_is_refused_everywhere(client: Client, tmp_path: Path) -> None:
    for deep in (DEEP, "[" * 102 + "]" * 102, '{"a":' * 900 + "1" + "}" * 900):
        body = f'{{"name": {deep}}}'
        answer = client.ask("/api/declare", body.encode())
        assert answer.status == 400
        assert answer.body["error"].endswith("(more than 100 levels of brackets).")
        with pytest.raises(DataError, match=r"feed, line 1: .* levels of brackets"):
            read_line(f'{{"kind": "focus", "title": {deep}}}', "feed", 1, now=0.0)
        (tmp_path / "a.json").write_text(body)
        with pytest.raises(DataError, match=r"a\.json: is not JSON"):
            read_history(str(tmp_path / "a.json"))
    assert client.ask("/api/state").status == 200
    assert read_json("[" * 100 + "]" * 100)


def test_numbers_that_are_none_are_refused(client: Client) -> None:
    client.ask("/api/declare", {"name": "first"})
    for number in ("--5", "9" * 5000, "1e3", "५" * 30):
        assert client.ask("/api/declare", {"activity": number}).status == 400
    assert client.ask("/api/resources?activity=--5").status == 400
    assert (
        client.ask(f"/api/declare?{'9' * 5000}", b'{"activity": %s}' % (b"9" * 5000)).status == 400
    )
    assert client.ask("/api/forget", {"start": 10**400, "end": 5}).status == 400


def test_addresses_that_are_none_are_not_opened(client: Client, session: Session) -> None:
    assert openable("http://[") is None
    assert openable("file://[") is None
    assert client.ask("http://[/api/state").status == 404
    session.declare("first")
    session.record([Change(Event(MORNING, "focus", "http://[", "x"), "")])
    session.clock.at += 600  # type: ignore[attr-defined]
    session.tick()
    (found,) = client.ask("/api/resources?activity=0").body
    assert not found["openable"]


def test_an_unexpected_error_is_answered(
    client: Client, server: PageServer, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "handle_error", lambda *_: None)
    monkeypatch.setattr(session, "declare", lambda _: 1 / 0)
    answer = client.ask("/api/declare", {"name": "x"})
    assert answer.status == 500
    assert "Unexpected error (ZeroDivisionError)" in answer.body["error"]
    assert client.ask("/api/state").status == 200


class Junk:
    """An answer that no ActivityWatch gives."""

    def __init__(self, body: bytes) -> None:
        self.read = lambda: body

    def __enter__(self) -> Junk:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("body", [b"[]", b'{"a": 5}', b"{", b"\xff", DEEP.encode(), b"null"])
def test_what_answers_like_no_activitywatch_is_told(body: bytes) -> None:
    server = ActivityWatch()
    server._open = lambda *_, **__: Junk(body)  # type: ignore[assignment, return-value]
    with pytest.raises(Unreachable, match=r"not ActivityWatch|does not answer"):
        server.buckets()
    if body != b"[]":
        with pytest.raises(Unreachable, match=r"not ActivityWatch|does not answer"):
            server.events("a\ud83d", 0.0, 1.0)


# -- the thread that collects ----------------------------------------------------------------------


class Broken:
    """A source with an error in its program."""

    refused: list[str] = []  # noqa: RUF012

    def collect(self) -> list[Change]:
        raise ZeroDivisionError("a bug")


def test_an_unexpected_error_does_not_end_collection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, clock = tmp_path / "events.jsonl", HandClock()
    feed.write_text('{"kind": "focus", "title": "a"}\n')
    session = session_at(clock)
    feeds = {"broken": Broken(), "feed": FileFeed(str(feed), clock.now)}
    runner = Runner(session, None, feeds)
    for _ in range(3):
        runner.step()
    assert titles(session) == ["a"]
    assert capsys.readouterr().err.count("Traceback") == 1  # not every second
    sentence = "an unexpected error (ZeroDivisionError: a bug); retrying"
    assert {"ok": False, "sentence": sentence} in runner.sources()
    del feeds["broken"]
    runner._feeds.pop("broken", None)
    runner.step()
    assert [one["ok"] for one in runner.sources()] == [True]


def test_the_thread_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop itself, with an error in each part of a round."""
    session = session_at(HandClock())
    runner = Runner(session, None, {"broken": Broken()})
    rounds = iter([False, False, True])
    monkeypatch.setattr(runner._stopped, "wait", lambda _: next(rounds))
    monkeypatch.setattr(session, "tick", lambda: 1 / 0)
    runner.notify = True
    monkeypatch.setattr(runner, "_show_alarm", lambda: math.sqrt(-1))
    runner.run()
    told = runner.sources()[-1]["sentence"]
    assert "a bug" in told
    assert "division by zero" in told
    assert "math domain error" in told


def test_one_event_that_cannot_be_stored_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_at(HandClock())
    append = session.store.append

    def sometimes(entries: Any, *rest: Any) -> Any:
        if any(entry.title == "bad" for entry in entries):
            raise OverflowError("too large")
        return append(entries, *rest)

    monkeypatch.setattr(session.store, "append", sometimes)
    told = [Change(Event(MORNING + n, "focus", "", title), "") for n, title in enumerate("abc")]
    told.insert(1, Change(Event(MORNING, "focus", "", "bad"), ""))
    assert session.record(told, {"read": "1"}) == 3
    assert titles(session) == ["a", "b", "c"]
    assert session.store.setting("read") == "1"
    assert session.refused == "an event was skipped: OverflowError: too large"


def test_what_the_recogniser_cannot_take_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_at(HandClock())
    feed = session.recogniser.feed

    def sometimes(entry: Any) -> Any:
        if getattr(entry, "title", "") == "bad":
            raise KeyError("a bug")
        return feed(entry)

    monkeypatch.setattr(session.recogniser, "feed", sometimes)
    told = [Change(Event(MORNING + n, "focus", "", t), "") for n, t in enumerate(["bad", "good"])]
    assert session.record(told) == 2
    assert session._place[0] == MORNING + 1
    assert session.refused == "an entry of the log was skipped: KeyError: 'a bug'"
