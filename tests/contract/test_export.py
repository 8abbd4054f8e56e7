"""An export is what prediction needs: readable, and predicting like the model it came from."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.support import as_dicts

import yarrow
from yarrow import (
    AROWClassifier,
    ExportedModel,
    FOBOSClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
)
from yarrow.errors import ModelFileError, ParameterError, UnknownFeaturesWarning, YarrowError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.yarrow"


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["c", "a", "b"], [7, 3, 7]], ids=str)
def test_an_export_predicts_like_its_model(variant, three_classes, path, labels):
    X, y = three_classes
    y = np.array(labels)[y] if variant.is_classifier else y
    model = variant(dtype="float64").partial_fit(X, y)
    if not getattr(model, "is_exportable", True):
        with pytest.raises(ParameterError, match="use save"):
            model.export(path)
        return
    model.export(path)
    exported = yarrow.load(path)
    assert isinstance(exported, ExportedModel)
    assert variant.cls.__name__ in repr(exported)
    if not variant.is_classifier:
        close(exported.predict(X), model.predict(X))
        close([exported.predict_one(x) for x in as_dicts(X)], model.predict(X))
        return
    scores = model.decision_function(X)
    two_best = (
        np.sort(scores, axis=1)[:, -2:] if scores.ndim == 2 else np.stack([scores, -scores], 1)
    )
    clear = np.abs(np.diff(two_best)[:, 0]) > 1e-6  # rounding decides on the others
    assert clear.mean() > 0.9
    for form in (np.asarray, sp.csr_matrix, np.float32):
        close(exported.decision_function(form(X)), scores)
        assert exported.predict(form(X))[clear].tolist() == model.predict(X)[clear].tolist()
    ones = np.array([exported.predict_one(x) for x in as_dicts(X)])
    assert ones[clear].tolist() == model.predict(X)[clear].tolist()
    assert hasattr(exported, "predict_proba") == hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        model.export(path.with_suffix(".json"))
        for found in (exported, yarrow.load(path.with_suffix(".json"))):
            close(found.predict_proba(X[:20]), model.predict_proba(X[:20]))
        for x, likely in zip(as_dicts(X[:20]), model.predict_proba(X[:20]), strict=True):
            close([exported.predict_proba_one(x)[label] for label in model.classes_], likely)


def test_an_export_has_the_nonzero_weights_only(path, three_classes):
    model = FOBOSClassifier(l1=0.01).fit(*three_classes)
    model.learn_one({"never": 0.0, "seldom": 1e-9}, 0)
    model.export(path)
    exported = yarrow.load(path)
    assert np.count_nonzero(exported.coef_) == model.n_nonzero_ < model.coef_.size
    assert "never" not in exported.feature_names_


def test_exports_know_names_and_categories(path):
    model = Perceptron()
    for _ in range(3):
        model.learn_one({"size": 2.0, "colour": "red", 5: 1.0}, "ripe")
        model.learn_one({"size": 1.0, "colour": "green", "5": 1.0}, "raw")
    model.export(path)
    exported = yarrow.load(path)
    assert set(exported.feature_names_) <= {"size", "colour=red", "colour=green", 5, "5"}
    for row in ({"colour": "red"}, {"colour": "green"}, {5: 3.0}, {"5": 3.0}, {"size": 9.0}):
        assert exported.predict_one(row) == model.predict_one(row)


def test_exports_give_ties_to_the_class_seen_first(path):
    for multiclass, labels in (("ovr", "zc"), ("top1", "zc"), ("ovr", "zca"), ("top1", "zca")):
        model = Perceptron(fit_intercept=False, multiclass=multiclass)
        for i, label in enumerate(labels):
            model.learn_one({i: 1.0}, label)
        model.export(path)
        with pytest.warns(UnknownFeaturesWarning):
            said = yarrow.load(path).predict_one({"other": 1.0})
        assert said == model.predict_one({"other": 1.0})


@pytest.mark.parametrize(
    "labels", [[True, False], [1, "1"], [2**60, 1], [2.0, 1.0], ["", " "]], ids=str
)
def test_exports_keep_labels_of_every_kind(path, labels):
    model = Perceptron()
    for i, label in enumerate(labels):
        model.learn_one({i: 1.0}, label)
    model.export(path)
    exported = yarrow.load(path)
    for i in range(2):
        got, expected = exported.predict_one({i: 1.0}), model.predict_one({i: 1.0})
        assert (type(got), got) == (type(expected), expected)
    assert exported.predict(np.eye(2)).tolist() == model.predict(np.eye(2)).tolist()


def test_exports_of_frames_take_frames(path, two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = AROWClassifier().fit(frame, y)
    model.export(path)
    exported = yarrow.load(path)
    close(exported.decision_function(frame), model.decision_function(frame))
    close(exported.decision_function(frame[frame.columns[::-1]]), model.decision_function(frame))


def test_exports_take_lists(path, two_classes):
    X, y = two_classes
    model = AROWClassifier().fit(X, y)
    model.export(path)
    assert yarrow.load(path).predict(X.tolist()).tolist() == model.predict(X).tolist()


def test_exports_of_frames_do_not_guess_the_columns_of_arrays(path, two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = AROWClassifier().fit(frame, y)
    model.export(path)
    exported = yarrow.load(path)
    try:
        scores = exported.decision_function(X)
    except YarrowError:
        return  # to refuse is as good
    close(scores, model.decision_function(frame))


def test_exports_refuse_bad_input(path, two_classes):
    AROWClassifier().fit(*two_classes).export(path)
    exported = yarrow.load(path)
    for bad in (np.full((1, 12), np.nan), np.ones((2, 5)), sp.csr_matrix(np.full((1, 12), np.inf))):
        with pytest.raises(YarrowError):
            exported.predict(bad)
    with pytest.raises(YarrowError, match="feature 0"):
        exported.predict_one({0: np.nan})


def test_exports_as_json_and_text_say_the_same(tmp_path, three_classes):
    X, y = three_classes
    model = AROWClassifier().fit(X, np.array(["a", "b\tc", "ü"])[y])
    model.learn_one({"tab\tand\nline": 1.0}, "a")
    model.export(tmp_path / "m.json")
    model.export(tmp_path / "m.txt")
    model.export(tmp_path / "m.tsv", format="text")
    document = json.loads((tmp_path / "m.json").read_text("utf-8"))
    weights = {(score, name): weight for name, score, weight in document["weights"]}
    names = model.feature_names_
    expected = {
        (i, names[j]): float(model.coef_[i, j])
        for i, j in zip(*np.nonzero(model.coef_), strict=True)
    }
    assert weights == expected
    assert document["intercept"] == model.intercept_.tolist()
    assert document["classes"] == model.classes_.tolist()
    lines = (tmp_path / "m.txt").read_text("utf-8").splitlines()
    assert json.loads(lines[0].removeprefix("# "))["classes"] == model.classes_.tolist()
    table = [line.split("\t") for line in lines if not line.startswith("#")]
    read = {
        (int(row), "(intercept)" if name == "(intercept)" else json.loads(name)): float(weight)
        for row, name, weight in table
    }
    intercepts = {(i, "(intercept)"): v for i, v in enumerate(model.intercept_.tolist())}
    assert read == expected | intercepts
    assert (tmp_path / "m.tsv").read_bytes() == (tmp_path / "m.txt").read_bytes()


@pytest.mark.parametrize("suffix", ["json", "txt"])
@pytest.mark.parametrize(
    "labels", [["a", "b\tc", "ü"], [7, 3, 7], [True, False, True], [5, "5", 2**60]], ids=str
)
def test_exports_as_json_and_text_are_loaded_like_the_others(tmp_path, suffix, labels):
    chance = np.random.default_rng(0)
    model = FOBOSClassifier(l1=0.001)
    for x, c in zip(chance.normal(size=(60, 9)), chance.integers(3, size=60), strict=True):
        named = {"tab\tand\nline": x[0], "(intercept)": x[1], 5: x[2], "5": x[3], "\x85": x[4]}
        model.learn_one(named | {-(2**63): x[5], 2**63 - 1: x[6], "colour": "red"}, labels[c])
    model.export(tmp_path / "m")
    model.export(tmp_path / f"m.{suffix}")
    expected, got = yarrow.load(tmp_path / "m"), yarrow.load(tmp_path / f"m.{suffix}")
    assert got.metadata == expected.metadata
    assert dict(zip(got.feature_names_, got.coef_.T.tolist(), strict=True)) == dict(
        zip(expected.feature_names_, expected.coef_.T.tolist(), strict=True)
    )
    assert got.intercept_.tolist() == expected.intercept_.tolist()
    assert got.classes_.tolist() == expected.classes_.tolist() == model.classes_.tolist()
    assert got.predict_one({5: 1.0}) == model.predict_one({5: 1.0})


@pytest.mark.parametrize("suffix", ["json", "txt"])
def test_regressions_of_frames_come_back_from_json_and_text(tmp_path, two_classes, suffix):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = PassiveAggressiveRegressor().fit(frame, y.astype(float))
    model.export(tmp_path / f"m.{suffix}")
    close(yarrow.load(tmp_path / f"m.{suffix}").predict(frame), model.predict(frame))


def test_a_model_without_weights_comes_back(tmp_path):
    model = Perceptron()
    model.learn_one({}, "a")
    for suffix in ("json", "txt"):
        model.export(tmp_path / f"m.{suffix}")
        with pytest.warns(UnknownFeaturesWarning, match="it knows none"):
            assert yarrow.load(tmp_path / f"m.{suffix}").predict_one({"b": 1.0}) == "a"


DAMAGE = {
    "json": {
        "cut": lambda text: text[: len(text) // 2],
        "another document": lambda text: '{"kind": "model"}',
        "no object": lambda text: text.replace("{", "[", 1),
        "too deep": lambda text: '{"a": ' + "[" * 100_000,
        "an unknown score": lambda text: text.replace('["x", 0,', '["x", 3,'),
        "a weight twice": lambda text: text.replace('["x", 1,', '["x", 0,'),
        "an infinite weight": lambda text: text.replace('["x", 0, ', '["x", 0, Infinity, 0, '[:13]),
        "a weight of no feature": lambda text: text.replace('["x", 0,', "[null, 0,"),
        "NaN": lambda text: text.replace('"intercept": [', '"intercept": [NaN, '),
        "other classes": lambda text: text.replace('"seen": ["a"', '"seen": ["z"'),
        "too few classes": lambda text: text.replace('["a", "b", "c"]', '["a", "b"]'),
        "no classes": lambda text: text.replace('"classes"', '"clasess"'),
        "a wrong count of columns": lambda text: text.replace(
            '"n_features_in": null', '"n_features_in": "9"'
        ),
        "names of nothing": lambda text: text.replace(
            '"feature_names_in": null', '"feature_names_in": ["x"]'
        ),
    },
    "txt": {
        "cut in a line": lambda text: text[:-3],
        "cut between lines": lambda text: text[: text.rstrip().rindex("\n")],
        "cut in the first line": lambda text: text[:50],
        "a word for a weight": lambda text: text.replace('0\t"x"\t', '0\t"x"\tmuch'),
        "a name without quotes": lambda text: text.replace('0\t"x"', "0\tx"),
        "spaces for tabs": lambda text: text.replace("\t", " "),
        "a lost intercept": lambda text: text.replace("1\t(intercept)", "9\t(intercept)"),
        "a list on top": lambda text: text.replace("# {", "# [1]{").replace("{", "#", 1),
    },
}


@pytest.mark.parametrize(
    ("suffix", "damage"), [(suffix, kind) for suffix, kinds in DAMAGE.items() for kind in kinds]
)
def test_damaged_exports_are_refused_in_one_sentence(tmp_path, suffix, damage):
    model, path = Perceptron(), tmp_path / f"m.{suffix}"
    for i, label in enumerate("abcab"):
        model.learn_one({"x": i - 1.5, "y": 1.0 - i, "z": float(i == 2)}, label)
    model.export(path)
    text = path.read_text("utf-8")
    damaged = DAMAGE[suffix][damage](text)
    assert damaged != text
    path.write_text(damaged, "utf-8")
    with pytest.raises(ModelFileError, match=f"^{re.escape(str(path))}: .*[^.]\\.$") as caught:
        yarrow.load(path)
    assert "\n" not in str(caught.value)


def test_hashed_models_are_not_exported_to_files_that_cannot_be_loaded(tmp_path, two_classes):
    model = AROWClassifier(hash_bits=6).fit(*two_classes)
    with pytest.raises(YarrowError, match="hash"):
        model.export(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_regressions_are_exported_too(path, two_classes):
    X, y = two_classes
    model = PassiveAggressiveRegressor().fit(X, y.astype(float))
    model.export(path)
    close(yarrow.load(path).predict(X), model.predict(X))
