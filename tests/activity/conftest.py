"""What tests of the program share: a desk with a clock set by hand, and its page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from activity.support import Client, HandClock, session_at

from yarrow.activity.requests import Requests
from yarrow.activity.server import PageServer
from yarrow.activity.session import Session


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
