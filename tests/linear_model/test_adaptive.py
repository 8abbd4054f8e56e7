"""AdaGrad and FTRL-Proximal: steps against their problems, lazy against eager, long sums."""

import numpy as np
import pytest
from linear_model.eager import LOSSES, check_lazy, each_loss, path, soft, sparse_case
from linear_model.oracles import (
    EXACT,
    binary_stream,
    planes,
    slope,
    sparse_argmin,
    weights,
    with_constant,
)

from yarrow.linear_model import (
    AdaGradClassifier,
    AdaGradRegressor,
    FTRLClassifier,
    FTRLRegressor,
)

FREE = np.arange(5) == 0


def eager_mirror(eta, l1, delta):
    squares = 0.0

    def step(w, gradient, _):
        nonlocal squares
        squares = squares + gradient**2
        H = delta + np.sqrt(squares)
        return soft(w - eta * gradient / H, eta * l1 / H)

    return step


def eager_dual(eta, l1, delta):
    squares, total = 0.0, 0.0

    def step(_, gradient, n):
        nonlocal squares, total
        squares, total = squares + gradient**2, total + gradient
        return -eta * n / (delta + np.sqrt(squares)) * soft(total / n, l1)

    return step


def eager_ftrl(alpha, beta, l1, l2):
    """Algorithm 1 of the paper."""
    z, n = 0.0, 0.0

    def step(w, gradient, _):
        nonlocal z, n
        sigma = (np.sqrt(n + gradient**2) - np.sqrt(n)) / alpha
        z, n = z + gradient - sigma * w, n + gradient**2
        ridge = np.full(len(w), l2)
        ridge[0] = 0
        return -soft(z, l1) / ((beta + np.sqrt(n)) / alpha + ridge)

    return step


def argmins(model, loss, expected_of, atol=2e-6):
    """Compare weights after each row with `expected_of(w, gradients so far)`."""
    X, y = binary_stream(71, rows=25)
    w, gradients, path_of_w = np.zeros(5), [], [np.zeros(5)]
    for i, z in enumerate(y[:, None] * with_constant(X)):
        gradients.append(slope(lambda w, z=z: LOSSES[loss][0](z @ w), w))
        expected = expected_of(np.array(path_of_w), np.array(gradients))
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        w = weights(model)[0] if i > 0 else -weights(model)[0]  # it speaks for the class seen
        np.testing.assert_allclose(w, expected, rtol=0, atol=atol)
        path_of_w.append(w)
    assert np.count_nonzero(w) > 2


@each_loss
def test_mirror_steps_are_argmins(loss):
    def expected_of(path_of_w, gradients):
        g, w = gradients[-1], path_of_w[-1]
        H = 0.5 + np.sqrt((gradients**2).sum(axis=0))
        return sparse_argmin(
            lambda u: 0.3 * g @ u + 0.5 * H @ (u - w) ** 2,
            lambda u: 0.3 * g + H * (u - w),
            free=FREE,
            penalty=0.3 * 0.2,
        )

    model = AdaGradClassifier(0.3, 0.2, 0.5, "mirror", loss, classes=[-1, 1], **EXACT)
    argmins(model, loss, expected_of)


@each_loss
def test_dual_weights_are_argmins(loss):
    def expected_of(_, gradients):
        n, mean = len(gradients), gradients.mean(axis=0)
        H = 0.5 + np.sqrt((gradients**2).sum(axis=0))
        return sparse_argmin(
            lambda u: 0.3 * mean @ u + H @ u**2 / (2 * n),
            lambda u: 0.3 * mean + H * u / n,
            free=FREE,
            penalty=0.3 * 0.02,
        )

    model = AdaGradClassifier(0.3, 0.02, 0.5, "dual", loss, classes=[-1, 1], **EXACT)
    argmins(model, loss, expected_of)


@each_loss
def test_ftrl_weights_are_argmins(loss):
    """argmin sum g.w + 1/2 sum sigma_s |w - w_s|^2 + l1 |w|_1 + l2/2 |w|^2."""
    alpha, beta, l1, l2 = 0.3, 0.5, 0.4, 0.2

    def expected_of(path_of_w, gradients):
        roots = np.sqrt(np.cumsum(gradients**2, axis=0))
        sigma = np.diff(roots, axis=0, prepend=np.zeros((1, 5))) / alpha
        ridge = beta / alpha + np.where(FREE, 0, l2)
        total = gradients.sum(axis=0)
        return sparse_argmin(
            lambda u: total @ u + 0.5 * (sigma * (u - path_of_w) ** 2).sum() + 0.5 * ridge @ u**2,
            lambda u: total + (sigma * (u - path_of_w)).sum(axis=0) + ridge * u,
            free=FREE,
            penalty=l1,
        )

    model = FTRLClassifier(alpha, beta, l1, l2, loss, classes=[-1, 1], **EXACT)
    argmins(model, loss, expected_of)


@each_loss
def test_lazy_mirror_descent_is_eager(loss):
    case = sparse_case(72)
    eager = path(case[3], case[2], loss, eager_mirror(0.3, 0.05, 0.2))
    check_lazy(AdaGradClassifier(0.3, 0.05, 0.2, "mirror", loss, **EXACT), case, eager)


