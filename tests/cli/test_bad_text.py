"""Bytes that are no text, endless rows, labels that no float holds: right, or one sentence."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import numpy as np
import pytest
from cli.support import Run

import yarrow
from yarrow import AROWClassifier, PassiveAggressiveRegressor
from yarrow.errors import DataError
from yarrow.kernel import KernelPerceptron

#: the format, a broken row, and what is said of it
NO_TEXT = {
    "label": ("svm", b"caf\xe9 1:1", "line 2, column 1, 'caf\\xe9': it is not valid UTF-8"),
    "token": ("svm", b"-1 1:1 \xe9", "line 2, column 8, '\\xe9': expected index:value"),
    "value": ("svm", b"-1 1:\xff", "line 2, column 4, '1:\\xff': the value is not a number"),
    "NUL": ("svm", b"-1 2:1\0", "line 2, column 7, '\\x00': expected index:value"),
    "escape": ("svm", b"-1 \x1b[2J", "line 2, column 4, '\\x1b[2J': expected index:value"),
    "name": ("vw", b"b | tea caf\xe9", "line 2, column 9, 'caf\\xe9': it is not valid UTF-8"),
    "namespace": ("vw", b"b |caf\xe9 tea", "line 2, column 4, 'caf\\xe9': it is not valid UTF-8"),
    "class": ("vw", b"caf\xe9 | tea", "line 2, column 1, 'caf\\xe9': it is not valid UTF-8"),
    "surrogate": (
        "vw",
        b"b | \xed\xa0\x80",
        "line 2, column 5, '\\xed\\xa0\\x80': it is not valid",
    ),
}
GOOD = {"svm": (b"a 1:1\n", b"\nb 2:1\n"), "vw": (b"a | t\xc3\xa9\n", b"\nb | tea\n")}


@pytest.mark.parametrize("name", NO_TEXT)
def test_bytes_that_are_no_text_make_a_broken_row(run: Run, tmp_path: Path, name: str) -> None:
    form, line, says = NO_TEXT[name]
    data, model = tmp_path / f"rows.{form}", tmp_path / "m"
    before, after = GOOD[form]
    data.write_bytes(before + line + after)
    for command in (["train", data, "--model", model], ["evaluate", data], ["compare", data]):
        assert f"{data}, {says}" in run(*command, code=2).stderr
    assert not model.exists()
    result = run("train", data, "--model", model, "--on-error", "skip")
    assert "1 row skipped" in result.stderr
    assert says in result.stderr
    fitted = yarrow.load(model)
    assert fitted.classes_.tolist() == ["a", "b"]
    assert len(fitted.feature_names_) == 2
    run("inspect", model)
    assert says in run("predict", model, data, "--output", tmp_path / "out", code=2).stderr


def test_a_binary_file_is_refused_in_a_sentence(run: Run, svm: Path, tmp_path: Path) -> None:
    data, model = tmp_path / "noise.svm", tmp_path / "m"
    data.write_bytes(np.random.default_rng(0).bytes(5000))
    run("train", svm, "--model", model)
    for command in (
        ["train", data, "--model", model], ["evaluate", data], ["compare", data],
        ["tune", data, "--learner", "arow"], ["predict", model, data],
    ):  # fmt: skip
        assert f"{data}, line 1, column 1" in run(*command, code=2).stderr
    data.write_bytes(gzip.compress(data.read_bytes()))  # known by its first bytes
    assert "line 1, column 1" in run("train", data, "--model", model, code=2).stderr


def test_the_index_base_of_a_long_row_is_found_at_once(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "wide.svm"
    data.write_text("1 " + " ".join(f"{i}:1" for i in range(1, 400_000)) + "\n-1 1:1\n")
    start = time.process_time()
    run("train", data, "--model", tmp_path / "m")
    assert time.process_time() - start < 10  # it is below a second, where squares are two minutes


#: neighbours that are one and the same as floats
LARGE = [9007199254740993, 9007199254740992, -9007199254740993, 2**63 - 1, 2**63 - 2, -(2**63)]
FORMATS = {
    "svm": lambda label: f"{label} 1:1\n",
    "vw": lambda label: f"{label} | a\n",
    "csv": lambda label: f"{label},1\n",
    "jsonl": lambda label: json.dumps({"y": label, "a": 1}) + "\n",
    "parquet": None,
}


def written(path: Path, labels: list[int]) -> Path:
    line = FORMATS[path.suffix[1:]]
    if line is None:
        pd = pytest.importorskip("pandas")
        pd.DataFrame({"y": labels, "a": 1.0}).to_parquet(path)
    else:
        path.write_text(("y,a\n" if path.suffix == ".csv" else "") + "".join(map(line, labels)))
    return path


def options(path: Path) -> list[str]:
    return [] if path.suffix in (".svm", ".vw") else ["--label", "y"]


@pytest.mark.parametrize("form", FORMATS)
def test_integers_are_kept_that_no_float_holds(run: Run, tmp_path: Path, form: str) -> None:
    data, model = written(tmp_path / f"rows.{form}", LARGE), tmp_path / "m"
    run("train", data, *options(data), "--model", model)
    assert yarrow.load(model).classes_.tolist() == sorted(LARGE)
    told = run("predict", model, data, *options(data), "--quiet").stdout.split()
    assert set(told) <= set(map(str, LARGE))
    direct = AROWClassifier().partial_fit(np.ones((len(LARGE), 1)), LARGE)
    assert direct.classes_.tolist() == sorted(LARGE)
    run("evaluate", data, *options(data), "--learner", "arow")
    run("compare", data, *options(data))


@pytest.mark.parametrize("form", FORMATS)
def test_integers_beyond_64_bits_are_refused(run: Run, tmp_path: Path, form: str) -> None:
    data, model = written(tmp_path / f"rows.{form}", [1, 2**63]), tmp_path / "m"
    says = "9223372036854775808 does not fit into 64 bits"
    assert says in run("train", data, *options(data), "--model", model, code=2).stderr
    with pytest.raises(DataError, match="64 bits"):
        AROWClassifier().partial_fit(np.ones((2, 1)), [1, 2**63])
    # As a target it is a number like others.
    run("train", data, *options(data), "--learner", "pa-regressor", "--model", model)
    assert isinstance(yarrow.load(model), PassiveAggressiveRegressor)


@pytest.mark.parametrize(
    "labels", [[1, "1", 1, "1"], [2**53, 2**53 + 1, 1.0], [2**63 - 1, 1.5e300]]
)
@pytest.mark.parametrize("cls", [AROWClassifier, KernelPerceptron])
def test_lists_keep_apart_what_rows_keep_apart(cls: type, labels: list[object]) -> None:
    X = np.eye(len(labels))
    by_list, by_row = cls().partial_fit(X, labels), cls()
    for row, label in zip(X.tolist(), labels, strict=True):
        by_row.learn_one(dict(enumerate(row)), label)
    assert by_list.classes_.tolist() == by_row.classes_.tolist()
    assert len(by_list.classes_) == len(set(labels))
    assert {type(name) for name in by_list.predict(X).tolist()} <= set(map(type, labels))


def test_numbers_and_texts_may_stand_side_by_side(run: Run, tmp_path: Path) -> None:
    data, model = tmp_path / "rows.svm", tmp_path / "m"
    labels = [1, "a", 2**53 + 1, 1, "a", 2**53 + 1] * 5
    data.write_text("".join(f"{label} {i % 3 + 1}:1\n" for i, label in enumerate(labels)))
    run("train", data, "--model", model)
    assert yarrow.load(model).classes_.tolist() == [1, 2**53 + 1, "a"]
    run("compare", data)
    run("compare", data, "--noise", 0.2)
    run("tune", data, "--learner", "arow")
