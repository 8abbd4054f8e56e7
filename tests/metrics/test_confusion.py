"""The confusion matrix, and labels of any type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as reference
from metrics.data import many_classes

from yarrow.metrics import (
    F1,
    BalancedAccuracy,
    ConfusionMatrix,
    Error,
)


def test_the_confusion_matrix_has_a_column_for_each_true_class() -> None:
    y, p, _, w = many_classes()
    metric = ConfusionMatrix()
    metric.update_many(y, p, weights=w)
    names = metric.labels
    assert names == ["cat", "dog", "eel", "fox"]
    for i, predicted in enumerate(names):
        for j, true in enumerate(names):
            share = w[(y == true) & (p == predicted)].sum() / w[y == true].sum()
            assert metric.matrix[i, j] == pytest.approx(share)
    assert metric.matrix.sum(axis=0) == pytest.approx(np.ones(4))
    assert pytest.approx(reference.confusion_matrix(y, p, sample_weight=w)) == metric.counts.T


def test_classes_that_are_only_predicted_or_not_predicted_at_all() -> None:
    metric = ConfusionMatrix()
    metric.update_many(["a", "b", "b"], ["new", None, "b"])
    assert metric.labels == ["a", "b", "new"]
    assert metric.counts.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert metric.unpredicted.tolist() == [0, 1, 0]
    assert metric.matrix[:, 0].tolist() == [0, 0, 1]
    assert metric.matrix[:, 1].tolist() == [0, 0.5, 0]
    assert np.isnan(metric.matrix[:, 2]).all()
    assert metric.value == pytest.approx(1 / 3)
    balanced = BalancedAccuracy()
    balanced.update_many(["a", "b", "b"], ["new", None, "b"])
    assert balanced.value == pytest.approx(0.25)  # "new" has no rows


@pytest.mark.parametrize("kind", [int, float, str, bool, object, "large"])
def test_labels_of_any_type_are_counted(kind: Any) -> None:
    chance = np.random.default_rng(3)
    y, p = chance.integers(0, 2, (2, 200))
    expected = reference.f1_score(y, p, average="macro")
    if kind == "large":  # too far apart for a table
        y, p = y * 10**12 - 5, p * 10**12 - 5
    else:
        y, p = y.astype(kind), p.astype(kind)
    metric = F1("macro")
    metric.update_many(y, p)
    metric.update_many(y.tolist(), p.tolist())
    assert metric.value == pytest.approx(expected)
    assert len(metric.labels) == 2


def test_more_classes_than_a_table_would_hold() -> None:
    chance = np.random.default_rng(4)
    y, p = chance.integers(0, 3000, (2, 500))
    p[::2] = y[::2]
    metric = F1("macro")
    metric.update_many(y, p)
    assert metric.value == pytest.approx(reference.f1_score(y, p, average="macro"))


def test_numbers_and_words_are_different_labels() -> None:
    metric = Error()
    metric.update_many([1, "1", 1], ["1", "1", 1])
    assert metric.value == pytest.approx(1 / 3)
    metric = Error()
    metric.update_many(np.array([1, 2]), np.array(["1", "2"]))
    assert metric.value == 1
