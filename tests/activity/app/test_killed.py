"""kill -9 at any moment: what was acknowledged is there."""

from __future__ import annotations

import http.client
import operator
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from activity.support import Client, asked_until, program

from yarrow.activity.log.entries import Correct, Create, Declare
from yarrow.activity.log.store import Store

pytestmark = pytest.mark.slow


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    database, feed = tmp_path / "activity.sqlite", tmp_path / "feed.jsonl"
    feed.touch()
    command = ("run", "--no-activitywatch", "--feed", feed, "--database", database, "--port", "0")
    acknowledged: list[str] = []
    corrected: list[float] = []
    for how_long in (0.3, 0.7):
        with program(*command) as (process, link):
            client = Client(link)

            def declare(client: Client, run: float, thread: int) -> None:
                for number in range(10_000):
                    name = f"activity {run} {thread} {number}"
                    try:
                        if client.ask("/api/declare", {"name": name}).status == 200:
                            acknowledged.append(name)
                        since = float(number)
                        body = {"name": name, "since": since}
                        if client.ask("/api/correct", body).status == 200:
                            corrected.append(since)
                    except (OSError, http.client.HTTPException):
                        return

            threads = [
                threading.Thread(target=declare, args=(client, how_long, number))
                for number in range(3)
            ]
            for thread in threads:
                thread.start()
            enough = len(acknowledged) + 12
            asked_until(lambda: len(acknowledged), partial(operator.le, enough))
            time.sleep(how_long)
            process.kill()
            process.wait(20)
            for thread in threads:
                thread.join(20)
    assert len(acknowledged) > 20
    entries = [entry for _, entry in Store(database).entries()]
    names = {e.activity: e.name for e in entries if isinstance(e, Create)}
    declared = [names[e.activity] for e in entries if isinstance(e, Declare)]
    assert set(acknowledged) <= set(declared)
    assert len(corrected) <= sum(isinstance(e, Correct) for e in entries)
    assert len(set(names.values())) == len(names)  # nobody got another's number
    with program(*command) as (_, link):  # and the program goes on from there
        state = Client(link).ask("/api/state").body
        assert {one["name"] for one in state["activities"]} == set(names.values())
        assert state["declared"]["activity"] is not None
