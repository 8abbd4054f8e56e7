"""A comparison survives JSON, and says how honest probabilities are."""

import json

import numpy as np
import pytest

from yarrow import datasets, metrics, report
from yarrow.compare import Comparison, Outcome, compare


@pytest.mark.parametrize("wrong", [None, np.arange(13) % 3 == 0, np.arange(5) / 7])
def test_a_comparison_comes_back_from_json_as_it_was(wrong):
    outcome = Outcome(
        "A(r=0.1)", "A", "confidence", {"r": 0.1}, rows=13, mistakes=5, wrong=wrong, best=True
    )
    outcome.curve = [(1, 1.0), (13, 5 / 13)]
    comparison = Comparison({"name": "tiny", "classes": ["a", "b"]}, outcomes=[outcome])
    back = Comparison.from_json(json.loads(json.dumps(comparison.to_json())))
    np.testing.assert_array_equal(back.outcomes[0].wrong, wrong)
    back.outcomes[0].wrong = outcome.wrong
    assert back == comparison


def test_the_model_stays_behind():
    assert "model" not in Outcome("A", "A", "affine", model=object()).to_json()


def test_probabilities_are_held_against_the_rows() -> None:
    """Of the recommended learner and a few others: as `progressive` would say them."""
    data = datasets.load("synthetic/gaussian", rows=600, noise=0.2)
    found = compare(data, "yarrow,arow,perceptron,scw,cw,narow")
    told = {o.learner: o.calibration for o in found.outcomes if o.calibration}
    assert found.recommendation["learner"] in told
    assert "Perceptron" not in told  # which has none
    assert len(told) == 4
    [chosen] = [o for o in found.outcomes if o.name == found.recommendation["name"]]
    said = chosen.model.clone().progressive(data.X, data.y, probabilities=True)
    brier, error = metrics.BrierScore(), metrics.CalibrationError()
    for metric in (brier, error):
        metric.update_many(data.y.tolist(), scores=said.probabilities, classes=said.classes)
    assert chosen.calibration is not None
    assert chosen.calibration["brier_score"] == pytest.approx(brier.value)
    assert chosen.calibration["calibration_error"] == pytest.approx(error.value)
    assert np.array(chosen.calibration["curve"]) == pytest.approx(np.array(error.curve))
    assert any("Brier score" in sentence for sentence in found.recommendation["evidence"])
    assert "Are its probabilities honest?" in report.page(found)
    again = Comparison.from_json(json.loads(json.dumps(found.to_json(), default=str)))
    assert again.outcomes[0].calibration == found.outcomes[0].calibration


def test_a_regression_has_no_probabilities() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    found = compare(X, "yarrow-regressor,arow-regressor", y=X[:, 0] + 0.25)
    assert all(o.calibration is None for o in found.outcomes)
    assert "Are its probabilities honest?" not in report.page(found)
