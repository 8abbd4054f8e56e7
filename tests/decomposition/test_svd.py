"""OnlineSVD against numpy's decomposition of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from yarrow.decomposition import OnlineSVD, factors
from yarrow.decomposition import svd as module
from yarrow.errors import DataError, ParameterError


@pytest.fixture
def X() -> np.ndarray:
    """Return 130 rows of 12 columns with singular values over four orders of magnitude."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((130, 12)) @ np.diag(np.logspace(0, -4, 12)) + 2.0


def assert_is_svd_of(model: OnlineSVD, rows: np.ndarray, rtol: float = 1e-9) -> None:
    _, values, basis = np.linalg.svd(rows, full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, values, rtol=rtol)
    np.testing.assert_allclose(np.abs((model.components_ * basis).sum(axis=1)), 1, rtol=1e-7)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("block_size", [1, 7, 500])
def test_equals_numpy_below_the_ceiling(X, center, block_size):
    model = OnlineSVD(rank=12, center=center, block_size=block_size).fit(X)
    assert_is_svd_of(model, X - X.mean(axis=0) if center else X)
    assert model.truncation_error_ < 1e-11
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-11)


@pytest.mark.parametrize("center", [False, True])
def test_all_chunkings_give_one_result(X, center):
    models = [OnlineSVD(rank=3, guard=1, center=center, block_size=16) for _ in range(4)]
    models[0].fit(X)
    for start in range(0, len(X), 13):
        models[1].partial_fit(X[start : start + 13])
        assert len(models[1].components_) == 3  # looking changes nothing
    for row in X:
        models[2].learn_one(dict(enumerate(row)))
    models[3].fit(sp.csr_matrix(X))
    for model in models[1:]:
        np.testing.assert_array_equal(model.components_, models[0].components_)
        np.testing.assert_array_equal(model.singular_values_, models[0].singular_values_)
        assert model.truncation_error_ == models[0].truncation_error_


def test_both_ways_at_the_ceiling_agree(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 40)) * np.linspace(3, 0.5, 40)
    fast = OnlineSVD(rank=5, guard=3, block_size=20).fit(X)
    monkeypatch.setattr(module, "by_squares", lambda *_: None)
    slow = OnlineSVD(rank=5, guard=3, block_size=20).fit(X)
    np.testing.assert_allclose(fast.singular_values_, slow.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(fast.components_, slow.components_, atol=1e-8)
    assert fast.truncation_error_ == pytest.approx(slow.truncation_error_, rel=1e-9)


def test_rank_grows_with_the_rows_and_stops_at_the_ceiling():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 20))
    model = OnlineSVD(rank=10, block_size=1)
    ranks = [len(model.partial_fit(row[None]).singular_values_) for row in X]
    assert ranks == [1, 2] + [3] * 38  # rows of a subspace of three dimensions
    noisy = OnlineSVD(rank=10).fit(X + 1e-6 * rng.standard_normal(X.shape))
    assert len(noisy.singular_values_) == 10
    filtered = OnlineSVD(rank=10, threshold=1e-4)
    assert len(filtered.fit(X + 1e-6 * rng.standard_normal(X.shape)).singular_values_) == 3


