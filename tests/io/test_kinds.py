"""What a column holds is read right, or said: marks of missing values, dates, warnings."""

from __future__ import annotations

import functools
import io
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.support import COMMAND
from data.tables import features

import yarrow
from yarrow.bandit import BanditronClassifier
from yarrow.errors import DataError, ReadingWarning
from yarrow.features import Columns
from yarrow.io import read_table
from yarrow.io.formats import StreamFormat
from yarrow.io.kinds import MARKS
from yarrow.kernel import KernelPerceptron
from yarrow.online.driver import learn_files


@pytest.mark.parametrize(
    "mark", sorted({*MARKS - {""}, "NA", "NaN", "N/A", "NULL", " na ", "None"})
)
def test_usual_marks_are_missing_in_a_column_of_numbers(mark):
    cells = f"n,b,d,c\n1.5,true,2024-05-31,x\n{mark},{mark},{mark},{mark}\n2,false,2024-06-02,y\n"
    first, second, third = features(cells)
    date = {"d.year=2024": 1, "d.month=5": 1, "d.weekday=5": 1}
    assert first == {"n": 1.5, "b": 1, **date, "c=x": 1}
    assert second == {f"c={mark}": 1}  # among texts it is a text
    assert third.keys() == {"n", "d.year=2024", "d.month=6", "d.weekday=7", "c=y"}
    error = {"when_missing": "error", "features": ["n"]}
    with pytest.raises(DataError, match="line 3, field 'n': the value is missing"):
        features(cells, **error)
    assert features(cells, when_missing="indicate", features=["n"])[1] == {"n is missing": 1}


def test_a_column_with_marks_alone_may_turn_out_to_hold_numbers():
    assert features("n,c\n?,x\n?,y\n") == [{"c=x": 1}, {"c=y": 1}]


def test_dates_are_their_parts():
    cells = "when\n2024-05-31 13:45\n2024-01-01T00:00:00\n2024-01-01 00:10:00\n"
    assert features(cells) == [
        {"when.year=2024": 1, "when.month=5": 1, "when.weekday=5": 1, "when.hour=13": 1},
        {"when.year=2024": 1, "when.month=1": 1, "when.weekday=1": 1},
        {"when.year=2024": 1, "when.month=1": 1, "when.weekday=1": 1, "when.hour=0": 1},
    ]
    assert features(cells, categories=["when"])[0] == {"when=2024-05-31 13:45": 1}
    table = read_table(
        io.BytesIO(b"when\n2024-05-31\nsoon\n"), format="csv", known={"when": "date"}
    )
    with pytest.raises(
        DataError, match="line 3, field 'when': 'soon' is not a date such as 2024-05-31"
    ):
        list(table)


def column(cells: list[Any]) -> bytes:
    return ("c,x\n" + "".join(f"{cell},1\n" for cell in cells)).encode()


