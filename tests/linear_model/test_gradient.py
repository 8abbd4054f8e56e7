"""Online gradient descent: steps against finite differences of the losses."""

import numpy as np
import pytest
from linear_model.oracles import (
    EXACT,
    binary_stream,
    class_stream,
    planes,
    slope,
    weights,
    with_constant,
)
from scipy.optimize import minimize

from yarrow.linear_model import OGDClassifier, OGDRegressor

LOSSES = {
    "hinge": lambda u: max(0.0, 1 - u),
    "squared_hinge": lambda u: 0.5 * max(0.0, 1 - u) ** 2,
    "logistic": lambda u: np.log1p(np.exp(-u)),
    "squared": lambda u: 0.5 * (1 - u) ** 2,
    "exponential": lambda u: np.exp(-u),
}
ERRORS = {
    "squared": lambda e: 0.5 * e**2,
    "epsilon_insensitive": lambda e: max(0.0, abs(e) - 0.3),
    "squared_epsilon_insensitive": lambda e: 0.5 * max(0.0, abs(e) - 0.3) ** 2,
}
RATES = {0.0: lambda t: 1.0, 0.5: lambda t: 1 / np.sqrt(t), 1.0: lambda t: 1 / t}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("power", RATES)
def test_classification_steps_follow_the_gradient(loss, power):
    X, y = binary_stream(11, rows=50)
    sample_weight = np.random.default_rng(11).choice([0.5, 1.0, 2.0], len(y))
    eta0 = 0.03 if loss == "exponential" else 0.3
    model = OGDClassifier(loss, eta0=eta0, power=power, **EXACT).partial_fit(X[:2], y[:2])
    moved = 0
    for i, z in list(enumerate(y[:, None] * with_constant(X)))[2:]:
        w = weights(model)[0]
        gradient = slope(lambda w, z=z: LOSSES[loss](z @ w), w)
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=sample_weight[i : i + 1])
        step = eta0 * RATES[power](i + 1) * sample_weight[i] * gradient
        np.testing.assert_allclose(weights(model)[0], w - step, rtol=0, atol=1e-8)
        moved += bool(np.any(step))
    assert moved > 10
    assert loss not in ("hinge", "squared_hinge") or moved < 48  # flat pieces were met


@pytest.mark.parametrize("loss", ERRORS)
@pytest.mark.parametrize("power", RATES)
def test_regression_steps_follow_the_gradient(loss, power):
    X, _ = binary_stream(12, rows=50)
    y = X @ [1.0, -2.0, 0.5, 0.0] + 1
    sample_weight = np.random.default_rng(12).choice([0.5, 1.0, 2.0], len(y))
    model = OGDRegressor(eta0=0.1, power=power, loss=loss, epsilon=0.3, **EXACT)
    w = np.zeros(5)
    moved = 0
    for t, (x, row, target, weight) in enumerate(
        zip(X, with_constant(X), y, sample_weight, strict=True), start=1
    ):
        gradient = slope(lambda w: ERRORS[loss](target - row @ w), w)  # noqa: B023
        w = w - 0.1 * RATES[power](t) * weight * gradient
        model.partial_fit([x], [target], sample_weight=[weight])
        np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-7)
        moved += bool(np.any(gradient))
    assert moved > 10
    assert loss == "squared" or power == 1 or moved < 50  # errors within epsilon were met


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_the_rate_may_fall_with_mistakes(multiclass):
    """eta0 / (mistakes so far), this row included."""
    X, y = binary_stream(14, rows=80)
    model = OGDClassifier(eta0=0.4, power=1.0, count_mistakes=True, multiclass=multiclass, **EXACT)
    w, mistakes = np.zeros(5), 0
    apart = 2 if multiclass == "top1" else 1  # there both classes' weights move, in opposite ways
    for i, z in enumerate(y[:, None] * with_constant(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        if i == 0 and multiclass == "top1":
            continue  # no rival yet
        mistakes += z @ w <= 0
        if z @ w < 1:
            w = w + apart * 0.4 / max(1, mistakes) * z
        if i > 0:
            np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-12)
    assert 3 < mistakes < model.n_updates_


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_stay_in_their_ball(multiclass, dtype):
    """Each problem's own: one a class in one-versus-rest, all classes together in top1."""
    X, y = class_stream(15, rows=3000, features=30, density=0.2)
    model = OGDClassifier(eta0=2.0, radius=1.5, multiclass=multiclass, dtype=dtype)
    norms = []
    for i in range(0, len(y), 20):
        model.partial_fit(X[i : i + 20], y[i : i + 20])
        norms.append(
            np.linalg.norm(planes(model)[:, 0] * model._model.get_state()["scale"], axis=0)
        )
        if multiclass == "top1":
            norms[-1] = np.linalg.norm(norms[-1])
        assert np.max(norms[-1]) <= 1.5 * (1 + 1e-6)
    assert np.max(norms[-1]) > 1.499  # the ball mattered


def test_projection_gives_the_nearest_point_of_the_ball():
    X, y = binary_stream(16, rows=60)
    Z = y[:, None] * with_constant(X)
    model = OGDClassifier(eta0=0.5, power=0.0, radius=0.7, **EXACT).partial_fit(X[:2], y[:2])
    projected = 0
    for i in range(2, len(y)):
        w = weights(model)[0]
        stepped = w + 0.5 * (Z[i] @ w < 1) * Z[i]
        nearest = minimize(
            lambda u, to=stepped: 0.5 * (u - to) @ (u - to),
            w,
            jac=lambda u, to=stepped: u - to,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda u: 0.49 - u @ u, "jac": lambda u: -2 * u},
            options={"ftol": 1e-16, "maxiter": 500},
        ).x
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        np.testing.assert_allclose(weights(model)[0], nearest, rtol=0, atol=1e-6)
        projected += stepped @ stepped > 0.49
    assert projected > 10


def test_exponential_loss_stays_finite_far_from_zero():
    model = OGDClassifier("exponential", eta0=1.0, power=0.0, **EXACT)
    model.partial_fit([[1e3], [-1e3], [1e3], [-1e3], [1e3]], [0, 1, 0, 1, 1])
    assert np.isfinite(weights(model)).all()


def test_logistic_loss_stays_finite_far_from_zero():
    model = OGDClassifier("logistic", eta0=1.0, power=0.0, **EXACT)
    model.partial_fit([[1e5], [-1e5], [1e5], [-1e5]], [0, 1, 1, 0])
    assert np.isfinite(weights(model)).all()
    assert np.isfinite(model.predict_proba([[1e5], [-1e9], [0.0]])).all()


def test_a_diverging_run_stays_finite_or_says_so():
    X, y = binary_stream(13, rows=400)
    model = OGDClassifier("squared", eta0=10.0, power=0.0)
    try:
        model.partial_fit(1e3 * X, y)
    except ValueError as error:
        assert "scale the features or the step down" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(weights(model)).all()