def test_truncation_error_bounds_the_reconstruction_error_and_keeps_the_energy():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 30)) * np.linspace(3, 0.5, 30)
    model = OnlineSVD(rank=8, guard=4, block_size=20).fit(X)
    error = np.linalg.norm(X - model.inverse_transform(model.transform(X)))
    best = np.sqrt((np.linalg.svd(X, compute_uv=False)[8:] ** 2).sum())
    assert best <= error <= model.truncation_error_ <= 1.1 * best
    energy = (model.singular_values_**2).sum() + model.truncation_error_**2
    assert energy == pytest.approx((X**2).sum(), rel=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_forgetting_rows_gives_what_the_others_alone_give(X, center):
    model = OnlineSVD(rank=12, center=center, block_size=16).fit(X).forget(X[:50])
    rest = X[50:]
    assert_is_svd_of(model, rest - rest.mean(axis=0) if center else rest)
    assert model.n_rows_ == 80
    np.testing.assert_allclose(model.mean_, rest.mean(axis=0) if center else np.zeros(12))


def test_forgetting_the_only_row_of_a_direction_drops_it():
    X = np.diag([3.0, 2.0, 1.0])
    model = OnlineSVD(rank=3).fit(X).forget(X[1:2])
    np.testing.assert_allclose(model.singular_values_, [3, 1])
    model.forget(X[[0, 2]])
    assert model.singular_values_.size == 0
    assert model.n_rows_ == 0
    assert_is_svd_of(model.partial_fit(X), X)


def test_a_row_never_learned_cannot_be_forgotten(X):
    model = OnlineSVD(rank=12).fit(X)
    before = model.singular_values_
    with pytest.raises(DataError, match="row 1: it is not among the rows learned"):
        model.forget([X[0], 1000 * X[1]])
    np.testing.assert_array_equal(model.singular_values_, before)
    with pytest.raises(DataError, match="131 rows cannot be forgotten"):
        model.forget(np.vstack([X, X[:1]]))


def test_columns_added_later_give_the_decomposition_of_the_wide_matrix(X):
    model = OnlineSVD(rank=12, keep_left=True, block_size=16).fit(X[:, :9])
    model.add_columns(X[:, 9:])
    assert_is_svd_of(model, X)
    np.testing.assert_allclose((model.left_ * model.singular_values_) @ model.components_, X)
    assert_is_svd_of(model.partial_fit(X), np.vstack([X, X]))
    with pytest.raises(DataError, match="a row for each of the 260 rows"):
        model.add_columns(X)
    with pytest.raises(ParameterError, match="needs keep_left"):
        OnlineSVD().fit(X).add_columns(X)


def test_features_that_appear_later_were_zero_before():
    model = OnlineSVD(rank=3)
    model.learn_one({"a": 3.0})
    model.learn_one({"b": 2.0})
    np.testing.assert_allclose(model.singular_values_, [3, 2])
    assert model.transform_one({"a": 1.0, "never seen": 5.0}) == {0: 1.0, 1: 0.0}


def test_missing_values_are_filled_in_from_the_subspace():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((600, 3)) @ rng.standard_normal((3, 25)) + 1.0
    gaps = rng.random(X.shape) < 0.2
    gaps[:100] = False
    broken = np.where(gaps, np.nan, X)
    for center in (False, True):
        model = OnlineSVD(rank=4, center=center, block_size=50).fit(broken)
        filled = model.inverse_transform(model.transform(broken))
        np.testing.assert_allclose(filled, X, atol=1e-8)
    early = OnlineSVD(rank=4, block_size=50).fit(broken[::-1])  # gaps from the first row on
    guess = early.inverse_transform(early.transform(broken))
    column_means = np.broadcast_to(np.nanmean(broken, axis=0), X.shape)
    error = np.linalg.norm((guess - X)[gaps])
    assert error < 0.4 * np.linalg.norm((column_means - X)[gaps])


def test_the_basis_stays_orthonormal(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((2000, 15)) * np.logspace(0, -6, 15)

    def drift(model: OnlineSVD) -> float:
        basis = model.components_
        return float(np.abs(basis @ basis.T - np.eye(6)).max())

    model = OnlineSVD(rank=6, guard=0, block_size=1).fit(X)
    assert drift(model) < 2e-12
    model._basis = model._basis + 1e-6 * rng.standard_normal(model._basis.shape)  # as if by drift
    model.partial_fit(X[:1])
    assert drift(model) < 1e-12
    values = np.linalg.svd(np.vstack([X, X[:1]]), compute_uv=False)[:6]
    np.testing.assert_allclose(model.singular_values_, values, rtol=1e-4)
    monkeypatch.setattr(factors, "_DRIFT", np.inf)
    model._basis = model._basis + 1e-6 * rng.standard_normal(model._basis.shape)
    assert drift(model.partial_fit(X[:1])) > 1e-8  # without repair it stays as it is


def test_zero_and_constant_rows_have_no_directions():
    assert OnlineSVD().fit(np.zeros((5, 3))).transform(np.ones((2, 3))).shape == (2, 0)
    constant = OnlineSVD(center=True).fit(np.full((5, 3), 7.0))
    np.testing.assert_allclose(
        constant.inverse_transform(np.zeros((1, constant._n_codes))), [[7.0] * 3]
    )


def test_changing_the_block_size_loses_no_row(X):
    model = OnlineSVD(rank=12, block_size=50).partial_fit(X[:70])
    assert_is_svd_of(model.set_params(block_size=9).partial_fit(X[70:]), X)


def test_centred_with_left_vectors_is_refused(X):
    with pytest.raises(ParameterError, match="center=False"):
        OnlineSVD(center=True, keep_left=True).fit(X)


def test_there_are_no_more_directions_than_features():
    """Without a threshold rounding errors would be directions, too."""
    rows = np.random.default_rng(0).normal(size=(40, 5))
    model = OnlineSVD(rank=12, threshold=0.0, block_size=4).fit(rows)
    assert model.components_.shape == (5, 5)
    assert_is_svd_of(model, rows)
