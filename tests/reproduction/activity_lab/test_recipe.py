"""The paper's recipe for activities, and the batch learner near the first weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from reproduction.activity_lab.baselines import BatchLargeMargin
from reproduction.activity_lab.generator import desktop_life
from reproduction.activity_lab.recipe import PaperRecogniser
from reproduction.activity_lab.simulation import simulate
from yarrow.activity.model.features import ACTIVITY_FEATURES, SCALE
from yarrow.activity.model.learning import FIRST_WEIGHTS


def test_the_recipe_has_the_papers_features_only_and_learns_from_zero():
    watcher = PaperRecogniser(threshold=0.0)
    assert not watcher._scorer.weights.features.any()
    outcome = simulate(desktop_life(0, activities=8, switches=40), watcher)
    assert outcome.alarms > 0
    weights = watcher._scorer.weights.features
    unused = [ACTIVITY_FEATURES.index(name) for name in ("declared", "lately")]
    constants = [len(ACTIVITY_FEATURES), len(ACTIVITY_FEATURES) + 4]
    assert not weights[unused + constants].any()
    assert weights.any()
    scores, best, _ = watcher._scorer.best_pairs(watcher._before, watcher._present)
    assert np.flatnonzero(scores).tolist() in ([], [best])  # so that a lead is g itself


def test_a_higher_threshold_on_g_means_fewer_alarms():
    life = desktop_life(1, activities=8, switches=40)
    alarms = [simulate(life, PaperRecogniser(threshold=g)).alarms for g in (0.0, 2.0, 1e6)]
    assert alarms[0] > alarms[1] > alarms[2] == 0


def test_the_batch_learner_is_drawn_to_the_first_weights():
    Z = np.random.default_rng(0).normal(0.2, 1.0, size=(200, len(FIRST_WEIGHTS)))
    first = np.array(FIRST_WEIGHTS) * SCALE
    machine = BatchLargeMargin(first_weights=True, examples=list(Z))

    def objective(w):
        return 0.5 * np.sum((w - first) ** 2) + 2 * machine.C * np.sum(
            np.maximum(0, 1 - Z @ w) ** 2
        )

    assert machine.fit() == pytest.approx(minimize(objective, first, method="BFGS").x, abs=1e-4)
