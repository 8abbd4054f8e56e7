"""ALMA by hand and against its slow form; every step of ROMMA is the argmin of its problem."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, binary_stream, class_stream, weights, with_constant
from scipy.optimize import minimize

from yarrow.linear_model import ALMAClassifier, ROMMAClassifier

# -- ALMA ------------------------------------------------------------------------------------------


def test_alma_by_hand():
    """alpha = 0.5, B = 1, C = 1: margins of 0.5/sqrt(k), steps of 1/sqrt(k), unit ball."""
    model = ALMAClassifier(0.5, B=1.0, C=1.0, fit_intercept=False, classes=[-1, 1], **EXACT)
    rows = [[3.0, 4.0], [0.0, 2.0], [5.0, 0.0], [0.0, -1.0], [0.0, 0.0], [1.0, 0.0]]
    labels = [-1, 1, -1, 1, 1, 1]
    root = np.sqrt
    expected = [[-0.6, -0.8]]  # k = 1: margin 0 <= 0.5
    # k = 2: z' = (0, 1), margin -0.8; (-0.6, -0.8 + 0.7071)
    expected.append([-0.6, -0.8 + 1 / root(2)])
    # k = 3: z' = (-1, 0), margin 0.6 > 0.5/sqrt(3) = 0.289: nothing
    expected.append(expected[-1])
    # k = 3: z' = (0, -1), margin 0.0929 <= 0.289; add 0.5774, norm sqrt(0.36 + 0.4493) < 1
    expected.append([-0.6, -0.8 + 1 / root(2) - 1 / root(3)])
    expected.append(expected[-1])  # a row of zeros
    # k = 4: z' = (1, 0), margin -0.6 <= 0.25; add 0.5
    expected.append([-0.1, -0.8 + 1 / root(2) - 1 / root(3)])
    for row, label, w in zip(rows, labels, expected, strict=True):
        model.partial_fit([row], [label])
        seen = weights(model)[0, 1:] * (1 if len(model._fitted.classes) == 2 else -1)
        np.testing.assert_allclose(seen, w, rtol=0, atol=1e-12)
    assert model.n_updates_ == 4


def slow_alma(Z, sample_weight, alpha, B, C):
    w, k = np.zeros(Z.shape[1]), 1
    for z, weight in zip(Z, sample_weight, strict=True):
        unit = z / np.linalg.norm(z)
        if unit @ w <= (1 - alpha) * B / np.sqrt(k):
            w = w + weight * C / np.sqrt(k) * unit
            w /= max(1.0, np.linalg.norm(w))
            k += 1
        yield w


@pytest.mark.parametrize(("alpha", "B"), [(0.9, None), (0.5, None), (1.0, 0.3)])
def test_alma_equals_its_slow_form(alpha, B):
    X, y = binary_stream(31, rows=300, features=8, density=0.5)
    sample_weight = np.random.default_rng(31).choice([0.5, 1.0, 2.0], len(y))
    model = ALMAClassifier(alpha, B, classes=[-1, 1], **EXACT)
    Z = y[:, None] * with_constant(X)
    B = np.sqrt(8) / alpha if B is None else B
    for i, w in enumerate(slow_alma(Z, sample_weight, alpha, B, np.sqrt(2))):
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=sample_weight[i : i + 1])
        if i:
            np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-9)
    assert model.n_updates_ > 10
    assert model.n_updates_ < len(y) or alpha < 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_all_weights_of_alma_together_stay_in_the_unit_ball(dtype):
    """Those of features that are not in the row, too."""
    random = np.random.default_rng(32)
    X = random.normal(size=(4000, 300)) * (random.random((4000, 300)) < 0.02)
    y = np.where(X @ random.normal(size=300) > 0, 1, -1)
    model = ALMAClassifier(0.9, dtype=dtype)
    norms = []
    for i in range(0, len(y), 50):
        model.partial_fit(X[i : i + 50], y[i : i + 50])
        norms.append(np.linalg.norm(weights(model)))
    assert max(norms) <= 1 + 1e-6
    assert max(norms) > 0.999


def test_alma_reaches_its_share_of_the_largest_margin():
    random = np.random.default_rng(33)
    u = random.normal(size=5)
    u /= np.linalg.norm(u)
    X = random.normal(size=(300, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(X @ u) > 0.2]
    y = np.sign(X @ u).astype(int)
    model = ALMAClassifier(0.3, fit_intercept=False, max_iter=300, **EXACT).fit(X, y)
    w = model.coef_[0] / np.linalg.norm(model.coef_)
    assert (y * (X @ w)).min() >= 0.7 * (y * (X @ u)).min()


# -- ROMMA -----------------------------------------------------------------------------------------


def shortest(w, z):
    """argmin |u| with u.w >= |w|^2 and z.u >= 1."""
    rows, bounds = (np.array([w, z]), np.array([w @ w, 1.0]))
    return minimize(
        lambda u: 0.5 * u @ u,
        w + z * max(0.0, 1 - z @ w) / (z @ z),
        jac=lambda u: u,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda u: rows @ u - bounds, "jac": lambda u: rows},
        options={"ftol": 1e-16, "maxiter": 500},
    ).x


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("intercept", [None, 0.5])
def test_romma_steps_are_argmins(aggressive, intercept):
    X, y = binary_stream(34, rows=80, features=6, noise=0.0)
    Z = y[:, None] * with_constant(X, intercept or 0.0)
    model = ROMMAClassifier(
        aggressive,
        fit_intercept=intercept is not None,
        intercept_scaling=intercept or 1.0,
        classes=[-1, 1],
        **EXACT,
    ).partial_fit(X[:2], y[:2])
    updates = 0
    for i in range(2, len(y)):
        w = weights(model)[0]
        learns = Z[i] @ w < 1 if aggressive else Z[i] @ w <= 0
        expected = shortest(w, Z[i]) if learns else w
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=[0.5])
        np.testing.assert_allclose(weights(model)[0], expected, rtol=1e-6, atol=1e-6)
        updates += learns
    assert 5 < updates < 70


def test_romma_starts_with_the_shortest_weights_that_meet_the_row():
    model = ROMMAClassifier(fit_intercept=False, **EXACT)
    model.partial_fit([[3.0, 4.0]], [1]).partial_fit([[1.0, 2.0]], [2])
    np.testing.assert_allclose(
        model.coef_[0], shortest(np.array([-0.12, -0.16]), np.array([1.0, 2.0])), atol=1e-9
    )


def test_the_row_alone_where_it_implies_the_past():
    """A row along w: the half-space of w is met by the shortest weights for the row."""
    model = ROMMAClassifier(aggressive=True, fit_intercept=False, classes=[0, 1], **EXACT)
    model.partial_fit([[2.0, 0.0], [-1.0, 0.0], [-0.5, 0.0], [-0.4, 1e-9]], [0, 1, 0, 1])
    # -z/|z|^2 = -0.5, doubled by the second row; the third contradicts; the fourth asks for -2.5
    np.testing.assert_allclose(model.coef_, [[-2.5, 0.0]], atol=1e-6)


@pytest.mark.parametrize("aggressive", [False, True])
def test_rows_that_romma_leaves_alone(aggressive):
    X, y = binary_stream(35)
    model = ROMMAClassifier(aggressive, fit_intercept=False, **EXACT).partial_fit(X, y)
    before = model.coef_
    contradiction = -3.0 * before  # no u has u.w >= |w|^2 and -3*w.u >= 1
    model.partial_fit(np.vstack([np.zeros((1, 4)), contradiction]), [1, 1])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_mistakes_ > 0


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_romma_goes_on_for_ever_on_contradicting_rows(aggressive, multiclass):
    X, y = class_stream(36, rows=20_000, features=10)
    y = np.random.default_rng(36).permutation(y)
    model = ROMMAClassifier(aggressive, multiclass=multiclass).partial_fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.n_updates_ > 5000
    before = model.n_updates_
    model.partial_fit(X[:1000], y[:1000])
    assert model.n_updates_ > before + 100  # it still learns
