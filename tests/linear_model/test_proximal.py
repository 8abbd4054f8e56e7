"""SG-L1/FOBOS and RDA: steps against their problems, lazy against eager."""

import numpy as np
import pytest
import scipy.sparse
from linear_model.oracles import (
    EXACT,
    binary_stream,
    class_stream,
    slope,
    sparse_argmin,
    weights,
    with_constant,
)

from yarrow.linear_model import FOBOSClassifier, OGDClassifier, RDAClassifier

LOSSES = {
    "hinge": (lambda u: max(0.0, 1 - u), lambda u: -1.0 if u < 1 else 0.0),
    "squared_hinge": (lambda u: 0.5 * max(0.0, 1 - u) ** 2, lambda u: min(0.0, u - 1)),
    "logistic": (lambda u: np.log1p(np.exp(-u)), lambda u: -1 / (1 + np.exp(u))),
    "squared": (lambda u: 0.5 * (1 - u) ** 2, lambda u: u - 1),
}
each_loss = pytest.mark.parametrize("loss", LOSSES)


def soft(w, by):
    """Pull the weights towards zero, all but the intercept's."""
    pulled = np.sign(w) * np.maximum(np.abs(w) - by, 0)
    pulled[0] = w[0]
    return pulled


def eager_fobos(Z, sample_weight, loss, l1, eta0, power):
    """All weights after each row: a gradient step on all, then a pull on all."""
    w, path = np.zeros(Z.shape[1]), []
    for t, (z, weight) in enumerate(zip(Z, sample_weight, strict=True), start=1):
        eta = eta0 / t**power
        w = soft(w - eta * weight * LOSSES[loss][1](z @ w) * z, eta * l1)
        path.append(w)
    return np.array(path)


def eager_rda(Z, sample_weight, loss, l1, gamma):
    """All weights after each row: made anew from the mean of all gradients."""
    w, gradients, path = np.zeros(Z.shape[1]), np.zeros(Z.shape[1]), []
    for n, (z, weight) in enumerate(zip(Z, sample_weight, strict=True), start=1):
        gradients += weight * LOSSES[loss][1](z @ w) * z
        mean = gradients / n
        w = -np.sqrt(n) / gamma * soft(mean, l1)
        path.append(w)
    return np.array(path)


@each_loss
def test_fobos_steps_are_argmins(loss):
    X, y = binary_stream(41, rows=25)
    model = FOBOSClassifier(0.2, loss, eta0=0.4, power=0.5, **EXACT).partial_fit(X[:2], y[:2])
    for i, z in list(enumerate(y[:, None] * with_constant(X)))[2:]:
        w, eta = weights(model)[0], 0.4 / np.sqrt(i + 1)
        half = w - eta * slope(lambda w, z=z: LOSSES[loss][0](z @ w), w)
        expected = sparse_argmin(
            lambda u, half=half: 0.5 * (u - half) @ (u - half),
            lambda u, half=half: u - half,
            free=np.arange(5) == 0,
            penalty=0.2 * eta,
        )
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        np.testing.assert_allclose(weights(model)[0], expected, rtol=0, atol=1e-6)
    assert np.count_nonzero(weights(model)) > 2


@each_loss
def test_rda_weights_are_argmins(loss):
    """argmin  gbar.w + l1 |w|_1 + gamma/(2 sqrt(n)) |w|^2  after n rows."""
    X, y = binary_stream(42, rows=25)
    model = RDAClassifier(0.1, gamma=2.0, loss=loss, classes=[-1, 1], **EXACT)
    w, total = np.zeros(5), np.zeros(5)
    for n, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        z = label * np.append(1.0, x)
        total = total + slope(lambda w, z=z: LOSSES[loss][0](z @ w), w)
        expected = sparse_argmin(
            lambda u, n=n: total @ u / n + u @ u / np.sqrt(n),  # noqa: B023
            lambda u, n=n: total / n + 2 * u / np.sqrt(n),  # noqa: B023
            free=np.arange(5) == 0,
            penalty=0.1,
        )
        model.partial_fit([x], [label])
        w = weights(model)[0] if n > 1 else -weights(model)[0]  # it speaks for the class seen
        np.testing.assert_allclose(w, expected, rtol=0, atol=2e-6)
    assert np.count_nonzero(w) > 2


def sparse_case(seed):
    X, y = binary_stream(seed, rows=400, features=30, density=0.1)
    sample_weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(y))
    return X, y, sample_weight, y[:, None] * with_constant(X)


def check_lazy(model, X, y, sample_weight, eager):
    """Learned in chunks, read at their ends: the same weights and the same zeros."""
    ends = [2, 3, 50, 51, 200, 400]
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        part = slice(begin, end)
        model.partial_fit(scipy.sparse.csr_array(X[part]), y[part], None, sample_weight[part])
        found = weights(model)[0]
        np.testing.assert_allclose(found, eager[end - 1], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found == 0, eager[end - 1] == 0)
    np.testing.assert_allclose(model.decision_function(X), with_constant(X) @ eager[-1], atol=1e-11)
    assert model.n_nonzero_ == np.count_nonzero(eager[-1][1:])
    assert 0.05 < model.sparsity_ < 1  # the pull was felt


@each_loss
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_lazy_fobos_is_eager_fobos(loss, power):
    X, y, sample_weight, Z = sparse_case(43)
    l1, eta0 = {0.0: 0.15, 0.5: 0.1, 1.0: 0.3}[power], 0.2
    eager = eager_fobos(Z, sample_weight, loss, l1, eta0, power)
    check_lazy(FOBOSClassifier(l1, loss, eta0, power, **EXACT), X, y, sample_weight, eager)


@each_loss
def test_lazy_rda_is_eager_rda(loss):
    X, y, sample_weight, Z = sparse_case(44)
    eager = eager_rda(Z, sample_weight, loss, 0.03, 2.0)
    check_lazy(RDAClassifier(0.03, 2.0, loss, **EXACT), X, y, sample_weight, eager)


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_lazy_fobos_with_many_classes(multiclass):
    """A class that comes late owes what the others owe; so does a feature."""
    X, y = class_stream(45, rows=300, features=20, classes=4, density=0.15)
    X[:150, 10:] = 0
    model = FOBOSClassifier(0.03, eta0=0.2, multiclass=multiclass, **EXACT).partial_fit(X, y)
    classes, rows = model.classes_.tolist(), with_constant(X)
    appearance = list(dict.fromkeys(y.tolist()))
    W = np.zeros((4, 21))
    for t, (x, label) in enumerate(zip(rows, y, strict=True), start=1):
        eta, scores, c = 0.2 / np.sqrt(t), W @ x, classes.index(label)
        if multiclass == "ovr":
            signs = np.where(np.arange(4) == c, 1, -1)
            W = W + eta * np.where(signs * scores < 1, signs, 0)[:, None] * x
        else:
            known = dict.fromkeys(classes.index(label) for label in y[:t])
            rivals = [k for k in known if k != c]
            if rivals:
                rival = max(rivals, key=lambda k: scores[k])
                if scores[c] - scores[rival] < 1:
                    W[c] += eta * x
                    W[rival] -= eta * x
        W = np.array([soft(w, 0.03 * eta) for w in W])
    assert len(appearance) == 4
    np.testing.assert_allclose(weights(model), W, rtol=0, atol=1e-12)


def test_without_a_pull_fobos_is_gradient_descent():
    X, y = binary_stream(46)
    fobos = FOBOSClassifier(0.0, **EXACT).partial_fit(X, y)
    ogd = OGDClassifier(**EXACT).partial_fit(X, y)
    np.testing.assert_array_equal(weights(fobos), weights(ogd))


@pytest.mark.parametrize("model", [FOBOSClassifier(10.0), RDAClassifier(10.0)])
def test_the_intercept_is_not_pulled(model):
    X, _ = binary_stream(47)
    y = np.arange(len(X)) % 4 == 0
    model.partial_fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_[0] < 0


@pytest.mark.parametrize("model", [FOBOSClassifier(0.01), RDAClassifier(0.01)])
def test_reading_pays_nothing(model):
    X, y = binary_stream(48, density=0.3)
    before = model.clone().partial_fit(X, y)
    after = model.clone().partial_fit(X[:30], y[:30])
    after.coef_, after.sparsity_, after.predict(X)
    after.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(before.coef_, after.coef_)
