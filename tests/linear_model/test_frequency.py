"""SGFT and frequency-aware RDA: steps against their problems, lazy against eager, what h is for."""

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
    CumulativePenaltyClassifier,
    FOBOSClassifier,
    FrequencyRDAClassifier,
    SGFTClassifier,
)

each_p = pytest.mark.parametrize("p", [1, 2, 3, 1.5, 7.3, np.inf])


def norms(steps, p, cap):
    """The p-norm of each column, capped for p <= 2."""
    h = np.linalg.norm(steps, ord=p, axis=0)
    return np.minimum(h, cap) if p <= 2 else h


def eager_sgft(l1, p, cap, eta0, power):
    """(6) and (9), with all steps kept."""
    steps = []

    def step(w, gradient, t):
        eta = eta0 / t**power
        steps.append(-eta * gradient)
        return soft(w + steps[-1], eta * l1 * norms(steps, p, cap))

    return step


def eager_cumulative_sgft(l1, p, cap, eta0, power):
    """(13) and (14), with all steps kept; q is what has been applied so far."""
    steps, q, u = [], 0.0, 0.0

    def step(w, gradient, t):
        nonlocal q, u
        eta = eta0 / t**power
        u += eta * l1
        steps.append(-eta * gradient)
        half, due = w + steps[-1], u * norms(steps, p, cap)
        pulled = np.where(
            half >= 0, np.maximum(0, half - (due + q)), np.minimum(0, half + (due - q))
        )
        pulled[0] = half[0]
        q = q + pulled - half
        return pulled

    return step


def eager_frequency_rda(l1, gamma, p, cap):
    gradients, worths = [], []

    def step(_, gradient, n):
        gradients.append(gradient)
        worths.append(gradient / (gamma * np.sqrt(n)))
        return -np.sqrt(n) / gamma * soft(np.mean(gradients, axis=0), l1 * norms(worths, p, cap))

    return step


@each_loss
@each_p
def test_sgft_steps_are_argmins(loss, p):
    """(5): argmin 1/2 |w - w_half|^2 + l1 eta |H w|_1."""
    X, y = binary_stream(61, rows=25)
    model = SGFTClassifier(0.5, p, 0.6, False, loss, 0.4, 0.5, classes=[-1, 1], **EXACT)
    w, steps = np.zeros(5), []
    for i, z in enumerate(y[:, None] * with_constant(X)):
        eta = 0.4 / np.sqrt(i + 1)
        steps.append(-eta * slope(lambda w, z=z: LOSSES[loss][0](z @ w), w))
        half = w + steps[-1]
        expected = sparse_argmin(
            lambda u, half=half: 0.5 * (u - half) @ (u - half),
            lambda u, half=half: u - half,
            free=np.arange(5) == 0,
            penalty=0.5 * eta * norms(steps, p, 0.6),
        )
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        w = weights(model)[0] if i > 0 else -weights(model)[0]  # it speaks for the class seen
        np.testing.assert_allclose(w, expected, rtol=0, atol=1e-6)
    assert np.count_nonzero(w) > 2


@each_p
@pytest.mark.parametrize("cap", [0.3, 500.0])
@pytest.mark.parametrize("power", [0.0, 0.5])
def test_lazy_sgft_is_eager_sgft(p, cap, power):
    case = sparse_case(62)
    l1 = (0.1 if power == 0 else 0.4) / (10 if p == 1 and cap > 1 else 1)
    eager = path(case[3], case[2], "hinge", eager_sgft(l1, p, cap, 0.2, power))
    check_lazy(SGFTClassifier(l1, p, cap, False, "hinge", 0.2, power, **EXACT), case, eager)


@each_p
@pytest.mark.parametrize("cap", [0.3, 500.0])
def test_lazy_cumulative_sgft_is_eager(p, cap):
    case = sparse_case(63)
    eager = path(case[3], case[2], "hinge", eager_cumulative_sgft(0.1, p, cap, 0.2, 0.5))
    check_lazy(SGFTClassifier(0.1, p, cap, True, "hinge", 0.2, 0.5, **EXACT), case, eager)


@each_loss
@pytest.mark.parametrize("cumulative", [False, True])
def test_lazy_sgft_with_each_loss(loss, cumulative):
    case = sparse_case(64)
    form = eager_cumulative_sgft if cumulative else eager_sgft
    eager = path(case[3], case[2], loss, form(0.15, 2, 500, 0.2, 0.5))
    check_lazy(SGFTClassifier(0.15, 2, 500, cumulative, loss, 0.2, 0.5, **EXACT), case, eager)


