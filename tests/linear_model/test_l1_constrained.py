"""The L1-norm-constrained Passive-Aggressive against its problem; the ball is never left."""

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
from yarrow.linear_model import L1ConstrainedPAClassifier, PassiveAggressiveClassifier


def nearest_in_ball(w, z, beta):
    """argmin 1/2 |u - w|^2 such that z.u >= 1 and |u|_1 <= beta, with u = p - n, p, n >= 0."""
    d = len(w)
    start = np.zeros(d)
    start[np.argmax(np.abs(z))] = 1 / z[np.argmax(np.abs(z))]
    found = minimize(
        lambda q: 0.5 * np.sum((q[:d] - q[d:] - w) ** 2),
        np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)]),
        jac=lambda q: np.concatenate([q[:d] - q[d:] - w, w - q[:d] + q[d:]]),
        method="SLSQP",
        bounds=[(0, None)] * (2 * d),
        constraints=[
            {
                "type": "ineq",
                "fun": lambda q: z @ (q[:d] - q[d:]) - 1,
                "jac": lambda q: np.concatenate([z, -z]),
            },
            {
                "type": "ineq",
                "fun": lambda q: beta - q.sum(),
                "jac": lambda q: -np.ones(2 * d),
            },
        ],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x[:d] - found.x[d:]


@pytest.mark.parametrize("beta", [1.0, 1.3, 2.0])
@pytest.mark.parametrize("kind", ["real", "binary", "sparse"])
def test_steps_are_argmins(beta, kind):
    X, y = binary_stream(61, rows=60, features=8, density=0.5 if kind == "sparse" else 1.0)
    if kind == "binary":
        X = (X > 0.5).astype(float)
    model = L1ConstrainedPAClassifier(beta, **EXACT).partial_fit(X[:2], y[:2])
    pulled = 0
    for i, z in list(enumerate(y[:, None] * with_constant(X)))[2:]:
        w = weights(model)[0]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        found = weights(model)[0]
        assert np.abs(found).sum() <= beta * (1 + 1e-12)
        if z @ w >= 1:
            np.testing.assert_array_equal(found, w)
            continue
        assert z @ found >= 1 - 1e-9
        np.testing.assert_allclose(found, nearest_in_ball(w, z, beta), rtol=0, atol=1e-6)
        pulled += np.abs(found).sum() > beta - 1e-9
    assert pulled > 5
    assert model.n_updates_ > 10


def test_a_large_ball_is_passive_aggressive():
    X, y = binary_stream(62, rows=200, features=10)
    free = PassiveAggressiveClassifier(variant="pa", **EXACT).partial_fit(X, y)
    model = L1ConstrainedPAClassifier(1e6, **EXACT).partial_fit(X, y)
    np.testing.assert_allclose(weights(model), weights(free), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("beta", [1.0, 3.0, 30.0])
def test_the_ball_is_never_left(dtype, beta):
    X, y = class_stream(63, rows=400, features=60, density=0.2)
    model = L1ConstrainedPAClassifier(beta, dtype=dtype)
    for begin in range(0, 400, 20):
        model.partial_fit(scipy.sparse.csr_array(X[begin : begin + 20]), y[begin : begin + 20])
        assert np.abs(weights(model)).sum(axis=1).max() <= beta * (1 + 1e-6)
    assert model.sparsity_ > 0.02 or beta == 30


def test_rows_out_of_reach_are_left_alone():
    """beta * max|x_i| < 1: no weights satisfy both constraints. At equality one weight does."""
    model = L1ConstrainedPAClassifier(4.0, fit_intercept=False, classes=[-1, 1], **EXACT)
    model.partial_fit([[1.0, 0.5], [0.5, -1.0]], [1, -1])
    before, updates = weights(model), model.n_updates_
    model.partial_fit([[-0.24, 0.2], [0.0, 0.0]], [1, 1])
    np.testing.assert_array_equal(weights(model), before)
    assert model.n_updates_ == updates
    assert model.t_ == 4
    model.partial_fit([[-0.25, 0.2]], [1])
    np.testing.assert_allclose(weights(model)[0, 1:], [-4.0, 0.0], atol=1e-9)


def test_a_call_that_fails_after_it_shrank_all_weights_is_undone():
    X, y = binary_stream(64, rows=300, features=500, density=0.02)
    rows = scipy.sparse.csr_array(X)
    model = L1ConstrainedPAClassifier(2.0, **EXACT).partial_fit(rows, y)
    before = copy.deepcopy(model)
    bad = X[:4].copy()
    bad[3, 0] = 1e200
    wrong = [-1 if label == 1 else 1 for label in model.predict(bad)]
    with pytest.raises(DataError, match=r"Row 3: .*scale"):
        model.partial_fit(scipy.sparse.csr_array(bad), wrong)
    assert_same(model, before)
    model.partial_fit(scipy.sparse.csr_array(bad[:3]), wrong[:3])
    elsewhere = np.setdiff1d(np.flatnonzero(before.coef_[0]), np.flatnonzero(bad.any(axis=0)))
    assert (model.coef_[0, elsewhere] != before.coef_[0, elsewhere]).any()
    assert_same(model, before.partial_fit(scipy.sparse.csr_array(bad[:3]), wrong[:3]))
