"""Where data are found: in the folder YARROW_DATA, else fetched, else an error says what to do."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from yarrow import lazy
from yarrow.errors import DataError, needing
from yarrow.io.compressed import open_bytes
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

VARIABLE = "YARROW_DATA"
CACHE_VERSION = 1
"""To be raised when what is kept for the next time is made in another way."""


@dataclasses.dataclass(frozen=True)
class File:
    """A file of a public set: `path` under YARROW_DATA, and the digest that proves it."""

    path: str
    sha256: str
    url: str | None = None
    """Where the same bytes, not compressed, are published for good."""
    unpacked: str | None = None
    """The digest of those."""

    def local(self) -> Path | None:
        """Where the file is on this machine, if it is."""
        folder = os.environ.get(VARIABLE)
        path = Path(folder, self.path) if folder else None
        return path if path is not None and path.is_file() else None

    def read(self) -> bytes:
        """Return what is in the file, decompressed."""
        path = self.local()
        if path is not None:
            packed = path.read_bytes()
            if hashlib.sha256(packed).hexdigest() != self.sha256:
                raise DataError(
                    f"not the published file: its sha256 should be {self.sha256}", source=str(path)
                )
            return open_bytes(io.BytesIO(packed)).read()
        if self.url is not None:
            return _fetched(self)
        absent(self)


@functools.cache
def _registry() -> dict[str, list[str]]:
    return {path: more for path, *more in lazy.listed("yarrow.datasets", "registry.txt")}


def listed(*paths: str) -> tuple[File, ...]:
    """Files with what `registry.txt` knows of them."""
    return tuple(File(path, *_registry()[path]) for path in paths)


class AbsentError(DataError):
    """Files of a set are not on this machine."""


def absent(file: File, reason: str = "") -> NoReturn:
    """Say what to put where."""
    folder = os.environ.get(VARIABLE)
    if folder:
        place = f"put the file {Path(folder, file.path)} there"
    else:
        place = f"name a folder in the environment variable {VARIABLE} and put {file.path} into it"
    raise AbsentError(
        f"{Path(file.path).parent} is not on this machine{reason}: {place} (sha256 {file.sha256}; "
        "docs/datasets.md says where it comes from)."
    )


def fetched(by: str, file: File, **settings: Any) -> Any:
    """Call a fetcher of scikit-learn; `file` is what its absence is explained with."""
    with needing("scikit-learn", f"Fetching {Path(file.path).parent}", extra="data"):
        from sklearn import datasets

        try:
            return getattr(datasets, by)(**settings)
        except (OSError, ValueError) as error:  # not reached, or the other side refused
            absent(file, f" and could not be fetched ({error})")


def _fetched(file: File) -> bytes:
    """Download the published bytes, or take those of an earlier time."""
    with needing("pooch", f"Fetching {file.path}", extra="data"):
        import pooch
    place = cache_folder() / "fetched"
    try:
        path = pooch.retrieve(file.url, f"sha256:{file.unpacked}", file.unpacked, place)
    except (OSError, ValueError) as error:  # not reached, or other bytes than those published
        absent(file, f" and could not be fetched ({error})")
    return Path(path).read_bytes()


def cache_folder() -> Path:
    """Where things are kept that can be made again: YARROW_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("YARROW_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "yarrow"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "yarrow"


def kept(key: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """Return what `make` returns, from the cache if it was made for the same `key` before.

    A file appears in the cache whole or not at all. A cache that cannot be read or written only
    costs time.
    """
    import zipfile

    from yarrow.io.replacing import replacing

    text = json.dumps({"version": CACHE_VERSION, **key}, sort_keys=True)
    path = cache_folder() / "datasets" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
            return dict(found)
    except (OSError, ValueError, zipfile.BadZipFile):
        pass
    arrays = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as target:
            np.savez(target, allow_pickle=False, **arrays)
    except OSError:
        pass  # a full or read-only disk; the rows are here all the same
    return arrays
