"""The page's server: who may ask, and what strangers are told."""

from __future__ import annotations

import http.client
import importlib.resources
import os
import socket
import sqlite3
from pathlib import Path

import pytest
from activity.support import MORNING, Client, focus, work

from yarrow.activity.app.requests import openable
from yarrow.activity.app.server import PageServer
from yarrow.activity.app.session import Session
from yarrow.activity.sources.spans import Change
from yarrow.errors import ParameterError


def test_the_page_may_load_nothing_from_elsewhere(client: Client) -> None:
    folder = Path(str(importlib.resources.files("yarrow.activity.app") / "page"))
    scripts = [f"/{path.name}" for path in folder.glob("*.js")]
    assert len(scripts) > 5
    for path in ("/", "/page.css", *scripts):
        answer = client.ask(path, Authorization=None)
        assert answer.status == 200
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "http" not in policy
        assert "unsafe" not in policy
        assert b"http://" not in answer.body
        assert b"https://" not in answer.body
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    ("path", "body"),
    [("state", None), ("live", None), ("keys", None), ("declare", b'{"name": "x"}')],
)
def test_without_a_key_nothing_is_told_or_taken(
    client: Client, session: Session, path: str, body: bytes | None
) -> None:
    path, method = f"/api/{path}", "GET" if body is None else "POST"
    right = client.guest.pass_for(method, path, body or b"")
    wrong = [None, "", "Yarrow", "Yarrow   ", "Yarrow é", "Bearer x", f"Bearer {client.guest.key}"]
    wrong += [right[:-1], right[7:], f"{right}0", right.replace("Yarrow", "Other")]
    for header in wrong:
        sent = None if header is None else header.encode().decode("latin-1")
        assert client.ask(path, body, Authorization=sent).status == 401
    assert session.activities() == []


@pytest.mark.parametrize("host", [None, "evil.example", "evil.example:{port}", "127.0.0.1:1", ""])
def test_another_name_for_this_machine_is_refused(client: Client, host: str | None) -> None:
    """A stranger's page can make its own name point to 127.0.0.1."""
    sent = None if host is None else host.format(port=client.port)
    for path in ("/", "/api/state"):
        assert client.ask(path, Host=sent).status == 403
    told = client.ask("/api/state", Host=f"localhost:{client.port}")  # ::1 may be another's
    assert told.status == 403
    assert f"the page is at http://127.0.0.1:{client.port}/" in told.body["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_another_page_may_not_ask_even_with_the_key(
    client: Client, session: Session, headers: dict[str, str]
) -> None:
    assert client.ask("/api/declare", {"name": "x"}, **headers).status == 403
    assert session.activities() == []
    own = {"Origin": f"http://127.0.0.1:{client.port}", "Sec_Fetch_Site": "same-origin"}
    assert client.ask("/api/declare", {"name": "x"}, **own).status == 200


