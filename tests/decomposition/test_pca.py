"""OnlinePCA: the cap, the regret bound, and the update against scipy's matrix functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, logm
from scipy.optimize import minimize

from yarrow.decomposition import OnlinePCA
from yarrow.decomposition.pca import _capped
from yarrow.errors import DataError


def stream(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Return rows not longer than 1 near a subspace that changes half way."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns)) * 0.1
    X[: rows // 2, 0] += rng.choice([-1, 1], rows // 2)
    X[rows // 2 :, 1] += rng.choice([-1, 1], rows - rows // 2)
    return X / np.maximum(1, np.linalg.norm(X, axis=1))[:, None]


def best_loss(X: np.ndarray, k: int) -> float:
    return float((np.linalg.svd(X, compute_uv=False)[k:] ** 2).sum())


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("eta", [0.05, 0.5, 2.0])
def test_loss_stays_below_the_bound(k, eta):
    X = stream(200, 6)
    model = OnlinePCA(n_components=k, eta=eta).fit(X)
    assert best_loss(X, k) * 0.9 < model.compression_loss_ <= model.loss_bound(best_loss(X, k))


def test_the_best_eta_gives_the_bound_of_the_paper():
    X = stream(300, 8)
    k, d, best = 2, 8, best_loss(X, 2)
    eta = OnlinePCA(n_components=k).fit(X).best_eta(best)
    model = OnlinePCA(n_components=k, eta=eta).fit(X)
    entropy = (d - k) * np.log(d / (d - k))
    assert model.loss_bound(best) <= best + np.sqrt(2 * best * entropy) + entropy
    assert model.compression_loss_ <= model.loss_bound(best)


def test_the_bound_holds_against_an_adversary_who_shows_the_most_uncertain_direction():
    model, rows = OnlinePCA(n_components=2, eta=0.4), []
    model.partial_fit(np.zeros((1, 5)))
    for _ in range(150):
        rows.append(model._directions[:, -1].copy())
        model.partial_fit(rows[-1][None])
    best = best_loss(np.array(rows), 2)
    assert model.compression_loss_ <= model.loss_bound(best)
    assert model.compression_loss_ > 1.05 * best  # it is an adversary


def test_an_update_is_the_capped_matrix_exponential():
    X = stream(20, 5)
    model = OnlinePCA(n_components=2, eta=0.7).fit(X[:-1])

    def matrix() -> np.ndarray:
        return (model._directions * model.uncertainties_) @ model._directions.T

    raised = expm(logm(matrix()) - 0.7 * np.outer(X[-1], X[-1]))
    values, vectors = np.linalg.eigh(raised / np.trace(raised))
    expected = (vectors * np.exp(_capped(np.log(values), 3))) @ vectors.T
    model.partial_fit(X[-1:])
    np.testing.assert_allclose(matrix(), expected, atol=1e-10)


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_capping_is_the_nearest_in_relative_entropy(parts):
    weights = np.sort(np.random.default_rng(parts).dirichlet(np.full(5, 0.3)))
    capped = np.exp(_capped(np.log(weights), parts))
    found = minimize(
        lambda v: float((v * np.log(v / weights)).sum()),
        np.full(5, 0.2),
        bounds=[(1e-9, 1 / parts)] * 5,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(capped, found.x, atol=1e-4)


def test_uncertainties_sum_to_one_below_the_cap():
    model = OnlinePCA(n_components=3, eta=3.0)
    for row in stream(100, 7):
        model.learn_one(dict(enumerate(row)))
        assert model.uncertainties_.sum() == pytest.approx(1)
        assert model.uncertainties_.max() <= 1 / 4 + 1e-12
    directions = model._directions
    np.testing.assert_allclose(directions @ directions.T, np.eye(7), atol=1e-12)


def test_draws_leave_each_direction_out_as_often_as_it_is_uncertain():
    X = stream(10, 5)
    model = OnlinePCA(n_components=2, eta=0.3).fit(X)
    draws = [model.draw(seed) for seed in range(3000)]
    assert {draw.shape for draw in draws} == {(2, 5)}
    loss = np.mean([(X[0] ** 2).sum() - ((draw @ X[0]) ** 2).sum() for draw in draws])
    before = model.compression_loss_
    model.partial_fit(X[:1])
    assert loss == pytest.approx(model.compression_loss_ - before, abs=0.02)


def test_chunkings_agree_and_rows_beyond_the_radius_are_shortened():
    X = stream(60, 4)
    one, other = OnlinePCA(n_components=2), OnlinePCA(n_components=2)
    one.fit(X)
    for row in X:
        other.learn_one(dict(enumerate(row)))
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.compression_loss_ == other.compression_loss_
    long = OnlinePCA(radius=0.5).fit(10 * X)
    unit = OnlinePCA().fit(X / np.linalg.norm(X, axis=1)[:, None])
    np.testing.assert_allclose(long.components_, unit.components_, atol=1e-9)


def test_finds_the_subspace_of_plain_pca():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((500, 6)) * [0.4, 0.3, 0.02, 0.02, 0.02, 0.02]
    found = OnlinePCA(n_components=2, radius=1.5, eta=2.0).fit(X)
    again = found.inverse_transform(found.transform(X))
    assert ((X - again) ** 2).sum() < 1.05 * best_loss(X, 2)


def test_nothing_is_left_out_where_there_are_few_features():
    model = OnlinePCA(n_components=5).fit(np.eye(3))
    assert model.compression_loss_ == 0
    np.testing.assert_allclose(model.inverse_transform(model.transform(np.eye(3))), np.eye(3))


def test_a_new_feature_is_refused():
    model = OnlinePCA()
    model.learn_one({"a": 1.0, "b": 0.0})
    with pytest.raises(DataError, match="field 'c'"):
        model.learn_one({"a": 1.0, "c": 0.0})
    assert model.n_rows_ == 1
    with pytest.raises(DataError, match="best_loss"):
        model.best_eta(0)


def test_rows_of_any_length_are_cut_to_the_radius():
    """Divided by the radius first, they would be infinite."""
    rows = np.random.default_rng(0).normal(size=(20, 4))
    long, longer = OnlinePCA(2, radius=1e-30).fit(rows), OnlinePCA(2, radius=1e-300).fit(rows)
    np.testing.assert_allclose(longer.uncertainties_, long.uncertainties_)


@pytest.mark.parametrize("eta", [1e20, 1e155, 1.7e308])
def test_a_step_that_no_logarithm_holds_is_refused_and_leaves_no_trace(eta):
    model = OnlinePCA(2).partial_fit(np.eye(4))
    before = model.components_.copy(), model.compression_loss_
    with pytest.raises(DataError, match="choose a smaller 'eta'"):
        model.set_params(eta=eta).partial_fit(np.eye(4))
    np.testing.assert_array_equal(model.components_, before[0])
    assert model.compression_loss_ == before[1]
