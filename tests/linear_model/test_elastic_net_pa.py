"""Passive-Aggressive with an elastic net: argmins of its problem, and pulls that are paid late."""

import copy

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import (
    EXACT,
    assert_same,
    binary_stream,
    class_stream,
    weights,
    with_constant,
)
from scipy.optimize import minimize

from yarrow.errors import DataError
from yarrow.linear_model import ElasticNetPAClassifier, RegularizedPAClassifier

LEARNS = {"margin": lambda m: m < 1, "mistakes": lambda m: m <= 0}


def solve(w, z, alpha, l1, price):
    """argmin 1/2|u - w|^2 + alpha/2|u|^2 + l1|u|_1 + price*xi^2 with z.u >= 1 - xi.

    u = p - n with p, n >= 0, so that the problem is smooth; without a price xi is 0.
    """
    d, weight = len(w), 0.0 if price is None else price
    start = w + z * (1 - z @ w) / (z @ z)

    def objective(q):
        u = q[:d] - q[d:-1]
        value = 0.5 * (u - w) @ (u - w) + 0.5 * alpha * u @ u + l1 * q[:-1].sum()
        slope = u - w + alpha * u
        return value + weight * q[-1] ** 2, np.concatenate(
            [slope + l1, l1 - slope, [2 * weight * q[-1]]]
        )

    found = minimize(
        objective,
        np.concatenate([np.maximum(start, 0), np.maximum(-start, 0), [0.0]]),
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (2 * d) + [(0, 0 if price is None else None)],
        constraints=[
            {
                "type": "ineq",
                "fun": lambda q: z @ (q[:d] - q[d:-1]) - 1 + q[-1],
                "jac": lambda q: np.concatenate([z, -z, [1.0]]),
            }
        ],
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    return found.x[:d] - found.x[d:-1]


@pytest.mark.parametrize("update", LEARNS)
@pytest.mark.parametrize("density", [1.0, 0.4])
@pytest.mark.parametrize(("alpha", "l1"), [(0.01, 0.05), (0.5, 0.2), (0.0, 0.1)])
@pytest.mark.parametrize("C", [None, 0.1, 2.0])
def test_steps_are_argmins(alpha, l1, C, density, update):
    X, y = binary_stream(91, rows=60, features=6, density=density)
    sample_weight = np.random.default_rng(91).choice([0.5, 1.0, 2.0], len(y))
    model = ElasticNetPAClassifier(
        alpha, l1, C, update, intercept_scaling=0.5, classes=[-1, 1], **EXACT
    ).partial_fit(X[:2], y[:2])
    updates = zeros = 0
    for i, z in list(enumerate(y[:, None] * with_constant(X, 0.5)))[2:]:
        w = weights(model)[0]
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=sample_weight[i : i + 1])
        if LEARNS[update](z @ w):
            w = solve(w, z, alpha, l1, None if C is None else C * sample_weight[i])
            updates += 1
        np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-6)
        zeros += np.sum(weights(model)[0] == 0)
    assert updates > 8
    assert zeros > 0


def test_a_pull_that_gives_the_margin_by_itself_moves_nothing_else():
    """The pull takes 1 from each weight, and two of three speak against the row."""
    model = ElasticNetPAClassifier(0.0, 1.0, fit_intercept=False, classes=[-1, 1], **EXACT)
    state = copy.deepcopy(model.partial_fit(np.zeros((2, 3)), [-1, 1]).__getstate__())
    blocks = state["_core_state"]["tensors"]["blocks"].copy()
    blocks[1:, 0, 0] = [10.0, -4.0, -5.5]
    state["_core_state"]["tensors"]["blocks"] = blocks
    model.__setstate__(state)
    model.partial_fit([[1.0, 1.0, 1.0]], [1])
    np.testing.assert_allclose(model.coef_, [[9.0, -3.0, -4.5]], atol=1e-12)


