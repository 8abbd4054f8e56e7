"""Alarms: what a service says when the world has changed, and whom it tells; promotions."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from serve.support import labelled_rows

from yarrow.serve.learning import Block, Row
from yarrow.serve.service import Service


@pytest.fixture
def webhook():
    told = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", told
    server.shutdown()
    thread.join()
    server.server_close()


def test_drift_raises_an_alarm_here_and_at_the_webhook(tmp_path, webhook):
    url, told = webhook
    rows = labelled_rows(1500, classes=2)
    turned = [(x, "b" if y == "a" else "a") for x, y in labelled_rows(600, seed=1, classes=2)]
    with Service(tmp_path / "data", level="os", webhook=url) as service:
        service.run(service.creating("m", {"learner": "arow"}))
        service.run(service.learning("m", [Row(x, y) for x, y in rows]))
        assert not [alarm for alarm in service.watch.alarms if alarm["what"] == "error"]
        service.run(service.learning("m", [Row(x, y) for x, y in turned]))
        (alarm, *_) = [alarm for alarm in service.watch.alarms if alarm["what"] == "error"]
        assert 1500 < alarm["event"] < 2000
        assert alarm["after"] > alarm["before"]
        deadline = time.monotonic() + 10
        while alarm not in told and time.monotonic() < deadline:
            time.sleep(0.02)
        assert alarm in told


def test_a_class_that_comes_more_often_raises_an_alarm(tmp_path):
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", {"learner": "arow"}))
        balanced = [Row({"x": 1.0}, "ab"[i % 2]) for i in range(800)]
        service.run(service.learning("m", [*balanced, *[Row({"x": 1.0}, "a")] * 400]))
        assert {"share of 'a'", "share of 'b'"} <= {a["what"] for a in service.watch.alarms}


def test_any_detector_watches(tmp_path):
    class Third:
        """Takes any third value for a change, and knows no means, as river's."""

        def __init__(self):
            self.n = 0

        def update(self, value):
            self.n += 1

        @property
        def drift_detected(self):
            return self.n % 3 == 0

    with Service(tmp_path / "data", level="os", detector=Third) as service:
        service.run(service.creating("m", {"learner": "arow"}))
        service.run(service.learning("m", [Row({"x": 1.0}, "a")] * 8))
        assert [a["event"] for a in service.watch.alarms if a["what"] == "error"] == [3, 6]
        assert {a["before"] for a in service.watch.alarms} == {None}  # NaN is no JSON
        assert len(service.watch._learning["m"].alarms) == 0  # they are kept once


def test_a_challenger_is_promoted_when_it_is_better_and_only_then(tmp_path):
    """One that knows all features beats one that knows a single one."""
    slow = {"learner": "arow", "parameters": {"max_features": 1, "when_full": "drop"}}
    fast = {"learner": "arow", "promote": True}
    rows = labelled_rows(1500, classes=3)
    for champion, challenger, wanted in ((slow, fast, 2), (fast, slow | {"promote": True}, 1)):
        with Service(tmp_path / str(wanted), level="os") as service:
            service.run(service.creating("m", {**champion, "promote": False}))
            service.run(service.challenging("m", challenger))
            service.rebuilder.wait(service.model("m").versions[2], 30)
            for i in range(0, 1500, 50):
                service.run(service.learning("m", [Row(x, y) for x, y in rows[i : i + 50]]))
            service.run(service.learning("m", [Row(*rows[0])]))
            assert service.model("m").champion.number == wanted


def test_a_challenger_is_promoted_by_streams(tmp_path):
    """Of a block only the numbers of mistakes are known."""
    slow = {"learner": "arow", "parameters": {"max_features": 1, "when_full": "drop"}}
    fast = {"learner": "arow"}
    text = "".join(
        f"{'abc'.index(y) + 1} | {' '.join(f'{name}:{value}' for name, value in x.items())}\n"
        for x, y in labelled_rows(300, classes=3)
    ).encode()
    for champion, challenger, wanted in ((slow, fast, 2), (fast, slow, 1)):
        with Service(tmp_path / str(wanted), level="os") as service:
            service.run(service.creating("m", champion))
            service.run(service.challenging("m", challenger | {"promote": True}))
            service.rebuilder.wait(service.model("m").versions[2], 30)
            for i in range(20):
                block = Block("vw", 1, 300 * i + 1, text, "s")
                service.run(service.learning_block("m", block))
            service.run(service.learning("m", [Row({"c1": 1.0}, 1)]))
            assert service.model("m").champion.number == wanted
