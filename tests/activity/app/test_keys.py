"""The keys: what a recorded request is worth, and what a tab tells another program at its port."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from activity.strangers import Stranger
from activity.support import Client, asked_until, program

from yarrow.activity.app import keys
from yarrow.activity.app.keys import Guest, Keys, proof
from yarrow.activity.app.requests import Requests
from yarrow.activity.app.server import PageServer
from yarrow.activity.app.session import Session
from yarrow.activity.log.store import Store

HERE = "http://127.0.0.1:5609"
ASKED = ("POST", "/api/declare", b'{"name": "x"}')


def pass_of(one: Keys, key: str, at: str = HERE, number: str = "1f", moment: str = "") -> str:
    """The header of a request, made by hand."""
    moment = moment or one.greeted(number)["moment"]
    return f"Yarrow {number} {moment} {proof(key, 'page', at, number, moment, *ASKED)}"


def test_a_request_is_taken_once() -> None:
    one = Keys(HERE)
    for key in (one.run, one.lasting):
        header = pass_of(one, key, number=key[:5].encode().hex())
        assert one.opens(header, *ASKED)
        assert not one.opens(header, *ASKED)


def test_a_request_is_worth_nothing_elsewhere_later_or_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Keys(HERE)
    assert one.opens(pass_of(one, one.run), *ASKED)
    for at in ("http://127.0.0.1:5610", "http://localhost:5609", "https://127.0.0.1:5609"):
        assert not one.opens(pass_of(one, one.run, at, number="2"), *ASKED)
    for method, path, body in (
        ("GET", ASKED[1], ASKED[2]),
        (ASKED[0], "/api/merge", ASKED[2]),
        (ASKED[0], f"{ASKED[1]}?", ASKED[2]),
        (ASKED[0], ASKED[1], b'{"name": "y"}'),
    ):
        assert not one.opens(pass_of(one, one.run, number="3"), method, path, body)
    again = Keys(HERE, one.lasting)  # the program was started anew
    assert not again.opens(pass_of(one, one.lasting, number="4"), *ASKED)
    assert not again.opens(pass_of(again, one.run, number="5"), *ASKED)
    assert again.opens(pass_of(again, one.lasting, number="6"), *ASKED)
    late = pass_of(one, one.run, number="7")
    now = time.monotonic()
    monkeypatch.setattr(keys.time, "monotonic", lambda: now + keys.LASTS + 1)
    assert not one.opens(late, *ASKED)
    early = f"{late.split(' ')[2].partition('.')[0]}.{now + 2 * keys.LASTS}"
    assert not one.opens(pass_of(one, one.run, number="8", moment=early), *ASKED)


def test_numbers_that_were_used_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    one, now = Keys(HERE), time.monotonic()
    for second in range(200):
        monkeypatch.setattr(keys.time, "monotonic", lambda at=now + second: at)
        assert one.opens(pass_of(one, one.run, number=str(second)), *ASKED)
    assert len(one._used) <= keys.LASTS


@pytest.mark.parametrize("number", ["", "a b", "a\nb", "é-", "0" * 65])
def test_a_greeting_needs_a_number(client: Client, number: str) -> None:
    from urllib.parse import quote

    answer = client.ask(f"/hello?number={quote(number)}", Authorization=None)
    assert answer.status == 400


def test_a_request_on_its_way_is_worth_nothing_after_a_restart(
    session: Session, server: PageServer
) -> None:
    """It was made for the server, and another program got it."""
    guest, body = Guest(server.link), b'{"name": "x"}'
    header = guest.pass_for("POST", "/api/declare", body)
    server.close()
    again = PageServer(server.requests, server.keys.lasting, server.server_port)
    again.start()
    client = Client(again.link)
    assert client.ask("/api/declare", body, Authorization=header).status == 401
    with pytest.raises(keys.Stranger, match="does not know the key"):
        guest.ask("/api/state")  # nor is the key of the run before
    assert session.activities() == []
    again.close()


def test_programs_make_sure_of_the_server_too() -> None:
    stranger = Stranger(0)
    guest = Guest(f"http://127.0.0.1:{stranger.server_port}/#key=secret")
    with pytest.raises(keys.Stranger):
        guest.ask("/api/folders")
    assert stranger.paths() == {"/hello"}
    assert "secret" not in stranger.text()
    stranger.close()


# -- a tab, in a real browser ----------------------------------------------------------------------


@pytest.fixture
def tab(browser: Any, server: PageServer, session: Session) -> Iterator[Any]:
    """A page that has been at work, with no request on its way."""
    from activity.browsing import all_shown, desk_of, expect

    context = desk_of(browser)
    page = context.new_page()
    page.goto(server.link)
    expect(page.locator("#current")).to_have_text("Nothing declared")
    type_name(page, "Garden")
    expect(page.locator("#current")).to_have_text("Garden")
    all_shown(page, session)
    yield page
    context.close()


def type_name(page: Any, name: str) -> None:
    page.keyboard.press("s")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


def in_a_browser(test: Any) -> Any:
    pytest.importorskip("playwright.sync_api", reason="needs playwright")
    from activity.browsing import IN_A_BROWSER

    for mark in IN_A_BROWSER:
        test = mark(test)
    return test


@in_a_browser
def test_a_tab_tells_another_program_nothing_that_opens_the_true_one(
    tab: Any, server: PageServer, session: Session
) -> None:
    from activity.browsing import expect

    server.close()
    stranger = Stranger(server.server_port)
    message = tab.locator("#message")
    expect(message).to_contain_text("another program is listening here. Nothing was sent")
    type_name(tab, "A secret plan")
    tab.keyboard.press("1")
    tab.keyboard.press("o")
    tab.wait_for_timeout(3000)
    assert stranger.paths() == {"/hello"}
    tab.reload()  # and now the page is the other program's
    expect(tab).to_have_title("done")
    stolen = json.loads(next(body for _, path, _, body in stranger.got if path == "/stolen"))
    assert stolen["local"]["key"] == server.keys.run  # of a run that is over
    assert stolen["session"] == {}
    assert stolen["cookie"] == ""
    assert stolen["databases"] == []
    text = stranger.text()
    assert server.keys.lasting not in text
    assert "A secret plan" not in text
    stranger.close()

    again = PageServer(server.requests, server.keys.lasting, server.server_port)
    again.start()
    client = Client(again.link)
    for method, path, headers, body in stranger.got:  # all of it, once more
        sent = {name: value for name, value in headers.items() if name != "Content-Length"}
        told = client.ask(path, body or None, method, **{"Authorization": None, **sent})
        assert told.status in (200, 403, 404)
        if told.status == 200:  # its page, which holds no data, and its own proof of itself
            assert path == "/" or path.startswith("/hello?")
    with pytest.raises(keys.Stranger):
        Guest(f"{again.address}#key={stolen['local']['key']}").ask("/api/state")
    for name in ("A secret plan", "1"):
        assert name not in [one.name for one in session.activities()]
    again.close()


@in_a_browser
def test_a_program_between_the_tab_and_the_true_server_learns_nothing(
    tab: Any, server: PageServer, session: Session
) -> None:
    """The true one has moved to another port, and knows the tab's lasting key."""
    from activity.browsing import expect

    server.close()
    moved = PageServer(Requests(session), server.keys.lasting)
    moved.start()
    stranger = Stranger(server.server_port, behind=moved.server_port)
    expect(tab.locator("#message")).to_contain_text("another program is listening here")
    type_name(tab, "A secret plan")
    tab.wait_for_timeout(1500)
    assert stranger.paths() == {"/hello"}
    assert [one.name for one in session.activities()] == ["Garden"]
    stranger.close()
    moved.close()


