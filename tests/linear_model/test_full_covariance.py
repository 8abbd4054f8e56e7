"""Full covariance: the papers' problems over whole Gaussians, and matrices of thousands of rows."""

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import (
    EXACT,
    binary_stream,
    class_stream,
    full_gaussian_step,
    gaussian_step,
    with_constant,
)
from linear_model.test_confidence import RULES
from linear_model.test_second_order_perceptron import margins_before_learning, paper
from scipy.optimize import minimize
from scipy.special import ndtr

from yarrow.linear_model import (
    AROWClassifier,
    BayesianPerceptron,
    CustomClassifier,
    NHERDClassifier,
    Perceptron,
    SOPClassifier,
)

FULL = {"covariance": "full", "fit_intercept": False, "classes": [-1, 1]}
each_rule = pytest.mark.parametrize("rule", RULES)


def gaussian(model):
    return model.coef_[0].astype(float), model.covariance_[0]


@each_rule
def test_steps_are_argmins_over_all_gaussians(rule):
    """From states that correlate features, each step against a solver that knows no theory."""
    estimator, problem = RULES[rule]
    X, y = binary_stream(51, rows=12, features=3, noise=0.3)
    model = estimator.clone(FULL).partial_fit(X[:4], y[:4])
    compared = 0
    for x, label in zip(X[4:], y[4:], strict=True):
        mu, sigma = gaussian(model)
        assert np.abs(sigma - np.diag(np.diag(sigma))).max() > 1e-3
        model.partial_fit([x], [label])
        if problem(1.0)["shortfall"](label * x @ mu, x @ sigma @ x) <= 1e-3:
            continue
        mean, covariance = full_gaussian_step(mu, sigma, label * x, **problem(1.0))
        np.testing.assert_allclose(model.coef_[0], mean, atol=2e-5)
        np.testing.assert_allclose(model.covariance_[0], covariance, atol=2e-5)
        compared += 1
    assert compared >= 3


