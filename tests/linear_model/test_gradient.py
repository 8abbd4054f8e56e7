"""Online gradient descent: steps against finite differences of the losses."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, binary_stream, slope, weights, with_constant

from yarrow.linear_model import OGDClassifier, OGDRegressor

LOSSES = {
    "hinge": lambda u: max(0.0, 1 - u),
    "squared_hinge": lambda u: 0.5 * max(0.0, 1 - u) ** 2,
    "logistic": lambda u: np.log1p(np.exp(-u)),
    "squared": lambda u: 0.5 * (1 - u) ** 2,
}
RATES = {0.0: lambda t: 1.0, 0.5: lambda t: 1 / np.sqrt(t), 1.0: lambda t: 1 / t}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("power", RATES)
def test_classification_steps_follow_the_gradient(loss, power):
    X, y = binary_stream(11, rows=50)
    sample_weight = np.random.default_rng(11).choice([0.5, 1.0, 2.0], len(y))
    model = OGDClassifier(loss, eta0=0.3, power=power, **EXACT).partial_fit(X[:2], y[:2])
    moved = 0
    for i, z in list(enumerate(y[:, None] * with_constant(X)))[2:]:
        w = weights(model)[0]
        gradient = slope(lambda w, z=z: LOSSES[loss](z @ w), w)
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=sample_weight[i : i + 1])
        step = 0.3 * RATES[power](i + 1) * sample_weight[i] * gradient
        np.testing.assert_allclose(weights(model)[0], w - step, rtol=0, atol=1e-8)
        moved += bool(np.any(step))
    assert moved > 10
    assert loss not in ("hinge", "squared_hinge") or moved < 48  # flat pieces were met


@pytest.mark.parametrize("power", RATES)
def test_regression_steps_follow_the_gradient(power):
    X, _ = binary_stream(12, rows=50)
    y = X @ [1.0, -2.0, 0.5, 0.0] + 1
    model = OGDRegressor(eta0=0.1, power=power, **EXACT)
    w = np.zeros(5)
    for t, (x, row, target) in enumerate(zip(X, with_constant(X), y, strict=True), start=1):
        w = w - 0.1 * RATES[power](t) * slope(lambda w: 0.5 * (target - row @ w) ** 2, w)  # noqa: B023
        model.partial_fit([x], [target])
        np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-7)


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
