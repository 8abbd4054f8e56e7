"""FOBOS, the cumulative penalty and RDA: steps against their problems, lazy against eager."""

import numpy as np
import pytest
import scipy.sparse
from linear_model.eager import LOSSES, check_lazy, each_loss, path, soft, sparse_case
from linear_model.oracles import (
    EXACT,
    binary_stream,
    class_stream,
    slope,
    sparse_argmin,
    weights,
    with_constant,
)

from yarrow.errors import ParameterError
from yarrow.linear_model import (
    CumulativePenaltyClassifier,
    FOBOSClassifier,
    FOBOSRegressor,
    OGDClassifier,
    OGDRegressor,
    RDAClassifier,
    RDARegressor,
)


def eager_fobos(l1, eta0, power, l2=0.0):
    def step(w, gradient, t):
        eta = eta0 / t**power
        pulled = soft(w - eta * gradient, eta * l1)
        pulled[1:] /= 1 + eta * l2
        return pulled

    return step


def eager_rda(l1, gamma, rho=0.0, l2=0.0):
    """Weights are made anew from the mean of all gradients."""
    total = 0.0

    def step(_, gradient, n):
        nonlocal total
        total = total + gradient
        root = gamma / np.sqrt(n)
        return -soft(total / n, l1 + root * rho) / (l2 + root)

    return step


def eager_cumulative(l1, eta0, power):
    """The two cases of the paper for every weight after every row."""
    q, u = 0.0, 0.0

    def step(w, gradient, t):
        nonlocal q, u
        eta = eta0 / t**power
        u += eta * l1
        half = w - eta * gradient
        pulled = np.where(half >= 0, np.maximum(0, half - (u + q)), np.minimum(0, half + (u - q)))
        pulled[0] = half[0]
        q = q + pulled - half
        return pulled

    return step


@each_loss
@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_fobos_steps_are_argmins(loss, l2):
    X, y = binary_stream(41, rows=25)
    model = FOBOSClassifier(0.2, loss, 0.4, 0.5, l2, **EXACT).partial_fit(X[:2], y[:2])
    free = np.arange(5) == 0
    for i, z in list(enumerate(y[:, None] * with_constant(X)))[2:]:
        w, eta = weights(model)[0], 0.4 / np.sqrt(i + 1)
        half = w - eta * slope(lambda w, z=z: LOSSES[loss][0](z @ w), w)
        ridge = np.where(free, 0.0, eta * l2)
        expected = sparse_argmin(
            lambda u, half=half, r=ridge: 0.5 * (u - half) @ (u - half) + 0.5 * r @ (u * u),
            lambda u, half=half, r=ridge: u - half + r * u,
            free=free,
            penalty=0.2 * eta,
        )
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        np.testing.assert_allclose(weights(model)[0], expected, rtol=0, atol=1e-6)
    assert np.count_nonzero(weights(model)) > 2


@each_loss
@pytest.mark.parametrize(("gamma", "rho", "l2"), [(2.0, 0, 0), (2.0, 0.1, 0), (0, 0, 3), (1, 0, 3)])
def test_rda_weights_are_argmins(loss, gamma, rho, l2):
    """argmin gbar.w + l1 |w|_1 + l2/2 |w|^2 + gamma/sqrt(n) (1/2 |w|^2 + rho |w|_1), n rows."""
    X, y = binary_stream(42, rows=25)
    model = RDAClassifier(0.1, gamma, loss, rho, l2, classes=[-1, 1], **EXACT)
    w, total = np.zeros(5), np.zeros(5)
    for n, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        z = label * np.append(1.0, x)
        total = total + slope(lambda w, z=z: LOSSES[loss][0](z @ w), w)
        ridge = l2 + gamma / np.sqrt(n)
        expected = sparse_argmin(
            lambda u, n=n, r=ridge: total @ u / n + 0.5 * r * u @ u,  # noqa: B023
            lambda u, n=n, r=ridge: total / n + r * u,  # noqa: B023
            free=np.arange(5) == 0,
            penalty=0.1 + rho * gamma / np.sqrt(n),
        )
        model.partial_fit([x], [label])
        w = weights(model)[0] if n > 1 else -weights(model)[0]  # it speaks for the class seen
        np.testing.assert_allclose(w, expected, rtol=0, atol=2e-6)
    assert np.count_nonzero(w) > 2