NEARLY_NUMBERS = [*range(50), "oops"]
NEARLY_UNIQUE = [f"message number {i}" for i in range(50)]
A_MARK = [i if i % 4 else "unknown" for i in range(60)]
THOUSANDS = [*range(10), *(f'"{i},{i + 100}.50"' for i in range(50))]
DATES = [*(f"2024-05-{i:02}" for i in range(1, 30)), *(f"{i}/05/2024" for i in range(1, 30))]


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (NEARLY_NUMBERS, r"50 of 51 values are numbers, but 'oops' is none.*missing=\['oops'\] or"),
        (A_MARK, r"45 of 60 values are numbers, but 'unknown' is none.*missing=\['unknown'\] or"),
        (NEARLY_UNIQUE, r"50 of 50 values are different.*say text=\['c'\] or drop=\['c'\]"),
        (THOUSANDS, r"50 of 60 values are numbers with commas, such as '0,100.50': all.*\.$"),
        (DATES, r"58 of 58 values look like dates, such as '1/05/2024': .* as 2024-05-31\.$"),
    ],
)
def test_columns_that_may_not_be_meant_so_are_warned_of(cells, says):
    with pytest.warns(ReadingWarning, match=f"column 'c': {says}"):
        list(read_table(io.BytesIO(column(cells)), format="csv"))
    frame = pd.DataFrame({"c": [str(cell).strip('"') for cell in cells], "x": 1.0})
    y = np.arange(len(cells)) % 2
    for rows in (frame, frame.to_dict("records")):
        with pytest.warns(ReadingWarning, match=f"^column 'c': {says}"):
            model = yarrow.AROWClassifier().fit(rows, y)
        model.partial_fit(rows, y)  # a warning would be an error
    for said in ({"text": ["c"]}, {"categories": ["c"]}, {"drop": ["c"]}):
        list(read_table(io.BytesIO(column(cells)), format="csv", **said))  # no warning: an error


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([f"2024-05-{i:02}" for i in range(1, 30)], r"dates, such as '2024-05-01': .*to_datetime"),
        ([f"{i}.5" for i in range(30)], "all 30 values are numbers written as texts, .*categories"),
        (NEARLY_UNIQUE, r"50 of 50 values are different.*say text=\['c'\] or drop=\['c'\]"),
    ],
)
def test_texts_of_frames_and_json_that_a_csv_file_would_have_as_values_are_told(cells, says):
    """Of JSON only where nothing is known of an earlier file."""
    frame = pd.DataFrame({"c": [*cells, None], "few": [str(i % 2) for i in range(len(cells) + 1)]})
    with pytest.warns(ReadingWarning, match=f"^column 'c': .*{says}") as told:
        yarrow.AROWClassifier().fit(frame, np.arange(len(frame)) % 2)
    assert len(told) == 1
    lines = as_lines(frame)().encode()
    with pytest.warns(ReadingWarning, match=f"column 'c': .*{says}") as told:
        list(read_table(io.BytesIO(lines), format="jsonl"))
    assert len(told) == 1
    list(read_table(io.BytesIO(lines), format="jsonl", known={}))  # a warning would be an error


def test_a_warning_about_a_frame_says_who_takes_the_way_out():
    frame = pd.DataFrame({"c": NEARLY_UNIQUE})
    with pytest.warns(ReadingWarning, match=r"or drop=\['c'\] to yarrow.features.Columns\.$"):
        yarrow.AROWClassifier().fit(frame, np.arange(50) % 2)


def test_texts_among_numbers_of_json_and_of_dicts_are_told():
    rows = [{"c": i if i % 5 else "NA", "few": "NA" if i else 1} for i in range(60)]
    says = r"column 'c': 48 of 60 values are numbers, but 'NA' is a text.*missing=\['NA'\] or"
    with pytest.warns(ReadingWarning, match=says) as told:
        yarrow.AROWClassifier().fit(rows, np.arange(60) % 2)
    assert len(told) == 1
    lines = as_lines(pd.DataFrame(rows))().encode()
    with pytest.warns(ReadingWarning, match=says):
        list(read_table(io.BytesIO(lines), format="jsonl"))
    with pytest.warns(ReadingWarning, match="to yarrow.features.Columns"):
        columns = Columns().fit(rows)
    columns.transform(rows)  # a warning would be an error
    assert Columns(missing=["NA"]).fit(rows).get_feature_names_out().tolist() == ["few", "c"]


def test_numbers_that_begin_with_0_as_codes_do_are_told():
    cells = column([f"{i:03}" for i in range(90, 130)])
    with pytest.warns(ReadingWarning, match="10 of 40 values begin with 0, such as '090', as cod"):
        list(read_table(io.BytesIO(cells), format="csv"))
    for said in ({"categories": ["c"]}, {"numeric": ["c"]}):
        list(read_table(io.BytesIO(cells), format="csv", **said))  # a warning would be an error
    list(read_table(io.BytesIO(column([f"0.{i}" for i in range(40)])), format="csv"))


