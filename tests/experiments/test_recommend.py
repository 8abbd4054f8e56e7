"""A recommendation: the simplest learner that the rows cannot tell from the best one."""

from __future__ import annotations

import numpy as np
import pytest

from yarrow.experiments import Outcome
from yarrow.experiments.recommend import difference, mark_best, ranks_over_stretches, recommend


def outcome(name, error, nonzeros=100, family="affine", n=4000, learner=None, seed=0, last=None):
    """Return an outcome with these errors in the two halves, spread at random."""
    chance = np.random.default_rng([seed, *name.encode()])
    rates = np.repeat([error, error if last is None else last], n // 2)
    wrong = chance.random(n) < rates
    return Outcome(name, learner or name, family, nonzeros=nonzeros, wrong=wrong)


def recommended(*outcomes):
    mark_best(outcomes)
    return recommend(outcomes, seed=0)


def test_a_clear_winner_is_taken_whatever_it_weighs():
    found = recommended(outcome("good", 0.05, 10_000), outcome("bad", 0.2, 10))
    assert found["learner"] == "good"
    assert found["sentence"] == "Take good: the other errs more, with 95 % confidence."
    (rival,) = found["rivals"]
    assert rival["low"] < rival["difference"] < rival["high"]
    assert rival["low"] > 0
    assert rival["p"] < 0.01


def test_of_equals_the_sparser_one_is_taken():
    dense, sparse = outcome("dense", 0.1, 10_000), outcome("sparse", 0.1, 100)
    sparse.wrong = dense.wrong.copy()
    second = np.arange(4000) >= 2000
    sparse.wrong[np.flatnonzero(second & ~dense.wrong)[::150]] = True  # 12 mistakes more
    sparse.wrong[np.flatnonzero(second & dense.wrong)[::20]] = False  # and some fewer
    assert 0 < sparse.wrong.sum() - dense.wrong.sum() < 4
    found = recommended(dense, sparse)
    assert found["learner"] == "sparse"
    assert any("100 nonzero weights against 10,000" in words for words in found["evidence"])


def test_settings_are_chosen_on_the_first_half_only():
    early = outcome("A(1)", 0.05, learner="A", last=0.3)
    late = outcome("A(2)", 0.3, learner="A", last=0.01)
    found = recommended(early, late)
    assert early.best
    assert not late.best
    assert found["name"] == "A(1)"
    assert found["error"] == pytest.approx(early.wrong[2000:].mean())


def test_a_baseline_that_is_as_good_is_named():
    lazy = outcome("majority class", 0.1, 0, family="baseline")
    found = recommended(outcome("a", 0.1), lazy)
    assert found["learner"] == "a"
    assert any("majority class" in words for words in found["evidence"])


def test_without_a_learner_nothing_is_recommended():
    failed = outcome("a", 0.1)
    failed.failure = "It failed."
    found = recommended(failed)
    assert found["learner"] is None


def test_a_regression_is_compared_by_roots():
    chance = np.random.default_rng(0)
    one, other = chance.normal(0, 2, 5000) ** 2, chance.normal(0, 1, 5000) ** 2
    found = difference(one, other, 0, 0.95)
    assert found["difference"] == pytest.approx(one.mean() ** 0.5 - other.mean() ** 0.5)
    assert found["low"] < found["difference"] < found["high"]


def test_ranks_are_over_stretches_of_the_second_half():
    listed = [outcome("good", 0.4, last=0.02), outcome("bad", 0.1, last=0.3)]
    mark_best(listed)
    found = ranks_over_stretches(listed)
    assert found["learners"] == ["good", "bad"]
    assert found["mean_ranks"][0] < 1.1
    assert found["over"] == "20 stretches of the second half"
