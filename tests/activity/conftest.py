"""What tests of the program share: a desk with a clock set by hand, and its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from activity.support import Client, HandClock, session_at

from yarrow.activity.app.requests import Requests
from yarrow.activity.app.server import PageServer
from yarrow.activity.app.session import Session


@pytest.fixture
def session() -> Session:
    return session_at(HandClock())


@pytest.fixture
def opened() -> list[str]:
    return []


@pytest.fixture
def server(session: Session, opened: list[str]) -> Iterator[PageServer]:
    server = PageServer(Requests(session, opened.append))
    server.start()
    yield server
    server.close()


@pytest.fixture
def client(server: PageServer) -> Client:
    return Client(server.link)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from activity.browsing import BROWSER, sync_api

    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, server: PageServer) -> Iterator[Any]:
    """The page, opened by its link; no complaint of the browser and no request elsewhere."""
    from activity.browsing import desk_of, expect

    context = desk_of(browser)
    page = context.new_page()
    complaints: list[str] = []
    asked: set[str] = set()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.add(request.url))
    page.goto(server.link)
    expect(page.locator("#current")).not_to_have_text("…")
    yield page
    context.close()
    assert complaints == []
    assert all(url.startswith((server.address, "data:")) for url in asked), asked
