"""Learners that are not of the core on the command line: with kernels, experts, and wrappers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.support import CSV, Run, rows_of_text
from online.test_late_labels import by_blocks, row_by_row, svm_rows

import yarrow
from yarrow.base.linear import LinearModel
from yarrow.online import file_batches
from yarrow.saving.registry import learners, short_name

NAMES = [name for name, cls in learners().items() if not issubclass(cls, LinearModel)]


def made(name: str) -> Any:
    return learners()[name]()


def test_they_are_all_there() -> None:
    assert {"hedge", "fixedshare-regressor", "kernelperceptron", "selective"} <= set(NAMES)
    assert not {"banditron", "latelabels", "ticket"} & set(NAMES)


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("name", NAMES)
def test_blocks_say_what_row_by_row_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, delay: int
) -> None:
    monkeypatch.setattr(file_batches, "BLOCK_BYTES", 600)
    lines = rows_of_text(90)
    path = tmp_path / "rows.svm"
    path.write_text("".join(lines))
    rows = svm_rows(lines, float if name.endswith("regressor") else int)
    expected, _ = row_by_row(made(name), rows, delay, "predictions")
    found, _, last = by_blocks(made(name), path, delay, "predictions")
    if name.endswith("regressor"):
        assert found == pytest.approx(expected, rel=1e-9)
    else:
        assert found == expected
    assert last.rows == 90


@pytest.mark.parametrize("name", NAMES)
def test_they_are_trained_go_on_and_predict(run: Run, tmp_path: Path, name: str) -> None:
    lines = rows_of_text(120)
    whole, first, rest = (tmp_path / part for part in ("w.svm", "a.svm", "b.svm"))
    for path, part in ((whole, lines), (first, lines[:50]), (rest, lines[50:])):
        path.write_text("".join(part))
    told = run("train", whole, "--learner", name, "--model", tmp_path / "whole").stdout
    assert told.startswith("120 rows, ")
    run("train", first, "--learner", name, "--model", tmp_path / "m")
    run("train", rest, "--resume", tmp_path / "m", "--model", tmp_path / "m")
    one, other = (run("predict", tmp_path / file, whole).stdout for file in ("whole", "m"))
    assert one == other
    model = made(name)
    rows = svm_rows(lines, float if name.endswith("regressor") else int)
    for row in rows:
        model.learn_one(*row)
    expected = [model.predict_one(features) for features, _, _ in rows]
    assert list(map(float, one.split())) == pytest.approx(expected, rel=1e-9)
    loaded = yarrow.load(tmp_path / "m")
    assert type(loaded) is type(model)
    assert loaded.t_ == model.t_


def test_experts_are_named_with_their_settings(run: Run, svm: Path, tmp_path: Path) -> None:
    given = ("--learner", "hedge", "--experts", "arow:r=0.5,pa:C=0.1:variant=pa2", "--eta", 0.3)
    run("train", svm, *given, "--model", tmp_path / "m")
    model = yarrow.load(tmp_path / "m")
    first, second = map(repr, model.learners)
    assert first == "AROWClassifier(r=0.5)"
    assert second == "PassiveAggressiveClassifier(C=0.1, variant='pa2')"
    assert model.eta == 0.3
    document = json.loads(run("evaluate", svm, *given, "--json").stdout)
    wrong = 0
    fresh = model.clone()
    for features, label, _ in svm_rows(svm.read_text().splitlines(), int):
        wrong += fresh.predict_one(features) != label
        fresh.learn_one(features, label)
    assert document["error"] == wrong / 400
    inner = ("--learner", "onlinetobatch", "--inner", "arow:r=2")
    run("train", svm, *inner, "--model", tmp_path / "m")
    assert repr(yarrow.load(tmp_path / "m").learner) == "AROWClassifier(r=2.0)"


def test_tables_are_read_as_in_training(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "mail.csv"
    table.write_text(CSV)
    options = ("--label", "label", "--text", "text", "--category", "town")
    for name in ("hedge", "kernelperceptron"):
        run("train", table, *options, "--learner", name, "--passes", 3, "--model", tmp_path / "m")
        (tmp_path / "new.csv").write_text("age,town,text\n30,Oslo,cheap pills\n41,Rome,lunch\n")
        assert run("predict", tmp_path / "m", tmp_path / "new.csv").stdout == "spam\nham\n"
        shown = run("predict", tmp_path / "m", table, "--label", "label")
        assert "6 rows predicted" in shown.stderr


def test_scores_and_probabilities_where_there_are_any(run: Run, svm: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    run("train", svm, "--learner", "kernelperceptron", "--budget", 20, "--model", model)
    kernel = yarrow.load(model)
    rows = [features for features, _, _ in svm_rows(svm.read_text().splitlines(), int)]
    lines = run("predict", model, svm, "--scores", "--header").stdout.splitlines()
    assert lines[0] == "prediction\t-1\t1"
    for line, row in zip(lines[1:20], rows, strict=False):
        chosen, *scores = map(float, line.split())
        assert chosen == kernel.predict_one(row) == (1 if scores[1] > scores[0] else -1)
    run("train", svm, "--learner", "mixture", "--model", model)
    likely = run("predict", model, svm, "--proba").stdout.splitlines()[0].split()[1:]
    expected = yarrow.load(model).predict_proba_one(rows[0])
    assert [float(p) for p in likely] == pytest.approx([expected[-1], expected[1]])
    auc = run("evaluate", svm, "--learner", "kernelpa", "--metrics", "roc_auc", "--json").stdout
    assert 0.6 < json.loads(auc)["metrics"]["ROC AUC"] <= 1


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("--learner", "banditron"), "learns from right or wrong alone"),
        (("--learner", "hegde"), "did you mean hedge"),
        (("--learner", "hedge", "--experts", "arow:q=1"), "--set takes NAME=VALUE"),
        (("--learner", "hedge", "--experts", "arrow"), "There is no learner 'arrow'"),
        (("--learner", "hedge", "--experts", "arow,pa-regressor"), "is not for classes"),
        (("--learner", "hedge", "--r", "1"), "HedgeClassifier has no option --r; it has --experts"),
        (("--learner", "kernelpa", "--kernel", "rbg"), "The 'kernel' parameter must be one of"),
        (("--learner", "hedge", "--export", "e.json"), "has no weights to export: use --model"),
    ],
)
def test_what_cannot_be_gets_a_sentence(run: Run, svm: Path, args: Any, sentence: str) -> None:
    assert sentence in run("train", svm, *args, "--model", svm.parent / "m", code=2).stderr


def test_metrics_and_looks_that_they_do_not_have(run: Run, svm: Path, tmp_path: Path) -> None:
    hedge = ("evaluate", svm, "--learner", "hedge", "--metrics")
    assert "HedgeClassifier has no scores" in run(*hedge, "roc_auc", code=2).stderr
    assert "HedgeClassifier has no probabilities" in run(*hedge, "log_loss", code=2).stderr
    run("train", svm, "--learner", "hedge", "--model", tmp_path / "m")
    assert "HedgeClassifier has no scores" in (
        run("predict", tmp_path / "m", svm, "--scores", code=2).stderr
    )
    assert "HedgeClassifier, which has no weights" in run("inspect", tmp_path / "m", code=2).stderr


def test_kernels_are_compared_when_they_are_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("".join(rows_of_text(60)))
    args = ("compare", path, "--json", "-", "--quiet")
    found = json.loads(run(*args, "--learners", "kernel").stdout)["outcomes"]
    kernels = {one["learner"] for one in found if one["family"] == "kernel"}
    assert kernels == {cls.__name__ for cls in learners().values() if cls.family == "kernel"}
    assert not [one for one in found if one.get("failure")]
    plain = json.loads(run(*args, "--learners", "arow").stdout)["outcomes"]
    assert "kernel" not in {one["family"] for one in plain}


def test_short_names_are_of_one_learner_each() -> None:
    classes = [cls.__name__ for cls in learners().values()]
    assert len({short_name(name) for name in classes}) == len(classes)
