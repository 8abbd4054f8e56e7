"""The log: every event in its order, on disk before it is learned, in SQLite's WAL mode.

Why SQLite and no plain file. Measured side by side on a disk whose sync takes 4 ms: 32 events of
1.1 KB a sync, 8,900 events/s against 4,400 of a plain checksummed file (SQLite writes over a file
that has its size already, so a sync need not write the size, too); blocks of 256 KB without sync
188 MB/s against 2,000. So a plain file is faster where nobody waits for a disk, and SQLite is fast
enough there; but it also has the index of event ids that a plain file would need beside it, with a
second sync, and undo, erasure and tickets ask for events by id, source and time. SQLite finds torn
and damaged tails of its WAL by its checksums and drops them; `check`, a CRC of each event, finds
what was damaged later.

What each level can lose, in the words of Redis:

always    nothing that was acknowledged: a sync before each acknowledgement, shared by all waiting
everysec  at a power failure what was acknowledged in the last second; nothing if the process dies
os        at a power failure what the system has not written yet; nothing if the process dies
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator
from typing import Literal, NamedTuple

from yarrow.lazy import resource
from yarrow.serve.errors import ServiceError

Level = Literal["always", "everysec", "os"]
LEVELS: tuple[Level, ...] = ("always", "everysec", "os")

_APPLICATION, _VERSION = 0x79617273, 1

_AT_ONCE, _BYTES_AT_ONCE = 2000, 4 << 20  # that a query reads
#: what rows of `ticks` hold: the time of the last sync, and the last numbers that were given
SYNC, NUMBERS = 1, {"models": 2, "versions": 3}
#: kinds of events
LEARN, BLOCK, UNDO, DELETED = 1, 2, 3, 4


class Event(NamedTuple):
    """One record of the log."""

    number: int
    kind: int
    time: float
    lines: int
    content: bytes
    check: int
    has_changes: bool


def hashed(identifier: str) -> bytes:
    """What is kept of an event's id in the index, and all that stays of it after an erasure."""
    return hashlib.blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Log:
    """The log of one directory; one thread writes, others read by `reader()`."""

    def __init__(self, path: str, level: Level = "always") -> None:
        if level not in LEVELS:
            raise ServiceError(f"The level must be one of {', '.join(LEVELS)}. Got {level!r}.")
        self.path, self.level = path, level
        self.db = _open(path)
        self.synced = True
        self._last_sync = time.monotonic()
        self._synchronous = ""
        found = self.db.execute("SELECT max(event) FROM events").fetchone()[0]
        self.last: int = found or 0  # inside a transaction ahead of `committed`
        self.committed = self.last
        newest = self.db.execute("SELECT time FROM events WHERE event = ?", (self.last,)).fetchone()
        self._time: float = newest[0] if newest else 0.0

    def close(self) -> None:
        """Sync what is not, and close the file."""
        with contextlib.suppress(sqlite3.Error):
            self.sync()
        self.db.close()

    def reader(self) -> sqlite3.Connection:
        """A connection of its own for a thread that only reads; nobody waits for it."""
        place = f"file:{_uri(self.path)}?mode=ro"
        db = sqlite3.connect(place, uri=True, timeout=60, check_same_thread=False)
        db.execute("PRAGMA mmap_size = 268435456")
        return db

    def now(self) -> float:
        """The time of the next event: never before that of the last, whatever the clock does."""
        self._time = max(self._time, time.time())
        return self._time

    # -- one writer ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing. On disk when it ends, at the level `always`."""
        due = self.level == "everysec" and time.monotonic() - self._last_sync >= 1.0
        with self._transaction(sync=self.level == "always" or due) as db:
            yield db

    @contextlib.contextmanager
    def _transaction(self, sync: bool) -> Iterator[sqlite3.Connection]:
        mode = (
            "FULL" if sync else "NORMAL"
        )  # FULL syncs the WAL at each commit, and what came before
        if mode != self._synchronous:
            self.db.execute(f"PRAGMA synchronous = {mode}")
            self._synchronous = mode
        last, newest = self.last, self._time
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
            self.db.execute("COMMIT")
        except BaseException:
            self.last, self._time = last, newest
            with contextlib.suppress(sqlite3.Error):
                self.db.execute("ROLLBACK")
            raise
        self.committed, self.synced = self.last, sync
        if sync:
            self._last_sync = time.monotonic()

    def seconds_to_sync(self) -> float | None:
        """How long the next sync may wait; None if there is nothing to sync."""
        if self.synced or self.level != "everysec":
            return None
        return max(0.0, self._last_sync + 1.0 - time.monotonic())

    def sync(self) -> None:
        """Bring to the disk what has been committed."""
        if self.synced:
            return
        with self._transaction(sync=True) as db:
            db.execute("INSERT OR REPLACE INTO ticks VALUES (?, ?)", (SYNC, time.time()))

    def append(
        self,
        model: int,
        kind: int,
        content: bytes,
        *,
        id: bytes | None = None,
        source: str | None = None,
        lines: int = 1,
    ) -> int:
        """Add an event, inside a transaction; its number."""
        number = self.last + 1
        self.db.execute(
            "INSERT INTO events (event, model, kind, time, id, source, lines, check_, content) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, model, kind, self.now(), id, source, lines, zlib.crc32(content), content),
        )
        self.last = number
        return number

    def known(self, model: int, id: bytes) -> int | None:
        """The event that has this id already."""
        query = "SELECT event FROM events WHERE model = ? AND id = ?"
        found = self.db.execute(query, (model, id)).fetchone()
        return None if found is None else int(found[0])

    def answer(self, number: int) -> bytes | None:
        """What was answered to an event, where it is more than its number."""
        found = self.db.execute("SELECT answer FROM events WHERE event = ?", (number,)).fetchone()
        return None if found is None else found[0]

    def keep_answer(self, number: int, answer: bytes, refused: bool) -> None:
        """Note what was answered, inside a transaction; a refused event is never learned again."""
        self.db.execute(
            "UPDATE events SET answer = ?, refused = ? WHERE event = ?", (answer, refused, number)
        )

    def change(self, number: int, line: int, label: bytes | None) -> None:
        """Retract (None) or correct the label of an event, or of a line of it."""
        self.db.execute("INSERT OR REPLACE INTO changes VALUES (?, ?, ?)", (number, line, label))

    def purge(self) -> bool:
        """Leave no byte of what was deleted in the files; False while somebody still reads it.

        `secure_delete` has zeroed the pages; the WAL is emptied.
        """
        self.db.execute("PRAGMA busy_timeout = 0")
        busy = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self.db.execute("PRAGMA busy_timeout = 60000")
        return not busy


