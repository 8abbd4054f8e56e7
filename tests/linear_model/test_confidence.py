"""CW, AROW and SCW: every step solves the paper's problem over Gaussians.

`oracles.gaussian_step` says why a problem over (mu, Sigma) is one over two numbers, and the first
test here compares it with a solver that knows nothing of that.
"""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_model.oracles import (
    EXACT,
    binary_stream,
    full_gaussian_step,
    gaussian_step,
    placed,
    planes,
    with_constant,
)
from scipy.special import ndtr, ndtri

from yarrow.linear_model import AROWClassifier, CWClassifier, SCWClassifier


def variance_form(phi):
    return lambda m, v: phi * v - m


def deviation_form(phi):
    return lambda m, v: phi * np.sqrt(v) - m


def arow_problem(r, power, confidence_r=None):
    return {
        "shortfall": lambda m, v: 1 - m,
        "price": 1 / (2 * r),
        "power": power,
        "variance_price": 1 / (2 * (confidence_r or r)),
    }


#: name: the estimator, and the problem that it solves for a row of a given weight
RULES = {
    "cw_variance": (
        CWClassifier(0.8, "variance", **EXACT),
        lambda w: {"shortfall": variance_form(ndtri(0.8))},
    ),
    "cw_stdev": (
        CWClassifier(0.95, "stdev", **EXACT),
        lambda w: {"shortfall": deviation_form(ndtri(0.95))},
    ),
    "arow_squared_hinge": (AROWClassifier(0.7, **EXACT), lambda w: arow_problem(0.7 / w, 2)),
    "arow_hinge": (
        AROWClassifier(0.7, loss="hinge", **EXACT),
        lambda w: arow_problem(0.7 / w, 1),
    ),
    "arow_two_prices": (
        AROWClassifier(0.7, confidence_r=3.0, **EXACT),
        lambda w: arow_problem(0.7 / w, 2, 3.0 / w),
    ),
    "arow_hinge_two_prices": (
        AROWClassifier(0.7, loss="hinge", confidence_r=0.2, **EXACT),
        lambda w: arow_problem(0.7 / w, 1, 0.2 / w),
    ),
    "scw1": (
        SCWClassifier(0.3, 0.9, "scw1", **EXACT),
        lambda w: {"shortfall": deviation_form(ndtri(0.9)), "price": 0.3 * w},
    ),
    "scw2": (
        SCWClassifier(0.3, 0.9, "scw2", **EXACT),
        lambda w: {"shortfall": deviation_form(ndtri(0.9)), "price": 0.3 * w, "power": 2},
    ),
}
each_rule = pytest.mark.parametrize("rule", RULES)


@each_rule
def test_the_problem_over_two_numbers_is_the_problem_over_gaussians(rule):
    """From a full covariance: mu moves along Sigma*z, the precision grows by a multiple of z*z'."""
    random = np.random.default_rng(31)
    problem = RULES[rule][1](1.0)
    for _ in range(3):
        mu, z, root = random.normal(size=2), random.normal(size=2), random.normal(size=(2, 2))
        sigma = root @ root.T + 0.3 * np.eye(2)
        mu -= max(0, z @ mu) * z / (z @ z)  # wrong on this row
        alpha, kappa = gaussian_step(z @ mu, z @ sigma @ z, **problem)
        mean, covariance = full_gaussian_step(mu, sigma, z, **problem)
        np.testing.assert_allclose(mean, mu + alpha * sigma @ z, atol=1e-5)
        expected = np.linalg.inv(np.linalg.inv(sigma) + kappa * np.outer(z, z))
        np.testing.assert_allclose(covariance, expected, atol=1e-5)


def check_step(rule, model, x, label, weight=1.0):
    """Learns one row, and compares means and variances with the argmin's; says what it saw."""
    problem = RULES[rule][1]
    before = planes(model)
    mu, s = before[:, 0, 0], before[:, 1, 0]
    z = label * with_constant(np.atleast_2d(x), float(model.fit_intercept))[0]
    m, v = z @ mu, s @ z**2
    model.partial_fit([x], [label], sample_weight=[weight])
    after = planes(model)[:, :, 0]
    short = problem(weight)["shortfall"](m, v)
    if short <= 0:
        np.testing.assert_array_equal(after, before[:, :, 0])
        return "passive"
    if short > 30 * np.sqrt(v):  # the solver runs out of digits before the rule does
        return "far"
    alpha, kappa = gaussian_step(m, v, **problem(weight))
    np.testing.assert_allclose(after[:, 0], mu + alpha * s * z, rtol=1e-7, atol=1e-9)
    if getattr(model, "covariance", "diagonal") == "diagonal":
        expected = 1 / (1 / s + kappa * z**2)  # the diagonal of the new precision
    else:
        expected = s - kappa / (1 + kappa * v) * s**2 * z**2  # that of the new covariance
    np.testing.assert_allclose(after[:, 1], expected, rtol=1e-7)
    assert (after[:, 1] <= s).all()  # confidence never falls
    return "argmin"


@each_rule
@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
def test_steps_are_argmins(rule, covariance):
    X, y = binary_stream(32, rows=60, noise=0.02)
    sample_weight = np.random.default_rng(32).choice([0.5, 1.0, 2.0], len(y))
    model = RULES[rule][0].clone({"covariance": covariance, "classes": [-1, 1]})
    model.partial_fit(X[:2], y[:2])
    seen = [
        check_step(rule, model, x, label, weight)
        for x, label, weight in zip(X[2:], y[2:], sample_weight[2:], strict=True)
    ]
    assert seen.count("argmin") > 10
    assert model.n_updates_ == len(y) - seen.count("passive")


