"""Information gain and the game: counts against plain probability, the LP against brute force."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from river.checks import yield_checks
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from yarrow.errors import DataError, ParameterError
from yarrow.feature_selection import GameSelection, InformationGain, solve_game

SELECTORS = [InformationGain, GameSelection]
EDGES = [None, (0.25,), (-0.5, 0.5, 1.0)]


def bin_of(value, edges):
    if edges is None:
        return int(np.sign(value))
    return sum(value >= edge for edge in edges)


def mutual_information(a, b):
    """By the definition, one pair of outcomes after the other."""
    total = 0.0
    for p in set(a):
        for q in set(b):
            both = np.mean([x == p and y == q for x, y in zip(a, b, strict=True)])
            if both > 0:
                total += both * np.log(
                    both / np.mean([x == p for x in a]) / np.mean([y == q for y in b])
                )
    return total


def stream(seed, rows=120, features=6):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, rows)
    X = random.normal(size=(rows, features)) * (random.random((rows, features)) < 0.5)
    X[:, 0] += y - 1
    X[:, 3] *= y == 2
    return np.round(X, 2), y


@pytest.mark.parametrize("edges", EDGES)
def test_gains_are_mutual_information(edges):
    X, y = stream(1)
    selector = InformationGain(2, edges).fit(X, y)
    binned = [[bin_of(v, edges) for v in column] for column in X.T]
    expected = [mutual_information(column, y.tolist()) for column in binned]
    np.testing.assert_allclose(selector.scores_, expected, atol=1e-12)
    best = np.argsort(expected)[-2:]
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(best))
    np.testing.assert_array_equal(selector.transform(X), X[:, np.sort(best)])


@pytest.mark.parametrize("edges", EDGES)
def test_rewards_are_mutual_information(edges):
    X, _ = stream(2)
    selector = GameSelection(2, edges).fit(X)
    binned = [[bin_of(v, edges) for v in column] for column in X.T]
    expected = [[mutual_information(a, b) for b in binned] for a in binned]
    np.testing.assert_allclose(selector.rewards(), expected, atol=1e-12)


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("selector", SELECTORS)
def test_all_routes_count_alike(selector, edges):
    X, y = stream(3)
    plain, chunked, sparse, rows, framed = (selector(3, edges) for _ in range(5))
    plain.fit(X, y)
    sparse.fit(sp.csr_array(X), y)
    for at in range(0, len(X), 7):
        chunked.partial_fit(X[at : at + 7], y[at : at + 7])
    names = [str(j) for j in range(X.shape[1])]
    for x, label in zip(X, y.tolist(), strict=True):
        row = dict(enumerate(x)) if label else {j: v for j, v in enumerate(x) if v}
        rows.learn_one(row, label) if selector is InformationGain else rows.learn_one(row)
    framed.fit(pd.DataFrame(X, columns=names), y)
    order = [rows.feature_names_.index(j) for j in range(X.shape[1])]
    for other in (chunked, sparse, framed):
        np.testing.assert_array_equal(other.scores_, plain.scores_)
        np.testing.assert_array_equal(other.get_support(), plain.get_support())
    if selector is InformationGain:  # the order of features may change which optimum an LP finds
        np.testing.assert_allclose(rows.scores_[order], plain.scores_, atol=1e-15)
        chosen = np.flatnonzero(plain.get_support()).tolist()
        assert rows.transform_one(dict(enumerate(X[0]))) == {j: X[0, j] for j in chosen}
    else:
        np.testing.assert_allclose(
            rows.rewards()[np.ix_(order, order)], plain.rewards(), atol=1e-15
        )
    assert framed.get_feature_names_out().tolist() == [
        n for n, chosen in zip(names, plain.get_support(), strict=True) if chosen
    ]


def test_a_weight_counts_a_row_so_many_times():
    X, y = stream(4)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = InformationGain(2).fit(X, y, sample_weight=weight)
    repeated = InformationGain(2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-12)
    with pytest.raises(DataError, match="weight of a row"):
        weighted.learn_one({"a": 1}, 0, w=-1.0)


def test_a_feature_that_comes_late_was_zero_before():
    selector = InformationGain(1)
    for _ in range(10):
        selector.learn_one({"always": 1}, "a")
    for _ in range(10):
        selector.learn_one({"always": 1, "late": 1}, "b")
    assert dict(zip(selector.feature_names_, selector.scores_, strict=True)) == {
        "always": pytest.approx(0),
        "late": pytest.approx(np.log(2)),
    }


# -- the game --------------------------------------------------------------------------------------


def random_rewards(seed, d):
    random = np.random.default_rng(seed)
    return random.random((d, d)) if seed % 2 else np.cov(random.normal(size=(d, 3 * d)))


def worst(u, M, k):
    """What the other player leaves: the k smallest entries of u.M."""
    return np.sort(u @ M)[:k].sum()


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", range(6))
def test_the_value_is_that_of_the_other_player(seed, k):
    """Duality: min over v, max over u, written as a program of its own, has the same value."""
    M = random_rewards(seed, 6)
    u, value = solve_game(M, k)
    assert u.sum() == pytest.approx(k)
    assert ((u >= 0) & (u <= 1)).all()
    assert worst(u, M, k) == pytest.approx(value, abs=1e-9)
    # min k*a + sum(b) with a + b_i >= (M v)_i, b >= 0: the k largest entries of M.v
    other = linprog(
        np.concatenate([np.zeros(6), [k], np.ones(6)]),
        A_ub=np.hstack([M, -np.ones((6, 1)), -np.eye(6)]),
        b_ub=np.zeros(6),
        A_eq=[[1.0] * 6 + [0.0] * 7],
        b_eq=[k],
        bounds=[(0, 1)] * 6 + [(None, None)] + [(0, None)] * 6,
    )
    assert other.fun == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_no_choice_beats_the_strategy(seed, k):
    """Brute force over all choices of both players, the integer game of (4.26)."""
    M = random_rewards(seed, 6)
    u, value = solve_game(M, k)
    choices = [np.isin(np.arange(6), c).astype(float) for c in itertools.combinations(range(6), k)]
    best_integer = max(min(a @ M @ b for b in choices) for a in choices)
    assert min(u @ M @ b for b in choices) == pytest.approx(value, abs=1e-9)
    assert best_integer <= value + 1e-9
    if np.isin(np.round(u, 9), (0, 1)).all():
        assert best_integer == pytest.approx(value, abs=1e-9)
    mixed = np.random.default_rng(seed).dirichlet(np.ones(6), 2000) * k
    mixed = mixed[(mixed <= 1).all(axis=1)]
    assert all(worst(m, M, k) <= value + 1e-9 for m in mixed)


def test_choosing_all_is_choosing_all():
    M = random_rewards(1, 5)
    u, value = solve_game(M, 5)
    np.testing.assert_allclose(u, 1)
    assert value == pytest.approx(M.sum())


@pytest.mark.parametrize(("M", "k"), [([[1, 2]], 1), ([[np.nan]], 1), ([[1.0]], 2), ([[1.0]], 0)])
def test_games_that_are_none(M, k):
    with pytest.raises((DataError, ParameterError)):
        solve_game(M, k)


# -- contracts -------------------------------------------------------------------------------------


def sklearn_checks():
    for selector in SELECTORS:
        with warnings.catch_warnings(action="ignore"):  # of not inheriting from BaseEstimator
            checks = list(estimator_checks_generator(selector()))
        for estimator, check in checks:
            yield pytest.param(estimator, check, id=f"{selector.__name__}-{check.func.__name__}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(sklearn_checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("selector", SELECTORS)
def test_river_checks(selector):
    for check in yield_checks(selector()):
        check(selector())


@pytest.mark.parametrize("selector", SELECTORS)
def test_parameters(selector):
    assert clone(selector()).get_params() == selector().get_params()
    assert repr(selector()) == f"{selector.__name__}()"
    for bad in ({"k": 0}, {"edges": (1, 0)}, {"edges": ()}, {"edges": (np.inf,)}, {"edges": 3}):
        with pytest.raises(ParameterError):
            selector(**bad).fit([[1.0], [2.0]], [0, 1])
