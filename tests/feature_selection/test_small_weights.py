"""Removal of small weights: for good, and for prediction only."""

import numpy as np
import pytest
from contract.support import classification, fingerprint

from yarrow import (
    AROWClassifier,
    FOBOSClassifier,
    GroupLassoClassifier,
    OGDClassifier,
    OGDRegressor,
    PassiveAggressiveClassifier,
    Perceptron,
    RDAClassifier,
    SOPClassifier,
)
from yarrow.errors import ParameterError
from yarrow.feature_selection import remove_small_weights, without_small_weights

MODELS = [
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(multiclass="top1"),
    Perceptron(average=True),
    AROWClassifier(),
    AROWClassifier(average=True),
    FOBOSClassifier(0.001),
    RDAClassifier(0.001),
    OGDClassifier(hash_bits=6),
    OGDRegressor(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def smallest(w, sigma, cost, strictly):
    """Take away one weight after the other, the smallest first, as long as the sum allows."""
    left, spent = w.copy(), 0.0
    for i in sorted(range(len(w)), key=lambda i: (abs(w[i]), i)):
        spent += cost(w[i])
        if spent > sigma or (strictly and spent >= sigma):
            break
        left[i] = 0
    return left


@each_model
@pytest.mark.parametrize("classes", [2, 3])
def test_squares_below_sigma_go_for_good(model, classes):
    X, y = classification(300, 12, classes)
    model = model.clone().partial_fit(X[:200], y[:200])
    before, intercept = (
        model.coef_.astype(float).reshape(-1, model.coef_.shape[-1]),
        model.intercept_,
    )
    if classes == 2 and getattr(model, "multiclass", "") == "top1":
        pytest.skip("two classes keep a weight vector each, of which coef_ is the difference")
    sigma = float(np.median(np.sort(before**2, axis=1).cumsum(axis=1)[:, -6]))
    expected = np.array([smallest(w, sigma, lambda v: v * v, True) for w in before])
    removed = remove_small_weights(model, sigma)
    assert removed == np.count_nonzero(before) - np.count_nonzero(expected) > 0
    np.testing.assert_array_equal(model.coef_.reshape(before.shape), expected.astype(np.float32))
    np.testing.assert_array_equal(model.intercept_, intercept)
    assert remove_small_weights(model, 0.0) == 0
    model.partial_fit(X[200:], y[200:])  # it goes on learning
    assert np.isfinite(model.coef_).all()


@each_model
@pytest.mark.parametrize("classes", [2, 3])
def test_absolute_values_up_to_sigma_are_left_out_of_predictions(model, classes):
    X, y = classification(300, 12, classes)
    model = model.clone().partial_fit(X[:200], y[:200])
    if model.hash_bits:
        with pytest.raises(ParameterError, match="knows no names"):
            without_small_weights(model, 0.1)
        return
    before = fingerprint(model)
    weights = np.atleast_2d(model.coef_).astype(float)
    sigma = float(np.median(np.sort(np.abs(weights), axis=1).cumsum(axis=1)[:, 6]))
    expected = np.array([smallest(w, sigma, abs, False) for w in weights])
    view = without_small_weights(model, sigma)
    assert fingerprint(model) == before
    scores = X @ expected.T + model.intercept_
    if hasattr(model, "classes_"):
        found = view.decision_function(X)
        np.testing.assert_allclose(found, scores[:, 0] if classes == 2 else scores, atol=1e-6)
    else:
        np.testing.assert_allclose(view.predict(X), scores[:, 0], atol=1e-6)
    assert len(view.feature_names_) == np.count_nonzero(expected.any(axis=0)) < 12


def test_what_is_left_is_a_model_like_any_other():
    """After the removal, the learner is where one would be that never had these weights."""
    model = PassiveAggressiveClassifier(fit_intercept=False, dtype="float64")
    model.learn_one({"a": 2.0, "b": 0.1}, 0)
    model.learn_one({"c": 1.0}, 1)
    remove_small_weights(model, 0.01)
    state = model._model.get_state()
    column = model._model.plane(0)[1][1]
    stored = state["blocks"][:, 0, column]
    np.testing.assert_allclose(state["ww"][column], stored @ stored)
    assert dict(model.top_features())["b"] == 0


def test_groups_are_measured_anew():
    X, y = classification(200, 12, 3)
    model = GroupLassoClassifier({j: j // 4 for j in range(12)}, 0.01).partial_fit(X, y)
    assert remove_small_weights(model, 1.0) > 0
    state = model._model.get_state()
    stored = state["blocks"][1:, 0].astype(float) ** 2
    expected = stored.reshape(3, 4, -1).sum(axis=1).T.ravel()
    np.testing.assert_allclose(state["group_squares"], expected)


def test_the_bounds_of_sigma():
    """A sum that equals sigma: squares must be below it, absolute values may reach it."""
    model = Perceptron(fit_intercept=False)
    model.learn_one({"a": 0.5, "b": 1.0, "c": 4.0}, 0)
    model.learn_one({"d": 1.0}, 1)
    assert remove_small_weights(model, 0.25) == 0
    assert without_small_weights(model, 0.5).feature_names_ == ["b", "c", "d"]
    assert remove_small_weights(model, 0.26) == 1


@pytest.mark.parametrize("sigma", [-1.0, float("nan"), float("inf")])
def test_a_sigma_that_is_none(sigma):
    for remove in (remove_small_weights, without_small_weights):
        with pytest.raises(ParameterError, match="sigma"):
            remove(Perceptron(), sigma)
        with pytest.raises(ParameterError, match="linear learners"):
            remove("model", 1.0)


def test_a_model_without_fixed_weights_has_none_to_leave_out():
    X, y = classification(50, 5, 2)
    with pytest.raises(ParameterError, match="fixed weight"):
        without_small_weights(SOPClassifier().partial_fit(X, y), 0.1)
