"""Passive-Aggressive: every step is the argmin of the paper's own problem."""

import warnings

import numpy as np
import pytest
from linear_model.oracles import (
    EXACT,
    binary_stream,
    class_stream,
    smallest_change,
    weights,
    with_constant,
)

from yarrow.errors import ParameterError
from yarrow.linear_model import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from yarrow.saving import model_file

VARIANTS = {"pa": (None, 1), "pa1": ("C", 1), "pa2": ("C", 2)}


def problem(form, C):
    price, power = VARIANTS[form]
    return {"price": None if price is None else C, "power": power}


@pytest.mark.parametrize("form", VARIANTS)
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("intercept", [None, 1.0, 0.3])
def test_classification_steps_are_argmins(form, C, intercept):
    X, y = binary_stream(5, rows=40)
    sample_weight = np.random.default_rng(5).choice([0.5, 1.0, 2.0], len(y))
    Z = y[:, None] * with_constant(X, intercept or 0.0)
    model = PassiveAggressiveClassifier(
        C, form, fit_intercept=intercept is not None, intercept_scaling=intercept or 1.0, **EXACT
    ).partial_fit(X[:2], y[:2])
    updates = 0
    for i in range(2, len(y)):
        w = weights(model)[0]
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=sample_weight[i : i + 1])
        if Z[i] @ w >= 1:
            expected = w
        else:
            expected = smallest_change(w, [(Z[i], 1.0)], **problem(form, C * sample_weight[i]))
            updates += 1
        np.testing.assert_allclose(weights(model)[0], expected, rtol=0, atol=1e-6)
    assert updates > 10
    assert C < 1 or updates < len(y) - 2  # passive rows were met, too


@pytest.mark.parametrize("form", VARIANTS)
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_regression_steps_are_argmins(form, epsilon):
    X, _ = binary_stream(6, rows=40)
    y = X @ [1.0, -2.0, 0.5, 0.0] + 1 + np.random.default_rng(6).normal(size=len(X))
    sample_weight = np.random.default_rng(7).choice([0.5, 1.0, 2.0], len(y))
    model = PassiveAggressiveRegressor(0.3, epsilon, form, intercept_scaling=0.5, **EXACT)
    w = np.zeros(5)
    for x, row, target, weight in zip(X, with_constant(X, 0.5), y, sample_weight, strict=True):
        model.partial_fit([x], [target], sample_weight=[weight])
        within = [(row, target - epsilon), (-row, -target - epsilon)]  # |y - w.x| <= epsilon + xi
        if abs(target - row @ w) > epsilon:
            w = smallest_change(w, within, **problem(form, 0.3 * weight))
        np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-6)
        w = weights(model)[0]


@pytest.mark.parametrize("form", VARIANTS)
def test_top1_steps_are_argmins(form):
    X, y = class_stream(8, rows=60, features=3, classes=3)
    rows = with_constant(X)
    seen = list(dict.fromkeys(y.tolist()))  # in the order of their appearance
    warm = y.tolist().index(seen[2]) + 1
    model = PassiveAggressiveClassifier(0.2, form, multiclass="top1", **EXACT)
    model.partial_fit(X[:warm], y[:warm])
    classes = model.classes_.tolist()
    updates = 0
    for i in range(warm, len(y)):
        W, c = weights(model), classes.index(y[i])
        scores = W @ rows[i]
        rival = max((k for k in range(3) if k != c), key=lambda k: scores[k])
        z = np.zeros_like(W)
        z[c], z[rival] = rows[i], -rows[i]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if scores[c] - scores[rival] < 1:
            W = smallest_change(W.ravel(), [(z.ravel(), 1.0)], **problem(form, 0.2))
            updates += 1
        np.testing.assert_allclose(weights(model).ravel(), W.ravel(), rtol=0, atol=1e-6)
    assert updates > 10


def test_a_weight_has_no_effect_where_there_is_no_price():
    X, y = binary_stream(9)
    plain, weighted = (PassiveAggressiveClassifier(variant="pa", **EXACT) for _ in range(2))
    plain.partial_fit(X, y)
    weighted.partial_fit(X, y, sample_weight=np.linspace(0.1, 5, len(y)))
    np.testing.assert_array_equal(plain.coef_, weighted.coef_)


@pytest.mark.parametrize("form", VARIANTS)
def test_a_row_of_zeros_changes_nothing(form):
    X, y = binary_stream(10)
    model = PassiveAggressiveClassifier(variant=form, fit_intercept=False).partial_fit(X, y)
    before = model.coef_
    model.partial_fit(np.zeros((1, X.shape[1])), [1])
    np.testing.assert_array_equal(model.coef_, before)


def one_pass(peer, X, y, **settings):
    """Scikit-learn's learner after one pass in order.

    Its intercept is no feature: it stands outside of the row's length. So rows with a constant
    column, and no intercept, are what a row is here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it will be removed
        model = peer(fit_intercept=False, shuffle=False, max_iter=1, tol=None, **settings)
        return model.fit(X, y).coef_


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [0.02, 0.7])
def test_a_loss_gives_the_weights_of_scikit_learn(loss, classes, C):
    from sklearn.linear_model import PassiveAggressiveClassifier as Peer

    X, y = class_stream(11, rows=200, features=4, classes=classes)
    for intercept in (False, True):
        model = PassiveAggressiveClassifier(C, loss=loss, fit_intercept=intercept, **EXACT)
        model.partial_fit(X, y, classes=np.unique(y))
        expected = one_pass(Peer, with_constant(X) if intercept else X, y, C=C, loss=loss)
        learned = weights(model) if intercept else model.coef_
        np.testing.assert_allclose(learned, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_a_loss_gives_the_regression_of_scikit_learn(loss):
    from sklearn.linear_model import PassiveAggressiveRegressor as Peer

    X, _ = binary_stream(12, rows=100)
    y = X @ [1.0, -2.0, 0.5, 0.0] + np.random.default_rng(6).normal(size=len(X))
    model = PassiveAggressiveRegressor(0.1, loss=loss, fit_intercept=False, **EXACT)
    model.partial_fit(X, y)
    expected = one_pass(Peer, X, y, C=0.1, loss=loss)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-12)


def test_a_loss_and_a_variant_must_not_contradict_each_other():
    X, y = class_stream(8, rows=9, features=3, classes=2)
    PassiveAggressiveClassifier(variant="pa2", loss="squared_hinge").fit(X, y)
    for variant, loss in (("pa2", "hinge"), ("pa", "squared_hinge"), ("pa", "hinge")):
        with pytest.raises(ParameterError, match=f"'variant' .* with loss='{loss}'"):
            PassiveAggressiveClassifier(variant=variant, loss=loss).fit(X, y)


def test_a_loss_is_kept_in_a_file_only_if_it_was_said(tmp_path):
    X, y = class_stream(8, rows=9, features=3, classes=2)
    for loss in (None, "squared_hinge"):
        PassiveAggressiveClassifier(loss=loss).fit(X, y).save(tmp_path / "it")
        assert PassiveAggressiveClassifier.load(tmp_path / "it").loss == loss
        parameters = model_file.read(tmp_path / "it")[1]["parameters"]
        assert ("loss" in parameters) == (loss is not None)  # older versions know no such one
