"""Truncated gradient and coefficient rounding: the paper's T1 and T0, lazy against eager."""

import numpy as np
import pytest
from linear_model.eager import check_lazy, each_loss, path, soft, sparse_case
from linear_model.oracles import EXACT, binary_stream, planes, weights

from yarrow.linear_model import (
    CoefficientRoundingClassifier,
    FOBOSClassifier,
    TruncatedGradientClassifier,
)


def eager_truncated(gravity, theta, every, eta0, power):
    """T1 on all weights, with K times the gravity after every K-th row."""

    def step(w, gradient, t):
        eta = eta0 / t**power
        w = w - eta * gradient
        if t % every:
            return w
        return np.where(np.abs(w) <= theta, soft(w, eta * every * gravity), w)

    return step


def eager_rounding(theta, every, eta0, power):
    """T0 on all weights after every K-th row."""

    def step(w, gradient, t):
        w = w - eta0 / t**power * gradient
        if t % every:
            return w
        return np.where((np.abs(w) > theta) | (np.arange(len(w)) == 0), w, 0.0)

    return step


@each_loss
@pytest.mark.parametrize("theta", [0.15, np.inf])
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("power", [0.0, 0.5])
def test_lazy_truncated_gradient_is_eager(loss, theta, every, power):
    case = sparse_case(81)
    gravity = 0.1 if power else 0.08
    eager = path(case[3], case[2], loss, eager_truncated(gravity, theta, every, 0.2, power))
    model = TruncatedGradientClassifier(gravity, theta, every, loss, 0.2, power, **EXACT)
    check_lazy(model, case, eager)


@each_loss
@pytest.mark.parametrize("every", [1, 10])
def test_lazy_rounding_is_eager(loss, every):
    case = sparse_case(82)
    theta = 0.03 if every == 1 else 0.05
    eager = path(case[3], case[2], loss, eager_rounding(theta, every, 0.2, 0.5))
    check_lazy(CoefficientRoundingClassifier(theta, every, loss, 0.2, 0.5, **EXACT), case, eager)


def test_truncated_after_every_row_and_without_a_limit_it_is_fobos():
    X, y, sample_weight, _ = sparse_case(83)
    truncated = TruncatedGradientClassifier(0.05, np.inf, 1, **EXACT)
    fobos = FOBOSClassifier(0.05, **EXACT)
    for model in (truncated, fobos):
        model.partial_fit(X, y, None, sample_weight)
    np.testing.assert_array_equal(weights(truncated), weights(fobos))


def test_rounding_by_hand():
    """Every second row; a weight that is stepped on after a rounding is not rounded by it."""
    model = CoefficientRoundingClassifier(
        0.5, 2, eta0=1.0, power=0.0, fit_intercept=False, classes=[0, 1], **EXACT
    )
    found = []
    for row in [[0.5, 0.25], [0, 0.125], [0.25, 0], [0.25, 0.5], [0, 0]]:
        model.partial_fit([row], [1])
        found.append(model.coef_[0].tolist())
    assert found == [[0.5, 0.25], [0, 0], [0.25, 0], [0, 0], [0, 0]]


def test_roundings_are_counted_exactly_in_float32():
    """Far beyond 2^24 of them, each still rounds."""
    model = CoefficientRoundingClassifier(0.5, 1, eta0=1.0, power=0.0, fit_intercept=False)
    model.set_params(classes=[0, 1]).partial_fit([[0.75, 0.0]], [1])
    state = model.__getstate__()
    tensors = state["_core_state"]["tensors"]
    tensors["scalars"] = np.array(tensors["scalars"])
    tensors["scalars"][0] = 2.0**26 + 5
    model.__setstate__(state)
    for _ in range(9):
        model.partial_fit([[0.25, 0.25]], [0])
        assert model.coef_[0, 1] == 0
    assert planes(model)[1, 1, 0] < 2**24


def test_the_intercept_is_neither_pulled_nor_rounded():
    X, _ = binary_stream(84)
    y = np.arange(len(X)) % 4 == 0
    for model in (
        TruncatedGradientClassifier(10.0, every=3),
        CoefficientRoundingClassifier(10.0, every=1),
    ):
        model.partial_fit(X, y)
        assert not model.coef_.any()
        assert model.intercept_[0] < 0
