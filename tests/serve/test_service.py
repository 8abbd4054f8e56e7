"""The service without HTTP: ids, streams, tickets, undo, erasure, time travel, versions, limits."""

from __future__ import annotations

import itertools
import time

import pytest
from serve.support import file_of, files_of, labelled_rows, service_file, teach

import yarrow
from yarrow.errors import YarrowError
from yarrow.serve import history, snapshots
from yarrow.serve.errors import ServiceError
from yarrow.serve.history import Selection
from yarrow.serve.learning import Block, Row, pack
from yarrow.serve.service import Service
from yarrow.serve.writer import Operation

SPEC = {"learner": "arow", "parameters": {"r": 0.5}}
ROWS = labelled_rows(120)


@pytest.fixture
def service(tmp_path):
    with Service(tmp_path / "data", level="os") as found:
        found.run(found.creating("m", SPEC))
        yield found


@pytest.fixture
def often(monkeypatch):
    """Snapshots after every batch."""
    monkeypatch.setattr(snapshots, "AT_LEAST", -1.0)
    monkeypatch.setattr(snapshots.Snapshots, "is_due", lambda self: True)


def local(rows, **settings):
    model = yarrow.AROWClassifier(**{"r": 0.5} | settings)
    for x, y in rows:
        model.learn_one(x, y)
    return model


def undo(service, label=history._RETRACT, erase=False, id=None, **selection):
    found = history.undoing(service, "m", Selection(**selection), label=label, id=id, erase=erase)
    return service.run(found)


def test_it_learns_what_a_local_run_learns(service, tmp_path):
    answers = teach(service, "m", ROWS)
    assert [answer["event"] for answer in answers] == list(range(1, 121))
    assert service_file(service, "m", tmp_path / "a") == file_of(local(ROWS), tmp_path / "b")


def test_an_id_is_learned_once(service, tmp_path):
    first = teach(service, "m", ROWS)
    again = teach(service, "m", ROWS[:7])
    assert again == [answer | {"repeated": True} for answer in first[:7]]
    twice = service.run(service.learning("m", [Row(*ROWS[0], 1.0, "new")] * 2))
    assert twice == [{"event": 121}, {"event": 121, "repeated": True}]
    expected = file_of(local([*ROWS, ROWS[0]]), tmp_path / "b")
    assert service_file(service, "m", tmp_path / "a") == expected


