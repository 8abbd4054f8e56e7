"""A model file is data: it goes on exactly, and loads safely."""

from __future__ import annotations

import json
import pickle
import pickletools
import zipfile

import numpy as np
import pandas as pd
import pytest
from contract.support import (
    INTERRUPTIONS,
    adaptive,
    assert_same,
    fading,
    fingerprint,
    learned,
)
from safetensors import safe_open

import yarrow
from yarrow import (
    AROWClassifier,
    CustomClassifier,
    FOBOSClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
)
from yarrow.errors import ModelFileError, NotFittedError, ParameterError, YarrowError
from yarrow.saving import model_file


def load(path, model):
    return yarrow.load(path, **({"rule": model.rule} if getattr(model, "rule", None) else {}))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.yarrow"


@pytest.mark.parametrize("name", [name for name in INTERRUPTIONS if name != "nothing"])
def test_nothing_is_lost(variant, three_classes, name):
    X, y = three_classes
    model = variant(dtype="float64").partial_fit(X[:100], y[:100])
    twin = INTERRUPTIONS[name](model)
    assert_same(fingerprint(twin), fingerprint(model))
    model.partial_fit(X[100:], y[100:])
    assert model.t_ == 300
    assert twin.t_ == 100
    twin.partial_fit(X[100:], y[100:])
    assert_same(fingerprint(twin), fingerprint(model))


def test_equal_models_have_equal_files(variant, two_classes, tmp_path):
    X, y = two_classes
    model = variant().partial_fit(X, y)
    model.save(tmp_path / "a")
    load(tmp_path / "a", model).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_reading_changes_nothing(variant, three_classes, tmp_path):
    X, y = three_classes
    model = variant().partial_fit(X, y)
    before = fingerprint(model)
    model.save(tmp_path / "saved")
    model.predict(X), model.coef_, model.intercept_, model.sparsity_, model.n_nonzero_
    model.predict_one({0: 1.0, "never seen": 2.0, -5: 1.0})
    model.top_features(label=1) if variant.is_classifier else model.top_features()
    model.explain_one({0: 1.0, "never seen": 2.0})
    repr(model), model.feature_names_, model._memory_usage, pickle.dumps(model)
    if getattr(model, "is_exportable", True):
        model.export(tmp_path / "exported")
    if hasattr(model, "predict_proba"):
        model.predict_proba(X), model.predict_proba_one({0: 1.0})
    assert_same(fingerprint(model), before)


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": {"a": 2.0, "b": 0.5}},
        {"class_weight": {1: 2, 0: np.float64(0.5)}},
        {"classes": ["a", "b", "c"]},
        {"classes": np.array([0, 1, 2])},
        {"classes": [True, False]},
        {"C": np.float32(0.25), "variant": "pa2", "random_state": np.int64(3)},
        {"hash_bits": 5, "dtype": "float64", "fit_intercept": False},
        {"max_features": 100, "when_full": "prune", "intercept_scaling": 0.5},
    ],
    ids=str,
)
def test_parameters_come_back(path, parameters):
    labels = parameters.get("classes", list(parameters.get("class_weight", ["a", "b"])))
    model = PassiveAggressiveClassifier(**parameters)
    for i in range(9):
        model.learn_one({i % 3: 1.0 + i, "x": 0.5}, labels[i % len(labels)])
    model.save(path)
    loaded = yarrow.load(path)
    assert type(loaded) is PassiveAggressiveClassifier
    for name, value in model.get_params().items():
        if name == "classes" and value is not None:
            assert list(loaded.classes) == list(value)
        else:
            assert getattr(loaded, name) == value, name
    assert_same(learned(loaded), learned(model))
    for each in (model, loaded):
        each.learn_one({"x": 2.0, "new": 1.0}, labels[0])
        with pytest.raises(YarrowError):
            each.learn_one({"x": np.nan}, labels[0])
    assert loaded.predict_one({"x": 1.0}) == model.predict_one({"x": 1.0})
    assert [type(label) for label in loaded.classes_.tolist()] == [
        type(label) for label in model.classes_.tolist()
    ]


