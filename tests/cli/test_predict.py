"""`yarrow predict`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from cli.support import Run, rows_of_text, start

import yarrow


@pytest.mark.parametrize("suffix", ["json", "txt"])
def test_readable_exports_predict_as_the_model_does(
    run: Run, svm: Path, tmp_path: Path, suffix: str
) -> None:
    model, export = tmp_path / "m", tmp_path / f"e.{suffix}"
    run("train", svm, "--learner", "arow", "--model", model, "--export", export)
    assert run("predict", export, svm).stdout == run("predict", model, svm).stdout
    weights = run("inspect", model).stdout.partition("largest weights")[2]
    assert run("inspect", export).stdout.endswith(weights)
    assert run("inspect", export, "--explain", "1:1").stdout.startswith("score")
    export.write_text(export.read_text()[:-9])
    assert f"{export}: damaged" in run("predict", export, svm, code=2).stderr


THREE = ("red", "green", "blue")


@pytest.fixture
def colours(run: Run, tmp_path: Path) -> Path:
    """A model of three classes, and in rows.svm rows that it has not seen."""
    (tmp_path / "seen.svm").write_text("".join(rows_of_text(300, 1, THREE)))
    (tmp_path / "rows.svm").write_text("".join(rows_of_text(200, 2, THREE)))
    run("train", tmp_path / "seen.svm", "--model", tmp_path / "m", "--export", tmp_path / "e")
    return tmp_path / "m"


def dense(path: Path, columns: int) -> tuple[Any, list[str]]:
    """Rows as an array, read without Yarrow."""
    lines = [line.split() for line in path.read_text().splitlines()]
    rows = np.zeros((len(lines), columns))
    for row, (_, *cells) in zip(rows, lines, strict=True):
        for cell in cells:
            index, value = cell.split(":")
            row[int(index) - 1] = float(value)
    return rows, [line[0] for line in lines]


def test_a_line_a_row(run: Run, colours: Path, tmp_path: Path) -> None:
    model = yarrow.load(colours)
    X, y = dense(tmp_path / "rows.svm", 30)
    result = run("predict", colours, tmp_path / "rows.svm")
    assert result.stdout.splitlines() == model.predict(X).tolist()
    accuracy = 100 * np.mean(model.predict(X) == y)
    assert f"accuracy {accuracy:.2f} %" in result.stderr
    assert result.stderr.startswith("200 rows predicted\n")
    assert run("predict", colours, tmp_path / "rows.svm", "--quiet").stderr == ""


@pytest.mark.parametrize("option", ["--scores", "--proba"])
def test_scores_and_probabilities(run: Run, colours: Path, tmp_path: Path, option: str) -> None:
    model = yarrow.load(colours)
    X, _ = dense(tmp_path / "rows.svm", 30)
    result = run("predict", colours, tmp_path / "rows.svm", option, "--header")
    head, *lines = (line.split("\t") for line in result.stdout.splitlines())
    assert head == ["prediction", "blue", "green", "red"]
    found = np.array([line[1:] for line in lines], float)
    expected = model.decision_function(X) if option == "--scores" else model.predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_an_export_predicts_the_same(run: Run, colours: Path, tmp_path: Path) -> None:
    data = tmp_path / "rows.svm"
    saved = run("predict", colours, data, "--scores").stdout
    exported = run("predict", tmp_path / "e", data, "--scores").stdout
    for mine, other in zip(saved.splitlines(), exported.splitlines(), strict=True):
        assert mine.split("\t")[0] == other.split("\t")[0]
        numbers = (np.array(line.split("\t")[1:], float) for line in (mine, other))
        np.testing.assert_allclose(*numbers, atol=1e-6)


def test_two_classes_and_their_export(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--model", tmp_path / "m", "--export", tmp_path / "e")
    saved = run("predict", tmp_path / "m", svm, "--scores", "--header").stdout
    assert saved.startswith("prediction\t-1\t1\n")
    for line in saved.splitlines()[1:]:
        chosen, low, high = map(float, line.split("\t"))
        assert low == -high
        assert chosen == (1 if high > 0 else -1)
    exported = run("predict", tmp_path / "e", svm, "--header").stdout
    assert exported.split() == [line.split("\t")[0] for line in saved.splitlines()]


def test_rows_without_labels(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--model", tmp_path / "m")
    bare = "".join(line.partition(" ")[2] for line in svm.read_text().splitlines(keepends=True))
    result = run("predict", tmp_path / "m", "-", stdin=gzip.compress(bare.encode()))
    assert result.stdout == run("predict", tmp_path / "m", svm, "--quiet").stdout
    assert result.stderr == ""


def test_a_regression(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--learner", "pa-regressor", "--model", tmp_path / "m")
    X, y = dense(svm, 30)
    expected = yarrow.load(tmp_path / "m").predict(X)
    result = run("predict", tmp_path / "m", svm)
    np.testing.assert_allclose([float(x) for x in result.stdout.split()], expected, rtol=1e-12)
    error = np.sqrt(np.mean((expected - np.array(y, float)) ** 2))
    assert f"RMSE {error:.6g}, MAE " in result.stderr


def test_a_table_is_read_as_in_training(run: Run, table: Path, tmp_path: Path) -> None:
    """Options are remembered, a label column is not needed, and one that is there is no feature."""
    train = ["train", table, "--label", "label", "--text", "text", "--drop", "age"]
    run(*train, "--model", tmp_path / "m")
    bare = "town,text\nOslo,cheap pills\nRome,lunch today\n"
    for stdin in (bare, bare.replace("town", "label").replace("Oslo", "ham"), "age," + bare):
        if stdin.startswith("age"):
            stdin = "age,town,text\n9,Oslo,cheap pills\n9,Rome,lunch today\n"
        assert run("predict", tmp_path / "m", "-", stdin=stdin).stdout == "spam\nham\n"
    result = run("predict", tmp_path / "m", table, "--label", "label")
    assert "accuracy 100.00 %" in result.stderr


def test_what_a_column_holds_is_remembered(run: Run, tmp_path: Path) -> None:
    """Few rows may look like numbers where the training rows did not."""
    codes = "label,code,n\nspam,12,1\nham,x9,2\n" + "spam,12,1\nham,34,2\n" * 9
    (tmp_path / "t.csv").write_text(codes)
    run("train", tmp_path / "t.csv", "--label", "label", "--drop", "n", "--model", tmp_path / "m")
    assert run("predict", tmp_path / "m", "-", stdin="code\n12\n34\n").stdout == "spam\nham\n"


def test_tabs_and_interactions_are_remembered(run: Run, table: Path, tmp_path: Path) -> None:
    tabs = tmp_path / "mail.tsv"
    tabs.write_text("label\ttown\nspam\tOslo\nham\tRome\n")
    run("train", tabs, "--label", "label", "--model", tmp_path / "m")
    assert run("predict", tmp_path / "m", "-", stdin="x\ttown\n1\tRome\n").stdout == "ham\n"
    lines = "1 |a x |b y\n-1 |a x |b z\n1 |a w |b z\n-1 |a w |b y\n" * 20  # exclusive or
    (tmp_path / "rows.vw").write_text(lines)
    run("train", tmp_path / "rows.vw", "-q", "ab", "--model", tmp_path / "m")
    assert "accuracy 100.00 %" in run("predict", tmp_path / "m", tmp_path / "rows.vw").stderr


def test_zero_based_indices_are_remembered(run: Run, tmp_path: Path) -> None:
    run("train", "-", "--model", tmp_path / "m", stdin="1 0:1\n-1 1:1\n" * 5)
    assert run("predict", tmp_path / "m", "-", stdin="1:1\n").stdout == "-1\n"


def test_a_file_is_replaced_when_all_is_predicted(run: Run, svm: Path, tmp_path: Path) -> None:
    output = tmp_path / "labels.txt"
    output.write_text("old")
    run("train", svm, "--model", tmp_path / "m")
    (tmp_path / "broken.svm").write_text(svm.read_text() + "1 1:x\n")
    result = run("predict", tmp_path / "m", tmp_path / "broken.svm", "--output", output, code=2)
    assert "broken.svm, line 401, column 3, '1:x'" in result.stderr
    assert output.read_text() == "old"
    run("predict", tmp_path / "m", svm, "--output", output)
    assert output.read_text().count("\n") == 400
    run("predict", tmp_path / "m", svm, "--output", "/dev/null")
    assert not Path("/dev/null").is_file()
    result = run("predict", tmp_path / "m", tmp_path / "broken.svm", "--on-error", "skip")
    assert result.stdout.count("\n") == 400
    assert "1 row skipped; the first:" in result.stderr


ERRORS = {
    "m rows.svm --proba": "Perceptron has no probabilities",
    "m rows.svm --proba --scores": "cannot be used together",
    "m none.svm": "none.svm: No such file",
    "none rows.svm": "none: No such file",
    "rows.svm rows.svm": "rows.svm: not a Yarrow model",
    "cut rows.svm": "cut: truncated",
    "changed rows.svm": "changed: damaged",
    "m rows.svm --output no/x": "there is no folder no",
    "m rows.svm --output m": "would be overwritten",
}


@pytest.mark.parametrize("line", ERRORS)
def test_a_users_error_is_one_sentence(
    run: Run, svm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run("train", svm.name, "--learner", "perceptron", "--model", "m")
    content = Path("m").read_bytes()
    Path("cut").write_bytes(content[:-9])
    Path("changed").write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    assert ERRORS[line] in run("predict", *line.split(), code=2).stderr


def test_a_reader_that_has_seen_enough_is_no_error(svm: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "many.svm").write_text(svm.read_text() * 200)
    run("train", svm, "--model", tmp_path / "m")
    with start("predict", tmp_path / "m", tmp_path / "many.svm", "--scores") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_threshold_chooses_the_second_class(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--model", tmp_path / "m")
    rows = [
        line.split("\t")
        for line in run("predict", tmp_path / "m", svm, "--proba").stdout.splitlines()
    ]
    seconds = [float(second) for _, _, second in rows]
    low, high = min(seconds), max(seconds)
    for threshold in (0.8 * low + 0.2 * high, 0.1 * low + 0.9 * high):
        told = run("predict", tmp_path / "m", svm, "--threshold", threshold).stdout.split()
        assert told == ["1" if float(second) >= threshold else "-1" for _, _, second in rows]
        assert len(set(told)) == 2
    run("train", svm, "--learner", "perceptron", "--model", tmp_path / "p")
    rows = [
        line.split("\t")
        for line in run("predict", tmp_path / "p", svm, "--scores").stdout.splitlines()
    ]
    told = run("predict", tmp_path / "p", svm, "--threshold", 0.5).stdout.split()
    assert told == ["1" if float(second) >= 0.5 else "-1" for _, _, second in rows]
    (tmp_path / "three.svm").write_text("1 1:1\n2 2:1\n3 3:1\n")
    run("train", tmp_path / "three.svm", "--model", tmp_path / "three")
    told = run("predict", tmp_path / "three", svm, "--threshold", 0.5, code=2).stderr
    assert "--threshold is for two classes" in told
    for wrong in ("nan", "1.5", "-0.1"):
        told = run("predict", tmp_path / "m", svm, "--threshold", wrong, code=2).stderr
        assert told.endswith("is not a probability.\n")


def test_sequences_of_words_are_remembered(run: Run, table: Path, tmp_path: Path) -> None:
    import yarrow

    command = ["train", table, "--label", "label", "--text", "text", "--ngrams", 2]
    run(*command, "--model", tmp_path / "m")
    model = yarrow.load(tmp_path / "m")
    assert "text=cheap pills" in model.feature_names_
    assert "text=cheap" in model.feature_names_
    told = run("predict", tmp_path / "m", table, "--quiet").stdout.split()
    import pandas as pd

    assert model.predict(pd.read_csv(table)).tolist() == told


def test_columns_are_passed_through(run: Run, tmp_path: Path) -> None:
    """Whether they make features or not, missing or with a tab in it, of every kind of table."""
    rows = [("1", "2024-01-02", 0.5, "Oslo", "a"), ("2", None, 1.5, "Ro\tme", "b")]
    names = ["id", "date", "x", "city", "label"]
    text = "".join(",".join("" if c is None else str(c) for c in row) + "\n" for row in rows)
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + text)
    records = [dict(zip(names, row, strict=True)) for row in rows]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    parquet.write_table(pa.Table.from_pylist(records), tmp_path / "t.parquet")
    run("train", tmp_path / "t.csv", "--label", "label", "--drop", "id", "--model", tmp_path / "m")
    for format in ("csv", "jsonl", "parquet"):
        data = tmp_path / f"t.{format}"
        keep = ["--keep", "id,date", "--keep", "city", "--header"]
        plain = run("predict", tmp_path / "m", data).stdout.split()
        lines = run("predict", tmp_path / "m", data, *keep).stdout.splitlines()
        assert lines[0] == "id\tdate\tcity\tprediction"
        assert lines[1:] == [f"1\t2024-01-02\tOslo\t{plain[0]}", f"2\t\tRo\\tme\t{plain[1]}"]
        scored = run("predict", tmp_path / "m", data, "--keep", "id", "--scores").stdout
        assert [line.split("\t")[:2] for line in scored.splitlines()] == [
            [row[0], said] for row, said in zip(rows, plain, strict=True)
        ]
    wrong = run("predict", tmp_path / "m", tmp_path / "t.csv", "--keep", "idd", code=2).stderr
    assert "field 'idd': no such column; it has id, date" in wrong


def test_skipped_rows_keep_no_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x,label\n1,0.5,a\n2,1.5,b\n")
    run("train", tmp_path / "t.csv", "--label", "label", "--drop", "id", "--model", tmp_path / "m")
    (tmp_path / "n.csv").write_text("id,x\n1,0.5\n2,oops\n3,1e300\n4,1.5\n")
    kept = run("predict", tmp_path / "m", tmp_path / "n.csv", "--keep", "id", "--on-error", "skip")
    assert [line.split("\t")[0] for line in kept.stdout.splitlines()] == ["1", "4"]


def test_text_and_learners_in_python_keep_columns_or_say_why(
    run: Run, svm: Path, tmp_path: Path
) -> None:
    run("train", svm, "--model", tmp_path / "m")
    said = run("predict", tmp_path / "m", svm, "--keep", "id", code=2).stderr
    assert said == f"yarrow: {svm}: svmlight has no columns to keep.\n"
    (tmp_path / "t.csv").write_text("id,x,label\n1,0.5,a\n2,1.5,b\n")
    options = ["--label", "label", "--drop", "id", "--learner", "kernelperceptron"]
    run("train", tmp_path / "t.csv", *options, "--model", tmp_path / "k")
    kept = run("predict", tmp_path / "k", tmp_path / "t.csv", "--keep", "id").stdout
    assert [line.split("\t")[0] for line in kept.splitlines()] == ["1", "2"]


def test_intervals_of_a_regression(run: Run, svm: Path, tmp_path: Path) -> None:
    model, export = tmp_path / "m", tmp_path / "e.json"
    run("train", svm, "--regression", "--model", model, "--export", export)
    learned = yarrow.load(model)
    text = run("predict", model, svm, "--interval", 0.8, "--header").stdout
    head, *lines = text.splitlines()
    assert head.split("\t") == ["prediction", "low", "high"]
    row = {int(i) - 1: float(v) for i, v in (c.split(":") for c in _first(svm).split()[1:])}
    expected = [learned.predict_one(row), *learned.predict_interval_one(row, 0.8)]
    assert [float(cell) for cell in lines[0].split("\t")] == pytest.approx(expected, rel=1e-6)
    others = run("predict", export, svm, "--interval", 0.8).stdout.splitlines()
    numbers = [[float(cell) for cell in line.split("\t")] for line in (lines[0], others[0])]
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-4)
    assert "between 0.5 and 0.99" in run("predict", model, svm, "--interval", 2, code=2).stderr
    run("train", svm, "--model", model)
    refused = run("predict", model, svm, "--interval", 0.8, code=2).stderr
    assert "YarrowClassifier predicts no intervals" in refused


def _first(path: Path) -> str:
    return path.read_text().splitlines()[0]


def test_strangers_are_told_once_and_a_name_taken_twice_is_refused(
    run: Run, tmp_path: Path
) -> None:
    table, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    table.write_text("km,y\n" + "".join(f"{1 + i % 7},{i % 7 > 3}\n" for i in range(40)))
    other.write_text("x,prediction\n1,2\n3,4\n")
    model = tmp_path / "m.yarrow"
    run("train", table, "--label", "y", "--model", model)
    said = run("predict", model, other)
    assert said.stdout.count("\n") == 2
    assert said.stderr.count("no feature of the rows is known to the model") == 1
    assert "they have 'x', 'prediction', and it knows 'km'." in said.stderr
    found = run("predict", model, other, "--keep", "prediction", "--header", code=2)
    assert "--keep prediction: the predictions have a column of this name" in found.stderr
    assert "no feature" in run("inspect", model, "--explain", '{"x": 1}').stderr
    assert "no feature" not in run("inspect", model, "--explain", '{"km": 1}').stderr
    assert "straight part (--explain has all)" in run("inspect", model).stdout


def test_what_is_said_of_intervals_names_the_option(run: Run, tmp_path: Path) -> None:
    table, model = tmp_path / "rows.csv", tmp_path / "m.yarrow"
    table.write_text("km,y\n" + "".join(f"{1 + i % 7},{i}\n" for i in range(60)))
    trained = run("train", table, "--label", "y", "--regression", "--model", model)
    assert "of a prediction is the last target" in trained.stderr
    found = run("predict", model, table, "--interval", "0.2", code=2)
    assert "--interval must be between 0.5 and 0.99, not 0.2" in found.stderr
    table.write_text("km,y\n" + "".join(f"{1 + i % 7},{3 * (1 + i % 7)}\n" for i in range(60)))
    trained = run("train", table, "--label", "y", "--regression", "--model", model)
    assert "last target" not in trained.stderr
