"""p-norm algorithms, ALMA_p, EG and EG± against their problems, textbook forms and bounds."""

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
from scipy.optimize import minimize, root
from scipy.special import logsumexp, softmax

from yarrow.errors import DataError
from yarrow.linear_model import (
    ALMApClassifier,
    EGClassifier,
    EGRegressor,
    OGDClassifier,
    PNormClassifier,
    load,
)

SLOPES = {
    "hinge": lambda u: float(u < 1),
    "logistic": lambda u: 1 / (1 + np.exp(u)),
    "perceptron": lambda u: float(u <= 0),
}
each_loss = pytest.mark.parametrize("loss", SLOPES)
BINARY = {"classes": [-1, 1], **EXACT}


def norm(x, p):
    largest = np.abs(x).max()
    return 0.0 if largest == 0 else largest * np.sum(np.abs(x / largest) ** p) ** (1 / p)


def link(theta, p):
    """The gradient of 1/2 |theta|_p^2."""
    length = norm(theta, p)
    return (
        np.zeros_like(theta)
        if length == 0
        else (np.sign(theta) * np.abs(theta / length) ** (p - 1) * length)
    )


def for_class_1(model):
    """Its weights; as long as only -1 was seen, the model speaks for that one."""
    return weights(model)[0] * (1 if model.t_ > 1 else -1)


# -- p-norm ----------------------------------------------------------------------------------------


@each_loss
@pytest.mark.parametrize("p", [2.0, 3.0, 5.5])
def test_p_norm_steps_are_argmins(loss, p):
    """argmin D(u, w) - b*z.u, where D is the divergence of 1/2 |u|_q^2."""
    X, y = binary_stream(71, rows=25)
    q = p / (p - 1)
    model = PNormClassifier(p, loss, eta0=0.4, power=0.5, **BINARY)
    model.partial_fit(X[:2], y[:2])
    for i, z in list(enumerate(y[:, None] * with_constant(X)))[2:]:
        w, b = weights(model)[0], 0.4 / np.sqrt(i + 1)
        b *= SLOPES[loss](z @ w)

        def objective(u, w=w, b=b, z=z):
            d = 0.5 * norm(u, q) ** 2 - 0.5 * norm(w, q) ** 2 - link(w, q) @ (u - w)
            return d - b * z @ u

        def slope(u, w=w, b=b, z=z):
            return link(u, q) - link(w, q) - b * z

        found = minimize(objective, w + 0.01, jac=slope, method="BFGS").x
        expected = root(slope, found, tol=1e-14).x
        assert np.abs(slope(expected)).max() < 1e-9
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        np.testing.assert_allclose(weights(model)[0], expected, rtol=0, atol=1e-6)
    assert model.n_updates_ > 5


@each_loss
@pytest.mark.parametrize("p", [2.0, 4.0, 20.0])
def test_p_norm_on_sparse_rows_is_the_dense_form(loss, p):
    X, y = binary_stream(72, rows=300, features=30, density=0.15)
    model = PNormClassifier(p, loss, eta0=0.3, power=0.25, **BINARY)
    theta = np.zeros(31)
    for t, z in enumerate(y[:, None] * with_constant(X), start=1):
        theta += 0.3 / t**0.25 * SLOPES[loss](z @ link(theta, p)) * z
        model.partial_fit(scipy.sparse.csr_array(X[t - 1 : t]), y[t - 1 : t])
        np.testing.assert_allclose(for_class_1(model), link(theta, p), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), with_constant(X) @ link(theta, p))


def test_the_two_norm_is_gradient_descent():
    X, y = class_stream(73)
    for multiclass in ("ovr", "top1"):
        mirror = PNormClassifier(2.0, multiclass=multiclass, **EXACT).partial_fit(X, y)
        plain = OGDClassifier(multiclass=multiclass, **EXACT).partial_fit(X, y)
        np.testing.assert_allclose(weights(mirror), weights(plain), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1e-20, 1e-7, 1e7, 1e20])
def test_p_norm_knows_no_scale(size, dtype):
    """Rows of any size: powers of them neither overflow nor vanish, and the weights scale along."""
    X, y = binary_stream(74, rows=100, features=10)
    size = 2.0 ** round(np.log2(size))  # so that nothing but the exponents differs
    one, other = (
        PNormClassifier(20, "perceptron", power=0, fit_intercept=False, dtype=dtype).partial_fit(
            X * s, y
        )
        for s in (1.0, size)
    )
    np.testing.assert_allclose(other.coef_ / size, one.coef_, rtol=2e-4, atol=1e-5)


