"""Regret against batch solvers of scikit-learn and scipy, and against the best of a set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import support
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, LogisticRegression

import yarrow
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import losses, progressive, regret, regret_to_best


def noisy(n: int = 300) -> tuple[Any, Any]:
    X, y = support.classification(n, 6, 2)
    chance = np.random.default_rng(0)
    return X, np.where(chance.random(n) < 0.2, 1 - y, y)


def scores_of(model: Any, X: Any, y: Any) -> Any:
    found = progressive(model, X, y, metrics=["roc_auc"])
    assert found.scores is not None
    return found.scores[:, 1]


def test_the_best_logistic_weights_are_scikit_learns() -> None:
    X, y = noisy()
    scores = scores_of(yarrow.OGDClassifier(loss="logistic"), X, y)
    found = regret(X, y, scores, loss="logistic")
    batch = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit(X, y)
    signs = np.where(y == 1, 1, -1)
    least = np.logaddexp(0, -signs * batch.decision_function(X)).sum()
    assert found.best.sum() == pytest.approx(least, rel=1e-5)
    own = np.logaddexp(0, -signs * np.nan_to_num(scores))
    assert found.total == pytest.approx(own.sum() - least, rel=1e-3)
    assert found.average == pytest.approx(found.total / len(y))
    assert found.curve[-1] == pytest.approx(found.total)
    assert found.curve[99] == pytest.approx(own[:100].sum() - found.best[:100].sum())
    assert "of the best fixed weights" in str(found)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_other_weights_lose_less(loss: str, fit_intercept: bool) -> None:
    X, y = noisy(120)
    found = regret(X, y, np.zeros(120), loss=loss, fit_intercept=fit_intercept)
    Z = np.column_stack([X, np.ones(120)]) if fit_intercept else X
    signs = np.where(y == 1, 1.0, -1.0)

    def total(u: Any) -> float:
        return float(losses.value(loss, signs * (Z @ u)).sum())

    chance = np.random.default_rng(1)
    for start in (np.zeros(Z.shape[1]), found.weights, chance.normal(size=Z.shape[1])):
        other = minimize(total, start, method="Powell", options={"maxiter": 20_000, "ftol": 1e-9})
        assert found.best.sum() <= other.fun * (1 + 1e-4) + 1e-2
    assert found.learner.sum() == pytest.approx(total(np.zeros(Z.shape[1])))


def test_a_regression_is_compared_with_least_squares() -> None:
    X, _ = noisy()
    y = X @ np.arange(6.0) + 3 + np.random.default_rng(2).normal(size=300)
    told = progressive(yarrow.PassiveAggressiveRegressor(), X, y)
    found = regret(X, y, told.predictions, loss="squared")
    least = ((y - LinearRegression().fit(X, y).predict(X)) ** 2).sum() / 2
    assert found.best.sum() == pytest.approx(least, rel=1e-5)
    assert found.learner.sum() == pytest.approx(told.wrong.sum() / 2)


def test_a_ridge_shortens_the_weights() -> None:
    X, y = noisy()
    free, short = regret(X, y, np.zeros(300)), regret(X, y, np.zeros(300), ridge=50.0)
    assert np.linalg.norm(short.weights) < np.linalg.norm(free.weights)
    assert short.total < free.total


def test_the_best_of_a_set() -> None:
    X, y = noisy()
    wrong = {
        name: progressive(model, X, y).wrong
        for name, model in (("A", yarrow.AROWClassifier()), ("P", yarrow.Perceptron()))
    }
    found = regret_to_best(wrong["P"], wrong)
    best = min(wrong, key=lambda name: wrong[name].sum())
    assert found.name == best
    assert found.total == wrong["P"].sum() - wrong[best].sum()
    assert regret_to_best(wrong[best], wrong).total == 0


def test_bad_input_gets_a_sentence() -> None:
    X, y = noisy(10)
    with pytest.raises(DataError, match="X has 10 rows"):
        regret(X, y, np.zeros(3))
    with pytest.raises(DataError, match="y has 3 classes"):
        regret(X[:3], [0, 1, 2], np.zeros(3))
    with pytest.raises(DataError, match="no row"):
        regret(X[:0], [], [])
    with pytest.raises(ParameterError, match="no learner"):
        regret_to_best([1], {})
    with pytest.raises(DataError, match="B has losses of the shape"):
        regret_to_best([1], {"B": [1, 2]})
    with pytest.raises(ParameterError, match="The 'loss' parameter must be one of"):
        regret(X, y, np.zeros(10), loss="cross")
