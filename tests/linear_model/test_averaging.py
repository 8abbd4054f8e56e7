"""Averaging: the lazy sum is the mean of the weights after each row."""

import re

import numpy as np
import pytest
from linear_model.oracles import (
    EXACT,
    assert_same,
    binary_stream,
    class_stream,
    planes,
    weights,
    with_constant,
)

from yarrow.linear_model import (
    AROWClassifier,
    CustomClassifier,
    CWClassifier,
    NORMAClassifier,
    NormConstrainedPAClassifier,
    OGDClassifier,
    OGDRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PegasosClassifier,
    Perceptron,
    RegularizedPAClassifier,
    SCWClassifier,
)


def pegasos(s):
    """Shrinks the weights in every row: to nothing in the first, by little later."""
    return 1 - 1 / s.t, (s.margin < 1) / (0.1 * s.t)


def fading(s):
    """Shrinks so fast that the scale is folded into the weights every few rows."""
    return 0.05, 1.0 if s.margin < 1 else 0.0


def without_address(model):
    """The same id in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(model))


MODELS = [
    Perceptron(**EXACT),
    PassiveAggressiveClassifier(0.1, **EXACT),
    OGDClassifier("squared", eta0=0.1, **EXACT),
    CustomClassifier(pegasos, **EXACT),
    CustomClassifier(fading, **EXACT),
    AROWClassifier(**EXACT),
    AROWClassifier(covariance="projected", **EXACT),
    CWClassifier(**EXACT),
    SCWClassifier(**EXACT),
    CustomClassifier(lambda s: (0.1, 0.5), loop="confidence", **EXACT),
]


@pytest.mark.parametrize("model", MODELS, ids=without_address)
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("classes", [2, 4])
def test_lazy_average_is_the_mean_of_past_weights(model, multiclass, classes):
    """The first rows name the classes and, being zeros, leave all weights at 0."""
    X, y = class_stream(61, rows=80, classes=classes, density=0.7)
    X, y = np.vstack([np.zeros((classes, 5)), X]), np.append(10 * np.arange(classes), y)
    settings = {"multiclass": multiclass, "fit_intercept": False}
    plain, averaged = model.clone(settings), model.clone({**settings, "average": True})
    total = 0.0
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        plain.partial_fit([x], [label])
        averaged.partial_fit([x], [label])
        if t >= classes:
            total = total + weights(plain)
        if t in (classes, 30, len(y)):
            np.testing.assert_allclose(weights(averaged), total / t, rtol=0, atol=1e-9)
    scores = with_constant(X) @ total.T / len(y)
    found = averaged.decision_function(X)
    np.testing.assert_allclose(found.reshape(scores.shape), scores, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(planes(averaged)[:, 0], planes(plain)[:, 0])  # it learns alike
    assert averaged.n_mistakes_ == plain.n_mistakes_
    assert not np.allclose(weights(averaged), weights(plain), atol=1e-3)


@pytest.mark.parametrize("model", MODELS, ids=without_address)
def test_lazy_average_of_the_intercept(model):
    X, y = binary_stream(64, rows=80)
    plain, averaged = (model.clone({"classes": [-1, 1], "average": a}) for a in (False, True))
    total = 0.0
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        averaged.partial_fit([x], [label])
        plain.partial_fit([x], [label])
        total = total + (weights(plain) if i else -weights(plain))  # at first it speaks for -1
    np.testing.assert_allclose(weights(averaged), total / len(y), rtol=0, atol=1e-9)
    expected = with_constant(X) @ total[0] / len(y)
    np.testing.assert_allclose(averaged.decision_function(X), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [PassiveAggressiveRegressor(**EXACT), OGDRegressor(0.05, **EXACT)],
    ids=without_address,
)
def test_lazy_average_of_regressors(model):
    X, _ = class_stream(62, rows=100)
    y = X[:, 0] - 2 * X[:, 1] + 3
    plain, averaged, total = model.clone(), model.clone({"average": True}), 0.0
    for x, target in zip(X, y, strict=True):
        plain.partial_fit([x], [target])
        total = total + weights(plain)[0]
    averaged.partial_fit(X, y)
    np.testing.assert_allclose(weights(averaged)[0], total / len(y), rtol=0, atol=1e-9)
    np.testing.assert_allclose(averaged.predict(X), with_constant(X) @ total / len(y), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        NORMAClassifier(power=0.0, l2=0.1),
        NormConstrainedPAClassifier(2.0),
        OGDClassifier(radius=1.0),
        PegasosClassifier(),
        RegularizedPAClassifier(0.01),
    ],
    ids=without_address,
)
def test_averages_of_shrinking_weights_keep_their_digits(model):
    """In float32, too, where the sums of past weights are differences of large numbers."""
    random = np.random.default_rng(65)
    X = random.normal(size=(8000, 30)) * (random.random((8000, 30)) < 0.2)
    X = X.astype(np.float32)
    y = np.where(X @ random.normal(size=30) + random.normal(size=len(X)) > 0, 1, -1)
    single, double = (
        model.clone({"average": True, "dtype": dtype}).partial_fit(X, y)
        for dtype in ("float32", "float64")
    )
    error = np.linalg.norm(weights(single) - weights(double)) / np.linalg.norm(weights(double))
    assert error < 2e-4


def test_a_row_without_weight_is_not_averaged():
    X, y = class_stream(63)
    present = np.arange(len(y)) % 3 > 0
    one = Perceptron(average=True, **EXACT).partial_fit(X, y, sample_weight=present)
    other = Perceptron(average=True, **EXACT).partial_fit(X[present], y[present])
    assert_same(one, other)
