"""Real processes that are killed at random points, damaged logs, and disks that are full.

`YARROW_KILLS=500` (or `make soak`) kills that often; by default 50 times.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from serve.support import file_of, labelled_rows, service_file, teach

import yarrow
from yarrow.serve import log, snapshots
from yarrow.serve.errors import ServiceError
from yarrow.serve.learning import unpack_block, unpack_row
from yarrow.serve.service import Service
from yarrow.serve.tickets import Tickets

KILLS = int(os.environ.get("YARROW_KILLS", "50"))
ROWS = labelled_rows(200, seed=3)


def uninterrupted(data: Path, **settings):
    """What a model would have learned of the log's events that never knew a service."""
    db = sqlite3.connect(data / "log.db")
    model = yarrow.AROWClassifier(**settings)
    changed = {}
    for event, line, label in db.execute("SELECT event, line, label FROM changes"):
        changed[event, line] = label
    query = "SELECT event, kind, content FROM events WHERE kind <= 2 ORDER BY event"
    for event, kind, content in db.execute(query):
        if kind == log.LEARN and (event, -1) not in changed:
            row = unpack_row(content)
            model.learn_one(row.row, row.label)
        elif kind == log.BLOCK:
            for line in unpack_block(content).text.decode().splitlines():
                label, rest = line.split(" | ")
                names = [part.partition(":")[0] for part in rest.split()]
                model.learn_one(dict.fromkeys(names, 1.0), int(label))
    db.close()
    return model


def state(model):
    """What was learned: the file notes the route of a stream, too."""
    tensors, classes = model._fitted.get_named_state()
    return {k: bytes(v) for k, v in tensors.items()} | {"classes": json.dumps(classes)}


def check(folder: Path, tmp_path: Path) -> int:
    """No acknowledged event lost, none twice, and the state is that of an uninterrupted run."""
    acks = (folder / "acks").read_text().splitlines() if (folder / "acks").exists() else []
    acks = [line for line in acks if line.count(" ") == 2]
    if not acks:
        return 0
    with Service(folder / "data") as service:
        db = service.reader.db
        number = service.model("m").number
        ids = {i: e for e, i in db.execute("SELECT event, id FROM events WHERE id IS NOT NULL")}
        assert len(ids) == db.execute("SELECT count(id) FROM events").fetchone()[0]
        for line in acks:
            kind, id, event = line.split(" ")
            if kind == "S":
                assert service.stream_position("m", id) >= int(event)
            else:
                key = log.hashed(id if kind == "L" else f"undo {id}")
                assert ids[key] == int(event), f"{kind} {id} was acknowledged and is not there"
        assert number == 1
        found = []
        for version in service.model("m").versions.values():
            service.rebuilder.wait(version, 60)
            service.live(version).save(tmp_path / "found")
            settings = version.spec.get("parameters", {})
            found.append((yarrow.load(tmp_path / "found"), settings))
    for model, settings in found:
        assert state(model) == state(uninterrupted(folder / "data", **settings))
    return len(acks)


def wait_for_more(acks: Path) -> None:
    """Until something more was acknowledged, however busy the machine is."""

    def size():
        return acks.stat().st_size if acks.exists() else 0

    before, deadline = size(), time.monotonic() + 10
    while size() == before and time.monotonic() < deadline:
        time.sleep(0.002)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["always", "os"])
