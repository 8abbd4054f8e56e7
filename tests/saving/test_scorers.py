"""The scorers of exports, in plain Python and in JavaScript, say what the model says."""

from __future__ import annotations

import ast
import csv
import gzip
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import yarrow
from yarrow.errors import ModelFileError
from yarrow.saving import export_file
from yarrow.saving.scorer import Scorer

FOLDER = Path(yarrow.__file__).parent / "saving"
DATA = os.environ.get("YARROW_DATA")
NODE = shutil.which("node")
needs_data = pytest.mark.skipif(not DATA, reason="YARROW_DATA does not name a folder of data sets")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node")

#: reads {model, rows, coverage} and answers as `answers` does
RUN_NODE = """
import { readFileSync } from "node:fs";
const { Scorer } = await import(process.argv[1]);
const { model, rows, coverage } = JSON.parse(readFileSync(0, "utf8"));
const scorer = new Scorer(model);
console.log(JSON.stringify(rows.map((row) => ({
  said: scorer.predict(row),
  scores: scorer.scores(row),
  likely: model.probabilities ? [...scorer.probabilities(row).values()] : null,
  interval: model.intervals ? scorer.interval(row, coverage) : null,
}))));
"""


def answers(model: dict[str, Any], rows: list[dict[Any, Any]], coverage: float) -> list[Any]:
    scorer = Scorer(model)
    return [
        {
            "said": scorer.predict(row),
            "scores": scorer.scores(row),
            "likely": list(scorer.probabilities(row).values()) if model["probabilities"] else None,
            "interval": list(scorer.interval(row, coverage)) if model.get("intervals") else None,
        }
        for row in rows
    ]


def answers_of_node(model: dict[str, Any], rows: list[dict[Any, Any]], coverage: float) -> Any:
    told = json.dumps({"model": model, "rows": rows, "coverage": coverage})
    command = [str(NODE), "--input-type=module", "-e", RUN_NODE, str(FOLDER / "scorer.mjs")]
    result = subprocess.run(command, input=told, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


LANGUAGES = [
    pytest.param(answers, id="python"),
    pytest.param(answers_of_node, id="javascript", marks=needs_node),
]


def check(model: Any, rows: list[dict[Any, Any]], score: Any, path: Path) -> None:
    """Hold a scorer's answers against the model, on rows that it has not learned."""
    model.export(path)
    document = json.loads(path.read_text("utf-8"))
    found = score(document, rows, 0.87)
    if hasattr(model, "predict_proba_one"):
        likely = [model.predict_proba_one(row) for row in rows]
        expected = [[of_row[label] for label in document["classes"]] for of_row in likely]
        np.testing.assert_allclose([one["likely"] for one in found], expected, atol=2e-5)
        clear = [max(one) > min(1 - 1e-4, 1e-4 + sorted(one)[-2]) for one in expected]
        said = [one["said"] for one, is_clear in zip(found, clear, strict=True) if is_clear]
        wanted = [model.predict_one(x) for x, is_clear in zip(rows, clear, strict=True) if is_clear]
        assert said == wanted
        assert len(said) > 0.9 * len(rows)
        return
    values = [model.predict_one(row) for row in rows]
    np.testing.assert_allclose([one["said"] for one in found], values, rtol=1e-4, atol=1e-4)
    intervals = [model.predict_interval_one(row, 0.87) for row in rows]
    np.testing.assert_allclose([one["interval"] for one in found], intervals, rtol=1e-4, atol=1e-4)


def taught(model: Any, stream: list[tuple[dict[Any, Any], Any]], held_out: int) -> Any:
    """Learn all rows but the last; those are left."""
    for row, label in stream[:-held_out]:
        model.learn_one(row, label)
    return [row for row, _ in stream[-held_out:]]


def real(name: str, rows: int = 1500) -> list[tuple[dict[Any, Any], Any]]:
    """The first rows of a set, as names and values, and their labels."""
    if name.endswith(".csv.gz"):
        path = Path(DATA or "") / name
        if not path.exists():
            pytest.skip(f"{name} is not in YARROW_DATA")
        with gzip.open(path, "rt") as file:
            table = list(itertools.islice(csv.reader(file), 1, rows + 1))
        return [({f"c{j}": float(x) for j, x in enumerate(row[:-1])}, row[-1]) for row in table]
    try:
        dataset = yarrow.datasets.load(name)
    except yarrow.YarrowError as error:
        pytest.skip(str(error))
    X, y = dataset.X[:rows].tocsr(), np.asarray(dataset.y)[:rows].tolist()
    names = dataset.feature_names or [f"column {j}" for j in range(X.shape[1])]
    parts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    found = [
        {str(names[j]): float(x) for j, x in zip(X.indices[a:b], X.data[a:b], strict=True)}
        for a, b in parts
    ]
    return list(zip(found, y, strict=True))


@needs_data
@pytest.mark.parametrize("score", LANGUAGES)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("sms-spam", {}),  # words, two classes
        ("20newsgroups/ob-8-1", {}),  # words, eight classes
        ("usenet1", {"classes": [-1, 1]}),  # 99 words: splines of those whose values differ
        ("nsl-kdd", {}),  # numbers and categories, many classes
        ("fourclass", {}),  # two columns, in pairs
        ("electricity", {}),  # a table
        ("uci-multiclass/satimage.csv.gz", {"dtype": "float64"}),  # a table, six classes
    ],
    ids=str,
)
def test_scorers_say_what_yarrow_classifiers_say(
    name: str, settings: dict[str, Any], score: Any, tmp_path: Path
) -> None:
    stream = real(name)
    if "classes" in settings:
        settings = {**settings, "classes": sorted({label for _, label in stream})}
    model = yarrow.YarrowClassifier(**settings)
    rows = taught(model, stream, held_out=200)
    check(model, rows, score, tmp_path / "m.json")


