"""A little input takes little: lines, indices, columns and classes have limits that say so."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from yarrow import load
from yarrow.bandit import BanditronClassifier
from yarrow.errors import DataError
from yarrow.io.columns import Roles
from yarrow.io.csv_table import _check_header
from yarrow.io.formats import StreamFormat
from yarrow.kernel import KernelPassiveAggressiveClassifier
from yarrow.linear_model import AROWClassifier, Perceptron, RDAClassifier, YarrowClassifier
from yarrow.online.core_stream import learn_stream

FAR = 60_000_000  # an index for which no learner would have room for all below it


def learned(model: Any, text: bytes, **settings: Any) -> Any:
    for _ in learn_stream(model, io.BytesIO(text), StreamFormat(**settings)):
        pass
    return model


LONG = {
    "svmlight": b"1 1:1\n" + b"1 " + b" " * 3_000_000 + b"2:1\n",
    "vw": b"1 | a\n" + b"1 | " + b"b" * 3_000_000 + b"\n",
    "jsonl": b'{"y": 1, "x": 2}\n{"y": 1, "x": "' + b"c" * 3_000_000 + b'"}\n',
    "csv": b"y,x\n1,2\n1," + b"d" * 6_000_000 + b"\n",
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("format", LONG)
def test_a_line_has_a_limit_that_can_be_raised(format: str, pack: Any) -> None:
    text = pack(LONG[format])
    table = {"label": "y", "categories": ["x"]} if format == "csv" else {"label": "y"}
    with pytest.raises(DataError) as refused:
        learned(AROWClassifier(), text, format=format, table=table, longest_line=2_500_000)
    sentence = str(refused.value)
    assert f"the input, line {3 if format == 'csv' else 2}: the " in sentence
    assert "is longer than the limit of 2500000 bytes; longest_line allows more" in sentence
    learned(AROWClassifier(), text, format=format, table=table)


@pytest.mark.parametrize("longest", [50, 1_000_000, 2_500_000, 9_000_000])
@pytest.mark.parametrize("before", [b"", b"1,2\n", (b'1,"' + b"\n" * 40 + b'"\n') * 50_000])
@pytest.mark.parametrize("last", [False, True])
def test_the_limit_of_a_csv_row_holds_to_the_byte(longest: int, before: bytes, last: bool) -> None:
    def text(size: int) -> bytes:
        quoted = b'1,"' + b"d\n" * ((size - 4) // 2) + b"d" * (size % 2) + b'"'
        return b"y,x\n" + before + quoted + (b"" if last else b"\n1,2\n")

    how: Any = {"format": "csv", "table": {"label": "y", "categories": ["x"]}}
    learned(AROWClassifier(), text(longest), **how, longest_line=longest)
    line = 2 + before.count(b"\n")
    with pytest.raises(DataError, match=f"line {line}: the row .* limit of {longest} bytes"):
        learned(AROWClassifier(), text(longest + 1), **how, longest_line=longest)


def test_the_first_line_of_a_table_has_a_limit_too() -> None:
    for settings in ({}, {"table": {"label": "1", "header": False}}):
        with pytest.raises(DataError, match="line 1: the line is longer than the limit of 100"):
            learned(
                AROWClassifier(), b"y," + b"x" * 1000 + b"\n1,2\n", format="csv",
                longest_line=100, **({"table": {"label": "y"}} | settings),
            )  # fmt: skip


def far_text(seed: int, n: int = 200) -> tuple[bytes, list[dict[int, float]], list[int]]:
    """Rows whose indices lie close together, but for a few that come late."""
    random = np.random.default_rng(seed)
    rows, labels = [], random.integers(0, 3, n).tolist()
    for i in range(n):
        indices = random.choice(30, 5, replace=False).tolist()
        if i > 50 and i % 7 == 0:
            indices += [FAR + int(random.integers(3)), 1000 + i]
        rows.append({index: round(float(random.normal()), 3) for index in indices})
    lines = [
        f"{label} " + " ".join(f"{index}:{value}" for index, value in row.items())
        for label, row in zip(labels, rows, strict=True)
    ]
    return "\n".join(lines).encode(), rows, labels


@pytest.mark.parametrize("learner", [AROWClassifier, Perceptron, YarrowClassifier])
def test_a_far_index_takes_the_room_of_one_and_changes_no_result(
    learner: Any, tmp_path: Path
) -> None:
    text, rows, labels = far_text(0)
    model = learned(learner(), text, format="svmlight", index_base=0)
    assert len(model.feature_names_) < 2000
    by_dicts = learner()
    for row, label in zip(rows, labels, strict=True):
        by_dicts.learn_one(row, label)
    # in pieces, and with a file in between
    lines = text.splitlines(keepends=True)
    half = learned(learner(), b"".join(lines[:55]), format="svmlight", index_base=0)
    half.save(tmp_path / "half.yarrow")
    again = learned(load(tmp_path / "half.yarrow"), b"".join(lines[55:]), format="svmlight")
    more = far_text(1)[1]
    for row in more:
        for other in (by_dicts, again):
            assert other.predict_one(row) == model.predict_one(row)
    for other in (by_dicts, again):
        assert weights(other) == weights(model)


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("learner", [AROWClassifier, Perceptron, YarrowClassifier, RDAClassifier])
def test_a_far_index_and_many_classes_take_little(
    learner: Any, multiclass: str, tmp_path: Path
) -> None:
    if learner is YarrowClassifier and multiclass == "top1":
        pytest.skip("one-versus-rest only")
    # So many places have room for two classes, and would take hundreds of megabytes for forty.
    far = 1_200_000 if learner is not YarrowClassifier else 50_000
    random = np.random.default_rng(0)
    rows: list[dict[int, float]] = [{3: 1.5, far: 1.0}]
    for _ in range(300):
        indices = random.choice(30, 4, replace=False).tolist()
        rows.append({index: round(float(random.normal()), 3) for index in indices})
    labels = [i % min(2 + i // 5, 40) for i in range(len(rows))]
    lines = [
        f"{label} " + " ".join(f"{index}:{value}" for index, value in row.items()) + "\n"
        for label, row in zip(labels, rows, strict=True)
    ]
    how: Any = {"format": "svmlight", "index_base": 0}
    model = learned(learner(multiclass=multiclass), "".join(lines).encode(), **how)
    assert len(model.feature_names_) <= 31
    by_dicts = learner(multiclass=multiclass)
    for row, label in zip(rows, labels, strict=True):
        by_dicts.learn_one(row, label)
    half = learned(learner(multiclass=multiclass), "".join(lines[:77]).encode(), **how)
    half.save(tmp_path / "half.yarrow")
    again = learned(load(tmp_path / "half.yarrow"), "".join(lines[77:]).encode(), **how)
    for other in (by_dicts, again):
        assert weights(other) == weights(model)
        for row in rows:
            assert other.predict_one(row) == model.predict_one(row)


def weights(model: Any) -> dict[Any, list[float]]:
    columns = dict(zip(model.feature_names_, np.atleast_2d(model.coef_).T.tolist(), strict=True))
    return {name: column for name, column in columns.items() if any(column)}


def test_a_refused_row_leaves_no_feature_behind() -> None:
    text = b"1 1:1\n-1 2:1\n-1 1:1 3:1 900:3e38\n1 2:1 3:1\n"
    model = learned(Perceptron(), text, format="svmlight", on_error="skip")
    assert model.feature_names_ == [0, 1, 2]


class Counting(str):
    """A name that counts how often it is looked at."""

    looks: ClassVar[Counter[str]] = Counter()

    def __eq__(self, other: object) -> bool:
        Counting.looks["eq"] += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        Counting.looks["hash"] += 1
        return str.__hash__(self)


def test_the_header_of_a_table_costs_as_much_as_it_has_columns() -> None:
    costs = []
    for n in (500, 4000):
        header = [Counting(f"column{i}") for i in range(n)]
        Counting.looks.clear()
        roles = Roles(features=frozenset(header[: n // 2]))
        _check_header(header, roles, [], "a.csv")
        assert sum(map(roles.reads, header)) == n // 2
        costs.append(Counting.looks.total())
    assert costs[1] < 12 * costs[0]


def test_a_table_may_have_many_columns() -> None:
    n = 3000
    text = ",".join(["y", *(f"x{i}" for i in range(n))]) + "\n" + "1," + ",".join(["2"] * n)
    model = learned(AROWClassifier(), text.encode(), format="csv", table={"label": "y"})
    assert len(model.feature_names_) == n


TOO_MANY = r"the class \d is one too many: max_classes allows 3 classes; real targets are for"


@pytest.mark.parametrize(
    "model",
    [
        AROWClassifier(max_classes=3),
        AROWClassifier(multiclass="top1", max_classes=3),
        YarrowClassifier(max_classes=3),
        KernelPassiveAggressiveClassifier(max_classes=3),
        BanditronClassifier(max_classes=3),
    ],
    ids=repr,
)
def test_classes_have_a_limit_by_every_route(model: Any) -> None:
    X, y = np.eye(5)[[0, 1, 2, 0, 1]], np.array([0, 1, 2, 1, 0])
    model = model.clone() if hasattr(model, "clone") else model
    model.partial_fit(X, y)
    before = model.predict(X).tolist()
    many = np.array([0, 1, 2, 3, 4])
    for route in (
        lambda: model.partial_fit(X, many),
        lambda: model.learn_one({0: 1.0}, 3),
        lambda: type(model)(max_classes=3).fit(X, many),
        lambda: type(model)(max_classes=3).partial_fit(X, many, classes=[0, 1, 2, 3, 4]),
    ):
        with pytest.raises(DataError, match=TOO_MANY):
            route()
    assert model.predict(X).tolist() == before
    assert model.classes_.tolist() == [0, 1, 2]
    model.learn_one({0: 1.0}, 2)


def test_classes_of_files_have_a_limit() -> None:
    text = b"0 1:1\n1 2:1\n2 3:1\n3 1:1\n1 1:1\n"
    model = AROWClassifier(max_classes=3)
    with pytest.raises(DataError, match=f"line 4: {TOO_MANY}"):
        learned(model, text, format="svmlight")
    skipping = learned(AROWClassifier(max_classes=3), text, format="svmlight", on_error="skip")
    assert skipping.classes_.tolist() == [0, 1, 2]


def test_classes_that_are_listed_need_no_other_limit() -> None:
    model = AROWClassifier(classes=list(range(5)), max_classes=3)
    model.partial_fit(np.eye(5), np.arange(5))
    assert len(model.classes_) == 5


def test_a_file_with_more_classes_than_its_limit_is_read(tmp_path: Path) -> None:
    model = AROWClassifier().partial_fit(np.eye(5), np.arange(5))
    model.max_classes = 3  # as if an older version, which had no limit, had learned them
    model.save(tmp_path / "m.yarrow")
    assert load(tmp_path / "m.yarrow").classes_.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.skipif(sys.platform == "win32", reason="needs the module resource")
@pytest.mark.slow
@pytest.mark.parametrize("learner", [AROWClassifier, YarrowClassifier])
def test_a_line_of_22_bytes_takes_little_memory(learner: Any) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    learned(learner(), b"1 67108864:1\n-1 3:1\n", format="svmlight")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB
