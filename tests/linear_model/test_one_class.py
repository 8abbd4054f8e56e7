"""One class: every step is the argmin of the paper's own problem; the radius learned by hand."""

import numpy as np
import pytest
from linear_model.oracles import EXACT
from scipy.optimize import minimize

from yarrow.linear_model import OneClassPassiveAggressive

VARIANTS = {"pa": (None, 1), "pa1": (0.3, 1), "pa2": (0.3, 2)}


def stream(seed, rows=60, features=4):
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, features)) + np.arange(features)


def nearest_centre(w, x, radius, price, power):
    """argmin 1/2 |u - w|^2 + price * xi^power with |u - x| <= radius + xi."""
    d, weight = len(w), 0.0 if price is None else price
    gap = np.linalg.norm(w - x)
    found = minimize(
        lambda p: 0.5 * (p[:d] - w) @ (p[:d] - w) + weight * p[d] ** power,
        np.append(x + (w - x) * 0.5 * radius / gap, 0.0),
        jac=lambda p: np.append(p[:d] - w, weight * power * p[d] ** (power - 1)),
        method="SLSQP",
        bounds=[(None, None)] * d + [(0.0, 0.0 if price is None else None)],
        constraints={
            "type": "ineq",
            "fun": lambda p: radius + p[d] - np.linalg.norm(p[:d] - x),
            "jac": lambda p: np.append((x - p[:d]) / np.linalg.norm(p[:d] - x), 1.0),
        },
        options={"ftol": 1e-17, "maxiter": 1000},
    )
    return found.x[:d]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("learn_radius", [False, True])
def test_steps_are_argmins(variant, learn_radius):
    """A learned radius is one more coordinate: 0 in all rows, at first the largest in w."""
    price, power = VARIANTS[variant]
    X = stream(81)
    model = OneClassPassiveAggressive(2.0, 0.3, variant, learn_radius=learn_radius, **EXACT)
    sample_weight = np.random.default_rng(81).choice([0.5, 1.0, 2.0], len(X))
    w, extra = np.zeros(5), 2.0 if learn_radius else 0.0
    w[4] = extra
    updates = 0
    for x, weight in zip(X, sample_weight, strict=True):
        row = np.append(x, 0.0)
        if np.linalg.norm(w - row) > 2.0:
            w = nearest_centre(w, row, 2.0, None if price is None else price * weight, power)
            updates += 1
        model.partial_fit([x], sample_weight=[weight])
        np.testing.assert_allclose(model.coef_, w[:4], rtol=0, atol=1e-6)
        radius = np.sqrt(4.0 - w[4] ** 2) if learn_radius else 2.0
        assert model.radius_ == pytest.approx(radius, abs=1e-5)
        w[:4] = model.coef_
    assert updates > 5
    assert updates < len(X) or learn_radius
    assert model.n_updates_ == updates


def test_distances_and_answers():
    X = stream(82, rows=200)
    model = OneClassPassiveAggressive(3.0, 0.1).fit(X)
    distance = np.linalg.norm(X - model.coef_, axis=1)
    np.testing.assert_allclose(model.score_samples(X), -distance, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), np.where(distance <= 3.0, 1, -1))
    assert (model.predict(X) == 1).mean() > 0.7
    assert (model.predict(X + 10) == -1).all()
    np.testing.assert_allclose(model.decision_function(X), 3.0 - distance, rtol=1e-4, atol=1e-5)


def test_a_row_inside_and_a_row_at_the_centre_change_nothing():
    model = OneClassPassiveAggressive(1.0, variant="pa", **EXACT).partial_fit([[3.0, 0.0]])
    np.testing.assert_allclose(model.coef_, [2.0, 0.0])
    model.partial_fit([[2.0, 0.0], [2.5, 0.5], [2.0, -1.0]])
    np.testing.assert_allclose(model.coef_, [2.0, 0.0])
    assert model.n_updates_ == 1


def test_a_row_of_zeros_is_a_row():
    model = OneClassPassiveAggressive(1.0, variant="pa", **EXACT)
    model.partial_fit([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(model.coef_, [0.6, 0.8])