def test_p_norm_recovers_from_one_huge_row():
    """A total that falls by many orders is counted from scratch."""
    X, y = binary_stream(75, rows=60)
    model = PNormClassifier(3, "perceptron", power=0, **BINARY).partial_fit(X, y)
    big = np.array([[1e12, 0.0, 0.0, 0.0]])
    before = weights(model)
    label = -int(np.sign(model.decision_function(big)[0]))
    model.partial_fit(big, [label]).partial_fit(big, [-label])  # there and back
    assert model.n_updates_ > 10
    np.testing.assert_allclose(np.delete(weights(model), 1), np.delete(before, 1), rtol=1e-3)


def test_the_p_norm_perceptron_keeps_its_mistake_bound():
    """(p - 1) * (X_p * |u|_q / margin)^2 mistakes at most, which is far below the Perceptron's."""
    random = np.random.default_rng(76)
    n, relevant = 500, np.array([3, 77, 401])
    X = random.choice([-1.0, 1.0], size=(4000, n))
    y = np.where(X[:, relevant].sum(axis=1) > 0, 1, -1)
    p = 2 * np.log(n)
    u = np.zeros(n)
    u[relevant] = 1
    bound = (p - 1) * n ** (2 / p) * norm(u, p / (p - 1)) ** 2  # the margin is 1
    model = PNormClassifier(p, "perceptron", power=0, fit_intercept=False, **BINARY)
    model.partial_fit(X, y)
    assert 5 < model.n_mistakes_ <= bound < len(y) / 10 < 3 * n  # 3n: the bound for p = 2


# -- ALMA ------------------------------------------------------------------------------------------


def textbook_alma(Z, p, alpha, B, C):
    """Weights after each row, as the paper writes them down: normalised weights, dense rows."""
    q, w, k, path = p / (p - 1), np.zeros(Z.shape[1]), 1, []
    for z in Z:
        length = norm(z, p)
        if length > 0 and z @ w / length <= (1 - alpha) * B * np.sqrt(p - 1) / np.sqrt(k):
            w = link(link(w, q) + C / np.sqrt(p - 1) / np.sqrt(k) * z / length, p)
            w = w / max(1.0, norm(w, q))
            k += 1
        path.append(w)
    return np.array(path)


@pytest.mark.parametrize("p", [2.0, 2.5, 4.0, 10.0])
@pytest.mark.parametrize(("alpha", "C"), [(0.3, np.sqrt(2)), (0.9, 5.0), (1.0, 5.0)])
def test_alma_is_the_textbook_form_and_stays_in_its_ball(p, alpha, C):
    X, y = binary_stream(77, rows=400, features=25, density=0.3, noise=0.05)
    X[:200, 15:] = 0  # features that come late
    q, B = p / (p - 1), np.sqrt(8) / alpha
    expected = textbook_alma(y[:, None] * with_constant(X), p, alpha, B, C)
    model = ALMApClassifier(p, alpha, C=C, **BINARY)
    at_the_border = 0
    for i in range(len(X)):
        model.partial_fit(scipy.sparse.csr_array(X[i : i + 1]), y[i : i + 1])
        found = for_class_1(model)
        np.testing.assert_allclose(found, expected[i], rtol=0, atol=1e-10)
        assert norm(found, q) <= 1 + 1e-12
        at_the_border += norm(found, q) > 1 - 1e-9
    assert at_the_border > 10
    assert model.n_updates_ > 20


def test_alma_stays_in_its_ball_in_float32_and_with_many_classes():
    X, y = class_stream(78, rows=600, features=40, density=0.3)
    model = ALMApClassifier(4.0)
    for begin in range(0, 600, 10):
        model.partial_fit(X[begin : begin + 10], y[begin : begin + 10])
        assert max(norm(w, 4 / 3) for w in weights(model)) <= 1 + 1e-5


def test_alma_leaves_rows_of_zeros_alone():
    model = ALMApClassifier(3.0, fit_intercept=False).partial_fit([[1.0, 0], [0, 1.0]], [0, 1])
    updates = model.n_updates_
    model.partial_fit([[0.0, 0.0]], [0])
    assert (model.n_updates_, model.t_) == (updates, 3)


# -- exponentiated gradient ------------------------------------------------------------------------


def entropy_step(shares, gradient):
    """argmin over the simplex of RE(a, shares) + gradient.a"""

    def objective(logits):
        a, log_a = softmax(logits), logits - logsumexp(logits)
        push = log_a - np.log(shares) + gradient
        return a @ push, a * (push - a @ push)

    found = minimize(objective, np.log(shares), jac=True, method="BFGS", options={"gtol": 1e-12}).x
    return softmax(found)


