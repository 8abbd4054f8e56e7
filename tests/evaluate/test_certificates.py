"""Certificates of the estimators themselves: every theorem has a learner that keeps to it."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import textbook
from evaluate.test_arow_bounds import many_classes

from yarrow import experts, linear_model
from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import certificate, record
from yarrow.evaluate.certificate import THEOREMS
from yarrow.linear_model import AROWClassifier, PassiveAggressiveClassifier, StructuredClassifier
from yarrow.linear_model.structured import block_map

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
    of_experts = set(experts.__all__)  # tests/experts has them
    assert set(THEOREMS) - set(SETTINGS) - of_experts == {"OGDRegressor"}  # by the textbook runs


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


def joint(learner, labels=(0, 1, 2)):
    return StructuredClassifier(learner, block_map, labels=list(labels))


def test_many_classes_with_one_covariance_keep_to_theorem_2():
    """The textbook run and the estimator's agree, row by row; the bound says something."""
    learner = AROWClassifier(0.1, "full", dtype="float64")
    for seed in range(3):
        X, y = many_classes(seed, rows=1000)
        run = record(joint(learner), X, y)
        wanted = textbook.arow_top1(X, y, 3, 0.1, 1.0)
        later = wanted.rivals >= 0  # the textbook meets classes one by one
        assert (run.rivals[20:] == wanted.rivals[20:]).mean() > 0.99
        assert later.sum() > 100
        found = certificate(run)
        assert found.is_valid
        assert not found.bound.is_vacuous
        assert found.bound.value < 6 * found.mistakes
        assert "Theorem 2" in str(found)


def test_a_covariance_for_each_class_is_not_what_theorem_2_is_about():
    X, y = many_classes(0, rows=300)
    apart = AROWClassifier(0.1, "full", multiclass="top1", **EXACT)
    diagonal = joint(AROWClassifier(0.1, dtype="float64"))
    for model in (apart, diagonal):
        found = certificate(record(model, X, y))
        assert not found.bound.applies
        assert "full covariance over all weights" in str(found)


def test_joint_runs_keep_all_weights():
    X, y = many_classes(1, rows=60)
    run = record(joint(PassiveAggressiveClassifier(dtype="float64")), X, y, keep_weights=True)
    assert run.kept_weights.shape == (len(y) + 1, 3 * X.shape[1])
    margins = np.asarray(run.signed_rows.multiply(run.kept_weights[:-1]).sum(axis=1)).ravel()
    np.testing.assert_allclose(margins, run.margins, atol=1e-9)


def test_what_a_joint_run_must_be():
    X, y = many_classes(0, rows=60)
    other = StructuredClassifier(feature_map=lambda x, z: {}, labels=[0, 1, 2])
    with pytest.raises(ParameterError, match="block_map"):
        record(other, X, y)
    with pytest.raises(DataError, match="label 2"):
        record(joint(None, labels=(0, 1)), X, np.where(y == 0, 2, y))
