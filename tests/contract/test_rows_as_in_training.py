"""A model whose features have texts as names makes nothing of an array without any."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from contract.support import GROUPS, as_dicts, classification, refuse, save_and_load

import yarrow
from yarrow import decomposition, experts, feature_selection, features, feedback, kernel
from yarrow.errors import YarrowError

X, Y = classification(60, 5, 3)
NAMES = [f"c{j}" for j in range(5)]
NAMED, NUMBERED = as_dicts(X, NAMES), as_dicts(X)
FRAME = pd.DataFrame(X, columns=NAMES)
SAYS = "columns of X have no names, and .* was trained on features that have names, such as 'c"
ASKING = (
    "predict", "decision_function", "predict_proba", "score", "score_samples", "predict_set",
)  # fmt: skip

OTHERS = {
    "Hedge": lambda: experts.HedgeClassifier([yarrow.AROWClassifier(), yarrow.Perceptron()]),
    "kernel": kernel.KernelPerceptron,
    "kernel PA": kernel.KernelPassiveAggressiveClassifier,
    "mixture": lambda: experts.MixtureClassifier([yarrow.AROWClassifier()]),
    "sets": lambda: feedback.PredictionSetClassifier(yarrow.AROWClassifier()),
    "selective": lambda: feedback.SelectiveClassifier(yarrow.AROWClassifier()),
}


def wanted(name: str) -> Any:
    return OTHERS[name]()


def labels(model: Any) -> Any:
    return Y if hasattr(type(model), "classes_") else Y * 1.5


def by_dicts(model: Any, rows: list[dict[Any, float]]) -> Any:
    for x, y in zip(rows, labels(model).tolist(), strict=True):
        model.learn_one(x, y)
    return model


def by_learn_many(model: Any) -> Any:
    model.learn_many(FRAME, pd.Series(labels(model)))
    return model


def check_refused(model: Any, says: str = SAYS) -> None:
    targets = labels(model)
    for name in ASKING:
        method = getattr(model, name, None)
        if method is not None:
            args = (X, targets) if name == "score" else (X,)
            with pytest.raises(YarrowError, match=says):
                method(*args)
    for name in ("partial_fit", "progressive"):
        if hasattr(model, name):
            before = pickle.dumps(model)
            with pytest.raises(YarrowError, match=says):
                getattr(model, name)(X, targets)
            assert pickle.dumps(model) == before


def make(estimator_class: Any) -> Any:
    settings: dict[str, Any] = {}
    if estimator_class.__name__ == "GroupLassoClassifier":
        settings["groups"] = GROUPS
    return estimator_class(**settings)


@pytest.mark.parametrize("teach", [lambda m: by_dicts(m, NAMED), by_learn_many])
def test_linear_models_trained_on_names_refuse_bare_arrays(estimator_class, teach):
    model = teach(make(estimator_class))
    refuse(lambda: model.predict(X), SAYS, model)
    refuse(lambda: model.partial_fit(X, labels(model)), SAYS, model)
    check_refused(model)
    if estimator_class.__name__ != "CustomClassifier":
        check_refused(save_and_load(model))
    asked = pd.DataFrame(X, columns=NAMES)
    assert model.predict(asked).tolist() == [model.predict_one(x) for x in NAMED]
    model.fit(X, labels(model))  # begins anew
    assert len(model.predict(X)) == len(X)


def test_linear_models_trained_on_numbers_take_arrays(estimator_class):
    model = by_dicts(make(estimator_class), NUMBERED)
    assert model.predict(X).tolist() == [model.predict_one(x) for x in NUMBERED]
    model.partial_fit(X, labels(model))


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_a_model_of_frames_reads_arrays_by_position_and_warns(estimator_class, way):
    model = make(estimator_class)
    getattr(model, way)(FRAME, labels(model))
    expected = model.predict(FRAME).tolist()
    with pytest.warns(UserWarning, match="X does not have valid feature names, but"):
        assert model.predict(X).tolist() == expected
    with pytest.warns(UserWarning), pytest.raises(YarrowError, match="X has 3 features"):  # noqa: PT030
        model.predict(X[:, :3])


def test_exports_refuse_bare_arrays_too(estimator_class, tmp_path):
    model = by_dicts(make(estimator_class), NAMED)
    if not model.is_exportable:
        return
    for name in ("export", "export.json"):
        model.export(tmp_path / name)
        exported = yarrow.load(tmp_path / name)
        if not exported.feature_names_:
            continue
        with pytest.raises(YarrowError, match=SAYS):
            exported.predict(X)
        assert exported.predict(FRAME).tolist() == [exported.predict_one(x) for x in NAMED]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("teach", [lambda m: by_dicts(m, NAMED), by_learn_many])
def test_other_models_trained_on_names_refuse_bare_arrays(name, teach):
    model = teach(wanted(name))
    check_refused(model)
    assert list(model.predict(FRAME)) == [model.predict_one(x) for x in NAMED]
    model.fit(X, Y)
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("name", OTHERS)
def test_other_models_trained_on_numbers_take_arrays(name):
    model = by_dicts(wanted(name), NUMBERED)
    assert list(model.predict(X)) == [model.predict_one(x) for x in NUMBERED]


TRANSFORMERS = {
    "scaler": features.OnlineStandardScaler,
    "selector": lambda: feature_selection.InformationGain(k=2),
    "SVD": lambda: decomposition.OnlineSVD(2),
    "PCA": lambda: decomposition.OnlinePCA(2),
}


def taught(model: Any, rows: list[dict[Any, float]]) -> Any:
    supervised = isinstance(model, feature_selection.InformationGain)
    names = NAMES if rows is NAMED else range(5)
    for x, y in zip(rows, Y.tolist(), strict=True):
        full = {name: x.get(name, 0.0) for name in names}
        model.learn_one(full, y) if supervised else model.learn_one(full)
    return model


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_trained_on_names_refuse_bare_arrays(name):
    model = taught(TRANSFORMERS[name](), NAMED)
    with pytest.raises(YarrowError, match=SAYS):
        model.transform(X)
    with pytest.raises(YarrowError, match=SAYS):
        model.partial_fit(X, Y)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_trained_on_numbers_take_arrays(name):
    model = taught(TRANSFORMERS[name](), NUMBERED)
    model.partial_fit(X, Y)
    assert len(model.transform(X)) == len(X)


@pytest.mark.parametrize("name", ["SVD", "PCA"])
def test_decompositions_trained_on_dicts_read_frames_by_name(name):
    model = taught(TRANSFORMERS[name](), NAMED)
    one = [list(model.transform_one(dict(zip(NAMES, x, strict=True))).values()) for x in X]
    np.testing.assert_allclose(model.transform(FRAME), one, atol=1e-12)
    with pytest.raises(YarrowError, match="same order"):
        model.transform(FRAME[NAMES[::-1]])


def test_a_hashed_model_keeps_a_sign_of_the_names_that_taught_it():
    says = "columns of X have no names, and AROWClassifier was trained on features that have names"
    for teach in (lambda m: by_dicts(m, NAMED), by_learn_many):
        model = teach(yarrow.AROWClassifier(hash_bits=12))
        for one in (model, save_and_load(model), pickle.loads(pickle.dumps(model))):
            check_refused(one, says)
            assert one.predict_one(NAMED[0]) in Y
    numbered = by_dicts(yarrow.AROWClassifier(hash_bits=12), NUMBERED)
    trained_on_array = yarrow.AROWClassifier(hash_bits=12).partial_fit(X, Y)
    assert np.array_equal(numbered.predict(X), trained_on_array.predict(X))
    both = by_dicts(numbered, NAMED)
    assert len(save_and_load(both).predict(X)) == len(X)


def test_a_refused_row_leaves_no_sign_of_its_names():
    model = yarrow.AROWClassifier(hash_bits=12)
    model.learn_one({0: 1.0}, 1)
    core = model._fitted
    core.begin()
    model.learn_one({"text": 1.0}, 1)
    assert core.hashed_kinds == 3
    core.roll_back()
    assert core.hashed_kinds == 2
    with pytest.raises(YarrowError):
        model.learn_one({"text": float("nan")}, 1)
    assert core.hashed_kinds == 2


def test_an_older_hashed_model_answers_as_it_did():
    model = by_dicts(yarrow.AROWClassifier(hash_bits=12), NAMED)
    state = model.__getstate__()
    del state["_core_state"]["tensors"]["hashed_kinds"]
    older = yarrow.AROWClassifier(hash_bits=12)
    older.__setstate__(state)
    assert len(older.predict(X)) == len(X)


def test_kernels_go_on_by_position_after_a_frame():
    by_frames = kernel.KernelPerceptron().fit(FRAME[:40], Y[:40]).partial_fit(FRAME[40:], Y[40:])
    with pytest.warns(UserWarning, match="feature names"):
        by_array = kernel.KernelPerceptron().fit(FRAME[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    assert by_array.support_vectors_ == by_frames.support_vectors_
