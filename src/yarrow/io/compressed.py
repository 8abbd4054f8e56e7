"""Bytes from a file or from standard input, decompressed on the way."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from yarrow._core import LONGEST_LINE
from yarrow.errors import DataError, needing

Source = str | os.PathLike[str] | BinaryIO

_CHUNK = 1 << 18
_ZSTD_CHUNK = 1 << 10  # four bytes may become 128 kB


def open_bytes(source: Source) -> BinaryIO:
    """Open a path, "-" (standard input) or a binary file for reading, in bounded memory.

    gzip, bzip2, xz and zstd are recognised by their first bytes, whatever the file's name.
    Compressed data that is damaged or ends too early is a `DataError` that names the source.
    Closing the result closes a file that was opened here, and leaves any other open.
    """
    if isinstance(source, str | os.PathLike) and source != "-":
        file: BinaryIO = open(source, "rb", buffering=_CHUNK)  # noqa: SIM115
        close = file.close
    else:
        file = sys.stdin.buffer if source == "-" else source  # type: ignore[assignment]
        close = lambda: None  # noqa: E731
    name = source_name(source)
    start = file.read(6)
    whole = _Chained(start, file)
    try:
        for magic, decompressor in _DECOMPRESSORS.items():
            if start.startswith(magic):
                inner: Any = decompressor(io.BufferedReader(whole, _CHUNK))
                return io.BufferedReader(_Reader(inner, name, close), _CHUNK)
    except BaseException:
        close()
        raise
    return io.BufferedReader(_Reader(whole, name, close), _CHUNK)


def is_compressed(start: bytes) -> bool:
    """Whether a file that begins with these bytes is compressed."""
    return start.startswith(tuple(_DECOMPRESSORS))


def source_name(source: Source) -> str:
    """Return the name by which errors speak of `source`."""
    if isinstance(source, str | os.PathLike):
        return "standard input" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "the input"


def lines_of(file: BinaryIO, name: str, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, counted from 1. One of more than `longest` bytes is refused."""
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest and not line.endswith(b"\n"):
            raise DataError(too_long("line", longest), source=name, line=number)
        yield number, line


def too_long(what: str, longest: int) -> str:
    """What to say of a line that takes more memory than it should."""
    return f"the {what} is longer than the limit of {longest} bytes; longest_line allows more"


class _Chained(io.RawIOBase):
    """The bytes `start`, then those of `file`: reading ahead where seeking back is impossible."""

    def __init__(self, start: bytes, file: BinaryIO) -> None:
        self._start = start
        self._read: Callable[[int], bytes] = getattr(file, "read1", file.read)
        self._readinto = getattr(file, "readinto1", getattr(file, "readinto", None))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._start and self._readinto is not None:
            return int(self._readinto(buffer))
        data = self._start[: len(buffer)] or self._read(len(buffer))
        self._start = self._start[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


class _Reader(io.RawIOBase):
    """`inner`, with what its decompressor raises turned into an error that names the file."""

    def __init__(self, inner: Any, name: str, close: Callable[[], None]) -> None:
        self._inner, self.name, self._close = inner, name, close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        from lzma import LZMAError
        from zlib import error as ZlibError

        try:
            return int(self._inner.readinto(buffer))
        except EOFError:
            raise DataError("the compressed data ends too early", source=self.name) from None
        except (OSError, ZlibError, LZMAError) as error:
            if getattr(error, "errno", None) is not None:  # the disk's fault: others have no number
                raise
            raise DataError(f"the compressed data is damaged ({error})", source=self.name) from None

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


class _Zstd(io.RawIOBase):
    """A zstd file: one frame after another, each of which must be whole."""

    def __init__(self, file: BinaryIO) -> None:
        with needing("zstandard", "Reading zstd"):
            import zstandard
        self._file, self._pending = file, b""
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new_frame()
        self._error = zstandard.ZstdError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._pending:
            chunk = self._frame.unused_data if self._frame.eof else b""
            chunk = chunk or self._file.read(_ZSTD_CHUNK)
            if not chunk:
                if self._frame.eof:
                    return 0
                raise EOFError
            if self._frame.eof:
                self._frame = self._new_frame()
            try:
                self._pending = self._frame.decompress(chunk)
            except self._error as error:
                raise OSError(str(error)) from None
        data, self._pending = self._pending[: len(buffer)], self._pending[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _gzip(file: BinaryIO, mode: str = "rb") -> Any:
    import gzip

    return gzip.GzipFile("", mode, fileobj=file, mtime=0)


def _bzip2(file: BinaryIO, mode: Any = "rb") -> Any:
    import bz2

    return bz2.BZ2File(file, mode)


def _xz(file: BinaryIO, mode: Any = "rb") -> Any:
    import lzma

    return lzma.LZMAFile(file, mode)


def _zstd_writer(file: BinaryIO, mode: str) -> Any:
    with needing("zstandard", "Writing zstd"):
        import zstandard
    return zstandard.ZstdCompressor().stream_writer(file, closefd=False)


#: by the first bytes of a file; loaded when one is met
_DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": _bzip2,
    b"\xfd7zXZ\0": _xz,
    b"(\xb5/\xfd": _Zstd,
}
#: by the suffix of a file that is written
COMPRESSORS = {".gz": _gzip, ".xz": _xz, ".bz2": _bzip2, ".zst": _zstd_writer}


@contextlib.contextmanager
def compressing(file: BinaryIO, path: str) -> Iterator[Any]:
    """`file`, compressed as the path's suffix says; the same rows give the same bytes."""
    compressor = COMPRESSORS.get(os.path.splitext(path)[1].lower())
    if compressor is None:
        yield file
    else:
        with compressor(file, "wb") as packed:
            yield packed
