"""Cross-validation and tuning, each against the same thing done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import support
from river import linear_model as river_linear
from river import optim
from scipy.optimize import minimize_scalar
from sklearn.linear_model import SGDClassifier

import yarrow
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import cross_validate, grid, line_search, progressive, tune
from yarrow.evaluate.tuning import folds_of

X, Y = support.classification(240, 12, 3)
CANDIDATES = grid(yarrow.AROWClassifier(), {"r": [1000.0, 1.0, 0.01]})


@pytest.mark.parametrize("stratified", [False, True])
def test_folds_are_a_partition_that_the_seed_decides(stratified: bool) -> None:
    y = np.array([0] * 50 + [1] * 33 + [2] * 6)
    folds = list(folds_of(y, 7, seed=3, stratified=stratified))
    tests = np.concatenate([test for _, test in folds])
    assert sorted(tests.tolist()) == list(range(89))
    for train, test in folds:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(89))
        assert abs(len(test) - 89 / 7) < 1
        if stratified:
            for label in range(3):
                assert abs(np.sum(y[test] == label) - np.sum(y == label) / 7) < 1
    again = list(folds_of(y, 7, seed=3, stratified=stratified))
    assert all(np.array_equal(a, c) for (a, _), (c, _) in zip(folds, again, strict=True))
    other = list(folds_of(y, 7, seed=4, stratified=stratified))
    assert not all(np.array_equal(a, c) for (_, a), (_, c) in zip(folds, other, strict=True))


@pytest.mark.parametrize("passes", [1, 3])
def test_each_fold_is_tested_by_a_model_that_learned_the_others(passes: int) -> None:
    found = cross_validate(yarrow.AROWClassifier(), X, Y, folds=4, passes=passes, seed=5)
    for k, (train, test) in enumerate(folds_of(Y, 4, seed=5)):
        model = yarrow.AROWClassifier()
        chance = np.random.default_rng((5, k))
        for number in range(passes):
            order = chance.permutation(train) if number else train
            model.partial_fit(X[order], Y[order])
        assert found.values["error"][k] == pytest.approx(np.mean(model.predict(X[test]) != Y[test]))
    assert found.mean("error") == pytest.approx(np.mean(found.values["error"]))
    assert found.deviation("error") == pytest.approx(np.std(found.values["error"], ddof=1))


@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(random_state=0),
        river_linear.SoftmaxRegression(),
        yarrow.PassiveAggressiveClassifier(),
    ],
)
def test_any_learner_can_be_cross_validated(model: Any) -> None:
    asked = ["error", "f1_macro", *(["log_loss"] if hasattr(model, "predict_proba_one") else [])]
    asked = asked if not isinstance(model, yarrow.PassiveAggressiveClassifier) else asked[:2]
    found = cross_validate(model, X, Y, folds=3, passes=2, stratified=True, metrics=asked)
    assert found.mean("error") < 0.3
    assert found.mean("macro F1") > 0.7
    again = cross_validate(model, X, Y, folds=3, passes=2, stratified=True, metrics=asked)
    assert found == again


def test_tuning_by_progressive_validation() -> None:
    found = tune(CANDIDATES, X, Y, delay=2)
    errors = [progressive(c.clone(), X, Y, delay=2).error for c in CANDIDATES]
    assert found.values == pytest.approx(errors)
    assert found.best == int(np.argmin(errors))
    twin = CANDIDATES[found.best].clone().partial_fit(X, Y)
    assert np.array_equal(found.model.coef_, twin.coef_)
    assert not any(hasattr(c, "coef_") for c in CANDIDATES)
    assert found.protocol == "progressive error over the first 240 of 240 rows, labels 2 rows late"


def test_tuning_on_the_first_half_leaves_the_second_half_unseen() -> None:
    spoilt = np.where(np.arange(240) < 120, Y, (Y + 1) % 3)
    found = tune(CANDIDATES, X, Y, by="first_half")
    assert found.values == tune(CANDIDATES, X, spoilt, by="first_half").values
    assert found.values == pytest.approx(
        [progressive(c.clone(), X[:120], Y[:120]).error for c in CANDIDATES]
    )
    assert found.model.t_ == 120


@pytest.mark.parametrize("stratified", [False, True])
def test_tuning_on_held_out_rows_chooses_passes_too(stratified: bool) -> None:
    found = tune(
        CANDIDATES, X, Y, by="validation", passes=4, share=0.25, seed=1, stratified=stratified
    )
    assert found.best == int(np.argmin(found.values))
    assert all(1 <= number <= 4 for number in found.passes)
    assert found.model.t_ == 240 * found.passes[found.best]
    one = tune(
        CANDIDATES, X, Y, by="validation", passes=1, share=0.25, seed=1, stratified=stratified
    )
    assert all(many <= once for many, once in zip(found.values, one.values, strict=True))
    assert all(round(value * 60) == pytest.approx(value * 60) for value in found.values)


def test_tuning_by_folds_and_by_a_metric_that_should_be_high() -> None:
    found = tune(CANDIDATES, X, Y, by="folds", folds=4, metric="accuracy", seed=2)
    expected = [
        cross_validate(c, X, Y, folds=4, seed=2, metrics=["accuracy"]).mean("accuracy")
        for c in CANDIDATES
    ]
    assert found.values == pytest.approx(expected)
    assert found.best == int(np.argmax(expected))


@pytest.mark.filterwarnings("ignore:.*diverges:RuntimeWarning")
@pytest.mark.parametrize("first", [1e-4, 0.02, 4.0])
def test_a_line_search_finds_the_rate_that_a_solver_finds(first: float) -> None:
    """Of online gradient descent on squares, from below, from near, and from where it diverges."""
    rows = np.random.default_rng(4).normal(size=(300, 5))
    truth = rows @ [1.0, -2.0, 0.5, 0.0, 3.0] + 0.3 * np.random.default_rng(5).normal(size=300)

    def loss(log_rate: float) -> float:
        model = yarrow.OGDRegressor(eta0=float(np.exp(log_rate)))
        return progressive(model, rows, truth, metrics=["rmse"]).metrics["RMSE"].value

    best = minimize_scalar(loss, bounds=(np.log(0.02), np.log(0.5)), method="bounded").x
    found = line_search(yarrow.OGDRegressor(eta0=first), rows, truth)
    assert abs(np.log2(found.model.eta0) - best / np.log(2)) < 1
    tried = [candidate.eta0 for candidate in found.candidates]
    assert tried[0] == first
    assert found.values[found.best] == min(v for v in found.values if not np.isnan(v))
    ratio = found.model.eta0 / first
    assert ratio == pytest.approx(2.0 ** round(np.log2(ratio)))
    beyond = sorted(set(tried) - {found.model.eta0})
    assert min(beyond) < found.model.eta0 < max(beyond)  # both neighbours were no better
    assert len(tried) <= abs(round(np.log2(ratio))) + 3


def test_a_line_search_judges_as_tune_does_and_learns_nothing_itself() -> None:
    mine = yarrow.OGDClassifier(eta0=1.0, loss="logistic")
    found = line_search(mine, X, Y, factor=3, by="validation", metric="log_loss", seed=3)
    again = tune(found.candidates, X, Y, by="validation", metric="log_loss", seed=3)
    assert (found.values, found.best, found.protocol) == (again.values, again.best, again.protocol)
    np.testing.assert_array_equal(found.model.coef_, again.model.coef_)
    assert not hasattr(mine, "coef_")
    how = {"parameter": "alpha", "by": "folds", "folds": 3}
    theirs = line_search(SGDClassifier(alpha=1.0, random_state=0), X, Y, **how)
    assert theirs.values[theirs.best] == min(theirs.values) < theirs.values[0]


def test_a_line_search_ends_where_a_value_is_not_allowed() -> None:
    found = line_search(yarrow.OGDClassifier(power=0.4), X, Y, parameter="power", factor=3)
    assert all(not np.isnan(v) for v, c in zip(found.values, found.candidates, strict=True)
               if c.power <= 1)  # fmt: skip
    assert found.model.power <= 1
    with pytest.raises(DataError, match=r"overflow|finite"):
        line_search(yarrow.OGDClassifier(eta0=1e300, loss="squared"), 1e30 * X, Y)


def test_grids_of_any_learner() -> None:
    ours = grid(yarrow.AROWClassifier(), {"r": [1.0, 2.0], "multiclass": ["ovr", "top1"]})
    assert [(m.r, m.multiclass) for m in ours] == [(1, "ovr"), (1, "top1"), (2, "ovr"), (2, "top1")]
    theirs = grid(SGDClassifier(), {"alpha": [0.1, 0.2]})
    assert [m.alpha for m in theirs] == [0.1, 0.2]
    rivers = grid(
        river_linear.LogisticRegression(), {"optimizer": [optim.SGD(0.1), optim.SGD(0.2)]}
    )
    assert [m.optimizer.learning_rate for m in rivers] == [0.1, 0.2]


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda: tune([], X, Y), "no candidate"),
        (lambda: tune(CANDIDATES, X, Y, by="luck"), "'by' parameter"),  # type: ignore[arg-type]
        (lambda: tune(CANDIDATES, X, Y, by="validation", share=1.5), "'share' parameter"),
        (lambda: tune(CANDIDATES, X[:2], Y[:2], by="validation"), "too few"),
        (lambda: line_search(yarrow.Perceptron(), X, Y), "above 0 to begin"),
        (lambda: line_search(yarrow.OGDClassifier(), X, Y, factor=1.0), "'factor' parameter"),
        (lambda: cross_validate(yarrow.Perceptron(), X, Y, folds=1), "folds must be from 2"),
        (lambda: cross_validate(yarrow.Perceptron(), X, Y, passes=0), "'passes' parameter"),
        (lambda: cross_validate(yarrow.Perceptron(), X, Y[:3]), "X has 240 rows"),
    ],
)
def test_bad_settings_get_a_sentence(act: Any, sentence: str) -> None:
    with pytest.raises((ParameterError, DataError), match=sentence):
        act()