def test_what_a_column_of_json_holds_is_said_by_the_first_value_that_there_is():
    table = read_table(io.BytesIO(b'{"a": null, "b": "x"}\n{"a": 1, "b": null}\n'), format="jsonl")
    list(table)
    assert table.described == {"a": "numbers", "b": "categories"}


def test_columns_that_a_model_has_learned_and_a_file_lacks_are_told(tmp_path: Path) -> None:
    rows = pd.DataFrame({"y": ["a", "b"] * 20, "km": range(40), "age": 3, "note": "x", "w": 1.5})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.rename(columns={"km": "Km"}).drop(columns=["y", "w"]).to_csv(
        tmp_path / "n.csv", index=False
    )
    train = ["train", "rows.csv", "--label", "y", "--weight", "w", "--model", "m", "--quiet"]
    said(tmp_path, *train, stdin=b"")
    for new in ("rows.csv", "-"):
        assert not said(tmp_path, "predict", "m", new, "--quiet", stdin=b"km,age,note\n1,2,x\n")
    told = said(tmp_path, "predict", "m", "n.csv", stdin=b"")
    assert told.startswith(
        "yarrow: n.csv, column 'km': the model has learned this column, and here"
    )
    assert "it is missing in every row; it has Km, age, note." in told
    told = said(tmp_path, "predict", "m", "-", stdin=b"Km,note\n1,x\n")
    assert "column 'km': " in told
    assert "every row (the same of 'age'); it has Km, note." in told
    told = said(tmp_path, "predict", "m", "-", stdin=b"Km,x\n1,2\n")
    assert "no feature of the rows is known" in told
    assert "column 'km'" not in told
    rows[["age"]].to_parquet(tmp_path / "n.parquet")
    told = said(tmp_path, "predict", "m", "n.parquet", stdin=b"")
    assert "every row (the same of 'note'); it has age." in told


@pytest.mark.parametrize(
    ("known", "numeric", "says"),
    [
        (None, (), r"as the column's first cells are; put the column among the 'categories', or"),
        (None, ("n",), "as was said of the column; put the column among the 'categories', or"),
        ({"n": "number"}, (), "as the model has learned the column; write it so, or put this mark"),
    ],
)
def test_why_a_cell_should_be_a_number_is_said(known, numeric, says):
    cells = b"n\n" + b"1\n" * (1 << 20) + b"ten\n"
    table = read_table(io.BytesIO(cells), format="csv", known=known, numeric=numeric)
    with pytest.raises(DataError, match=f"'ten' is not a number, {says}"):
        list(table)


def test_models_are_asked_without_warnings(tmp_path: Path) -> None:
    """Also where a file has taught them whose columns say themselves what they hold."""
    frame = pd.DataFrame({"c": NEARLY_UNIQUE, "y": ["a", "b"] * 25})
    for suffix, write in (("parquet", frame.to_parquet), ("jsonl", as_lines(frame))):
        write(tmp_path / f"rows.{suffix}")
        model = yarrow.AROWClassifier()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = str(tmp_path / f"rows.{suffix}")
            for _ in learn_files(model, [path], StreamFormat(table={"label": "y"})):
                pass
        model.predict(frame[["c"]])  # a warning would be an error


def as_lines(frame: pd.DataFrame) -> Any:
    return functools.partial(frame.to_json, orient="records", lines=True)


def test_few_values_and_repeated_ones_are_no_news():
    list(read_table(io.BytesIO(column(["a", "b"] * 30)), format="csv"))
    list(read_table(io.BytesIO(column(["a", "b", "c", "1"])), format="csv"))


