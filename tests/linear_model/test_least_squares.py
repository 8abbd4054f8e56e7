"""AROW with the squared loss is recursive least squares, whose mean is ridge regression."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, planes, weights, with_constant

from yarrow.linear_model import AROWClassifier, AROWRegressor


def ridge(rows, y, r, weight=1.0):
    """argmin sum of weight*(y - x.w)^2 + r*|w|^2."""
    A = r * np.eye(rows.shape[1]) + (rows * np.reshape(weight, (-1, 1))).T @ rows
    return np.linalg.solve(A, (rows * np.reshape(weight, (-1, 1))).T @ y)


@pytest.fixture
def one_feature_rows():
    random = np.random.default_rng(71)
    X = np.eye(5)[random.integers(5, size=80)] * random.normal(size=(80, 1))
    return X, X @ random.normal(size=5) + 0.1 * random.normal(size=80)


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
@pytest.mark.parametrize("r", [0.01, 1.0, 30.0])
def test_rows_with_one_feature_give_ridge_regression(one_feature_rows, covariance, r):
    """There the full matrix is diagonal, so both forms are the full one."""
    X, y = one_feature_rows
    weight = np.random.default_rng(72).choice([0.5, 1.0, 3.0], len(y))
    model = AROWRegressor(r, covariance, fit_intercept=False, **EXACT)
    for n in (1, 7, 80):
        part = model.clone().partial_fit(X[:n], y[:n], sample_weight=weight[:n])
        np.testing.assert_allclose(part.coef_, ridge(X[:n], y[:n], r, weight[:n]), rtol=1e-9)
    expected = 1 / (1 + (weight[:, None] * X**2).sum(axis=0) / r)
    np.testing.assert_allclose(part.variance_, expected, rtol=1e-9)


def test_a_row_without_an_error_still_makes_the_model_surer():
    """A hinge would leave it alone; least squares counts it."""
    model = AROWRegressor(1.0, fit_intercept=False, **EXACT)
    model.learn_one({"x": 2.0}, 0.0)
    assert model.coef_.tolist() == [0.0]
    assert model.variance_.tolist() == [1 / (1 + 4.0)]


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
def test_diagonal_steps_from_any_state_are_those_of_the_full_form(covariance):
    """One step of the Kalman filter from a diagonal covariance; its diagonal is kept."""
    random = np.random.default_rng(73)
    X, y = random.normal(size=(40, 3)), random.normal(size=40)
    model = AROWRegressor(0.5, covariance, **EXACT).partial_fit(X[:1], y[:1])
    for x, target in zip(X[1:], y[1:], strict=True):
        mu, s = planes(model)[:, :2, 0].T.copy()
        model.partial_fit([x], [target])
        z = with_constant(x[None])[0]
        precision = np.diag(1 / s) + np.outer(z, z) / 0.5
        expected = np.linalg.solve(precision, mu / s + target * z / 0.5)
        np.testing.assert_allclose(weights(model)[0], expected, rtol=1e-9)
        kept = 1 / np.diag(precision)
        if covariance == "projected":
            kept = np.diag(np.linalg.inv(precision))
        np.testing.assert_allclose(planes(model)[:, 1, 0], kept, rtol=1e-9)


def test_classification_by_least_squares_is_regression_on_the_labels():
    random = np.random.default_rng(74)
    X = random.normal(size=(100, 4))
    y = np.where(X[:, 0] + 0.3 * random.normal(size=100) > 0, 1, -1)
    classifier = AROWClassifier(0.5, loss="squared", classes=[-1, 1], **EXACT).partial_fit(X, y)
    regressor = AROWRegressor(0.5, **EXACT).partial_fit(X, y)
    np.testing.assert_allclose(classifier.coef_[0], regressor.coef_, rtol=1e-9)
    np.testing.assert_allclose(classifier.variance_[0], regressor.variance_, rtol=1e-9)
