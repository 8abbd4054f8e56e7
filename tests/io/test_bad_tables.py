"""Every bad row of a table is named, or skipped; bad files and options get a sentence."""

from __future__ import annotations

import gzip
import io
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.tables import as_format, every_format, features, read

from yarrow.errors import DataError, MissingDependencyError, ParameterError
from yarrow.io import csv_table, read_table


def not_utf8(column: str) -> bytes:
    """Two rows of a Parquet file whose texts are UTF-8, but for one of the second row."""
    good, bad = (
        pa.array([b"a", b"b\xff" if is_bad else b"b"], pa.binary()).view(pa.string())
        for is_bad in (False, True)
    )
    columns = {
        "y": bad if column == "y" else pa.array([1, 1]),
        "x": bad if column == "x" else good,
        "list": pa.ListArray.from_arrays([0, 1, 2], bad if column == "list" else good),
    }
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


BAD_ROWS = {
    "csv": [
        ("y,x\n1,2\n1,-inf\n", "line 3, field 'x': -inf is not a finite number"),
        ("y,x\n1,2\n1,1e999\n", "line 3, field 'x': inf is not a finite number"),
        ("y,x\n1,2\n,3\n", "line 3, field 'y': the label is missing"),
        ("y,x\n1,2\nnan,3\n", "line 3, field 'y': nan is not a finite number"),
        ("y,x\n1,2\n1,2,3\n", "line 3: 3 cells instead of 2: '1,2,3'"),
        ("y,x\n1,2\n1\n", "line 3: 1 cell instead of 2: '1'"),
        (b"y,x\n1,2\n1,\xff\n", "line 3, field 'x': the cell is not UTF-8"),
        (b"y,x\n1,2\n\xff\n", "line 3: 1 cell instead of 2: '\ufffd'"),
        (b"y,x\n1,2\n1,\xe9,3\n", "line 3: 3 cells instead of 2: '1,\ufffd,3'"),
        (b'y,x\n1,2\n"\n\xe9"\n', "line 3: 1 cell instead of 2"),
    ],
    "jsonl": [
        ('{"y": 1, "x": 2}\n{"y": 1, "x": 1e999}\n', "line 2, field 'x': inf is not a finite"),
        (f'{{"y": 1, "x": 2}}\n{{"y": 1, "x": {10**400}}}\n', "line 2, field 'x': 1000"),
        ('{"y": 1, "x": 2}\n\n{"x": 1}\n', "line 3, field 'y': the label is missing"),
        ('{"y": 1, "x": 2}\n{"y": [], "x": 1}\n', r"line 2, field 'y': \[\] is not a finite"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": 2\n', "line 2: not JSON: Expecting ',' .* at column 17"),
        ('{"y": 1, "x": 2}\n[1, 2]\n', "line 2: not a JSON object"),
        ('{"y": 1, "x": 2}\n' + "[" * 100_000 + "\n", "line 2: not JSON"),
        (b'{"y": 1, "x": 2}\n{"y": 1, "x": "\xff"}\n', "line 2: not JSON"),
        (b'{"y": 1, "x": 2}\n{"y": 1, "x": "\xed\xa0\x80"}\n', "line 2: not JSON"),
        (
            b'{"y": 1, "x": 2}\n{"y": {"a": "' + b"x" * 500 + b'"}}',
            "line 2, field 'y': .{80} is not a finite number",
        ),
        (  # which some versions of Python read
            b'{"y": 1, "x": 2}\n' + b'{"y":' * 995 + b"1" + b"}" * 995,
            r"line 2(: not JSON|, field 'y': .{80} is not a finite number)",
        ),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": "\\ud800"}\n', "line 2: not JSON"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": [1, "a"]}\n', "line 2, field 'x': a list must hold"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": [{}]}\n', "line 2, field 'x': a list must hold"),
        ('{"y": 1, "x": 2}\n{"y": 1, "t": 2}\n', "line 2, field 't': 2 is not text"),
    ],
    "parquet": [
        (as_format([{"y": 1, "x": 2.0}, {"y": 1, "x": float("inf")}], "parquet"), "row 1, field"),
        (as_format([{"y": 1, "x": 2.0}, {"y": None, "x": 2.0}], "parquet"), "row 1, field 'y'"),
        (as_format([{"y": 1.0, "x": [2]}, {"y": 1.0, "x": [1e999]}], "parquet"), "row 1, field"),
        (not_utf8("x"), "row 1, field 'x': the value is not UTF-8"),
        (not_utf8("list"), "row 1, field 'list': the value is not UTF-8"),
    ],
}


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [(format, *case) for format, cases in BAD_ROWS.items() for case in cases],
)
def test_a_bad_row_is_an_error_that_names_its_place_or_is_skipped(format, content, message):
    options = {"label": "y", "text": ["t"] if format == "jsonl" else []}
    with pytest.raises(DataError, match=message):
        read(content, format, **options)
    if isinstance(content, str):
        content = content.encode()
    table = read_table(io.BytesIO(content), format=format, on_error="skip", **options)
    [rows] = table
    assert len(rows) == 1
    assert rows.labels == [1]
    assert (table.n_rows, table.n_skipped, len(table.first_errors)) == (1, 1, 1)