def test_killed_at_random_points(tmp_path, level):
    place = random.Random(KILLS)
    folder = tmp_path / "service"
    folder.mkdir()
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    script = str(Path(__file__).with_name("killed.py"))
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as maker:
        acknowledged = 0
        for kill in range(1, KILLS // 2 + 1):
            if kill % 8 == 0:  # a new directory, so that the log does not get long
                folder = tmp_path / f"service{kill}"
                folder.mkdir()
            maker.stdin.write(f"{folder}\t{level}\t{kill}\n")
            maker.stdin.flush()
            process = int(maker.stdout.readline())
            if kill % 4:  # else perhaps while it starts
                wait_for_more(folder / "acks")
            time.sleep(place.uniform(0.01, 0.4))
            os.kill(process, signal.SIGKILL)
            assert maker.stdout.readline() == "ended\n"
            acknowledged += check(folder, tmp_path)
        maker.stdin.close()
    assert acknowledged > 10 * KILLS


def filled(folder: Path, rows=ROWS) -> None:
    with Service(folder, level="os") as service:
        service.run(service.creating("m", {"learner": "arow"}))
        for i, row in enumerate(rows):
            teach(service, "m", [row], i)


def copied_while_open(tmp_path: Path) -> Path:
    """A directory as a crash leaves it: with a WAL and without a last snapshot."""
    import shutil

    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", {"learner": "arow"}))
        for i, row in enumerate(ROWS):
            teach(service, "m", [row], i)
        shutil.copytree(tmp_path / "data", tmp_path / "crashed")
    (tmp_path / "crashed" / "log.db-shm").unlink()
    return tmp_path / "crashed"


@pytest.mark.parametrize("damage", ["torn", "flipped", "overwritten"])
def test_a_damaged_tail_is_dropped(tmp_path, damage):
    data = copied_while_open(tmp_path)
    wal = bytearray((data / "log.db-wal").read_bytes())
    place = len(wal) // 2
    if damage == "torn":
        del wal[place:]
    elif damage == "flipped":
        wal[place] ^= 0x10
    else:
        wal[place : place + 3000] = b"\xff" * 3000
    (data / "log.db-wal").write_bytes(wal)
    with Service(data) as service:
        n = service.log.last
        assert 0 < n < len(ROWS)
        expected = yarrow.AROWClassifier()
        for x, y in ROWS[:n]:
            expected.learn_one(x, y)
        assert service_file(service, "m", tmp_path / "a") == file_of(expected, tmp_path / "b")
        again = teach(service, "m", ROWS)  # a client that sends all of it again
        assert sum("repeated" in answer for answer in again) == n


def test_a_damaged_event_is_never_learned(tmp_path):
    filled(tmp_path / "data")
    db = sqlite3.connect(tmp_path / "data" / "log.db")
    (content,) = db.execute("SELECT content FROM events WHERE event = 50").fetchone()
    changed = bytearray(content)
    changed[len(changed) // 2] ^= 1
    db.execute("UPDATE events SET content = ? WHERE event = 50", (bytes(changed),))
    db.execute("DELETE FROM snapshots")
    db.commit()
    db.close()
    damaged = pytest.raises(ServiceError, match="Event 50 of the log is damaged")
    with Service(tmp_path / "data") as service, damaged:
        service.live(service.model("m").champion)


def test_a_damaged_snapshot_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots.Snapshots, "saves_time", lambda self: True)  # at its end
    filled(tmp_path / "data")
    (path,) = (tmp_path / "data" / "snapshots").rglob("*.yarrow")
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    expected = yarrow.AROWClassifier()
    for x, y in ROWS:
        expected.learn_one(x, y)
    with Service(tmp_path / "data") as service:
        assert service_file(service, "m", tmp_path / "a") == file_of(expected, tmp_path / "b")


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path):
    """A limit on the size of files is what a full disk is to SQLite."""
    script = f"""
import resource, signal, sys
sys.path[:0] = [{str(Path(__file__).parents[1])!r}]
from serve.support import labelled_rows, teach
from yarrow.serve.errors import ServiceError
from yarrow.serve.service import Service
from yarrow.serve.tickets import Tickets
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
service = Service({str(tmp_path / "data")!r}, level="os")
service.run(service.creating("m", {{"learner": "arow"}}))
rows = labelled_rows(200, seed=3)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
learned, refused = 0, 0
for i, row in enumerate(rows):
    try:
        teach(service, "m", [row], i)
        learned += 1
    except ServiceError as error:
        assert error.status == 507, error
        refused += 1
assert service.writer.failure  # /ready says so
print(learned, refused, service.live(service.model("m").champion).t_, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
import time
deadline = time.monotonic() + 20
while service.writer.failure and time.monotonic() < deadline:
    time.sleep(0.05)  # it finds out by itself
assert not service.writer.failure
for i, row in enumerate(rows):
    teach(service, "m", [row], i)
print(service.live(service.model("m").champion).t_, flush=True)
service.close()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    learned, refused, rows = map(int, first.split())
    assert refused > 0
    assert learned == rows
    assert int(second) == 200
    with Service(tmp_path / "data") as service:
        model = service.live(service.model("m").champion)
        assert model.t_ == 200


def test_a_full_disk_loses_the_tickets_of_that_second_only(tmp_path, monkeypatch):
    tickets = Tickets(tmp_path)
    written = os.pwrite
    kept = []
    for second in range(5):
        if second in (1, 3):  # nothing is written, then half of it
            part = None if second == 1 else 0.5

            def full(file, rows, place, part=part):
                if part is None:
                    raise OSError(28, "No space left on device")
                return written(file, rows[: int(len(rows) * part)], place)

            monkeypatch.setattr(os, "pwrite", full)
        kept.append([(tickets.keep(1, b"row %d %d" % (second, i)), i) for i in range(10)])
        if second in (1, 3):
            with pytest.raises(OSError, match=r"No space left|not all rows"):
                tickets.flush()
        else:
            tickets.flush()
        monkeypatch.setattr(os, "pwrite", written)
    for second, of_it in enumerate(kept):
        for ticket, i in of_it:
            if second in (0, 2, 4):
                assert tickets.row(1, ticket) == b"row %d %d" % (second, i)
            elif second == 1:
                with pytest.raises(ServiceError, match="lost"):
                    tickets.row(1, ticket)
    tickets.close()


def test_predictions_wait_for_no_disk(tmp_path, monkeypatch):
    """While rows of tickets are written, others are kept, and all are found."""
    tickets, begun, go_on = Tickets(tmp_path), threading.Event(), threading.Event()
    written = os.pwrite

    def slow(*given):
        begun.set()
        assert go_on.wait(10)
        return written(*given)

    monkeypatch.setattr(os, "pwrite", slow)
    first = tickets.keep(1, b"first")
    disk = threading.Thread(target=tickets.flush)
    disk.start()
    assert begun.wait(10)
    asked = threading.Thread(
        target=lambda: (tickets.keep(1, b"second"), tickets.row(1, first)), daemon=True
    )
    asked.start()
    asked.join(5)
    assert not asked.is_alive()
    go_on.set()
    disk.join()
    assert tickets.row(1, first) == b"first"
    tickets.close()


def test_a_snapshot_that_fails_keeps_nothing_else_from_the_disk(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshots, "AT_LEAST", 0.0)
    monkeypatch.setattr(snapshots, "_WAIT", 0.0)
    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", {"learner": "arow"}))
        with monkeypatch.context() as broken:
            broken.setattr(yarrow.AROWClassifier, "save", full)
            ticket = service.tickets.keep(1, b"\x80")
            deadline = time.monotonic() + 10
            while service.tickets._waiting and time.monotonic() < deadline:
                teach(service, "m", ROWS, service.log.last)
            assert not service.tickets._waiting
        assert service.feedback_row("m", ticket) == {}
