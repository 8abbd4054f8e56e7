"""What somebody tried to break the service with: slow heads, forged tickets, odd selections."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import socket
import sqlite3
import threading
import time
import urllib.parse

import msgspec
import pytest
from serve.conftest import served
from serve.support import file_of, files_of, labelled_rows, service_file, teach

import yarrow
from yarrow.serve import history, learning, replay
from yarrow.serve.client import Client
from yarrow.serve.connection import Connection
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import Block, Row, relabelled
from yarrow.serve.limits import Limits
from yarrow.serve.service import Service
from yarrow.serve.tokens import Tokens

SPEC = {"learner": "arow"}
ROWS = labelled_rows(300, seed=4, classes=2)


def open_to(url):
    parts = urllib.parse.urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def ended(connection):
    """Whether the other side closed it."""
    try:
        return connection.recv(1000) in (b"",) or connection.recv(1) == b""
    except ConnectionError:
        return True


def soon(holds):
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def local(rows):
    model = yarrow.AROWClassifier()
    for x, y in rows:
        model.learn_one(x, y)
    return model


# -- connections -----------------------------------------------------------------------------------


@pytest.mark.parametrize("begin", [b"", b"GET /health HTTP/1.1\r\nHost: loc", b"\r\n"])
def test_who_does_not_say_what_it_wants_is_cut_off(tmp_path, monkeypatch, begin):
    monkeypatch.setattr(Connection, "seconds", 0.3)
    with served(tmp_path / "data") as (_, url), open_to(url) as slow, open_to(url) as other:
        other.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" in other.recv(1000)
        other.sendall(begin)  # also as a second request
        slow.sendall(begin)
        assert ended(slow)
        assert ended(other) or not begin  # who says nothing may stay as long as uvicorn allows


def test_heads_are_bounded(api):
    for head in (b"X: " + b"a" * 300_000, b"".join(b"X%d: a\r\n" % i for i in range(90_000))):
        with open_to(api.url) as connection:
            answer = b""
            try:
                connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + head)
                while part := connection.recv(1000):
                    answer += part
            except ConnectionError:
                pass  # it would not hear the end
            assert not answer or b"400" in answer
    with Client(api.url) as client:
        assert client.models() == []


def test_connections_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(Connection, "most", 5)
    with served(tmp_path / "data") as (_, url):
        kept = [open_to(url) for _ in range(5)]
        with open_to(url) as late:
            assert ended(late)
        kept.pop().close()
        with Client(url) as client:
            assert client.models() == []
        for connection in kept:
            connection.close()


def test_a_large_batch_stops_nobody(client, api):
    client.create("m", SPEC)
    client.learn_many("m", ROWS[:50])
    rows = [x for x, _ in ROWS] * 40
    done = []
    batch = threading.Thread(target=lambda: done.append(client.predict_many("m", rows)))
    batch.start()
    answered = 0
    with Client(api.url) as other:
        while batch.is_alive():
            other.predict("m", ROWS[0][0], ticket=False)
            answered += 1
    assert len(done[0]) == len(rows)
    assert answered > 5


# -- tokens ----------------------------------------------------------------------------------------


def test_there_is_always_an_administrator(tmp_path):
    """Without one nobody could make tokens; without any token all would be open to everybody."""
    with Service(tmp_path / "data", level="os") as service:
        tokens = Tokens(service)
        with pytest.raises(ServiceError, match="admin rights"):
            service.run(tokens.adding("first", "learn"))
        service.run(tokens.adding("ops", "admin"))
        service.run(tokens.adding("app", "learn"))
        for operation in (tokens.removing("ops"), tokens.adding("ops", "read")):
            with pytest.raises(ServiceError, match="admin rights"):
                service.run(operation)
        service.run(tokens.removing("app"))
        service.run(tokens.adding("ops", "admin"))
        service.run(tokens.adding("next", "admin"))
        service.run(tokens.removing("ops"))
        assert tokens.names() == {"next": "admin"}


# -- numbers, tickets ------------------------------------------------------------------------------


def test_a_number_is_never_given_twice(tmp_path):
    """A ticket, or a snapshot, of a model that was deleted must not be of another one."""
    data = tmp_path / "data"
    with Service(data, level="os") as service:
        service.run(service.creating("old", SPEC))
        old = service.model("old")
        ticket = service.tickets.keep(old.number, b"\x81\xa1a\x01")
        service.run(service.deleting("old"))
    with Service(data, level="os") as service:
        service.run(service.creating("new", SPEC))
        new = service.model("new")
        assert new.number > old.number
        assert new.champion.number > old.champion.number
        with pytest.raises(ServiceError, match="unknown for this model"):
            service.feedback_row("new", ticket)


def test_a_model_deleted_while_it_is_replayed_leaves_nothing(tmp_path):
    with Service(tmp_path / "data", level="os") as service:
        for _ in range(5):
            service.run(service.creating("m", SPEC))
            teach(service, "m", ROWS * 20)
            version = service.model("m").champion
            service.run(
                history.undoing(
                    service, "m", history.Selection(events=[1 + service.log.last - 5600])
                )
            )
            service.run(service.deleting("m"))
            with pytest.raises(ServiceError, match="deleted"):
                service.live(version)
        time.sleep(0.3)
        assert service.used_memory == 0
        assert service.log.db.execute("SELECT count(*) FROM snapshots").fetchone()[0] == 0


def test_an_erasure_takes_no_row_of_others(tmp_path):
    """The id of an event may look like a ticket: it names a place in the file of tickets."""
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", SPEC))
        ticket = service.tickets.keep(1, b"\x81\xa1a\x01")
        number, begin, _, _ = ticket.split(".")
        forged = f"{number}.{begin}.ffff.{'0' * 24}"
        service.run(service.learning("m", [Row({"x": 1.0}, "a", 1.0, forged)]))
        service.run(history.undoing(service, "m", history.Selection(ids=[forged]), erase=True))
        assert service.feedback_row("m", ticket) == {"a": 1}


def test_erased_bytes_are_gone_when_it_is_acknowledged(tmp_path):
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", SPEC))
        teach(service, "m", [({"SECRET": 1.0}, "a"), *ROWS[:20]])
        service.writer.idle = lambda: None  # as if the process died before
        service.run(history.undoing(service, "m", history.Selection(ids=["row 0"]), erase=True))
        assert b"SECRET" not in files_of(tmp_path / "data")


def test_an_erasure_before_a_crash_is_one(tmp_path):
    """The bytes are gone from the write-ahead log, too, at the latest when it starts again."""
    data = tmp_path / "data"
    with Service(data, level="os") as service:
        service.run(service.creating("m", SPEC))
        service.run(service.learning("m", [Row({"geheimnis": 1.0}, "a")]))
        reader = sqlite3.connect(data / "log.db")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM events").fetchall()  # so that the WAL cannot be emptied
        service.run(history.undoing(service, "m", history.Selection(events=[1]), erase=True))
        (tmp_path / "crashed").mkdir()
        for path in data.iterdir():
            if path.is_file() and not path.name.endswith("-shm"):
                (tmp_path / "crashed" / path.name).write_bytes(path.read_bytes())
        reader.close()
    assert b"geheimnis" in files_of(tmp_path / "crashed")
    with Service(tmp_path / "crashed", level="os"):
        assert b"geheimnis" not in files_of(tmp_path / "crashed")


# -- labels of lines -------------------------------------------------------------------------------

STREAM = {
    "vw": (b"1 | a b\n| a c\n-1|f b c\n'tag| a\nno bar\n1 2 't| b\n",
           b"-1 | a b\n-1 | a c\n-1|f b c\n-1 'tag| a\nno bar\n-1 2 't| b\n"),
    "svmlight": (b"1 1:1 2:1\n# 3\n1\t2:1\nx 3:1 # c\n\n1\n",
                 b"-1 1:1 2:1\n# 3\n-1\t2:1\n-1 3:1 # c\n\n-1\n"),
    "jsonl": (b'{"row":{"a":1},"label":1}\nbroken\n[1]\n{"row":{"b":1}}\n',
              b'{"row":{"a":1},"label":-1}\nbroken\n[1]\n{"row":{"b":1},"label":-1}\n'),
}  # fmt: skip


@pytest.mark.parametrize("format", STREAM)
def test_a_stream_gets_another_label(tmp_path, format):
    """Of each line, with whatever it has; broken ones stay broken and stop no replay."""
    text, wanted = STREAM[format]
    assert [relabelled(format, line, -1) for line in text.split(b"\n")] == wanted.split(b"\n")
    more = {"vw": b"1 | a\n2 | b\n", "svmlight": b"1 1:1\n2 2:1\n",
            "jsonl": b'{"row":{"a":1},"label":1}\n{"row":{"b":1},"label":2}\n'}[format]  # fmt: skip
    with Service(tmp_path / "data", level="os") as service:
        for name, first in (("m", text), ("other", wanted)):
            service.run(service.creating(name, SPEC))
            service.run(service.learning_block(name, Block(format, 1, 1, more, "before")))
            service.run(service.learning_block(name, Block(format, 1, 1, first, "s"), "import"))
        service.run(history.undoing(service, "m", history.Selection(source="import"), label=-1))
        got, expected = (service_file(service, name, tmp_path / name) for name in ("m", "other"))
        assert got == expected
        # what is said of a line outweighs what is said of all
        service.run(history.undoing(service, "m", history.Selection(stream="before")))
        service.run(
            history.undoing(service, "m", history.Selection(stream="before", lines=[2]), label=1)
        )
        service_file(service, "m", tmp_path / "m")
        assert service.model("m").champion.rows == service.model("other").champion.rows - 1
        service.run(history.undoing(service, "m", history.Selection(stream="s"), erase=True))
        with pytest.raises(ServiceError, match="erased"):
            service.run(history.undoing(service, "m", history.Selection(stream="s", lines=[1])))
        service_file(service, "m", tmp_path / "m")


def test_labels_that_no_replay_would_take_are_refused(tmp_path):
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", SPEC))
        service.run(service.creating("n", {"learner": "yarrow-regressor"}))
        for name, label, wrong in (("m", "a", 0.5), ("n", 1.0, "a"), ("n", 1.0, True)):
            (answer,) = service.run(service.learning(name, [Row({"x": 1.0}, label)]))
            chosen = history.Selection(events=[answer["event"]])
            with pytest.raises(ServiceError):
                service.run(history.undoing(service, name, chosen, label=wrong))


def test_lines_of_a_stream_are_known_by_their_number(client, api):
    client.create("m", SPEC)
    for more in ('"id":"x"', '"source":"s"', '"ticket":"1.1.1.1"'):
        text = b'{"row":{"id":1},"label":1}\n{"row":{"a":1},"label":2,%b}\n' % more.encode()
        with pytest.raises(ServiceError, match="Line 2 has"):
            client.learn_lines("m", text, "jsonl")
    assert client.learn_lines("m", b'{"row":{"id":1},"label":1}\n', "jsonl").learned == 1
    rows = [{"row": {"a": 1}, "label": 1, "source": "one"}, {"row": {"a": 1}, "label": 2}]
    body = json.dumps({"rows": rows, "source": "two"}).encode()
    client._send("POST", "/models/m/learn", msgspec.Raw(body))
    sources = api.service.reader.db.execute("SELECT source FROM events WHERE event > 1").fetchall()
    assert sources == [("one",), ("two",)]


def test_what_changed_since_a_model_began_or_between_times(client, api):
    client.create("first", SPEC)
    client.learn_many("first", ROWS[:20])
    client.create("m", SPEC)  # its events do not begin with 1
    client.learn_many("m", ROWS[:20])
    between = time.time()
    client.learn("m", {"new": 1.0}, "c")

    def changes(query):
        return json.loads(client._send("GET", f"/models/m/diff{query}", None))

    assert changes("")["rows"] == 21
    late = changes(f"?since_time={between}")
    assert (late["rows"], late["new_features"]) == (1, 1)
    assert [label["event"] for label in late["labels"]] == [41]
    assert changes(f"?since=30&until_time={between}")["rows"] == 10


# -- streams to be predicted -----------------------------------------------------------------------


@pytest.mark.parametrize("format", STREAM)
def test_lines_are_predicted(client, format):
    client.create("m", SPEC)
    text, _ = STREAM[format]
    client.learn_lines("m", text, format)
    found = client.predict_lines("m", text, format)
    lines = {"vw": [1, 2, 3, 4, 6], "svmlight": [1, 3, 4, 6], "jsonl": [1, 4]}[format]
    assert [said.line for said in found.predictions] == lines
    assert found.skipped == {"vw": 1, "svmlight": 0, "jsonl": 2}[format]
    if format == "jsonl":
        assert found.predictions[0].label == client.predict("m", {"a": 1}).label
    assert found.predictions[0].ticket is None


# -- all at once -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_undo_learn_promote_and_predict_at_once(tmp_path):
    """Whatever comes between what, both versions are in the end what the log says."""
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", SPEC))
        service.run(service.challenging("m", {"learner": "arow", "parameters": {"r": 0.1}}))
        numbers = list(service.model("m").versions)
        problems, stop = [], threading.Event()

        def repeat(act):
            i = 0
            while not stop.is_set():
                try:
                    act(i)
                except ServiceError as error:
                    if error.status not in (404, 409, 410, 503):
                        problems.append(str(error))
                except Exception as error:
                    problems.append(repr(error))
                i += 1

        def learn(i):
            x, y = ROWS[i % len(ROWS)]
            service.run(service.learning("m", [Row(x, y, 1.0, f"row {i}")]))

        def undo(i):
            chosen = history.Selection(ids=[f"row {7 * i}"])
            label = history._RETRACT if i % 3 else "c"
            service.run(history.undoing(service, "m", chosen, label=label, erase=i % 5 == 1))
            time.sleep(0.01)

        def promote(i):
            service.run(service.promoting("m", numbers[i % 2]))
            time.sleep(0.005)

        def predict(i):
            service.live(service.model("m").champion).predict_one(ROWS[i % len(ROWS)][0])
            time.sleep(0.001)

        threads = [
            threading.Thread(target=repeat, args=(act,)) for act in (learn, undo, promote, predict)
        ]
        for thread in threads:
            thread.start()
        time.sleep(3)
        stop.set()
        for thread in threads:
            thread.join()
        assert not problems
        for number in numbers:
            version = service.model("m").versions[number]
            service.rebuilder.wait(version, 60)
            mine = file_of(service.live(version), tmp_path / "mine")
            again = version.begun(service.reader, 0)
            again.fold(service.reader, service.log.committed)
            assert mine == file_of(again.learner, tmp_path / "again")
        assert service.log.last > 200


# -- rows that a learner fails at ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "label"),
    [("PassiveAggressiveRegressor", 1e308), ("OneClassPassiveAggressive", "x")],
)
def test_no_label_keeps_a_model_from_starting_again(tmp_path, learner, label):
    """Its loss is beyond all numbers, or there is none to tell: neither is the model's trouble."""
    spec = {"learner": learner}
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", spec))
        for i, given in enumerate((1.0, label, 2.0)):
            (answer,) = service.run(service.learning("m", [Row({"a": 1.0}, given)]))
            assert answer == {"event": i + 1}
        before = service_file(service, "m", tmp_path / "before")
        assert math.isfinite(service.model("m").champion.loss)
    shutil.rmtree(tmp_path / "data" / "snapshots", ignore_errors=True)
    with Service(tmp_path / "data", level="os") as service:
        assert service_file(service, "m", tmp_path / "after") == before


