"""Passive-Aggressive that forgets: argmins of the paper's problems, the ball, rotations."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, binary_stream, class_stream, weights, with_constant
from scipy.optimize import minimize
from scipy.stats import special_ortho_group

from yarrow.linear_model import (
    NormConstrainedPAClassifier,
    RegularizedPAClassifier,
)


def solve(w, z, alpha=0.0, price=None, beta=None):
    """argmin 1/2|u - w|^2 + alpha/2 |u|^2 + price*xi^2 with z.u >= 1 - xi and |u| <= beta."""
    d, weight = len(w), 0.0 if price is None else price
    constraints = [
        {"type": "ineq", "fun": lambda p: z @ p[:d] - 1 + p[d], "jac": lambda p: np.append(z, 1.0)}
    ]
    if beta is not None:
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda p: beta**2 - p[:d] @ p[:d],
                "jac": lambda p: np.append(-2 * p[:d], 0.0),
            }
        )
    start = w + z * (1 - z @ w) / (z @ z)
    found = minimize(
        lambda p: (
            0.5 * (p[:d] - w) @ (p[:d] - w) + 0.5 * alpha * p[:d] @ p[:d] + weight * p[d] ** 2
        ),
        np.append(start if beta is None else z / (z @ z), 0.0),
        jac=lambda p: np.append(p[:d] - w + alpha * p[:d], 2 * weight * p[d]),
        method="SLSQP",
        bounds=[(None, None)] * d + [(0.0, 0.0 if price is None else None)],
        constraints=constraints,
        options={"ftol": 1e-17, "maxiter": 1000},
    )
    return found.x[:d]


def check_argmins(model, expected, learns, intercept=0.5, seed=41):
    X, y = binary_stream(seed, rows=60)
    sample_weight = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(y))
    Z = y[:, None] * with_constant(X, intercept)
    model.set_params(intercept_scaling=intercept, classes=[-1, 1], **EXACT)
    model.partial_fit(X[:2], y[:2])
    updates = 0
    for i in range(2, len(y)):
        w = weights(model)[0]
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=sample_weight[i : i + 1])
        wanted = expected(w, Z[i], sample_weight[i]) if learns(Z[i] @ w) else w
        np.testing.assert_allclose(weights(model)[0], wanted, rtol=0, atol=1e-6)
        updates += learns(Z[i] @ w)
    assert updates > 8
    assert updates < 58 or getattr(model, "C", None) == 0.1  # passive rows were met, too


LEARNS = {"margin": lambda m: m < 1, "mistakes": lambda m: m <= 0}


@pytest.mark.parametrize("update", LEARNS)
@pytest.mark.parametrize("alpha", [0.01, 0.5])
@pytest.mark.parametrize("C", [None, 0.1, 2.0])
def test_objective_regularised_steps_are_argmins(alpha, C, update):
    """Lemmas 3.1 and 5.1, on the rows that the algorithm learns."""
    check_argmins(
        RegularizedPAClassifier(alpha, C, update),
        lambda w, z, weight: solve(w, z, alpha, None if C is None else C * weight),
        LEARNS[update],
    )


@pytest.mark.parametrize("beta", [1.9, 5.0])
def test_norm_constrained_steps_are_argmins(beta):
    """Lemma 3.2; beta = 1.9 makes the ball bind and some rows too short."""
    short = []

    def expected(w, z, _):
        short.append(beta * np.linalg.norm(z) <= 1)
        return w if short[-1] else solve(w, z, beta=beta)

    check_argmins(NormConstrainedPAClassifier(beta), expected, LEARNS["margin"], 0.1, seed=44)
    assert not all(short)


def test_top1_is_one_problem_over_all_classes():
    X, y = class_stream(42, rows=60, features=3, classes=3)
    rows = with_constant(X)
    model = RegularizedPAClassifier(0.2, multiclass="top1", **EXACT).partial_fit(X[:50], y[:50])
    classes = model.classes_.tolist()
    updates = 0
    for i in range(50, 60):
        W, c = weights(model), classes.index(y[i])
        scores = W @ rows[i]
        rival = max((k for k in range(3) if k != c), key=lambda k: scores[k])
        z = np.zeros_like(W)
        z[c], z[rival] = rows[i], -rows[i]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if scores[c] - scores[rival] < 1:
            W = solve(W.ravel(), z.ravel(), 0.2)
            updates += 1
        np.testing.assert_allclose(weights(model).ravel(), W.ravel(), rtol=0, atol=1e-6)
    assert updates > 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_weights_never_leave_the_ball(dtype, multiclass):
    random = np.random.default_rng(43)
    X = random.normal(size=(20_000, 100)) * (random.random((20_000, 100)) < 0.1)
    y = random.integers(3, size=len(X))
    model = NormConstrainedPAClassifier(2.0, dtype=dtype, multiclass=multiclass)
    largest = 0.0
    for i in range(0, len(y), 250):
        model.partial_fit(X[i : i + 250], y[i : i + 250])
        norms = np.linalg.norm(weights(model), axis=1)
        largest = max(largest, norms.max() if multiclass == "ovr" else np.linalg.norm(norms))
    assert 1.999 < largest <= 2.0 * (1 + (1e-5 if dtype == "float32" else 1e-9))


def test_rows_too_short_for_the_ball_change_nothing():
    X, y = binary_stream(44)
    model = NormConstrainedPAClassifier(2.0, fit_intercept=False, **EXACT).partial_fit(X, y)
    before = model.coef_
    short = np.array([[0.5, 0, 0, 0], [0, -0.3, 0, 0.3], [0, 0, 0, 0]])
    model.partial_fit(np.vstack([short, short]), [1, 1, 1, -1, -1, -1])
    np.testing.assert_array_equal(model.coef_, before)
    model.partial_fit([[0.5001, 0, 0, 0]], [-1])  # barely long enough: all else is given up
    np.testing.assert_allclose(model.coef_, [[-1 / 0.5001, 0, 0, 0]], atol=0.05)


@pytest.mark.parametrize("model", [RegularizedPAClassifier(0.1), NormConstrainedPAClassifier(2.0)])
def test_rows_with_their_margin_and_rows_of_zeros_change_nothing(model):
    """(3.1) taken literally would shrink the weights there; the algorithm is passive."""
    X, y = binary_stream(45, noise=0.0)
    model = model.clone({"fit_intercept": False, **EXACT}).partial_fit(X, y)
    before = model.coef_
    model.partial_fit(np.vstack([2 * before / np.sum(before**2), np.zeros((1, 4))]), [1, -1])
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize(
    "model",
    [
        RegularizedPAClassifier(0.1),
        RegularizedPAClassifier(0.1, C=0.5, update="mistakes"),
        NormConstrainedPAClassifier(2.0),
    ],
    ids=repr,
)
def test_rotated_rows_give_rotated_weights(model):
    """Lemma 3.3."""
    X, y = binary_stream(46, rows=200, features=6)
    M = special_ortho_group.rvs(6, random_state=46)
    plain, rotated = (model.clone({"fit_intercept": False, **EXACT}) for _ in range(2))
    plain.partial_fit(X, y)
    rotated.partial_fit(X @ M.T, y)
    np.testing.assert_allclose(rotated.coef_, plain.coef_ @ M.T, rtol=0, atol=1e-9)
    assert not np.allclose(rotated.coef_, plain.coef_, atol=0.1)


def test_a_class_that_comes_once_fades_but_stays():
    X, y = class_stream(48, rows=100, classes=3)
    y[50] = 999
    for model in (RegularizedPAClassifier(0.2), NormConstrainedPAClassifier(1.5)):
        model.partial_fit(X, y)
        assert 999 in model.classes_
        assert np.isfinite(model.coef_).all()