@each_rule
@settings(max_examples=30)
@given(
    mean=st.floats(-20, 20),
    deviation=st.floats(-8, 3).map(np.exp),
    x=st.floats(-5, 5).filter(lambda x: abs(x) > 1e-3),
    label=st.sampled_from([-1, 1]),
)
def test_steps_are_argmins_from_any_state_of_one_weight(rule, mean, deviation, x, label):
    """With one weight the diagonal is the full covariance: this is the paper's problem itself."""
    estimator = RULES[rule][0].clone({"fit_intercept": False})
    variance = deviation**2
    shortfall = RULES[rule][1](1.0)["shortfall"](label * x * mean, x * x * variance)
    if 0 < shortfall < 1e-6:  # a constraint that is hardly active: the solver sees none
        return
    model = placed(estimator, np.array([0.0, mean]), np.array([1.0, variance]))
    check_step(rule, model, [x], label)


@pytest.mark.parametrize("rule", ["cw_variance", "cw_stdev"])
@pytest.mark.parametrize("deviation", [1e-9, 1e-6, 1e-3, 1e3])
def test_hard_constraints_hold_however_sure_we_are(rule, deviation):
    estimator = RULES[rule][0].clone({"fit_intercept": False})
    model = placed(estimator, np.array([0.0, 0.0]), np.array([1.0, deviation**2]))
    model.partial_fit([[1.0]], [1])
    mean, variance = planes(model)[1, :, 0]
    assert mean > 0
    assert abs(RULES[rule][1](1.0)["shortfall"](mean, variance)) <= 1e-9 * mean


@each_rule
def test_a_margin_just_short_never_steps_back(rule):
    """Within rounding of the constraint a step may vanish, but not turn around."""
    estimator, problem = RULES[rule]
    random = np.random.default_rng(33)
    n = 4000  # features, each with its own state and its own row
    variance = np.exp(random.normal(0, 5, n))
    enough = problem(1.0)["shortfall"](0.0, variance)
    mean = enough * (1 - 10 ** random.uniform(-16, -13, n))
    model = placed(
        estimator.clone({"fit_intercept": False}), np.append(0.0, mean), np.append(1.0, variance)
    )
    model.partial_fit(scipy.sparse.eye(n, format="csr"), np.ones(n))
    after = planes(model)[1:, :, 0]
    assert (after[:, 0] >= mean).all()
    assert (after[:, 1] <= variance).all()
    assert (after[:, 0] > mean).any()


@pytest.mark.parametrize("covariance", ["diagonal", "projected"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_arow_never_becomes_less_sure(covariance, loss):
    X, y = binary_stream(34, rows=300, density=0.4)
    model = AROWClassifier(0.1, covariance, loss, classes=[-1, 1])
    before = np.ones(X.shape[1])
    for x, label in zip(X, y, strict=True):
        model.partial_fit([x], [label])
        after = model.variance_[0]
        assert (after <= before).all()
        assert (after > 0).all()
        before = after
    assert (before < 0.1).all()


def test_a_weight_divides_r():
    X, y = binary_stream(35)
    weighted = AROWClassifier(2.0, **EXACT).partial_fit(X, y, sample_weight=np.full(len(y), 4.0))
    plain = AROWClassifier(0.5, **EXACT).partial_fit(X, y)
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)
    np.testing.assert_array_equal(weighted.variance_, plain.variance_)


def test_a_weight_multiplies_the_price_of_scw():
    X, y = binary_stream(36)
    for form in ("scw1", "scw2"):
        weighted = SCWClassifier(0.1, variant=form, **EXACT)
        weighted.partial_fit(X, y, sample_weight=np.full(len(y), 4.0))
        plain = SCWClassifier(0.4, variant=form, **EXACT).partial_fit(X, y)
        np.testing.assert_array_equal(weighted.coef_, plain.coef_)


@pytest.mark.parametrize("multiclass", ["ovr", "top1"])
def test_drawn_weights_predict_as_often_as_the_gaussian_says(multiclass):
    X, y = binary_stream(37, rows=40, noise=0.3)
    model = AROWClassifier(5.0, multiclass=multiclass).partial_fit(X, y)
    probability = ndtr(
        model.decision_function(X)
        / np.sqrt(with_constant(X) ** 2 @ np.append(_intercept_variance(model), model.variance_[0]))
    )
    drawn = np.array([model.predict_drawn(X, seed) == 1 for seed in range(2000)])
    np.testing.assert_allclose(drawn.mean(axis=0), probability, atol=4 * 0.5 / np.sqrt(2000))
    assert ((probability > 0.1) & (probability < 0.9)).sum() > 5
    np.testing.assert_array_equal(model.predict_drawn(X, 7), model.predict_drawn(X, 7))


def _intercept_variance(model):
    table, columns = model._model.plane(1)
    return table[0, columns].sum() if model.multiclass == "top1" else table[0, columns[0]]


def test_drawn_weights_of_many_classes():
    """Unsure, any class may win; sure, only the mean's."""
    X, y = binary_stream(38, rows=400, noise=0.0)
    y = y + 3 * (X[:, 0] > 0)
    model = AROWClassifier(1e-6, classes=[-1, 1, 2, 4]).partial_fit(X, y)
    agree = np.mean(model.predict_drawn(X, 1) == model.predict(X))
    assert agree > 0.95
    unsure = AROWClassifier(1e6).partial_fit(X, y)
    assert set(unsure.predict_drawn(X, 1)) == {-1, 1, 2, 4}
    assert np.mean(unsure.predict_drawn(X, 1) == unsure.predict(X)) < 0.6