def test_what_a_model_refuses_is_refused_again_and_leaves_no_trace(tmp_path):
    spec = {"learner": "arow", "parameters": {"r": 0.5, "classes": ["a", "b", "c"]}}
    bad = Row({"x": 1.0}, "never heard of", 1.0, "bad")
    with Service(tmp_path / "data") as service:
        service.run(service.creating("m", spec))
        teach(service, "m", ROWS[:50])
        (answer,) = service.run(service.learning("m", [bad]))
        assert answer["status"] == 422
        assert "never heard of" in answer["error"]
        teach(service, "m", ROWS[50:], first=50)
    with Service(tmp_path / "data") as service:
        (again,) = service.run(service.learning("m", [bad]))
        assert again == answer | {"repeated": True}
        expected = file_of(local(ROWS, classes=["a", "b", "c"]), tmp_path / "b")
        assert service_file(service, "m", tmp_path / "a") == expected


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl"])
def test_streams_are_learned_as_their_rows_are(service, tmp_path, format):
    lines = {
        "svmlight": [b"%d 1:%d 3:0.5\n" % (i % 2, i) for i in range(40)],
        "vw": [b"%d | a:%d b\n" % (1 + i % 2, i) for i in range(40)],
        "jsonl": [b'{"row": {"a": %d, "b": 1}, "label": "%d"}\n' % (i, i % 2) for i in range(40)],
    }[format]
    for first in range(0, 40, 9):
        text = b"".join(lines[first : first + 9])
        block = Block(format, 1, first + 1, text, "s")
        answer = service.run(service.learning_block("m", block))
        assert answer["line"] == min(40, first + 9)
        assert answer["learned"] == min(9, 40 - first)
    again = service.run(service.learning_block("m", Block(format, 1, 1, b"".join(lines), "s")))
    assert again == {"line": 40, "repeated": True}
    assert service.stream_position("m", "s") == 40
    longer = Block(format, 1, 38, b"".join([*lines[37:], lines[0]]), "s")
    assert service.run(service.learning_block("m", longer))["learned"] == 1
    model = service.live(service.model("m").champion)
    assert model.t_ == 41
    with pytest.raises(ServiceError, match="Line 42 of the stream comes next, not line 50"):
        service.run(service.learning_block("m", Block(format, 1, 50, lines[0], "s")))
    if format != "jsonl":
        (tmp_path / "rows").write_bytes(b"".join([*lines, lines[0]]))
        from yarrow.io.formats import StreamFormat
        from yarrow.online.driver import learn_files

        other = yarrow.AROWClassifier(r=0.5)
        how = StreamFormat(format=format, index_base=1)
        for _ in learn_files(other, [str(tmp_path / "rows")], how):
            pass
        assert service_file(service, "m", tmp_path / "a") == file_of(other, tmp_path / "b")


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl"])
def test_broken_lines_are_left_out_and_named(service, format):
    text = {
        "svmlight": b"1 1:1\n0 x\n1 2:1\n",
        "vw": b"1 | a\nx:y:z ||| :::\n2 | b\n",
        "jsonl": b'{"row":{"a":1},"label":"x"}\n{"row":\n{"row":{"b":2},"label":"y"}\n',
    }[format]
    answer = service.run(service.learning_block("m", Block(format, 1, 1, text, "s")))
    assert answer["learned"] == 2
    assert answer["skipped"] == 1
    assert "line 2" in answer["complaints"][0]


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl"])
@pytest.mark.parametrize("label", [history._RETRACT, 7])
def test_a_line_of_a_stream_is_undone(service, tmp_path, format, label):
    def lines(of):
        return {
            "svmlight": [b"%d 1:%d 3:0.5\n" % (y, i) for i, y in of],
            "vw": [b"%d | a:%d b\n" % (y, i) for i, y in of],
            "jsonl": [b'{"row":{"a":%d,"b":1},"label":%d}\n' % (i, y) for i, y in of],
        }[format]

    given = [(i, 1 + i % 2) for i in range(30)]
    wanted = [(i, y if i != 13 else label) for i, y in given if i != 13 or label == 7]
    service.run(service.creating("other", SPEC))
    for name, of in (("m", given), ("other", wanted)):
        for first in range(0, 30, 10):
            text = b"".join(lines(of)[first : first + 10])
            service.run(service.learning_block(name, Block(format, 1, first + 1, text, "s")))
    undo(service, label, stream="s", lines=[14])
    found = service_file(service, "m", tmp_path / "a")
    assert found == service_file(service, "other", tmp_path / "b")


def test_undo_by_event_id_source_and_time(service, tmp_path, often):
    teach(service, "m", ROWS[:40], source="one")
    teach(service, "m", ROWS[40:60], 40, source="two")
    teach(service, "m", ROWS[60:], 60, source="one")
    undo(service, events=[5, 100])
    undo(service, ids=["row 7"])
    undo(service, source="two")
    kept = [row for i, row in enumerate(ROWS) if i not in (4, 99, 7) and not 40 <= i < 60]
    assert service_file(service, "m", tmp_path / "a") == file_of(local(kept), tmp_path / "b")
    undo(service, since=0.0)
    with pytest.raises(YarrowError):
        service_file(service, "m", tmp_path / "a")  # there is nothing left that it has learned


def test_corrected_labels(service, tmp_path, often):
    teach(service, "m", ROWS)
    answer = undo(service, "b", events=[3, 50], id="correction")
    assert answer["labels"] == 2
    assert undo(service, "c", events=[1], id="correction") == answer | {"repeated": True}
    fixed = [(x, "b" if i in (2, 49) else y) for i, (x, y) in enumerate(ROWS)]
    assert service_file(service, "m", tmp_path / "a") == file_of(local(fixed), tmp_path / "b")


def test_learning_goes_on_while_labels_are_taken_back(service, tmp_path):
    teach(service, "m", ROWS[:60])
    undo(service, events=[10])
    teach(service, "m", ROWS[60:], 60)
    undo(service, ids=["row 69"])
    kept = [row for i, row in enumerate(ROWS) if i not in (9, 69)]
    assert service_file(service, "m", tmp_path / "a") == file_of(local(kept), tmp_path / "b")


