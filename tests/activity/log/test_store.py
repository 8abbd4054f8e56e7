"""The log: what is in it survives, what is forgotten is gone."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
import typing
from pathlib import Path

import pytest

from yarrow.activity.log.entries import (
    Archive,
    Associate,
    Confirm,
    Correct,
    Create,
    Declare,
    Event,
    Merge,
    Rename,
    Said,
    to_row,
)
from yarrow.activity.log.store import Store
from yarrow.errors import DataError, ParameterError

EVERYTHING_SAID = [
    Create(1.0, 0, "Tax"),
    Create(1.0, 1, "Garden"),
    Declare(2.0, 0),
    Correct(9.0, 1, since=3.0),
    Correct(9.5, 1, since=3.0, until=4.0),
    Confirm(10.0),
    Associate(11.0, "/a.txt", 1),
    Associate(11.5, "/a.txt", None),
    Rename(12.0, 0, "Taxes"),
    Merge(13.0, 0, 1),
    Archive(14.0, 1),
    Archive(15.0, 1, archived=False),
]


def focus(time: float, title: str, resource: str = "") -> Event:
    return Event(time, "focus", resource or f"/{title}", title, "editor")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "folder" / "activity.sqlite")


def test_whatever_can_be_said_comes_back_as_it_was(store: Store) -> None:
    assert {type(entry) for entry in EVERYTHING_SAID} == set(typing.get_args(Said))
    entries = [*EVERYTHING_SAID, Event(16.0, "save", "/b", "b - editor", "editor", 2.5)]
    store.append(entries)
    store.close()
    assert [entry for _, entry in Store(store.path).entries()] == entries


def test_the_names_in_the_file_stay_whatever_the_classes_are_called() -> None:
    assert sorted({to_row(entry)[1] for entry in EVERYTHING_SAID}) == [
        "archive", "associate", "confirm", "correct", "create", "declare", "merge", "rename"
    ]  # fmt: skip


def test_entries_stand_in_the_order_of_time_and_then_of_arrival(store: Store) -> None:
    store.append([focus(5.0, "c"), focus(1.0, "a")])
    store.append([focus(5.0, "d"), focus(2.0, "b")])
    assert [entry.title for _, entry in store.entries()] == ["a", "b", "c", "d"]
    place, _ = list(store.entries())[1]
    assert [entry.title for _, entry in store.entries(after=place)] == ["c", "d"]


def test_an_origin_enters_once(store: Store) -> None:
    assert len(store.append([focus(1.0, "a")], ["bucket@1"])) == 1
    assert store.append([focus(1.0, "a")], ["bucket@1"]) == []
    assert len(store.append([focus(1.0, "a"), focus(1.0, "a")])) == 2  # no origin: no claim
    assert len(store) == 3


def test_entries_and_how_far_a_source_was_read_are_kept_together(store: Store) -> None:
    with pytest.raises(TypeError):
        store.append([focus(1.0, "a"), "no entry"], settings={"read": "2"})  # type: ignore[list-item]
    assert len(store) == 0
    assert store.setting("read") == ""
    store.append([focus(1.0, "a")], settings={"read": "1"})
    assert store.setting("read") == "1"


def test_nobody_else_may_read_the_file(store: Store) -> None:
    path = Path(store.path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_resource_is_forgotten_to_the_last_byte(store: Store) -> None:
    store.append([focus(float(n), "Secret-dossier", "/secret") for n in range(300)])
    store.append([focus(500.0, "public"), Associate(501.0, "/secret", None)])
    store.add_snapshot((299.0, 300), "me", b"Secret-dossier")
    assert store.forget(resource="/secret") == 301
    assert [entry.title for _, entry in store.entries()] == ["public"]  # type: ignore[union-attr]
    assert store.snapshot("me") is None
    for file in Path(store.path).parent.iterdir():
        assert b"secret" not in file.read_bytes().lower(), file


def test_a_span_is_forgotten_but_not_that_activities_exist(store: Store) -> None:
    store.append([focus(1.0, "a"), Create(2.0, 0, "Tax"), Declare(2.0, 0),
                  focus(3.0, "b"), focus(4.0, "c")])  # fmt: skip
    assert store.forget(start=2.0, end=4.0) == 2
    kept = [entry for _, entry in store.entries()]
    assert kept == [focus(1.0, "a"), Create(2.0, 0, "Tax"), focus(4.0, "c")]
    with pytest.raises(ParameterError, match="a span that ends after it begins"):
        store.forget(start=2.0, end=2.0)


def test_what_a_pattern_matches_is_forgotten(store: Store) -> None:
    store.append([focus(1.0, "My Bank - login"), focus(2.0, "a")])
    assert store.forget(matching="bank") == 1
    assert len(store) == 1


def test_what_is_private_is_never_stored(store: Store) -> None:
    store.add_never(r"\bbank\b")
    store.append([focus(1.0, "My BANK - login"), Event(2.0, "navigate", "https://bank.example/x")])
    assert [entry for _, entry in store.entries()] == [Event(1.0, "away"), Event(2.0, "away")]
    other = Store(store.path)  # and another process knows
    other.append([focus(3.0, "the bank", "/x")])
    assert b"My BANK" not in Path(store.path).read_bytes()
    with pytest.raises(ParameterError, match="never stored"):
        store.append([Associate(4.0, "https://bank.example/x", 0)])
    store.remove_never(r"\bbank\b")
    store.append([focus(5.0, "My bank")])
    assert store.last() == (5.0, 4)


def test_a_pattern_that_is_none_is_refused(store: Store) -> None:
    with pytest.raises(ParameterError, match=r"'\(' is not a regular expression"):
        store.add_never("(")
    with pytest.raises(ParameterError, match="no pattern 'x' to remove"):
        store.remove_never("x")


def test_a_snapshot_goes_with_what_it_was_made_of(store: Store) -> None:
    store.append([focus(float(n), "a") for n in range(1, 6)])
    for n in (2, 4):
        store.add_snapshot((float(n), n), "me", bytes([n]))
    assert store.snapshot("me") == ((4.0, 4), b"\x04")
    assert store.snapshot("another version") is None
    store.append([focus(3.0, "late")])
    assert store.snapshot("me") == ((2.0, 2), b"\x02")


def test_another_process_is_noticed(store: Store) -> None:
    assert not store.changed_elsewhere()
    store.append([focus(1.0, "a")])
    assert not store.changed_elsewhere()
    Store(store.path).append([focus(2.0, "b")])
    assert store.changed_elsewhere()
    assert not store.changed_elsewhere()


def test_other_files_are_refused_with_a_sentence(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("these are notes, not a database" * 100)
    with pytest.raises(DataError, match=r"notes\.txt: is not a log of activities"):
        Store(text)
    foreign = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(foreign)) as db, db:
        db.execute("CREATE TABLE mail (id)")
    db.close()
    with pytest.raises(DataError, match="a database of another program"):
        Store(foreign)
    store = Store(tmp_path / "new.sqlite")
    store._db.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(DataError, match="has version 99; this Yarrow reads version 1"):
        Store(store.path)