@needs_data
@pytest.mark.parametrize("score", LANGUAGES)
@pytest.mark.parametrize(
    "model",
    [
        yarrow.AROWClassifier(),
        yarrow.AROWClassifier(multiclass="top1", intercept_scaling=3.0),
        yarrow.AROWClassifier(covariance="full"),
        yarrow.BayesianPerceptron(),
        yarrow.FTRLClassifier(),
        yarrow.AdaGradClassifier(loss="logistic", multiclass="top1"),
        yarrow.OGDClassifier(loss="logistic"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["electricity", "uci-multiclass/satimage.csv.gz"])
def test_scorers_say_what_linear_classifiers_say(
    model: Any, name: str, score: Any, tmp_path: Path
) -> None:
    stream = [({key: x / 100 for key, x in row.items()}, label) for row, label in real(name)]
    model = model.clone()
    rows = taught(model, stream, held_out=100)
    rows.append({"column 1": 3.0, "never seen": 2.0, "nor this": "red"})
    check(model, rows, score, tmp_path / "m.json")


@needs_data
@pytest.mark.parametrize("score", LANGUAGES)
@pytest.mark.parametrize("columns", [3, 8, 80, 400])
def test_scorers_say_what_yarrow_regressors_say(columns: int, score: Any, tmp_path: Path) -> None:
    """The next column of rows of real tables, and words of real texts."""
    stream = real("electricity" if columns <= 8 else "sms-spam", 900)
    words = list(dict.fromkeys(name for row, _ in stream for name in row))
    target, *kept = words[: columns + 1]
    rows = [
        ({name: x for name, x in row.items() if name in set(kept)}, 10 * row.get(target, 0.0))
        for row, _ in stream
    ]
    model = yarrow.YarrowRegressor()
    held_out = taught(model, rows, held_out=100)
    check(model, held_out, score, tmp_path / "m.json")


@pytest.mark.parametrize("score", LANGUAGES)
@pytest.mark.parametrize("features", [3, 70])
@pytest.mark.parametrize("labels", [["a"], ["b", "a"], ["c", "a", "b"]], ids=str)
def test_scorers_know_few_rows_and_few_classes(
    score: Any, features: int, labels: list[str], tmp_path: Path
) -> None:
    """Of the mean alone, of a class alone, of columns that never change, of texts and nothing."""
    random = np.random.default_rng(0)
    model = yarrow.YarrowClassifier()
    for i in range(40):
        names = random.choice(features, 3, replace=False)
        row: dict[Any, Any] = {f"x{j}": float(random.normal()) for j in names}
        model.learn_one({**row, "same": 5.0, "colour": "red"}, labels[i % len(labels)])
    rows: list[dict[Any, Any]] = [{}, {"same": 5.0}, {"x0": 1e9}, {"x0": 0, "x1": True}]
    rows += [{"colour": "red"}, {"colour": "green"}, {"nothing": 1.0}, {"x2": -3, "x1": 0.1}]
    model.export(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text("utf-8"))
    found = score(document, rows, 0.9)
    for row, one in zip(rows, found, strict=True):
        likely = model.predict_proba_one(row)
        assert one["likely"] == pytest.approx([likely[c] for c in document["classes"]], abs=2e-5)
        assert one["said"] == model.predict_one(row)


@pytest.mark.parametrize("score", LANGUAGES)
def test_a_regression_of_one_row_has_no_interval(score: Any, tmp_path: Path) -> None:
    model = yarrow.YarrowRegressor()
    model.learn_one({"a": 1.0}, 7.0)
    model.export(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text("utf-8"))
    [found] = score(document, [{"a": 2.0}], 0.9)
    assert found["said"] == pytest.approx(7.0)
    assert found["interval"] is None
    assert not hasattr(yarrow.load(tmp_path / "m.json"), "predict_interval")


@pytest.mark.parametrize("score", LANGUAGES)
@pytest.mark.parametrize(("features", "values"), [(12, 4), (400, 10), (400, 60)])
def test_products_of_two_values(features: int, values: int, score: Any, tmp_path: Path) -> None:
    """With a place each, by a hash, and in rows that are too long for them."""
    rng = random.Random(features + values)
    names = [f"c{i}" for i in range(features)]
    rows = [dict.fromkeys(rng.sample(names, min(values, 8)), 1.5) for _ in range(600)]
    model = yarrow.YarrowClassifier()
    for row in rows:
        model.learn_one(row, ("c1" in row) != ("c2" in row))
    assert model.expert_weights_[-1] != 0
    asked = [dict.fromkeys(rng.sample(names, min(values, features)), 1.0) for _ in range(40)]
    check(model, asked, score, tmp_path / "model.json")


@needs_node
def test_numbers_and_texts_are_different_names_in_javascript(tmp_path: Path) -> None:
    model = yarrow.Perceptron()
    for _ in range(3):
        model.learn_one({5: 1.0}, "number")
        model.learn_one({"6": 1.0}, "text")
    model.export(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text("utf-8"))
    rows = [{"5": 1.0}, {"6": 1.0}]
    assert [one["said"] for one in answers_of_node(document, rows, 0.9)] == ["number", "text"]


def test_an_export_without_intervals_says_so(tmp_path: Path) -> None:
    model = yarrow.AROWClassifier()
    model.learn_one({"a": 1}, "x")
    model.export(tmp_path / "m.json")
    with pytest.raises(ValueError, match="this export has no intervals"):
        Scorer.load(tmp_path / "m.json").interval({"a": 1})


@pytest.mark.parametrize("score", LANGUAGES)
@pytest.mark.parametrize("learner", [yarrow.YarrowClassifier, yarrow.YarrowRegressor])
def test_zero_absent_and_missing_are_what_they_are_to_the_model(
    learner: Any, score: Any, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    table = random.normal([7, 40, 3], [1, 10, 0.5], (300, 3)).tolist()
    rows = [dict(zip(("km", "age", "rooms"), cells, strict=True)) for cells in table]
    model = learner()
    rest = taught(model, [(row, int(row["km"] > 7)) for row in rows], 20)
    asked = [
        {**row, **change}
        for row in rest
        for change in ({"km": 0}, {"km": None}, {"rooms": 0, "age": None}, {"town": "Rome"})
    ]
    check(model, [*asked, {}, {"km": 6.0}], score, tmp_path / "m.json")


@pytest.mark.parametrize("score", LANGUAGES)
def test_what_is_missing_adds_nothing_to_a_line(score: Any) -> None:
    export = {"classes": None, "seen": [], "intercept": [2.0], "weights": [["a", 0, 1.0]]}
    rows: list[dict[Any, Any]] = [{"a": None}, {}, {"a": 0}, {"a": 3.0}]
    said = [one["said"] for one in score({**export, "probabilities": None}, rows, 0.5)]
    assert said == [2.0, 2.0, 2.0, 5.0]
    assert Scorer(export).predict({"a": float("nan")}) == 2.0


def test_scorers_refuse_what_they_cannot_score() -> None:
    export = {"classes": None, "seen": [], "intercept": [0.0], "weights": [["a", 0, 1.0]]}
    with pytest.raises(ValueError, match="'a' is inf"):
        Scorer(export).predict({"a": float("inf")})
    with pytest.raises(ValueError, match="no probabilities"):
        Scorer(export).probabilities({"a": 1.0})
    terms = [{"over": "future", "divided": False, "numbers": []}]
    expert = {"constant": [0.0], "cut": None, "needs_knots": False, "weight": 1.0, "terms": terms}
    experts = {"features": [], "limit": 2, "paired": False, "experts": [expert]}
    with pytest.raises(ValueError, match="newer scorer"):
        Scorer({"classes": None, "seen": [], **experts}).predict({})


def test_scorers_refuse_what_is_no_export(tmp_path: Path) -> None:
    """A saved model, above all, which is the file that people have."""
    says = r"no export as JSON: write one by model\.export\('model\.json'\)"
    model = yarrow.AROWClassifier().partial_fit(np.eye(2), ["a", "b"])
    model.save(tmp_path / "saved")
    (tmp_path / "other").write_text('{"a": 1}')
    for name in ("saved", "other"):
        with pytest.raises(ValueError, match=says):
            Scorer.load(tmp_path / name)
    if NODE is not None:
        asked = json.dumps({"model": {"a": 1}, "rows": [], "coverage": 0.9})
        command = [NODE, "--input-type=module", "-e", RUN_NODE, str(FOLDER / "scorer.mjs")]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
        assert re.search(says, done.stderr)


def test_the_scorers_need_nothing(tmp_path: Path) -> None:
    """Copied beside a program, they run: without Yarrow, without any package."""
    shutil.copy(FOLDER / "scorer.py", tmp_path)
    tree = ast.parse((FOLDER / "scorer.py").read_text("utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert modules == {"__future__", "json", "math", "typing"}
    assert not re.search(r"^\s*import|require\(", (FOLDER / "scorer.mjs").read_text("utf-8"), re.M)
    model = yarrow.AROWClassifier()
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"b": 1.0}, "y")
    model.export(tmp_path / "m.json")
    code = "from scorer import Scorer; print(Scorer.load('m.json').predict({'b': 1}))"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "y\n"


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.parametrize("cls", [yarrow.YarrowClassifier, yarrow.YarrowRegressor])
def test_columns_of_any_size_are_exported(cls: Any, size: float, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3)) + 1
    y = np.where(X[:, 0] > X[:, 1], 1, 0)
    model = cls(dtype="float64").partial_fit(X * size, y)
    model.export(tmp_path / "m.json")
    exported = yarrow.load(tmp_path / "m.json")
    score = "decision_function" if cls is yarrow.YarrowClassifier else "predict"
    np.testing.assert_allclose(
        getattr(exported, score)(X * size), getattr(model, score)(X * size), rtol=1e-6, atol=1e-6
    )


def test_what_could_not_be_read_again_is_not_written() -> None:
    model = yarrow.AROWClassifier(dtype="float64")
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"b": 1.0}, "y")
    tensors, metadata = model._exported()
    export_file.check_written(tensors, metadata)
    tensors["weight"][0] = 1e308
    with pytest.raises(yarrow.YarrowError, match="AROWClassifier cannot be exported, as its"):
        export_file.check_written(tensors, metadata)


@pytest.mark.parametrize("score", LANGUAGES)
def test_classes_that_are_all_unlikely_are_alike(score: Any, tmp_path: Path) -> None:
    """Three classes whose log odds are so low that no probability is left of any."""
    model = yarrow.FTRLClassifier(loss="logistic")
    for place, label in enumerate("abc"):
        model.learn_one({place: 1.0}, label)
    model.export(tmp_path / "model.json")
    told = json.loads((tmp_path / "model.json").read_text())
    told["intercept"] = [-1000.0] * 3
    (answer,) = score(told, [{}], 0.9)
    assert answer["likely"] == [1 / 3] * 3


def test_a_matrix_needs_all_features_to_be_known() -> None:
    """The scorers would take another line of it for those that are not told."""
    model = yarrow.AROWClassifier(covariance="full")
    for place, label in enumerate("ab"):
        model.learn_one({place: 1.0}, label)
    told = export_file.document(*model._exported())
    export_file.loads(json.dumps(told).encode())
    for known in ([], told["known"][:1]):
        with pytest.raises(ModelFileError, match="does not tell as 'known'"):
            export_file.loads(json.dumps(told | {"known": known}).encode())
