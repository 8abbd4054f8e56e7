"""Recording runs of estimators, and their certificates."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from evaluate import textbook
from linear_model.oracles import class_stream
from scipy import sparse

import yarrow
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import Run, bounds, certificate, record
from yarrow.evaluate.certificate import THEOREMS

BARE = {"fit_intercept": False, "dtype": "float64"}


def assert_same_run(run, expected):
    np.testing.assert_allclose(run.margins, expected.margins, atol=1e-12)
    np.testing.assert_array_equal(run.updated, expected.updated)
    np.testing.assert_allclose(run.weights, expected.weights, atol=1e-12)
    np.testing.assert_allclose(run.signed_rows.toarray(), expected.signed_rows.toarray())


@pytest.mark.parametrize("first", [-1, 1])
def test_a_recorded_run_is_that_of_the_textbook(first):
    X, y = textbook.noisy(3, rows=80)
    y[0] = first  # whichever class is seen first
    run = record(yarrow.Perceptron(**BARE), sparse.csr_matrix(X), y, keep_weights=True)
    assert_same_run(run, textbook.perceptron(X, y))
    descent = yarrow.OGDClassifier(loss="logistic", eta0=0.3, **BARE)
    expected = textbook.ogd(X, y, "logistic", 0.3)
    np.testing.assert_allclose(record(descent, X, y).margins, expected.margins, atol=1e-12)
    dual = yarrow.RDAClassifier(l1=0.02, gamma=0.7, **BARE)
    run = record(dual, X, y, keep_weights=True)
    np.testing.assert_allclose(run.weights, textbook.rda(X, y, "hinge", 0.02, 0.7).weights)


def test_an_intercept_is_the_last_column():
    X, y = textbook.noisy(4, rows=60)
    model = yarrow.Perceptron(intercept_scaling=0.5, dtype="float64")
    run = record(model, X, y, keep_weights=True)
    with_constant = np.hstack([X, np.full((60, 1), 0.5)])
    assert_same_run(run, textbook.perceptron(with_constant, y))
    assert run.penalised.tolist() == [1, 1, 1, 1, 1, 0]
    assert "_model" not in model.__dict__  # a copy has learned
    assert run.model.t_ == 60


def test_many_classes_by_the_best_rival():
    X, y = class_stream(2)
    run = record(yarrow.Perceptron(multiclass="top1", **BARE), X, y, keep_weights=True)
    assert run.n_classes == 4
    z = run.signed_rows
    inside = np.array([z[t] @ run.weights[t] for t in range(run.n_rows)]).ravel()
    known = run.rivals >= 0
    np.testing.assert_allclose(inside[known], run.margins[known], atol=1e-12)
    np.testing.assert_array_equal(run.updated, run.margins <= 0)
    moved = np.diff(run.weights, axis=0)
    np.testing.assert_allclose(moved[run.updated], z.toarray()[run.updated], atol=1e-12)
    bound = bounds.perceptron_hinge(run)
    assert bound.applies
    assert bound.holds
    for loss in ("hinge", "squared"):
        descent = yarrow.OGDClassifier(loss=loss, eta0=0.1, multiclass="top1", **BARE)
        bound = bounds.gradient_descent(record(descent, X, y))
        assert bound.applies
        assert bound.holds
    with pytest.raises(ParameterError, match="4 runs of two classes"):
        record(yarrow.Perceptron(), X, y)
    assert record(yarrow.Perceptron(), X, y == 10).task == "binary"


def test_a_regression():
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 3))
    y = X @ [1.0, -1.0, 0.5]
    run = record(yarrow.OGDRegressor(eta0=0.05, power=0.0, **BARE), X, y)
    bound = bounds.gradient_descent(run)
    assert bound.applies
    assert bound.holds
    assert not bound.is_vacuous
    with pytest.raises(ParameterError, match="not mistakes"):
        run.n_mistakes  # noqa: B018


def test_words_single_classes_and_bad_input():
    X, y = textbook.noisy(5, rows=30)
    words = np.where(y > 0, "spam", "ham")
    run = record(yarrow.Perceptron(**BARE), X, words)
    np.testing.assert_allclose(run.margins, textbook.perceptron(X, y).margins, atol=1e-12)
    for only in (["spam"] * 30, [3] * 30):
        assert record(yarrow.Perceptron(**BARE), X, only).n_mistakes >= 1
    with pytest.raises(DataError, match="30 rows"):
        record(yarrow.Perceptron(), X, y[:10])
    with pytest.raises(ParameterError, match="linear model"):
        record("perceptron", X, y)


LEARNERS = [
    yarrow.Perceptron(),
    yarrow.Perceptron(margin=0.2),
    yarrow.OGDClassifier(eta0=1.0),
    yarrow.OGDClassifier(loss="logistic", eta0=3.0),
    yarrow.FOBOSClassifier(l1=0.005, eta0=1.0),
    yarrow.RDAClassifier(l1=0.005),
]


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_estimators_have_certificates_that_say_something(model, dtype):
    X, y = textbook.noisy(6, rows=1000, gamma=0.3, noise=0.03)
    found = certificate(record(model.set_params(dtype=dtype), X, y))
    assert found.is_valid, str(found)
    assert not found.bound.is_vacuous
    assert found.mistakes <= found.bound.value
    assert found.slack == found.bound.value - found.mistakes
    assert json.loads(json.dumps(found.to_dict()))["applies"] is True


def test_the_certificate_of_another_method_is_refused():
    X, y = textbook.noisy(7, rows=100)
    averaged = certificate(record(yarrow.Perceptron(average=True), X, y))
    assert not averaged.is_valid
    assert "none: an assumption does not hold" in str(averaged)
    assert "[NO]" in str(averaged)
    assert averaged.to_dict()["bound"] is None
    diagonal = certificate(record(yarrow.AROWClassifier(), X, y))
    assert not diagonal.is_valid  # the theorem is about the full covariance
    run = record(yarrow.PassiveAggressiveClassifier(), X, y)
    with pytest.raises(ParameterError, match="no theorem for PassiveAggressive"):
        certificate(run)
    chosen = certificate(run, theorem=bounds.perceptron_hinge)
    assert not chosen.is_valid


def test_a_certificate_takes_a_comparator_of_the_user():
    X, y = textbook.separable(8, gamma=0.3)
    run = record(yarrow.Perceptron(**BARE), X, y)
    given = certificate(run, u=bounds.perceptron(run).comparator)
    assert given.bound.value == pytest.approx(bounds.perceptron(run).value)
    assert "300 rows of 5 features" in str(given)


def test_every_theorem_is_named_and_known():
    assert set(bounds.__all__) == {n for n in dir(bounds) if callable(getattr(bounds, n))}
    for name in bounds.__all__:
        assert "Assumes" in getattr(bounds, name).__doc__, name
    assert isinstance(THEOREMS, dict)
    assert dataclasses.is_dataclass(Run)
