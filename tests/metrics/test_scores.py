"""Metrics of scores and probabilities: ROC AUC and log loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics as reference
from metrics.data import two_classes

from yarrow.errors import DataError
from yarrow.metrics import (
    LogLoss,
    RocAuc,
)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("resolution", [0.1, 0.001])
def test_auc_by_bins_is_as_exact_as_its_resolution(scale: float, resolution: float) -> None:
    chance = np.random.default_rng(5)
    y = chance.integers(0, 2, 5000)
    s = chance.normal(y - 0.5, 1.5) * scale
    metric = RocAuc(resolution)
    metric.update_many(y, scores=s)
    exact = reference.roc_auc_score(y, s)
    assert metric.value == pytest.approx(exact, abs=resolution / 5)
    apart = RocAuc(resolution)
    apart.update_many([0, 1, 0, 1], scores=np.array([-2.0, -1.0, 1.0, 2.0]) * scale)
    assert apart.value == 0.75
    near = RocAuc(resolution)
    near.update_many([0, 1, 0, 1], scores=np.array([0.0, -0.0, 1.0, 1.0]) * scale)
    assert near.value == 0.5


def test_auc_of_one_class_and_of_unscored_rows() -> None:
    for metric in (RocAuc(), RocAuc(0.01)):
        metric.update_many([1, 1], scores=[0.3, 0.4])
        assert math.isnan(metric.value)
        metric.update(0, score=math.nan)
        assert math.isnan(metric.value)
        assert metric.left_out == 1
        metric.update(0, score=0.1)
        assert metric.value == 1
        metric.update(2, score=0.1)
        with pytest.raises(DataError, match="more than two classes"):
            _ = metric.value
    metric = RocAuc(positive="b")
    metric.update_many(
        ["a", "b", "c"], scores=[[0, 1, 5], [1, 3, 0], [0, 0, 9]], classes=["a", "b", "c"]
    )
    assert metric.value == 1
    with pytest.raises(DataError, match="no column"):
        RocAuc(positive="x").update_many(["a"], scores=[[0, 1]], classes=["a", "b"])


def test_scores_of_two_classes_may_be_two_columns_or_a_dict() -> None:
    y, _, s, _ = two_classes()
    names = np.array(["no", "yes"])
    one, table, rows = RocAuc(), RocAuc(), RocAuc()
    one.update_many(names[y], scores=s)
    table.update_many(names[y], scores=np.column_stack([s, 1 - s]), classes=["yes", "no"])
    for label, score in zip(names[y].tolist(), s.tolist(), strict=True):
        rows.update(label, score={"yes": score, "no": 1 - score})
    assert one.value == pytest.approx(table.value) == pytest.approx(rows.value)


def test_log_loss_of_many_classes() -> None:
    chance = np.random.default_rng(6)
    names = np.array(["a", "b", "c"])
    y = chance.integers(0, 3, 100)
    table = chance.dirichlet(np.ones(3), 100)
    metric, rows = LogLoss(), LogLoss()
    metric.update_many(names[y], scores=table, classes=names)
    for label, line in zip(names[y], table, strict=True):
        rows.update(label, score=dict(zip(names, line, strict=True)))
    goal = reference.log_loss(y, table)
    assert metric.value == pytest.approx(goal)
    assert rows.value == pytest.approx(goal)
    rows = LogLoss()
    rows.update("unseen", score={"a": 1.0})
    assert rows.value == pytest.approx(-math.log(1e-15))
    rows.update("unseen", score={})
    assert rows.left_out == 1
    unknown = LogLoss()
    unknown.update_many(["a", "b"], scores=[[np.nan, np.nan], [0.5, np.nan]], classes=["a", "b"])
    assert unknown.left_out == 1
    assert unknown.value == pytest.approx(-math.log(1e-15))
