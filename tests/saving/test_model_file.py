"""Model files come back exactly, are replaced whole or not at all, and never load damaged."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file, save_file

from yarrow.errors import ModelFileError
from yarrow.io.replacing import replacing
from yarrow.saving import model_file

TENSORS = {
    "weights": np.linspace(-1, 1, 60, dtype=np.float32).reshape(20, 3),
    "names": np.frombuffer("été|spam".encode(), np.uint8),
    "count": np.array(7, np.int64),
    "empty": np.empty((0, 4)),
}
METADATA = {"rule": "AROW", "r": 1.5, "classes": ["ham", "späm", 3], "C": float("inf")}

dtypes = st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"])
tensors = st.dictionaries(
    st.text(max_size=5).filter(lambda name: name != "__metadata__"),
    dtypes.flatmap(lambda t: hnp.arrays(t, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))),
    max_size=4,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.yarrow"
    model_file.write(path, TENSORS, METADATA)
    return path


def assert_same(got, expected):
    assert list(got) == list(expected)
    for name, array in expected.items():
        assert got[name].dtype == array.dtype
        np.testing.assert_array_equal(got[name], array, strict=True)


@given(tensors, st.dictionaries(st.text(), json_values, max_size=3))
def test_what_was_written_is_read(tmp_path_factory, tensors, metadata):
    path = tmp_path_factory.mktemp("model") / "m"
    model_file.write(path, tensors, metadata)
    got, got_metadata = model_file.read(path)
    assert_same({name: got[name] for name in tensors}, tensors)
    assert got_metadata == metadata


def test_the_safetensors_library_reads_the_same_tensors(saved):
    library = load_file(saved)
    assert_same({name: library[name] for name in TENSORS}, TENSORS)


def test_equal_models_have_equal_files(saved, tmp_path):
    model_file.write(tmp_path / "again", TENSORS, METADATA)
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0)[::-2],
        np.arange(5, dtype=">i4"),
        np.asfortranarray(np.eye(3)),
    ],
    ids=["transposed", "strided", "big-endian", "fortran"],
)
def test_any_memory_layout_is_saved_by_value(tmp_path, array):
    model_file.write(tmp_path / "m", {"a": array}, {})
    np.testing.assert_array_equal(model_file.read(tmp_path / "m")[0]["a"], array)


def test_arrays_can_be_changed_without_changing_the_file(saved):
    before = saved.read_bytes()
    arrays, _ = model_file.read(saved)
    arrays["weights"] += 1
    assert saved.read_bytes() == before
    np.testing.assert_array_equal(model_file.read(saved)[0]["weights"], TENSORS["weights"])


def test_arrays_stay_valid_when_the_file_is_replaced(saved):
    arrays, _ = model_file.read(saved)
    model_file.write(saved, {"other": np.zeros(1000)}, {})
    assert_same({name: arrays[name] for name in TENSORS}, TENSORS)


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.zeros(2, complex)])
def test_only_numbers_are_saved(saved, array):
    before = saved.read_bytes()
    with pytest.raises(ModelFileError, match="tensor 'bad' has the type"):
        model_file.write(saved, {"bad": array}, {})
    assert saved.read_bytes() == before


def test_the_one_reserved_name_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be named"):
        model_file.write(tmp_path / "m", {"__metadata__": np.zeros(1)}, {})


# Damage: every way a file can be wrong is one error that names it.


def test_a_truncated_file_is_refused_wherever_it_ends(saved):
    content = saved.read_bytes()
    for length in range(0, len(content), 3):
        saved.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"model\.yarrow: (truncated|not a Yarrow model)"):
            model_file.read(saved)


def test_a_flipped_bit_is_refused_wherever_it_is(saved):
    content = saved.read_bytes()
    for bit in range(0, 8 * len(content), 11):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        saved.write_bytes(flipped)
        with pytest.raises(ModelFileError, match=r"model\.yarrow"):
            model_file.read(saved)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("model") / "m"
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        model_file.read(path)


def test_a_damaged_tensor_is_named(saved):
    content = bytearray(saved.read_bytes())
    content[content.index(b"spam", 1000)] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ModelFileError, match="damaged: tensor 'names'"):
        model_file.read(saved)


def test_data_after_the_end_is_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"\0")
    with pytest.raises(ModelFileError, match="data follows"):
        model_file.read(saved)


def rewritten(path, change):
    """Change the parsed header of a file and the text of its document, as an attacker could."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h["weights"].update(data_offsets=[0, 2**62]),
        lambda h: h["weights"].update(data_offsets=[-8, 232]),
        lambda h: h["weights"].update(shape=[-20, -3]),
        lambda h: h["weights"].update(shape=[2**40, 2**40]),
        lambda h: h["weights"].update(shape=[10**4000] * 4000),  # whose product takes hours
        lambda h: h["weights"].update(shape=[*h["weights"]["shape"], *[1] * 40]),
        lambda h: h["weights"].update(shape="ab"),
        lambda h: h["weights"].update(dtype="F4096"),
        lambda h: h.update(twin=h["weights"]),
        lambda h: h.pop("weights"),
        lambda h: h.update(weights=[]),
        lambda h: h.update(weights=None),
        lambda h: h["__metadata__"].update(yarrow="[]"),
        lambda h: h["__metadata__"].update(yarrow='{"version": null}'),
        lambda h: h["__metadata__"].update(more="x"),
        lambda h: h.update(__metadata__=7),
    ],
)
def test_a_header_that_contradicts_itself_is_refused(saved, change):
    rewritten(saved, change)
    with pytest.raises(ModelFileError, match=r"model\.yarrow"):
        model_file.read(saved)


