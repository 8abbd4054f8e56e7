"""Pegasos, ASGD and NORMA: steps against finite differences of their objectives."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, binary_stream, slope, weights, with_constant
from scipy.optimize import minimize

from yarrow.errors import ParameterError
from yarrow.linear_model import ASGDClassifier, NORMAClassifier, PegasosClassifier

HINGE = {
    "hinge": lambda u: max(0.0, 1 - u),
    "squared_hinge": lambda u: 0.5 * max(0.0, 1 - u) ** 2,
    "logistic": lambda u: np.log1p(np.exp(-u)),
}


def check_steps(model, rate, l2, loss, project=lambda w: w, margin=1.0):
    """Compare each step with the gradient of l2/2 |w|^2 + weight * loss(z.w)."""
    X, y = binary_stream(21, rows=60)
    sample_weight = np.random.default_rng(21).choice([0.5, 1.0, 2.0], len(y))
    Z = y[:, None] * with_constant(X)
    model.partial_fit(X[:2], y[:2])
    small = 0
    for i in range(2, len(y)):
        w, weight = weights(model)[0], sample_weight[i]
        step = slope(lambda w: 0.5 * l2 * w @ w + weight * loss(Z[i] @ w), w)  # noqa: B023
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=[weight])
        expected = project(w - rate(i + 1) * step)
        np.testing.assert_allclose(weights(model)[0], expected, rtol=0, atol=1e-6)
        small += Z[i] @ w < margin
    assert 10 < small < 58  # both sides of the margin were met


def test_pegasos_steps_follow_the_gradient():
    check_steps(PegasosClassifier(0.1, **EXACT), lambda t: 1 / (0.1 * t), 0.1, HINGE["hinge"])


def test_pegasos_stays_where_the_optimum_is():
    inside = []

    def project(w):
        inside.append(np.linalg.norm(w) <= 1 / np.sqrt(0.5))
        return w * min(1.0, 1 / np.sqrt(0.5) / np.linalg.norm(w))

    model = PegasosClassifier(0.5, project=True, **EXACT)
    check_steps(model, lambda t: 1 / (0.5 * t), 0.5, HINGE["hinge"], project)
    assert 0 < sum(inside) < len(inside)


def test_pegasos_approaches_the_optimum_of_the_support_vector_machine():
    X, y = binary_stream(22, rows=200)
    Z = y[:, None] * with_constant(X)

    def objective(w):
        return 0.05 * w @ w + np.maximum(0, 1 - Z @ w).mean()

    def smooth(p):  # the same with slack variables
        return 0.05 * p[:5] @ p[:5] + p[5:].mean()

    best = minimize(
        smooth,
        np.append(np.zeros(5), np.ones(len(Z))),
        jac=lambda p: np.append(0.1 * p[:5], np.full(len(Z), 1 / len(Z))),
        method="SLSQP",
        bounds=[(None, None)] * 5 + [(0, None)] * len(Z),
        constraints={
            "type": "ineq",
            "fun": lambda p: Z @ p[:5] - 1 + p[5:],
            "jac": lambda p: np.hstack([Z, np.eye(len(Z))]),
        },
    ).fun
    model = PegasosClassifier(0.1, max_iter=300, average=True, **EXACT).fit(X, y)
    assert best - 1e-9 <= objective(weights(model)[0]) < 1.02 * best
    untrained = objective(np.zeros(5))
    assert untrained > 1.5 * best


@pytest.mark.parametrize("loss", HINGE)
def test_asgd_steps_follow_the_gradient(loss):
    model = ASGDClassifier(loss, l2=0.05, eta0=0.2, average=False, **EXACT)
    check_steps(model, lambda t: 0.2 * (1 + 0.05 * 0.2 * (t - 1)) ** -0.75, 0.05, HINGE[loss])


def test_asgd_predicts_with_the_mean_of_its_weights():
    X, y = binary_stream(23, rows=50)
    averaged, plain = (
        ASGDClassifier(l2=0.1, **EXACT),
        ASGDClassifier(l2=0.1, average=False, **EXACT),
    )
    seen = []
    for i in range(len(y)):
        averaged.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        plain.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        seen.append(weights(plain)[0] * (1 if i else -1))
    np.testing.assert_allclose(weights(averaged)[0], np.mean(seen, axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("power", [0.0, 0.5])
@pytest.mark.parametrize("rho", [0.0, 1.0])
def test_norma_steps_follow_the_gradient(power, rho):
    model = NORMAClassifier(0.3, power, 0.2, rho, **EXACT)
    check_steps(model, lambda t: 0.3 / t**power, 0.2, lambda u: max(0.0, rho - u), margin=rho)


def test_norma_moves_its_margin_down_the_gradient():
    X, y = binary_stream(24, rows=60)
    Z = y[:, None] * with_constant(X)
    sample_weight = np.random.default_rng(24).choice([0.5, 1.0, 2.0], len(y))
    model = NORMAClassifier(0.3, 0.5, 0.1, nu=0.2, **EXACT)
    model.partial_fit(X[:2], y[:2], classes=[-1, 1])

    def rho():
        return model._model.get_state()["column_memory"][0]

    ups = 0
    for i in range(2, len(y)):
        at, weight = np.append(weights(model)[0], rho()), sample_weight[i]
        step = slope(
            lambda p: (
                0.05 * p[:5] @ p[:5] + weight * (max(0.0, p[5] - Z[i] @ p[:5]) - 0.2 * p[5])  # noqa: B023
            ),
            at,
        )
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=[weight])
        expected = at - 0.3 / np.sqrt(i + 1) * step
        np.testing.assert_allclose(np.append(weights(model)[0], rho()), expected, atol=1e-7)
        ups += rho() > at[5]
    assert 5 < ups < 55


@pytest.mark.parametrize("nu", [0.2, 0.5])
def test_norma_leaves_a_share_nu_below_its_margin(nu):
    X, y = binary_stream(25, rows=4000, noise=0.0)
    model = NORMAClassifier(0.05, 0.0, 0.01, nu=nu, **EXACT).partial_fit(X, y, classes=[-1, 1])
    # rho = eta * (nu*t - rows below it), which stays bounded
    rho = model._model.get_state()["column_memory"][0]
    below = nu - rho / (0.05 * len(y))
    assert below == pytest.approx(nu, abs=0.05)


@pytest.mark.parametrize("model", [ASGDClassifier(l2=2.0), NORMAClassifier(l2=2.0)])
def test_a_rate_that_would_turn_the_weights_over_is_refused(model):
    with pytest.raises(ParameterError, match=r"'eta0' parameter must be < 1/l2 = 0.5"):
        model.partial_fit(np.eye(2), [0, 1])


@pytest.mark.parametrize("cls", [PegasosClassifier, ASGDClassifier, NORMAClassifier])
def test_a_row_of_zeros_only_fades_the_weights(cls):
    X, y = binary_stream(26)
    model = cls(fit_intercept=False, **EXACT).partial_fit(X, y)
    if hasattr(model, "average"):
        model = cls(fit_intercept=False, average=False, **EXACT).partial_fit(X, y)
    before = model.coef_
    model.partial_fit(np.zeros((1, X.shape[1])), [1])
    ratios = model.coef_ / before
    assert (ratios <= 1).all()
    np.testing.assert_allclose(ratios, ratios[0, 0])
