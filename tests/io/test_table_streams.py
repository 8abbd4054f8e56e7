"""Tables as streams: standard input, memory, and reading again."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.tables import as_format, every_format

from yarrow.io import csv_table, read_table, tables


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_standard_input_is_read(format):
    program = (
        "from yarrow.io import read_table\n"
        f"for rows in read_table('-', format={format!r}, label='y'):\n"
        "    print(list(rows.dicts()), rows.labels)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=gzip.compress(as_format([{"y": 1, "x": 2.5}], format)),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().strip() == "[{'x': 2.5}] [1]"


def test_a_table_can_be_read_again_and_left_in_the_middle(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "BLOCK", 1 << 10)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n" + b"1\n" * 5000)
    table = read_table(path)
    next(iter(table))
    assert sum(len(rows) for rows in table) == table.n_rows == 5000


def peak_of_reading(path):
    """Bytes of Python and Arrow, at most, while a table is read."""
    tracemalloc.start()
    arrow_before, arrow_peak = pa.total_allocated_bytes(), 0
    for _ in read_table(path, label="y", text=["t"]):
        arrow_peak = max(arrow_peak, pa.total_allocated_bytes() - arrow_before)
    peak = tracemalloc.get_traced_memory()[1] + arrow_peak
    tracemalloc.stop()
    return peak


@pytest.mark.slow
@every_format
def test_memory_does_not_grow_with_the_table(tmp_path, monkeypatch, format):
    monkeypatch.setattr(csv_table, "BLOCK", 1 << 14)
    monkeypatch.setattr(tables, "_JSON_ROWS", 1000)
    monkeypatch.setattr(tables, "_PARQUET_ROWS", 1000)
    record = {"y": 1, "n": 0.25, "c": "abc", "t": "some words of text"}
    peaks = []
    for count in (6_000, 18_000):
        path = tmp_path / f"t.{format}"
        if format == "parquet":
            table = pa.Table.from_pylist([record] * 1000)
            with pq.ParquetWriter(path, table.schema) as writer:
                for _ in range(count // 1000):
                    writer.write_table(table)
        else:
            one = as_format([record], format)
            header, row = one.split(b"\n")[:2] if format == "csv" else (b"", one.strip())
            path.write_bytes((header + b"\n" if header else b"") + (row + b"\n") * count)
        # The lesser of two: other threads of this process take memory, too, and now and then a lot.
        peaks.append(min(peak_of_reading(path), peak_of_reading(path)))
    assert peaks[1] < 1.3 * peaks[0]


def test_importing_does_not_import_the_optional_packages():
    program = "import sys, yarrow.io; print({'pyarrow', 'pandas', 'zstandard'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


def test_batches_resolve_each_name_once():
    [rows] = read_table(io.BytesIO(b"c\n" + b"x\ny\n" * 1000), format="csv")
    assert rows.names == ["c=x", "c=y"]
    np.testing.assert_array_equal(rows.indices, [0, 1] * 1000)
    assert rows.indices.dtype == np.int32
    assert rows.values.dtype == np.float64