def test_a_defect_of_a_learner_refuses_the_row_alone(tmp_path, monkeypatch):
    """Now and at each replay: no event keeps a model from starting, none is learned half."""
    learn = yarrow.AROWClassifier.learn_one

    def defective(self, x, y, w=1.0):
        if "odd" in x:
            raise ZeroDivisionError("a defect")
        learn(self, x, y, w)

    monkeypatch.setattr(yarrow.AROWClassifier, "learn_one", defective)
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", SPEC))
        rows = [*ROWS[:5], ({"odd": 1.0}, "a"), *ROWS[5:10]]
        answers = teach(service, "m", rows)
        assert [i for i, answer in enumerate(answers) if "error" in answer] == [5]
        assert "ZeroDivisionError" in answers[5]["error"]
        expected = file_of(local(ROWS[:10]), tmp_path / "b")
        assert service_file(service, "m", tmp_path / "a") == expected
    shutil.rmtree(tmp_path / "data" / "snapshots", ignore_errors=True)
    with Service(tmp_path / "data", level="os") as service:
        assert service_file(service, "m", tmp_path / "a") == expected
        assert "error" in teach(service, "m", [({"other": 1.0}, "b")], 5)[0]


def test_what_broke_off_is_learned_from_the_log(tmp_path, monkeypatch):
    """Memory was short for a moment: what is in the log is learned, whatever was answered."""
    from yarrow.serve import service as module

    left = [3]

    def learn_one(*given):
        left[0] -= 1
        if left[0] == 0:
            raise MemoryError
        return learning.learn_one(*given)

    monkeypatch.setattr(module, "learn_one", learn_one)
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", SPEC))
        teach(service, "m", ROWS[:2])
        with pytest.raises(ServiceError, match="MemoryError"):
            teach(service, "m", ROWS[2:6], 2)
        teach(service, "m", ROWS[6:9], 6)
        expected = file_of(local(ROWS[:9]), tmp_path / "b")
        assert service_file(service, "m", tmp_path / "a") == expected