@each_loss
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_lazy_fobos_is_eager_fobos(loss, power):
    case = sparse_case(43)
    l1, eta0 = {0.0: 0.15, 0.5: 0.1, 1.0: 0.3}[power], 0.2
    eager = path(case[3], case[2], loss, eager_fobos(l1, eta0, power))
    check_lazy(FOBOSClassifier(l1, loss, eta0, power, **EXACT), case, eager)


@each_loss
@pytest.mark.parametrize("l2", [1e-3, 0.3, 20.0])
def test_lazy_elastic_net_is_eager(loss, l2):
    """The strongest of them multiplies weights by 2^-60 every 26 rows."""
    case, l1 = sparse_case(49), 0.08 if l2 < 1 else 1e-3
    eager = path(case[3], case[2], loss, eager_fobos(l1, 0.2, 0.0, l2))
    check_lazy(FOBOSClassifier(l1, loss, 0.2, 0.0, l2, **EXACT), case, eager)


def test_the_elastic_net_without_l1_only_shrinks():
    case = sparse_case(50)
    eager = path(case[3], case[2], "hinge", eager_fobos(0.0, 0.2, 0.5, 0.5))
    model = FOBOSClassifier(0.0, "hinge", 0.2, 0.5, 0.5, **EXACT)
    model.partial_fit(scipy.sparse.csr_array(case[0]), case[1], None, case[2])
    np.testing.assert_allclose(weights(model)[0], eager[-1], rtol=0, atol=1e-12)
    assert model.sparsity_ == 0


def test_shrinking_all_weights_is_undone():
    """The row that makes stored numbers too large changes them all; the next one is refused."""
    X, y = binary_stream(51, rows=24, features=300, density=0.1)
    model = FOBOSClassifier(0.01, "hinge", 0.2, 0.0, 20.0).partial_fit(X, y)
    before = model._model.get_state()
    assert 1 < before["shrink"][0] < 2**60
    bad = np.zeros((4, 300))
    bad[:, 5] = 1, 1, 1, 3e38
    with pytest.raises(ValueError, match=r"Row 3: .*scale"):
        model.partial_fit(scipy.sparse.csr_array(bad), [1, 1, 1, -1], None, [1, 1, 1, 100.0])
    after = model._model.get_state()
    for name, values in before.items():
        np.testing.assert_array_equal(values, after[name], err_msg=name)
    assert model.partial_fit(bad[:3], [1, 1, 1])._model.get_state()["shrink"][0] < before["shrink"]


@each_loss
@pytest.mark.parametrize("power", [0.0, 0.5])
def test_lazy_cumulative_penalty_is_eager(loss, power):
    case = sparse_case(52)
    eager = path(case[3], case[2], loss, eager_cumulative(0.02, 0.2, power))
    check_lazy(CumulativePenaltyClassifier(0.02, loss, 0.2, power, **EXACT), case, eager)


def test_cumulative_penalty_by_hand():
    """One row a step, eta 1, l1 0.25: 0 owes u = 0.25 t - what it has paid."""
    model = CumulativePenaltyClassifier(
        0.25, "hinge", 1.0, 0.0, fit_intercept=False, classes=[0, 1], **EXACT
    )
    found = []
    for value, label in [(0.5, 1), (0.0, 1), (0.0, 1), (0.0, 1), (0.25, 1), (0.75, 1), (1.0, 0)]:
        model.partial_fit([[value, 1e-9]], [label])
        found.append(model.coef_[0, 0])
    # w: .5-.25; 0 (q=-.5); 0; 0; .25 against u=1.25, q=-.5: 0 (q=-.75); .75 against 1.5-.75: 0
    # (q=-1.5); -1 against u=1.75, -q=1.5: 0
    np.testing.assert_allclose(found, [0.25, 0, 0, 0, 0, 0, 0], atol=1e-15)
    model.partial_fit([[6.0, 0]], [1])  # before it q=-.5, and u becomes 2
    np.testing.assert_allclose(model.coef_[0, 0], 6 - (2 - 0.5))


@each_loss
@pytest.mark.parametrize(("gamma", "rho", "l2"), [(2.0, 0, 0), (2.0, 0.03, 0), (0, 0, 1)])
def test_lazy_rda_is_eager_rda(loss, gamma, rho, l2):
    case = sparse_case(44)
    eager = path(case[3], case[2], loss, eager_rda(0.03, gamma, rho, l2))
    check_lazy(RDAClassifier(0.03, gamma, loss, rho, l2, **EXACT), case, eager)


