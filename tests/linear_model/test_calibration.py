"""Probabilities: honest on data whose noise is known, and consistent with the predictions."""

import numpy as np
import pytest
from linear_model.oracles import class_stream
from scipy.special import expit, ndtr

from yarrow.linear_model import (
    AROWClassifier,
    CWClassifier,
    OGDClassifier,
    SCWClassifier,
    SOPClassifier,
)

PROBABILISTIC = [
    AROWClassifier(),
    AROWClassifier(covariance="projected", average=True),
    AROWClassifier(loss="hinge"),
    CWClassifier(),
    CWClassifier(variant="variance"),
    SCWClassifier(),
    SCWClassifier(variant="scw2"),
    SOPClassifier(),
    OGDClassifier("logistic"),
]
each_model = pytest.mark.parametrize("model", PROBABILISTIC, ids=repr)


def noisy_problem(seed, rows, features=20, classes=2):
    """Gaussian rows; a label is drawn from known probabilities, so none can be sure."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    scores = X @ random.normal(size=(features, classes)) / np.sqrt(features) * 2
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) > random.random((rows, 1))).argmax(axis=1)
    return X, y


def calibration_error(said, happened, bins=10):
    """Mean distance of what was said and what happened, over bins of what was said."""
    place = np.minimum((said * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    gap = np.bincount(place, said, bins) - np.bincount(place, happened, bins)
    return np.abs(gap[count > 0]).sum() / len(said)


@pytest.mark.parametrize(
    "model",
    [
        AROWClassifier(10.0),
        AROWClassifier(covariance="projected"),
        AROWClassifier(loss="hinge"),
        SCWClassifier(0.01),
        OGDClassifier("logistic", average=True),
    ],
    ids=repr,
)
def test_two_classes_with_known_noise(model):
    X, y = noisy_problem(91, 14000)
    model = model.clone().partial_fit(X[:10000], y[:10000])
    said = model.predict_proba(X[10000:])[:, 1]
    error = calibration_error(said, y[10000:])
    assert error < 0.05
    assert said.std() > 0.1  # not the base rate for everyone
    if not isinstance(model, OGDClassifier):
        scores, variances = model._scores(X[10000:])
        raw = ndtr(scores[:, 1] / np.sqrt(variances[:, 1]))
        assert error < calibration_error(raw, y[10000:]) / 3


@pytest.mark.parametrize("seed", [91, 1, 2, 3])
@pytest.mark.parametrize(
    "model", [AROWClassifier(10.0), AROWClassifier(), SCWClassifier()], ids=repr
)
def test_probabilities_tell_sure_rows_from_unsure_ones(model, seed):
    """The same probability for everyone can be calibrated, too; it says nothing."""
    X, y = noisy_problem(seed, 14000)
    model = model.clone().partial_fit(X[:10000], y[:10000])
    p = model.predict_proba(X[10000:])[np.arange(4000), y[10000:]]
    sureness = np.maximum(p, 1 - p)
    assert sureness.std() > 0.05
    right = np.mean(p > 0.5)
    the_same_for_all = -right * np.log(right) - (1 - right) * np.log(1 - right)
    assert -np.mean(np.log(p)) < the_same_for_all - 0.02


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("classes", [3, 8])
def test_many_classes_with_known_noise(multiclass, classes):
    X, y = noisy_problem(92, 14000, classes=classes)
    model = AROWClassifier(10.0, multiclass=multiclass).partial_fit(X[:10000], y[:10000])
    said = model.predict_proba(X[10000:])
    top = said.argmax(axis=1)
    right = model.classes_[top] == y[10000:]
    assert calibration_error(said.max(axis=1), right) < 0.08


@each_model
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_probabilities_are_consistent(model, multiclass, classes):
    X, y = class_stream(93, rows=200, features=6, classes=classes)
    model = model.clone({"multiclass": multiclass}).partial_fit(X, y)
    table = model.predict_proba(X)
    assert table.shape == (len(X), classes)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[table.argmax(axis=1)], model.predict(X))
    by_name = model.predict_proba_one(dict(enumerate(X[7].tolist())))
    assert list(map(by_name.get, model.classes_.tolist())) == pytest.approx(table[7].tolist())


@each_model
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_probabilities_rise_with_the_margin(model, multiclass):
    """With the score, and where the model knows its deviation, with the score in its units."""
    X, y = class_stream(94, rows=200, classes=2)
    model = model.clone({"multiclass": multiclass}).partial_fit(X, y)
    margins, variances = model.decision_function(X), model._scores(X)[1]
    if not isinstance(model, OGDClassifier):
        margins = margins / np.sqrt(variances.sum(axis=1))
    in_order = model.predict_proba(X)[np.argsort(margins), 1]
    assert (np.diff(in_order) >= -1e-12).all()
    assert in_order[-1] > 0.5 > in_order[0]


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_logistic_probabilities_are_those_of_the_loss(multiclass):
    X, y = class_stream(95, rows=200, classes=2)
    model = OGDClassifier("logistic", multiclass=multiclass).partial_fit(X, y)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, expit(model.decision_function(X)), rtol=1e-6)


def test_there_are_no_probabilities_without_a_logistic_loss():
    for loss in ("hinge", "squared_hinge", "squared"):
        model = OGDClassifier(loss).partial_fit([[0.0], [1.0]], [0, 1])
        assert not hasattr(model, "predict_proba")
        with pytest.raises(NotImplementedError):
            model.predict_proba_one({0: 1.0})


@each_model
def test_extreme_rows_keep_probabilities_finite(model):
    X, y = class_stream(96, rows=100, classes=3)
    model = model.clone().partial_fit(X, y)
    table = model.predict_proba(np.vstack([1e30 * X[:5], 1e-30 * X[:5], 0 * X[:1]]))
    assert np.isfinite(table).all()
    np.testing.assert_allclose(table.sum(axis=1), 1)
