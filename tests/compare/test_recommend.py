"""A recommendation: the preferred learner that the rows cannot tell from the best one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

import yarrow
from yarrow.compare import Outcome, holdout
from yarrow.compare.holdout import difference, interval
from yarrow.compare.recommend import mark_best, ranks_over_stretches, recommend


def outcome(name, error, nonzeros=100, family="affine", n=4000, learner=None, seed=0, last=None):
    """Return an outcome with these errors in the two halves, spread at random."""
    chance = np.random.default_rng([seed, *name.encode()])
    rates = np.repeat([error, error if last is None else last], n // 2)
    wrong = chance.random(n) < rates
    return Outcome(name, learner or name, family, nonzeros=nonzeros, wrong=wrong)


def recommended(*outcomes, prefer="accurate"):
    mark_best(outcomes)
    return recommend(outcomes, seed=0, prefer=prefer)


def test_a_clear_winner_is_taken_whatever_it_weighs():
    found = recommended(outcome("good", 0.05, 10_000), outcome("bad", 0.2, 10))
    assert found["learner"] == "good"
    better = "significantly better than the other learner"
    assert found["sentence"] == f"Take good: {better} (95 % confidence)."
    (rival,) = found["rivals"]
    assert rival["low"] < rival["difference"] < rival["high"]
    assert rival["low"] > 0


def test_of_equals_the_sparser_one_is_taken_if_small_ones_are_preferred():
    dense, sparse = outcome("dense", 0.1, 10_000), outcome("sparse", 0.1, 100)
    sparse.wrong = dense.wrong.copy()
    second = np.arange(4000) >= 2000
    sparse.wrong[np.flatnonzero(second & ~dense.wrong)[::150]] = True  # 12 mistakes more
    sparse.wrong[np.flatnonzero(second & dense.wrong)[::20]] = False  # and some fewer
    assert 0 < sparse.wrong.sum() - dense.wrong.sum() < 4
    assert recommended(dense, sparse)["learner"] == "dense"
    found = recommended(dense, sparse, prefer="small")
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


def test_of_settings_that_err_alike_the_defaults_are_chosen():
    first, default = outcome("A(1)", 0.1, learner="A"), outcome("A(2)", 0.1, learner="A")
    first.parameters, default.wrong = {"r": 1}, first.wrong
    assert recommended(first, default)["name"] == "A(2)"


def test_a_baseline_that_is_as_good_is_named():
    lazy = outcome("majority class", 0.1, 0, family="baseline")
    found = recommended(outcome("a", 0.1), lazy)
    assert found["learner"] == "a"
    assert any("majority class" in words for words in found["evidence"])


def test_counts_of_rivals_add_up():
    listed = [outcome("good", 0.05), outcome("even", 0.055), outcome("bad", 0.3)]
    lazy = outcome("majority class", 0.06, 0, family="baseline")
    found = recommended(*listed, lazy)
    assert found["sentence"] == (
        "Take good: significantly better than 1 learner (95 % confidence), not separable from 1."
    )
    assert any("for 2 learners and 1 baseline together" in words for words in found["evidence"])
    assert len(found["rivals"]) == 3


@pytest.mark.parametrize("n", [1, 2, 12, 198])
def test_few_rows_choose_nobody(n):
    listed = [outcome("ALMAClassifier", 0.0), outcome("AROWClassifier", 0.3)]
    for each in listed:
        each.wrong = each.wrong[:n]
    found = recommended(*listed)
    assert found["sentence"].startswith(f"{n} row")
    assert "too few to choose a learner by: take AROWClassifier with its def" in found["sentence"]
    assert found["rivals"] == []
    assert "low" not in found
    assert listed[0].judged == {"error": 0.0, "low": None, "high": None}
    assert ranks_over_stretches(listed) is None


def test_no_mistake_is_no_proof_of_none():
    low, high = interval(np.zeros(300, bool), seed=0)
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 300))  # Clopper and Pearson's, in closed form


@pytest.mark.parametrize(("count", "n"), [(0, 5), (3, 40), (40, 40), (7, 2000)])
def test_the_exact_interval_is_scipys(count, n):
    theirs = binomtest(count, n).proportion_ci(0.99)
    assert holdout._exact(count, n, 0.99) == pytest.approx((theirs.low, theirs.high))


def test_a_handful_of_rows_proves_no_difference_among_many():
    """Of 8 mistakes, all by one: a bootstrap alone would be sure of that."""
    one, other = np.zeros(1000, bool), np.zeros(1000, bool)
    one[::125] = True
    alone, among = difference(one, other, 0), difference(one, other, 0, among=40)
    assert alone["low"] > 0
    assert among["low"] < 0
    same = difference(one, one, 0)
    assert same["low"] < 0 < same["high"]


def test_of_equals_the_preferred_one_is_taken_not_the_first_of_the_alphabet():
    names = ["ALMAClassifier", "Perceptron", "PassiveAggressiveClassifier", "AROWClassifier"]
    listed = [outcome(name, 0.1) for name in names]
    for each in listed:
        each.wrong = listed[0].wrong
    assert recommended(*listed)["learner"] == "AROWClassifier"
    assert recommended(*listed[:3])["learner"] == "PassiveAggressiveClassifier"
    listed[3].wrong = listed[3].wrong.copy()
    listed[3].wrong[np.flatnonzero(~listed[0].wrong)[-1]] = True  # one mistake more
    found = recommended(*listed)
    assert found["learner"] == "AROWClassifier"
    assert "which is less by 0.05 %, within one standard error" in found["evidence"][1]
    assert "order of preference (Yarrow, AROW, PassiveAggressive" in found["evidence"][1]
    listed[3].nonzeros = 150  # not clearly more than 100
    assert recommended(*listed, prefer="small")["learner"] == "AROWClassifier"
    listed[3].nonzeros = 250
    assert recommended(*listed, prefer="small")["learner"] == "PassiveAggressiveClassifier"
    assert recommended(*listed, prefer="fast")["learner"] == "AROWClassifier"


def test_the_learner_without_settings_is_taken_unless_less_work_is_preferred():
    yarrows, arow = outcome("YarrowClassifier", 0.1), outcome("AROWClassifier", 0.1)
    yarrows.model, arow.model = yarrow.YarrowClassifier(), yarrow.AROWClassifier()
    arow.wrong = yarrows.wrong
    assert recommended(arow, yarrows)["learner"] == "YarrowClassifier"
    assert recommended(arow, yarrows)["python"] == "model = yarrow.YarrowClassifier.fit(X, y)"
    for less in ("fast", "small"):
        assert recommended(arow, yarrows, prefer=less)["learner"] == "AROWClassifier"
    for each in (arow, yarrows):
        each.wrong = each.wrong[:20]
    assert recommended(arow, yarrows)["learner"] == "YarrowClassifier"
    assert recommended(arow, yarrows, prefer="fast")["learner"] == "AROWClassifier"


def test_a_better_learner_is_taken_instead_of_the_preferred_one():
    better = outcome("AROWClassifier", 0.05)
    assert recommended(outcome("YarrowClassifier", 0.1), better)["learner"] == "AROWClassifier"


def test_of_equals_the_one_with_cheaper_rows_is_taken_if_fast_ones_are_preferred():
    cheap, dear = outcome("ALMAClassifier", 0.1), outcome("OFSClassifier", 0.1)
    cheap.model, dear.model = yarrow.ALMAClassifier(), yarrow.OFSClassifier()
    dear.wrong = cheap.wrong.copy()
    cheap.wrong[np.flatnonzero(~dear.wrong)[-1]] = True
    assert recommended(dear, cheap)["learner"] == "OFSClassifier"
    found = recommended(dear, cheap, prefer="fast")
    assert found["learner"] == "ALMAClassifier"
    assert "does less work for a row" in found["evidence"][1]


def test_without_a_learner_nothing_is_recommended():
    failed = outcome("a", 0.1)
    failed.failure = "It failed."
    found = recommended(failed)
    assert found["learner"] is None


def test_a_regression_is_compared_by_roots():
    chance = np.random.default_rng(0)
    one, other = chance.normal(0, 2, 5000) ** 2, chance.normal(0, 1, 5000) ** 2
    found = difference(one, other, 0)
    assert found["difference"] == pytest.approx(one.mean() ** 0.5 - other.mean() ** 0.5)
    assert found["low"] < found["difference"] < found["high"]


def test_ranks_are_over_stretches_of_the_second_half():
    listed = [outcome("good", 0.4, last=0.02), outcome("bad", 0.1, last=0.3)]
    mark_best(listed)
    found = ranks_over_stretches(listed)
    assert found["learners"] == ["good", "bad"]
    assert found["mean_ranks"][0] < 1.1
    assert found["over"] == "20 stretches of the second half"
