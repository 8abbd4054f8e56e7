"""Files that are replaced whole or not at all, whatever happens to the process."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from typing import BinaryIO

from yarrow.errors import ModelFileError

_LEFT_AFTER = 60  # seconds without a byte, after which a file that nobody holds is a leftover


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that becomes `path`, durably, when the block ends without an error.

    The new file is in the same folder, flushed to the disk and then renamed, so that `path` is
    at every moment either the old file or the new one, whole. Permissions are kept. What a process
    has left behind that was killed here is removed by the next one.
    """
    target = os.path.realpath(os.fspath(path))  # the file behind a symbolic link, not the link
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.tmp")
    lock = None
    try:
        mode = os.stat(target).st_mode if os.path.exists(target) else None
        if mode is not None and not stat.S_ISREG(mode):
            raise ModelFileError(f"{path}: not a regular file, so it cannot be replaced.")
        with open(temporary, "xb") as file:
            lock = locked(temporary)
            _remove_leftovers(folder, name)
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        _flush_folder(folder)
    except OSError as error:
        if error.filename == temporary:  # the user knows `path`, not the temporary name
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if lock is not None:
            os.close(lock)


def locked(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int | None:
    """Say that a file is in use: a lock ends with its process, however that ends.

    None if somebody else has said so, or where there are no such locks (Windows, some network
    drives).
    """
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_leftovers(folder: str, name: str) -> None:
    """Remove what others that were killed have left of the same file."""
    ours = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{8}}\.tmp")
    for found in filter(ours.fullmatch, os.listdir(folder)):
        place = os.path.join(folder, found)
        with contextlib.suppress(OSError):
            # One that has just been made may not be locked yet: only what is old is left over.
            if time.time() - os.stat(place).st_mtime > _LEFT_AFTER:
                lock = locked(place)
                if lock is not None:
                    os.close(lock)
                    os.unlink(place)


def _flush_folder(folder: str) -> None:
    if os.name == "nt":
        return  # Windows has no such thing
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