def test_a_replay_that_fails_leaves_no_label_that_was_taken_back(tmp_path, monkeypatch):
    """What is in memory has it still: it must not answer, nor become a snapshot."""
    fold, failures = replay.Version.fold, iter([True])

    def failing(self, *given, **more):
        if next(failures, False):
            raise MemoryError
        return fold(self, *given, **more)

    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", SPEC))
        teach(service, "m", ROWS[:20])
        monkeypatch.setattr(replay.Version, "fold", failing)
        service.run(history.undoing(service, "m", history.Selection(ids=["row 7"])))
        service.rebuilder.wait(service.model("m").champion, 10)
        expected = file_of(local(ROWS[:7] + ROWS[8:20]), tmp_path / "b")
        assert service.model("m").champion.learner is None
        assert service_file(service, "m", tmp_path / "a") == expected
        assert service.model("m").champion.progress == 1


def test_a_champion_without_probabilities_after_one_that_had_some(client, api):
    client.create("m", SPEC)
    client.learn_many("m", ROWS[:20])
    state = client.challenge("m", {"learner": "pa"})
    (other,) = [v.version for v in state.versions if not v.champion]
    api.service.rebuilder.wait(api.service.model("m").versions[other], 30)
    client.promote("m", other)
    time.sleep(0.03)  # until the next row that calibration looks at
    assert client.learn("m", {"c1": 1.0}, "a").error is None
    assert client.predict("m", {"c1": 1.0}).probabilities is None
    assert api.service.model("m").champion.rows == 21