def test_a_newer_format_says_so(saved, monkeypatch):
    monkeypatch.setattr(model_file, "VERSION", 2)
    model_file.write(saved, TENSORS, METADATA)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="written in format 2 by a newer Yarrow"):
        model_file.read(saved)


def test_other_safetensors_files_are_not_models(tmp_path):
    save_file(TENSORS, tmp_path / "other")
    with pytest.raises(ModelFileError, match="not a Yarrow model"):
        model_file.read(tmp_path / "other")


# Writing: the old file or the new one, at every moment.


def test_a_failed_write_leaves_the_old_file_and_no_other(saved):
    def interrupted():
        with replacing(saved) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    before = saved.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    path = tmp_path / "m"
    writer = (
        "import sys, numpy as np; from yarrow.saving import model_file\n"
        "for turn in range(10**9):\n"
        "    model_file.write(sys.argv[1], {'a': np.full(300_000, turn)}, {'turn': turn})\n"
        "    print(turn, flush=True)\n"
    )
    for attempt in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", writer, str(path)], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()  # the first write is done
        time.sleep(0.003 * attempt)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        tensors, metadata = model_file.read(path)
        assert (tensors["a"] == metadata["turn"]).all()


def test_what_a_killed_writer_left_is_removed(tmp_path):
    """What is young, belongs to another file or is still being written stays."""
    left, young, other = (
        tmp_path / f".{n}.tmp" for n in ("m.0123abcd", "m.0123abce", "n.00000000")
    )
    for path in (left, young, other):
        path.write_bytes(b"half")
    old = time.time() - 3600
    os.utime(left, (old, old))
    os.utime(other, (old, old))
    with replacing(tmp_path / "m") as file:
        file.write(b"slowly")
        (ours,) = (p for p in tmp_path.glob(".m.*.tmp") if p not in (left, young))
        os.utime(ours, (old, old))
        program = "import sys, yarrow.saving.model_file as m; m.write(sys.argv[1], {}, {})"
        for _ in range(2):  # another process saves under the same name, and then a third one
            subprocess.run([sys.executable, "-c", program, tmp_path / "m"], check=True)
        assert not left.exists()
        assert ours.exists()
    assert (tmp_path / "m").read_bytes() == b"slowly"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".m.0123abce.tmp", ".n.00000000.tmp", "m"]


def test_permissions_are_kept_and_a_new_file_obeys_the_umask(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch()
    old.chmod(0o640)
    umask = os.umask(0o027)
    try:
        for path in (old, new):
            model_file.write(path, TENSORS, METADATA)
    finally:
        os.umask(umask)
    assert [path.stat().st_mode & 0o777 for path in (old, new)] == [0o640, 0o640]
    old.chmod(0o604)
    model_file.write(old, TENSORS, METADATA)
    assert old.stat().st_mode & 0o777 == 0o604


def test_a_link_stays_a_link(saved):
    link = saved.with_name("link")
    link.symlink_to(saved)
    model_file.write(link, {"new": np.ones(1)}, {})
    assert link.is_symlink()
    assert list(model_file.read(saved)[0]) == ["new"]


def test_a_device_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        model_file.write(tmp_path / "pipe", TENSORS, METADATA)


def test_a_missing_folder_is_an_error_that_names_the_users_path(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        model_file.write(tmp_path / "no" / "m", TENSORS, METADATA)
    assert caught.value.filename == str(tmp_path / "no" / "m")
    assert "->" not in str(caught.value)