def test_rda_needs_an_l2_term():
    with pytest.raises(ParameterError, match="gamma"):
        RDAClassifier(gamma=0).learn_one({"a": 1}, 0)


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_lazy_fobos_with_many_classes(multiclass, l2):
    """A class that comes late owes what the others owe; so does a feature."""
    X, y = class_stream(45, rows=300, features=20, classes=4, density=0.15)
    X[:150, 10:] = 0
    model = FOBOSClassifier(0.03, "hinge", 0.2, 0.5, l2, multiclass=multiclass, **EXACT)
    model.partial_fit(X, y)
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
        W[:, 1:] /= 1 + eta * l2
    assert len(appearance) == 4
    np.testing.assert_allclose(weights(model), W, rtol=0, atol=1e-12)


def test_without_a_pull_fobos_is_gradient_descent():
    X, y = binary_stream(46)
    ogd = OGDClassifier(**EXACT).partial_fit(X, y)
    for model in (FOBOSClassifier(0.0, **EXACT), CumulativePenaltyClassifier(0.0, **EXACT)):
        np.testing.assert_array_equal(weights(model.partial_fit(X, y)), weights(ogd))
    fobos = FOBOSRegressor(0.0, **EXACT).partial_fit(X, X[:, 0])
    ogd = OGDRegressor(**EXACT).partial_fit(X, X[:, 0])
    np.testing.assert_array_equal(weights(fobos), weights(ogd))


@pytest.mark.parametrize("cls", [FOBOSRegressor, RDARegressor])
@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
def test_regressors_take_their_steps(cls, loss):
    X, _ = binary_stream(53, rows=100, features=6, density=0.5)
    target = X @ np.array([2.0, -1.0, 0, 0, 0, 0]) + 0.5
    w, total = np.zeros(7), np.zeros(7)
    for t, (x, value) in enumerate(zip(with_constant(X), target, strict=True), start=1):
        error = x @ w - value
        if loss == "epsilon_insensitive":
            error = np.sign(error) if abs(error) > 0.2 else 0.0
        if cls is FOBOSRegressor:
            eta = 0.1 / np.sqrt(t)
            w = soft(w - eta * error * x, eta * 0.05)
        else:
            total = total + error * x
            w = -soft(total / t, 0.05) * np.sqrt(t) / 5
    given = {"eta0": 0.1, "power": 0.5} if cls is FOBOSRegressor else {"gamma": 5.0}
    model = cls(0.05, loss=loss, epsilon=0.2, **given, **EXACT).partial_fit(X, target)
    np.testing.assert_allclose(weights(model)[0], w, rtol=0, atol=1e-12)


PULLED = [
    FOBOSClassifier(10.0),
    FOBOSClassifier(10.0, l2=1.0),
    CumulativePenaltyClassifier(10.0),
    RDAClassifier(10.0),
    RDAClassifier(10.0, rho=1.0),
]


@pytest.mark.parametrize("model", PULLED, ids=repr)
def test_the_intercept_is_not_pulled(model):
    X, _ = binary_stream(47)
    y = np.arange(len(X)) % 4 == 0
    model = model.clone().partial_fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_[0] < 0


@pytest.mark.parametrize("model", PULLED, ids=repr)
def test_reading_pays_nothing(model):
    X, y = binary_stream(48, density=0.3)
    model = model.clone({"l1": 0.01})
    before = model.clone().partial_fit(X, y)
    after = model.clone().partial_fit(X[:30], y[:30])
    after.coef_, after.sparsity_, after.predict(X)
    after.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(before.coef_, after.coef_)


@pytest.mark.parametrize("l1", [1e38, 1e300])
@pytest.mark.parametrize("cls", [FOBOSClassifier, CumulativePenaltyClassifier, RDAClassifier])
def test_an_enormous_pull_leaves_nothing_and_breaks_nothing(cls, l1):
    X, y = binary_stream(54)
    model = cls(l1).partial_fit(X, y).partial_fit(X, y)
    assert not model.coef_.any()
    assert all(np.isfinite(values).all() for values in model._model.get_state().values())