@pytest.mark.parametrize("update", LEARNS)
@pytest.mark.parametrize("C", [None, 0.5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_without_l1_it_is_objective_regularised(C, update, dtype):
    X, y = class_stream(92, rows=400, features=30, density=0.2)
    rows = scipy.sparse.csr_array(X)
    model = ElasticNetPAClassifier(0.05, 0.0, C, update, dtype=dtype).partial_fit(rows, y)
    other = RegularizedPAClassifier(0.05, C, update, dtype=dtype).partial_fit(rows, y)
    tolerance = 1e-9 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(weights(model), weights(other), rtol=tolerance, atol=tolerance)
    assert model.n_updates_ == other.n_updates_


def pulled_at_once(X, y, alpha, l1, C=None):
    """Every update visits all weights. Steps are found by halving an interval."""
    w = np.zeros(X.shape[1] + 1)
    for z in y[:, None] * with_constant(X):
        if z @ w >= 1:
            continue

        def stepped(tau, w=w, z=z):
            v = w + tau * z
            return np.sign(v) * np.maximum(np.abs(v) - l1, 0) / (1 + alpha)

        low, high = 0.0, 1.0
        slack = 0.0 if C is None else 1 / (2 * C)
        while z @ stepped(high) + slack * high < 1:
            high *= 2
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if z @ stepped(middle) + slack * middle < 1 else (low, middle)
            )
        w = stepped(high)
    return w


@pytest.mark.parametrize(
    ("alpha", "l1"), [(1e-3, 1e-3), (0.1, 0.01), (0.0, 0.003), (30.0, 1e-4), (1e-9, 1e-3)]
)
@pytest.mark.parametrize("C", [None, 1.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pulls_paid_late_are_pulls_paid_at_once(alpha, l1, C, dtype):
    """Features are rare, so that most owe for many updates; alpha=30 rescales again and again."""
    X, y = binary_stream(93, rows=600, features=200, density=0.03)
    X = np.round(8 * X) / 8  # the same in either precision
    model = ElasticNetPAClassifier(alpha, l1, C, classes=[-1, 1], dtype=dtype)
    model.partial_fit(scipy.sparse.csr_array(X), y)
    wanted = pulled_at_once(X, y, alpha, l1, C)
    tolerance = 1e-9 if dtype == "float64" else 2e-4
    np.testing.assert_allclose(weights(model)[0], wanted, rtol=0, atol=tolerance)
    if dtype == "float64":
        assert model.n_nonzero_ == np.count_nonzero(wanted[1:])
    assert model.n_updates_ > 200


def test_old_features_leave_the_model():
    random = np.random.default_rng(94)
    X = np.zeros((2000, 40))
    X[:1000, :20] = random.normal(size=(1000, 20))
    X[1000:, 20:] = random.normal(size=(1000, 20))
    y = np.where(X @ random.normal(size=40) > 0, 1, -1)
    model = ElasticNetPAClassifier(0.01, 0.01).partial_fit(X, y)
    assert not model.coef_[0, :20].any()
    assert np.count_nonzero(model.coef_[0, 20:]) > 10


@pytest.mark.parametrize("l1", [1e-3, 1e30])
def test_a_call_that_fails_after_a_rescaling_is_undone(l1):
    X, y = binary_stream(95, rows=50, features=300, density=0.02)
    rows = scipy.sparse.csr_array(X)
    model = ElasticNetPAClassifier(1e17, l1, classes=[-1, 1], **EXACT).partial_fit(rows, y)
    before = copy.deepcopy(model)
    bad = X[:10].copy()
    bad[9, 0] = 1e200
    with pytest.raises(DataError, match=r"Row 9: .*scale"):
        model.partial_fit(scipy.sparse.csr_array(bad), y[:10])
    assert_same(model, before)
    good = scipy.sparse.csr_array(bad[:9])
    assert_same(model.partial_fit(good, y[:9]), before.partial_fit(good, y[:9]))


def test_rows_with_their_margin_and_rows_of_zeros_change_nothing():
    model = ElasticNetPAClassifier(0.1, 0.1, fit_intercept=False, classes=[-1, 1], **EXACT)
    model.partial_fit([[1.0, 0.5], [0.0, -1.0]], [1, -1])
    before = model.coef_
    model.partial_fit(np.vstack([2 * before / np.sum(before**2), np.zeros((1, 2))]), [1, -1])
    np.testing.assert_array_equal(model.coef_, before)