@every_format
@pytest.mark.parametrize(
    ("weight", "message"),
    [(-1.0, "must not be negative"), (None, "weight is missing"), (float("inf"), "not a finite")],
)
def test_a_bad_weight_is_an_error(format, weight, message):
    content = as_format([{"w": 1.0, "x": 1}, {"w": weight, "x": 1}], format)
    with pytest.raises(DataError, match=rf"field 'w': .*{message}"):
        read(content, format, weight="w")


def test_a_label_that_is_not_utf8_is_skipped():
    table = read_table(io.BytesIO(not_utf8("y")), format="parquet", label="y", on_error="skip")
    assert [label for rows in table for label in rows.labels] == ["a"]
    assert "row 1, field 'y': the value is not UTF-8" in str(table.first_errors[0])


def test_a_row_with_several_problems_is_skipped_once_and_blank_lines_are_no_problem():
    table = read_table(
        io.BytesIO(b"y,a,b\n1,nan,inf\n\n,nan,1\n1,1,1\n1,2\n1,inf,0\n"),
        format="csv",
        label="y",
        on_error="skip",
    )
    assert [len(rows) for rows in table] == [1]
    assert [error.line for error in table.first_errors] == [2, 4, 6, 7]
    assert table.n_skipped == 4


def test_the_first_bad_line_is_reported_whatever_is_wrong_with_it():
    with pytest.raises(DataError, match="line 3, field 'a'"):
        features("a,b\n1,1\nx,1\n1\n1,inf\n", numeric=["a"])


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("option", ["label", "weight", "features", "text", "categories"])
def test_a_column_that_is_not_there_is_an_error(format, option):
    value = "nope" if option in ("label", "weight") else ["nope"]
    with pytest.raises(DataError, match="field 'nope': no such column; it has a, b"):
        read(as_format([{"a": 1, "b": 2}], format), format, **{option: value})


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("", "line 1: there is no header"),
        ("a,b,a\n1,2,3\n", "field 'a': two columns have this name"),
        (",a\n0,1\n", "field '': a column without a name"),
        (b"\xff,a\n1,2\n", "line 1: the header is not UTF-8"),
        ('a,b\n1,2\n3,"x\n5,6\n', "line 3: the row that starts here never ends"),
        ('a,b\n1,2\n3,"x""', "line 3: the row that starts here never ends"),
        ("a,b\n1,2\n3," + "x" * 3000, "line 3: the row that starts here is longer than the limit"),
    ],
)
def test_a_bad_csv_file_is_an_error(monkeypatch, cells, message):
    monkeypatch.setattr(csv_table, "BLOCK", 1000)
    with pytest.raises(DataError, match=message):
        features(cells, longest_line=2000)


def test_files_without_rows_are_empty():
    assert features("a,b\n") == []
    assert features("", "jsonl") == []
    buffer = io.BytesIO()
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), buffer)
    assert features(buffer, "parquet") == []


def test_parquet_that_is_none_or_is_damaged_is_an_error(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataError, match=r"t\.parquet: not readable as Parquet"):
        list(read_table(path))
    content = bytearray(as_format([{"a": "x" * 100}] * 1000, "parquet"))
    content[10:60] = bytes(50)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"t\.parquet: not readable as Parquet"):
        list(read_table(path))


def test_a_type_without_features_is_an_error_that_says_to_drop_it():
    buffer = io.BytesIO()
    pq.write_table(pa.table({"when": pa.array([0], pa.duration("s")), "x": [1]}), buffer)
    with pytest.raises(DataError, match=r"field 'when': a column of type duration"):
        read(buffer, "parquet")
    assert features(buffer, "parquet", drop=["when"]) == [{"x": 1}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "'format' parameter must be one of csv, jsonl, parquet"),
        ({"on_error": "ignore"}, "'on_error' parameter must be one of raise, skip"),
        ({"drop": "abc"}, "'drop' parameter must be a list of names. Got 'abc' instead"),
        ({"delimiter": "; "}, "'delimiter' parameter must be one ASCII character. Got '; '"),
        ({"format": None}, "cannot be told from its name"),
    ],
)
def test_bad_options_are_errors(options, message):
    with pytest.raises(ParameterError, match=message):
        read_table(io.BytesIO(b""), **{"format": "csv", **options})


def test_truncated_compressed_tables_are_errors_that_name_the_file(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)[:-20])
    with pytest.raises(DataError, match=r"t\.csv\.gz: the compressed data ends too early"):
        list(read_table(path))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_without_pyarrow_the_error_says_what_to_install(monkeypatch, format):
    for module in ("pyarrow", "pyarrow.csv", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'yarrow-learn\[formats\]'"):
        read("a\n1\n", format)
    assert features('{"a": 1}\n', "jsonl") == [{"a": 1}]  # needs no package