@pytest.mark.parametrize("cumulative", [False, True])
def test_with_h_forced_to_one_it_is_sg_l1(cumulative):
    """A cap far below every step makes h the cap for all features that were ever moved."""
    X, y, sample_weight, _ = sparse_case(65)
    cap, l1 = 2.0**-40, 0.05 if cumulative else 0.15
    sgft = SGFTClassifier(l1 / cap, 2, cap, cumulative, eta0=0.2, **EXACT)
    plain = (CumulativePenaltyClassifier if cumulative else FOBOSClassifier)(l1, eta0=0.2, **EXACT)
    for model in (sgft, plain):
        model.partial_fit(X, y, None, sample_weight)
    np.testing.assert_array_equal(weights(sgft) == 0, weights(plain) == 0)
    np.testing.assert_allclose(weights(sgft), weights(plain), rtol=0, atol=1e-13)
    assert 0.05 < plain.sparsity_ < 1


@each_p
@pytest.mark.parametrize("cumulative", [False, True])
def test_a_feature_scaled_by_1000_is_kept_or_cut_alike(p, cumulative):
    """While no row reaches its margin, all gradients are as before, and so are the zeros."""
    X, y, _, _ = sparse_case(66)
    scale = np.where(np.arange(30) % 3 == 0, 1000.0, 1.0)
    given = {"eta0": 1e-9, "power": 0.5, "p": p, "cap": 1e9, "cumulative": cumulative}
    l1 = 1e-2 if cumulative else 0.05
    plain = SGFTClassifier(l1, **given, **EXACT).partial_fit(X, y)
    scaled = SGFTClassifier(l1, **given, **EXACT).partial_fit(X * scale, y)
    np.testing.assert_allclose(scaled.coef_ / scale, plain.coef_, rtol=1e-9, atol=1e-25)
    np.testing.assert_array_equal(scaled.coef_ == 0, plain.coef_ == 0)
    fobos = [FOBOSClassifier(0.1, eta0=1e-9, **EXACT).partial_fit(Z, y) for Z in (X, X * scale)]
    assert np.count_nonzero(fobos[0].coef_) < np.count_nonzero(fobos[1].coef_)


@each_loss
@each_p
def test_frequency_rda_weights_are_argmins(loss, p):
    """argmin gbar.w + l1 |H w|_1 + gamma/(2 sqrt(n)) |w|^2."""
    X, y = binary_stream(67, rows=25)
    model = FrequencyRDAClassifier(0.2, 2.0, p, 0.4, loss, classes=[-1, 1], **EXACT)
    w, gradients, worths = np.zeros(5), [], []
    for n, z in enumerate(y[:, None] * with_constant(X), start=1):
        gradients.append(slope(lambda w, z=z: LOSSES[loss][0](z @ w), w))
        worths.append(gradients[-1] / (2 * np.sqrt(n)))
        mean = np.mean(gradients, axis=0)
        expected = sparse_argmin(
            lambda u, n=n, mean=mean: mean @ u + u @ u / np.sqrt(n),
            lambda u, n=n, mean=mean: mean + 2 * u / np.sqrt(n),
            free=np.arange(5) == 0,
            penalty=0.2 * norms(worths, p, 0.4),
        )
        model.partial_fit(X[n - 1 : n], y[n - 1 : n])
        w = weights(model)[0] if n > 1 else -weights(model)[0]
        np.testing.assert_allclose(w, expected, rtol=0, atol=2e-6)


@each_p
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_lazy_frequency_rda_is_eager(p, loss):
    case, l1 = sparse_case(68), 0.01 if p == 1 else 0.1
    eager = path(case[3], case[2], loss, eager_frequency_rda(l1, 2.0, p, 500.0))
    check_lazy(FrequencyRDAClassifier(l1, 2.0, p, 500.0, loss, **EXACT), case, eager)


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_norms_in_float32_forget_no_small_step(p):
    """One large step, then very many that are lost in its rounding one by one."""
    many, first = 100_000, 2 ** (24 / p + 1)
    X = np.concatenate([[[first]], np.full((many, 1), -0.5)])
    y = np.zeros(len(X), int)
    y[0] = 1
    model = SGFTClassifier(0.0, p, 1e9, eta0=0.01 / first, power=0.0, fit_intercept=False)
    model.set_params(classes=[0, 1])
    single, double = (
        model.clone({"dtype": dtype}).partial_fit(X, y) for dtype in ("float32", "float64")
    )
    np.testing.assert_allclose(planes(single)[1, 1, 0], planes(double)[1, 1, 0], rtol=3e-7)


def test_rare_features_survive_that_sg_l1_cuts():
    """A feature of every row and one of every fiftieth, both right whenever they come."""
    random = np.random.default_rng(69)
    y = random.choice([-1, 1], 2000)
    X = np.column_stack([y * random.choice([1, 1, -1], 2000), y * (np.arange(2000) % 50 == 0)])
    fobos = FOBOSClassifier(0.025, fit_intercept=False).partial_fit(X, y)
    sgft = SGFTClassifier(0.025, 2, fit_intercept=False).partial_fit(X, y)
    assert fobos.coef_[0, 1] == 0
    assert sgft.coef_[0, 1] > 0
