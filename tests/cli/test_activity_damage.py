"""A log with damaged bytes: whatever is read of it, and every trouble is one sentence."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import click.testing
import pytest
from activity.support import MORNING, HandClock, session_at, work
from cli.support import Run

from yarrow.activity.app.session import Session
from yarrow.activity.log.entries import Confirm, Event
from yarrow.activity.log.store import Store
from yarrow.cli import main
from yarrow.errors import DataError


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "a.sqlite"
    session = session_at(HandClock(), path)
    for name in ("Tax return", "Garden", "Tax return"):
        session.declare(name)
        work(session, name, 20)
    session.store.add_never("bank")
    session.close()
    return path


@pytest.fixture
def path(healthy: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(healthy, tmp_path / "a.sqlite"))


def execute(path: Path, statement: str, *values: Any) -> None:
    db = sqlite3.connect(path)
    with db:
        db.execute("DELETE FROM snapshot")
        db.execute(statement, values)
    db.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("kind", "fokus"), ("kind", b"\xff"), ("kind", 5), ("resource", b"x"), ("title", b"\xff"),
        ("application", b""), ("duration", "long"), ("duration", b"\0"),
        ("duration", float("inf")), ("said", "{"), ("said", "[]"), ("said", b"\xff"), ("said", 7),
        ("said", '{"activity": "x"}'), ("said", '{"no": 1}'), ("said", "[" * 50_000),
    ],
)  # fmt: skip
def test_a_damaged_entry_is_named_and_the_others_are_read(
    run: Run, path: Path, column: str, value: object
) -> None:
    number = 30
    before = len(list(Store(path).entries()))
    execute(path, f"UPDATE log SET {column} = ? WHERE number = ?", value, number)
    with pytest.raises(DataError, match=rf"a\.sqlite: entry {number} is damaged"):
        list(Store(path).entries())
    refused: list[DataError] = []
    assert len(list(Store(path).entries(refused=refused.append))) == before - 1
    assert len(refused) == 1
    told = run("activity", "status", "--database", path)
    assert f"entry {number} is damaged" in told.stderr
    assert "Tax return" in told.stdout
    session = Session(Store(path), HandClock(MORNING + 9000))
    session.declare("Garden")
    assert session.recogniser.thought().declared == 1


@pytest.mark.parametrize("said_of", ["create", "declare"])
@pytest.mark.parametrize(
    "fields", ['{"activity": 1.5}', '{"activity": true}', '{"activity": null}', "null",
               '{"activity": 0, "name": 5}', '{"activity": 99999999999999999999}']
)  # fmt: skip
def test_what_was_said_is_of_its_type(run: Run, path: Path, said_of: str, fields: str) -> None:
    execute(path, "UPDATE log SET said = ? WHERE kind = ?", fields, said_of)
    told = run("activity", "status", "--database", path)
    assert "an entry of the log was skipped" in told.stderr
    assert "Traceback" not in told.stderr


def test_text_that_is_none_is_read_as_far_as_it_is(path: Path) -> None:
    execute(path, "UPDATE log SET title = CAST(X'61ff62' AS TEXT) WHERE number = 30")
    titles = [entry.title for _, entry in Store(path).entries() if isinstance(entry, Event)]
    assert titles.count("a\ufffdb") == 1
    assert len(titles) == 60
    assert Store(path).forget(matching="a.b$") == 1


def test_a_time_that_is_none_is_left_out_and_forgotten(run: Run, path: Path) -> None:
    execute(path, "UPDATE log SET time = 'noon' WHERE number = 30")
    assert "from the future (1)" in run("activity", "status", "--database", path).stderr
    arguments = ("--database", path, "--since", "2100-01-01", "--yes")
    assert run("activity", "forget", *arguments).stdout == "1 entry removed\n"
    assert run("activity", "status", "--database", path).stderr == ""


def test_a_snapshot_that_is_damaged_is_not_used(path: Path, healthy: Path) -> None:
    expected = Session(Store(healthy), HandClock(MORNING + 9000)).recogniser.state_dict()
    for change in ("time = time + 60", "number = number - 5", "time = 'x'", "state = X'00'",
                   "state = NULL", "state = substr(state, 1, 500)"):  # fmt: skip
        db = sqlite3.connect(path)
        with db:
            db.execute("PRAGMA writable_schema = ON")
            try:
                db.execute(f"UPDATE snapshot SET {change}")
            except sqlite3.IntegrityError:
                continue
        db.close()
        session = Session(Store(path), HandClock(MORNING + 9000))
        assert session.recogniser.state_dict() == expected
        shutil.copy(healthy, path)


def test_settings_that_are_damaged_are_told_or_not_used(run: Run, path: Path) -> None:
    from yarrow.activity.app.runner import newest_seen

    store = Store(path)
    for value in ("soon", "nan", "1e999", ""):
        store.keep("activitywatch.newest", value)
        assert newest_seen(store) is None
    store.close()
    for pattern in ("(", b"\xff"):
        execute(path, "UPDATE never SET pattern = ?", pattern)
        told = run("activity", "status", "--database", path, code=2).stderr
        assert "a.sqlite: is damaged: " in told


def test_a_program_does_not_write_to_a_damaged_file(run: Run, path: Path) -> None:
    store = Store(path)
    store.append([Event(MORNING + n, "focus", f"/{n}", "x" * 50) for n in range(500)])
    store.close()
    content = bytearray(path.read_bytes())
    content[5 * 4096 : 5 * 4096 + 8] = b"\x0d\xff\xff\xff\xff\xff\xff\xff"  # the head of a page
    path.write_bytes(content)
    command = ("run", "--no-activitywatch", "--feed", path, "--port", "0", "--database", path)
    assert "damaged" in run("activity", *command, code=2).stderr


def test_a_full_disk_and_a_file_that_may_not_be_written_are_sentences(
    run: Run, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "forget", full)
    told = run("activity", "forget", "--since", "09:00", "--yes", "--database", path, code=2).stderr
    assert told == f"yarrow: {path}: cannot be read or written (database or disk is full).\n"


def test_a_write_that_failed_leaves_no_transaction_open(path: Path) -> None:
    store = Store(path)
    with pytest.raises(TypeError):
        store.append([Confirm(MORNING), 5])  # type: ignore[list-item]
    assert not store._db.in_transaction
    store._db.execute("PRAGMA max_page_count = 1")  # the disk is full
    with pytest.raises(sqlite3.OperationalError, match="full"):
        store.append([Event(MORNING, "focus", "/x", "y" * 1_000_000)])
    store._db.execute("PRAGMA max_page_count = 1000000")
    assert len(store.append([Event(MORNING, "focus", "/x")])) == 1


@pytest.mark.parametrize("seed", range(60))
def test_whatever_bytes_are_flipped_there_is_no_traceback(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 2, 8, 40])):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)
    for command in ("status", "folder", "export bucket", "forget --matching tax --yes"):
        arguments = ["activity", *command.split(), "--database", str(path)]
        result = click.testing.CliRunner().invoke(main, arguments)
        if not isinstance(result.exception, SystemExit | None):
            raise result.exception
        assert result.exit_code in (0, 2)
        assert result.exit_code == 0 or result.stderr.count("\n") == 1
