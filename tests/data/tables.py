"""What the tests of tables share."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from yarrow.io import read_table


def read(content, format="csv", **options):
    """Read bytes, text or rows as one list of (features, label, weight, line)."""
    if isinstance(content, str):
        content = content.encode()
    if not hasattr(content, "read"):
        content = io.BytesIO(content)
    found = []
    for rows in read_table(content, format=format, **options):
        assert rows.indices.max(initial=0) < max(len(rows.names), 1)
        assert len(rows) == len(rows.lines) == len(rows.indptr) - 1
        labels = rows.labels if rows.labels is not None else [None] * len(rows)
        weights = rows.weights.tolist() if rows.weights is not None else [None] * len(rows)
        found += zip(rows.dicts(), labels, weights, rows.lines.tolist(), strict=True)
    return found


def features(content, format="csv", **options):
    return [row for row, *_ in read(content, format, **options)]


def as_format(records, format):
    """Write records with equal keys in a format, as its own library does."""
    if format == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in records).encode()
    if format == "parquet":
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(records), buffer)
        return buffer.getvalue()
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return buffer.getvalue().encode()


every_format = pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
