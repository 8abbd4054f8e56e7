"""Rows that commands bring to one scale, and a model that keeps how."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.support import Run

import yarrow
from yarrow.composite import ScaledClassifier
from yarrow.features import OnlineStandardScaler, RowNormalizer


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Columns in units that differ by seven orders of magnitude, missing cells and categories."""
    draw = random.Random(1)
    path = tmp_path / "rows.csv"
    with path.open("w") as file:
        file.write("label,meters,grams,town\n")
        for i in range(300):
            meters, grams = draw.gauss(0, 0.001), draw.gauss(0, 5000)
            label = "yes" if meters * 1000 + grams / 5000 > 0 else "no"
            shown = "" if i % 17 == 5 else repr(meters)
            file.write(f"{label},{shown},{grams!r},{draw.choice(['Oslo', 'Bern'])}\n")
    return path


def records(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def features(record: dict[str, str]) -> dict[str, float]:
    row = {name: float(record[name]) for name in ("meters", "grams") if record[name]}
    return row | {f"town={record['town']}": 1.0}


OPTIONS = ("--label", "label", "--learner", "pa")


@pytest.mark.parametrize(
    "flags", [("--scale",), ("--normalize",), ("--scale", "--normalize")], ids=" ".join
)
def test_the_model_of_a_command_is_that_of_rows_scaled_one_by_one(run: Run, table, tmp_path, flags):
    """By the components of `yarrow.features`, which are tested against textbooks."""
    run("train", table, *OPTIONS, *flags, "--model", tmp_path / "m")
    scaler, norm = OnlineStandardScaler(), RowNormalizer()
    learner = yarrow.PassiveAggressiveClassifier()
    for record in records(table):
        row: Any = features(record)
        if "--scale" in flags:
            scaler.learn_one(row)
            row = scaler.transform_one(row)
        learner.learn_one(norm.transform_one(row) if "--normalize" in flags else row,
                          record["label"])  # fmt: skip
    (inside,) = yarrow.load(tmp_path / "m").learners_
    assert dict(zip(inside.feature_names_, inside.coef_[0].tolist(), strict=True)) == dict(
        zip(learner.feature_names_, learner.coef_[0].tolist(), strict=True)
    )
    assert inside.intercept_ == learner.intercept_


def test_raw_rows_are_predicted_alike_by_every_route(run: Run, table, tmp_path):
    run("train", table, *OPTIONS, "--scale", "--normalize", "--model", tmp_path / "m")
    said = run("predict", tmp_path / "m", table).stdout.split()
    model = yarrow.load(tmp_path / "m")
    raw = [{k: v for k, v in one.items() if k != "label"} for one in records(table)]
    assert [model.predict_one(row) for row in raw] == said
    frame = pd.read_csv(table).drop(columns="label")
    assert model.predict(frame).tolist() == said
    assert model.predict_many(frame).tolist() == said
    assert model.predict(raw).tolist() == said
    assert len(set(said)) == 2
    with pytest.raises(yarrow.YarrowError, match="columns"):
        model.predict(np.ones((2, 3)))


def test_halves_with_a_file_between_are_the_whole(run: Run, table, tmp_path):
    header, *lines = table.read_text().splitlines(keepends=True)
    for name, part in (("a.csv", lines[:120]), ("b.csv", lines[120:])):
        (tmp_path / name).write_text(header + "".join(part))
    whole, halves, model = (tmp_path / name for name in ("whole", "halves", "m"))
    run("train", tmp_path / "a.csv", tmp_path / "b.csv", *OPTIONS, "--scale", "--model", whole)
    run("train", tmp_path / "a.csv", *OPTIONS, "--scale", "--model", model)
    run("train", tmp_path / "b.csv", "--resume", model, "--model", halves)
    assert whole.read_bytes() == halves.read_bytes()


def test_scaling_makes_the_units_of_columns_no_matter(run: Run, table):
    def error(*flags: str) -> float:
        return float(json.loads(run("evaluate", table, *OPTIONS, *flags, "--json").stdout)["error"])

    assert error("--scale") < 0.15 < 0.3 < error()


def test_comparing_and_tuning_scale_as_training_does(run: Run, table, tmp_path):
    flags = ("--label", "label", "--scale", "--quiet")
    evaluated = json.loads(run("evaluate", table, *OPTIONS, "--scale", "--json").stdout)
    compared = run("compare", table, "--learners", "pa", *flags, "--json", "-").stdout
    found = json.loads(compared)
    name = "PassiveAggressiveClassifier(C=1.0, variant='pa1')"
    usual = next(one for one in found["outcomes"] if one["name"] == name)
    assert usual["mistakes"] == round(300 * evaluated["error"])
    assert " --scale " in found["recommendation"]["command"]
    python = found["recommendation"]["python"].removeprefix("model = ").removesuffix(".fit(X, y)")
    assert isinstance(eval(python), ScaledClassifier)
    run("tune", table, "--learner", "pa", *flags, "--model", tmp_path / "tuned")
    best = yarrow.load(tmp_path / "tuned").learner
    settings = [f"--set={name}={getattr(best, name)}" for name in ("C", "variant")]
    run("train", table, *OPTIONS, "--scale", *settings, "--model", tmp_path / "trained")
    assert (tmp_path / "trained").read_bytes() == (tmp_path / "tuned").read_bytes()


def test_probabilities_and_scores_are_judged_as_they_come(run: Run, table):
    flags = ("--label", "label", "--learner", "arow", "--scale", "--json")
    found = json.loads(run("evaluate", table, *flags, "--metrics", "log_loss,roc_auc").stdout)
    assert found["metrics"]["log loss"] < 0.4
    assert found["metrics"]["ROC AUC"] > 0.9


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("train", "--export", "m.json"), "ScaledClassifier has no weights to export"),
        (("train", "--learner", "oneclass-pa", "--model", "m"), "cannot be scaled while it learns"),
        (("train", "--learner", "pa-ranker", "--model", "m"), "cannot be scaled while it learns"),
        (("train", "--resume", "m", "--model", "m"), "cannot be used with --resume"),
    ],
)
def test_what_cannot_be_is_said(run: Run, table, tmp_path, monkeypatch, command, words):
    monkeypatch.chdir(tmp_path)
    verb, *rest = command
    run("train", table, *OPTIONS, "--model", "m")
    done = run(verb, table, "--label", "label", "--scale", *rest, code=2)
    assert words in done.stderr
