"""`yarrow evaluate` with further metrics, windows, fading rows and late labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as reference
from cli.support import CSV, Run, by_name, rows_of_text

import yarrow
from yarrow import linear_model


def told(model: Any, lines: list[str], delay: int = 0) -> tuple[Any, Any, Any]:
    """Labels, predictions and scores of the class 1, row by row in Python."""
    rows = []
    for line in lines:
        label, *cells = line.split()
        pairs = (cell.split(":") for cell in cells)
        rows.append(({int(i) - 1: float(v) for i, v in pairs}, int(label)))
    predictions, scores = [], []
    for t in range(len(rows) + delay):
        if t < len(rows):
            predictions.append(model.predict_one(rows[t][0]))
            known = [] if predictions[-1] is None else model._fitted.classes
            if 1 in known and len(known) > 1:
                found = model._fitted.score_one(rows[t][0])[0]
                scores.append(found[known.index(1)])
            else:
                scores.append(np.nan)
        if t >= delay:
            model.learn_one(*rows[t - delay])
    return np.array([label for _, label in rows]), np.array(predictions, object), np.array(scores)


@pytest.mark.parametrize("delay", [0, 1, 25, 1000])
def test_metrics_are_those_of_the_predictions(run: Run, svm: Path, delay: int) -> None:
    y, p, s = told(yarrow.YarrowClassifier(), svm.read_text().splitlines(), delay)
    asked = "error,accuracy,f1,f1_macro,roc_auc"
    document = json.loads(
        run("evaluate", svm, "--metrics", asked, "--delay", delay, "--json").stdout
    )
    wrong = p != y
    found = document["metrics"]
    assert found["error"] == document["error"] == pytest.approx(np.mean(wrong))
    assert document.get("delay", 0) == delay
    told_at_all = np.array([0 if guess is None else guess for guess in p])
    if delay < 1000:
        assert found["F1"] == pytest.approx(
            reference.f1_score(y, told_at_all, labels=[1], average=None)[0]
        )
        there = ~np.isnan(s)
        assert found["ROC AUC"] == pytest.approx(reference.roc_auc_score(y[there], s[there]))
    else:
        assert (found["F1"], found["ROC AUC"]) == (0, None)
    for point in document["checkpoints"]:
        assert point["error"] == pytest.approx(np.mean(wrong[: point["rows"]]))
        assert point["metrics"]["error"] == pytest.approx(point["error"])


def test_windows_and_fading_rows(run: Run, svm: Path) -> None:
    y, p, _ = told(yarrow.YarrowClassifier(), svm.read_text().splitlines())
    wrong = (p != y).astype(float)
    document = json.loads(run("evaluate", svm, "--window", 30, "--fading", 0.9, "--json").stdout)
    assert list(document["metrics"]) == ["error of the last 30 rows", "error, fading by 0.9"]
    for point in [*document["checkpoints"], document | {"rows": 400}]:
        n = point["rows"]
        windowed, faded = point["metrics"].values()
        assert windowed == pytest.approx(wrong[max(0, n - 30) : n].mean())
        assert faded == pytest.approx(np.average(wrong[:n], weights=0.9 ** np.arange(n)[::-1]))


def test_the_table_has_the_metrics_in_place_of_the_row(run: Run, svm: Path) -> None:
    text = run("evaluate", svm, "--metrics", "balanced_accuracy", "--window", 100).stdout
    lines = text.splitlines()
    assert lines[0].split() == ["error", "error", "balanced", "accuracy", "balanced", "accuracy"]
    assert lines[1].split() == ["so", "far", "since", "last", "rows", "so", "far", "last", "100"]
    assert len({len(line) for line in lines[:5]}) == 1
    assert lines[-2].startswith("balanced accuracy 0.")
    assert lines[-1].startswith("balanced accuracy of the last 100 rows 0.")
    assert "labels were delayed by 5 rows" in run("evaluate", svm, "--delay", 5).stdout


def test_probabilities_are_scored(run: Run, svm: Path) -> None:
    document = json.loads(run("evaluate", svm, "--metrics", "log_loss", "--json").stdout)
    model, losses = yarrow.YarrowClassifier(), []
    for line in svm.read_text().splitlines():
        label, *cells = line.split()
        row = {int(i) - 1: float(v) for i, v in (cell.split(":") for cell in cells)}
        likely = model.predict_proba_one(row)
        if len(likely) > 1:
            losses.append(-np.log(max(likely.get(int(label), 0.0), 1e-15)))
        model.learn_one(row, int(label))
    assert document["metrics"]["log loss"] == pytest.approx(np.mean(losses), rel=1e-6)
    result = run("evaluate", svm, "--learner", "perceptron", "--metrics", "log_loss", code=2)
    assert "Perceptron has no probabilities" in result.stderr


def test_late_labels_end_in_the_same_model(run: Run, svm: Path, tmp_path: Path) -> None:
    run("train", svm, "--model", tmp_path / "a")
    run("evaluate", svm, "--delay", 7, "--model", tmp_path / "b")
    one, other = linear_model.load(tmp_path / "a"), linear_model.load(tmp_path / "b")
    assert by_name(one) == by_name(other)
    assert run("predict", tmp_path / "b", svm).stdout == run("predict", tmp_path / "a", svm).stdout


def test_tables_and_several_files_with_late_labels(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text(CSV)
    options = ("--label", "label", "--text", "text", "--category", "town", "--json")
    fast = json.loads(run("evaluate", table, *options).stdout)
    slow = json.loads(run("evaluate", table, *options, "--metrics", "roc_auc").stdout)
    for name in ("error", "classes", "confusion", "nonzero_weights", "rows"):
        assert fast[name] == slow[name]
    late = json.loads(run("evaluate", table, table, *options, "--delay", 6).stdout)
    assert late["rows"] == 12
    # The first six rows are late enough to be predicted by nobody, and known to the other six.
    assert [count for _, guess, count in late["confusion"] if guess is None] == [4, 3]
    assert late["checkpoints"][-1]["rows"] == 8


def test_a_regression_with_late_values(run: Run, svm: Path) -> None:
    settings = ("--learner", "pa-regressor", "--json")
    fast = json.loads(run("evaluate", svm, *settings, "--metrics", "mae,r2").stdout)
    assert fast["metrics"]["MAE"] == fast["mae"]
    assert fast["metrics"]["R2"] == fast["r2"]
    late = json.loads(run("evaluate", svm, *settings, "--delay", 3).stdout)
    assert late["rows"] == 400
    assert late["checkpoints"][1]["rmse"] == 1  # nothing is known: 0 is said, and values are +-1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--metrics", "auc"), "The metrics are error, accuracy"),
        (("--metrics", "rmse"), "RMSE is a metric of the values of a regression, not of classes"),
        (("--learner", "pa-regressor", "--metrics", "f1"), "F1 is a metric of classes, not of the"),
        (("--window", "0"), "0 is not in the range"),
        (("--fading", "1"), "1.0 is not in the range"),
        (("--delay", "-1"), "-1 is not in the range"),
    ],
)
def test_bad_options_get_a_sentence(run: Run, svm: Path, options: Any, sentence: str) -> None:
    assert sentence in run("evaluate", svm, *options, code=2).stderr


def test_f1_of_many_classes_asks_which(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("".join(rows_of_text(100, 0, ("a", "b", "c"))))
    assert "positive" in run("evaluate", path, "--metrics", "f1", "--json", code=2).stderr
    document = json.loads(
        run("evaluate", path, "--metrics", "f1,roc_auc", "--positive", "b", "--json").stdout
    )
    assert document["metrics"]["F1"] > 0.5
    assert document["metrics"]["ROC AUC"] > 0.8


def test_broken_rows_are_skipped_or_refused_on_this_way_too(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n1 1:x\n-1 2:1\n1 1:1\n")
    assert "line 2" in run("evaluate", path, "--delay", 1, code=2).stderr
    result = run("evaluate", path, "--delay", 1, "--on-error", "skip", "--json")
    assert json.loads(result.stdout)["skipped"] == 1
    assert json.loads(result.stdout)["rows"] == 3
    assert result.stderr.startswith("1 row skipped; the first:\n")
    (tmp_path / "none.svm").write_text("")
    assert "no row to learn" in run("evaluate", tmp_path / "none.svm", "--delay", 1, code=2).stderr


def test_rows_that_a_metric_leaves_out_are_told(run: Run, tmp_path: Path) -> None:
    """Of one class alone there is not a probability; one that comes later counts as 1e-15."""
    path = tmp_path / "rows.csv"
    lines = [f"{i % 2},{'ab'[i % 2] if i != 90 else 'c'}\n" for i in range(100)]
    path.write_text("x,y\n" + "".join(lines))
    asked = "evaluate", path, "--label", "y", "--metrics", "log_loss"
    said = run(*asked).stdout
    assert "(2 rows left out, before two classes were known)" in said
    assert json.loads(run(*asked, "--json").stdout)["metrics"]["log loss"] > 34.5 / 98
