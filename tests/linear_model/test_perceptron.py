"""The Perceptron against the worked example of the lecture, its definition and its bound."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, binary_stream, weights, with_constant

from yarrow.linear_model import Perceptron


def test_worked_example():
    rows = [((4, 0), 1), ((1, 1), -1), ((0, 1), -1), ((-2, -2), 1)]
    expected = [(4, 0), (3, -1), (3, -1), (1, -3)]
    model = Perceptron(fit_intercept=False, classes=[-1, 1])
    for (x, y), w in zip(rows, expected, strict=True):
        model.partial_fit([x], [y])
        assert model.coef_[0].tolist() == list(w)
    assert model.n_updates_ == 3


@pytest.mark.parametrize("margin", [0.0, 0.7, 3.0])
def test_margin_form(margin):
    X, y = binary_stream(1, rows=200)
    sample_weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(y))
    w = np.zeros(X.shape[1] + 1)
    updates = 0
    for z, weight in zip(y[:, None] * with_constant(X), sample_weight, strict=True):
        if z @ w <= margin:
            w, updates = w + weight * z, updates + 1
    model = Perceptron(margin, classes=[-1, 1], **EXACT)
    model.partial_fit(X, y, sample_weight=sample_weight)
    np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-12)
    assert model.n_updates_ == updates


def test_mistake_bound_on_separable_unit_rows():
    random = np.random.default_rng(3)
    X = random.normal(size=(4000, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = np.array([0.6, 0.0, 0.8])
    gamma = 0.15
    X = X[np.abs(X @ u) >= gamma]
    model = Perceptron(fit_intercept=False, classes=[False, True], **EXACT)
    model.fit(X, X @ u > 0)
    assert 5 < model.n_updates_ <= 1 / gamma**2 < len(X) / 50  # the bound says something