def test_what_was_undone_stays_undone_after_a_restart(tmp_path, often):
    with Service(tmp_path / "data") as service:
        service.run(service.creating("m", SPEC))
        teach(service, "m", ROWS)
        undo(service, events=[60])
        # it ends before or after the replay: both must do
    with Service(tmp_path / "data") as service:
        kept = ROWS[:59] + ROWS[60:]
        assert service_file(service, "m", tmp_path / "a") == file_of(local(kept), tmp_path / "b")


def test_undo_of_what_there_is_not(service):
    teach(service, "m", ROWS[:5])
    for selection, says in (
        ({"events": [99]}, "no label with the number 99"),
        ({"ids": ["x"]}, "no event with the id 'x'"),
        ({"stream": "x", "lines": [1]}, "has no line 1"),
        ({"source": "nobody"}, "no such label"),
        ({}, "no such label"),
    ):
        with pytest.raises(ServiceError, match=says) as caught:
            undo(service, **selection)
        assert caught.value.status == 404


def test_erased_bytes_are_gone(tmp_path, often):
    secret, told = b"Rumpelstilzchen", "secret source"
    data = tmp_path / "data"
    with Service(data, level="always") as service:
        service.run(service.creating("m", SPEC))
        teach(service, "m", ROWS[:50])
        row = {secret.decode(): 1.0, "c1": 2.0}
        ticket = service.tickets.keep(service.model("m").number, pack(row))
        service.tickets.flush()
        rows = [Row(row, "a", 1.0, "id of Rumpelstilzchen", ticket)]
        (answer,) = service.run(service.learning("m", rows, told))
        text = b"1 | a\n2 | Rumpelstilzchen b\n1 | b\n"
        service.run(service.learning_block("m", Block("vw", 1, 1, text, "s")))
        teach(service, "m", ROWS[50:], 50)
        service.tickets.flush()
        assert secret in files_of(data)
        erased = undo(service, erase=True, events=[answer["event"]])
        undo(service, erase=True, stream="s", lines=[2])
        service_file(service, "m", tmp_path / "a")
        proof = history.proof(service, "m", erased["event"])
        assert proof["equal"]
        assert proof["before"] != proof["after"]
        deadline = time.monotonic() + 10
        while service.must_purge and time.monotonic() < deadline:
            time.sleep(0.05)
        left = files_of(data)
        assert secret not in left
        assert told.encode() not in left
        assert b"id of Rumpel" not in left
        # of the id only a hash stays: it still counts once
        assert service.run(service.learning("m", rows))[0]["repeated"]
    with Service(data) as service:
        found = service.live(service.model("m").champion)
        assert secret.decode() not in found.feature_names_
        assert found.t_ == 122


def test_tickets(service, tmp_path):
    model = service.model("m").number
    rows = [pack({"c1": float(i)}) for i in range(50)]
    tickets = [service.tickets.keep(model, row) for row in rows[:25]]
    service.tickets.flush()
    tickets += [service.tickets.keep(model, row) for row in rows[25:]]
    assert [service.tickets.row(model, ticket) for ticket in tickets] == rows
    with pytest.raises(ServiceError, match="unknown for this model"):
        service.tickets.row(model + 1, tickets[0])
    with pytest.raises(ServiceError, match="not one of this service"):
        service.tickets.row(model, "x")
    forged = tickets[0][:-1] + ("0" if tickets[0][-1] != "0" else "1")
    with pytest.raises(ServiceError, match="unknown"):
        service.tickets.row(model, forged)


def test_tickets_expire_by_time_and_by_bytes(tmp_path, monkeypatch):
    from yarrow.serve.tickets import Tickets

    tickets = Tickets(tmp_path / "t", seconds=3600, size=32_000)
    old = [tickets.keep(1, bytes(900)) for _ in range(10)]
    for _ in range(50):
        tickets.flush()
        last = tickets.keep(1, bytes(1100))
    assert sum(path.stat().st_size for path in (tmp_path / "t").glob("*.rows")) <= 34_000
    with pytest.raises(ServiceError, match="has expired") as caught:
        tickets.row(1, old[0])
    assert caught.value.status == 410
    assert tickets.row(1, last) == bytes(1100)
    now = time.time()
    monkeypatch.setattr("yarrow.serve.tickets.time.time", lambda: now + 4000)
    tickets.flush()
    tickets.keep(1, b"x")
    tickets.flush()
    with pytest.raises(ServiceError, match="has expired"):
        tickets.row(1, last)
    tickets.close()


