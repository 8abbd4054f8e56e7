"""Lines of CSV: what ends them, and names that span several."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.conftest import run as run
from cli.support import Run

import yarrow
from yarrow import AROWClassifier
from yarrow.errors import DataError
from yarrow.io import read_table


@pytest.mark.parametrize("more", [[], ["--on-error", "skip"], ["--no-header"], ["--no-quotes"]])
def test_carriage_returns_alone_end_no_line(run: Run, tmp_path: Path, more: list[str]) -> None:
    data = tmp_path / "c.csv"
    data.write_bytes(b"y,a\r1,2\r0,3\r")
    label = ["--label", "1" if more == ["--no-header"] else "y"]
    result = run("train", data, *label, "--model", tmp_path / "m", *more, code=2)
    assert str(data) in result.stderr


def test_the_sentence_says_what_to_do(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "c.csv"
    data.write_bytes(b"y,a\r1,2\r0,3\r")
    result = run("train", data, "--label", "y", "--model", tmp_path / "m", code=2)
    assert f"{data}, line 1: lines end with a carriage return alone" in result.stderr


def test_a_header_may_span_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'y,"a\nb","c ""d""\r\ne"\n1,2,3\n0,x,3\n')
    with pytest.raises(DataError, match="line 5"):  # where the row stands, in the eyes of an editor
        for _ in read_table(path, label="y", numeric=["a\nb"]):
            pass
    (rows,) = read_table(path, label="y", numeric=["a\nb"], on_error="skip")
    assert list(rows.dicts()) == [{"a\nb": 2.0, 'c "d"\r\ne': 3.0}]


def test_an_open_quote_in_the_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'y,"a\n1,2\n0,3\n')
    with pytest.raises(DataError, match="line 1: the header never ends; is a quote left open"):
        list(read_table(path, label="y"))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_what_convert_writes_can_be_read(run: Run, tmp_path: Path, form: str) -> None:
    source, table, back = tmp_path / "a.jsonl", tmp_path / f"a.{form}", tmp_path / "b.jsonl"
    text = '{"y": "two\\nlines", "a\\nb": 1, "c,\\t\\"d\\"": 2}\n{"y": "one", "a\\nb": 3}\n'
    source.write_text(text)
    run("convert", source, table, "--label", "y")
    run("convert", table, back, "--label", "y")
    assert back.read_text() == text


def test_predictions_are_a_line_a_row(run: Run, tmp_path: Path) -> None:
    labels = ["two\nlines", "a\ttab", "back\\nslash", "plain"]
    model = AROWClassifier().fit([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], labels)
    model.save(tmp_path / "m")
    data = tmp_path / "rows.svm"
    data.write_text("".join(f"x {i}:1\n" for i in range(4)))
    told = run("predict", tmp_path / "m", data, "--quiet", "--index-base", 0).stdout
    assert told == "two\\nlines\na\\ttab\nback\\\\nslash\nplain\n"
    cells = [told.encode().decode("unicode_escape") for told in told.splitlines()]
    assert cells == labels
    table = run("predict", tmp_path / "m", data, "--quiet", "--index-base", 0, "--scores",
                "--header").stdout  # fmt: skip
    assert [line.count("\t") for line in table.splitlines()] == [4] * 5
    assert yarrow.load(tmp_path / "m").classes_.tolist() == sorted(labels)