@each_rule
def test_long_runs_follow_the_argmin_to_many_digits(rule):
    """Past many waiting steps: mu + alpha*Sigma*z, and the inverse of precision + kappa*z*z'."""
    estimator, problem = RULES[rule]
    X, y = binary_stream(52, rows=90, features=5, density=0.7, noise=0.1)
    sample_weight = np.random.default_rng(52).choice([0.5, 1.0, 2.0], len(y))
    model = estimator.clone(FULL | {"fit_intercept": True})
    model.partial_fit(X[:2], y[:2])
    mu, sigma = np.append(model.intercept_, model.coef_), model._model.covariances()[0]
    updates = 2
    for x, label, weight in zip(with_constant(X)[2:], y[2:], sample_weight[2:], strict=True):
        z = label * x
        m, v = z @ mu, z @ sigma @ z
        model.partial_fit([x[1:]], [label], sample_weight=[weight])
        short = problem(weight)["shortfall"](m, v)
        if short > 30 * np.sqrt(v):  # the solver runs out of digits before the rule does
            mu = np.append(model.intercept_, model.coef_)
            sigma = model._model.covariances()[0]
        elif short > 0:
            alpha, kappa = gaussian_step(m, v, **problem(weight))
            mu = mu + alpha * sigma @ z
            sigma = np.linalg.inv(np.linalg.inv(sigma) + kappa * np.outer(z, z))
        updates += short > 0
        found = model._model.covariances()[0]
        np.testing.assert_allclose(
            np.append(model.intercept_, model.coef_), mu, rtol=1e-6, atol=1e-7
        )
        np.testing.assert_allclose(found, sigma, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(model.variance_[0], np.diag(found)[1:], rtol=1e-12)
        mu, sigma = np.append(model.intercept_, model.coef_), found
    assert updates == model.n_updates_ > 20


def test_gaussian_herding_moves_the_herd_by_its_linear_map():
    """The map A and the place b, found by minimising the paper's two objectives (C = 2)."""
    C = 2.0
    X, y = binary_stream(61, rows=12, features=3, noise=0.3)
    model = NHERDClassifier(C, **FULL, **EXACT).partial_fit(X[:4], y[:4])
    compared = 0
    for x, label in zip(X[4:], y[4:], strict=True):
        mu, sigma = gaussian(model)
        z, precision = label * x, np.linalg.inv(sigma)
        model.partial_fit([x], [label])
        if z @ mu >= 1 - 1e-3:
            continue

        def place(b, mu=mu, precision=precision, z=z):
            loss = max(0.0, 1 - z @ b)
            return 0.5 * (b - mu) @ precision @ (b - mu) + 0.5 * C * loss**2

        def spread(flat, sigma=sigma, precision=precision, z=z):
            A = flat.reshape(3, 3)
            change = A - np.eye(3)
            return 0.5 * np.trace(change.T @ precision @ change @ sigma) + (
                0.5 * C * z @ A @ sigma @ A.T @ z
            )

        b = minimize(place, mu, tol=1e-12).x
        A = minimize(spread, np.eye(3).ravel(), tol=1e-12).x.reshape(3, 3)
        np.testing.assert_allclose(model.coef_[0], b, atol=1e-5)
        np.testing.assert_allclose(model.covariance_[0], A @ sigma @ A.T, atol=1e-5)
        compared += 1
    assert compared >= 3


def test_bayesian_perceptron_matches_the_moments_of_the_posterior():
    """Of the margin's Gaussian times Phi(u / noise), by quadrature; the rest follows linearly."""
    noise = 0.7
    X, y = binary_stream(62, rows=14, features=4, noise=0.2)
    model = BayesianPerceptron(noise, **FULL, **EXACT).partial_fit(X[:3], y[:3])
    for x, label in zip(X[3:], y[3:], strict=True):
        mu, sigma = gaussian(model)
        z = label * x
        m, v = z @ mu, z @ sigma @ z
        u = m + np.sqrt(v) * np.linspace(-12, 12, 200_001)
        density = np.exp(-((u - m) ** 2) / (2 * v)) * ndtr(u / noise)
        density /= density.sum()
        mean = density @ u
        variance = density @ (u - mean) ** 2
        product = sigma @ z
        model.partial_fit([x], [label])
        np.testing.assert_allclose(model.coef_[0], mu + product * (mean - m) / v, atol=1e-7)
        np.testing.assert_allclose(
            model.covariance_[0],
            sigma - np.outer(product, product) * (v - variance) / v**2,
            atol=1e-7,
        )


@pytest.mark.parametrize("density", [1.0, 0.03], ids=["dense", "sparse"])
def test_arow_of_two_thousand_features(density):
    """Against the paper's matrix algebra in NumPy, for some hundred rows."""
    n, rows = 2000, 150
    X, y = binary_stream(53, rows, n, density)
    r = 3.0
    model = AROWClassifier(r, **FULL, **EXACT).partial_fit(scipy.sparse.csr_matrix(X), y)
    mu, sigma, updates = np.zeros(n), np.eye(n), 0
    for x, label in zip(X, y, strict=True):
        margin = label * x @ mu
        if margin >= 1:
            continue
        product = sigma @ x
        beta = 1 / (x @ product + r)
        mu += (1 - margin) * beta * label * product
        sigma -= np.outer(beta * product, product)
        updates += 1
    assert model.n_updates_ == updates > 100
    np.testing.assert_allclose(model.coef_[0], mu, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.covariance_[0], sigma, rtol=1e-9, atol=1e-11)
    assert (model.covariance_[0] == model.covariance_[0].T).all()


@pytest.mark.parametrize("r", [1.0, 1e-6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigma_stays_positive_definite_and_never_grows(dtype, r):
    X, y = binary_stream(54, rows=400, features=6, density=0.6)
    model = AROWClassifier(r, **FULL, dtype=dtype)
    before = np.eye(6)
    for at in range(0, len(y), 5):
        model.partial_fit(X[at : at + 5], y[at : at + 5])
        after = model.covariance_[0]
        assert (after == after.T).all()
        slack = 1e-13 * np.abs(before).max()
        assert np.linalg.eigvalsh(after).min() > -1e-3 * slack
        assert np.linalg.eigvalsh(before - after).min() > -slack
        assert (model.variance_ > 0).all()
        before = after
    if r == 1.0:
        assert np.linalg.eigvalsh(before).min() > 1e-4


def test_squared_loss_is_ridge_on_the_rows():
    """A rule that takes every row, right or wrong, is recursive least squares on labels +-1."""
    X, y = binary_stream(55, rows=80, features=5)
    r = 0.5

    def squared(s):
        return (s.target - s.margin) / (s.v + r), 1 / r

    model = CustomClassifier(squared, "confidence", covariance="full", classes=[-1, 1], **EXACT)
    model.partial_fit(X, y)
    rows = with_constant(X)
    precision = np.eye(6) + rows.T @ rows / r
    ridge = np.linalg.solve(precision, rows.T @ y / r)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), ridge, rtol=1e-9)
    np.testing.assert_allclose(
        model._model.covariances()[0], np.linalg.inv(precision), rtol=1e-8, atol=1e-12
    )


def test_rows_with_one_feature_each_are_the_diagonal_form():
    random = np.random.default_rng(56)
    X = np.eye(5)[random.integers(5, size=150)] * random.normal(size=(150, 1))
    y = np.where(random.random(150) < 0.4, 1, -1)
    for estimator, _ in RULES.values():
        diagonal = estimator.clone({"fit_intercept": False, "classes": [-1, 1]}).partial_fit(X, y)
        full = estimator.clone(FULL).partial_fit(X, y)
        np.testing.assert_allclose(full.coef_, diagonal.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(full.variance_, diagonal.variance_, rtol=1e-9)


@pytest.mark.parametrize("a", [0.1, 1.0, 30.0])
def test_second_order_perceptron_predicts_with_the_row_inside(a):
    X, y = binary_stream(57, rows=200, density=0.6)
    found = margins_before_learning(SOPClassifier(a, "full", **EXACT), X, y)
    expected = paper(with_constant(X), y, a, diagonal=False)
    np.testing.assert_allclose(found[2:], expected[2:], rtol=1e-8, atol=1e-11)


def test_second_order_perceptron_of_many_classes_keeps_the_sums_of_each():
    """The true class and its best rival: each has its own sums, into which a mistake goes."""
    X, y = class_stream(58, features=4, classes=3)
    model = SOPClassifier(0.5, "full", multiclass="top1", **EXACT)
    A = {c: 0.5 * np.eye(5) for c in np.unique(y)}
    b = {c: np.zeros(5) for c in np.unique(y)}
    seen, mistakes = [], 0
    for x, label in zip(with_constant(X), y.tolist(), strict=True):
        seen += [label] if label not in seen else []
        scores = {c: b[c] @ np.linalg.solve(A[c] + np.outer(x, x), x) for c in seen}
        if len(model.__dict__) and hasattr(model, "_model") and len(seen) == len(model.classes_):
            found = model._scores([x[1:]])[0][0]
            np.testing.assert_allclose(found, [scores[c] for c in seen], rtol=1e-8, atol=1e-11)
        model.partial_fit([x[1:]], [label])
        rivals = [c for c in seen if c != label]
        if not rivals:
            continue
        rival = max(rivals, key=lambda c: scores[c])
        if scores[label] - scores[rival] <= 0:
            mistakes += 1
            for c, sign in ((label, 1), (rival, -1)):
                A[c] += np.outer(x, x)
                b[c] += sign * x
    assert model.n_updates_ == mistakes > 10


def test_large_r_and_large_a_give_the_perceptron():
    """Sigma stays the identity, so steps go along the rows."""
    X, y = binary_stream(59, rows=300)
    sop = SOPClassifier(1e12, "full", **EXACT).partial_fit(X, y)
    perceptron = Perceptron(**EXACT).partial_fit(X, y)
    assert sop.n_updates_ == perceptron.n_updates_
    margins = perceptron.decision_function(X)
    np.testing.assert_allclose(1e12 * sop.decision_function(X), margins, rtol=1e-8, atol=1e-9)
    mistakes = lambda s: (s.weight if s.margin <= 0 else 0.0, 0.0)  # noqa: E731
    custom = CustomClassifier(mistakes, "confidence", covariance="full", **EXACT).partial_fit(X, y)
    np.testing.assert_allclose(custom.coef_, perceptron.coef_, rtol=1e-12)


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_every_class_has_its_matrix(multiclass):
    X, y = class_stream(60)
    model = AROWClassifier(covariance="full", multiclass=multiclass, **EXACT).partial_fit(X, y)
    assert model.covariance_.shape == (4, 5, 5)
    for sigma, variance in zip(model.covariance_, model.variance_, strict=True):
        np.testing.assert_allclose(np.diag(sigma), variance, rtol=1e-12)
        assert np.linalg.eigvalsh(sigma).min() > 0
    if multiclass == "ovr":
        for place, label in enumerate(model.classes_):
            alone = AROWClassifier(covariance="full", classes=[False, True], **EXACT)
            alone.partial_fit(X, y == label)
            np.testing.assert_array_equal(alone.covariance_[0], model.covariance_[place])


def test_top1_keeps_the_blocks_of_the_joint_covariance():
    """From independent classes one step against the joint problem's own matrix."""
    x = np.array([1.0, -2.0, 0.5])
    r = 0.7
    model = AROWClassifier(r, "full", multiclass="top1", fit_intercept=False, **EXACT)
    model.partial_fit(np.zeros((2, 3)), [0, 1])
    model.partial_fit([x], [1])
    z = np.concatenate([-x, x])
    joint = np.eye(6) - np.outer(z, z) / (z @ z + r)
    blocks = model._model.covariances()[:, 1:, 1:]
    np.testing.assert_allclose(blocks[0], joint[:3, :3], rtol=1e-12)
    np.testing.assert_allclose(blocks[1], joint[3:, 3:], rtol=1e-12)
