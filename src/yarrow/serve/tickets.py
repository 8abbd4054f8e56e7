"""Tickets: the rows of predictions, kept until their labels come, a stated time and size at most.

Rows stand one behind the other in files, and a ticket says which file, where and how many bytes,
with a keyed hash over all of it and the row: so there is no index, nobody can make up a ticket,
and what is too old or too much goes a whole file at a time. Rows are written and synced each
second; until then they are in memory. A ticket whose row was lost in a crash is known by its hash.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import os
import re
import secrets
import threading
import time
from io import FileIO
from pathlib import Path

from yarrow.serve.errors import ServiceError

_TICKET = re.compile(r"([0-9a-f]{1,15}\.){3}[0-9a-f]{24}")
_FILES = 32  # the limits hold to one part in so many


class Tickets:
    """The rows of one directory."""

    def __init__(self, folder: Path, seconds: float = 86400.0, size: int = 1 << 30) -> None:
        self.folder, self.seconds, self.size = folder, seconds, size
        folder.mkdir(exist_ok=True)
        self._key = _key(folder / "key")
        self._lock = threading.Lock()
        known = sorted(int(path.stem) for path in folder.glob("*.rows"))
        self._number = known[-1] + 1 if known else 1
        self._file = self._start()
        self._waiting: dict[tuple[int, int], bytes] = {}  # by their file and place
        self._writing: dict[tuple[int, int], bytes] = {}
        self._end = 0

    def keep(self, model: int, row: bytes) -> str:
        """Keep a row; its ticket."""
        with self._lock:
            place = f"{self._number:x}.{self._end:x}.{len(row):x}"
            self._waiting[self._number, self._end] = row
            self._end += len(row)
        return f"{place}.{self._sign(model, place, row)}"

    def row(self, model: int, ticket: str) -> bytes:
        """The row of a ticket; what has expired or was lost is refused by name."""
        place, _, signature = ticket.rpartition(".")
        if not _TICKET.fullmatch(ticket):
            raise ServiceError(f"The ticket {ticket[:80]!r} is not one of this service.")
        number, begin, length = (int(part, 16) for part in place.split("."))
        row = self._read(number, begin, length)
        if row is None and number <= self._number:
            raise ServiceError(
                f"The ticket {ticket!r} has expired: send its row with the label.", 410
            )
        if row is None or not hmac.compare_digest(self._sign(model, place, row), signature):
            raise ServiceError(
                f"The ticket {ticket!r} is unknown for this model, or its row was lost in a crash: "
                "send its row with the label.",
                410,
            )
        return row

    def erase(self, model: int, ticket: str) -> None:
        """Overwrite the row of a ticket, if it is one and its row is still there."""
        self.flush()
        with contextlib.suppress(ServiceError, OSError):
            self.row(model, ticket)  # else anybody could name the rows of others
            number, begin, length, _ = (int(p, 16) for p in ticket.split("."))
            with open(self._path(number), "r+b") as file:
                file.seek(begin)
                file.write(bytes(max(0, min(length, os.fstat(file.fileno()).st_size - begin))))
                file.flush()
                os.fsync(file.fileno())

    def flush(self) -> None:
        """Write and sync what waits, begin a new file where it is time, drop what is too old.

        One thread does, and others keep rows meanwhile: predictions wait for no disk.
        """
        with self._lock:
            self._writing, self._waiting = self._waiting, {}
            descriptor = os.dup(self._file.fileno()) if self._writing else None
            now = time.time()
            if self._end > self.size // _FILES or (
                self._end and now - self._started > self.seconds / _FILES
            ):
                self._file.close()
                self._number += 1
                self._file = self._start()
                self._end = 0
        if descriptor is not None:
            try:
                self._write(descriptor)
            finally:
                os.close(descriptor)
                self._writing = {}
        self._drop(now)

    def _write(self, descriptor: int) -> None:
        # Where each belongs: what a full disk did not take is a hole, and moves no other.
        rows, (_, place) = b"".join(self._writing.values()), next(iter(self._writing))
        if os.pwrite(descriptor, rows, place) < len(rows):
            raise OSError(errno.ENOSPC, "not all rows of tickets could be written")
        os.fsync(descriptor)

    def close(self) -> None:
        """Write what waits."""
        self.flush()
        self._file.close()

    def _start(self) -> FileIO:
        self._started = time.time()
        return open(self._path(self._number), "xb", buffering=0)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.rows"

    def _read(self, number: int, begin: int, length: int) -> bytes | None:
        with self._lock:
            for kept in (self._waiting, self._writing):
                if (number, begin) in kept:
                    return kept[number, begin]
        try:
            with open(self._path(number), "rb") as file:
                file.seek(begin)
                return file.read(min(length, self.size))
        except OSError:
            return None

    def _drop(self, now: float) -> None:
        """Files whose last row is too old, and the oldest while all are too large."""
        files = sorted(self.folder.glob("*.rows"), key=lambda path: int(path.stem))
        sizes = [path.stat() for path in files]
        total = sum(found.st_size for found in sizes)
        for path, found in zip(files[:-1], sizes[:-1], strict=True):
            if now - found.st_mtime > self.seconds or total > self.size:
                path.unlink()
                total -= found.st_size

    def _sign(self, model: int, place: str, row: bytes) -> str:
        digest = hashlib.blake2b(row, key=self._key, digest_size=12)
        digest.update(f"{model} {place}".encode())
        return digest.hexdigest()


def _key(path: Path) -> bytes:
    """The key that signs tickets, made once."""
    if not path.exists():
        path.write_bytes(secrets.token_bytes(32))
        path.chmod(0o600)
    return path.read_bytes()
