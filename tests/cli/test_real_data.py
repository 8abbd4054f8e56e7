"""The command line on real public data, found through the environment variable YARROW_DATA.

Errors are compared with those of predictors that need no model, so that a learner that learns
nothing fails here.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli.support import Run

DATA = os.environ.get("YARROW_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="YARROW_DATA does not name a folder of data sets")


def path(name: str) -> Path:
    found = Path(DATA or "") / name
    if not found.exists():
        pytest.skip(f"{name} is not in YARROW_DATA")
    return found


def evaluated(run: Run, *args: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("evaluate", *args, "--json").stdout)
    assert document["skipped"] == 0
    return document


def test_census_income(run: Run, tmp_path: Path) -> None:
    train, test = path("libsvm-classics/a9a.svm.gz"), path("libsvm-classics/a9a.t.svm.gz")
    result = run("train", train, "--model", tmp_path / "m", "--export", tmp_path / "e")
    assert result.stdout.startswith("32,561 rows, ")
    predicted = run("predict", tmp_path / "m", test)
    accuracy = float(predicted.stderr.split("accuracy ")[1].split(" %")[0])
    assert accuracy > 84.5  # logistic regression: 84.95
    assert run("predict", tmp_path / "e", test).stdout == predicted.stdout


def test_mushrooms_are_separable(run: Run) -> None:
    for learner in ("arow", "pa", "scw"):
        document = evaluated(run, path("libsvm-classics/mushrooms.svm.gz"), "--learner", learner)
        assert document["rows"] == 8124
        assert document["error"] < 0.02


def test_drifting_spam(run: Run) -> None:
    document = evaluated(run, path("spam-corpus-drift/spam-corpus.svm.gz"), "--learner", "cw")
    assert document["rows"] == 9324
    assert document["error"] < 0.08 < document["error_of_most_frequent_class"]


def test_electricity_from_a_table(run: Run) -> None:
    document = evaluated(run, path("electricity/elecNormNew.csv.gz"), "--label", "class")
    assert document["rows"] == 45312
    assert {c["class"]: c["rows"] for c in document["classes"]} == {"DOWN": 26075, "UP": 19237}
    assert document["error_of_last_label_repeated"] == pytest.approx(0.147, abs=0.001)
    assert document["error"] < 0.35


def test_short_messages_as_words(run: Run, tmp_path: Path) -> None:
    data = path("sms-spam/sms-spam.tsv.gz")
    options = ["--label", "label", "--text", "text", "--no-quotes", "--model", tmp_path / "m"]
    document = evaluated(run, data, *options)
    assert document["rows"] == 5574
    assert document["error"] < 0.035
    record = json.dumps({"text": "Free entry! Call now to claim your prize"})
    explained = json.loads(run("inspect", tmp_path / "m", "--explain", record, "--json").stdout)
    assert explained["label"] == "spam"
    assert {"text=free", "text=claim"} <= {part["feature"] for part in explained["contributions"]}


def test_zero_based_reviews(run: Run, tmp_path: Path) -> None:
    train = path("amazon-sentiment/msda5000-kitchen-train.svm.gz")
    test = path("amazon-sentiment/msda5000-kitchen-test.svm.gz")
    run("train", train, "--passes", 3, "--model", tmp_path / "m")
    about = json.loads(run("inspect", tmp_path / "m", "--json").stdout)
    assert about["stream"] == {"format": "svmlight", "index_base": 0}
    assert about["features"] <= 5000
    predicted = run("predict", tmp_path / "m", test)
    assert float(predicted.stderr.split("accuracy ")[1].split(" %")[0]) > 83


@pytest.mark.slow
def test_intrusions_with_growing_classes_and_no_header(run: Run) -> None:
    document = evaluated(run, path("kddcup99/corrected.csv.xz"), "--no-header", "--label", "42")
    assert document["rows"] == 311029
    assert len(document["classes"]) == 38
    assert document["error"] < 0.05
