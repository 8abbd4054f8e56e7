"""Monitors and the difference of models."""

from __future__ import annotations

import copy
import random

import click.testing
import pytest

import yarrow
from yarrow.cli import main
from yarrow.errors import ParameterError
from yarrow.evaluate import HoeffdingDrift, Monitor


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_no_alarm_without_a_change_and_soon_after_one(share):
    source = random.Random(1)
    detector = HoeffdingDrift()
    for _ in range(20_000):
        detector.update(float(source.random() < share))
        assert not detector.drift_detected
    late = 0
    while not detector.drift_detected:
        detector.update(float(source.random() < share + 0.3))
        late += 1
    assert late < 1000
    assert detector.before == pytest.approx(share, abs=0.05)
    assert detector.after > detector.before + 0.05


def test_the_mean_may_fall_too():
    detector = HoeffdingDrift()
    found = [i for i in range(600) if detector.update(float(i < 300)) or detector.drift_detected]
    assert 300 <= found[0] < 330


def test_detectors_of_river():
    drift = pytest.importorskip("river.drift")
    monitor = Monitor(drift.ADWIN)
    for i in range(2000):
        monitor.update(wrong=float(i > 1000))
    assert monitor.alarms[0].what == "error"
    assert 1000 < monitor.alarms[0].row < 1200


def test_all_that_is_watched():
    monitor = Monitor()
    for i in range(2000):
        late = i > 1000
        monitor.update(label="a" if late else "ab"[i % 2], confidence=0.5 if late else 0.9,
                       new_features=float(late))  # fmt: skip
    assert {alarm.what for alarm in monitor.alarms} == {
        "confidence", "share of new features", "share of 'a'", "share of 'b'"
    }  # fmt: skip


def test_a_probability_of_no_sense():
    with pytest.raises(ParameterError, match="'alpha'"):
        HoeffdingDrift(alpha=2)


def taught(rows, **settings):
    model = yarrow.AROWClassifier(**settings)
    for x, y in rows:
        model.learn_one(x, y)
    return model


ROWS = [({"a": 1.0, "b": 0.5}, "x"), ({"b": 1.0}, "y"), ({"c": 2.0}, "z")] * 5


def test_the_difference_of_two_models(tmp_path):
    old = taught(ROWS)
    new = copy.deepcopy(old)
    new.learn_one({"pills": 3.0}, "new")
    found = yarrow.diff(old, new)
    assert (found.rows, found.new_classes, found.new_features) == (1, ["new"], 1)
    first = found.weights[0]
    assert first.feature == "pills"
    assert first.before is None
    assert found.rates
    assert not yarrow.diff(old, copy.deepcopy(old)).weights
    with pytest.raises(ParameterError, match="no weights in common"):
        yarrow.diff(old, yarrow.PassiveAggressiveRegressor())
    old.save(tmp_path / "old")
    new.save(tmp_path / "new")
    how = ["inspect", str(tmp_path / "new"), "--since", str(tmp_path / "old"), "--top", "3"]
    shown = click.testing.CliRunner().invoke(main, how).stdout
    assert "1 more rows" in shown
    assert "pills" in shown


def test_the_difference_from_nothing():
    assert yarrow.diff(yarrow.AROWClassifier(), taught(ROWS)).rows == 15


def test_yarrow_evaluate_watches(tmp_path):
    lines = [f"{i % 2 if i < 2000 else 1 - i % 2} {1 + i % 2}:1\n" for i in range(3000)]
    (tmp_path / "rows.svm").write_text("".join(lines))
    shown = click.testing.CliRunner().invoke(
        main, ["evaluate", str(tmp_path / "rows.svm"), "--watch", "--quiet", "--learner", "arow"]
    )
    assert "row 2,0" in shown.stdout
    assert "error has changed" in shown.stdout
    refused = click.testing.CliRunner().invoke(
        main, ["evaluate", str(tmp_path / "rows.svm"), "--watch", "--learner", "pa-regressor"]
    )
    assert refused.exit_code == 2