# -- memory ----------------------------------------------------------------------------------------


def test_large_bodies_at_once_are_bounded(tmp_path):
    """Eight of the largest size are read at once; whoever comes then comes again."""
    limits = Limits(body=100_000)
    with served(tmp_path / "data", limits) as (api, url), Client(url, retries=0) as client:
        client.create("m", SPEC)
        head = (
            b"POST /models/m/predict HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 99000\r\n\r\n"
        )
        slow = [open_to(url) for _ in range(8)]
        for connection in slow:
            connection.sendall(head + b" " * 98_000)
        soon(lambda: api._held == 8 * 98_000)
        with pytest.raises(ServiceError, match="at once") as refused:
            client.predict("m", "x" * 90_000)
        assert refused.value.status == 503
        for connection in slow:
            connection.close()
        soon(lambda: api._held == 0)
        client.learn("m", {"a": 1.0}, "b")
        assert client.predict("m", {"a": 1.0}).label == "b"
        assert api._held == 0


def test_a_large_row_stops_nobody(client, api, monkeypatch):
    """One row of many features is predicted and learned beside the others, as many rows are."""
    client.create("m", SPEC)
    client.learn_many("m", ROWS[:50])
    loop = []
    keep = api.service.tickets.keep

    def kept(*given):
        loop.append(threading.current_thread() is api_thread)
        return keep(*given)

    (api_thread,) = [t for t in threading.enumerate() if t.name.endswith("(run)")]
    monkeypatch.setattr(api.service.tickets, "keep", kept)
    row = {f"f{i}": 1.0 for i in range(20_000)}
    client.learn("m", row, "a")
    client.predict("m", row)
    client.predict("m", {"f1": 1.0})
    assert loop == [False, True]


