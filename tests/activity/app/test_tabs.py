"""Many tabs of one browser on one page, and a server that is stopped."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from activity.browsing import IN_A_BROWSER, desk_of, expect
from activity.support import Client, program

from yarrow.activity.app.server import PageServer
from yarrow.activity.app.session import Session

pytestmark = IN_A_BROWSER
TABS = 8  # more than the six connections that a browser has for one server


def streams(tab: Any) -> list[str]:
    """Takes note of live streams that a tab opens."""
    opened: list[str] = []
    tab.on("request", lambda one: opened.append(one.url) if one.url.endswith("/live") else None)
    return opened


def test_eight_tabs_live_on_one_connection(
    browser: Any, server: PageServer, session: Session
) -> None:
    context = desk_of(browser)
    tabs = [context.new_page() for _ in range(TABS)]
    opened = [streams(tab) for tab in tabs]
    for tab in tabs:
        tab.goto(server.link)
        expect(tab.locator("#current")).to_have_text("Nothing declared")
    assert [len(one) for one in opened] == [1] + [0] * (TABS - 1)
    session.declare("Garden")
    for tab in tabs:
        expect(tab.locator("#current")).to_have_text("Garden")
    for number, tab in enumerate(tabs):  # keys work in each, and all are told
        tab.bring_to_front()
        tab.keyboard.press("s")
        tab.keyboard.type(f"Activity {number}")
        tab.keyboard.press("Enter")
        for other in tabs:
            expect(other.locator("#current")).to_have_text(f"Activity {number}")

    tabs.pop(0).close()  # the one that listened
    session.declare("Garden")
    for tab in tabs:
        expect(tab.locator("#current")).to_have_text("Garden")
    assert sum(len(one) for one in opened[1:]) == 1
    tabs[-1].bring_to_front()
    tabs[-1].keyboard.press("s")
    tabs[-1].keyboard.type("Letters")
    tabs[-1].keyboard.press("Enter")
    for tab in tabs:
        expect(tab.locator("#current")).to_have_text("Letters")
        expect(tab.locator("#message")).to_be_hidden()
    context.close()


def test_tabs_may_look_at_different_days(
    browser: Any, server: PageServer, session: Session
) -> None:
    context = desk_of(browser)
    today, before = context.new_page(), context.new_page()
    for tab in (today, before):
        tab.goto(server.link)
        expect(tab.locator("#current")).to_have_text("Nothing declared")
    before.bring_to_front()
    before.keyboard.press("[")
    expect(before.locator("#day-title")).to_have_text("Sunday 1 March")
    session.declare("Garden")
    for tab in (today, before):
        expect(tab.locator("#current")).to_have_text("Garden")
    expect(before.locator("#day-title")).to_have_text("Sunday 1 March")
    expect(today.locator("#day-title")).to_have_text("Today")
    before.keyboard.press("]")
    expect(before.locator("#day-title")).to_have_text("Today")
    context.close()


def test_a_stopped_server_is_told_at_every_key_and_found_again(
    browser: Any, tmp_path: Path
) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.touch()
    command = ("run", "--no-activitywatch", "--feed", feed, "--port", "0", "--no-notify")
    with program(*command, "--database", tmp_path / "a.sqlite") as (process, link):
        client = Client(link)
        for name in ("Tax return", "Garden"):
            client.ask("/api/declare", {"name": name})
        context = desk_of(browser)
        tabs = [context.new_page() for _ in range(4)]
        for tab in tabs:
            tab.goto(link)
            expect(tab.locator("#current")).to_have_text("Garden")
        os.kill(process.pid, signal.SIGSTOP)
        try:
            for number, tab in enumerate(tabs):
                tab.bring_to_front()
                tab.keyboard.press("s")
                tab.keyboard.type("Tax" if number % 2 else f"Activity {number}")
                tab.keyboard.press("Enter")
            for tab in tabs:
                message = tab.locator("#message")
                expect(message).to_contain_text("No answer from Yarrow within 5 s: it has stopped")
                expect(message).to_contain_text("Nothing was sent")
        finally:
            os.kill(process.pid, signal.SIGCONT)
        for tab in tabs:
            expect(tab.locator("#message")).to_be_hidden()
            expect(tab.locator("#current")).to_have_text("Garden")
        state = client.ask("/api/state").body  # what was told to be unsaid is not done later
        assert [one["name"] for one in state["activities"]] == ["Tax return", "Garden"]
        tabs[3].bring_to_front()
        tabs[3].keyboard.press("s")
        tabs[3].keyboard.type("Tax")
        tabs[3].keyboard.press("Enter")
        for tab in tabs:
            expect(tab.locator("#current")).to_have_text("Tax return")
        context.close()