@in_a_browser
def test_an_open_tab_goes_on_after_a_restart_and_so_does_a_new_one(
    tab: Any, server: PageServer, session: Session
) -> None:
    from activity.browsing import expect

    server.close()
    expect(tab.locator("#message")).to_contain_text("does not answer")
    again = PageServer(server.requests, server.keys.lasting, server.server_port)
    again.start()
    expect(tab.locator("#message")).to_be_hidden()
    type_name(tab, "Letters")
    expect(tab.locator("#current")).to_have_text("Letters")
    other = tab.context.new_page()
    other.goto(again.address)
    expect(other.locator("#current")).to_have_text("Letters")
    other.reload()
    expect(other.locator("#current")).to_have_text("Letters")
    assert other.evaluate("localStorage.getItem('key')") == again.keys.run
    again.close()


@in_a_browser
def test_a_tab_with_an_old_key_comes_to_life_by_another_that_has_a_new_one(
    browser: Any, server: PageServer, session: Session
) -> None:
    from activity.browsing import desk_of, expect

    context = desk_of(browser)
    old = context.new_page()
    old.goto(f"{server.address}#key=of-yesterday")
    expect(old.locator("#message")).to_contain_text("the key is old")
    new = context.new_page()
    new.goto(server.link)
    for page in (new, old):
        expect(page.locator("#current")).to_have_text("Nothing declared")
        expect(page.locator("#message")).to_be_hidden()
    session.declare("Garden")
    for page in (new, old):
        expect(page.locator("#current")).to_have_text("Garden")
    context.close()