@each_loss
def test_lazy_dual_averaging_is_eager(loss):
    case = sparse_case(73)
    eager = path(case[3], case[2], loss, eager_dual(0.3, 0.03, 0.2))
    check_lazy(AdaGradClassifier(0.3, 0.03, 0.2, "dual", loss, **EXACT), case, eager)


@each_loss
def test_lazy_ftrl_is_eager(loss):
    case = sparse_case(74)
    eager = path(case[3], case[2], loss, eager_ftrl(0.3, 0.5, 2.0, 0.1))
    check_lazy(FTRLClassifier(0.3, 0.5, 2.0, 0.1, loss, **EXACT), case, eager)


@each_loss
def test_without_l1_ftrl_is_adagrad(loss):
    X, y, sample_weight, _ = sparse_case(75)
    ftrl = FTRLClassifier(0.2, 0.7, 0.0, 0.0, loss, **EXACT)
    adagrad = AdaGradClassifier(0.2, 0.0, 0.7, "mirror", loss, **EXACT)
    for model in (ftrl, adagrad):
        model.partial_fit(X, y, None, sample_weight)
    np.testing.assert_allclose(weights(ftrl), weights(adagrad), rtol=0, atol=1e-12)
    assert ftrl.n_nonzero_ == 30


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
def test_regressors_take_their_steps(loss):
    X, _ = binary_stream(76, rows=100, features=6, density=0.5)
    target = X @ np.array([2.0, -1.0, 0, 0, 0, 0]) + 0.5
    cases = [
        (AdaGradRegressor(0.5, 0.05, 0.2, "mirror"), eager_mirror(0.5, 0.05, 0.2)),
        (AdaGradRegressor(0.5, 0.05, 0.2, "dual"), eager_dual(0.5, 0.05, 0.2)),
        (FTRLRegressor(0.5, 0.2, 0.5, 0.1), eager_ftrl(0.5, 0.2, 0.5, 0.1)),
    ]
    for model, step in cases:
        w = np.zeros(7)
        for t, (x, value) in enumerate(zip(with_constant(X), target, strict=True), start=1):
            error = x @ w - value
            if loss == "epsilon_insensitive":
                error = np.sign(error) if abs(error) > 0.2 else 0.0
            w = step(w, error * x, t)
        model = model.clone({"loss": loss, "epsilon": 0.2, "dtype": "float64"})
        np.testing.assert_allclose(weights(model.partial_fit(X, target))[0], w, atol=1e-12)


def test_probabilities_come_from_the_logistic_loss_only():
    X, y = binary_stream(77)
    model = FTRLClassifier().partial_fit(X, y)
    odds = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], odds)
    assert not hasattr(FTRLClassifier(loss="hinge"), "predict_proba")


MODELS = [
    AdaGradClassifier(eta=1e-3, l1=0.0, delta=1.0, variant="mirror"),
    AdaGradClassifier(eta=1e-3, l1=0.0, delta=1.0, variant="dual"),
    FTRLClassifier(alpha=1e-3, beta=1.0, loss="hinge"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_sums_in_float32_forget_no_small_gradient(model):
    """One large gradient, then very many that are lost in its rounding one by one."""
    many = 200_000
    X = np.concatenate([[[8192.0]], np.full((many, 1), 0.5)])
    y = np.zeros(len(X), int)
    y[0] = 1
    given = {"fit_intercept": False, "classes": [0, 1]}
    single, double = (
        model.clone({"dtype": dtype, **given}).partial_fit(X, y) for dtype in ("float32", "float64")
    )
    found, exact = planes(single)[1, :, 0], planes(double)[1, :, 0]
    assert single.n_updates_ == many + 1
    assert exact[1] > 8192 + 1  # they add up to something
    np.testing.assert_allclose(found[1], exact[1], rtol=2e-7)
    np.testing.assert_allclose(found[0], exact[0], rtol=1e-4, atol=1e-4 * abs(exact[0]))


@pytest.mark.parametrize("rows", [2**24 - 3, 2**27])
def test_rows_beyond_those_float32_can_count_are_paid_for(rows):
    """A model put at a late row: penalties add up, whoever comes in every row or seldom."""
    model = AdaGradClassifier(0.5, 1e-4, 0.1, "mirror", classes=[0, 1], fit_intercept=False)
    models = {}
    for dtype in ("float32", "float64"):
        model = model.clone({"dtype": dtype})
        model.partial_fit(np.ones((1, 2)), [1])
        state = model.__getstate__()
        tensors = state["_core_state"]["tensors"]
        tensors["scalars"] = np.array(tensors["scalars"])
        tensors["scalars"][0] = rows
        tensors["blocks"] = np.array(tensors["blocks"])
        tensors["blocks"][1:, 2] = rows
        model.__setstate__(state)
        X = np.zeros((2001, 2))
        X[:, 0] = 1e-6  # a margin that stays below 1, and steps that do not matter
        X[-1, 1] = 1e-6
        models[dtype] = model.partial_fit(X, np.ones(len(X), int))
    single, double = (weights(models[d])[0, 1:] for d in ("float32", "float64"))
    # 2,000 rows at eta*l1/(delta + s) each, up to the last place of a count of rows
    np.testing.assert_allclose(single, double, rtol=0, atol=9 * 0.5 * 1e-4 / 1.1)
    assert double[0] < 0.5 / 1.1 - 0.05