@each_loss
def test_eg_steps_are_argmins(loss):
    X, y = binary_stream(79, rows=25)
    U, eta = 3.0, 0.15
    model = EGClassifier(eta, U, loss, **BINARY)
    shares = np.full(10, 0.1)
    for x, label, z in zip(X, y, y[:, None] * with_constant(X), strict=True):
        w = U * (shares[:5] - shares[5:])
        gradient = -eta * U * SLOPES[loss](z @ w) * z
        shares = entropy_step(shares, np.concatenate([gradient, -gradient]))
        model.partial_fit([x], [label])
        np.testing.assert_allclose(for_class_1(model), U * (shares[:5] - shares[5:]), atol=1e-6)
    assert model.n_updates_ > 3


@pytest.mark.parametrize("signed", [True, False])
def test_eg_regression_steps_are_argmins(signed):
    X, _ = binary_stream(80, rows=30)
    y = X @ [1.0, 0.5, 0.0, 0.0] + 0.3
    U, eta = 2.5, 0.05
    model = EGRegressor(eta, U, signed, **EXACT)
    parts = 10 if signed else 5
    shares = np.full(parts, 1 / parts)
    for x, target in zip(with_constant(X), y, strict=True):
        inputs = U * (np.concatenate([x, -x]) if signed else x)
        shares = entropy_step(shares, -eta * (target - shares @ inputs) * inputs)
        model.partial_fit([x[1:]], [target])
        expected = U * (shares[:5] - shares[5:] if signed else shares)
        np.testing.assert_allclose(weights(model)[0], expected, rtol=0, atol=1e-6)
    assert np.abs(weights(model)).sum() <= U * (1 + 1e-12)
    if not signed:
        np.testing.assert_allclose(weights(model).sum(), U)


def growing_eg(Z, loss, eta, U):
    """EG± over the features known: each enters with the first row that has it and moves weights."""
    theta, known, path = np.zeros(Z.shape[1]), np.zeros(Z.shape[1], bool), []

    def made(of):
        if not of.any():
            return np.zeros_like(theta)
        log_z = logsumexp(np.concatenate([theta[of], -theta[of]]))
        return U * np.where(of, np.exp(theta - log_z) - np.exp(-theta - log_z), 0)

    for z in Z:
        step = eta * U * SLOPES[loss](z @ made(known | (z != 0)))
        if step:
            known |= z != 0
            theta += step * z
        path.append(made(known))
    return np.array(path)


@each_loss
@pytest.mark.parametrize("eta", [0.02, 20.0])
def test_eg_over_features_that_come_late(loss, eta):
    """Also with steps so large that exp(theta) would overflow."""
    X, y = binary_stream(81, rows=400, features=30, density=0.15)
    X[:100, 10:] = 0
    expected = growing_eg(y[:, None] * with_constant(X), loss, eta, 5.0)
    model = EGClassifier(eta, 5.0, loss, **BINARY)
    for i in range(len(X)):
        model.partial_fit(scipy.sparse.csr_array(X[i : i + 1]), y[i : i + 1])
        np.testing.assert_allclose(for_class_1(model), expected[i], rtol=0, atol=1e-9)
    if eta == 20.0:
        assert np.abs(model._model.get_state()["blocks"]).max() > 200


@pytest.mark.parametrize("loss", SLOPES)
def test_many_classes_are_binary_problems_side_by_side(loss):
    X, y = class_stream(82, rows=120, classes=3, density=0.7)
    for model in (EGClassifier(0.05, loss=loss), PNormClassifier(loss=loss), ALMApClassifier()):
        model = model.clone({"dtype": "float64"}).partial_fit(X, y)
        for row, label in zip(weights(model), model.classes_, strict=True):
            single = model.clone({"classes": [-1, 1]})
            single.partial_fit(X, np.where(y == label, 1, -1))
            np.testing.assert_allclose(row, weights(single)[0], rtol=1e-9, atol=1e-12)


