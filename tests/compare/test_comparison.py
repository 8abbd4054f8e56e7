"""A comparison survives JSON."""

import json

import numpy as np
import pytest

from yarrow.compare import Comparison, Outcome


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
