"""Options that name a class which never comes, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.support import Run

import yarrow
from yarrow import AROWClassifier, Perceptron
from yarrow.errors import ParameterError

ROWS = "spam 1:1\nham 2:1\nspam 1:1 3:1\nham 2:1 4:1\n"
X, Y = np.eye(4), np.array(["spam", "ham", "spam", "ham"])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "rows.svm").write_text(ROWS)
    return tmp_path / "rows.svm"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--class-weight", "spma=5"], "--class-weight: 'spma' did not occur"),
        (["--class-weight", "spma=5,ham=2,egg=1"], "--class-weight: 'spma', 'egg' did not occur"),
        (
            ["--learner", "arow", "--multiclass", "top1", "--cost", "spma:ham=5"],
            "--cost: 'spma' did not occur",
        ),
        (
            ["--learner", "arow", "--multiclass", "top1", "--cost", "ham:spma=5"],
            "--cost: 'spma' did not occur",
        ),
    ],
)
@pytest.mark.parametrize("quiet", [True, False])
def test_a_class_that_never_came_is_told(
    run: Run, data: Path, options: Any, says: str, quiet: bool
) -> None:
    more = ["--quiet"] if quiet else []
    told = run("train", data, *options, *more, "--model", data.parent / "m").stderr
    assert says + "; the classes are 'ham', 'spam'." in told
    assert says in run("evaluate", data, *options, *more).stderr
    resumed = run("train", data, "--resume", data.parent / "m", "--model", data.parent / "n")
    assert says in resumed.stderr


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--class-weight", "spam=5"],
        ["--class-weight", "spam=5,ham=2", "--classes", "ham,spam,egg"],
        ["--learner", "arow", "--multiclass", "top1", "--cost", "spam:ham=5"],
        ["--learner", "pa-regressor"],
        ["--learner", "hedge"],
    ],
)
def test_nothing_is_said_of_classes_that_came(run: Run, tmp_path: Path, options: Any) -> None:
    rows = ROWS.replace("spam", "1").replace("ham", "2") if "pa-regressor" in options else ROWS
    (tmp_path / "rows.svm").write_text(rows)
    told = run("train", tmp_path / "rows.svm", *options, "--quiet", "--model", tmp_path / "m")
    assert told.stderr == ""


def test_a_class_that_comes_later_is_waited_for(run: Run, data: Path) -> None:
    (data.parent / "later.svm").write_text("egg 3:1\n")
    weighted = ["--class-weight", "egg=3", "--quiet", "--model", data.parent / "m"]
    assert "'egg' did not occur" in run("train", data, *weighted).stderr
    assert run("train", data, data.parent / "later.svm", *weighted).stderr == ""


def test_the_positive_class_that_never_came_is_told(run: Run, data: Path) -> None:
    told = run("evaluate", data, "--metrics", "f1", "--positive", "spma").stderr
    assert "--positive: 'spma' did not occur; the classes are 'spam', 'ham'." in told
    assert run("evaluate", data, "--metrics", "f1", "--positive", "spam").stderr == ""


def test_declared_classes_refuse_another_at_once(run: Run, data: Path) -> None:
    options = ["--class-weight", "spma=5", "--classes", "ham,spam", "--model", data.parent / "m"]
    says = "The 'class_weight' names 'spma', but the classes are 'ham', 'spam'."
    assert says in run("train", data, *options, code=2).stderr


@pytest.mark.parametrize("setting", [{"class_weight": {"spma": 5}}, {"cost": {("spma", "ham"): 2}}])
def test_fit_refuses_what_scikit_learn_refuses(setting: dict[str, Any]) -> None:
    model = AROWClassifier(multiclass="top1", **setting)
    with pytest.raises(ValueError, match=r"names 'spma', but the classes are 'ham', 'spam'\."):
        model.fit(X, Y)
    assert not model.__sklearn_is_fitted__()
    with pytest.raises(ParameterError, match="names 'spma'"):
        model.partial_fit(X, Y, classes=["ham", "spam"])
    model.partial_fit(X, Y)  # others may come
    model.learn_one({0: 1.0}, "spma")
    assert model.classes_.tolist() == ["ham", "spam", "spma"]


def test_a_fold_without_a_class_is_learned() -> None:
    """As in scikit-learn: all classes that are there have a weight."""
    weights = {"ham": 1, "spam": 2, "rare": 9}
    assert Perceptron(class_weight=weights).fit(X, Y).t_ == 20
    assert Perceptron(class_weight={"spam": 2}).fit(X, Y).t_ == 20
    assert Perceptron(class_weight={1: 2}).fit(X, Y == "spam").t_ == 20
    assert yarrow.Perceptron(class_weight="balanced").fit(X, Y).t_ == 20