def test_balanced_weights_come_back(path, two_classes):
    X, y = two_classes
    model = AROWClassifier(class_weight="balanced").fit(X[:50], y[:50])
    model.save(path)
    loaded = yarrow.load(path)
    assert loaded.class_weight == "balanced"
    model.partial_fit(X[50:], y[50:])
    loaded.partial_fit(X[50:], y[50:])
    assert_same(learned(loaded), learned(model))


def test_what_fit_says_comes_back(path, two_classes):
    model = AROWClassifier(max_iter=3).fit(*two_classes)
    model.save(path)
    assert yarrow.load(path).n_iter_ == model.n_iter_ == 3
    assert yarrow.load(path).n_features_in_ == model.n_features_in_


@pytest.mark.parametrize(
    "names",
    [["a", "ü€𝄞", "", " ", "a\nb", "x" * 300], [5, "5", -5, 2**62, 0], list(range(10))],
    ids=["texts", "integers and texts", "columns"],
)
def test_names_come_back(path, names):
    model = Perceptron()
    for i, name in enumerate(names):
        model.learn_one({name: 1.0 + i}, i % 2)
    model.save(path)
    loaded = yarrow.load(path)
    assert loaded.feature_names_ == model.feature_names_ == names
    assert_same(fingerprint(loaded), fingerprint(model))
    assert loaded.top_features() == model.top_features()


def test_columns_of_frames_come_back(path, two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    AROWClassifier().fit(frame, y).save(path)
    loaded = yarrow.load(path)
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(YarrowError, match="feature names"):
        loaded.predict(frame.rename(columns={"c0": "other"}))


@pytest.mark.parametrize(
    "change", [{"r": 100.0}, {"loss": "hinge"}, {"fit_intercept": False}], ids=str
)
@pytest.mark.parametrize("how", ["save and load", "pickle", "deepcopy"])
def test_parameters_changed_after_learning_mean_the_same_before_and_after(two_classes, how, change):
    """Whether they count at once or not until `fit`: a copy must not learn something else."""
    X, y = two_classes
    model = AROWClassifier().partial_fit(X[:50], y[:50]).set_params(**change)
    twin = INTERRUPTIONS[how](model)
    assert twin.predict(X).tolist() == model.predict(X).tolist()
    assert_same(learned(twin.partial_fit(X, y)), learned(model.partial_fit(X, y)))


def test_a_class_loads_its_own_files_only(path, two_classes):
    AROWClassifier().fit(*two_classes).save(path)
    assert type(AROWClassifier.load(path)) is AROWClassifier
    with pytest.raises(ParameterError, match="holds a AROWClassifier, not a Perceptron"):
        Perceptron.load(path)
    AROWClassifier.load(path).export(path)
    with pytest.raises(ParameterError, match="holds a ExportedModel, not a AROWClassifier"):
        AROWClassifier.load(path)


def test_what_has_learned_nothing_cannot_be_saved(estimator_class, path):
    for write in (estimator_class().save, estimator_class().export):
        with pytest.raises(NotFittedError):
            write(path)
    assert not path.exists()
    assert repr(pickle.loads(pickle.dumps(estimator_class()))) == repr(estimator_class())


@pytest.mark.parametrize("rule", [fading, adaptive])
def test_a_rule_of_your_own_is_handed_over_again(path, two_classes, rule):
    X, y = two_classes
    loop = "confidence" if rule is adaptive else "affine"
    model = CustomClassifier(rule, loop=loop, parameters=(1.0, 2)).partial_fit(X[:50], y[:50])
    model.save(path)
    with pytest.raises(ModelFileError, match="'rule' is not in the file: pass rule="):
        yarrow.load(path)
    for loaded in (yarrow.load(path, rule=rule), CustomClassifier.load(path, rule=rule)):
        assert loaded.parameters == (1.0, 2)
        assert_same(fingerprint(loaded), fingerprint(model))


def test_files_hold_no_code(path, two_classes):
    """safetensors only: nothing in it that pickle, zip or NumPy's object arrays would run."""
    CustomClassifier(fading).fit(*two_classes).save(path)
    assert not zipfile.is_zipfile(path)
    with safe_open(path, "numpy") as file:
        for name in file.keys():  # noqa: SIM118
            tensor = file.get_tensor(name)
            assert tensor.dtype != object
            with pytest.raises((ValueError, IndexError)):
                list(pickletools.genops(tensor.tobytes() or b"\xff"))
        document = json.loads(file.metadata()["yarrow"])
    assert document["metadata"]["estimator"] == "CustomClassifier"
    assert document["metadata"]["rows"] > 0


def test_a_damaged_file_is_refused_wherever_it_is_damaged(path, two_classes):
    """Every byte of the header counts, and every byte of the arrays."""
    FOBOSClassifier().fit(*two_classes).save(path)
    good = path.read_bytes()
    random = np.random.default_rng(0)
    for place in {*range(200), *random.integers(0, len(good), 100).tolist()}:
        bad = bytearray(good)
        bad[place] ^= 1 << random.integers(0, 8)
        path.write_bytes(bad)
        with pytest.raises(ModelFileError, match=str(path)):
            yarrow.load(path)
    for size in (0, 7, 8, 100, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:size])
        with pytest.raises(ModelFileError, match=str(path)):
            yarrow.load(path)
    path.write_bytes(good + b"\0")
    with pytest.raises(ModelFileError, match=str(path)):
        yarrow.load(path)


