"""The service by HTTP, asked by its own client and by strangers."""

from __future__ import annotations

import http.client
import inspect
import json
import socket
import sqlite3
import threading
import time
import urllib.parse

import pytest
from serve.conftest import served
from serve.support import file_of, labelled_rows, service_file

import yarrow
from yarrow.serve.client import AsyncClient, Client
from yarrow.serve.errors import ServiceError
from yarrow.serve.limits import Limits

ROWS = labelled_rows(60)
SPEC = {"learner": "arow"}


def local(rows):
    model = yarrow.AROWClassifier()
    for x, y in rows:
        model.learn_one(x, y)
    return model


def raw(url, method, path, body=None, headers=None):
    """What a stranger is told: the status and the answer."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    try:
        kind = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, path, body, kind | (headers or {}))
        answer = connection.getresponse()
        content = answer.read()
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.status, json.loads(content) if is_json else content
    finally:
        connection.close()


def test_a_model_from_nothing_to_feedback_and_undo(client, api, tmp_path):
    client.create("m", SPEC)
    assert client.models() == ["m"]
    before = client.predict("m", {"c1": 1.0})
    assert before.label is None
    events = client.learn_many("m", ROWS[:50])
    assert [event.event for event in events] == list(range(1, 51))
    found = client.predict("m", ROWS[50][0], explain=True)
    assert found.label == local(ROWS[:50]).predict_one(ROWS[50][0])
    assert sum(found.probabilities.values()) == pytest.approx(1)
    assert found.explanation["parts"]
    learned = client.feedback("m", found.ticket, ROWS[50][1])
    again = client.feedback("m", found.ticket, "something else")
    assert (again.event, again.repeated) == (learned.event, True)
    client.learn("m", ROWS[51][0], ROWS[51][1])
    assert client.undo("m", events=[7, 51]).labels == 2
    expected = local(ROWS[:6] + ROWS[7:50] + [ROWS[51]])
    assert service_file(api.service, "m", tmp_path / "a") == file_of(expected, tmp_path / "b")
    assert client.download("m") == (tmp_path / "b").read_bytes()
    past = client.download("m", event=20)
    assert past == file_of(local(ROWS[:6] + ROWS[7:20]), tmp_path / "b")
    client.upload("other", past)
    client.copy("m", "third")
    assert client.models() == ["m", "other", "third"]
    client.delete("other")
    assert client.models() == ["m", "third"]


@pytest.mark.parametrize("format", ["jsonl", "svmlight", "vw"])
def test_streams(client, api, format):
    client.create("m", SPEC)
    line = {
        "jsonl": b'{"label":"%d","row":{"a":%d,"b":1}}\n',
        "svmlight": b"%d 2:%d\n",
        "vw": b"%d | a:%d\n",
    }[format]
    lines = [line % (1 + i % 2, i) for i in range(20000)]
    first = client.learn_lines("m", b"".join(lines), format, stream="s")
    assert (first.line, first.learned, first.skipped) == (20000, 20000, 0)
    again = client.learn_lines("m", b"".join(lines) + lines[0], format, stream="s")
    assert (again.line, again.learned) == (20001, 1)
    assert api.service.live(api.service.model("m").champion).t_ == 20001
    status, answer = raw(api.url, "GET", "/models/m/streams/s")
    assert (status, answer["line"]) == (200, 20001)
    assert client.undo("m", stream="s", lines=[5, 20001]).labels == 2


def test_one_model_a_key(client):
    client.create("spam", SPEC | {"per_key": True})
    assert client.predict("spam/ann", {"a": 1.0}).label is None
    assert client.models() == ["spam"]
    client.learn("spam/ann", {"a": 1.0}, "x")
    client.learn("spam/böb 1", {"a": 1.0}, "y")
    assert client.predict("spam/ann", {"a": 1.0}).label == "x"
    assert client.predict("spam/böb 1", {"a": 1.0}).label == "y"
    with pytest.raises(ServiceError, match="no model 'other/ann'"):
        client.learn("other/ann", {"a": 1.0}, "x")


def test_deleting_a_model_deletes_its_keys(client, api):
    for name in ("spam", "spammy"):
        client.create(name, SPEC | {"per_key": True})
        client.learn(f"{name}/ann", {"a": 1.0}, "x", id=name)
    client.delete("spam")
    with pytest.raises(ServiceError, match="no model 'spam/ann'"):
        client.about("spam/ann")
    assert not api.service.log.is_model("spam/ann")
    client.create("spam", SPEC | {"per_key": True})
    assert client.predict("spam/ann", {"a": 1.0}).label is None
    assert client.predict("spammy/ann", {"a": 1.0}).label == "x"


def test_champion_and_challenger(client, api):
    client.create("m", SPEC)
    client.learn_many("m", ROWS[:40])
    state = client.challenge("m", {"learner": "perceptron"})
    assert [version.champion for version in state.versions] == [True, False]
    api.service.rebuilder.wait(api.service.model("m").versions[state.versions[1].version], 30)
    client.learn_many("m", ROWS[40:])
    found = client.about("m").versions
    assert [version.rows for version in found] == [60, 60]
    state = client.promote("m", found[1].version)
    assert [version.champion for version in state.versions] == [False, True]


def test_frames_texts_and_columns(client):
    client.create("m", SPEC | {"columns": {"text": ["body"]}})
    for text, label in (("cheap pills", "spam"), ("how are you", "ham")) * 3:
        client.learn("m", text, label)
    assert client.predict("m", "pills").label == "spam"
    assert client.predict("m", {"body": "are you there"}).label == "ham"


def test_a_frame(api, client):
    client.create("m", SPEC)
    frame = {"columns": ["a", "b"], "data": [[1, 0.5], [-2, None]]}
    body = json.dumps({"frame": frame, "labels": ["x", "y"]})
    assert raw(api.url, "POST", "/models/m/learn", body)[0] == 200
    status, answer = raw(api.url, "POST", "/models/m/predict", json.dumps({"frame": frame}))
    assert [found["label"] for found in answer["predictions"]] == ["x", "y"]
    short = {"frame": {"columns": ["a"], "data": [[1, 2]]}}
    status, answer = raw(api.url, "POST", "/models/m/predict", json.dumps(short))
    assert (status, answer["error"]) == (400, "A row of the frame does not have its 1 columns.")


BAD = {
    "not JSON": (b"{", 400, "truncated"),
    "not UTF-8": (b'{"row":{"\xff\xfe":1}}', 400, ""),
    "NaN": (b'{"row":{"a":NaN},"label":"x"}', 400, ""),
    "too large a number": (b'{"row":{"a":1e999},"label":"x"}', 400, "out of range"),
    "too deep": (b'{"row":' + b'{"a":' * 5000 + b"1" + b"}" * 5001, 400, ""),
    "a list": (b'{"row":{"a":[1]},"label":"x"}', 400, "row"),
    "no row": (b'{"label":"x"}', 400, "one of row, rows and frame"),
    "an unknown field": (b'{"row":{"a":1},"lable":"x"}', 400, "lable"),
    "a bad weight": (b'{"row":{"a":1},"label":"x","weight":-1}', 400, "weight"),
    "no label": (b'{"row":{"a":1}}', 422, "A class must be"),
    "a text without a column": (b'{"row":"free","label":"x"}', 400, "one text column"),
    "too large": (b'{"row":{"' + b"a" * 3_000_000 + b'":1}}', 413, "larger than"),
    "an integer beyond 64 bits": (b'{"row":{"a":1},"label":' + b"9" * 30 + b"}", 422, "64 bits"),
    "a value beyond 64 bits": (b'{"row":{"a":' + b"9" * 30 + b'},"label":"x"}', 422, "64 bits"),
    "half a character": (b'{"row":{"a":1},"label":"x","id":"\\ud800"}', 400, ""),
    "a value beyond float32": (b'{"row":{"a":1e300},"label":"x"}', 422, ""),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_bodies_get_one_sentence(tmp_path, name):
    body, status, says = BAD[name]
    with served(tmp_path / "data", Limits(body=2 << 20)) as (api, url), Client(url) as client:
        client.create("m", SPEC)
        got, answer = raw(url, "POST", "/models/m/learn", body)
        assert got == status, answer
        assert says in answer["error"]
        assert client.learn("m", {"a": 1.0}, "x").event <= 2
        assert api.service.live(api.service.model("m").champion).t_ == 1


def test_strange_requests(api, client):
    client.create("m", SPEC)
    for method, path, body, headers, status in (
        ("POST", "/models/m/learn", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", "/models/x/predict", b'{"row":{}}', {}, 404),
        ("GET", "/nothing", None, {}, 404),
        ("DELETE", "/models", None, {}, 405),
        ("PUT", "/models/m", b'{"learner":"pa"}', {}, 409),
        ("PUT", "/models/m", b'{"learner":"arow"}', {}, 200),
        ("PUT", "/models/new", b'{"learner":"arow","parameters":{"r":-1}}', {}, 400),
        ("PUT", "/models/new", b"poison", {"Content-Type": "application/octet-stream"}, 422),
        ("POST", "/models/m/feedback", b'{"ticket":"x","label":"a"}', {}, 400),
        ("POST", "/models/m/feedback", b'{"label":"a"}', {}, 400),
        ("GET", "/models/m/file", None, {}, 409),
        ("GET", "/models/m/file?when=1", None, {}, 400),
        ("GET", "/models/m?x=1", None, {}, 400),
        ("GET", "/models/m/diff?since=9&until=3", None, {}, 400),
        ("GET", "/models/m/diff?since_time=soon", None, {}, 400),
        ("PUT", "/models/new", b'{"learner":"arow","per_key":"yes"}', {}, 400),
        ("POST", "/models/m/learn", b'{"rows":[],"label":1}', {}, 400),
        ("GET", "/models/m/file?time=x", None, {}, 400),
        ("GET", "/models", None, {"Host": "evil.example"}, 403),
        ("POST", "/models/m/champion", b'{"version":9}', {}, 404),
        ("POST", "/models/m/feedback", '{"ticket":"1.0.5.é","label":"a"}'.encode(), {}, 400),
        ("POST", "/models/m/feedback", b'{"ticket":"1.-5.5.aa","label":"a"}', {}, 400),
        ("POST", "/models/m/feedback", b'{"ticket":"%s","label":"a"}' % (b"f" * 9000), {}, 400),
        ("POST", "/models/m/undo", b'{"events":[%s]}' % (b"9" * 30), {}, 400),
        ("POST", "/models/m/undo", b'{"events":[9223372036854775807]}', {}, 404),
        ("GET", "/models/m/file?time=nan", None, {}, 400),
        ("GET", "/models/m/file?event=" + "9" * 30, None, {}, 400),
        ("GET", "/models/m/diff?since=abc", None, {}, 400),
        ("PUT", "/models/..", b'{"learner":"arow"}', {}, 400),
        ("PUT", "/models/%20", b'{"learner":"arow"}', {}, 400),
        ("PUT", "/models/%ff", b'{"learner":"arow"}', {}, 400),
        ("PUT", "/models/a%00b", b'{"learner":"arow"}', {}, 400),
        ("PUT", "/models/m%2Fpredict", b'{"learner":"arow"}', {}, 400),
        ("POST", "/models/m/nobody/undo", b'{"since":0}', {}, 404),
        ("GET", "/page/..%2frun.py", None, {}, 404),
        ("PUT", "/models/new", b'{"learner":"arow","uploaded":true}', {}, 400),
    ):
        got, answer = raw(api.url, method, path, body, headers)
        assert got == status, (path, answer)
        if status > 200:
            assert len(answer["error"]) > 5
            assert "/tmp" not in answer["error"]
    assert client.models() == ["m"]


def test_a_key_without_a_row_is_not_its_parent(client, api):
    client.create("m", SPEC | {"per_key": True})
    client.learn("m", {"a": 1.0}, "x")
    for act in (
        lambda: client.undo("m/nobody", events=[1]),
        lambda: client.copy("m/nobody", "copy"),
        lambda: client.download("m/nobody"),
        lambda: client.about("m/nobody"),
    ):
        with pytest.raises(ServiceError, match="There is no model 'm/nobody'"):
            act()
    assert client.about("m").versions[0].rows == 1


def test_requests_one_behind_the_other_and_continued(api, client):
    """What is written in one turn goes out together, and nothing stays behind."""
    client.create("m", SPEC)
    parts = urllib.parse.urlsplit(api.url)
    body = b'{"row":{"a":1}}'
    head = (
        b"POST /models/m/predict HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
    )
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        answers = connection.makefile("rb")
        connection.sendall((head + b"\r\n" + body) * 3)
        for _ in range(3):
            assert b"200" in answers.readline()
            size = 0
            while (line := answers.readline()) != b"\r\n":
                name, _, value = line.partition(b":")
                size = int(value) if name == b"content-length" else size
            assert b"ticket" in answers.read(size)
        connection.sendall(head + b"Expect: 100-continue\r\n\r\n")
        assert answers.readline() == b"HTTP/1.1 100 Continue\r\n"
        connection.sendall(body)
        assert answers.readline() == b"\r\n"
        assert b"200" in answers.readline()
    assert raw(api.url, "HEAD", "/metrics") == (200, b"")


def test_tokens_have_rights_and_are_rotated(api, client):
    admin = Client(api.url, token=json.loads(json.dumps(add(api.url, "ops", "admin"))))
    with pytest.raises(ServiceError, match="Send a token") as caught:
        client.models()
    assert caught.value.status == 401
    admin.create("m", SPEC)
    reader = Client(api.url, token=add(api.url, "r", "read", admin), retries=0)
    learner = Client(api.url, token=add(api.url, "l", "learn", admin), retries=0)
    learner.learn("m", {"a": 1.0}, "x")
    assert reader.predict("m", {"a": 1.0}).label == "x"
    for act in (
        lambda: reader.learn("m", {"a": 1.0}, "x"),
        lambda: learner.undo("m", events=[1]),
        lambda: learner.delete("m"),
    ):
        with pytest.raises(ServiceError, match="this needs") as caught:
            act()
        assert caught.value.status == 403
    old = reader
    add(api.url, "r", "read", admin)
    with pytest.raises(ServiceError, match="Send a token"):
        old.models()
    assert raw(api.url, "GET", "/health")[0] == 200
    for each in (admin, reader, learner):
        each.close()


def add(url, name, rights, admin=None):
    headers = {} if admin is None else {"Authorization": f"Bearer {admin._token}"}
    body = json.dumps({"name": name, "rights": rights})
    status, answer = raw(url, "POST", "/tokens", body, headers)
    assert status == 200, answer
    return answer["token"]


def test_a_rate_is_kept(tmp_path):
    with served(tmp_path / "data", Limits(rate=5)) as (_, url):
        statuses = [raw(url, "GET", "/models")[0] for _ in range(12)]
        assert 429 in statuses
        assert statuses[0] == 200


def test_health_metrics_and_openapi(api, client):
    client.create("m", SPEC)
    client.learn("m", {"a": 1.0}, "x")
    assert raw(api.url, "GET", "/health") == (200, {"status": "alive"})
    while raw(api.url, "GET", "/ready")[0] == 503:
        time.sleep(0.01)
    assert raw(api.url, "GET", "/ready") == (200, {"status": "ready"})
    status, page = raw(api.url, "GET", "/metrics")
    assert status == 200
    assert b'yarrow_rows{model="m",version="1"} 1.0' in page
    assert b'yarrow_requests_total{endpoint="learn",status="200"} 1.0' in page
    status, found = raw(api.url, "GET", "/openapi.json")
    assert found["openapi"].startswith("3.1")
    learn = found["paths"]["/models/{name}/learn"]["post"]
    assert learn["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/Learn")


def test_slow_and_hanging_clients_harm_nobody(tmp_path):
    with served(tmp_path / "data", Limits(seconds=0.3)) as (_, url), Client(url) as client:
        client.create("m", SPEC)
        parts = urllib.parse.urlsplit(url)
        head = (
            f"POST /models/m/learn HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
        )
        hanging = [socket.create_connection((parts.hostname, parts.port)) for _ in range(20)]
        for connection in hanging:
            connection.sendall(head.encode())
        client.learn("m", {"a": 1.0}, "x")
        hanging[0].settimeout(10)
        assert b"408" in hanging[0].recv(200)
        for connection in hanging:
            connection.close()  # in the midst of a body
        assert client.predict("m", {"a": 1.0}).label == "x"


def test_many_clients_share_syncs(tmp_path):
    with served(tmp_path / "data", level="always") as (_, url), Client(url) as client:
        client.create("m", SPEC)
        rows = labelled_rows(320)

        def work(part):
            for x, y in rows[part::16]:
                client.learn("m", x, y)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert client.about("m").versions[0].rows == 320


def test_the_client_tries_again_and_counts_once(tmp_path, monkeypatch):
    with served(tmp_path / "data") as (api, url), Client(url) as client:
        client.create("m", SPEC)
        once = client._once
        failures = iter([True, False, True, False])

        def flaky(*args):
            answer = once(*args)
            if next(failures, False):
                raise ConnectionResetError("after it was learned")
            return answer

        monkeypatch.setattr(client, "_once", flaky)
        assert client.learn("m", {"a": 1.0}, "x").repeated
        assert client.undo("m", events=[1]).repeated
        assert api.service.log.last == 2
        monkeypatch.setattr(client, "_once", lambda *_: (_ for _ in ()).throw(OSError("down")))
        client._retries = 1
        with pytest.raises(ServiceError, match="cannot be reached"):
            client.models()


def test_the_client_to_await(api):
    import asyncio

    async def main():
        async with AsyncClient(api.url) as client:
            await client.create("m", SPEC)
            await asyncio.gather(*(client.learn("m", x, y) for x, y in ROWS[:20]))
            return await client.about("m")

    assert asyncio.run(main()).versions[0].rows == 20


def test_both_clients_have_the_same_methods():
    """With their parameters, as a type checker sees them: no `__getattr__` hides them."""
    for name, method in vars(Client).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            other = vars(AsyncClient)[name]
            assert inspect.iscoroutinefunction(other)
            assert inspect.signature(other) == inspect.signature(method)


def test_predictions_do_not_wait_for_a_replay(client, api):
    client.create("m", SPEC)
    client.learn_many("m", ROWS)
    client.undo("m", events=[1])
    began = time.monotonic()
    for _ in range(20):
        client.predict("m", {"c1": 1.0})
    assert time.monotonic() - began < 20


def test_not_ready_with_a_damaged_log_but_alive(tmp_path):
    with served(tmp_path / "data") as (api, url), Client(url) as client:
        client.create("m", SPEC)
        client.create("other", SPEC)
        client.learn_many("m", ROWS[:9])
    db = sqlite3.connect(tmp_path / "data" / "log.db")
    db.execute("UPDATE events SET check_ = check_ + 1 WHERE event = 4")
    db.execute("DELETE FROM snapshots")
    db.commit()
    db.close()
    with served(tmp_path / "data") as (api, url), Client(url, retries=0) as client:
        while api.loading == "models are being loaded":
            time.sleep(0.01)
        status, answer = raw(url, "GET", "/ready")
        assert status == 503
        assert "m: Event 4 of the log is damaged" in answer["error"]
        with pytest.raises(ServiceError, match="Event 4 of the log is damaged"):
            client.predict("m", {"c1": 1.0})
        client.learn("other", {"a": 1.0}, "x")
