"""Tables become the same named rows by every format, and every bad row is named."""

from __future__ import annotations

import io
import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.tables import as_format, every_format, features, read
from hypothesis import given
from hypothesis import strategies as st

from yarrow.errors import DataError, ReadingWarning

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
    assert features(content, format, drop=["zip"]) == [{"a": 1, "b": 2}]
    assert features(content, format, features=["b"]) == [{"b": 2}]
    assert features(content, format, features=["a", "b"], drop=["a"]) == [{"b": 2}]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_column_to_drop_that_is_not_there_is_told(format):
    content = as_format([{"zip": 123, "a": 1}], format)
    says = "column 'Zip': there is no such column to drop; it has zip, a\\.$"
    with pytest.warns(ReadingWarning, match=says):
        assert features(content, format, drop=["Zip", "a"]) == [{"zip": 123}]
    assert features(content, format, drop=["Zip"], known={}) == [{"zip": 123, "a": 1}]


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (b"PK\x03\x04\x14\x00\xff", "line 1: .* not UTF-8; it is a sheet of Excel, or an archive"),
        (b"PAR1\x15\x04\xff\n", "line 1: .* not UTF-8; it is Parquet: say format='parquet'"),
        (
            "a,é\n1,2\n".encode("utf-16"),
            "not UTF-8; it is UTF-16: convert it, as by iconv -f UTF-16",
        ),
        ("a,é\n1,2\n".encode("latin-1"), "line 1: .* not UTF-8; convert .* iconv -f LATIN1"),
        ("a\né\n".encode("latin-1"), "line 2, field 'a': .* not UTF-8; convert .* iconv -f LATIN1"),
        (b"a,a\n1,2\n", "field 'a': two columns have this name; rename one"),
    ],
)
def test_a_file_that_is_no_csv_is_told_what_it_may_be(start, says):
    with pytest.raises(DataError, match=says):
        features(start, "csv")


@pytest.mark.parametrize("start", ["[{}]\n", "[\n", "{\n", '{"a": 1},\n'])
def test_json_that_is_not_one_object_a_line_is_told_how_to_become_so(start):
    with pytest.raises(
        DataError, match=r"line 1: not .*; each line must hold an object, as pandas"
    ):
        features(start, "jsonl")


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
