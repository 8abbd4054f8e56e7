"""The core reads rows of JSON and of the log as Python would: bit for bit, or not at all."""

from __future__ import annotations

import json
import random

import msgspec
import pytest
from serve.support import file_of, labelled_rows

import yarrow
from yarrow.serve import learning
from yarrow.serve.learning import (
    Block,
    Learned,
    Row,
    learn_block,
    learn_one,
    learn_run,
    pack,
    rows_of,
)

ODD = [
    b'{"row":{"a":1,"b":"x\\u00e9"},"label":"s"}',
    '{"row":{"é":1.5,"colour":"grün"},"label":"ö"}'.encode(),
    b'{"row":{"a":1,"a":2},"label":"s"}',
    b'{"row":{"a=b":3,"a":"b"},"label":"s"}',
    b"broken",
    b"",
    b'{"row":{"\xff":1},"label":"s"}',
    b'{"row":{"a":true,"c":"red","d":null,"e":-0.0},"label":1,"weight":2.5,"id":"k"}',
    b'{"row":{"a":1},"label":1.0}',
    b'{"row":{"a":1},"label":1.5}',
    b'{"row":{"a":1},"label":true}',
    b'{"row":{"a":1},"label":null}',
    b'{"row":{"a":1},"label":"1"}',
    b'{"row":{"a":1},"label":""}',
    b'{"row":{"a":1},"label":-0}',
    b'{"row":{"a":1},"label":9007199254740993}',
    b'{"row":{"a":1e300},"label":1}',
    b'{"row":{"a":1e-300},"label":1}',
    b'{"row":{"a":123456789012345678901234567890},"label":1}',
    b'{"row":{},"label":"s"}',
    b'{"label":3,"row":{"z":1}}',
    b'{"label":3,"label":4,"row":{"z":1}}',
    b'{"row":{"z":1}}',
    b'{"row":{"z":01},"label":3}',
    b'{"row":{"z":1.},"label":3}',
    b'{"row":{"z":.5},"label":3}',
    b'{"row":{"z":+1},"label":3}',
    b'{"row":{"z":1e},"label":3}',
    b'{"row":{"z":NaN},"label":3}',
    b'{"row":{"z":truex},"label":3}',
    b'{"row":{"z":[1]},"label":3}',
    b'{"row":{"z":1},"label":3,}',
    b'{"row":{"z":1,},"label":3}',
    b'{"row":{"z":1},"label":3} x',
    b'{"row":{"z":1},"label":3,"other":1}',
    b'{"row":{"z":1},"label":3,"weight":0}',
    b'{"row":{"z":1},"label":3,"weight":-1}',
    b'{"row":"text","label":3}',
    b' { "row" : { "z" : 1E2 } , "label" : 3 } \r',
    b'{"row":{"a\tb":1},"label":3}',
    b'{"row":{"":1},"label":3}',
]


def begun(kind):
    model = kind()
    model.learn_one({"q": 1.0}, "s")
    model.learn_one({"q": -1.0, "a": 0.5}, 1)
    return model


def by_python(model, block):
    """Row by row, as if the core read nothing."""
    found = Learned()
    for number, row in rows_of(block, found):
        try:
            found.loss += learn_one(model, row.row, row.label, row.weight)
            found.rows += 1
        except yarrow.errors.YarrowError as error:
            found.also(1, [f"line {number}: {error}"])
    return found


@pytest.mark.parametrize("kind", [yarrow.AROWClassifier, yarrow.YarrowClassifier])
@pytest.mark.parametrize("odd", range(len(ODD)))
def test_an_odd_line_among_plain_ones(tmp_path, kind, odd):
    plain = b'{"row":{"a":0.1,"z":-2},"label":"s"}'
    block = Block("jsonl", 1, 7, b"\n".join([plain, ODD[odd], plain, ODD[odd], plain]))
    one, other = begun(kind), begun(kind)
    expected, found = by_python(one, block), learn_block(other, block)
    assert (found.rows, found.loss, found.skipped) == (
        expected.rows,
        expected.loss,
        expected.skipped,
    )
    places = [complaint.partition(":")[0] for complaint in expected.complaints]
    assert [complaint.partition(":")[0] for complaint in found.complaints] == places
    assert file_of(one, tmp_path / "a") == file_of(other, tmp_path / "b")


