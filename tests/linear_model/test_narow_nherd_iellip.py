"""NAROW, NHERD and IELLIP: every step against the paper's own problem or matrices."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, binary_stream, placed, planes, weights, with_constant
from scipy.optimize import minimize

from yarrow.linear_model import IELLIPClassifier, NAROWClassifier, NHERDClassifier


def steps(model, X, y, sample_weight=None):
    """For each row: signed example, means, variances, weight, and both after it was learned."""
    model = model.clone({"classes": [-1, 1]}).partial_fit(X[:2], y[:2])
    sample_weight = np.ones(len(y)) if sample_weight is None else sample_weight
    for x, label, weight in zip(X[2:], y[2:], sample_weight[2:], strict=True):
        mu, s = planes(model)[:, :2, 0].T.copy()
        model.partial_fit([x], [label], sample_weight=[weight])
        z = label * with_constant(np.atleast_2d(x))[0]
        yield z, mu, s, weight, *planes(model)[:, :2, 0].T


def kept_diagonal(sigma, covariance):
    """The variances that a diagonal form keeps of a full covariance."""
    precision = covariance in ("diagonal", "project")
    return 1 / np.diag(np.linalg.inv(sigma)) if precision else np.diag(sigma)


def test_variances_never_grow_and_zero_rows_change_nothing():
    X, y = binary_stream(51, rows=200, density=0.5)
    X[10] = 0
    for model in (NAROWClassifier(3.0), NHERDClassifier(), IELLIPClassifier()):
        model = model.clone({"fit_intercept": False})
        for i, (_, mu, s, _, mean, variance) in enumerate(steps(model, X, y), start=2):
            assert (variance <= s).all()
            assert (variance > 0).all()
            if i == 10:
                np.testing.assert_array_equal(mean, mu)


# -- NHERD -------------------------------------------------------------------------------------


def best_map(sigma, z, C, diagonal):
    """argmin over A of 1/2 tr((A - I)' Sigma^-1 (A - I) Sigma) + C/2 z'A Sigma A'z."""
    d, eye, precision = len(z), np.eye(len(z)), np.linalg.inv(sigma)

    def there(p):
        return np.diag(p) if diagonal else p.reshape(d, d)

    def cost(p):
        A = there(p)
        return 0.5 * np.trace((A - eye).T @ precision @ (A - eye) @ sigma) + 0.5 * C * (
            z @ A @ sigma @ A.T @ z
        )

    def gradient(p):
        A = there(p)
        G = precision @ (A - eye) @ sigma + C * np.outer(z, z) @ A @ sigma
        return np.diag(G) if diagonal else G.ravel()

    start = np.ones(d) if diagonal else eye.ravel()
    found = minimize(cost, start, jac=gradient, method="BFGS", options={"gtol": 1e-10})
    A = there(found.x)
    return A @ sigma @ A.T


def best_mean(mu, sigma, z, C):
    """argmin over b of 1/2 (b - mu)' Sigma^-1 (b - mu) + C/2 max(0, 1 - z.b)^2."""
    precision = np.linalg.inv(sigma)
    found = minimize(
        lambda b: 0.5 * (b - mu) @ precision @ (b - mu) + 0.5 * C * max(0, 1 - z @ b) ** 2,
        mu,
        jac=lambda b: precision @ (b - mu) - C * max(0, 1 - z @ b) * z,
        method="BFGS",
        options={"gtol": 1e-11},
    )
    return found.x


@pytest.mark.parametrize("covariance", ["exact", "project", "drop"])
def test_nherd_moves_the_herd_by_the_best_linear_map(covariance):
    X, y = binary_stream(52, rows=40, features=3)
    X[5] = 0
    sample_weight = np.random.default_rng(52).choice([0.5, 1.0, 2.0], len(y))
    model = NHERDClassifier(0.7, covariance, **EXACT)
    updates = 0
    for z, mu, s, weight, mean, variance in steps(model, X, y, sample_weight):
        if z @ mu >= 1:
            np.testing.assert_array_equal(mean, mu)
            continue
        updates += 1
        C = 0.7 * weight
        np.testing.assert_allclose(mean, best_mean(mu, np.diag(s), z, C), atol=1e-6)
        moved = best_map(np.diag(s), z, C, diagonal=covariance == "exact")
        np.testing.assert_allclose(variance, kept_diagonal(moved, covariance), rtol=1e-6)
    assert updates > 10


# -- NAROW -------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
@pytest.mark.parametrize("b", [0.5, 4.0])
def test_narow_steps_are_those_of_mirror_descent(b, covariance):
    """w = argmin 1/2 w'A w - theta.w, where the row joins theta, and A by 1/r."""
    X, y = binary_stream(53, rows=80, features=4)
    sample_weight = np.random.default_rng(53).choice([0.5, 1.0, 2.0], len(y))
    seen = set()
    for z, mu, s, weight, mean, variance in steps(
        NAROWClassifier(b, covariance, **EXACT), X, y, sample_weight
    ):
        A, v = np.diag(1 / s), s @ z**2
        inverse_r = (b * v - 1) / v if v > 1 / b else 0.0
        inside = A + inverse_r * np.outer(z, z)
        if z @ np.linalg.solve(inside, A @ mu) >= 1:  # the margin with the row inside
            np.testing.assert_array_equal(mean, mu)
            continue
        expected = np.linalg.solve(inside, A @ mu + weight * z)
        np.testing.assert_allclose(mean, expected, rtol=1e-9, atol=1e-12)
        kept = kept_diagonal(np.linalg.inv(inside), covariance)
        np.testing.assert_allclose(variance, kept, rtol=1e-9)
        if inverse_r > 0:
            assert z @ np.linalg.solve(inside, z) == pytest.approx(1 / b)
        seen.add(inverse_r > 0)
    assert seen == {False, True}


def test_narow_on_rows_with_one_feature_is_the_paper_s_algorithm():
    """There the full matrix is diagonal: sums theta and A, from the first row on."""
    random = np.random.default_rng(54)
    X = np.eye(4)[random.integers(4, size=200)] * random.normal(size=(200, 1))
    y = np.where(random.random(200) < 0.3, 1, -1)
    theta, A, b = np.zeros(4), np.eye(4), 3.0
    for x, label in zip(X, y, strict=True):
        chi = x @ np.linalg.solve(A, x)
        inside = A + (max(0, b - 1 / chi)) * np.outer(x, x)
        if label * x @ np.linalg.solve(inside, theta) < 1:
            theta, A = theta + label * x, inside
    model = NAROWClassifier(b, fit_intercept=False, classes=[-1, 1], **EXACT).partial_fit(X, y)
    np.testing.assert_allclose(model.coef_[0], np.linalg.solve(A, theta), rtol=1e-9)
    np.testing.assert_allclose(model.variance_[0], 1 / np.diag(A), rtol=1e-9)


# -- IELLIP ------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
def test_iellip_moves_to_the_nearest_point_with_margin_one(covariance):
    X, y = binary_stream(55, rows=60, features=3, noise=0.3)
    c, b, k = 0.4, 0.9, None
    for z, mu, s, _, mean, variance in steps(IELLIPClassifier(c, b, covariance, **EXACT), X, y):
        if z @ mu > 0:
            np.testing.assert_array_equal(mean, mu)
            np.testing.assert_array_equal(variance, s)
            continue
        near = minimize(
            lambda u, mu=mu, s=s: 0.5 * np.sum((u - mu) ** 2 / s),
            mu,
            jac=lambda u, mu=mu, s=s: (u - mu) / s,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda u, z=z: z @ u - 1,
                "jac": lambda u, z=z: z,
            },
            options={"ftol": 1e-16, "maxiter": 500},
        ).x
        np.testing.assert_allclose(mean, near, atol=1e-6)
        # The share by which the ellipsoid narrows along z falls by b with each update.
        g = z / np.sqrt(s @ z**2)
        Sg = s * g
        if k is None:
            k = np.round(np.log(_share(s, Sg, variance, covariance) / c) / np.log(b))
        share = c * b**k
        narrowed = np.diag(s) - share * np.outer(Sg, Sg)
        np.testing.assert_allclose(variance, kept_diagonal(narrowed, covariance), rtol=1e-9)
        k += 1
    assert k > 8


def _share(s, Sg, variance, covariance):
    """The share that explains what became of the variances, found by bisection."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        kept = kept_diagonal(np.diag(s) - middle * np.outer(Sg, Sg), covariance)
        low, high = (middle, high) if kept.sum() > variance.sum() else (low, middle)
    return low


def test_a_common_factor_of_the_ellipsoid_changes_no_step():
    """Why the paper's division of Sigma by 1 - c, which only scales it, can be left out."""
    X, y = binary_stream(56, rows=50, features=3, noise=0.3)
    mean, variance = np.zeros(4), np.array([1.0, 0.3, 0.7, 0.1])
    runs = [placed(IELLIPClassifier(**EXACT), mean, f * variance) for f in (1.0, 0.01)]
    for model in runs:
        model.partial_fit(X, y)
    np.testing.assert_allclose(*(weights(model) for model in runs), rtol=1e-9)
    scaled = [planes(model)[:, 1] / f for model, f in zip(runs, (1.0, 0.01), strict=True)]
    np.testing.assert_allclose(*scaled, rtol=1e-9)
