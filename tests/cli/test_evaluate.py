"""`yarrow evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.support import Run, rows_of_text

import yarrow
from yarrow.cli.results import Residuals


def progressive(model: Any, lines: list[str], kind: type) -> tuple[list[Any], list[Any]]:
    """Labels and predictions, each made before its row was learned, row by row in Python."""
    labels, predictions = [], []
    for line in lines:
        label, *cells = line.split()
        row = {int(i) - 1: float(v) for i, v in (cell.split(":") for cell in cells)}
        labels.append(kind(label))
        predictions.append(model.predict_one(row))
        model.learn_one(row, kind(label))
    return labels, predictions


def test_each_row_is_predicted_before_it_is_learned(run: Run, svm: Path, tmp_path: Path) -> None:
    lines = svm.read_text().splitlines()
    labels, predictions = progressive(yarrow.AROWClassifier(r=0.5), lines, int)
    wrong = [a != b for a, b in zip(labels, predictions, strict=True)]
    document = json.loads(run("evaluate", svm, "--learner", "arow", "--r", 0.5, "--json").stdout)
    assert document["rows"] == 400
    assert document["error"] == pytest.approx(np.mean(wrong))
    assert document["accuracy"] == pytest.approx(1 - np.mean(wrong))
    recalls = [
        np.mean([p == c for y, p in zip(labels, predictions, strict=True) if y == c])
        for c in (-1, 1)
    ]
    assert document["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert [c["recall"] for c in document["classes"]] == pytest.approx(recalls)
    repeated = [b != a for a, b in zip([None, *labels], labels, strict=False)]
    assert document["error_of_last_label_repeated"] == pytest.approx(np.mean(repeated))
    most = max(labels.count(-1), labels.count(1))
    assert document["error_of_most_frequent_class"] == pytest.approx(1 - most / 400)
    assert sum(count for _, _, count in document["confusion"]) == 400
    assert document["parameters"]["r"] == 0.5
    for point in document["checkpoints"]:
        n = point["rows"]
        assert point["error"] == pytest.approx(np.mean(wrong[:n]))
        assert point["since_last"] == pytest.approx(np.mean(wrong[n // 2 : n]))
        assert (point["label"], point["prediction"]) == (labels[n - 1], predictions[n - 1])
        assert point["features"] == len(lines[n - 1].split()) - 1
    assert [p["rows"] for p in document["checkpoints"]] == [2**i for i in range(9)]


def test_the_target_before_a_row_may_be_of_an_earlier_batch() -> None:
    y, whole, parts = np.array([1.0, 4.0, 2.0, 8.0]), Residuals(), Residuals()
    whole.add(y, y)
    for part in (y[:1], y[1:1], y[1:3], y[3:]):
        parts.add(part, part)
    assert parts.summary() == whole.summary()
    assert whole.summary()["rmse_of_last_target_repeated"] == pytest.approx(np.sqrt(49 / 3))


def test_a_regression_is_scored_by_its_residuals(run: Run, svm: Path) -> None:
    lines = svm.read_text().splitlines()
    y, p = map(np.array, progressive(yarrow.PassiveAggressiveRegressor(), lines, float))
    document = json.loads(run("evaluate", svm, "--learner", "pa-regressor", "--json").stdout)
    assert document["rmse"] == pytest.approx(np.sqrt(np.mean((y - p) ** 2)))
    assert document["mae"] == pytest.approx(np.mean(np.abs(y - p)))
    assert document["r2"] == pytest.approx(1 - np.sum((y - p) ** 2) / np.sum((y - y.mean()) ** 2))
    repeated = np.sqrt(np.mean(np.diff(y) ** 2))
    assert document["rmse_of_last_target_repeated"] == pytest.approx(repeated)
    point = document["checkpoints"][5]
    assert point["rmse"] == pytest.approx(np.sqrt(np.mean((y - p)[:32] ** 2)))
    assert point["since_last"] == pytest.approx(np.sqrt(np.mean((y - p)[16:32] ** 2)))
    text = run("evaluate", svm, "--learner", "pa-regressor").stdout
    assert f"RMSE {document['rmse']:.6g}, MAE {document['mae']:.6g}" in text
    assert f", of repeating the last target {repeated:.6g}\n" in text


def test_the_table_fits_a_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("".join(rows_of_text(70, 0, ("a", "a_class_with_a_long_name"))))
    lines = run("evaluate", path).stdout.splitlines()
    assert lines[1].split() == [
        "so",
        "far",
        "since",
        "last",
        "rows",
        "label",
        "prediction",
        "features",
    ]
    table = lines[2 : lines.index("")]
    assert [int(line.split()[2]) for line in table] == [1, 2, 4, 8, 16, 32, 64]
    assert {len(line) for line in table} == {76}
    assert table[0].split()[4] == "-"  # no class is known yet
    assert "a_class_wit…" in table[-1] + table[-2] + table[-3]
    assert lines[lines.index("") + 1] == "YarrowClassifier()"
    assert lines[lines.index("") + 2].startswith("70 rows in ")
    assert run("evaluate", path, "--quiet").stdout.startswith("YarrowClassifier()\n70 rows in ")


def test_the_model_may_be_kept_and_gone_on_with(run: Run, tmp_path: Path) -> None:
    lines = rows_of_text(300)
    whole, first, rest = (tmp_path / name for name in ("w.svm", "a.svm", "b.svm"))
    for path, part in ((whole, lines), (first, lines[:100]), (rest, lines[100:])):
        path.write_text("".join(part))
    run("evaluate", whole, "--model", tmp_path / "whole")
    run("train", whole, "--model", tmp_path / "trained")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "trained").read_bytes()
    run("evaluate", first, "--model", tmp_path / "m")
    document = json.loads(
        run(
            "evaluate", rest, "--resume", tmp_path / "m", "--model", tmp_path / "m", "--json"
        ).stdout
    )
    assert document["rows"] == 200
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_several_files_are_one_stream(run: Run, svm: Path, tmp_path: Path) -> None:
    lines = svm.read_text().splitlines(keepends=True)
    parts = [tmp_path / "a.svm", tmp_path / "b.svm"]
    parts[0].write_text("".join(lines[:37]))
    parts[1].write_text("".join(lines[37:]))
    one = json.loads(run("evaluate", svm, "--json").stdout)
    two = json.loads(run("evaluate", *parts, "--json").stdout)
    assert one | {"seconds": 0} == two | {"seconds": 0}


def test_many_classes_have_no_line_each(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("".join(rows_of_text(100, 0, tuple("abcdefghijklmn"))))
    assert "precision" not in run("evaluate", path).stdout
    assert len(json.loads(run("evaluate", path, "--json").stdout)["classes"]) == 14


def test_skipped_rows_are_counted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n1 1:x\n-1 2:1\n")
    assert "line 2" in run("evaluate", path, code=2).stderr
    result = run("evaluate", path, "--on-error", "skip", "--json")
    assert json.loads(result.stdout)["skipped"] == 1
    assert result.stderr.startswith("1 row skipped; the first:\n")


def separable_rows(n: int) -> list[str]:
    """Lines whose first feature tells the class with a margin."""
    random = np.random.default_rng(5)
    X = np.round(random.normal(size=(n, 3)), 3)
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    return [
        f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n"
        for x, label in zip(X, y, strict=True)
    ]


def test_a_run_prints_its_certificate(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("".join(separable_rows(200)))
    args = ("evaluate", path, "--learner", "perceptron", "--dtype", "float64", "--certificate")
    shown = run(*args).stdout
    lines = shown.split("Perceptron on 200 rows of 3 features\n")[1].splitlines()
    names = [line.split()[0] for line in lines]
    assert names[:4] == ["theorem", "mistakes", "bound", "slack"]
    assert "[yes]" in shown
    assert "[NO]" not in shown
    document = json.loads(run(*args, "--json").stdout)
    found = document["certificate"]
    assert found["applies"]
    assert found["slack"] == pytest.approx(found["bound"] - found["mistakes"])
    # Theorems count no row as wrong because its class was new, but every margin of exactly 0.
    assert abs(found["mistakes"] - 200 * document["error"]) <= 2
    assert "certificate" not in json.loads(run(*args[:-1], "--json").stdout)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--learner", "pa"], "there is no theorem for PassiveAggressiveClassifier"),
        (["--learner", "normconstrainedpa", "--beta", "2"], "which would take"),
    ],
)
def test_a_run_without_a_certificate_says_why(
    run: Run, svm: Path, args: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yarrow.cli.evaluate.MOST_NUMBERS", 10_000)
    shown = run("evaluate", svm, *args, "--certificate").stdout
    assert "no certificate: " in shown
    assert reason in shown.splitlines()[-1]


def test_why_there_is_no_certificate(run: Run, svm: Path, tmp_path: Path) -> None:
    learner = ["--learner", "perceptron"]
    piped = run("evaluate", "-", *learner, "--certificate", stdin=svm.read_text()).stdout
    assert "- cannot be read a second time" in piped
    run("train", svm, *learner, "--model", tmp_path / "m")
    resumed = run("evaluate", svm, "--resume", tmp_path / "m", "--certificate").stdout
    assert "not one that was resumed" in resumed
    many = tmp_path / "many.svm"
    many.write_text("".join(rows_of_text(60, classes=("a", "b", "c"))))
    assert (
        "One-versus-rest over 3 classes" in run("evaluate", many, *learner, "--certificate").stdout
    )
    weighted = tmp_path / "w.vw"
    weighted.write_text("1 2.0 | a\n-1 | b\n")
    assert "rows have weights" in run("evaluate", weighted, *learner, "--certificate").stdout
