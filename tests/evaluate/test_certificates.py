"""Certificates of the estimators themselves: every theorem has a learner that keeps to it."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import textbook

from yarrow import linear_model
from yarrow.evaluate import certificate, record
from yarrow.evaluate.certificate import THEOREMS

EXACT = {"dtype": "float64", "fit_intercept": False}

#: a setting of each learner for which its theorem is stated, and the stream to show it on
SETTINGS = {
    "AROWClassifier": {"r": 5.0, "covariance": "full"},
    "FOBOSClassifier": {"l1": 1e-3, "eta0": 0.3, "power": 0.0},
    "L1ConstrainedPAClassifier": {"beta": 12.0},
    "NormConstrainedPAClassifier": {"beta": 5.0},
    "OGDClassifier": {"eta0": 0.3, "power": 0.0},
    "Perceptron": {},
    "RDAClassifier": {"l1": 1e-3, "gamma": 2.0},
    "RegularizedPAClassifier": {"alpha": 0.01, "update": "mistakes"},
    "SGFTClassifier": {"l1": 1e-3, "p": 3.0, "eta0": 0.1, "power": 0.5},
    "TruncatedGradientClassifier": {"gravity": 1e-3, "eta0": 0.1, "power": 0.0},
}


def test_every_theorem_has_a_setting():
    assert set(THEOREMS) - set(SETTINGS) == {"OGDRegressor"}  # shown by the textbook runs


@pytest.mark.parametrize("name", SETTINGS)
def test_the_learner_keeps_to_its_theorem(name):
    learner = getattr(linear_model, name)(**SETTINGS[name], **EXACT)
    X, y = textbook.separable(3, gamma=0.2)
    run = record(learner, X, y, keep_weights=True)
    found = certificate(run)
    assert found.bound.applies, [str(a) for a in found.assumptions if not a.holds]
    assert found.is_valid
    assert np.isfinite(found.bound.value)
    assert str(len(y)) in str(found).replace(",", "")
    assert found.to_dict()["applies"]
