"""The log of a desk in one SQLite file: what happened and what the person said.

The state of the recogniser is a fold over this log in the order of (time, number). So the log is
all that must survive: an entry is on the disk before it is acknowledged, and whatever memory holds
can be rebuilt. A snapshot is only a short cut, and stands in the same file, so that it is removed
together with what it was made of.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import sqlite3
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from yarrow.activity import said
from yarrow.activity.events import Event
from yarrow.errors import DataError, ParameterError

__all__ = ["Logged", "Place", "Store", "default_path"]

_APPLICATION = 0x79617277  # "yarw", in the header of the file
_VERSION = 1
_PATIENCE = 10.0  # seconds to wait for another process that writes
_SNAPSHOTS_KEPT = 4
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

Place: TypeAlias = tuple[float, int]  # time and number: where an entry stands in the log
BEGINNING: Place = (float("-inf"), 0)


class Logged(NamedTuple):
    """An entry and where it stands."""

    place: Place
    entry: said.Entry


def default_path() -> Path:
    """Where the log of this user is, by the rules of the XDG base directories."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "yarrow" / "activity.sqlite"


class Store:
    """The log, its snapshots and its settings.

    A store belongs to one thread at a time; several processes may open the same file. A second one
    that writes is noticed by `changed_elsewhere`.

    Examples
    --------
    >>> store = Store(":memory:")
    >>> store.append([Event(10.0, "focus", "/home/me/report.odt", "report.odt")])
    [(10.0, 1)]
    >>> [entry.title for _, entry in store.entries()]
    ['report.odt']
    >>> store.forget(resource="/home/me/report.odt")
    1
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        if self.path != ":memory:":
            self._make_file(Path(self.path))
        try:
            self._db = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            self._prepare()
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"is not a log of activities, or is damaged ({error})", source=self.path
            ) from None
        self._seen = self._data_version()
        self._never = self._compiled()

    @staticmethod
    def _make_file(path: Path) -> None:
        """Titles of windows are private: nobody else may read them."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")  # committed is on the disk
        self._db.execute("PRAGMA secure_delete = ON")  # forgotten is overwritten
        with self._transaction():
            application = self._number("PRAGMA application_id")
            version = self._number("PRAGMA user_version")
            if (application, version) == (0, 0) and not self._number(
                "SELECT count(*) FROM sqlite_master"
            ):
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {_VERSION}")
            elif application != _APPLICATION:
                raise DataError("is a database of another program", source=self.path)
            elif version != _VERSION:
                raise DataError(
                    f"has version {version}; this Yarrow reads version {_VERSION}",
                    source=self.path,
                )

    def close(self) -> None:
        """Close the file; what was appended is there already."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, and on the disk when it is over."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _number(self, query: str, *values: Any) -> int:
        return int(self._db.execute(query, values).fetchone()[0])

    def _data_version(self) -> int:
        return self._number("PRAGMA data_version")

    def changed_elsewhere(self) -> bool:
        """Whether another process wrote to the file since this was asked last."""
        before, self._seen = self._seen, self._data_version()
        if self._seen != before:
            self._never = self._compiled()
        return self._seen != before

    # -- the log --------------------------------------------------------------------------------

    def append(
        self,
        entries: Iterable[said.Entry],
        origins: Iterable[str | None] = (),
        settings: Mapping[str, str] | None = None,
        created_by: float | None = None,
    ) -> list[Place]:
        """Put entries into the log, each at its own time; return where the new ones stand.

        An entry whose origin is there already is left out. `settings` (how far a source was read)
        are kept in the same transaction: after a crash neither is ahead of the other. What the
        patterns of `never` match is stored as being away. `created_by` is when all activities must
        have been created, because older history may tell of them.
        """
        pending = list(entries)
        names = list(origins) or [None] * len(pending)
        new: list[Place] = []
        with self._transaction():
            for entry, origin in zip(pending, names, strict=True):
                row = _row(self._without_secrets(entry))
                done = self._db.execute(
                    "INSERT OR IGNORE INTO log (time, kind, resource, title, application, duration,"
                    " said, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*row, origin),
                )
                if done.rowcount > 0 and done.lastrowid is not None:
                    new.append((entry.time, done.lastrowid))
            if created_by is not None:
                self._db.execute(
                    "UPDATE log SET time = min(time, ?) WHERE kind = 'create'", (created_by,)
                )
            if new:
                touched = [time for time, _ in new] + ([] if created_by is None else [created_by])
                self._db.execute("DELETE FROM snapshot WHERE time > ?", (min(touched),))
            for name, value in (settings or {}).items():
                self.keep(name, value)
        return new

    def entries(self, after: Place = BEGINNING) -> Iterator[Logged]:
        """The log in its order, from behind a place."""
        rows = self._db.execute(
            "SELECT time, number, kind, resource, title, application, duration, said FROM log"
            " WHERE (time, number) > (?, ?) ORDER BY time, number",
            after,
        )
        for row in rows:
            yield Logged((row[0], row[1]), _entry(self.path, row[0], *row[2:]))

    def last(self) -> Place:
        """Where the newest entry stands."""
        row = self._db.execute(
            "SELECT time, number FROM log ORDER BY time DESC, number DESC LIMIT 1"
        ).fetchone()
        return BEGINNING if row is None else (row[0], row[1])

    def __len__(self) -> int:
        return self._number("SELECT count(*) FROM log")

    def knows(self, resource: str) -> bool:
        """Whether the log has an entry about a resource."""
        return bool(self._number("SELECT count(*) FROM log WHERE resource = ?", resource))

    def next_activity(self) -> int:
        """The number of the next activity; they count from 0."""
        return self._number(
            "SELECT coalesce(max(json_extract(said, '$.activity')), -1) + 1 FROM log"
            " WHERE kind = 'create'"
        )

    # -- privacy --------------------------------------------------------------------------------

    def forget(
        self,
        *,
        resource: str | None = None,
        start: float | None = None,
        end: float | None = None,
        matching: str | None = None,
    ) -> int:
        """Remove a resource, a span of time, or what a pattern matches; return how many entries.

        The bytes are overwritten, in the file and in the journal beside it.
        Of a span, events and switches go; activities that were created in it stay.
        """
        where, values = self._forgotten(resource, start, end, matching)
        with self._transaction():
            row = self._db.execute(
                f"SELECT min(time), count(*) FROM log WHERE {where}", values
            ).fetchone()
            if row[1]:
                self._db.execute(f"DELETE FROM log WHERE {where}", values)
                self._db.execute("DELETE FROM snapshot WHERE time >= ?", (row[0],))
        if row[1]:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(row[1])

    def _forgotten(
        self, resource: str | None, start: float | None, end: float | None, matching: str | None
    ) -> tuple[str, tuple[Any, ...]]:
        if matching is not None:
            pattern = _pattern(matching)
            self._db.create_function("spoken_of", 3, lambda *texts: any(map(pattern.search, texts)))
            return "spoken_of(resource, title, application)", ()
        if resource is not None:
            return "resource = ?", (resource,)
        if start is None or end is None or not start < end:
            raise ParameterError("say which resource to forget, or a span whose end is later.")
        return "time >= ? AND time < ? AND kind NOT IN ('create', 'rename', 'merge', 'archive')", (
            start,
            end,
        )

    def never(self) -> list[str]:
        """Patterns (regular expressions, any case) of what is never stored."""
        return [row[0] for row in self._db.execute("SELECT pattern FROM never ORDER BY rowid")]

    def add_never(self, pattern: str) -> None:
        """Never store what the pattern matches in a title, resource or application, from now on."""
        _pattern(pattern)
        self._db.execute("INSERT OR IGNORE INTO never VALUES (?)", (pattern,))
        self._never = self._compiled()

    def remove_never(self, pattern: str) -> None:
        """Take a pattern back."""
        if not self._db.execute("DELETE FROM never WHERE pattern = ?", (pattern,)).rowcount:
            raise ParameterError(f"there is no pattern {pattern!r} to take back.")
        self._never = self._compiled()

    def _compiled(self) -> list[re.Pattern[str]]:
        return [_pattern(text) for text in self.never()]

    def _without_secrets(self, entry: said.Entry) -> said.Entry:
        """What may be stored of an entry: of what is private, that nothing is seen from then on."""
        texts = (getattr(entry, name, "") for name in ("title", "resource", "application"))
        if not any(pattern.search(text) for text in texts for pattern in self._never if text):
            return entry
        if isinstance(entry, Event):
            return Event(entry.time, "away")
        raise ParameterError("this is never stored, as you asked; see 'yarrow activity never'.")

    # -- snapshots and settings -----------------------------------------------------------------

    def snapshot(self, made_by: str, before: float = float("inf")) -> tuple[Place, bytes] | None:
        """The newest snapshot that this version and these settings made, if there is one."""
        row = self._db.execute(
            "SELECT time, number, state FROM snapshot WHERE made_by = ? AND time < ?"
            " ORDER BY time DESC, number DESC LIMIT 1",
            (made_by, before),
        ).fetchone()
        return None if row is None else ((row[0], row[1]), row[2])

    def add_snapshot(self, place: Place, made_by: str, state: bytes) -> None:
        """Keep the state after the entry at `place`; older ones go, but for a few."""
        with self._transaction():
            self._db.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?)", (*place, made_by, state))
            self._db.execute(
                "DELETE FROM snapshot WHERE rowid NOT IN"
                " (SELECT rowid FROM snapshot ORDER BY time DESC, number DESC LIMIT ?)",
                (_SNAPSHOTS_KEPT,),
            )

    def setting(self, name: str, default: str = "") -> str:
        """What was kept under a name."""
        row = self._db.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return default if row is None else str(row[0])

    def keep(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        self._db.execute(
            "INSERT INTO setting VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )


def _row(entry: said.Entry) -> tuple[Any, ...]:
    if isinstance(entry, Event):
        return (entry.time, entry.kind, entry.resource, entry.title, entry.application,
                entry.duration, None)  # fmt: skip
    record = dataclasses.asdict(entry)
    at, resource = record.pop("time"), record.pop("resource", "")
    return at, type(entry).__name__.lower(), resource, "", "", 0.0, json.dumps(record)


def _entry(
    source: str, at: float, kind: str, resource: str, title: str, application: str,
    duration: float, told: str | None,
) -> said.Entry:  # fmt: skip
    if told is None:
        return Event(at, kind, resource, title, application, duration)
    fields = json.loads(told) | ({"resource": resource} if kind == "associate" else {})
    try:
        entry: said.Entry = _SAID[kind](time=at, **fields)
    except (KeyError, TypeError):
        raise DataError(f"was written by a later Yarrow: {kind!r}", source=source) from None
    return entry


_SAID: dict[str, type[Any]] = {cls.__name__.lower(): cls for cls in typing.get_args(said.Said)}


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise ParameterError(f"{text!r} is no regular expression: {error}.") from None
