"""Compressed input reads as if it were not, and damage is an error that names the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys

import pytest
import zstandard

from yarrow.errors import DataError, MissingDependencyError
from yarrow.io import open_bytes

COMPRESS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "plain": bytes,
}
TEXT = b"".join(b"%d 1:%d 2:%d\n" % (i % 3, i, i * i) for i in range(50_000))

every_format = pytest.mark.parametrize("compress", COMPRESS.values(), ids=COMPRESS)
compressed_formats = pytest.mark.parametrize(
    "compress", [c for name, c in COMPRESS.items() if name != "plain"], ids=list(COMPRESS)[:-1]
)


@every_format
@pytest.mark.parametrize("text", [b"", b"x", TEXT], ids=["empty", "byte", "large"])
def test_content_is_the_same_under_any_name(tmp_path, compress, text):
    path = tmp_path / "data.txt"
    path.write_bytes(compress(text))
    with open_bytes(path) as file:
        assert file.read() == text


@every_format
def test_several_files_in_one_are_read_as_one(tmp_path, compress):
    (tmp_path / "data").write_bytes(compress(b"one\n") + compress(TEXT) + compress(b"two\n"))
    with open_bytes(tmp_path / "data") as file:
        assert file.read() == b"one\n" + TEXT + b"two\n"


@every_format
def test_lines_come_from_standard_input(compress):
    program = "from yarrow.io import open_bytes; print(sum(1 for line in open_bytes('-')))"
    done = subprocess.run(
        [sys.executable, "-c", program], input=compress(TEXT), capture_output=True, check=True
    )
    assert int(done.stdout) == 50_000


@every_format
def test_a_source_that_trickles_is_read_whole(compress):
    class Trickle(io.BytesIO):
        def read1(self, size=-1):
            return super().read(1)

    assert open_bytes(Trickle(compress(b"slowly"))).read() == b"slowly"


@compressed_formats
def test_a_truncated_file_is_an_error(tmp_path, compress):
    path = tmp_path / "data"
    content = compress(TEXT)
    for length in (8, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match="data: the compressed data ends too early"):
            open_bytes(path).read()


@compressed_formats
def test_a_damaged_file_is_an_error(tmp_path, compress):
    path = tmp_path / "data"
    content = bytearray(compress(TEXT))
    content[len(content) // 2 : len(content) // 2 + 8] = b"damaged!"
    path.write_bytes(content)
    with pytest.raises(DataError, match="data: the compressed data is damaged"):
        open_bytes(path).read()


def test_only_what_was_opened_here_is_closed(tmp_path):
    given = io.BytesIO(gzip.compress(b"x"))
    open_bytes(given).close()
    assert not given.closed


def test_zstd_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "data").write_bytes(COMPRESS["zstd"](b"x"))
    with pytest.raises(MissingDependencyError, match=r"pip install 'yarrow-learn\[formats\]'"):
        open_bytes(tmp_path / "data")
