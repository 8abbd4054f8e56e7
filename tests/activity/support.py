"""What the tests of the program share: a desk whose time a test decides, and a running program."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from yarrow.activity.app.keys import Guest
from yarrow.activity.app.runner import running_at
from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Event
from yarrow.activity.log.store import Store
from yarrow.activity.sources.clock import Clock
from yarrow.activity.sources.spans import Change

Answered = TypeVar("Answered")
MORNING = 1_772_442_000.0  # 2026-03-02 09:00 UTC, a Monday


class HandClock(Clock):
    """A clock that a test sets."""

    def __init__(self, at: float = MORNING) -> None:
        self.at = at
        super().__init__(wall=lambda: self.at)


def focus(time: float, resource: str, title: str = "") -> Event:
    """Something is in front."""
    return Event(time, "focus", resource, title or resource.rsplit("/", 1)[-1], "editor")


def session_at(clock: HandClock, path: str | Path = ":memory:", **settings: Any) -> Session:
    """A session on a log."""
    return Session(Store(path), clock, **settings)


WORK = {
    "Tax return": ["/home/me/tax/receipts.ods", "/home/me/tax/return.pdf"],
    "Garden": ["/home/me/garden/beds.txt", "/home/me/garden/seeds.csv"],
    "Letters": ["/home/me/letters/aunt.odt", "/home/me/letters/stamps.ods"],
}


def work(session: Session, name: str, minutes: int) -> None:
    """Work at something for some minutes, without saying so."""
    clock: Any = session.clock
    for minute in range(minutes):
        resource = WORK[name][minute % 2]
        title = f"{resource.rsplit('/', 1)[-1]} - {name}"
        session.record([Change(focus(clock.at, resource, title), "")])
        clock.at += 60.0
        session.tick()


def asked_until(ask: Callable[[], Answered], enough: Callable[[Answered], bool]) -> Answered:
    """What is answered, as soon as it is enough, or after a minute."""
    end = time.monotonic() + 60.0
    while not enough(answer := ask()) and time.monotonic() < end:
        time.sleep(0.05)
    return answer


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    body: Any
    headers: dict[str, str]


def titles(session: Session) -> list[str]:
    """What the titles of the log are."""
    return [e.title for _, e in session.store.entries() if isinstance(e, Event) and e.title]


class Client:
    """Talks to the page's server as the page does, or otherwise."""

    def __init__(self, link: str) -> None:
        self.guest = Guest(link)
        self.host, self.port = self.guest.host, self.guest.port

    def ask(
        self, path: str, body: Any = None, method: str | None = None, **headers: str | None
    ) -> Answer:
        """Send a request; a header given as None is left out."""
        sent: dict[str, str | None] = {"Host": f"{self.host}:{self.port}"}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        method = method or ("GET" if body is None else "POST")
        if "Authorization" not in headers:
            sent["Authorization"] = self.guest.pass_for(method, path, data or b"", timeout=20)
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        with contextlib.closing(connection):  # the server may die in the middle
            connection.putrequest(method, path, skip_host=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            answer = connection.getresponse()
            text = answer.read()
        is_json = answer.headers.get_content_type() == "application/json"
        return Answer(answer.status, json.loads(text) if is_json else text, dict(answer.headers))


@contextlib.contextmanager
def program(*args: str | Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`yarrow activity ...` as a process of its own, and the link to its page."""
    process = subprocess.Popen(
        [sys.executable, "-m", "yarrow", "activity", *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("The page is at "):
            process.wait(20)
            assert process.stderr is not None
            raise AssertionError(line + process.stderr.read())
        told = running_at(str(args[args.index("--database") + 1])) if "--database" in args else None
        yield process, told["link"] if told else line.removeprefix("The page is at ").strip()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(20)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
