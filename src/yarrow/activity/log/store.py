"""The log of a desk in one SQLite file: what happened and what the person said.

The state of the recogniser is a fold over this log in the order of (time, number). So the log is
all that must survive: an entry is on the disk before it is acknowledged, and whatever memory holds
can be rebuilt. A snapshot is only a short cut, and stands in the same file, so that it is removed
together with what it was made of. All that is said to SQLite is said here.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from yarrow.activity.log.entries import EVENT_FIELDS, EVENT_TEXTS, Entry, Event, from_row, to_row
from yarrow.activity.log.validation import END, as_pattern, whole
from yarrow.errors import DataError, ParameterError
from yarrow.lazy import resource

_APPLICATION = 0x79617277  # "yarw", in the header of the file
_VERSION = 1
_PATIENCE = 10.0  # seconds to wait for another process that writes
_COLUMNS = ", ".join((*EVENT_FIELDS, "said"))
_SNAPSHOTS_KEPT = 4
_DAY = 86400.0
_STAYS = "kind IN ('create', 'rename', 'merge', 'archive')"  # though the time is forgotten

Place: TypeAlias = tuple[float, int]  # time and number: where an entry stands in the log
BEGINNING: Place = (float("-inf"), 0)


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
        try:
            self._db = _open(self.path)
            self._seen = self._data_version()
            self._never = self._compiled()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> DataError:
        return DataError(f"is not a log of activities, or is damaged ({error})", source=self.path)

    def check(self) -> None:
        """Raise an error if the file is damaged, before more is written to it."""
        try:
            (found,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            found = str(error)
        if found != "ok":
            raise DataError(f"is damaged ({found})", source=self.path)

    def close(self) -> None:
        """Close the file; what was appended is there already."""
        self._db.close()

    def __del__(self) -> None:
        if "_db" in self.__dict__:  # else it could not be opened
            self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        entries: Iterable[Entry],
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
        names = [None if name is None else whole(name) for name in origins] or [None] * len(pending)
        new: list[Place] = []
        with _transaction(self._db):
            for entry, origin in zip(pending, names, strict=True):
                row = to_row(self._without_secrets(entry))
                done = self._db.execute(
                    f"INSERT OR IGNORE INTO log ({_COLUMNS}, origin)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
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

    def entries(
        self, after: Place = BEGINNING, refused: Callable[[DataError], None] | None = None
    ) -> Iterator[tuple[Place, Entry]]:
        """The log in its order, from behind a place.

        What has no date (before 1970 or after the year 9999) stands nowhere and is left out.
        `refused` takes errors about damaged entries; without it, the first is raised.
        """
        for number, at, *columns in self._rows(after):
            try:
                entry = from_row(self.path, number, at, *columns)
            except DataError as error:
                if refused is None:
                    raise
                refused(error)
                continue
            yield (at, number), entry

    def _rows(self, after: Place) -> Iterator[tuple[Any, ...]]:
        while True:
            try:
                for row in self._db.execute(
                    f"SELECT number, {_COLUMNS} FROM log"
                    " WHERE (time, number) > (?, ?) AND time >= 0 AND time < ?"
                    " ORDER BY time, number",
                    (*after, END),
                ):
                    yield row
                    after = row[1], row[0]
                return
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                if self._db.text_factory is not str or "decode" not in str(error):
                    raise self._damaged(error) from None
                self._db.text_factory = _text  # read on, as far as it is text

    def first(self) -> Place:
        """Where the oldest entry stands."""
        return self._outermost("ASC")

    def last(self) -> Place:
        """Where the newest entry stands."""
        return self._outermost("DESC")

    def _outermost(self, order: str) -> Place:
        row = self._db.execute(
            "SELECT time, number FROM log WHERE time >= 0 AND time < ?"
            f" ORDER BY time {order}, number {order} LIMIT 1",
            (END,),
        ).fetchone()
        return BEGINNING if row is None else (row[0], row[1])

    def out_of_time(self, now: float) -> str:
        """A sentence if entries are of a time that cannot be, as older versions let in; or nothing.

        What is ahead by less than a day comes from a clock that was set back, and settles.
        """
        early = self._number("SELECT count(*) FROM log WHERE time < 0")
        ahead = self._number("SELECT count(*) FROM log WHERE time > ?", now + _DAY)
        if not early and not ahead:
            return ""
        since = datetime.datetime.fromtimestamp(now + _DAY).isoformat(timespec="minutes")
        cures = ["--until 1970-01-02"] * bool(early) + [f"--since {since}"] * bool(ahead)
        return (
            f"the log has entries from before 1970 ({early}) or from the future ({ahead}), which"
            f" {' and '.join(repr(f'yarrow activity forget {cure}') for cure in cures)} removes"
        )

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
        now: float = float("inf"),
    ) -> int:
        """Remove a resource, a span of time, or what a pattern matches; return how many entries.

        The bytes are overwritten, in the file and in the journal beside it.
        Of a span, events and switches go; activities that were created in it stay. Where these are
        of a time that cannot be, they move to 1970 or to `now`. A span without a start or an end
        has all before or after.
        """
        where, values = self._forgotten(resource, start, end, matching)
        with _transaction(self._db):
            row = self._db.execute(
                f"SELECT min(time), count(*) FROM log WHERE {where}", values
            ).fetchone()
            if row[1]:
                self._db.execute(f"DELETE FROM log WHERE {where}", values)
                self._db.execute("DELETE FROM snapshot WHERE time >= ?", (row[0],))
            if resource is None and matching is None:
                self._bring_back(start, end, now)
        if row[1]:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(row[1])

    def _bring_back(self, start: float | None, end: float | None, now: float) -> None:
        """Give what stays of a forgotten span a time that can be."""
        span, values = _span(start, end)
        where = f"{span} AND {_STAYS} AND NOT (time >= 0 AND time <= ?)"
        if self._number(f"SELECT count(*) FROM log WHERE {where}", *values, now):
            self._db.execute(
                f"UPDATE log SET time = min(max(time, 0.0), ?) WHERE {where}", (now, *values, now)
            )
            self._db.execute("DELETE FROM snapshot")

    def _forgotten(
        self, resource: str | None, start: float | None, end: float | None, matching: str | None
    ) -> tuple[str, tuple[Any, ...]]:
        if matching is not None:
            pattern = as_pattern(matching)

            def spoken_of(*texts: Any) -> bool:
                return any(pattern.search(_text(text)) for text in texts if text is not None)

            self._db.create_function("spoken_of", 3, spoken_of)
            columns = (f"CAST({name} AS BLOB)" for name in EVENT_TEXTS)
            return f"spoken_of({', '.join(columns)})", ()
        if resource is not None:
            return "resource = ?", (whole(resource),)
        if (start is None and end is None) or not (start is None or end is None or start < end):
            raise ParameterError("name a resource to forget, or a span that ends after it begins.")
        span, values = _span(start, end)
        return f"{span} AND NOT {_STAYS}", values

    def never(self) -> list[str]:
        """Patterns (regular expressions, any case) of what is never stored."""
        return [row[0] for row in self._db.execute("SELECT pattern FROM never ORDER BY rowid")]

    def add_never(self, pattern: str) -> None:
        """Never store what the pattern matches in a title, resource or application, from now on."""
        as_pattern(pattern)
        self._db.execute("INSERT OR IGNORE INTO never VALUES (?)", (pattern,))
        self._never = self._compiled()

    def remove_never(self, pattern: str) -> None:
        """Take a pattern back."""
        known = (whole(pattern),)
        if not self._db.execute("DELETE FROM never WHERE pattern = ?", known).rowcount:
            raise ParameterError(f"there is no pattern {pattern!r} to remove.")
        self._never = self._compiled()

    def _compiled(self) -> list[re.Pattern[str]]:
        try:
            return [as_pattern(text) for text in self.never()]
        except ParameterError as error:
            raise DataError(f"is damaged: {error}", source=self.path) from None

    def _without_secrets(self, entry: Entry) -> Entry:
        """What may be stored of an entry: of what is private, that nothing is seen from then on."""
        texts = (getattr(entry, name, "") for name in EVENT_TEXTS)
        if not any(pattern.search(text) for text in texts for pattern in self._never if text):
            return entry
        if isinstance(entry, Event):
            return Event(entry.time, "away")
        raise ParameterError(
            "this matches a pattern that is never stored; see 'yarrow activity never'."
        )

    # -- snapshots and settings -----------------------------------------------------------------

    def snapshot(self, made_by: str) -> tuple[Place, bytes] | None:
        """The newest snapshot that this version and these settings made, if there is one."""
        row = self._db.execute(
            "SELECT time, number, state FROM snapshot WHERE made_by = ?"
            " ORDER BY time DESC, number DESC LIMIT 1",
            (made_by,),
        ).fetchone()
        return None if row is None else ((row[0], row[1]), row[2])

    def add_snapshot(self, place: Place, made_by: str, state: bytes) -> None:
        """Keep the state after the entry at `place`; older ones go, but for a few."""
        with _transaction(self._db):
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


def _span(start: float | None, end: float | None) -> tuple[str, tuple[float, ...]]:
    """The condition of a span; one side may be open."""
    parts = {"time >= ?": start, "time < ?": end}
    given = {part: value for part, value in parts.items() if value is not None}
    return " AND ".join(given), tuple(given.values())


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")


# -- the file ----------------------------------------------------------------------------------


def _open(path: str) -> sqlite3.Connection:
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
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
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
    with _transaction(db):
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (application, version, tables) == (0, 0, 0):
            for statement in resource("yarrow.activity.log", "schema.sql").split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {_VERSION}")
        elif application != _APPLICATION:
            raise DataError("is a database of another program", source=path)
        elif version != _VERSION:
            raise DataError(
                f"has version {version}; this Yarrow reads version {_VERSION}", source=path
            )
