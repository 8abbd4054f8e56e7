"""The file of the log: where it is, how it is made, and whether it is one."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from yarrow.errors import DataError

__all__ = ["default_path", "open_database", "transaction"]

_APPLICATION = 0x79617277  # "yarw", in the header of the file
_VERSION = 1
_PATIENCE = 10.0  # seconds to wait for another process that writes
_SCHEMA = """
CREATE TABLE log (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    kind TEXT NOT NULL,           -- the kind of an event, or the name of what was said
    resource TEXT NOT NULL,
    title TEXT NOT NULL,
    application TEXT NOT NULL,
    duration REAL NOT NULL,
    said TEXT,                    -- JSON, the fields of what was said, or NULL
    origin TEXT UNIQUE            -- what a source calls it, so that nothing enters twice
);
CREATE INDEX log_in_time ON log (time, number);
CREATE INDEX log_of_resource ON log (resource);
CREATE TABLE snapshot (
    time REAL NOT NULL, number INTEGER NOT NULL, made_by TEXT NOT NULL, state BLOB NOT NULL
);
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE never (pattern TEXT PRIMARY KEY);
"""


def default_path() -> Path:
    """Where the log of this user is, by the rules of the XDG base directories."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "yarrow" / "activity.sqlite"


def open_database(path: str) -> sqlite3.Connection:
    """Open a log, and make it where there is none; `sqlite3.DatabaseError` if it is damaged."""
    if path != ":memory:":
        _make_file(Path(path))
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _prepare(db, path)
    except UnicodeDecodeError:  # SQLite complains in words taken from a damaged file
        db.close()
        raise sqlite3.DatabaseError("malformed database schema") from None
    except BaseException:
        db.close()
        raise
    return db


def _make_file(path: Path) -> None:
    """Titles of windows are private: nobody else may read them."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, and on the disk when it is over."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk may have ended it
            db.execute("ROLLBACK")
        raise


def _prepare(db: sqlite3.Connection, path: str) -> None:
    db.execute("PRAGMA cell_size_check = ON")  # damage is noticed early
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")  # committed is on the disk
    db.execute("PRAGMA secure_delete = ON")  # forgotten is overwritten
    with transaction(db):
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (application, version, tables) == (0, 0, 0):
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {_VERSION}")
        elif application != _APPLICATION:
            raise DataError("is a database of another program", source=path)
        elif version != _VERSION:
            raise DataError(
                f"has version {version}; this Yarrow reads version {_VERSION}", source=path
            )