def said(folder: Path, *args: str, stdin: bytes) -> str:
    done = subprocess.run([*COMMAND, *args], input=stdin, capture_output=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


def test_commands_tell_how_columns_were_read(tmp_path: Path) -> None:
    """Standard input with a label is a table; warnings name options of the command."""
    rows = [f"{i % 2},{i},{i % 3 == 0},note {i} it,2024-01-{i % 28 + 1:02}" for i in range(40)]
    data = ("y,n,flag,note,when\n" + "\n".join(rows) + "\n").encode()
    command = ["train", "-", "--label", "y", "--model", "m", "--describe"]
    told = said(tmp_path, *command, stdin=data)
    assert "yarrow: standard input, column 'note': 40 of 40 values are different" in told
    assert "say --text note or --drop note." in told
    assert told.count("yarrow:") == 1
    lines = dict(line.split(maxsplit=1) for line in told.splitlines() if line.startswith("  "))
    assert lines == {
        "y": "the label", "n": "numbers", "flag": "true or false", "note": "categories",
        "when": "dates",
    }  # fmt: skip
    told = said(tmp_path, *command, "--text", "note", "--category", "n", stdin=data)
    assert "yarrow:" not in told
    assert "  note  words\n" in told
    assert "  n     categories\n" in told
    told = said(tmp_path, *command, "--text", "note", "--drop", "Flag", stdin=data)
    assert "column 'Flag': there is no such column to drop; it has y, n, flag, note" in told
    told = said(tmp_path, "predict", "m", "-", "--describe", "--quiet", stdin=data)
    assert "yarrow:" not in told  # what the model remembers need not be there
    assert "  note  words\n" in told
    assert "  y     left out\n" in told or "\n  y " not in told


MANY = np.arange(300) % 250
SAYS = "is one of more than 200 whole numbers.*YarrowRegressor.*max_classes=1000"


@pytest.mark.parametrize(
    "make", [yarrow.AROWClassifier, yarrow.YarrowClassifier, KernelPerceptron, BanditronClassifier]
)
def test_hundreds_of_whole_numbers_are_no_classes_unless_somebody_says_so(make: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    for learn in (make().partial_fit, make().fit):
        with pytest.raises(DataError, match=SAYS):
            learn(X, MANY)
    model = make()
    for x, y in zip(X[:200], MANY[:200].tolist(), strict=True):
        model.learn_one(dict(enumerate(x)), y)
    with pytest.raises(DataError, match=SAYS):
        model.learn_one({0: 1.0}, 200)
    model.learn_one({0: 1.0}, "a text")
    for insisting in (make(max_classes=1000), make(classes=list(range(250)))):
        if make is not BanditronClassifier or insisting.classes is None:
            assert len(insisting.partial_fit(X, MANY).classes_) == 250
    assert len(make().partial_fit(X, [f"c{y}" for y in MANY]).classes_) == 250


def test_hundreds_of_whole_numbers_in_a_file_name_the_way_out(tmp_path: Path) -> None:
    data = "y,x\n" + "".join(f"{i},{i % 7}\n" for i in range(300))
    (tmp_path / "rows.csv").write_text(data)
    command = [*COMMAND, "train", "rows.csv", "--label", "y", "--model", "m"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, text=True)
    assert done.returncode == 2
    assert "line 202" in done.stderr
    assert "YarrowRegressor (--regression)" in done.stderr
    assert "--max-classes 1000" in done.stderr
    done = subprocess.run([*command, "--max-classes", "1000"], capture_output=True, cwd=tmp_path)
    assert done.returncode == 0


@pytest.mark.parametrize("label", ["1,2", "shared", "0:1:0.5", "1:2"])
def test_labels_of_vowpal_wabbit_that_are_not_read_are_refused(tmp_path: Path, label: str) -> None:
    data = f"1 | a\n2 | b\n{label} | c\n".encode()
    command = [*COMMAND, "train", "-", "--format", "vw", "--model", "m"]
    done = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path)
    assert done.returncode == 2
    assert b"line 3" in done.stderr
    assert b"of Vowpal Wabbit are not read: a row has one class or value" in done.stderr
