"""Ranking: steps on pairs are argmins, and pairs are made within groups."""

import numpy as np
import pytest
import scipy.sparse as sp
from linear_model.oracles import EXACT, smallest_change

from yarrow.errors import DataError
from yarrow.linear_model import PassiveAggressiveRanker

VARIANTS = {"pa": (None, 1), "pa1": (0.2, 1), "pa2": (0.2, 2)}


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_on_pairs_are_argmins(variant):
    price, power = VARIANTS[variant]
    random = np.random.default_rng(91)
    model = PassiveAggressiveRanker(0.2, variant, **EXACT)
    w, updates = np.zeros(4), 0
    for _ in range(40):
        better, worse = random.normal(size=(2, 4))
        weight = random.choice([0.5, 1.0, 2.0])
        model.learn_pair(dict(enumerate(better)), dict(enumerate(worse)), weight)
        if (better - worse) @ w < 1:
            w = smallest_change(
                w, [(better - worse, 1.0)], None if price is None else price * weight, power
            )
            updates += 1
        np.testing.assert_allclose(model.coef_, w, rtol=0, atol=1e-6)
        w = model.coef_
    assert 10 < updates < 40 or variant != "pa"


def test_pairs_are_those_of_a_group():
    X = np.eye(5)
    model = PassiveAggressiveRanker(variant="pa", **EXACT)
    model.partial_fit(X, [2.0, 1.0, 1.0, 5.0, 7.0], group=["a", "a", "b", "b", "c"])
    by_hand = PassiveAggressiveRanker(variant="pa", **EXACT)
    by_hand.learn_pair({0: 1.0}, {1: 1.0})
    by_hand.learn_pair({3: 1.0}, {2: 1.0})
    assert model.t_ == 2
    np.testing.assert_allclose(model.coef_, [0.5, -0.5, -0.5, 0.5, 0.0])
    np.testing.assert_allclose(by_hand.coef_, [0.5, -0.5, 0.5, -0.5])  # as features came


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_it_finds_an_order(form):
    random = np.random.default_rng(92)
    X = random.normal(size=(200, 6)) * (random.random((200, 6)) < 0.6)
    y = X @ random.normal(size=6)
    group = np.arange(200) // 10
    model = PassiveAggressiveRanker().fit(form(X[:150]), y[:150], group[:150])
    assert model.score(form(X[150:]), y[150:], group[150:]) > 0.93
    assert model.score(form(X[150:]), -y[150:], group[150:]) < 0.07


def test_counts_of_small_integers_do_not_wrap():
    X = np.array([[1], [3]], dtype=np.uint8)
    model = PassiveAggressiveRanker(variant="pa", **EXACT).partial_fit(X, [1, 0])
    np.testing.assert_allclose(model.coef_, [-0.5])


def test_rows_without_a_pair_are_refused():
    model = PassiveAggressiveRanker()
    for y, group in (([1, 1], None), ([1, 2], ["a", "b"])):
        with pytest.raises(DataError, match="no group has rows of different relevance"):
            model.fit(np.eye(2), y, group)
    with pytest.raises(DataError, match="one entry a row"):
        model.fit(np.eye(2), [1, 2], [1])
    for bad in ({"a": [1]}, 5):
        with pytest.raises(DataError):
            model.learn_pair(bad, {"a": 1.0})


def test_equal_rows_change_nothing():
    model = PassiveAggressiveRanker()
    model.learn_pair({"a": 1.0}, {"b": 1.0})
    before = model.coef_
    model.learn_pair({"a": 1.0, "c": "x"}, {"c": "x", "a": 1})
    np.testing.assert_array_equal(model.coef_[:2], before)
    assert model.t_ == 2