def test_eg_keeps_its_loss_bound():
    """Squared losses of EG± sum up to at most (2*U*X)^2 * ln(2n) if some weights lose nothing.

    Kivinen & Warmuth, theorem 5.10 with c = 2; the gradient's bound grows with the root of n.
    """
    random = np.random.default_rng(83)
    n, U = 400, 2.0
    X = random.choice([-1.0, 1.0], size=(3000, n))
    y = X[:, 7] - X[:, 200]
    bound = (2 * U) ** 2 * np.log(2 * n)
    model = EGRegressor(1 / (2 * U**2), U, fit_intercept=False, **EXACT)
    loss = 0.0
    for x, target in zip(X, y, strict=True):
        guess = model.predict([x])[0] if hasattr(model, "_model") else 0.0
        loss += (guess - target) ** 2
        model.partial_fit([x], [target])
    assert bound / 10 < loss <= bound < np.sum(y**2) / 20  # 0 for all would lose that


# -- both ------------------------------------------------------------------------------------------

LEARNERS = [
    PNormClassifier(20, **EXACT),
    ALMApClassifier(6, **EXACT),
    EGClassifier(3.0, 10.0, **EXACT),
]


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_a_call_that_fails_after_references_moved_is_undone(model):
    X, y = binary_stream(84, rows=300, features=500, density=0.02)
    model = model.clone().partial_fit(scipy.sparse.csr_array(X), y)
    before = copy.deepcopy(model)
    bad = np.zeros((4, 500))
    bad[:, :3] = 1e9
    bad[3, 0] = 1e200
    labels = [1, -1, 1, -1]
    with pytest.raises(DataError, match=r"Row 3: .*scale"):
        model.partial_fit(scipy.sparse.csr_array(bad), labels)
    assert_same(model, before)
    good = scipy.sparse.csr_array(bad[:3])
    assert_same(model.partial_fit(good, labels[:3]), before.partial_fit(good, labels[:3]))


@pytest.mark.parametrize("model", [*LEARNERS, EGRegressor(signed=False, **EXACT)], ids=repr)
def test_forgotten_features_leave_the_sums(model):
    """After pruning, weights are those of the features that are left."""
    X, y = binary_stream(85, rows=200, features=40, density=0.3)
    model = model.clone({"max_features": 20, "when_full": "prune"})
    model.learn_many(scipy.sparse.csr_array(X), y)
    assert len(model.feature_names_) <= 20
    w = weights(model)[0]
    if isinstance(model, EGRegressor):
        np.testing.assert_allclose(w.sum(), model.U)
    elif isinstance(model, EGClassifier):
        theta = model._model.get_state()["blocks"][:, 0, -1]
        assert np.abs(w).sum() <= model.U
        np.testing.assert_allclose(w, model.U * np.sinh(theta) / np.cosh(theta).sum(), rtol=1e-6)
    else:
        stored = model._model.get_state()["blocks"][:, 0, -1]
        size = norm(w, model.p / (model.p - 1))
        np.testing.assert_allclose(w / size, link(stored, model.p) / norm(stored, model.p))


def test_positive_weights_by_every_route(tmp_path):
    """EG is no choice that the contract tests know; here too the route changes no bit."""
    X, _ = binary_stream(86, rows=150, features=12, density=0.3)
    X[:70, 6:] = 0
    X = X.astype(np.float32).astype(float)
    y = X[:, 0] + 0.5 * X[:, 8]
    arrays = EGRegressor(0.3, signed=False).partial_fit(X, y)
    halves = EGRegressor(0.3, signed=False).partial_fit(scipy.sparse.csr_array(X[:60]), y[:60])
    halves.save(tmp_path / "model")
    halves = load(tmp_path / "model").partial_fit(X[60:], y[60:])
    dicts = EGRegressor(0.3, signed=False)
    for x, target in zip(X, y, strict=True):
        dicts.learn_one({int(j): x[j] for j in np.flatnonzero(x)}, target)
    assert_same(arrays, halves)
    by_name = dict(zip(dicts.feature_names_, dicts.coef_, strict=True))
    assert by_name == dict(enumerate(arrays.coef_))
    np.testing.assert_allclose(weights(arrays).sum(), 10.0, rtol=1e-5)


def test_sample_weights_scale_the_step():
    X, y = binary_stream(87)
    for heavy, large in (
        (
            PNormClassifier(eta0=0.1, power=0, **BINARY),
            PNormClassifier(eta0=0.3, power=0, **BINARY),
        ),
        (EGClassifier(0.01, **BINARY), EGClassifier(0.03, **BINARY)),
        (ALMApClassifier(C=0.5, **BINARY), ALMApClassifier(C=1.5, **BINARY)),
    ):
        heavy.partial_fit(X, y, sample_weight=np.full(len(y), 3.0))
        np.testing.assert_allclose(weights(heavy), weights(large.partial_fit(X, y)), rtol=1e-9)