def test_one_model_does_not_take_more_than_the_memory_of_all(tmp_path):
    with Service(tmp_path / "data", level="os", memory=100_000) as service:
        large = {"learner": "arow", "parameters": {"hash_bits": 20}}
        with pytest.raises(ServiceError, match="lower hash_bits"):
            service.creating("m", large)
        service.run(service.creating("m", SPEC))
        with pytest.raises(ServiceError, match="lower hash_bits"):
            service.challenging("m", large)
        rows = [({f"f{n} {i}": 1.0 for i in range(20)}, "ab"[n % 2]) for n in range(2000)]

        def learn_all():
            for n, row in enumerate(rows):
                teach(service, "m", [row], n)

        with pytest.raises(ServiceError, match="raise --memory-mb") as refused:
            learn_all()
        assert refused.value.status == 507
        assert service.log.last == service.model("m").champion.rows > 10  # nothing was logged
        (answer,) = teach(service, "m", rows[:1])
        assert answer == {"event": 1, "repeated": True}


def test_what_the_page_shows_is_counted_as_memory(tmp_path):
    """An hour of a small model's curve takes more than the model."""
    with Service(tmp_path / "data", level="os", memory=300_000) as service:
        for name in ("a", "b"):
            service.run(service.creating(name, SPEC))
            teach(service, name, ROWS[:20])
        first, second = (service.model(name).champion for name in ("a", "b"))
        for version in (first, second):
            version.samples.extend((float(i), i, 0.0) for i in range(3600))
        teach(service, "b", ROWS[20:25], 20)
        teach(service, "a", ROWS[20:25], 20)
        time.sleep(1.1)
        assert (first.learner is None) != (second.learner is None)
        assert not (first if first.learner is None else second).samples