def test_a_ticket_lost_in_a_crash_is_refused_by_name(tmp_path):
    from yarrow.serve.tickets import Tickets

    tickets = Tickets(tmp_path / "t")
    kept = tickets.keep(1, b"kept")
    tickets.flush()
    lost = tickets.keep(1, b"lost")
    tickets._file.close()  # and the process ends here
    again = Tickets(tmp_path / "t")
    assert again.row(1, kept) == b"kept"
    again.keep(1, b"other row at the same place")
    with pytest.raises(ServiceError, match="lost in a crash"):
        again.row(1, lost)
    again.close()


def test_the_model_as_of_an_event_and_a_time(service, tmp_path, often):
    when = []
    for i, row in enumerate(ROWS[:60]):
        teach(service, "m", [row], i)
        when.append(time.time())
    for n in (1, 17, 60):
        expected = file_of(local(ROWS[:n]), tmp_path / "b")
        assert file_of(history.as_of(service, "m", event=n), tmp_path / "a") == expected
        assert file_of(history.as_of(service, "m", time=when[n - 1]), tmp_path / "a") == expected
    undo(service, events=[5])
    expected = file_of(local(ROWS[:4] + ROWS[5:17]), tmp_path / "b")
    assert file_of(history.as_of(service, "m", event=17), tmp_path / "a") == expected


def test_what_changed_and_which_labels_did_it(service):
    teach(service, "m", ROWS[:50])
    teach(service, "m", [({"pills": 5.0}, "a")] * 3, 50)
    found, labels = history.difference(service, "m", since=50)
    assert found.rows == 3
    assert found.weights[0].feature == "pills"
    assert {item["event"] for item in labels} == {51, 52, 53}


def test_challengers_learn_the_same_events(service, tmp_path):
    teach(service, "m", ROWS[:50])
    spec = {"learner": "pa"}
    number = service.run(service.challenging("m", spec))["version"]
    teach(service, "m", ROWS[50:], 50)
    challenger = service.model("m").versions[number]
    service.rebuilder.wait(challenger, 60)
    undo(service, events=[3])
    service.rebuilder.wait(challenger, 60)
    other = yarrow.PassiveAggressiveClassifier()
    for x, y in ROWS[:2] + ROWS[3:]:
        other.learn_one(x, y)
    assert file_of(service.live(challenger), tmp_path / "a") == file_of(other, tmp_path / "b")
    assert challenger.rows == 119
    assert challenger.loss == other.n_mistakes_
    service.run(service.promoting("m", number))
    assert service.model("m").champion is challenger


def test_models_rest_on_disk_when_memory_is_short(tmp_path):
    with Service(tmp_path / "data", level="os", memory=20_000) as service:
        rows = {f"m{i}": labelled_rows(6, seed=i) for i in range(40)}
        for name in rows:
            service.run(service.creating(name, SPEC))
        for part in range(3):
            for name, given in rows.items():
                teach(service, name, given[2 * part : 2 * part + 2], 2 * part)
        time.sleep(1.1)  # between batches the writer looks after memory
        resting = [m for m in service.models.values() if m.champion.learner is None]
        assert len(resting) > 10
        for name, given in rows.items():
            expected = file_of(local(given), tmp_path / "b")
            assert service_file(service, name, tmp_path / "a") == expected


def test_upload_copy_and_delete(service, tmp_path):
    model = local(ROWS[:50])
    model.save(tmp_path / "m.yarrow")
    service.run(service.creating("up", {}, tmp_path / "m.yarrow"))
    teach(service, "up", ROWS[50:])
    assert service_file(service, "up", tmp_path / "a") == file_of(local(ROWS), tmp_path / "b")
    (tmp_path / "bad").write_bytes(b"poison")
    with pytest.raises(YarrowError, match="not a Yarrow model"):
        service.run(service.creating("bad", {}, tmp_path / "bad"))
    with pytest.raises(ServiceError, match="already"):
        service.run(service.creating("up", SPEC))
    service.run(service.deleting("up"))
    with pytest.raises(ServiceError, match="no model 'up'"):
        service.model("up")
    service.run(service.creating("up", SPEC))
    teach(service, "up", ROWS[:3])
    assert service_file(service, "up", tmp_path / "a") == file_of(local(ROWS[:3]), tmp_path / "b")