# -- where the key is written ----------------------------------------------------------------------


def command(folder: Path) -> list[str]:
    (folder / "feed").touch()
    return ["run", "--no-activitywatch", "--feed", str(folder / "feed"), "--port", "0",
            "--database", str(folder / "a.sqlite"), "--no-notify"]  # fmt: skip


def printed(folder: Path, to: Any) -> None:
    """Let the program start, write where it writes, and end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "yarrow", "activity", *command(folder)],
        stdin=subprocess.DEVNULL, stdout=to, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert asked_until((folder / "a.sqlite.html").exists, bool)
    process.terminate()
    assert process.wait(20) == 0


@pytest.mark.slow
def test_the_key_is_printed_on_a_terminal_alone(tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w") as journal:
        printed(tmp_path, journal)
    told = (tmp_path / "journal").read_text()
    assert "The page is at http://127.0.0.1:" in told
    assert "; 'yarrow activity open' opens it." in told
    assert "key=" not in told
    ours, theirs = pty.openpty()
    printed(tmp_path, theirs)
    os.close(theirs)
    told = os.read(ours, 4096).decode()
    os.close(ours)
    assert "The page is at http://127.0.0.1:" in told
    assert "/#key=" in told


@pytest.mark.slow
def test_open_leads_a_browser_to_the_page(tmp_path: Path) -> None:
    browser = tmp_path / "xdg-open"
    browser.write_text(f'#!/bin/sh\nprintf %s "$*" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    ask = [sys.executable, "-m", "yarrow", "activity", "open", "--database", tmp_path / "a.sqlite"]
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with program(*command(tmp_path)) as (_, link):
        done = subprocess.run(ask, env=os.environ | path, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")
        assert asked_until((tmp_path / "opened").exists, bool)
        # a file, so that no list of processes has it
        way = Path(asked_until((tmp_path / "opened").read_text, bool))
        assert way == tmp_path / "a.sqlite.html"
        assert link in way.read_text()
        for name in ("a.sqlite.html", "a.sqlite.running", "a.sqlite"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert not way.exists()
    done = subprocess.run(ask, env=os.environ | path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Yarrow is not running on" in done.stderr
    assert "'yarrow activity run' starts it" in done.stderr


def test_a_key_of_an_older_version_opens_nothing() -> None:
    from yarrow.activity.app.runner import token_of

    store = Store(":memory:")
    store.keep("token", "was sent to strangers and stands in bookmarks")
    token = token_of(store)
    assert token != store.setting("token")
    assert token_of(store) == token  # and stays
