"""Metrics of probabilities: Brier score and calibration error."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as reference
from metrics.data import two_classes
from sklearn.calibration import calibration_curve

from yarrow.errors import DataError, ParameterError
from yarrow.metrics import BrierScore, CalibrationError, LogLoss
from yarrow.report import figures


def many(n: int = 400, seed: int = 3):
    chance = np.random.default_rng(seed)
    table = chance.dirichlet(np.ones(4), n)
    names = np.array(["dog", "cat", "eel", "fox"])
    labels = np.array([chance.choice(names, p=p) for p in table])
    return names, labels, table, chance.integers(1, 4, n) * 0.5


def test_the_brier_score_is_scikit_learns() -> None:
    y, _, p, w = two_classes()
    metric = BrierScore()
    metric.update_many(y, scores=p, weights=w)
    assert metric.value == pytest.approx(reference.brier_score_loss(y, p, sample_weight=w))
    both = BrierScore()
    both.update_many(y, scores=np.stack([1 - p, p], axis=1), weights=w, classes=[0, 1])
    assert both.value == pytest.approx(metric.value)


def test_the_brier_score_of_many_classes_sums_over_them() -> None:
    names, labels, table, w = many()
    metric, rows = BrierScore(), BrierScore()
    metric.update_many(labels, scores=table, weights=w, classes=names)
    for label, row, weight in zip(labels, table, w, strict=True):
        rows.update(label, score=dict(zip(names, row, strict=True)), weight=weight)
    told = labels[:, None] == names
    expected = np.average(((table - told) ** 2).sum(axis=1), weights=w)
    assert metric.value == pytest.approx(expected)
    assert rows.value == pytest.approx(expected)
    unknown = BrierScore()
    unknown.update("yak", score={"dog": 0.5, "cat": 0.25, "eel": 0.25})
    assert unknown.value == pytest.approx(1 + 0.25 + 2 * 0.0625)


def test_the_curve_of_two_classes_is_scikit_learns_where_one_class_is_the_likelier() -> None:
    y, _, p, _ = two_classes()
    p = p + 0.003  # no value lies on an edge, which belongs to either bin
    above = p > 0.5
    metric = CalibrationError(bins=20)
    metric.update_many(y[above], scores=p[above], classes=[0, 1])
    right, confidence = calibration_curve(y[above], p[above], n_bins=20)
    assert [point[:2] for point in metric.curve] == [
        pytest.approx((c, r)) for c, r in zip(confidence, right, strict=True)
    ]


def test_the_calibration_error_is_the_mean_distance_of_the_bins() -> None:
    names, labels, table, w = many()
    metric, rows = CalibrationError(15), CalibrationError(15)
    metric.update_many(labels, scores=table, weights=w, classes=names)
    for label, row, weight in zip(labels, table, w, strict=True):
        rows.update(label, score=dict(zip(names, row, strict=True)), weight=weight)
    confidence, right = table.max(axis=1), names[table.argmax(axis=1)] == labels
    expected = 0.0
    for b in range(15):
        there = (confidence >= b / 15) & (confidence < (b + 1) / 15)
        if there.any():
            gap = np.average(confidence[there] - right[there], weights=w[there])
            expected += abs(gap) * w[there].sum() / w.sum()
    assert metric.value == pytest.approx(expected)
    assert rows.value == pytest.approx(expected)
    assert sum(point[2] for point in metric.curve) == pytest.approx(w.sum())


def test_true_probabilities_are_calibrated_and_sharpened_ones_are_not() -> None:
    names, labels, table, _ = many(20_000)
    honest, bold = CalibrationError(), CalibrationError()
    sharp = table**3 / (table**3).sum(axis=1, keepdims=True)
    honest.update_many(labels, scores=table, classes=names)
    bold.update_many(labels, scores=sharp, classes=names)
    assert honest.value < 0.02
    assert bold.value > 0.1


def test_rows_without_probabilities_are_left_out() -> None:
    for metric in (BrierScore(), CalibrationError(), LogLoss()):
        metric.update_many([0, 1], scores=[[np.nan, np.nan], [0.0, 1.0]], classes=[0, 1])
        assert metric.left_out == 1
        assert metric.value == pytest.approx(0)


@pytest.mark.parametrize("metric", [BrierScore, CalibrationError, LogLoss])
def test_what_is_no_probability_is_refused_and_not_counted(metric: type) -> None:
    found = metric()
    with pytest.raises(DataError, match=r"row 1: 1\.5 is not a probability"):
        found.update_many([0, 1], scores=[[0.5, 0.5], [-0.0, 1.5]], classes=[0, 1])
    with pytest.raises(DataError, match=r"-0\.5 is not a probability"):
        found.update("a", score={"a": 1.5 - 1, "b": -0.5})
    assert found.rows == 0
    with pytest.raises(ParameterError, match="bins"):
        CalibrationError(bins=0)


def test_a_reliability_diagram_names_its_lines() -> None:
    shown = figures.reliability({"AROW": [(0.6, 0.5, 10.0), (0.9, 0.95, 90.0)]}).standalone()
    assert "AROW" in shown
    assert "perfectly calibrated" in shown