def test_a_file_cannot_forget(service, tmp_path):
    teach(service, "m", ROWS[:9])
    local(ROWS[:50]).save(tmp_path / "m.yarrow")
    service.run(service.creating("up", {}, tmp_path / "m.yarrow"))
    teach(service, "up", ROWS[:3])
    with pytest.raises(ServiceError, match="no label with the number 2"):
        service.run(history.undoing(service, "up", Selection(events=[2])))
    service.run(history.undoing(service, "up", Selection(events=[10])))
    expected = file_of(local(ROWS[:50] + ROWS[1:3]), tmp_path / "b")
    assert service_file(service, "up", tmp_path / "a") == expected


def test_two_services_in_one_directory_are_refused(service):
    with pytest.raises(ServiceError, match="another service works in this directory"):
        Service(service.folder)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({}, "names a learner"),
        ({"learner": "perceptorn"}, "did you mean perceptron"),
        ({"learner": "arow", "parameters": {"q": 1}}, "no parameter 'q'"),
        ({"learner": "arow", "parameters": {"r": -1}}, "'r' parameter must be"),
        ({"learner": "arow", "columns": {"texts": ["a"]}}, "texts"),
        ({"learner": "arow", "model": 1}, "but no 'model'"),
        ({"learner": "hedge", "parameters": {"learners": [{"learner": "x"}]}}, "no learner 'x'"),
    ],
)
def test_specs_that_make_no_learner(service, spec, says):
    with pytest.raises(ServiceError, match=says):
        service.run(service.creating("new", spec))
    assert "new" not in service.models


def test_columns_of_tables(service, tmp_path):
    spec = {"learner": "arow", "columns": {"text": ["body"], "drop": ["date"]}}
    service.run(service.creating("mail", spec))
    rows = [({"body": f"cheap pills {i}", "n": i, "date": "x"}, "spam") for i in range(3)]
    rows += [({"body": f"hello you {i}", "n": 2.0, "date": "y"}, "ham") for i in range(3)]
    teach(service, "mail", rows)
    model = service.live(service.model("mail").champion)
    assert not any("date" in str(name) for name in model.feature_names_)
    assert model.predict_one({"body": "cheap pills"}) == "spam"


def test_a_clock_that_steps_back_keeps_events_in_order(service, tmp_path, monkeypatch):
    teach(service, "m", ROWS[:10])
    earlier = time.time() - 3600
    monkeypatch.setattr("yarrow.serve.log.time.time", lambda: earlier)
    teach(service, "m", ROWS[10:20], 10)
    times = [t for (t,) in service.reader.db.execute("SELECT time FROM events ORDER BY event")]
    assert times == sorted(times)
    expected = file_of(local(ROWS[:20]), tmp_path / "b")
    now = history.as_of(service, "m", time=times[-1])
    assert file_of(now, tmp_path / "a") == expected


def test_a_clock_that_steps_back_stops_no_curve(service, monkeypatch):
    teach(service, "m", ROWS[:10])
    earlier = time.time() - 3600
    monkeypatch.setattr("yarrow.serve.replay.time.time", lambda: earlier)
    teach(service, "m", ROWS[10:20], 10)
    service.run(Operation(lambda: None, lambda _: None))  # behind what follows a batch
    assert [rows for _, rows, _ in service.model("m").champion.samples] == [20]


def test_snapshots_of_all_models_share_a_part_of_the_writers_time(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "AT_LEAST", 0.0)
    taken = []
    monkeypatch.setattr(
        snapshots.Snapshots, "take", lambda self, *_: taken.append(self.version) or take(self, *_)
    )
    with Service(tmp_path / "data", level="os") as service:
        for i in range(20):
            service.run(service.creating(f"m{i}", SPEC))
        monkeypatch.setattr(snapshots, "SHARE", 1e-6)  # one, and then none for a long time
        for i in range(20):
            service.model(f"m{i}").champion.snapshots.since = 1.0
            teach(service, f"m{i}", ROWS[:5])
        service.run(Operation(lambda: None, lambda _: None))
        assert len(taken) == 1


take = snapshots.Snapshots.take


def test_few_snapshots_of_a_long_log():
    taken: list[int] = []
    for event in range(1, 3000):
        taken = [event, *taken]
        gone = set(snapshots.thinned(taken, keep=1))
        taken = [e for e in taken if e not in gone]
        for newer, older in itertools.pairwise(taken[1:]):
            assert newer - older <= max(1, (event - newer))
    assert len(taken) < 60
    assert taken[-1] == 1
