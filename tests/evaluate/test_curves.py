"""Curves: online, on a test set, and of precision and recall."""

from __future__ import annotations

import numpy as np
import pytest
from contract import support
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import precision_recall_curve, roc_auc_score

import yarrow
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import learning_curve, online_curve, precision_recall

X, Y = support.classification(300, 12, 2)


@pytest.mark.parametrize("window", [None, 1, 30, 10_000])
def test_every_point_is_the_error_up_to_there(window: int | None) -> None:
    wrong = np.random.default_rng(0).random(1000) < 0.3
    found = online_curve(wrong, window=window, points=50)
    assert len(found) < 65
    for rows, value in found:
        start = 0 if window is None else max(0, rows - window)
        assert value == pytest.approx(wrong[start:rows].mean())
    assert {1, 2, 4, 512, 1000} <= {rows for rows, _ in found}
    assert online_curve([]) == []
    with pytest.raises(ParameterError, match="'window'"):
        online_curve(wrong, window=0)


@pytest.mark.parametrize("ours", [True, False])
def test_the_general_curve_tests_what_was_learned_so_far(ours: bool) -> None:
    sizes = [10, 50, 200]
    model = yarrow.RDAClassifier() if ours else SGDClassifier(random_state=0)
    found = learning_curve(model, X[:200], Y[:200], X[200:], Y[200:], sizes=sizes)
    twin = yarrow.RDAClassifier() if ours else SGDClassifier(random_state=0)
    for size, before, value, count in zip(
        sizes, [0, *sizes], found.values, found.nonzeros, strict=False
    ):
        twin.partial_fit(X[before:size], Y[before:size], classes=None if ours else np.unique(Y))
        assert value == pytest.approx(np.mean(twin.predict(X[200:]) != Y[200:]))
        assert count == np.count_nonzero(twin.coef_)
    area = learning_curve(
        yarrow.RDAClassifier(), X[:200], Y[:200], X[200:], Y[200:], metric="roc_auc"
    )
    decision = yarrow.RDAClassifier().partial_fit(X[:200], Y[:200]).decision_function(X[200:])
    assert area.values[-1] == pytest.approx(roc_auc_score(Y[200:], decision))
    assert area.rows == [1, 2, 4, 8, 16, 32, 64, 128, 200]
    with pytest.raises(ParameterError, match="from 1 to 200"):
        learning_curve(model, X[:200], Y[:200], X, Y, sizes=[0])


def test_precision_and_recall_are_scikit_learns() -> None:
    chance = np.random.default_rng(1)
    labels = chance.random(200) < 0.4
    scores = np.round(chance.normal(labels * 1.0), 1)  # many are equal
    precision, recall, thresholds = precision_recall_curve(labels, scores)
    found = precision_recall(labels, scores)
    assert found.thresholds == pytest.approx(thresholds)
    assert found.precision == pytest.approx(precision[:-1])
    assert found.recall == pytest.approx(recall[:-1])


def test_alarms_are_judged_by_all_that_could_have_been_found() -> None:
    found = precision_recall(
        [True, False, True], [3.0, 2.0, 1.0], relevant=8, thresholds=[0, 2.5, 9]
    )
    assert found.recall.tolist() == [0.25, 0.125, 0]
    assert found.precision[:2].tolist() == [pytest.approx(2 / 3), 1]
    assert np.isnan(found.precision[2])
    assert np.isnan(precision_recall([False], [1.0]).recall).all()
    with pytest.raises(ParameterError, match="less than the 1 correct"):
        precision_recall([True], [1.0], relevant=0)
    with pytest.raises(DataError, match="row 0: The score is NaN"):
        precision_recall([True], [np.nan])
    with pytest.raises(DataError, match="truth values"):
        precision_recall([True, False], [1.0])