def test_a_form_of_another_page_is_refused(client: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        assert client.ask("/api/declare", {"name": "x"}, Content_Type=kind).status == 415


def test_it_listens_on_this_machine_only(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    with socket.socket() as other:  # the same port of another address is free
        other.bind(("127.0.0.2", server.server_port))


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/declare", {"name": " "}, "'name' must be a text"),
        ("/api/declare", {"activity": "x"}, "'activity' must be a whole number"),
        ("/api/declare", {"activity": 7}, "there is no activity number 7"),
        ("/api/declare", {"activity": True}, "'activity' must be a whole number"),
        ("/api/correct", {"name": "a", "since": "soon"}, "'since' must be a number of seconds"),
        ("/api/correct", {"name": "a", "since": float("nan")}, "'since' must be a number"),
        ("/api/accept", {"alarm": 3}, "this question is no longer open"),
        ("/api/merge", {"activity": 0, "into": 0}, "cannot be merged into itself"),
        ("/api/open", {"resource": "/etc/passwd"}, "nothing is recorded about '/etc/passwd'"),
        ("/api/associate", {"resource": "/x", "name": "a"}, "nothing is recorded about '/x'"),
        ("/api/forget", {"start": 5, "end": 4}, "a span that ends after it begins"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(
    client: Client, path: str, body: object, said: str
) -> None:
    client.ask("/api/declare", {"name": "first"})
    answer = client.ask(path, body)
    assert answer.status == 400
    assert said in answer.body["error"]


def test_broken_requests_are_refused(client: Client) -> None:
    assert client.ask("/api/declare", b"{").status == 400
    assert client.ask("/api/declare", b"[]").status == 400
    assert client.ask("/api/declare", b"{}", Content_Length="9" * 12).status == 413
    assert client.ask("/api/nothing").status == 404
    assert client.ask("/api/nothing", {}).status == 404
    assert client.ask("/../../etc/passwd").status == 404
    assert client.ask("/api/state?start=soon").status == 400
    assert client.ask("/api/state").status == 200  # and it still answers


def test_a_full_disk_is_told_and_survived(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def full(*_: object, **__: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        patch.setattr(session.store, "append", full)
        answer = client.ask("/api/declare", {"name": "Tax return"})
        assert answer.status == 500
        assert answer.body["error"] == "the log cannot be written (database or disk is full)."
    assert session.activities() == []
    assert client.ask("/api/declare", {"name": "Tax return"}).status == 200


def test_a_page_that_listens_is_told_of_changes(client: Client, session: Session) -> None:
    connection = http.client.HTTPConnection(client.host, client.port, timeout=10)
    header = {"Authorization": client.guest.pass_for("GET", "/api/live")}
    connection.request("GET", "/api/live", headers=header)
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream"

    def next_version() -> int:
        line = answer.readline()
        while not line.startswith(b"data: "):
            line = answer.readline()
        return int(line[6:])

    before = next_version()
    session.declare("Tax return")
    while next_version() == before:
        pass
    state = client.ask("/api/state").body
    assert [one["name"] for one in state["activities"]] == ["Tax return"]
    connection.close()


def test_only_what_is_recorded_is_opened(
    client: Client, session: Session, opened: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "a file.txt"
    file.touch()
    address = "https://example.org/page"
    other = "window:editor/x"
    resources = [str(file), address, other, "/gone", "javascript:alert(1)"]
    session.declare("Tax return")
    changes = [Change(focus(MORNING + n, name), "") for n, name in enumerate(resources)]
    session.record(changes)
    session.clock.at += 3600  # type: ignore[attr-defined]
    session.tick()
    for resource in (str(file), address):
        assert client.ask("/api/open", {"resource": resource}).status == 200
    for resource in (other, "/gone", "javascript:alert(1)"):
        answer = client.ask("/api/open", {"resource": resource})
        assert answer.status == 400
        assert "only existing files and web pages" in answer.body["error"]
    assert opened == [str(file), address]
    assert client.ask("/api/open-all", {"activity": 0}).body == {"opened": 2}
    listed = client.ask("/api/resources?activity=0").body
    assert {one["resource"] for one in listed if one["openable"]} == {str(file), address}


def test_what_the_desktop_may_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "a b.txt"
    file.touch()
    assert openable(str(file)) == str(file)
    assert openable(f"file://{tmp_path}/a%20b.txt") == str(file)
    assert openable("~/a b.txt") == str(file)
    assert openable("http://example.org") == "http://example.org"
    for no in ("--help", "a b.txt", "ftp://x/y", "data:text/html,x", "file:///gone", "http://", ""):
        assert openable(no) is None
        assert not os.path.exists(no) or no == ""


def test_a_port_that_is_taken_is_told(server: PageServer) -> None:
    with pytest.raises(ParameterError, match=f"port {server.server_port} of this machine cannot"):
        PageServer(server.requests, port=server.server_port)


def test_an_alarm_is_told_and_answered(client: Client, session: Session) -> None:
    for _ in range(2):
        for name in ("Tax return", "Garden"):
            session.declare(name)
            work(session, name, 15)
    work(session, "Tax return", 5)  # and did not say so
    state = client.ask("/api/state").body
    assert state["alarm"]["activity"] == 0
    assert state["declared"]["activity"] == 1
    assert any("tax" in reason["what"] for reason in state["alarm"]["reasons"])
    number = state["alarm"]["id"]
    assert client.ask("/api/accept", {"alarm": number}).status == 200
    state = client.ask("/api/state").body
    assert state["alarm"] is None
    assert state["declared"]["activity"] == 0
    assert client.ask("/api/accept", {"alarm": number}).status == 400  # a key pressed twice