def chunks(db: sqlite3.Connection, model: int, after: int, upto: int) -> Iterator[list[Event]]:
    """The events of a model that are to be learned, in order; a damaged one stops it.

    A query reads some at a time: one that stays open keeps SQLite from reusing its WAL.
    """
    query = (
        "SELECT event, kind, time, lines, content, check_, "
        "EXISTS (SELECT 1 FROM changes WHERE changes.event = events.event) FROM events "
        "WHERE model = ? AND event > ? AND event <= ? AND kind <= 2 "
        "AND NOT refused AND content IS NOT NULL ORDER BY event LIMIT ?"
    )
    while after < upto:
        found: list[Event] = []
        rows = db.execute(query, (model, after, upto, _AT_ONCE))
        size = 0
        while size < _BYTES_AT_ONCE and (some := rows.fetchmany(_AT_ONCE // 32)):
            part = list(map(Event._make, some))
            contents = [event.content for event in part]
            if list(map(zlib.crc32, contents)) != [event.check for event in part]:
                raise _damaged(part)
            found += part
            size += sum(map(len, contents))
        rows.close()
        if not found:
            return
        after = found[-1].number
        yield found


def _damaged(part: list[Event]) -> ServiceError:
    number = next(event.number for event in part if zlib.crc32(event.content) != event.check)
    return ServiceError(f"Event {number} of the log is damaged: restore a copy of it.", 500)


def changes(db: sqlite3.Connection, number: int) -> dict[int, bytes | None]:
    """The labels of an event that were retracted (None) or corrected, by line; -1: the event's."""
    query = "SELECT line, label FROM changes WHERE event = ?"
    return dict(db.execute(query, (number,)).fetchall())


def last_event_at(db: sqlite3.Connection, model: int, when: float) -> int:
    """The last event of a model at a time; 0 if there was none."""
    query = "SELECT max(event) FROM events WHERE model = ? AND time <= ?"
    return int(db.execute(query, (model, when)).fetchone()[0] or 0)


def _uri(path: str) -> str:
    return os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _open(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60)
    try:
        db.execute("PRAGMA page_size = 8192")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA secure_delete = ON")
        db.execute("PRAGMA wal_autocheckpoint = 4000")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            db.executescript(
                f"BEGIN; {resource('yarrow.serve', 'schema.sql')}"
                f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_VERSION}; COMMIT;"
            )
        elif db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise ServiceError(f"{path}: is no log of yarrow serve.")
        elif version > _VERSION:
            raise ServiceError(f"{path}: is of a newer Yarrow: pip install --upgrade yarrow-learn")
    except sqlite3.DatabaseError as error:
        db.close()
        raise ServiceError(f"{path}: cannot be opened as a log ({error}).", 500) from None
    except BaseException:
        db.close()
        raise
    return db
