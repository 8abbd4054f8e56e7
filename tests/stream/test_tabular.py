"""Tables become the same named rows by every format, and every bad row is named."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
import tracemalloc
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yarrow.errors import DataError, MissingDependencyError, ParameterError
from yarrow.stream import csv_table, read_table, tabular


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

RECORDS = [
    {"y": "spam", "age": 31, "rate": 0.5, "new": True, "town": "Oslo", "body": "Buy now, NOW!"},
    {"y": "ham", "age": None, "rate": -2.0, "new": False, "town": None, "body": "été à Paris"},
    {"y": "ham", "age": 0, "rate": None, "new": None, "town": 'a,b\n"c"', "body": None},
]


# What becomes what


@every_format
def test_each_type_of_column_makes_its_features(format):
    first = {"csv": 2, "jsonl": 1, "parquet": 0}[format]  # behind a header; a line; a row
    assert read(as_format(RECORDS, format), format, label="y", text=["body"]) == [
        (
            {
                "age": 31.0,
                "rate": 0.5,
                "new": 1.0,
                "town=Oslo": 1.0,
                "body=buy": 1.0,
                "body=now": 2.0,
            },
            "spam",
            None,
            first,
        ),
        (
            {"rate": -2.0, "body=été": 1.0, "body=à": 1.0, "body=paris": 1.0},
            "ham",
            None,
            first + 1,
        ),
        ({'town=a,b\n"c"': 1.0}, "ham", None, first + 2),
    ]


@every_format
def test_features_keep_the_order_of_the_columns(format):
    records = [{"z": "b", "text": "c a b", "a": 1.5}, {"z": "a", "text": "b", "a": 2.5}]
    rows = features(as_format(records, format), format, text=["text"])
    assert [list(row) for row in rows] == [
        ["z=b", "text=c", "text=a", "text=b", "a"],
        ["z=a", "text=b", "a"],
    ]


@every_format
def test_labels_are_integers_where_they_can_be_and_weights_are_numbers(format):
    records = [{"y": 1, "w": 0.5, "x": 2.0}, {"y": 3, "w": 0.0, "x": 2.0}]
    found = read(as_format(records, format), format, label="y", weight="w")
    assert [(label, weight) for _, label, weight, _ in found] == [(1, 0.5), (3, 0.0)]
    assert all(type(label) is int for _, label, _, _ in found)
    assert features(as_format(records, format), format, label="y", weight="w") == [{"x": 2.0}] * 2


def test_labels_of_csv_are_numbers_one_by_one():
    found = read("y,x\n1,1\n 2.0,1\nspam,1\n2.5,1\n", label="y")
    assert [label for _, label, *_ in found] == [1, 2, "spam", 2.5]


def test_labels_of_json_keep_their_type():
    found = read('{"y": 1.0}\n{"y": "1"}\n{"y": true}\n{"y": 1.5}\n', "jsonl", label="y")
    assert [(type(label), label) for _, label, *_ in found] == [
        (int, 1),
        (str, "1"),
        (int, 1),
        (float, 1.5),
    ]


@every_format
def test_categories_drop_and_features_choose_columns(format):
    content = as_format([{"zip": 123, "a": 1, "b": 2}], format)
    assert features(content, format, categories=["zip"]) == [{"zip=123": 1, "a": 1, "b": 2}]
    assert features(content, format, drop=["zip", "none"]) == [{"a": 1, "b": 2}]
    assert features(content, format, features=["b"]) == [{"b": 2}]
    assert features(content, format, features=["a", "b"], drop=["a"]) == [{"b": 2}]


@every_format
def test_a_text_column_may_have_its_own_function(format):
    content = as_format([{"t": "ab ab"}], format)
    letters = features(content, format, text={"t": lambda text: Counter(text.replace(" ", ""))})
    assert letters == [{"t=a": 2, "t=b": 2}]


@every_format
def test_a_text_function_that_gives_no_number_is_an_error(format):
    content = as_format([{"t": "a"}, {"t": "ok"}, {"t": "b"}], format)
    function = {"t": lambda text: {"x": 1.0, text: float("nan") if text == "ok" else 1.0}}
    with pytest.raises(DataError, match=r"(line 3|line 2|row 1), field 't=ok': nan is not"):
        features(content, format, text=function)


def test_a_sum_that_overflows_is_an_error():
    with pytest.raises(DataError, match=r"line 2, field 'a\.b': inf is not a finite number"):
        features('{"c": 1}\n{"a.b": 1e308, "a": {"b": 1e308}}\n', "jsonl")


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_objects_and_lists_become_members(format):
    records = [
        {
            "user": {"age": 3, "home": {"town": "Bern"}},
            "tags": ["x", "y", "x", None],
            "v": [0.5, None, 0.0, 2],
        },
        {"user": None, "tags": [], "v": None},
    ]
    assert features(as_format(records, format), format) == [
        {"user.age": 3, "user.home.town=Bern": 1, "tags=x": 2, "tags=y": 1, "v.0": 0.5, "v.3": 2},
        {},
    ]
    inner = {"features": ["user.home", "tags"], "drop": ["tags"]}
    assert features(as_format(records, format), format, **inner) == [{"user.home.town=Bern": 1}, {}]


def test_parquet_maps_dictionaries_and_decimals_are_read():
    table = pa.table(
        {
            "m": pa.array([[("a", 1.5), ("b", 2.0)], None], pa.map_(pa.string(), pa.float64())),
            "d": pa.array(["x", None]).dictionary_encode(),
            "n": pa.array([1, None]).cast(pa.decimal128(22, 2)),
            "big": pa.array([2**60, 1], pa.int64()),
        }
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    assert features(buffer, "parquet") == [
        {"m.a": 1.5, "m.b": 2.0, "d=x": 1.0, "n": 1.0, "big": 2.0**60},
        {"big": 1.0},
    ]


def test_a_feature_named_twice_in_a_row_is_added_up():
    assert features('{"a.b": 1, "a": {"b": 2}, "c": ["d"], "c=d": 3}\n', "jsonl") == [
        {"a.b": 3, "c=d": 4}
    ]
    assert features("c,c=d,e\nd,3,1\nx,4,1\n") == [{"c=d": 4, "e": 1}, {"c=x": 1, "c=d": 4, "e": 1}]


rows_of_json = st.lists(
    st.dictionaries(
        st.sampled_from("abcd"),
        st.none()
        | st.booleans()
        | st.floats(-1e9, 1e9)
        | st.sampled_from(["u", "v", "w x"])
        | st.lists(st.sampled_from(["u", "v"]), max_size=3),
    ),
    max_size=10,
)


@given(rows_of_json, st.sets(st.sampled_from("abcd")))
def test_rows_of_json_are_those_of_the_stated_rules(records, categories):
    def expected(record):
        row = Counter()
        for name, value in record.items():
            if isinstance(value, list):
                row.update(f"{name}={item}" for item in value)
            elif isinstance(value, str) or (value is not None and name in categories):
                shown = str(value).lower() if isinstance(value, bool) else value
                if isinstance(value, float) and value.is_integer():
                    shown = int(value)
                row[f"{name}={shown}"] = 1
            elif value is not None:
                row[name] = float(value)
        return {name: value for name, value in row.items() if value != 0}

    content = "".join(json.dumps(record) + "\n" for record in records)
    assert features(content, "jsonl", categories=categories) == [expected(r) for r in records]


# CSV: types and lines


def test_csv_column_types_are_those_of_the_first_block(monkeypatch):
    monkeypatch.setattr(csv_table, "BLOCK", 200)
    cells = "n,c\n" + "1,x\n" * 100 + "2,7\n" * 100
    assert features(cells)[-1] == {"n": 2.0, "c=7": 1.0}
    with pytest.raises(
        DataError, match=r"line 102, field 'n': 'two' is not a number.*'categories'"
    ):
        features("n,c\n" + "1,x\n" * 100 + "two,x\n")
    assert features("n,c\n" + "1,x\n" * 100 + "two,x\n", categories=["n"])[-1] == {
        "n=two": 1,
        "c=x": 1,
    }


@pytest.mark.parametrize("block", [64, 100, 1 << 20])
def test_csv_rows_do_not_depend_on_the_size_of_blocks(monkeypatch, block):
    cells = "n,c,t\n" + "".join(f'{i / 7},c{i % 5},"w{i}\nw"\n' for i in range(300))
    expected = [{"n": i / 7, f"c=c{i % 5}": 1.0, f"t=w{i}": 1.0, "t=w": 1.0} for i in range(300)]
    del expected[0]["n"]
    monkeypatch.setattr(csv_table, "BLOCK", block)
    found = read(cells, text=["t"])
    assert [row for row, *_ in found] == expected
    assert [line for *_, line in found] == list(range(2, 602, 2))


def test_csv_declared_numbers_and_marks_of_missing_values():
    assert features("n\n?\n5\n") == [{"n=?": 1}, {"n=5": 1}]
    assert features("n\n?\n5\n", missing=["?"]) == [{"n": 5}]
    with pytest.raises(DataError, match=r"line 2, field 'n': '\?' is not a number"):
        features("n\n?\n5\n", numeric=["n"])


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ("a,b\r\n1,x\r\n", {}),
        ("a,b\n1,x", {}),
        ("\ufeffa,b\n1,x\n", {}),
        ("a;b\n1;x\n", {"delimiter": ";"}),
        ("1,x\n", {"columns": ["a", "b"]}),
        ('"a","b"\n"1","x"\n', {}),
        ("a,b\n\n 1 ,x\n\n\n,\n", {}),
    ],
    ids=["crlf", "no newline", "mark", "semicolon", "no header", "quotes", "blank lines"],
)
def test_csv_dialects(cells, options):
    assert features(cells, **options) == [{"a": 1, "b=x": 1}]


def test_quotes_may_be_plain_characters():
    cells = 'a\tb\n1\t"open\n2\t"shut"\n'
    found = features(cells, delimiter="\t", quotes=False)
    assert found == [{"a": 1, 'b="open': 1}, {"a": 2, 'b="shut"': 1}]


def test_tsv_is_known_by_its_name(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"a\tb\n1\tx\n"))
    [rows] = read_table(tmp_path / "t.tsv.gz")
    assert list(rows.dicts()) == [{"a": 1, "b=x": 1}]


cell = st.sampled_from(["1", "x", "a b", "two\nlines", 'quo"te', "", "a,b", "\n\n", ',"\n'])
csv_line = st.lists(cell, min_size=2, max_size=4) | st.just([])


@given(
    st.lists(csv_line, max_size=12),
    st.sampled_from([1, 7, 64, 1 << 20]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_lines_are_counted_over_blank_broken_and_long_rows(lines, block, quoting):
    buffer = io.StringIO("a,b,c\n")
    buffer.seek(0, io.SEEK_END)
    writer = csv.writer(buffer, lineterminator="\n", quoting=quoting)
    starts = []
    for line in lines:
        starts.append(buffer.getvalue().count("\n") + 1)
        writer.writerow(line)
    good = [
        (at, {f"{name}={cell}": 1 for name, cell in zip("abc", line, strict=True) if cell})
        for at, line in zip(starts, lines, strict=True)
        if len(line) == 3 and any(line)
    ]
    bad = [at for at, line in zip(starts, lines, strict=True) if len(line) in (2, 4)]

    before = csv_table.BLOCK
    csv_table.BLOCK = block
    try:
        table = read_table(
            io.BytesIO(buffer.getvalue().encode()),
            format="csv",
            categories=["a", "b", "c"],
            on_error="skip",
        )
        found = [line for rows in table for line in zip(rows.lines, rows.dicts(), strict=True)]
    finally:
        csv_table.BLOCK = before
    assert found == good
    assert [error.line for error in table.first_errors] == bad[:10]
    assert table.n_skipped == len(bad)


# Errors


BAD_ROWS = {
    "csv": [
        ("y,x\n1,2\n1,nan\n", "line 3, field 'x': nan is not a finite number"),
        ("y,x\n1,2\n1,-inf\n", "line 3, field 'x': -inf is not a finite number"),
        ("y,x\n1,2\n1,1e999\n", "line 3, field 'x': inf is not a finite number"),
        ("y,x\n1,2\n,3\n", "line 3, field 'y': the label is missing"),
        ("y,x\n1,2\nnan,3\n", "line 3, field 'y': nan is not a finite number"),
        ("y,x\n1,2\n1,2,3\n", "line 3: 3 cells instead of 2: '1,2,3'"),
        ("y,x\n1,2\n1\n", "line 3: 1 cells instead of 2: '1'"),
        (b"y,x\n1,2\n1,\xff\n", "line 3, field 'x': the cell is not UTF-8"),
    ],
    "jsonl": [
        ('{"y": 1, "x": 2}\n{"y": 1, "x": NaN}\n', "line 2, field 'x': nan is not a finite"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": 1e999}\n', "line 2, field 'x': inf is not a finite"),
        (f'{{"y": 1, "x": 2}}\n{{"y": 1, "x": {10**400}}}\n', "line 2, field 'x': 1000"),
        ('{"y": 1, "x": 2}\n\n{"x": 1}\n', "line 3, field 'y': the label is missing"),
        ('{"y": 1, "x": 2}\n{"y": [], "x": 1}\n', r"line 2, field 'y': \[\] is not a finite"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": 2\n', "line 2: not JSON: Expecting ',' .* at column 17"),
        ('{"y": 1, "x": 2}\n[1, 2]\n', "line 2: not a JSON object"),
        ('{"y": 1, "x": 2}\n' + "[" * 100_000 + "\n", "line 2: not JSON"),
        (b'{"y": 1, "x": 2}\n{"y": 1, "x": "\xff"}\n', "line 2: not JSON"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": "\\ud800"}\n', "line 2: not JSON"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": [1, "a"]}\n', "line 2, field 'x': a list must hold"),
        ('{"y": 1, "x": 2}\n{"y": 1, "x": [{}]}\n', "line 2, field 'x': a list must hold"),
        ('{"y": 1, "x": 2}\n{"y": 1, "t": 2}\n', "line 2, field 't': 2 is not text"),
    ],
    "parquet": [
        (as_format([{"y": 1, "x": 2.0}, {"y": 1, "x": float("nan")}], "parquet"), "row 1, field"),
        (as_format([{"y": 1, "x": 2.0}, {"y": None, "x": 2.0}], "parquet"), "row 1, field 'y'"),
        (as_format([{"y": 1.0, "x": [2]}, {"y": 1.0, "x": [1e999]}], "parquet"), "row 1, field"),
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
        ("a,b\n1,2\n3," + "x" * 3000, "line 3: the row that starts here never ends"),
    ],
)
def test_a_bad_csv_file_is_an_error(monkeypatch, cells, message):
    monkeypatch.setattr(csv_table, "BLOCK", 1000)
    monkeypatch.setattr(csv_table, "LONGEST_ROW", 2000)
    with pytest.raises(DataError, match=message):
        features(cells)


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
    pq.write_table(pa.table({"when": pa.array([0], pa.timestamp("s")), "x": [1]}), buffer)
    with pytest.raises(DataError, match=r"field 'when': a column of type timestamp"):
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


# Streams


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_standard_input_is_read(format):
    program = (
        "from yarrow.stream import read_table\n"
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


@pytest.mark.slow
@every_format
def test_memory_does_not_grow_with_the_table(tmp_path, monkeypatch, format):
    monkeypatch.setattr(csv_table, "BLOCK", 1 << 14)
    monkeypatch.setattr(tabular, "_JSON_ROWS", 1000)
    monkeypatch.setattr(tabular, "_PARQUET_ROWS", 1000)
    record = {"y": 1, "n": 0.25, "c": "abc", "t": "some words of text"}
    peaks = []
    for count in (20_000, 60_000):
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
        tracemalloc.start()
        arrow_before = pa.total_allocated_bytes()
        arrow_peak = 0
        for _ in read_table(path, label="y", text=["t"]):
            arrow_peak = max(arrow_peak, pa.total_allocated_bytes() - arrow_before)
        peaks.append(tracemalloc.get_traced_memory()[1] + arrow_peak)
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_importing_does_not_import_the_optional_packages():
    program = (
        "import sys, yarrow.stream; print({'pyarrow', 'pandas', 'zstandard'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


def test_batches_resolve_each_name_once():
    [rows] = read_table(io.BytesIO(b"c\n" + b"x\ny\n" * 1000), format="csv")
    assert rows.names == ["c=x", "c=y"]
    np.testing.assert_array_equal(rows.indices, [0, 1] * 1000)
    assert rows.indices.dtype == np.int32
    assert rows.values.dtype == np.float64