def values(source):
    """Something that a row may hold."""
    kinds = [
        lambda: source.gauss(0, 1),
        lambda: source.randrange(-(2**40), 2**40),
        lambda: source.randrange(-200, 200),
        lambda: source.choice([0, 0.0, -0.0, 1e-320, 2**63, 2**64 - 1, -(2**63), True, False]),
        lambda: source.choice(["red", "grün", "", "x" * 300]),
    ]
    return source.choice(kinds)()


def test_random_rows_by_json_and_by_the_log(tmp_path):
    source = random.Random(4)
    rows = []
    for _ in range(400):
        names = source.sample(["a", "b", "é", "a=red", "n" * 40, "q", "z", "zz"], 4)
        label = source.choice(["s", "t", 1, 2, -7, "1", True])
        rows.append(Row({name: values(source) for name in names}, label, source.choice([1.0, 0.5])))
    models = [begun(yarrow.AROWClassifier) for _ in range(3)]
    for row in rows:
        learn_one(models[0], row.row, row.label, row.weight)
    lines = [
        json.dumps({"row": r.row, "label": r.label, "weight": r.weight}, ensure_ascii=False)
        for r in rows
    ]
    found = learn_block(models[1], Block("jsonl", 1, 1, "\n".join(lines).encode()))
    assert (found.rows, found.skipped) == (400, 0)
    packed, at, by_core = [pack(row) for row in rows], 0, 0
    while at < len(packed):
        learned = learn_run(models[2], packed[at:]).rows
        by_core += learned
        at += learned
        if at < len(packed):
            row = learning.unpack_row(packed[at])
            learn_one(models[2], row.row, row.label, row.weight)
            at += 1
    assert by_core > 300
    files = [file_of(model, tmp_path / "m") for model in models]
    assert files[0] == files[1] == files[2]


@pytest.mark.parametrize(
    "row",
    [
        Row({1: 2.0}, "s"),
        Row({"a": float("nan")}, "s"),
        Row({"a": 1e300}, "s"),
        Row({"a": 1.0}, None),
        Row({"a": 1.0}, True),
        Row({"a": 1.0}, "s", 0.0),
        Row({"a=b": 1.0, "a": "b"}, "s"),
        Row({"a": 1.0}, 2**60),
    ],
)
def test_an_unusual_row_of_the_log_is_left_to_python(row):
    model = begun(yarrow.AROWClassifier)
    plain = pack(Row({"a": 1.0}, "s"))
    assert learn_run(model, [plain, pack(row), plain]).rows == 1


def test_a_row_that_is_refused_ends_a_run(tmp_path):
    model = yarrow.AROWRegressor()
    model.learn_one({"a": 1.0}, 0.5)
    rows = [pack(Row({"a": 1.0}, 0.5)), pack(Row({"b": 1.0}, "text")), pack(Row({"a": 1.0}, 0.5))]
    assert learn_run(model, rows).rows == 1
    assert learn_run(model, rows[2:]).rows == 1


def test_damaged_bytes_are_no_rows():
    model = begun(yarrow.AROWClassifier)
    whole = pack(Row({"a": 1.0, "colour": "red", "n": 70000, "m": -300}, "s", 2.0, "id"))
    source = random.Random(1)
    for cut in range(len(whole)):
        learn_run(model, [whole[:cut]])
    for _ in range(3000):
        broken = bytearray(whole)
        broken[source.randrange(len(broken))] = source.randrange(256)
        learn_run(model, [bytes(broken)])
    assert msgspec.msgpack.decode(whole)[1] == "s"
    assert set(model.classes_) >= {"s"}


def test_rows_of_other_models_are_learned_as_before():
    hashed = yarrow.AROWClassifier(hash_bits=10)
    for x, y in labelled_rows(3):
        hashed.learn_one(x, y)
    assert learn_run(hashed, [pack(Row({"a": 1.0}, "a"))]).rows == 0