def edited(path, change):
    """Write a file again, valid in itself, with something changed."""
    tensors, metadata = model_file.read(path)
    tensors = {name: array.copy() for name, array in tensors.items()}
    change(tensors, metadata)
    model_file.write(path, tensors, metadata)


CONTRADICTIONS = {
    "unknown estimator": lambda t, m: m.update(estimator="Oracle"),
    "no estimator": lambda t, m: m.pop("estimator"),
    "a function of the package": lambda t, m: m.update(estimator="load"),
    "unknown kind": lambda t, m: m.update(kind="song"),
    "no parameters": lambda t, m: m.pop("parameters"),
    "unknown parameter": lambda t, m: m["parameters"].update(colour="red"),
    "bad parameter": lambda t, m: m["parameters"].update(l1=-1.0),
    "other type of numbers": lambda t, m: m["parameters"].update(dtype="float64"),
    "class too many": lambda t, m: m["classes"].append("x"),
    "class missing": lambda t, m: m["classes"].pop(),
    "no classes": lambda t, m: m.pop("classes"),
    "class that is none": lambda t, m: m.update(classes=[None, 1]),
    "undeclared classes": lambda t, m: m.update(declared=["p", "q"]),
    "no tensor": lambda t, m: t.pop("blocks"),
    "tensor of another shape": lambda t, m: t.update(blocks=t["blocks"][:, :, 0]),
    "too few blocks": lambda t, m: t.update(blocks=t["blocks"][:-1]),
    "too few names": lambda t, m: t.update(name_columns=t["name_columns"] - 1),
    "too many columns": lambda t, m: t.update(name_columns=t["name_columns"] + 10**12),
    "column too many": lambda t, m: t.update(blocks=np.repeat(t["blocks"], 2, axis=2)),
    "column missing": lambda t, m: t.update({k: t[k][:0] for k in ("scale", "ww", "scale_sum")}),
    "scalar missing": lambda t, m: t.update(scalars=t["scalars"][:-1]),
    "scalar not finite": lambda t, m: t["scalars"].__setitem__(0, np.nan),
    "weight not finite": lambda t, m: t["blocks"].__setitem__((1, 0, 0), np.inf),
    "names not given": lambda t, m: m.update(feature_names_in=["a"]),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_file_that_contradicts_itself_is_refused(path, two_classes, name):
    FOBOSClassifier().fit(*two_classes).save(path)
    edited(path, CONTRADICTIONS[name])
    with pytest.raises(ModelFileError, match=str(path)):
        yarrow.load(path)


def test_a_file_from_the_future_is_refused(path, two_classes, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(model_file, "VERSION", model_file.VERSION + 1)
        AROWClassifier().fit(*two_classes).save(path)
    newer = f"format {model_file.VERSION + 1} by a newer Yarrow"
    with pytest.raises(ModelFileError, match=newer):
        yarrow.load(path)
