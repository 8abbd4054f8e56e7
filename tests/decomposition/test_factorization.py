"""Factorizations of ratings: their gradients, made-up tastes, and MovieLens."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from yarrow.datasets import load_ratings
from yarrow.decomposition import OnlineMatrixFactorization, OnlineRankMF
from yarrow.decomposition.base import softmax
from yarrow.errors import DataError, ModelFileError, NotFittedError, YarrowError

AVERAGED = {"steps": "dual_averaging"}
BOTH = [OnlineMatrixFactorization, OnlineRankMF]


def tastes(ratings: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs and ratings of users with two tastes, who like and dislike the same things."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack([rng.integers(40, size=ratings), rng.integers(30, size=ratings)])
    liked = (pairs[:, 0] % 2) == (pairs[:, 1] % 2)
    return pairs, 3.0 + np.where(liked, 1.5, -1.5) + 0.2 * rng.standard_normal(ratings)


def test_factors_learn_what_biases_cannot():
    X, y = tastes(8000)
    unseen, truth = tastes(500, seed=1)
    model = OnlineMatrixFactorization(n_factors=3).fit(X, y)
    flat = OnlineMatrixFactorization(n_factors=1, scale=0.0).fit(X, y)
    errors = [np.sqrt(np.mean((m.predict(unseen) - truth) ** 2)) for m in (model, flat)]
    assert errors[0] < 0.3
    assert errors[1] > 1.4


def test_a_step_goes_down_the_gradient_of_the_squared_error():
    X, y = tastes(300)
    model = OnlineMatrixFactorization(n_factors=3, learning_rate=1e-5, bias_rate=2e-5, l2=0.0)
    model.fit(X, y)
    user, item = X[-1].tolist()
    before = model.predict_one({"user": user, "item": item})
    mine, its = model.user_factors_[user].copy(), model.item_factors_[item].copy()
    counts = [model._user_biases[model._users[user], 1], model._item_biases[model._items[item], 1]]
    mean, rating = model._mean, before + 0.5
    model.learn_one({"user": user, "item": item}, rating)
    moved = 1e-5 * 0.5 * (mine @ mine + its @ its) + sum(
        2e-5 * 0.5 / np.sqrt(n + 4) for n in counts
    )
    after = model.predict_one({"user": user, "item": item}) - (model._mean - mean)
    assert after - before == pytest.approx(moved, rel=1e-3)


@pytest.mark.parametrize(("l2", "rate"), [(0.5, 0.2), (8.0, 1e12)], ids=["fading", "l2 alone"])
def test_averaged_factors_are_the_argmin_for_the_average_of_their_gradients(l2, rate):
    """Of gradients taken numerically from the squared error; the argmin by a solver."""
    X, y = tastes(60)
    how = {"l2": l2, "learning_rate": rate, "scale": 1.0}
    model = OnlineMatrixFactorization(3, bias_rate=0.0, **how, **AVERAGED)
    past: dict[tuple[int, int], list[np.ndarray]] = {}
    for place, ((user, item), rating) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        mean = model._mean if place else 0.0
        if place == 0:  # factors that nobody has met yet are made when they are needed
            model.learn_one({"user": user, "item": item}, rating)
            continue
        x = {"user": user, "item": item}
        before = [_factors(model, side, name) for side, name in enumerate((user, item))]

        def loss(mine, its, rating=rating, mean=mean):
            return 0.5 * (rating - mean - mine @ its) ** 2

        moves = 1e-6 * np.eye(3)
        slopes = [
            np.array(
                [loss(before[0] + m, before[1]) - loss(before[0] - m, before[1]) for m in moves]
            ),
            np.array(
                [loss(before[0], before[1] + m) - loss(before[0], before[1] - m) for m in moves]
            ),
        ]
        model.learn_one(x, rating)
        for side, name in enumerate((user, item)):
            gradients = past.setdefault((side, name), [])
            gradients.append(slopes[side] / 2e-6)
            if (0, X[0, 0]) == (side, name) or (1, X[0, 1]) == (side, name):
                continue  # the first row's gradient was not seen
            g, n = np.mean(gradients, axis=0), len(gradients)
            found = minimize(
                lambda w, g=g, n=n: g @ w + 0.5 * (l2 + 1 / (rate * np.sqrt(n))) * w @ w,
                np.zeros(3), tol=1e-14,
            ).x  # fmt: skip
            np.testing.assert_allclose(_factors(model, side, name), found, rtol=1e-4, atol=1e-6)
    assert max(map(len, past.values())) > 3


def _factors(model: OnlineMatrixFactorization, side: int, name: int) -> np.ndarray:
    """Of a user (side 0) or an item, also of one that comes with the next rating."""
    names = (model._users, model._items)[side]
    place = names.get(name, len(names))
    return (model._user_factors, model._item_factors)[side][place].copy()


def test_averaged_factors_learn_tastes_too():
    X, y = tastes(8000)
    unseen, truth = tastes(500, seed=1)
    model = OnlineMatrixFactorization(3, learning_rate=1.0, **AVERAGED).fit(X, y)
    assert np.sqrt(np.mean((model.predict(unseen) - truth) ** 2)) < 0.4
    ranking = OnlineRankMF(3, learning_rate=1.0, **AVERAGED).fit(X, y)
    liked = [[item % 2 for item in ranking.recommend(user, 15)] for user in range(40)]
    assert np.mean([[taste == user % 2 for taste in row] for user, row in enumerate(liked)]) > 0.95


def test_the_ranking_puts_items_in_the_order_of_each_taste():
    X, y = tastes(8000)
    model = OnlineRankMF(n_factors=3).fit(X, y)
    liked = [[item % 2 for item in model.recommend(user, 15)] for user in range(40)]
    agree = np.mean([[taste == user % 2 for taste in row] for user, row in enumerate(liked)])
    assert agree > 0.95


def test_the_ranking_goes_down_the_gradient_of_the_cross_entropy():
    rng = np.random.default_rng(0)
    model = OnlineRankMF(n_factors=3, l2=0.0, learning_rate=1e-6, scale=1.0, n_kept=4)
    for item, rating in enumerate([3.0, 1.0, 4.0, 2.0]):
        model.learn_one({"user": "a", "item": item}, rating)
    items, ratings = np.arange(4), np.array([3.0, 1.0, 4.0, 2.0])

    def loss(mine: np.ndarray, its: np.ndarray, biases: np.ndarray) -> float:
        return float(-(softmax(ratings) * np.log(softmax(its @ mine + biases))).sum())

    state = [model._user_factors[0], model._item_factors[:4], model._item_biases[:4]]
    before = [part.copy() for part in state]
    model._step(0, items, ratings)
    for index, (old, new) in enumerate(zip(before, state, strict=True)):
        direction = rng.standard_normal(old.shape)
        shifted = [[*before], [*before]]
        shifted[0][index], shifted[1][index] = old - 1e-6 * direction, old + 1e-6 * direction
        slope = (loss(*shifted[1]) - loss(*shifted[0])) / 2e-6
        assert ((old - new) / 1e-6 * direction).sum() == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("how", [{}, AVERAGED], ids=["gradient", "averaged"])
@pytest.mark.parametrize("cls", BOTH)
def test_all_routes_and_chunkings_give_one_result(cls, how, tmp_path):
    X, y = tastes(400)
    whole, parts, single = cls(**how).fit(X, y), cls(**how), cls(**how)
    for start in range(0, 400, 70):
        parts.partial_fit(X[start : start + 70], y[start : start + 70])
    for (user, item), rating in zip(X.tolist(), y.tolist(), strict=True):
        single.learn_one({"user": user, "item": item}, rating)
    whole.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    copied = pickle.loads(pickle.dumps(whole))
    for model in (whole, loaded, copied, parts, single):
        model.partial_fit(X[:50], y[:50])
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    assert whole.n_rows_ == 450


@pytest.mark.parametrize("how", [{}, AVERAGED], ids=["gradient", "averaged"])
@pytest.mark.parametrize("cls", BOTH)
def test_bad_ratings_change_nothing(cls, how, tmp_path):
    X, y = tastes(50)
    model = cls(**how).fit(X, y)
    before = model.predict(X)
    for pairs, ratings in (
        (X[:2], [1.0, np.nan]),
        (X[:2], [1.0]),
        ([[1, 2, 3]], [1.0]),
        ([[1, None]], [1.0]),
        (X[:1], [1e200]),
        ([], []),
        (X[:1], ["good"]),
    ):
        with pytest.raises(DataError):
            model.partial_fit(pairs, ratings)
    for x, rating in (({"user": 1}, 1.0), ({"user": 1, "item": 2}, "good"), ({}, 1.0)):
        with pytest.raises(DataError):
            model.learn_one(x, rating)
    with pytest.raises(DataError, match="field 'item'"):
        model.predict_one({"user": 1, "item": None})
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(NotFittedError):
        cls().predict(X)
    model.learn_one({"user": (1, 2), "item": "x"}, 1.0)
    with pytest.raises(ModelFileError, match="texts or numbers"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize("cls", BOTH)
def test_strangers_get_the_prediction_without_them(cls):
    X, y = tastes(200)
    model = cls().fit(X, y)
    assert np.isfinite(model.predict([["never", "seen"]])).all()
    known = model.predict_one({"user": "never seen", "item": 3})
    assert known != model.predict_one({"user": 3, "item": 3})
    assert cls().predict_one({"user": 1, "item": 1}) == 0


def test_the_ranking_keeps_few_ratings_a_user():
    model = OnlineRankMF(n_kept=3)
    for item in range(10):
        model.learn_one({"user": "a", "item": item}, float(item))
    model.learn_one({"user": "a", "item": 9}, 1.0)  # again: the new rating counts
    assert sorted(model._kept_items[0]) == [7, 8, 9]
    assert sorted(model._kept_ratings[0]) == [1, 7, 8]


def test_extreme_ratings_stay_finite():
    X, y = tastes(300)
    y[::7] = 1e9
    assert np.isfinite(OnlineMatrixFactorization(learning_rate=0.5).fit(X, y).predict(X)).all()


def test_frames_name_their_columns():
    import pandas as pd

    X, y = tastes(100)
    frame = pd.DataFrame({"item": X[:, 1], "user": X[:, 0]})
    one, other = OnlineMatrixFactorization().fit(frame, y), OnlineMatrixFactorization().fit(X, y)
    np.testing.assert_array_equal(one.predict(frame), other.predict(X))


def test_movielens_in_one_pass():
    try:
        data = load_ratings()
    except YarrowError as problem:
        pytest.skip(str(problem))
    X = np.column_stack([data.users, data.items])
    order = np.random.default_rng(0).permutation(len(X))
    train, rest = order[:90_000], order[90_000:]
    model = OnlineMatrixFactorization().fit(X[train], data.ratings[train])
    error = model.predict(X[rest]) - data.ratings[rest]
    assert np.sqrt(np.mean(error**2)) <= 0.95


def test_what_is_no_name_leaves_no_trace():
    model = OnlineMatrixFactorization(n_factors=2).partial_fit([["a", "x"], ["b", "y"]], [1, 2])
    before = model.predict([["a", "x"], ["b", "y"]]).tolist(), model.n_rows_
    for bad in ([["a", "y"], [["a"], "x"]], [["a", "y"], ["a", None]]):
        with pytest.raises(DataError, match="row 1"):
            model.partial_fit(bad, [1, 2])
    with pytest.raises(DataError, match="field 'user'"):
        model.learn_one({"user": ["a"], "item": "x"}, 1)
    with pytest.raises(DataError, match="sparse matrix"):
        model.partial_fit(csr_matrix([[1.0, 2.0]]), [1])
    assert (model.predict([["a", "x"], ["b", "y"]]).tolist(), model.n_rows_) == before


@pytest.mark.parametrize(
    "model",
    [
        OnlineMatrixFactorization(2, l2=1e6, bias_rate=1e6),
        OnlineMatrixFactorization(2, l2=1e300, bias_rate=1e300),
        OnlineMatrixFactorization(2, scale=1e50, learning_rate=1e50),
        OnlineRankMF(2, learning_rate=100.0, l2=1e300),
        OnlineRankMF(2, learning_rate=1e50, scale=1e50),
        OnlineMatrixFactorization(2, scale=1e50, learning_rate=1e50, l2=0.0, **AVERAGED),
        OnlineRankMF(2, learning_rate=1e50, scale=1e50, l2=0.0, **AVERAGED),
    ],
)
def test_extreme_parameters_stay_finite(model, tmp_path):
    for i in range(400):
        model.learn_one({"user": i % 3, "item": i % 7}, i % 5)
    assert np.isfinite(model.predict([[0, 1], [2, 5]])).all()
    model.save(tmp_path / "model")
    type(model).load(tmp_path / "model")