# -- files of strangers ----------------------------------------------------------------------------


@pytest.mark.slow
def test_forged_uploads_end_in_a_sentence(tmp_path):
    """A model of a changed file is refused, or learns, predicts and goes like any other."""
    from forging.changes import forged
    from forging.files import files_of as kinds_of
    from forging.files import row

    place = random.Random(int(os.environ.get("YARROW_SEED", "5")))
    files = [content for kind in ("model", "export", "experts") for _, content in kinds_of(kind)]
    taken, problems = 0, []
    with served(tmp_path / "data") as (api, url), Client(url, retries=0) as client:
        asks = [
            lambda: client.learn("m", known(place), "spam"),
            lambda: client.learn("m", known(place), 1),
            lambda: client.predict("m", known(place), explain=True),
            lambda: client.predict_many("m", [known(place)] * 3),
            lambda: client.learn_lines("m", b"1 | a:2 b\n-1 | c\n", "vw"),
            lambda: client.undo("m", since=0.0),
            lambda: client._send("GET", "/state?model=m", None),
            lambda: client._send("GET", "/models/m/diff", None),
            lambda: client.about("m"),
            lambda: client.download("m"),
            lambda: client.copy("m", "copy"),
        ]

        def known(rng):
            return {str(name): value for name, value in row(rng).items()}

        for i in range(int(os.environ.get("YARROW_FORGED", "60"))):
            content = forged(place.choice(files), place)
            for ask in (lambda: client.upload("m", content), *asks):  # noqa: B023
                try:
                    ask()
                except ServiceError as error:
                    if error.status >= 500:
                        problems.append((i, str(error)))
            for name in client.models():
                client.delete(name)
                taken += name == "m"
        assert api.service.writer.failure is None
    assert not problems
    assert taken > 0  # some are models
