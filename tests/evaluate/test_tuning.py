"""Cross-validation and tuning, each against the same thing done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import support
from river import linear_model as river_linear
from river import optim
from sklearn.linear_model import SGDClassifier

import yarrow
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import cross_validate, grid, progressive, tune
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
        (lambda: cross_validate(yarrow.Perceptron(), X, Y, folds=1), "folds must be from 2"),
        (lambda: cross_validate(yarrow.Perceptron(), X, Y, passes=0), "'passes' parameter"),
        (lambda: cross_validate(yarrow.Perceptron(), X, Y[:3]), "X has 240 rows"),
    ],
)
def test_bad_settings_get_a_sentence(act: Any, sentence: str) -> None:
    with pytest.raises((ParameterError, DataError), match=sentence):
        act()
